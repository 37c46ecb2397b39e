import HubChatTemplates
import HubCore

/// The files of `--attach`: texts, which become part of the prompt, and pictures.
struct Attachments: Sendable {
    private struct File: Sendable {
        var name: String
        var content: Content
        var bytes: Int
    }
    private enum Content: Sendable {
        case text(String)
        case picture(Message.Picture)
    }

    private var files: [File] = []

    /// What the text of a file begins with in a message.
    static let mark = "<file name=\""

    /// Providers refuse requests of some ten megabytes.
    private static let limit = 16 << 20

    /// Reads the files.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``, ``ErrorCode/invalidInput`` for what is neither text nor a picture.
    static func read(_ names: [String], _ context: Context) async throws -> Attachments {
        var attachments = Attachments()
        for name in names {
            let (bytes, path) = try await context.input(name, limit: limit)
            let content: Content
            if let mediaType = mediaType(of: bytes) {
                content = .picture(.bytes(bytes, mediaType: mediaType))
            } else if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
                content = .text(text)
            } else {
                throw AIError(
                    .invalidInput, "\(name.printable) is neither UTF-8 text nor a PNG, JPEG, GIF or WebP picture",
                    context: .init(path: path))
            }
            attachments.files.append(File(name: Path.name(name), content: content, bytes: bytes.count))
        }
        return attachments
    }

    /// A picture's media type by its first bytes.
    private static func mediaType(of bytes: [UInt8]) -> String? {
        let kinds: [(type: String, start: [UInt8])] = [
            ("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("image/jpeg", [0xFF, 0xD8, 0xFF]),
            ("image/gif", Array("GIF8".utf8)),
        ]
        if let kind = kinds.first(where: { bytes.starts(with: $0.start) }) { return kind.type }
        let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        return isWebP ? "image/webp" : nil
    }

    var isEmpty: Bool { files.isEmpty }

    /// `notes.txt (12 kB) and photo.png (2 MB)`
    var names: String {
        files.map { "\($0.name.printable) (\(ByteCount(Int64($0.bytes))))" }.formatted()
    }

    /// - Throws: ``ErrorCode/invalidInput`` for a picture, which no model on this machine sees.
    func checkText() throws(AIError) {
        guard let file = files.first(where: { if case .picture = $0.content { true } else { false } }) else {
            return
        }
        throw AIError(
            .invalidInput, "\(file.name.printable) is a picture; models on this machine read text only",
            advice: "a remote model may see it: --provider hf")
    }

    /// A user's message of the files and a prompt behind them.
    func message(_ prompt: String) -> Message {
        var text = ""
        var pictures: [Message.Picture] = []
        for file in files {
            switch file.content {
            case .text(let content):
                let name = QuotedText.attribute(file.name)
                text += "\(Self.mark)\(name)\">\n\(QuotedText.content(content, of: "file"))\n</file>\n\n"
            case .picture(let picture): pictures.append(picture)
            }
        }
        return .user(text + prompt, images: pictures)
    }
}

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    fileprivate func formatted() -> String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
