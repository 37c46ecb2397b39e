#if !os(Linux)
import HubCore

/// The keychain of macOS.
struct Keyring: Sendable {
    /// nil if there is none, or the user wants none.
    init?(_ environment: HubEnvironment) {
        guard Keychain.isThere, !environment.isTrue("HUB_NO_KEYRING") else { return nil }
    }

    private static let service = "hub sign-in"

    /// Keeps a text; in place of one that has the same name.
    func store(_ text: String, as item: String) async throws {
        try await Blocking.run { try Keychain.setPassword(text, service: Self.service, account: item) }
    }

    /// The text of an item; nil if there is none.
    func text(of item: String) async throws -> String? {
        try await Blocking.run { try Keychain.password(service: Self.service, account: item) }
    }

    /// Removes an item.
    func remove(_ item: String) async throws {
        try await Blocking.run { try Keychain.removePassword(service: Self.service, account: item) }
    }
}
#endif
