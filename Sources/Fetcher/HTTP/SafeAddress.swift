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

    /// The path of an http address, or a path alone, as it is encoded there; nil for anything else and if it climbs.
    package static func path(_ address: String) -> String? {
        let isPath = address.hasPrefix("/") && !address.hasPrefix("//")
        guard isPath || Origin(address) != nil, let url = URL(string: address) else { return nil }
        let path = url.path()
        let isClimbing = Path.parts(path).contains {
            PercentEncoding.decode($0).map { Path.parts($0).contains("..") } ?? true
        }
        return isClimbing ? nil : path
    }

    /// A reference of a `Location` or `Link` header against the address it came from. RFC 3986, section 5
    package static func resolve(_ reference: String, against base: String) -> String? {
        guard let url = URL(string: reference, relativeTo: URL(string: base)) else { return nil }
        return url.absoluteURL.absoluteString
    }
}
