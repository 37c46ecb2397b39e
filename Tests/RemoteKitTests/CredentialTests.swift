import Fetcher
import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Traps 18 and 25: where keys go, and where they are seen.
@Suite struct CredentialTests {
    private static let hub = "Bearer \(RemotePlace.hubToken)"

    @Test func theRouterGetsTheHubsTokenAndWhoPays() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        _ = try await place.hub(billTo: "my-org").generate(prompt: "x", config: .default)
        let request = place.server.requests[0]
        #expect(request.header("Authorization") == Self.hub && request.header("X-HF-Bill-To") == "my-org")
        let error = await fault { try place.hub(billTo: "a\r\nb") }
        #expect(error?.code == .invalidInput)
    }

    @Test func anotherKeyGoesToItsProvidersOwnHostAndNeverToTheHub() async throws {
        let own = try InferenceStandIn { HonestRouter().answer($0) }
        let place = try RemotePlace(token: nil, foreignProviders: []) { HonestRouter().answer($0) }
        let key = HFTokenProvider.static(try #require(AccessToken(RemotePlace.foreignKey)))
        let context = RemoteContext(workspace: place.context.workspace, hosts: ["together": own.address])
        let result = try await place.hub("org/chat:together", billTo: "my-org", token: key, context: context)
            .generate(prompt: "x", config: .default)
        #expect(result.text == "You said: x 🙂" && result.servedBy == "together")
        let request = own.requests[0]
        #expect(request.path == "/v1/chat/completions" && request.json["model"]?.string == "T/org/chat")
        #expect(request.header("Authorization") == "Bearer \(RemotePlace.foreignKey)")
        #expect(request.header("X-HF-Bill-To") == nil)
        // The Hub was asked only who serves the model.
        #expect(place.server.requests.map(\.path) == ["/api/models/org/chat"])
        #expect(place.server.requests.allSatisfy { $0.header("Authorization") == nil })
    }

    @Test func anotherKeyInTheEnvironmentIsNotShownToTheHub() async throws {
        let place = try RemotePlace(token: RemotePlace.foreignKey, foreignProviders: ["together"]) {
            HonestRouter().answer($0)
        }
        _ = try await place.hub("org/embed:together").embed(["a"])
        #expect(place.server.requests.map(\.path) == ["/api/models/org/embed", "/v1/embeddings"])
        #expect(place.server.requests.map { $0.header("Authorization") != nil } == [false, true])
    }

    @Test func anotherKeyNeedsItsProvidersName() async throws {
        let place = try RemotePlace(token: RemotePlace.foreignKey) { HonestRouter().answer($0) }
        for model in ["org/chat", "org/chat:cheapest", "org/chat:hf-inference"] {
            let error = await fault { try await place.hub(model).generate(prompt: "x", config: .default) }
            #expect(error?.code == .invalidInput)
        }
        #expect(place.server.requests.isEmpty)
    }

    @Test func falGetsItsOwnScheme() async throws {
        let routes = try #require(ServingRoutes.of("fal-ai"))
        let credential = try Credential(
            try #require(AccessToken("key")), to: try #require(Origin("https://fal.run")), scheme: routes.scheme)
        var request = HTTPRequest(.post, "https://fal.run/x")
        credential.authorise(&request)
        #expect(request.fields["Authorization"] == "Key key")
        request.address = "https://fal.run.example/x"
        credential.authorise(&request)
        #expect(request.fields["Authorization"] == nil)
    }

    @Test func theHubsTokenGoesToNoOtherServer() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        _ = try await place.compatible().generate(prompt: "x", config: .default)
        #expect(place.server.requests[0].header("Authorization") == nil)
        let error = await fault { try place.compatible(key: RemotePlace.hubToken) }
        #expect(error?.code == .invalidInput)
        _ = try await place.compatible(key: "sk-mine").generate(prompt: "x", config: .default)
        #expect(place.server.requests[1].header("Authorization") == "Bearer sk-mine")
    }

    @Test func noKeyGoesByPlainHTTPToAnotherMachine() async throws {
        let place = try RemotePlace(["HUB_INFERENCE_ENDPOINT": "http://router.example"]) {
            HonestRouter().answer($0)
        }
        let error = await fault { try await place.hub().generate(prompt: "x", config: .default) }
        #expect(error?.code == .invalidInput && error?.message.contains("plain http") == true)
        var settings = OpenAICompatibleProvider.Settings()
        settings.key = AccessToken("sk-mine")
        let other = await fault {
            try OpenAICompatibleProvider(
                address: "http://server.example", model: "m", settings: settings, context: place.context)
        }
        #expect(other?.code == .invalidInput)
    }

    // MARK: Redirects

    @Test(arguments: [301, 302, 303, 307, 308])
    func aCallIsNotSentOnToAnotherHost(_ status: Int) async throws {
        let other = try InferenceStandIn { HonestRouter().answer($0) }
        let place = try RemotePlace { _ in .redirect("\(other.address)/v1/chat/completions", status: status) }
        let error = await fault { try await place.hub().generate(prompt: "x", config: .default) }
        #expect(error?.code == .protocolViolation && error?.message.contains(other.address) == true)
        #expect(other.requests.isEmpty && place.server.requests.count == 1)
    }

    @Test func aRedirectOnTheSameHostIsFollowedWithTheKey() async throws {
        let place = try RemotePlace { request in
            request.path == "/moved"
                ? HonestRouter().answer(.init(request, path: "/v1/chat/completions"))
                : .redirect("/moved", status: 307)
        }
        #expect(try await place.hub().generate(prompt: "x", config: .default).text == "You said: x 🙂")
        #expect(place.server.requests.map { $0.header("Authorization") } == [Self.hub, Self.hub])
        let circle = try RemotePlace { _ in .redirect("/v1/chat/completions", status: 308) }
        let error = await fault { try await circle.hub().generate(prompt: "x", config: .default) }
        #expect(error?.code == .protocolViolation && circle.server.requests.count == 6)
    }

    @Test func aPictureIsFetchedFromItsHostWithoutTheKey() async throws {
        let far = try InferenceStandIn { request in
            request.path == "/a.png" ? .redirect("/b.png") : .bytes(HonestRouter.png, type: "image/png")
        }
        let place = try RemotePlace { request in
            request.path == "/hf-inference/models/org/paint"
                ? .json(#"{"data":[{"url":"\#(far.address)/a.png"}]}"#) : HonestRouter().answer(request)
        }
        let image = try await place.hub("org/paint:hf-inference", billTo: "org").generateImage(prompt: "a fox")
        #expect(image.bytes == HonestRouter.png && far.requests.count == 2)
        #expect(far.requests.allSatisfy { $0.header("Authorization") == nil && $0.header("X-HF-Bill-To") == nil })
    }

    // MARK: Trap 25

    @Test func theTokenIsInNoLogErrorAndCatalog() async throws {
        let place = try RemotePlace { request in
            let said = request.header("Authorization") ?? ""
            return .json(
                #"{"error":"token \#(said) is bad"}"#, status: 401, headers: [("x-inference-provider", said)])
        }
        let error = try #require(await fault { try await place.hub().generate(prompt: "x", config: .default) })
        #expect(error.message.contains("(token)"))
        let everything = "\(error) \(error.recoverySuggestion ?? "") \(error.context) \(place.said)"
        #expect(!everything.contains(RemotePlace.hubToken) && place.said.contains("POST"))
        let path = place.context.workspace.catalogPath
        for file in [path, path + "-wal"] where FileSystem.exists(file) {
            let mapped = try MappedFile(file)
            let bytes = withExtendedLifetime(mapped) { Array(mapped.bytes) }
            #expect(bytes.firstRange(of: Array(RemotePlace.hubToken.utf8)) == nil)
        }
    }

    @Test func theTokenInAStreamsErrorIsMasked() async throws {
        let place = try RemotePlace { request in
            .chunks([said("a"), #"{"error":"you are \#(request.header("Authorization") ?? "")"}"#])
        }
        let error = await fault {
            try await place.hub().stream(messages: [.user("x")], config: .default).collect()
        }
        #expect(error?.message.contains("(token)") == true && error?.message.contains("NeverSeen") == false)
    }

    /// A large body makes libcurl ask for "100 Continue", which the stand-in does not answer.
    @Test func aLargeBodyDoesNotWaitForAnAnswerToItsHead() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let text = String(repeating: "word ", count: 1_000_000)
        let result = try await place.compatible().generate(prompt: text, config: .default)
        #expect(result.text.utf8.count > 5_000_000)
        #expect(place.server.requests.count == 1 && place.server.requests[0].header("Expect") == nil)
    }

    @Test func thisMachineNeedsNoProxy() async throws {
        let place = try RemotePlace(["HTTP_PROXY": ClosedPort.address, "ALL_PROXY": ClosedPort.address]) {
            HonestRouter().answer($0)
        }
        #expect(try await place.hub().generate(prompt: "x", config: .default).text == "You said: x 🙂")
    }
}

extension InferenceStandIn.Request {
    /// The same request for another path.
    init(_ other: Self, path: String) {
        self = other
        target = path
    }
}
