#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HubCore

/// Addresses for people to read, and relative ones made whole.
package enum SafeAddress {
    /// The address without user information, query and fragment: a signed query is a credential.
    package static func shown(_ address: String) -> String {
        var text = address
        if let cut = text.firstIndex(where: { $0 == "?" || $0 == "#" }) { text = String(text[..<cut]) }
        guard let scheme = text.range(of: "://") else { return text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return text[..<scheme.upperBound] + String(text[authority.index(after: at)...])
    }

    /// A reference of a `Location` or `Link` header against the address it came from. RFC 3986, section 5
    static func resolve(_ reference: String, against base: String) -> String? {
        guard let url = URL(string: reference, relativeTo: URL(string: base)) else { return nil }
        return url.absoluteURL.absoluteString
    }
}
