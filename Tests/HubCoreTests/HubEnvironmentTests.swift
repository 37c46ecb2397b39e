import HubCore
import Testing

@Suite struct HubEnvironmentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var variables: [String: String]
        var expected: String
        init(_ variables: [String: String], _ expected: String) {
            (self.variables, self.expected) = (variables, expected)
        }
        var environment: HubEnvironment {
            HubEnvironment(variables.merging(["HOME": "/home/u"]) { given, _ in given })
        }
        var testDescription: String { "\(variables) gives \(expected)" }
    }

    @Test(arguments: [
        Case([:], "/home/u/.cache/huggingface"), Case(["HF_HOME": "/hf"], "/hf"),
        Case(["HF_HOME": "~/hf"], "/home/u/hf"),
        Case(["HF_HOME": "~"], "/home/u"), Case(["HF_HOME": "$HOME/hf"], "/home/u/hf"),
        Case(["HF_HOME": "${D}x/$D", "D": "/d"], "/dx//d"),
        Case(["HF_HOME": "/a/$UNSET/${UNSET}"], "/a/$UNSET/${UNSET}"),
        Case(["HF_HOME": "/a$"], "/a$"), Case(["HF_HOME": "/a/${D", "D": "/d"], "/a/${D"),
        Case(["HF_HOME": "/a/$E/b", "E": ""], "/a//b"), Case(["HF_HOME": "/$A", "A": "$B", "B": "x"], "/$B"),
        Case(["HF_HOME": "/x~/y"], "/x~/y"), Case(["HF_HOME": "/$D1é", "D1": "d"], "/dé"),
        Case(["XDG_CACHE_HOME": "/xdg"], "/xdg/huggingface"),
        Case(["XDG_CACHE_HOME": "~/xdg"], "/home/u/xdg/huggingface"),
        Case(["HF_HOME": "", "XDG_CACHE_HOME": ""], "/home/u/.cache/huggingface"),
        Case(["HF_HOME": "/hf", "XDG_CACHE_HOME": "/xdg"], "/hf"),
    ])
    func theHomeIsWherePythonHasIt(_ input: Case) { #expect(input.environment.huggingFaceHome == input.expected) }

    /// Trap 37: HUGGINGFACE_HUB_CACHE still counts.
    @Test(arguments: [
        Case([:], "/home/u/.cache/huggingface/hub"), Case(["HF_HOME": "/hf"], "/hf/hub"),
        Case(["HF_HUB_CACHE": "/c", "HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/hf"], "/c"),
        Case(["HUGGINGFACE_HUB_CACHE": "~/old"], "/home/u/old"),
        Case(["HF_HUB_CACHE": "", "HUGGINGFACE_HUB_CACHE": "/old"], "/old"),
        Case(["HF_HUB_CACHE": "$X/c", "X": "/x"], "/x/c"),
    ])
    func theCacheIsWherePythonHasIt(_ input: Case) { #expect(input.environment.cacheDirectory == input.expected) }

    @Test(arguments: [
        Case([:], "/home/u/.cache/huggingface/token"), Case(["HF_TOKEN_PATH": "~/t"], "/home/u/t"),
        Case(["HF_TOKEN_PATH": "", "HF_HOME": "/hf"], "/hf/token"),
    ])
    func theTokenFileIsWherePythonHasIt(_ input: Case) { #expect(input.environment.tokenPath == input.expected) }

    /// Trap 4: a stray file in the cache makes `hf cache ls` warn.
    @Test(arguments: [
        Case([:], "/home/u/.local/state/hub"), Case(["XDG_STATE_HOME": "/s"], "/s/hub"),
        Case(["HUB_HOME": "~/h", "XDG_STATE_HOME": "/s"], "/home/u/h"),
        Case(["HUB_HOME": ""], "/home/u/.local/state/hub"),
    ])
    func theCatalogLiesOutsideTheCache(_ input: Case) {
        #expect(input.environment.stateDirectory == input.expected)
    }

    @Test(arguments: [
        Case([:], "https://huggingface.co"), Case(["HF_ENDPOINT": ""], "https://huggingface.co"),
        Case(["HF_ENDPOINT": "http://localhost:1/"], "http://localhost:1"),
        Case(["HUGGINGFACE_CO_STAGING": "1", "HF_ENDPOINT": "http://x"], "https://hub-ci.huggingface.co"),
        Case(["HUGGINGFACE_CO_STAGING": "0"], "https://huggingface.co"),
    ])
    func theEndpointIsTheHubUnlessSaidOtherwise(_ input: Case) throws {
        #expect(try input.environment.endpoint().address == input.expected)
    }

    @Test func aWrongEndpointIsNamedByItsVariable() {
        let error = #expect(throws: AIError.self) {
            try HubEnvironment(["HF_ENDPOINT": "huggingface.co"]).endpoint()
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.hasPrefix("HF_ENDPOINT: ") == true)
    }

    /// Trap 36: `true` is yes and `y` is no.
    @Test(
        arguments: [
            ("1", true), ("ON", true), ("on", true), ("Yes", true), ("TRUE", true), ("true", true), ("y", false),
            ("on ", false), (" 1", false), ("0", false), ("no", false), ("false", false), ("2", false),
            ("t", false),
            ("", false), ("enabled", false),
        ] as [(String, Bool)])
    func aBooleanIsTrueInFourSpellingsOnly(_ text: String, _ value: Bool) {
        #expect(HubEnvironment(["X": text]).isTrue("X") == value)
        #expect(!HubEnvironment([:]).isTrue("X"))
    }

    /// Trap 37: the older name still counts.
    @Test(
        arguments: [
            ([:], false), (["HF_HUB_OFFLINE": "1"], true), (["TRANSFORMERS_OFFLINE": "1"], true),
            (["HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "1"], false),
            (["HF_HUB_OFFLINE": "", "TRANSFORMERS_OFFLINE": "yes"], true), (["HF_HUB_OFFLINE": "y"], false),
        ] as [([String: String], Bool)])
    func offlineFallsBackToTheVariableOfTransformers(_ variables: [String: String], _ offline: Bool) {
        #expect(HubEnvironment(variables).isOffline == offline)
    }

    @Test(arguments: ["HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"])
    func aTimeoutIsAWholeNumberOfSeconds(_ name: String) throws {
        func value(_ text: String?) throws -> Int {
            let environment = HubEnvironment(text.map { [name: $0] } ?? [:])
            return name == "HF_HUB_ETAG_TIMEOUT" ? try environment.etagTimeout() : try environment.downloadTimeout()
        }
        for (text, seconds) in [(nil, 10), ("", 10), ("0", 10), ("3", 3), (" 30 ", 30)] as [(String?, Int)] {
            #expect(try value(text) == seconds)
        }
        for text in ["10.5", "-1", "ten", "1 0", "99999999999999999999"] {
            let error = #expect(throws: AIError.self) { try value(text) }
            #expect(error?.code == .invalidInput && error?.message.contains(name) == true)
        }
    }

    @Test func progressBarsHaveThreeStates() {
        #expect(HubEnvironment([:]).progressBarsDisabled == nil)
        #expect(HubEnvironment(["HF_HUB_DISABLE_PROGRESS_BARS": ""]).progressBarsDisabled == nil)
        #expect(HubEnvironment(["HF_HUB_DISABLE_PROGRESS_BARS": "1"]).progressBarsDisabled == true)
        #expect(HubEnvironment(["HF_HUB_DISABLE_PROGRESS_BARS": "0"]).progressBarsDisabled == false)
    }

    /// Trap 35: Python honours the empty text; we have decided otherwise.
    @Test func setButEmptyCountsAsUnset() {
        let environment = HubEnvironment(["A": "", "B": "b"])
        #expect(environment["A"] == nil)
        #expect(environment.first("A", "C", "B") == "b")
        #expect(environment.first("A", "C") == nil)
    }

    @Test func theProcessHasAnEnvironment() { #expect(HubEnvironment.process["PATH"] != nil) }
}
