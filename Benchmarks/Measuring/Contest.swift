import HubCore

/// One side of a comparison.
struct Contestant {
    /// As the table shows it.
    var name: String
    var command: Command
    /// What makes every run start alike; not measured.
    var prepare: () throws -> Void = {}
    /// What is measured besides the program itself; gets what the program wrote.
    var inspect: (String) throws -> [Measure: Double] = { _ in [:] }
}

/// The other side, if it is there.
enum Peer {
    case present(Contestant)
    case missing(name: String, reason: String)
    /// Nobody to compare with.
    case none
}

/// One piece of work, done by hub and by its peers.
struct Contest {
    var work: String
    var measures: [Measure]
    /// The most that the project allows hub, in seconds of wall time.
    var bar: Double?
    /// Runs before those that count.
    var warmUps: Int
    var ours: Contestant
    var peers: [Peer]
    /// The Hub that they ask; it runs for as long as this does.
    var server: SimulatedHub? = nil

    /// Does the work several times, the sides taking turns so that what disturbs the machine disturbs all of them.
    func rows(runs: Int, runner: Runner, progress: Progress) throws -> [Row] {
        var sides: [Side] = [Side(ours)]
        for case .present(let contestant) in peers { sides.append(Side(contestant)) }
        for run in 0..<warmUps + runs {
            for index in sides.indices where sides[index].failure == nil {
                progress.step("\(work): \(sides[index].contestant.name), run \(run + 1) of \(warmUps + runs)")
                do {
                    let result = try sides[index].run(runner)
                    if run >= warmUps { sides[index].results.append(result) }
                } catch {
                    // Without hub there is no row; without a peer there is one that says so.
                    if index == 0 { throw error }
                    sides[index].failure = AIError.wrapping(error).message
                }
            }
        }
        return rows(sides)
    }

    private func rows(_ sides: [Side]) -> [Row] {
        var others = sides.dropFirst()
        let columns = peers.map { peer in
            switch peer {
            case .present: Column.side(others.removeFirst())
            case .missing(let name, let reason): Column.absent(name, reason)
            case .none: Column.nobody
            }
        }
        return columns.flatMap { column in
            measures.compactMap { measure in
                guard let ours = sides[0].samples(measure) else { return nil }
                let row = Row(
                    work: work, measure: measure, ours: .init(sides[0].contestant.name, ours),
                    bar: measure == .wall ? bar : nil)
                return column.completing(row)
            }
        }
    }

    private struct Side {
        let contestant: Contestant
        var results: [[Measure: Double]] = []
        var failure: String?

        init(_ contestant: Contestant) { self.contestant = contestant }

        func run(_ runner: Runner) throws -> [Measure: Double] {
            try contestant.prepare()
            let (ending, output) = try runner.run(contestant.command)
            let measured: [Measure: Double] = [
                .wall: ending.seconds, .processor: ending.processorSeconds, .memory: Double(ending.peakBytes),
            ]
            return try contestant.inspect(output).merging(measured) { inspected, _ in inspected }
        }

        func samples(_ measure: Measure) -> Samples? {
            let values = results.compactMap { $0[measure] }
            return values.isEmpty ? nil : Samples(values: values)
        }
    }

    private enum Column {
        case side(Side)
        case absent(String, String)
        case nobody

        /// The row with the peer's half; nil where the peer has no such measure.
        func completing(_ row: Row) -> Row? {
            var row = row
            switch self {
            case .side(let side):
                let name = side.contestant.name
                if let failure = side.failure {
                    row.peer = .init(name, missing: "failed: \(failure)")
                } else if let samples = side.samples(row.measure) {
                    row.peer = .init(name, samples)
                } else {
                    return nil
                }
            case .absent(let name, let reason): row.peer = .init(name, missing: reason)
            case .nobody: break
            }
            return row
        }
    }
}
