#if canImport(Security)
import Foundation
import Security
#endif

/// The macOS keychain.
enum Keychain {
    /// The password of a generic item; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` on a system without a keychain.
    static func password(service: String, account: String) throws(AIError) -> String? {
        #if canImport(Security)
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
            kSecReturnData: true,
        ]
        var item: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &item) {
        case errSecSuccess: return (item as? Data).map { String(decoding: $0, as: UTF8.self) }
        case errSecItemNotFound: return nil
        case let status:
            throw AIError(.permissionDenied, "the keychain refuses \(service)/\(account) (status \(status))")
        }
        #else
        throw AIError(.invalidInput, "this system has no keychain", advice: "use HF_TOKEN or the token file")
        #endif
    }
}
