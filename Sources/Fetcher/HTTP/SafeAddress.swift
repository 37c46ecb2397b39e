#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HubCore

/// Addresses for people to read, and relative ones made whole.
package enum SafeAddress {
    /// The address without user information, query and fragment.
    package static func shown(_ address: String) -> String { Secrets.address(address) }

    /// A reference of a `Location` or `Link` header against the address it came from. RFC 3986, section 5
    static func resolve(_ reference: String, against base: String) -> String? {
        guard let url = URL(string: reference, relativeTo: URL(string: base)) else { return nil }
        return url.absoluteURL.absoluteString
    }
}
