import HubCore
import Support
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `hub gc` on a terminal.
@Suite struct ScreenCommandTests {
    @Test(arguments: ["xterm", "vt100"]) func aPersonChoosesReviewsAndDeletes(terminal: String) async throws {
        let stage = try Stage.withForty()
        let screen = try stage.list(terminal: terminal)
        try await screen.expect("x")
    }
}
