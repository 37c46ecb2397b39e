import HubCore
import Libc

/// kill -9 at random moments of a pull of 1 GiB, and the same command again: the loss, measured by the bytes the server
/// sent.
struct KilledPulls: Measurement {
    private let weights: Weights
    private let server: SimulatedHub
    private let box: Sandbox
    private let ours: Command
    private let theirs: Tools.Tool
    private let kills: Int
    private let seed: UInt64

    static func measurements(_ suite: Suite) throws -> [any Measurement] { [try KilledPulls(suite)] }

    private init(_ suite: Suite) throws {
        weights = try LargeFiles.weights(suite)
        // Its log says what was sent of an answer that was cut off: what has left it, not what its system still holds.
        server = try suite.server(weights.root, ["--sndbuf", "65536"])
        box = try weights.sandbox(server, suite)
        ours = suite.hub(["pull", weights.model], box)
        theirs = suite.tools.hf
        (kills, seed) = (suite.options.kills, suite.options.seed)
    }

    var work: String { "\(kills) kill -9 at random moments of a 1 GiB pull, --seed \(seed)" }

    func measure(runs: Int, runner: Runner, progress: Progress) throws -> Outcome {
        let found = try strike(ours, kills, runner, progress) { try weights.expectRight(in: box) }
        var rows = [
            Row(
                work: work, measure: .survived,
                ours: .init("hub pull", Samples(values: [Double(found.again.count)])),
                limit: .least(Double(kills)))
        ]
        if !found.again.isEmpty {
            rows.append(
                Row(
                    work: work, measure: .again, ours: .init("hub pull", Samples(values: found.again)),
                    others: [try peer(runner, progress)], limit: .most(32 * .mebibyte)))
        }
        return Outcome(rows: rows, faults: found.faults)
    }

    /// A tenth of the kills for Python's client, which takes its time and verifies nothing.
    private func peer(_ runner: Runner, _ progress: Progress) throws -> Row.Half {
        let count = max(1, kills / 10)
        let name = "hf download, killed \(count) times"
        switch theirs {
        case .missing(let reason): return .init(name, missing: reason)
        case .at(let program):
            let command = Command(program, ["download", weights.model], in: box.environment)
            let found = try strike(command, count, runner, progress) { try weights.expectWhole(in: box) }
            if let fault = found.faults.first { return .init(name, missing: "failed: \(fault)") }
            return .init(name, Samples(values: found.again))
        }
    }

    /// Kills this many pulls and resumes each.
    ///
    /// - Returns: for each that ended well the bytes that were sent more than once; and what went wrong with the others.
    private func strike(
        _ command: Command, _ count: Int, _ runner: Runner, _ progress: Progress, check: () throws -> Void
    ) throws -> (again: [Double], faults: [String]) {
        var again: [Double] = []
        var faults: [String] = []
        var random = SplitMix64(state: seed)
        try box.reset()
        // The duration of an undisturbed one.
        let whole = try runner.run(command).ending.seconds
        var struck = 0
        var late = 0
        while struck < count {
            let moment = Double.random(in: 0..<whole, using: &random)
            progress.step("\(work): \(command.name), kill \(struck + 1) after \(Measure.wall.text(moment))")
            try box.reset()
            try server.forget()
            guard try kill(command, after: moment, runner) else {
                // It was faster this time, and there was nothing left to kill.
                late += 1
                guard late <= count + 10 else { throw AIError(.ioError, "the pulls end before they can be killed") }
                continue
            }
            struck += 1
            do {
                try runner.run(command)
                let sent = try server.traffic().contentBytes
                try check()
                guard sent >= weights.bytes else {
                    throw AIError(.ioError, "the server's log has fewer bytes than the files")
                }
                again.append(Double(sent - weights.bytes))
            } catch {
                faults.append(
                    "kill \(struck), after \(Measure.wall.text(moment)): \(AIError.wrapping(error).message)")
            }
        }
        try box.reset()
        return (again, faults)
    }

    /// Starts a program and kills it; whether it was still there.
    private func kill(_ command: Command, after seconds: Double, _ runner: Runner) throws -> Bool {
        let process = try ChildProcess(
            command, output: Path.join(runner.folder, "output"), error: Path.join(runner.folder, "error"))
        usleep(UInt32(seconds * 1e6))
        process.kill()
        let ending = try process.wait()
        guard ending.status != 128 + SIGKILL else { return true }
        guard ending.status == 0 else {
            throw AIError(.ioError, "\(command.name) ended with exit status \(ending.status) by itself")
        }
        return false
    }
}
