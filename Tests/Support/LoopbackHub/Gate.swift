/// Where a fault holds a response until the test lets it go: the way to stop a transfer at an exact byte.
package final class Gate: Sendable {
    private struct State {
        var arrived = 0
        var isOpen = false
    }
    private let state = Monitor(State())

    package init() {}

    /// Waits until so many responses are held here, or have been.
    package func reached(_ count: Int = 1, seconds: Double = TestTimeout.seconds) async throws {
        _ = try await state.value("the arrival of \(count) responses at a gate", seconds: seconds) {
            $0.arrived >= count ? $0.arrived : nil
        }
    }

    /// How many responses have come here.
    package var arrivals: Int { state.update { $0.arrived } }

    /// Lets go all that are held and all that will come.
    package func release() { state.update { $0.isOpen = true } }

    /// Blocks a response's thread until the gate is open.
    package func pass() {
        state.update { $0.arrived += 1 }
        _ = state.wait(seconds: 3600) { $0.isOpen ? true : nil }
    }
}
