import Catalog
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Trap 19: who serves a model.
@Suite struct ServingTests {
    private static let entries = """
        "groq":{"status":"live","providerId":"g/m","task":"conversational","isModelAuthor":false},\
        "newcomer":{"status":"staging","providerId":"n-m","task":"conversational"},\
        "together":{"status":"error","providerId":"T/m","task":"feature-extraction"},\
        "quiet":{"providerId":"q"},"broken":7
        """
    private static let list = """
        [{"provider":"groq","hfModelId":"org/m","status":"live","providerId":"g/m","task":"conversational"},\
        {"provider":"newcomer","status":"staging","providerId":"n-m","task":"conversational"},\
        {"provider":"together","status":"error","providerId":"T/m","task":"feature-extraction"},\
        {"provider":"quiet","providerId":"q"},7,{"status":"live"}]
        """

    private func place(_ mapping: String) throws -> RemotePlace {
        try RemotePlace { request in
            request.path == "/v1/models"
                ? .json(
                    #"{"data":[{"id":"org/m","providers":[{"provider":"groq","status":"live","context_length":4096,"pricing":{"input":0.5,"output":1},"supports_tools":true,"is_free":false,"first_token_latency_ms":120,"throughput":99}]},{"providers":[]},{"id":"org/n","providers":[7]}]}"#
                ) : .json(#"{"id":"org/m","inferenceProviderMapping":\#(mapping)}"#)
        }
    }

    @Test(arguments: ["{\(entries)}", list])
    func theMappingIsReadInBothForms(_ mapping: String) async throws {
        let place = try place(mapping)
        let served = try await ServingDirectory(place.context).offers(for: RepositoryID("org/m"))
        #expect(served.offers.map(\.provider) == ["groq", "newcomer", "together", "quiet"])
        #expect(served.offers.map(\.status) == [.live, .staging, .error, nil])
        #expect(served.offers.map(\.providerID) == ["g/m", "n-m", "T/m", "q"])
        #expect(place.server.requests[0].target == "/api/models/org/m?expand%5B%5D=inferenceProviderMapping")
        #expect(place.server.requests[0].header("Authorization") == "Bearer \(RemotePlace.hubToken)")
    }

    @Test func pricesAreJoinedAndRememberedForATimeWithoutNetwork() async throws {
        let place = try place("{\(Self.entries)}")
        let directory = ServingDirectory(place.context)
        let models = try await directory.servedModels()
        #expect(models.map(\.model) == ["org/m", "org/n"] && models[1].offers.isEmpty)
        #expect(place.server.requests[0].header("Authorization") == nil)
        let served = try await directory.offers(for: RepositoryID("org/m"))
        let offer = try #require(served.offers.first)
        #expect(
            offer.price == .init(input: 0.5, output: 1) && offer.contextLength == 4096 && offer.providerID == "g/m")
        #expect(offer.supportsTools == true && offer.supportsStructuredOutput == nil && offer.throughput == 99)
        let asked = place.server.requests.count
        let offline = ServingDirectory(place.offline())
        #expect(try await offline.offers(for: RepositoryID("org/m")).offers == served.offers)
        #expect(try await offline.servedModels().map(\.model) == ["org/m", "org/n"])
        let provider = try place.hub("org/m", context: place.offline())
        #expect(await provider.maxContextLength == 4096)
        #expect(await provider.availability == .unavailable(.networkUnavailable))
        #expect(place.server.requests.count == asked)
    }

    @Test func withoutNetworkNothingIsAsked() async throws {
        let place = try RemotePlace(isOffline: true) { HonestRouter().answer($0) }
        let provider = try place.hub()
        for error in [
            await fault { try await provider.generate(prompt: "x", config: .default) },
            await fault { try await provider.embed(["x"]) },
            await fault { try await provider.transcribe(file: "/none") },
            await fault { try await provider.generateImage(prompt: "x") },
            await fault { try await provider.prepare() },
            await fault { try await ServingDirectory(place.context).servedModels() },
            await fault { try await place.compatible().generate(prompt: "x", config: .default) },
        ] { #expect(error?.code == .offline && error?.exitStatus == 5) }
        #expect(place.server.requests.isEmpty)
    }

    @Test func aSuffixIsNotPartOfTheNameOnTheHub() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        _ = try await place.hub("org/embed:together").embed(["a"])
        let requests = place.server.requests
        #expect(requests.map(\.path) == ["/api/models/org/embed", "/together/v1/embeddings"])
        #expect(requests.last?.json["model"]?.string == "T/org/embed")
    }

    @Test func anUnknownProviderHoldsConversationsAndNothingElse() async throws {
        let place = try RemotePlace { request in
            request.path.hasPrefix("/api/")
                ? .json(
                    #"{"id":"org/m","inferenceProviderMapping":{"newcomer":{"status":"live","providerId":"n","task":"feature-extraction"}}}"#
                )
                : HonestRouter().answer(request)
        }
        #expect(
            try await place.hub("org/m:newcomer").generate(prompt: "x", config: .default).text == "You said: x 🙂")
        let error = await fault { try await place.hub("org/m:newcomer").embed(["a"]) }
        #expect(error?.code == .invalidInput && error?.message.contains("newcomer") == true)
        let unpinned = await fault { try await place.hub("org/m").embed(["a"]) }
        #expect(unpinned?.code == .modelNotServed && unpinned?.recoverySuggestion?.contains("newcomer") == true)
    }

    @Test(arguments: ["live", "staging", "error", nil])
    func aStatusIsWarnedOfAndTried(_ status: String?) async throws {
        let word = status.map { "\"status\":\"\($0)\"," } ?? ""
        let place = try RemotePlace { request in
            request.path.hasPrefix("/api/")
                ? .json(
                    #"{"id":"org/m","inferenceProviderMapping":{"scaleway":{\#(word)"providerId":"s","task":"feature-extraction"}}}"#
                )
                : HonestRouter().answer(request)
        }
        #expect(try await place.hub("org/m:scaleway").embed(["a"]).count == 1)
        #expect(place.said.contains("scaleway:") == (status == "staging" || status == "error"))
        #expect(place.said.contains("does not say") == (status == nil))
        // Without a name, what failed the Hub's check is left out.
        let error = await fault { try await place.hub("org/m").embed(["a"]) }
        #expect(error?.code == (status == "error" ? .modelNotServed : nil))
    }

    @Test func aModelThatNobodyServesIsExit3() async throws {
        let place = try RemotePlace { _ in .json(#"{"id":"org/m"}"#) }
        for call in [{ try await $0.prepare() }, { _ = try await $0.embed(["a"]) }]
            as [@Sendable (HuggingFaceProvider) async throws -> Void]
        {
            let error = await fault { try await call(try place.hub("org/m")) }
            #expect(error?.code == .modelNotServed && error?.exitStatus == 3)
        }
        let missing = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault { try await missing.hub("org/none").prepare() }
        #expect(error?.code == .repositoryNotFound)
    }

    @Test func aProviderOutsideTheMappingIsRefused() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault { try await place.hub("org/embed:deepinfra").embed(["a"]) }
        #expect(
            error?.code == .modelNotServed && error?.message.contains("deepinfra does not serve org/embed") == true)
    }

    @Test func aPolicyIsForConversationsAlone() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let error = await fault { try await place.hub("org/embed:cheapest").embed(["a"]) }
        #expect(error?.code == .invalidInput && place.server.requests.isEmpty)
    }

    @Test func everyRouteHasItsOwnName() {
        let names = ServingRoutes.all.map(\.name)
        #expect(Set(names).count == names.count)
        for routes in ServingRoutes.all {
            #expect(routes.host.map { Origin($0)?.scheme == "https" } ?? true)
            #expect([.conversation, .embedding, .speech, .image].contains { routes.serves($0) })
        }
    }
}
