import Fetcher
import HubCore
import InferenceKit

/// Sends a sound file and reads the text. The file is never whole in memory, in base64 neither.
struct SpeechCall: Sendable {
    let client: RemoteClient
    /// The provider's address, without a path.
    let base: String
    let route: ServingRoutes.Speech
    /// The provider's own name of the model.
    let providerID: String
    /// The model, for errors.
    let model: String

    /// - Throws: ``ErrorCode/invalidInput`` for options that the provider cannot be given.
    func run(_ path: String, _ options: TranscriptionOptions) async throws(AIError) -> Transcription {
        let sound = try await SoundFile(path, mediaType: options.mediaType)
        let deadline = Deadline(client.limits)
        let answer = SpeechAnswer(name: client.name)
        switch route {
        case .hub: return try answer.transcription(try await client.json(hubCall(sound, options), by: deadline))
        case .fal: return try answer.transcription(try await client.json(falCall(sound, options), by: deadline))
        case .form(let route):
            return try answer.transcription(try await client.json(formCall(route, sound, options), by: deadline))
        case .replicate:
            let prediction = ReplicatePrediction(client: client, base: base, providerID: providerID, model: model)
            let version = prediction.version.map { "\"version\":\(JSON.string($0).text())," } ?? ""
            let before = "{\(version)\"input\":{\"audio\":\"data:\(sound.mediaType);base64,"
            let output = try await prediction.output(Self.document(before, sound, "\"", options, "}}"), deadline)
            return try answer.transcription(output: output)
        }
    }

    // MARK: Bodies

    /// A JSON document around the file in base64, then further members.
    private static func document(
        _ before: String, _ sound: SoundFile, _ after: String, _ options: TranscriptionOptions, _ end: String
    ) -> HTTPUpload {
        var members = options.language.map { ",\"language\":\(JSON.string($0).text())" } ?? ""
        for (key, value) in options.parameters.members { members += ",\(JSON.string(key).text()):\(value.text())" }
        return HTTPUpload([
            .bytes(Array(before.utf8)), .file(sound.file, base64: true),
            .bytes(Array((after + members + end).utf8)),
        ])
    }

    /// Parameters force base64 beside them; alone the file goes as it is.
    private func hubCall(_ sound: SoundFile, _ options: TranscriptionOptions) -> RemoteCall {
        var parameters = options.parameters
        if options.timestamps { parameters["return_timestamps"] = true }
        if let language = options.language {
            var generation = parameters["generation_parameters"]?.object ?? JSONObject()
            generation["language"] = .string(language)
            parameters["generation_parameters"] = .object(generation)
        }
        let address = "\(base)/models/\(providerID)"
        guard parameters.count > 0 else {
            return RemoteCall(
                address: address, body: .upload(HTTPUpload([.file(sound.file)]), mediaType: sound.mediaType),
                model: model)
        }
        let end = "\",\"parameters\":\(JSON.object(parameters).text())}"
        let upload = HTTPUpload([
            .bytes(Array("{\"inputs\":\"".utf8)), .file(sound.file, base64: true), .bytes(Array(end.utf8)),
        ])
        return RemoteCall(address: address, body: .upload(upload, mediaType: "application/json"), model: model)
    }

    /// fal goes by the label, and takes only three.
    private static let falLabels = [
        "audio/mpeg": "audio/mpeg", "audio/wav": "audio/x-wav", "audio/x-wav": "audio/x-wav",
        "audio/webm": "video/webm",
        "video/webm": "video/webm",
    ]

    private func falCall(_ sound: SoundFile, _ options: TranscriptionOptions) throws(AIError) -> RemoteCall {
        guard let label = Self.falLabels[sound.mediaType] else {
            throw AIError(
                .invalidInput, "fal-ai takes no \(sound.mediaType)",
                advice: "convert the sound to mp3, wav or webm",
                context: .init(path: sound.file.path))
        }
        let chunks = options.timestamps ? "\",\"chunk_level\":\"segment\"" : "\""
        let upload = Self.document("{\"audio_url\":\"data:\(label);base64,", sound, chunks, options, "}")
        return RemoteCall(
            address: "\(base)/\(providerID)", body: .upload(upload, mediaType: "application/json"), model: model)
    }

    private func formCall(_ route: String, _ sound: SoundFile, _ options: TranscriptionOptions) -> RemoteCall {
        // No byte of the file needs to be looked at: 128 random bits are in none.
        let boundary = "hub-\(FileSystem.randomHex(32))"
        var fields = [("model", providerID)]
        if let language = options.language { fields.append(("language", language)) }
        if options.timestamps { fields.append(("response_format", "verbose_json")) }
        for (key, value) in options.parameters.members { fields.append((key, value.string ?? value.text())) }
        var before = ""
        for (name, value) in fields {
            before +=
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\"\r\n\r\n\(value)\r\n"
        }
        before +=
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio.\(sound.ending)\"\r\n"
            + "Content-Type: \(sound.mediaType)\r\n\r\n"
        let upload = HTTPUpload([
            .bytes(Array(before.utf8)), .file(sound.file), .bytes(Array("\r\n--\(boundary)--\r\n".utf8)),
        ])
        return RemoteCall(
            address: base + route, body: .upload(upload, mediaType: "multipart/form-data; boundary=\(boundary)"),
            model: model)
    }

    /// Source: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
    private static func quoted(_ name: String) -> String {
        name.replacing("\"", with: "%22").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }
}
