package import Fetcher

/// How a mirror behaves.
package struct MirrorSettings: Sendable {
    package var authorisation = ClientAuthorisation.none
    /// Seconds that answers about branches, lists and missing things are kept.
    package var ttl = 60.0
    /// The most bytes of the cache; nil for no limit.
    package var maxSize: Int64?
    /// The folder of upstream's answers.
    package var answers: String
    /// Limits of one fetch. Clients try again themselves, so it gives up sooner than a pull.
    package var limits = PullSession.Limits()

    package init(answers: String) {
        self.answers = answers
        limits.failures = 2
        limits.mismatches = 2
        limits.longestWait = Upstream.longestWait
    }
}
