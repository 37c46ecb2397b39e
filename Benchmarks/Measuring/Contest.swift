import HubCore

/// A piece of work that is measured.
protocol Measurement {
    /// As the table shows it.
    var work: String { get }
    /// Does the work several times.
    ///
    /// - Throws: where there is nothing to report.
    func measure(runs: Int, runner: Runner, progress: Progress) throws -> Outcome
}

/// The result of a measurement.
struct Outcome {
    var rows: [Row] = []
    /// Faults of hub in a completed measurement.
    var faults: [String] = []
    /// hub's message if it does not support this work yet.
    var notYet: String?
}

/// One side of a comparison.
struct Contestant {
    /// As the table shows it.
    var name: String
    var command: Command
    /// The setup of every run; not measured.
    var prepare: () throws -> Void = {}
    /// What is measured besides the program itself; gets what the program wrote.
    var inspect: (String) throws -> [Measure: Double] = { _ in [:] }
    /// Bytes that it fetches, by which it has a rate.
    var bytes: Int64?
    /// Whether it does only a part of the work, and so counts in the sum of a bar and has no row of its own.
    var isPart = false
}

/// The other side, or why it is missing.
enum Peer {
    case present(Contestant)
    case missing(name: String, reason: String)
}

/// One task, done by hub and by its peers.
struct Contest: Measurement {
    var work: String
    var measures: [Measure]
    var bars: [Bar] = []
    /// Runs before those that count.
    var warmUps = 0
    var ours: Contestant
    var peers: [Peer] = []
    /// The servers that they ask; they run for as long as this does.
    var servers: [AnyObject] = []
    /// Starts what runs beside it, from its first run to its last.
    var company: () throws -> [AnyObject] = { [] }

    /// The sides take turns, so that disturbances affect all of them.
    func measure(runs: Int, runner: Runner, progress: Progress) throws -> Outcome {
        let others = try company()
        defer { withExtendedLifetime(others) {} }
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
        return Outcome(rows: rows(sides))
    }

    /// For each measure the promises first, then every peer that no promise names.
    private func rows(_ sides: [Side]) -> [Row] {
        measures.flatMap { measure -> [Row] in
            guard let samples = sides[0].samples(measure) else { return [] }
            let own = Row.Half(ours.name, samples)
            let promised = bars.filter { $0.measure == measure }
            var rows = promised.map { bar in
                let others = bar.beside.compactMap { half($0, measure, sides) }
                return Row(work: work, measure: measure, ours: own, others: others, limit: bar.limit)
            }
            for peer in peers {
                if case .present(let contestant) = peer, contestant.isPart { continue }
                guard !promised.contains(where: { $0.beside == [peer.name] }),
                    let other = half(peer.name, measure, sides)
                else { continue }
                rows.append(Row(work: work, measure: measure, ours: own, others: [other]))
            }
            return rows.isEmpty ? [Row(work: work, measure: measure, ours: own)] : rows
        }
    }

    /// A peer's half; nil if the peer has no such measure.
    private func half(_ name: String, _ measure: Measure, _ sides: [Side]) -> Row.Half? {
        for case .missing(name, let reason) in peers { return Row.Half(name, missing: reason) }
        guard let side = sides.dropFirst().first(where: { $0.contestant.name == name }) else {
            preconditionFailure("\(work) has no peer \(name)")
        }
        if let failure = side.failure { return Row.Half(name, missing: "failed: \(failure)") }
        return side.samples(measure).map { Row.Half(name, $0) }
    }

    private struct Side {
        let contestant: Contestant
        var results: [[Measure: Double]] = []
        var failure: String?

        init(_ contestant: Contestant) { self.contestant = contestant }

        func run(_ runner: Runner) throws -> [Measure: Double] {
            try contestant.prepare()
            let (ending, output) = try runner.run(contestant.command)
            var measured: [Measure: Double] = [
                .wall: ending.seconds, .processor: ending.processorSeconds, .memory: Double(ending.peakBytes),
            ]
            if let bytes = contestant.bytes { measured[.rate] = Double(bytes) / ending.seconds }
            return try contestant.inspect(output).merging(measured) { inspected, _ in inspected }
        }

        func samples(_ measure: Measure) -> Samples? {
            let values = results.compactMap { $0[measure] }
            return values.isEmpty ? nil : Samples(values: values)
        }
    }
}

extension Peer {
    var name: String {
        switch self {
        case .present(let contestant): contestant.name
        case .missing(let name, _): name
        }
    }
}
