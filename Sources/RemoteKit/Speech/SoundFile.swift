import Fetcher
import HubCore

/// A sound file that is sent, and its media type.
struct SoundFile: Sendable {
    let file: UploadFile
    /// `audio/flac`
    let mediaType: String

    private static let types = [
        "mp3": "audio/mpeg", "mpga": "audio/mpeg", "mpeg": "audio/mpeg", "wav": "audio/wav", "flac": "audio/flac",
        "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "webm": "audio/webm", "m4a": "audio/mp4",
        "mp4": "audio/mp4", "aac": "audio/aac", "amr": "audio/amr",
    ]

    /// - Throws: ``ErrorCode/fileNotFound``; ``ErrorCode/invalidInput`` for an empty file, and for one whose media type
    ///   neither its beginning nor its name says.
    init(_ path: String, mediaType: String?) async throws(AIError) {
        let opened: (file: UploadFile, beginning: [UInt8])
        do {
            opened = try await Blocking.run {
                let file = try UploadFile(path)
                return (file, try file.beginning(16))
            }
        } catch { throw AIError.wrapping(error) }
        file = opened.file
        guard file.size > 0 else {
            throw AIError(.invalidInput, "\(path.printable) is empty", context: .init(path: path))
        }
        let name = Path.name(path)
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let type = mediaType ?? Self.type(opened.beginning) ?? Self.types[ending] else {
            throw AIError(
                .invalidInput, "\(path.printable) is not a sound file that hub knows",
                advice: "mp3, wav, flac, ogg, webm, m4a and aac are known", context: .init(path: path))
        }
        guard type.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw AIError(.invalidInput, "\"\(type.printable)\" is not a media type")
        }
        self.mediaType = type
    }

    private static func type(_ bytes: [UInt8]) -> String? {
        func begins(_ text: String, at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if begins("RIFF"), begins("WAVE", at: 8) { return "audio/wav" }
        if begins("fLaC") { return "audio/flac" }
        if begins("OggS") { return "audio/ogg" }
        if begins("ID3") { return "audio/mpeg" }
        if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return "audio/webm" }
        return begins("ftyp", at: 4) ? "audio/mp4" : nil
    }

    /// The ending that belongs to the media type, for forms: some servers go by the name alone.
    var ending: String {
        Self.types.filter { $0.value == mediaType }.keys.sorted { ($0.count, $0) < ($1.count, $1) }.first ?? "bin"
    }
}
