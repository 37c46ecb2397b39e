import HubCore
import RemoteKit
import Testing

@Suite struct RemoteModelNameTests {
    @Test func aSuffixNamesAProviderOrAPolicy() throws {
        let pinned = try RemoteModelName("org/name:groq")
        #expect(pinned.repository.name == "org/name" && pinned.provider == "groq")
        #expect(pinned.description == "org/name:groq")
        let cheapest = try RemoteModelName("org/name:cheapest")
        #expect(cheapest.provider == nil && cheapest.suffix == "cheapest")
        #expect(try RemoteModelName("org/name").suffix == nil)
        #expect(throws: AIError.self) { try RemoteModelName("org/name:") }
        #expect(throws: AIError.self) { try RemoteModelName("org/name:a b") }
    }
}
