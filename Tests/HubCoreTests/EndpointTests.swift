import HubCore
import Testing

@Suite struct OriginTests {
    @Test(
        arguments: [
            ("https://huggingface.co/org/name?x#y", "https://huggingface.co", 443),
            ("HTTPS://HuggingFace.co", "https://huggingface.co", 443), ("http://a:8080/x", "http://a:8080", 8080),
            ("https://a:443", "https://a", 443), ("http://a:443", "http://a:443", 443),
            ("http://[::1]:80/", "http://[::1]", 80), ("https://user:secret@host/x", "https://host", 443),
        ] as [(String, String, Int)])
    func readsSchemeHostAndPort(_ address: String, _ text: String, _ port: Int) throws {
        let origin = try #require(Origin(address))
        #expect(origin.description == text)
        #expect(origin.port == port)
    }

    /// Two readers of one address must not see two hosts in it: one decides where a token goes, the other sends it.
    @Test(arguments: [
        "", "huggingface.co", "ftp://a", "file:///etc/passwd", "https://", "https:///x", "https://a:b", "http:a",
        "https://huggingface.co\\@evil.example", "https://huggingface.co\\.evil.example/", "https://a b/",
        "https://evil.example\u{0}.huggingface.co", "https://a\n.b", "https://a\tb", "https://a:99999",
        "https://a:-1",
        "https://a:0", "javascript:alert(1)",
    ])
    func refusesWhatIsNoPlainAddress(_ address: String) { #expect(Origin(address) == nil) }

    @Test(arguments: [
        "http://localhost:1", "http://127.0.0.1", "http://127.255.0.9:8", "http://[::1]", "http://LOCALHOST",
    ])
    func thisMachineIsLoopback(_ address: String) throws { #expect(try #require(Origin(address)).isLoopback) }

    @Test(arguments: [
        "http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://128.0.0.1", "http://10.0.0.1",
        "http://[::2]", "http://127.evil", "http://127.0.0.1.2", "http://a127.0.0.1", "http://0.0.0.0",
        "http://127.0.0.256",
    ])
    func anotherMachineIsNot(_ address: String) { #expect(Origin(address)?.isLoopback != true) }

    @Test(
        arguments: [
            ("https://huggingface.co", true), ("https://10.0.0.1", true), ("http://huggingface.co", false),
            ("http://10.0.0.1", false), ("http://localhost:8080", true), ("http://127.0.0.1", true),
        ] as [(String, Bool)])
    func aTokenTravelsByHTTPSOrNotOffTheMachine(_ address: String, _ safe: Bool) throws {
        #expect(try #require(Origin(address)).isSafeForCredentials == safe)
    }

    /// Python keeps the token from a mirror to huggingface.co; here only the endpoint's own origin is the same.
    @Test(
        arguments: [
            ("https://huggingface.co/x", "https://huggingface.co/y", true),
            ("https://huggingface.co", "https://huggingface.co:443", true),
            ("https://mirror.example", "https://huggingface.co", false),
            ("https://huggingface.co", "http://huggingface.co", false),
            ("https://huggingface.co", "https://cdn-lfs.hf.co", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2", false),
            ("https://huggingface.co", "https://huggingface.co.", false),
        ] as [(String, String, Bool)])
    func originsAreTheSameOnlyInAllThreeParts(_ one: String, _ other: String, _ same: Bool) throws {
        let (left, right) = (try #require(Origin(one)), try #require(Origin(other)))
        #expect((left == right) == same)
    }
}

@Suite struct EndpointTests {
    @Test(
        arguments: [
            ("https://huggingface.co", "https://huggingface.co"),
            ("https://huggingface.co///", "https://huggingface.co"),
            ("http://localhost:8080/", "http://localhost:8080"),
            ("https://mirror.example/hf/", "https://mirror.example/hf"),
        ] as [(String, String)])
    func trailingSlashesAreTakenOff(_ text: String, _ address: String) throws {
        let endpoint = try Endpoint(text)
        #expect(endpoint.address == address && endpoint.description == address)
    }

    @Test(arguments: [
        "", "/", "huggingface.co", "ftp://huggingface.co", "https://user@host", "https://user:secret@host",
        "https://:secret@host", "https://host?token=x", "https://host/a?b", "https://host#x", "https://host/a b",
        "https://host/\u{1B}[31m",
    ])
    func refusesWhatIsNoHubsAddress(_ text: String) {
        let error = #expect(throws: AIError.self) { try Endpoint(text) }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.unicodeScalars.contains { $0.value < 0x20 } == false)
    }

    @Test func aPasswordInAnAddressIsNotRepeatedInTheError() {
        let error = #expect(throws: AIError.self) { try Endpoint("https://user:hunter2@host") }
        #expect(error.map { "\($0)".contains("hunter2") } == false)
        let query = #expect(throws: AIError.self) { try Endpoint("https://host?token=hunter2") }
        #expect(query.map { "\($0)".contains("hunter2") } == false)
    }
}

@Suite struct PercentEncodingTests {
    /// The golden vectors are those of huggingface_hub 2.4.0.
    @Test func aFilesAddressKeepsSlashesInThePathAndNotInTheRevision() {
        #expect(PercentEncoding.encode("refs/pr/1") == "refs%2Fpr%2F1")
        #expect(PercentEncoding.encode("a b/ç#.txt", keeping: "/") == "a%20b/%C3%A7%23.txt")
        #expect(PercentEncoding.encode("sub/dir") == "sub%2Fdir")
    }

    @Test func onlyUnreservedCharactersStayAsTheyAre() {
        let text = String(String.UnicodeScalarView((0x20..<0x7F).map { Unicode.Scalar(UInt8($0)) }))
        let kept = PercentEncoding.encode(text).split(separator: "%").map { $0.dropFirst(2) }.joined()
        #expect(kept == "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~")
        #expect(PercentEncoding.encode("\u{0}\n%") == "%00%0A%25")
    }

    @Test(arguments: ["", "a b/ç#.txt", "e\u{301}", "😀", "%25", "a+b", "\u{0}"])
    func whatIsEncodedIsDecodedByteForByte(_ text: String) {
        #expect(PercentEncoding.decode(PercentEncoding.encode(text)).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(
        arguments: [
            ("%2F", "/"), ("%2f", "/"), ("a%20b", "a b"), ("a+b", "a+b"), ("%", nil), ("%4", nil), ("%zz", nil),
            ("%+5", nil), ("%-5", nil), ("%5+", nil), ("%FF", nil), ("%C3%A7", "ç"), ("%C3", nil),
        ] as [(String, String?)])
    func aBadEscapeIsNoText(_ text: String, _ decoded: String?) { #expect(PercentEncoding.decode(text) == decoded) }
}
