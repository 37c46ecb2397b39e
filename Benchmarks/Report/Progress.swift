import Libc

/// Progress on stderr: on a terminal one line that is overwritten, elsewhere one line per benchmark.
struct Progress {
    private let isTerminal = isatty(2) == 1

    /// A piece of work begins.
    func begin(_ work: String) { say(isTerminal ? "\r\u{1B}[K\(work)" : "\(work)\n") }
    /// A run of it.
    func step(_ text: String) { if isTerminal { say("\r\u{1B}[K\(text)") } }
    /// The end.
    func end() { if isTerminal { say("\r\u{1B}[K") } }

    private func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(2, bytes, bytes.count)
    }
}
