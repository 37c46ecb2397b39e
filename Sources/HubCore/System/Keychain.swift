#if canImport(Security)
import Foundation
import Security
#endif

/// The macOS keychain.
package enum Keychain {
    /// Whether this system has one.
    package static var isThere: Bool {
        #if canImport(Security)
        true
        #else
        false
        #endif
    }

    /// The password of a generic item; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` on a system without a keychain.
    package static func password(service: String, account: String) throws(AIError) -> String? {
        #if canImport(Security)
        var query = item(service, account)
        query[kSecReturnData] = true
        var found: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &found) {
        case errSecSuccess: return (found as? Data).map { String(decoding: $0, as: UTF8.self) }
        case errSecItemNotFound: return nil
        case let status: throw refusal(service, account, status)
        }
        #else
        throw absence
        #endif
    }

    /// Sets the password of a generic item, which is made if there is none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` on a system without a keychain.
    package static func setPassword(_ password: String, service: String, account: String) throws(AIError) {
        #if canImport(Security)
        let query = item(service, account)
        let value: [CFString: Any] = [kSecValueData: Data(password.utf8)]
        var status = SecItemUpdate(query as CFDictionary, value as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(query.merging(value) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw refusal(service, account, status) }
        #else
        throw absence
        #endif
    }

    /// Removes a generic item, if it is there.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` on a system without a keychain.
    package static func removePassword(service: String, account: String) throws(AIError) {
        #if canImport(Security)
        let status = SecItemDelete(item(service, account) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw refusal(service, account, status)
        }
        #else
        throw absence
        #endif
    }

    #if canImport(Security)
    private static func item(_ service: String, _ account: String) -> [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    private static func refusal(_ service: String, _ account: String, _ status: OSStatus) -> AIError {
        AIError(.permissionDenied, "the keychain refuses \(service)/\(account) (status \(status))")
    }
    #else
    private static var absence: AIError {
        AIError(.invalidInput, "this system has no keychain", advice: "use HF_TOKEN or the token file")
    }
    #endif
}
