import CPlatform
import HubCore
import Libc

extension Context {
    /// A secret: a line typed on the terminal, without showing it, or all of stdin if that is not a terminal.
    func readSecret(_ prompt: String) async throws -> String {
        guard Terminal.isTerminal(0) else { return try await StandardInput.text(limit: 1 << 16) }
        output.flush()
        guard hub_secret_begin(0, SafeText.line(prompt)) == 0 else {
            throw AIError.system("cannot hide the input on", path: "the terminal", errno: errno)
        }
        defer { hub_secret_end() }
        return try await StandardInput.line() ?? ""
    }
}
