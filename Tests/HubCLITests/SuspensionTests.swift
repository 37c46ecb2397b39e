import HubCore
import Support
import Testing

@testable import HubCLI

/// ^Z and `fg`.
@Suite struct SuspensionTests {
    @Test func whoWatchesPreparesBeforeAndResumesAfterwards() {
        let suspension = Suspension()
        let told = Recorder()
        func say(_ letter: Character) { _ = told.sink.write(Array(String(letter).utf8)) }
        _ = suspension.onSuspend { done in
            _ = told.sink.write(Array("a".utf8))
            done()
        } resume: {
            _ = told.sink.write(Array("A".utf8))
        }
        let key = suspension.onSuspend { done in
            _ = told.sink.write(Array("b".utf8))
            done()
        } resume: {
            _ = told.sink.write(Array("B".utf8))
        }
        suspension.suspend { say("-") }
        suspension.remove(key)
        suspension.suspend { say("-") }
        #expect(told.text == "ab-ABa-A")
    }

    /// The requests end before the process stops, and restart when it continues; received bytes stay.
    @Test func aStoppedPullGoesOn() async throws {
        let stage = try Stage()
        let bytes = try ModelRepository("org/m", in: stage.root).random("w.safetensors", size: 40 << 20, seed: 4)
        let gate = stage.hub.hold("^GET", after: 300_000, times: nil, on: .cdn)
        // A shell with job control, because the program must be continued.
        let process = try stage.shell(
            "set -m; $hub pull -q org/m; echo \"stopped\"; read x; fg >/dev/null", terminal: .init())
        // One for each connection; as many ranges and more are still to be asked for.
        try await gate.reached(8)
        process.write("\u{1a}")
        _ = try await process.wait(forText: "stopped")
        let before = stage.hub.requests("^GET", on: .cdn).count
        gate.release()
        #expect(stage.hub.requests("^GET", on: .cdn).count == before)
        process.write("\n")
        let result = try await process.wait()
        #expect(result.status == 0, "\(result.terminal)")
        let path = try #require(
            result.terminal.split(whereSeparator: \.isNewline).last { $0.hasPrefix("/") }, "\(result.terminal)")
        let place = Path.join(String(path), "w.safetensors")
        #expect(try FileSystem.contents(place) == bytes ? true : false)
        #expect(stage.hub.requests("^GET", on: .cdn).count > before)
    }
}
