import HubCore
import Libc

/// An address of the Internet Protocol, and whether it is a public one.
struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16.
    let bytes: [UInt8]

    /// An address as people write it; nil for anything else, and for an IPv6 address with a zone.
    init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: &six) { Array($0) }
        } else {
            return nil
        }
    }

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isShort = bytes.count == 4
        _ = bytes.withUnsafeBytes {
            inet_ntop(isShort ? AF_INET : AF_INET6, $0.baseAddress, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the address is that of some machine in the Internet: not this one, not one of its own network, and none that
    /// stands for an IPv4 address.
    ///
    /// https://www.iana.org/assignments/iana-ipv4-special-registry,
    /// https://www.iana.org/assignments/iana-ipv6-special-registry
    var isPublic: Bool {
        if bytes.count == 4 { return !Self.special4.contains { contains($0.prefix, $0.length) } }
        // All that is given out to the public; loopback, local, mapped and translated (64:ff9b::/96) addresses lie elsewhere.
        return contains([0x20], 3) && !Self.special6.contains { contains($0.prefix, $0.length) }
    }

    private static let special4: [(prefix: [UInt8], length: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]
    /// Teredo and other uses of 2001::/23, documentation, 6to4, which hides IPv4 addresses.
    private static let special6: [(prefix: [UInt8], length: Int)] = [
        ([0x20, 0x01, 0x00], 23), ([0x20, 0x01, 0x0D, 0xB8], 32), ([0x20, 0x02], 16), ([0x3F, 0xFF, 0x00], 20),
    ]

    private func contains(_ prefix: [UInt8], _ length: Int) -> Bool {
        (0..<length).allSatisfy { bit in
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            let wanted = bit / 8 < prefix.count ? prefix[bit / 8] : 0
            return bytes[bit / 8] & mask == wanted & mask
        }
    }

    /// What a name stands for, by the system's resolver. Blocks.
    ///
    /// - Throws: ``ErrorCode/unreachable``.
    static func resolve(_ host: String) throws(AIError) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let fault = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        var found: [IPAddress] = []
        var next = list
        while fault == 0, let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0,
                let address = IPAddress(
                    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            {
                if !found.contains(address) { found.append(address) }
            }
            next = entry.ai_next
        }
        guard !found.isEmpty else {
            throw AIError(.unreachable, "\(host.printable) cannot be reached: its host name cannot be resolved")
        }
        return found
    }
}
