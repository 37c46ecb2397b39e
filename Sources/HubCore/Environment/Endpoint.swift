#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Scheme, host and port: the unit a credential is bound to.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// Lower-case name or address.
    public let host: String
    /// The port, by default the scheme's.
    public let port: Int

    /// The origin of an address; nil if it is not http or https or has no host.
    public init?(_ address: String) {
        // URL parsers disagree: `https://a\@b` is host a to some and b to others.
        guard !address.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else {
            return nil
        }
        guard let url = URL(string: address), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = url.host()?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (scheme == "https" ? 443 : 80)
        guard (1...65535).contains(port) else { return nil }
    }

    /// Whether the host is this machine by name or address.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        // Four plain numbers; `127.0.0.1.example` is a name, and so may be anything else with a dot.
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil) && !host.contains("+")
    }

    /// Whether a token may be sent to this origin: by https, or by http on this machine.
    public var isSafeForCredentials: Bool { scheme == "https" || isLoopback }

    /// The usual spelling, without the scheme's default port.
    public var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }
}

/// The address of a Hub: `https://huggingface.co` or a mirror.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// The address without a trailing slash.
    public let address: String
    /// Its origin.
    public let origin: Origin

    /// The Hub itself.
    public static let huggingFace = try! Endpoint("https://huggingface.co")

    /// Reads an address.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if it is not http or https, has no host, or has user information or a
    ///   query.
    public init(_ text: String) throws(AIError) {
        var address = text
        while address.hasSuffix("/") { address.removeLast() }
        let url = URL(string: address)
        // What is wrong with it is what is not shown.
        let hasUser = url?.user() != nil || url?.password() != nil
        guard !hasUser, let origin = Origin(address), let url, url.query() == nil, url.fragment() == nil else {
            let user = hasUser ? " with a name or a password" : ""
            throw AIError(
                .invalidInput, "\"\(Secrets.address(text).printable)\"\(user) is not the address of a Hub",
                advice: "write it like https://huggingface.co, without a name, a password or a query")
        }
        self.address = address
        self.origin = origin
    }

    /// The address.
    public var description: String { address }
}
