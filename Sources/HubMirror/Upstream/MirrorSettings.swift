/// How a mirror behaves.
package struct MirrorSettings: Sendable {
    package var authorisation = ClientAuthorisation.none
    /// Seconds that answers about branches, lists and missing things are kept.
    package var ttl = 60.0
    /// The most bytes of the cache; nil for no limit.
    package var maxSize: Int64?
    /// The folder of upstream's answers.
    package var answers: String

    package init(answers: String) { self.answers = answers }
}
