import HubCore
import Support
import Testing

@testable import RemoteKit

/// Which machines `--web` may ask.
@Suite struct WebAddressTests {
    @Test(arguments: [
        "127.0.0.1", "127.255.0.9", "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7",
        "203.0.113.5", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1",
        "fc00::1",
        "fd12:3456::1", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2001:10::1", "2002:7f00:1::", "3fff::1",
        "100::1", "5f00::1",
    ])
    func otherMachinesAreNotPublic(_ text: String) throws {
        #expect(try !#require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1",
        "198.17.0.1",
        "198.20.0.1", "223.255.255.254", "2606:4700::1111", "2a00:1450:4001:800::200e", "2001:4860:4860::8888",
    ])
    func publicOnesAre(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isPublic && address.description == text)
    }

    @Test func whatIsNoAddressIsNone() {
        for text in ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "fe80::1%eth0", "1.2.3.4.5"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
    }

    private func policy(_ table: [String: [String]]) -> WebPolicy {
        WebPolicy(
            resolve: { (host) throws(AIError) in
                guard let found = table[host] else { throw AIError(.unreachable, "\(host) is unknown") }
                return found.compactMap { IPAddress($0) }
            }, allows: { $0.isPublic })
    }

    @Test func oneForbiddenAddressForbidsTheName() throws {
        let policy = policy([
            "good.org": ["8.8.8.8", "2606:4700::1111"], "mixed.org": ["8.8.8.8", "10.0.0.1"],
            "inside.org": ["127.0.0.1"],
        ])
        #expect(try policy.target(of: "https://good.org/x").description == "8.8.8.8")
        for address in [
            "http://mixed.org", "http://inside.org:8080/", "http://127.0.0.1/", "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest/meta-data", "ftp://good.org", "file:///etc/passwd", "good.org", "",
            "https://user:secret@good.org/", "https://user@good.org", "http://good.org\\@127.0.0.1/",
        ] {
            let error = #expect(throws: AIError.self, "\(address)") { try policy.target(of: address) }
            #expect(error?.code == .invalidInput && error?.message.contains("secret") == false)
        }
    }

    /// Odd spellings of loopback are the system's to read, and are seen for what they are.
    @Test(arguments: ["http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://0/", "http://localhost/"])
    func oddSpellingsAreResolved(_ address: String) {
        #expect(throws: AIError.self) { try WebPolicy.internet.target(of: address) }
    }

    @Test func addressesAreFoundInTexts() {
        let text = """
            See https://a.org/x, (http://b.org/y_(z)) and <https://c.org/?q=1#part>! Not ftp://d.org, nor me@https.org; \
            "http://e.org". [f](https://f.org/g) http://
            """
        #expect(
            WebAddresses.found(in: text) == [
                "https://a.org/x", "http://b.org/y_(z)", "https://c.org/?q=1#part", "http://e.org",
            ])
        #expect(WebAddresses.key("https://c.org/?q=1#part") == "https://c.org/?q=1")
    }
}
