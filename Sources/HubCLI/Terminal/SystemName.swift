import Libc

/// What the operating system calls itself.
struct SystemName: Sendable {
    /// `Linux`, `Darwin`.
    var system: String
    var release: String
    /// `x86_64`, `aarch64`, `arm64`.
    var architecture: String

    static var current: SystemName {
        var names = utsname()
        guard uname(&names) == 0 else { return SystemName(system: "unknown", release: "", architecture: "unknown") }
        return SystemName(
            system: text(names.sysname), release: text(names.release), architecture: text(names.machine))
    }

    /// The text in an array of C, which Swift sees as a tuple.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
