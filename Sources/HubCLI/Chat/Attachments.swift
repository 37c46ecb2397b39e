import HubChatTemplates
import HubCore
import HubMedia

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
    /// The kinds of pictures that models at providers take.
    private static let sent: Set<PictureKind> = [.png, .jpeg, .gif, .webp]

    /// Reads the files.
    ///
    /// - Throws: ``ErrorCode/fileNotFound``, ``ErrorCode/invalidInput`` for what is neither text nor a picture.
    static func read(_ names: [String], _ context: Context) async throws -> Attachments {
        var attachments = Attachments()
        for name in names {
            let (bytes, path) = try await context.input(name, limit: limit)
            let content: Content
            if let kind = PictureKind(bytes), sent.contains(kind) {
                content = .picture(.bytes(bytes, mediaType: kind.mediaType))
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

    /// No file yet.
    init() {}

    /// One text that is in no file here.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what is no text.
    init(text: String, name: String) throws(AIError) {
        guard !text.utf8.contains(0) else {
            throw AIError(.invalidInput, "\(name.printable) is neither UTF-8 text nor a picture")
        }
        files = [File(name: Path.name(name), content: .text(text), bytes: text.utf8.count)]
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
