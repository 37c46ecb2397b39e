/// One line of `hub doctor`: what was checked and what was found.
struct DoctorFinding: Sendable {
    enum Level: String, Sendable, Hashable {
        /// As it should be, or only a fact.
        case good
        /// Worth knowing; nothing is wrong.
        case note
        /// Something is wrong.
        case bad
    }

    /// The part of the machine: `libraries`, `paths`, `catalog`, `cache`, `account`, `network`.
    var section: String
    /// A short name in snake case for programs, whatever was found.
    var name: String
    var level: Level
    /// What was found, as a sentence for people.
    var text: String
    /// How many of them and how many bytes they hold, where that can be counted.
    var count: Int?
    var bytes: Int64?
    /// What to do about it.
    var advice: String?
    /// Fixes it where that is safe; says what it did, and whether that was all of it. nil if only a person may.
    var fix: (@Sendable () async throws -> (text: String, isWhole: Bool))?
}
