import HubCore
import Support

/// What scripts/soak asks for, by variables of the environment.
struct SoakSettings: Sendable {
    /// The rounds to run, by number.
    let rounds: Range<Int>
    let seed: UInt64
    /// How many rounds run at once: they wait more than they work.
    let atOnce: Int
    /// The program.
    let hub: String
    /// Where the rounds' folders are made, and stay if they fail.
    let folder: String

    static let repositories = 4

    /// nil unless a soak is requested.
    ///
    /// - Throws: where a variable does not hold what it should.
    static func asked(_ environment: HubEnvironment = .process) throws -> SoakSettings? {
        guard let rounds = try number("HUB_SOAK", environment) else { return nil }
        let only = try number("HUB_SOAK_ROUND", environment)
        return SoakSettings(
            rounds: only.map { $0..<$0 + 1 } ?? 0..<rounds,
            seed: try number("HUB_SOAK_SEED", environment).map { UInt64($0) } ?? UInt64.random(in: 1...999_999),
            atOnce: max(1, try number("HUB_SOAK_AT_ONCE", environment) ?? 4),
            hub: try environment["HUB_BINARY"].map { $0 } ?? BuiltProduct.path(),
            folder: environment["TMPDIR"] ?? "/tmp")
    }

    private static func number(_ name: String, _ environment: HubEnvironment) throws -> Int? {
        guard let text = environment[name] else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw AIError(.invalidInput, "\(name) holds no number: \(text.printable)")
        }
        return number
    }

    /// What to type to see one round again.
    func command(round: Int) -> String { "scripts/soak --seed \(seed) --round \(round)" }
}
