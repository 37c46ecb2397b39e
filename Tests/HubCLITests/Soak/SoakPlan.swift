import HubCore
import HubServer
import Libc
import Support

/// What one round does to its pulls, drawn from a seed alone.
struct SoakPlan: Sendable {
    /// When something happens while programs run, counted from their start.
    enum Moment: Sendable, CustomStringConvertible {
        case requests(Int)
        case contentBytes(Int64)
        case seconds(Double)

        var description: String {
            switch self {
            case .requests(let count): "after \(count) requests"
            case .contentBytes(let count): "after \(count) bytes of content"
            case .seconds(let seconds): "after \(seconds) s"
            }
        }
    }

    /// A `hub` that is started.
    struct Program: Sendable {
        var words: [String]
        /// Sent to it, unless it has ended by then.
        var signal: (number: Int32, moment: Moment)?
    }

    /// What becomes of partials between two attempts.
    enum Damage: Sendable, CaseIterable {
        /// Deleted, as Python's prune does it.
        case pruned
        /// Cut off, as by a disk that was full.
        case cutPartial, cutMap
        /// One bit is another, as by a disk that errs.
        case flippedBit
    }

    /// One or two programs at once, and what is done to them.
    struct Attempt: Sendable {
        var faults: [Fault]
        var programs: [Program]
        /// All partials are deleted while the programs run.
        var prune: Moment?
        /// All signed addresses expire.
        var expiry: Moment?
        /// Each happens to one partial or map, if there is one by then.
        var damage: [Damage]
        /// Draws which.
        var seed: UInt64
    }

    let repository: Int
    let attempts: [Attempt]

    /// Whether a partial may contain wrong bytes: then the last pull may have to fetch them again.
    var spoils: Bool {
        attempts.contains { attempt in
            attempt.damage.contains(.flippedBit)
                || attempt.faults.contains { fault in
                    switch fault.kind {
                    case .corrupt, .corruptFile: true
                    default: false
                    }
                }
        }
    }

    init(seed: UInt64, round: Int, repositories: Int) {
        var random = SeededRandom(state: SeededRandom(number: seed).state ^ SeededRandom(number: round + 1).state)
        repository = Int.random(in: 0..<repositories, using: &random)
        attempts = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.attempt(&random) }
    }

    private static func attempt(_ random: inout SeededRandom) -> Attempt {
        let faults = (0..<Int.random(in: 0...6, using: &random)).map { _ in fault(&random) }
        let programs = (0..<(random.one(in: 4) ? 2 : 1)).map { _ in program(&random) }
        return Attempt(
            faults: faults, programs: programs,
            prune: random.one(in: 10) ? moment(&random) : nil,
            expiry: random.one(in: 6) ? moment(&random) : nil,
            damage: Damage.allCases.filter { _ in random.one(in: 6) }, seed: random.next())
    }

    private static func program(_ random: inout SeededRandom) -> Program {
        var words = ["pull", "--verbose", "--progress", "plain", SoakRepository.id]
        if random.one(in: 3) {
            words += ["--connections", ["1", "2", "3", "16"].randomElement(using: &random)!]
        }
        if random.one(in: 12) { words.append("--force") }
        if random.one(in: 10) { words += ["--include", "*.txt", "--include", "onnx/*"] }
        let signal = [SIGKILL, SIGKILL, SIGINT, SIGTERM, nil].randomElement(using: &random)!
        return Program(words: words, signal: signal.map { ($0, moment(&random)) })
    }

    private static func moment(_ random: inout SeededRandom) -> Moment {
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: .requests(Int.random(in: 0...120, using: &random))
        case 2, 3, 4: .contentBytes(Int64.random(in: 0...60_000_000, using: &random))
        default: .seconds(Double.random(in: 0...1.5, using: &random))
        }
    }

    // MARK: Faults of the Hub and of its CDN

    private static func fault(_ random: inout SeededRandom) -> Fault {
        // Most of what is sent is content, so most faults are the CDN's.
        let (match, listener): (String, Fault.Listener) =
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3: ("^GET", .cdn)
            case 4, 5: ("/resolve-cache/", .hub)
            case 6: ("/resolve/", .hub)
            default: ("/api/models/", .hub)
            }
        let kind = random.one(in: 2) ? ofConnections(&random) : ofAnswers(listener, match, &random)
        return Fault(match, kind, times: Int.random(in: 1...4, using: &random), on: listener)
    }

    /// The answer is right, and comes badly or not at all.
    private static func ofConnections(_ random: inout SeededRandom) -> Fault.Kind {
        let place = random.one(in: 4) ? 0 : Int64.random(in: 0...6_000_000, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: return .drop(after: place)
        // Longer than the second after which hub gives a silent connection up.
        case 2: return .stall(after: place, seconds: 3)
        case 3: return .truncate(by: Int64.random(in: 1...100_000, using: &random))
        case 4: return .trickle(bytesPerSecond: Int.random(in: 1_000_000...20_000_000, using: &random))
        case 5: return .delay(seconds: Double.random(in: 0...0.5, using: &random))
        default: return .corrupt(at: place)
        }
    }

    /// The answer is another than it should be.
    private static func ofAnswers(
        _ listener: Fault.Listener, _ match: String, _ random: inout SeededRandom
    ) -> Fault.Kind {
        let now: HTTPHeaders = ["Retry-After": "0"]
        var kinds: [Fault.Kind] = [
            .status(429, headers: ["Retry-After": "1"]), .status(503, headers: now), .status(429, headers: now),
            .status(500), .status(502, body: "<html>Bad Gateway"), .status(503), .status(504), .status(408),
            .garbage, .html, .redirectLoop, .redirect(to: "http://127.0.0.1:1/gone"),
            .redirect(to: "file:///etc/passwd"), .redirect(to: "//"),
        ]
        if listener == .cdn {
            kinds += [
                .expire, .expire, .status(404), .status(410), .noRange, .noRange, .wrongContentRange,
                .changedEtag(String(repeating: "0", count: 64)),
            ]
        } else if match == "/resolve-cache/" {
            kinds += [.gzip, .changedEtag(String(repeating: "0", count: 40))]
        }
        return kinds.randomElement(using: &random)!
    }
}
