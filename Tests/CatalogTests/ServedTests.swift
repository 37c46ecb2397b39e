import HubCore
import Support
import Testing

@testable import Catalog

/// Who serves models, as routers and Hubs said.
@Suite struct ServedTests {
    @Test func theLastWordOfEachEndpointIsRemembered() throws {
        let place = try Place()
        let catalog = try place.open()
        let (router, other) = ("https://router.example", "https://other.example")
        try catalog.remember(
            served: [("org/b", .array([1])), ("org/a", .array([2]))], source: router, at: 5)
        try catalog.remember(served: [("org/a", .array([3]))], source: router, at: 6)
        try catalog.remember(served: [("org/a", .array([4]))], source: other, at: 7)
        let again = try place.open()
        let known = try #require(try again.served("org/a", source: router))
        #expect(known.heardAt == 6 && known.offers == "[3]")
        #expect(try again.served(source: router).map(\.model) == ["org/a", "org/b"])
        #expect(try again.served("org/c", source: router) == nil)
    }

    /// A catalog of the third version gets the table.
    @Test func anOlderCatalogIsBroughtUpToDate() throws {
        let place = try Place()
        do {
            let third = Schema(versions: Array(Schema.current.versions.prefix(3)))
            _ = try Catalog(path: place.path, schema: third) { [place] _ in withExtendedLifetime(place) {} }
        }
        #expect(try place.open().served(source: "https://router.example").isEmpty)
    }
}
