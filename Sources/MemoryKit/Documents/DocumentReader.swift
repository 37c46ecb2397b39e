import HubCore

/// The text of a file, if it is a document.
struct DocumentReader: Sendable {
    /// What a file is.
    enum Reading: Sendable {
        case text(String)
        /// A text for each page.
        case pages([String])
        case binary
        case large
        /// A PDF file that nothing here can read.
        case withoutReader
    }

    /// Bytes of a text that is read: nobody writes longer ones by hand.
    static let longestText = 4 << 20
    static let largestPDF: Int64 = 256 << 20

    private let converter: PDFConverter?

    init(_ environment: HubEnvironment) { converter = PDFConverter(environment) }

    /// Whether a file's size is beyond what is read.
    static func isLarge(_ file: FolderWalk.File) -> Bool {
        file.status.size > (isPDF(file.path) ? largestPDF : Int64(longestText))
    }

    private static func isPDF(_ path: String) -> Bool { path.lowercased().hasSuffix(".pdf") }

    /// The file's digest and what is in it.
    ///
    /// - Parameter known: the digest of what was read before: nothing is made of the same bytes again.
    func read(_ path: String, known: String?) throws(AIError) -> (digest: String, reading: Reading?) {
        let isPDF = Self.isPDF(path)
        let limit = isPDF ? Int(Self.largestPDF) : Self.longestText
        let file = try FileDescriptor(path, [.nonBlocking, .noFollow])
        let status = try file.status()
        guard status.kind == .file else { return ("", .binary) }
        guard status.size <= limit else { return ("", .large) }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(AIError) in try file.read(into: buffer, at: 0) }
        }
        bytes.removeLast(bytes.count - (try count.get()))
        let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
        if digest == known { return (digest, nil) }
        if isPDF || bytes.starts(with: "%PDF-".utf8) {
            guard let converter else { return (digest, .withoutReader) }
            return (digest, try converter.pages(path).map { .pages($0) } ?? .binary)
        }
        // A zero byte is what git takes for a binary file, too.
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            return (digest, .binary)
        }
        return (digest, .text(text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text))
    }
}

/// poppler's `pdftotext`.
struct PDFConverter: Sendable {
    private let program: String

    private static let seconds = 60.0
    private static let limit = 16 << 20

    /// nil if it is not in PATH.
    init?(_ environment: HubEnvironment) {
        guard let program = Subprocess.find("pdftotext", environment) else { return nil }
        self.program = program
    }

    /// The text of each page; nil if the file cannot be read.
    func pages(_ path: String) throws(AIError) -> [String]? {
        let result = try Subprocess.run(
            program, ["-q", "-enc", "UTF-8", path, "-"], limit: Self.limit, seconds: Self.seconds)
        guard result.status == 0 else { return nil }
        // A form feed stands behind each page.
        var pages = String(decoding: result.output, as: UTF8.self).split(
            separator: "\u{0C}", omittingEmptySubsequences: false
        ).map(String.init)
        if pages.last?.allSatisfy(\.isWhitespace) == true { pages.removeLast() }
        return pages
    }
}
