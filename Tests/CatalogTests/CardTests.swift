import Catalog
import HubCore
import Support
import Testing

@Suite struct CardTests {
    @Test func whatAReadmeSaysIsKeptForItsCommit() throws {
        let place = try Place()
        let catalog = try place.open()
        let model = try repository("org/a")
        #expect(try catalog.card(of: model, at: commit("1")) == nil)
        try catalog.remember(card: "It is a model.", of: model, at: commit("1"), now: 5)
        // That there is nothing is known too.
        try catalog.remember(card: "", of: model, at: commit("2"), now: 6)
        let again = try place.open()
        #expect(try again.card(of: model, at: commit("1")) == "It is a model.")
        #expect(try again.card(of: model, at: commit("2")) == "")
        #expect(try again.card(of: model, at: commit("3")) == nil)
        #expect(try again.card(of: repository("org/a", .dataset), at: commit("1")) == nil)
        try again.remember(card: "Another.", of: model, at: commit("1"), now: 7)
        #expect(try again.card(of: model, at: commit("1")) == "Another.")
    }

    @Test func theAgeOfRevisionsIsThatOfTheOldest() throws {
        let catalog = try Place().open()
        let model = try repository("org/a")
        #expect(try catalog.revisionsSeenAt(model) == nil)
        let main = KnownRevision(name: "main", kind: .branch, commit: commit("1"))
        let tag = KnownRevision(name: "v1", kind: .tag, commit: commit("2"))
        try catalog.remember([main, tag], of: model, complete: true, at: 100)
        try catalog.remember([main], of: model, complete: false, at: 200)
        #expect(try catalog.revisionsSeenAt(model) == 100)
        #expect(try catalog.revisionsSeenAt(repository("org/a", .space)) == nil)
        try catalog.remember([main], of: model, complete: true, at: 300)
        #expect(try catalog.revisionsSeenAt(model) == 300)
    }
}
