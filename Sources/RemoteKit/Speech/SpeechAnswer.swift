import HubCore
import InferenceKit

/// Reads a transcription in any of the shapes that providers use.
struct SpeechAnswer {
    /// Who answered, for errors.
    let name: String

    /// - Throws: ``ErrorCode/protocolViolation`` for an answer without a text.
    func transcription(_ json: JSON) throws(AIError) -> Transcription {
        // fal sometimes puts everything below `output`.
        if json["text"] == nil, let inner = json["output"] { return try transcription(output: inner) }
        guard let text = json["text"]?.string else { throw violation() }
        return Transcription(text: text, segments: Self.segments(json))
    }

    /// The output of a prediction: a text, pieces of it, or an object under one of several names.
    func transcription(output json: JSON) throws(AIError) -> Transcription {
        if let text = json.string { return Transcription(text: text) }
        if let list = json.array {
            let texts = list.compactMap { $0.string ?? $0["text"]?.string }
            guard texts.count == list.count, !list.isEmpty else { throw violation() }
            return Transcription(text: texts.joined(), segments: list.compactMap(Self.segment))
        }
        for key in ["text", "transcription", "translation"] {
            if let text = json[key]?.string { return Transcription(text: text, segments: Self.segments(json)) }
        }
        throw violation()
    }

    private static func segments(_ json: JSON) -> [Transcription.Segment] {
        (json["chunks"]?.array ?? json["segments"]?.array ?? []).compactMap(segment)
    }

    /// `{text, timestamp: [0.0, null]}` or `{text, start, end}`
    private static func segment(_ json: JSON) -> Transcription.Segment? {
        guard let text = json["text"]?.string else { return nil }
        let pair = json["timestamp"]?.array
        guard pair != nil || json["start"] != nil else { return nil }
        return Transcription.Segment(
            start: pair?.first?.double ?? json["start"]?.double,
            end: pair.flatMap { $0.count > 1 ? $0[1].double : nil } ?? json["end"]?.double, text: text)
    }

    private func violation() -> AIError {
        AIError(
            .protocolViolation, "\(name) answers with JSON that holds no text",
            advice: "try again, or choose another provider"
        )
    }
}
