import HubCore

/// Where pages may be read from. Each address is looked up once, checked, and connected to as checked: a name that stands
/// for another address a moment later changes nothing.
struct WebPolicy: Sendable {
    /// What a host stands for.
    var resolve: @Sendable (String) throws(AIError) -> [IPAddress]
    /// Whether a machine may be asked.
    var allows: @Sendable (IPAddress) -> Bool
    /// Seconds that a page may take in all, and without progress.
    var seconds = 30.0
    var patience = 10.0

    /// The Internet: no machine of one's own network.
    static let internet = WebPolicy(
        resolve: { (host) throws(AIError) in try IPAddress.resolve(host) }, allows: { $0.isPublic })

    /// The address to connect to for a page. Blocks.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what is not http or https, has a user name in it, or leads to a machine that
    ///   may not be asked, by one of its addresses.
    func target(of address: String) throws(AIError) -> IPAddress {
        let shown = Secrets.address(address).printable
        guard let origin = Origin(address) else {
            throw AIError(.invalidInput, "\(shown) is not an address of http or https")
        }
        let authority = address.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else {
            throw AIError(.invalidInput, "\(shown) has a user name in it, which is not sent")
        }
        let found: [IPAddress]
        if let literal = IPAddress(origin.host) { found = [literal] } else { found = try resolve(origin.host) }
        if let refused = found.first(where: { !allows($0) }) {
            throw AIError(
                .invalidInput,
                "\(origin.host.printable) is \(refused), which is not an address of the public Internet; it is not read"
            )
        }
        guard let first = found.first else {
            throw AIError(.unreachable, "\(origin.host.printable) has no address")
        }
        return first
    }
}
