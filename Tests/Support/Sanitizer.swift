import HubCore

/// The sanitizer that the tests run under, if any.
package enum Sanitizer {
    /// Its options by variable name; empty without a sanitizer.
    package static let options: [String: String] = {
        var found: [String: String] = [:]
        for name in ["TSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS"] { found[name] = HubEnvironment.process[name] }
        return found
    }()
}
