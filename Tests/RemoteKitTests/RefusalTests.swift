import Fetcher
import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Traps 14 to 16: what providers refuse, and what is asked again.
@Suite struct RefusalTests {
    // MARK: Trap 14

    @Test(
        arguments: [
            (
                400, #"{"error":{"message":"bad field","type":"invalid_request_error"}}"#, "bad field",
                .requestRejected, 5
            ),
            (
                400,
                #"{"error":{"message":"The requested model 'x' is not supported by any provider you have enabled.","code":"model_not_supported"}}"#,
                "not supported by any provider", .modelNotServed, 3
            ),
            (400, #"{"error":"Model not supported by provider hf-inference"}"#, "hf-inference", .modelNotServed, 3),
            (
                401, #"{"error":"Invalid credentials in Authorization header"}"#, "Invalid credentials",
                .unauthorized, 4
            ),
            (
                402, #"{"error":"You have depleted your monthly included credits."}"#, "depleted", .paymentRequired,
                4
            ),
            (
                403, #"{"error":"This authentication method does not have sufficient permissions"}"#, "sufficient",
                .forbidden, 4
            ),
            (404, #"{"error":"Model x does not exist"}"#, "does not exist", .modelNotServed, 3),
            (410, #"{"error":"The requested model is deprecated"}"#, "deprecated", .modelRetired, 3),
            (413, #"{"error":"batch size 33 > 32","error_type":"Validation"}"#, "batch size", .requestTooLarge, 5),
            (
                422, #"{"error":"inputs must have less than 10 tokens","error_type":"validation"}"#, "inputs",
                .requestRejected, 5
            ),
            (500, "boom", "boom", .serverError, 5),
            (503, #"{"error":"overloaded"}"#, "overloaded", .serviceUnavailable, 5),
            (
                504, "<html><head><title>504 Gateway Time-out</title></head></html>", "504 Gateway Time-out",
                .gatewayTimedOut, 5
            ),
            (400, #"{"errors":[{"message":"first"},{"message":"second"}]}"#, "first; second", .requestRejected, 5),
            (400, #"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required", .requestRejected, 5),
            (400, #"{"message":"flat"}"#, "flat", .requestRejected, 5),
            (
                400, #"{"error":"invalid_scope","error_description":"no right"}"#, "invalid_scope: no right",
                .requestRejected, 5
            ),
            (400, #"{"error":["one","two"]}"#, "one; two", .requestRejected, 5),
            (400, #""just a text""#, "just a text", .requestRejected, 5),
        ] as [(Int, String, String, ErrorCode, Int32)])
    func aRefusalIsShownInItsOwnWordsAndSentOnce(
        _ status: Int, _ body: String, _ words: String, _ code: ErrorCode, _ exit: Int32
    ) async throws {
        let place = try RemotePlace { _ in .json(body, status: status, headers: [("x-inference-provider", "groq")])
        }
        let error = await fault {
            try await place.hub("org/chat:groq").stream(messages: [.user("x")], config: .default).collect()
        }
        #expect(error?.code == code && error?.exitStatus == exit && error?.context.status == status)
        #expect(error?.message.contains(words) == true && error?.message.contains("groq") == true)
        #expect(place.server.requests.count == 1)
    }

    @Test func adviceBelongsToWhoRefuses() async throws {
        let place = try RemotePlace { _ in .json(#"{"error":"no"}"#, status: 403) }
        let hub = await fault { try await place.hub().generate(prompt: "x", config: .default) }
        #expect(hub?.recoverySuggestion?.contains("Inference Providers") == true)
        let other = await fault { try await place.compatible().generate(prompt: "x", config: .default) }
        #expect(other?.recoverySuggestion?.contains(place.server.address) == true)
    }

    @Test func aTokenIsNeededForTheRouter() async throws {
        let place = try RemotePlace(token: nil) { HonestRouter().answer($0) }
        let error = await fault { try await place.hub().generate(prompt: "x", config: .default) }
        #expect(error?.code == .unauthorized && place.server.requests.isEmpty)
        #expect(await (try place.hub()).availability == .unavailable(.apiKeyMissing))
    }

    // MARK: Trap 15

    /// A server that refuses so many times, then answers.
    private func refusing(
        _ times: Int, _ status: Int, headers: [(String, String)] = [], body: String = #"{"error":"later"}"#
    ) throws -> RemotePlace {
        try RemotePlace { request in
            request.index < times ? .json(body, status: status, headers: headers) : HonestRouter().answer(request)
        }
    }

    @Test func aLimitIsWaitedForThreeTimes() async throws {
        let three = try refusing(3, 429)
        #expect(try await three.answer().text == "You said: Hello 🙂")
        #expect(three.server.requests.count == 4)
        let four = try refusing(4, 429)
        let error = await fault { try await four.answer() }
        #expect(error?.code == .rateLimited && four.server.requests.count == 4)
    }

    @Test(arguments: ["0", "0.01", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func aShortWaitIsObeyed(_ wait: String) async throws {
        let place = try refusing(1, 429, headers: [("Retry-After", wait)])
        #expect(try await place.answer().text == "You said: Hello 🙂")
    }

    @Test(arguments: ["86400", "Fri, 31 Dec 9999 23:59:59 GMT", "1e300"])
    func aLongWaitFailsAtOnce(_ wait: String) async throws {
        let place = try refusing(1, 429, headers: [("Retry-After", wait)])
        let error = await fault { try await place.answer() }
        #expect(error?.code == .rateLimited && place.server.requests.count == 1)
    }

    @Test func aWaitBeyondTheBudgetFailsAtOnce() async throws {
        let place = try refusing(1, 429, headers: [("Retry-After", "30")])
        let error = await fault { try await place.answer(limits: RemotePlace.limits { $0.total = 20 }) }
        #expect(error?.code == .rateLimited && place.server.requests.count == 1)
    }

    @Test(
        arguments: [
            ("120", 120.0), (" 1.5 ", 1.5), ("-3", nil), ("soon", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", 10.0),
            ("Sun, 06 Nov 1994 08:49:20 GMT", 0.0), ("Sun, 99 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Double?)])
    func aWaitIsReadInEveryForm(_ text: String, _ seconds: Double?) {
        let fields = HTTPFields([("Retry-After", text)])
        #expect(RetryAfter.seconds(fields, now: 784_111_767) == seconds)
    }

    // MARK: Trap 16

    @Test func aLoadingModelIsWaitedForVisibly() async throws {
        let place = try refusing(5, 503, body: #"{"error":"Model m is currently loading","estimated_time":0.01}"#)
        #expect(try await place.answer().text == "You said: Hello 🙂")
        #expect(place.server.requests.count == 6 && place.said.contains("currently loading"))
    }

    @Test func aLongGuessIsAskedAboutSooner() async throws {
        let place = try refusing(2, 503, body: #"{"error":"loading","estimated_time":900}"#)
        let limits = RemotePlace.limits { $0.longestWait = 0.01 }
        #expect(try await place.answer(limits: limits).text == "You said: Hello 🙂")
    }

    @Test func aModelThatLoadsForEverEndsWithTheBudget() async throws {
        let place = try RemotePlace { _ in .json(#"{"error":"loading","estimated_time":0.02}"#, status: 503) }
        let error = await fault {
            try await place.answer(
                limits: RemotePlace.limits {
                    ($0.total, $0.retryBaseDelay) = (0.5, 0.1)
                })
        }
        #expect(error?.code == .serviceUnavailable || error?.code == .timedOut)
        #expect(place.server.requests.count < 8)
    }

    @Test(arguments: [500, 502, 503, 504])
    func whatMayHaveRunIsNotRepeated(_ status: Int) async throws {
        let place = try refusing(1, status)
        #expect(await fault { try await place.answer() } != nil)
        #expect(place.server.requests.count == 1)
    }

    @Test func aCallWhoseConnectionBreaksIsNotRepeated() async throws {
        let place = try RemotePlace { _ in .init(steps: [.reset], hasHead: false) }
        let error = await fault { try await place.answer() }
        #expect(error?.code == .connectionLost && place.server.requests.count == 1)
    }

    /// libcurl repeats a request of any method by itself if a kept connection turns out to be closed.
    @Test func everyCallHasAConnectionOfItsOwn() async throws {
        let place = try RemotePlace { request in
            request.index == 1 ? .init(steps: [.reset]) : .json(#"{"choices":[{"message":{"content":"a"}}]}"#)
        }
        _ = try await place.answer()
        let error = await fault { try await place.answer() }
        #expect(error != nil && place.server.requests.count == 2 && place.server.connections == 2)
    }

    @Test func aServerThatIsNotThereIsTriedAgainAndNamed() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        var settings = OpenAICompatibleProvider.Settings()
        settings.limits = RemotePlace.limits()
        let provider = try OpenAICompatibleProvider(
            address: ClosedPort.address, model: "m", settings: settings, context: place.context)
        let error = await fault { try await provider.generate(prompt: "x", config: .default) }
        #expect(error?.code == .unreachable && error?.message.contains(ClosedPort.address) == true)
        // Not the variable that says where the Hub is.
        #expect(
            error?.recoverySuggestion
                == "check the network, the proxy variables and the address \(ClosedPort.address)")
        #expect(place.said.split(separator: "\n").filter { $0.hasPrefix("POST ") }.count == 3)
    }
}
