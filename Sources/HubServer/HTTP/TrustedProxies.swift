package import HubCore
import Libc

/// The proxies whose `X-Forwarded-For`, `-Proto` and `-Host` count. Anybody else could make up another address or name.
package struct TrustedProxies: Sendable {
    private var networks: [AddressRange] = []

    /// Nobody.
    package init() {}

    package var isEmpty: Bool { networks.isEmpty }

    /// - Parameter texts: addresses, or networks such as `10.0.0.0/8`.
    /// - Throws: ``ErrorCode/invalidInput`` for a text that is neither.
    package init(_ texts: [String]) throws(AIError) {
        for text in texts {
            guard let network = AddressRange(text) else {
                throw AIError(
                    .invalidInput, "\(text.printable) is not an IP address",
                    advice: "name the proxy by its address, or its network such as 10.0.0.0/8")
            }
            networks.append(network)
        }
    }

    /// Takes over what a trusted proxy says about the client, and removes the headers in any case.
    func apply(to request: inout HTTPRequest) {
        let hops = request.headers.all("X-Forwarded-For").flatMap { $0.split(separator: ",") }.map(Self.trimmed)
        let scheme = request.headers.all("X-Forwarded-Proto").map { Self.trimmed($0[...]).lowercased() }
        let host = request.headers.all("X-Forwarded-Host").map { Self.trimmed($0[...]) }
        for name in ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"] { request.headers[name] = nil }
        guard isTrusted(request.client) else { return }
        // Each proxy adds who it heard from; the first from the right that is no proxy of ours is the client.
        for hop in hops.reversed() {
            guard AddressRange.bytes(hop) != nil else { break }
            request.client = hop
            if !isTrusted(hop) { break }
        }
        if scheme.count == 1, ["http", "https"].contains(scheme[0]) { request.scheme = scheme[0] }
        if host.count == 1, !host[0].isEmpty { request.headers["Host"] = host[0] }
    }

    private func isTrusted(_ address: String) -> Bool {
        guard !networks.isEmpty, let bytes = AddressRange.bytes(address) else { return false }
        return networks.contains { $0.contains(bytes) }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

/// The addresses of a network: `10.0.0.0/8`, `fd00::/8`, or one address.
struct AddressRange: Sendable, Hashable {
    private var prefix: [UInt8]
    private var bits: Int

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = Self.bytes(String(parts[0])) else { return nil }
        prefix = bytes
        bits = bytes.count * 8
        guard parts.count == 2 else { return }
        guard let length = Int(parts[1]), (0...bits).contains(length) else { return nil }
        bits = length
    }

    func contains(_ address: [UInt8]) -> Bool {
        guard address.count == prefix.count else { return false }
        return (0..<bits).allSatisfy { bit in
            (address[bit / 8] ^ prefix[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }

    /// 4 or 16 bytes; nil if the text is not an address. An IPv4 address in IPv6 (`::ffff:10.0.0.1`) is the former, as a
    /// socket for both writes it.
    static func bytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        return bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]) ? Array(bytes[12...]) : bytes
    }
}
