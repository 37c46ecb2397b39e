import HubCore
import Testing

@Suite struct SecretsTests {
    @Test(arguments: [
        ("https://user:SECRET@host/a", "https://host/a"), ("https://host/a?SECRET", "https://host/a"),
        ("https://host/a#SECRET", "https://host/a"), ("https://a:SECRET@b@host:1/x@y", "https://host:1/x@y"),
        ("http://user:SE/SECRET@host/a", "http://host/a"), ("http://user:SE?SECRET@host/a", "http://host/a"),
        ("http:/user:SECRET@host/a", "http:/host/a"), ("http:\\\\user:SECRET@host\\a", "http:\\\\host\\a"),
        ("user:SECRET@proxy:3128", "proxy:3128"), ("proxy:3128/?SECRET#SECRET", "proxy:3128/"),
        ("//user:SECRET@host/a", "//host/a"), ("http://h\\@u:SECRET@host/a", "http://host/a"),
        ("https://host:SECRET/x", "https://..."), ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("hf://org/name@main/x", "hf://org/name@main/x"),
        ("https://host/org/name@main", "https://host/org/name@main"),
        ("", ""), ("org/name", "org/name"), ("/a/b", "/a/b"),
    ])
    func anAddressIsShownWithoutCredentials(address: String, shown: String) {
        #expect(Secrets.address(address) == shown)
    }

    @Test(arguments: [
        ("\"http://user:SECRET@host/a/m\" is odd", "\"http://host/a/m\" is odd"),
        ("\"http://user:SE SECRET@host/a\" is odd", "\"http://host/a\" is odd"),
        (
            "http://h.example/x?SECRET: refused, see https://h:8080.",
            "http://h.example/x: refused, see https://h:8080."
        ),
        ("\"user:SECRET@host/a\" is odd", "\"host/a\" is odd"), ("//user:SECRET@host/a", "//host/a"),
        ("org/name@v1:file@2x.png and gpt2", "org/name@v1:file@2x.png and gpt2"), ("a ://b :// c", "a ://b :// c"),
        ("is it https://host?", "is it https://host?"), ("say name:password", "say name:password"),
        ("hf_abcdefghijklmnopqrstuvwxyzABCDEFGH!", "(token)!"), ("hf_home and hf_x", "hf_home and hf_x"),
    ])
    func aSentenceIsShownWithoutCredentials(text: String, shown: String) {
        #expect(Secrets.masked(in: text) == shown)
    }

    @Test func aTokenIsTakenOutOfEveryPartOfAValue() throws {
        let token = try #require(AccessToken("hf_verysecret"))
        // Escaped, so that it does not stand in the bytes.
        let json = try JSON.parse(
            #"{"a":["x hf_verysecret",{"\u0068f_verysecret":"\u0068f_very\u0073ecret"}],"b":1,"c":"hf_other"}"#)
        #expect(token.masked(in: json).text() == #"{"a":["x (token)",{"(token)":"(token)"}],"b":1,"c":"hf_other"}"#)
    }
}
