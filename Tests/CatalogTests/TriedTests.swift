import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct TriedTests {
    @Test func theLastTestOfEachCommitIsRemembered() throws {
        let place = try Place()
        let catalog = try place.open()
        let first = TriedModel(at: 10, verdict: "pass", tokensPerSecond: 12.5)
        try catalog.remember(first, of: repository("org/a"), at: commit("1"))
        let failed = TriedModel(at: 20, verdict: "fail", tokensPerSecond: nil)
        try catalog.remember(failed, of: repository("org/a"), at: commit("2"))
        #expect(try catalog.tried() == ["org/a": [commit("1"): first, commit("2"): failed]])
        let later = TriedModel(at: 30, verdict: "warn", tokensPerSecond: 3)
        try catalog.remember(later, of: repository("org/a"), at: commit("1"))
        let again = try place.open()
        #expect(try again.tried(repository("org/a"), at: commit("1")) == later)
        #expect(try again.tried(repository("org/b"), at: commit("1")) == nil)
    }

    @Test func theLastTestAtEachProviderIsRemembered() throws {
        let place = try Place()
        let catalog = try place.open()
        func tried(_ at: Double, _ provider: String, _ verdict: String = "pass") -> TriedModel {
            TriedModel(at: at, verdict: verdict, tokensPerSecond: 80, provider: provider)
        }
        for (entry, provider) in [
            (tried(10, "hf:groq"), "hf:groq"), (tried(30, "hf"), "hf"), (tried(20, "hf:groq", "warn"), "hf:groq"),
        ] { try catalog.remember(entry, of: repository("org/a"), at: provider) }
        let known = try place.open().triedRemotely()
        #expect(known == ["org/a": [tried(30, "hf"), tried(20, "hf:groq", "warn")]])
        #expect(try catalog.tried().isEmpty)
    }

    /// A catalog of the first version gets the table.
    @Test func anOlderCatalogIsBroughtUpToDate() throws {
        let place = try Place()
        do {
            let first = Schema(versions: [Schema.current.versions[0]])
            let catalog = try Catalog(path: place.path, schema: first) { [place] _ in withExtendedLifetime(place) {}
            }
            try catalog.pin(cache: "/c", folder: "f", commit: commit("a"), note: "kept", at: 3)
        }
        let catalog = try place.open()
        #expect(try catalog.tried().isEmpty && catalog.pins(ofCache: "/c").map(\.note) == ["kept"])
    }
}
