import HubCore
import Testing

@testable import Fetcher

/// What the variables for proxies hold, in the forms that people write.
@Suite struct ProxySettingsTests {
    @Test(arguments: [
        ("http://user:p@ss@proxy:3128", "http://user:p%40ss@proxy:3128"),
        ("user:p@s@s@proxy:3128", "user:p%40s%40s@proxy:3128"),
        ("http://user:p%40ss@proxy:3128/", "http://user:p%40ss@proxy:3128/"),
        ("http://proxy:3128", "http://proxy:3128"), ("proxy", "proxy"), ("http://proxy/a@b", "http://proxy/a@b"),
    ])
    func theLastAtEndsThePassword(_ text: String, _ expected: String) throws {
        #expect(try HTTPEngine.Settings(HubEnvironment(["HTTPS_PROXY": text])).httpsProxy == expected)
    }

    @Test(arguments: [
        ("hub.example", true), (".hub.example", true), ("*.hub.example", true), ("example", true),
        ("xample", false),
        ("a.b, HUB.example", true), ("a.b hub.example", true), ("*", true), ("a.b,*", true), ("", false),
        ("hub.example:8443", true), ("hub.example:443", false), ("https://hub.example", true),
        ("http://hub.example", false), ("all://hub.example:8443", true), ("www.hub.example", false), (".", false),
    ])
    func hostsThatNeedNoProxy(_ list: String, _ isExempt: Bool) throws {
        let settings = try HTTPEngine.Settings(
            HubEnvironment(["HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": list]))
        #expect(settings.proxy(for: "https://hub.example:8443/x") == (isExempt ? "" : "http://proxy:3128"))
    }

    @Test(arguments: [
        ("::2", true), ("[::2]", true), ("[::2]:443", true), ("[::2]:80", false), ("::3", false),
        ("10.0.0.0/8", false),
    ])
    func addressesThatNeedNoProxy(_ list: String, _ isExempt: Bool) {
        #expect(ProxySettings.isExempt(Origin("https://[::2]/")!, by: list) == isExempt)
    }
}
