import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Trap 22: pictures, and queues that never end.
@Suite struct ImageTests {
    private func place(
        _ provider: String, id: String = "p/i", more: String = "",
        _ answer: @escaping @Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply
    ) throws -> RemotePlace {
        try RemotePlace { request in
            if request.path == "/result.png" { return .bytes(HonestRouter.png, type: "image/png") }
            if request.path == "/page" { return .html("<html>not found</html>") }
            return request.path.hasPrefix("/api/models")
                ? .json(
                    #"{"id":"org/i","inferenceProviderMapping":{"\#(provider)":{"status":"live","providerId":"\#(id)","task":"text-to-image"\#(more)}}}"#
                ) : answer(request)
        }
    }

    private func url(_ request: InferenceStandIn.Request, _ path: String = "/result.png") -> String {
        "http://\(request.header("Host") ?? "")\(path)"
    }

    private static let options = ImageOptions(
        width: 512, height: 256, steps: 4, guidanceScale: 2.5, negativePrompt: "dogs", seed: 7)

    @Test func theHubsOwnAnswerIsThePicture() async throws {
        let place = try place("hf-inference") { _ in .bytes(HonestRouter.png, type: "image/png") }
        let image = try await place.hub("org/i").generateImage(prompt: "a fox", options: Self.options)
        #expect(image == GeneratedImage(bytes: HonestRouter.png, mediaType: "image/png", servedBy: "hf-inference"))
        let sent = try #require(place.server.requests.last).json
        #expect(sent["inputs"]?.string == "a fox" && sent["parameters"]?["num_inference_steps"]?.int == 4)
        #expect(
            sent["parameters"]?["width"]?.int == 512 && sent["parameters"]?["negative_prompt"]?.string == "dogs")
    }

    @Test func base64AndAddressesAreTaken() async throws {
        for answer in [
            { _ in .json(#"{"data":[{"b64_json":"\#(Base64.text(HonestRouter.png))"}]}"#) },
            { .json(#"{"output":["\#(url($0))"]}"#) },
            { _ in .json(#"{"output":"data:image/png;base64,\#(Base64.text(HonestRouter.png))"}"#) },
        ] as [@Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply] {
            let place = try place("hf-inference", answer)
            #expect(try await place.hub("org/i").generateImage(prompt: "x").bytes == HonestRouter.png)
        }
    }

    @Test(arguments: [("together", "steps", "width"), ("nscale", "seed", "size")])
    func eachProviderGetsItsOwnNames(_ provider: String, _ one: String, _ other: String) async throws {
        let place = try place(provider) { HonestRouter().answer($0) }
        var options = Self.options
        if provider == "nscale" {
            let error = await fault { try await place.hub("org/i").generateImage(prompt: "x", options: options) }
            #expect(error?.code == .invalidInput && place.server.requests.count == 1)
            (options.steps, options.guidanceScale) = (nil, nil)
        }
        _ = try await place.hub("org/i").generateImage(prompt: "x", options: options)
        let request = try #require(place.server.requests.last)
        #expect(request.path == "/\(provider)/v1/images/generations" && request.json["model"]?.string == "p/i")
        #expect(
            request.json[one] != nil && request.json[other] != nil && request.json["num_inference_steps"] == nil)
    }

    // MARK: fal

    /// A queue that goes through states, then gives a result.
    private func fal(_ states: [String], result: String? = nil, resultStatus: Int = 200) throws -> RemotePlace {
        try place("fal-ai") { request in
            switch request.path {
            // The answer's path is another than the model's.
            case "/fal-ai/p/i":
                .json(
                    #"{"request_id":"r","status":"IN_QUEUE","response_url":"https://queue.fal.run/p/requests/r"}"#)
            case "/fal-ai/p/requests/r/status": .json(states[min(request.index - 2, states.count - 1)], status: 202)
            case "/fal-ai/p/requests/r":
                .json(result ?? #"{"images":[{"url":"\#(url(request))"}]}"#, status: resultStatus)
            default: .json(#"{"error":"wrong path \#(request.target)"}"#, status: 404)
            }
        }
    }

    @Test func falsQueueIsFollowedAtAnyRouter() async throws {
        let place = try fal([#"{"status":"IN_QUEUE"}"#, #"{"status":"IN_PROGRESS"}"#, #"{"status":"COMPLETED"}"#])
        let image = try await place.hub("org/i").generateImage(prompt: "x", options: Self.options)
        #expect(image.bytes == HonestRouter.png)
        let targets = place.server.requests.map(\.target)
        #expect(
            targets[1] == "/fal-ai/p/i?_subdomain=queue"
                && targets[2] == "/fal-ai/p/requests/r/status?_subdomain=queue")
        #expect(targets[5] == "/fal-ai/p/requests/r?_subdomain=queue" && targets[6] == "/result.png")
        #expect(place.server.requests[1].json["image_size"] == .object(["width": 512, "height": 256]))
        #expect(
            place.server.requests[5].header("Authorization") != nil
                && place.server.requests[6].header("Authorization") == nil)
    }

    @Test(arguments: [
        (#"{"status":"COMPLETED","error":"NSFW","error_type":"content"}"#, "NSFW"),
        (#"{"status":"FAILED"}"#, "FAILED"),
        (#"{"status":"CANCELED","error":{"message":"stopped"}}"#, "stopped"), (#"{"status":"DREAMING"}"#, "state"),
        (#"{"nothing":1}"#, "state"),
    ])
    func aQueueThatFailsEnds(_ state: String, _ words: String) async throws {
        let place = try fal([state])
        let error = await fault { try await place.hub("org/i").generateImage(prompt: "x") }
        #expect(error?.message.contains(words) == true && error?.exitStatus == 5)
        #expect(place.server.requests.count < 15)
    }

    @Test func aQueueThatNeverEndsEndsWithTheBudget() async throws {
        let place = try fal([#"{"status":"IN_PROGRESS"}"#])
        let limits = RemotePlace.limits { $0.total = 0.5 }
        let error = await fault { try await place.hub("org/i", limits: limits).generateImage(prompt: "x") }
        #expect(error?.code == .timedOut)
    }

    @Test func aResultThatIsARefusalIsOne() async throws {
        let place = try fal(
            [#"{"status":"COMPLETED"}"#], result: #"{"detail":[{"msg":"prompt refused"}]}"#, resultStatus: 422)
        let error = await fault { try await place.hub("org/i").generateImage(prompt: "x") }
        #expect(error?.code == .requestRejected && error?.message.contains("prompt refused") == true)
    }

    @Test func anAdapterIsNamedByItsAddressOnTheHub() async throws {
        let place = try place(
            "fal-ai", id: "fal-ai/lora", more: #","adapter":"lora","adapterWeightsPath":"w 1.safetensors""#
        ) {
            .json(#"{"images":[{"url":"\#(url($0))"}]}"#)
        }
        _ = try await place.hub("org/i").generateImage(prompt: "x")
        let sent = place.server.requests[1].json
        #expect(
            sent["loras"]?.array?.first?["path"]?.string
                == "\(place.server.address)/org/i/resolve/main/w%201.safetensors")
        #expect(sent["model_name"]?.string == "stabilityai/stable-diffusion-xl-base-1.0")
    }

    // MARK: Replicate, WaveSpeed, Z.ai

    @Test func replicatesNullOutputIsPolled() async throws {
        let place = try place("replicate", id: "o/n:abc") { request in
            let urls = #""urls":{"get":"https://api.replicate.com/v1/predictions/9"}"#
            switch (request.path, request.index) {
            case ("/replicate/v1/predictions", _): return .json(#"{"status":"processing","output":null,\#(urls)}"#)
            case ("/replicate/v1/predictions/9", 0...3):
                return .json(#"{"status":"processing","output":null,\#(urls)}"#)
            case ("/replicate/v1/predictions/9", _):
                return .json(#"{"status":"succeeded","output":["\#(url(request))"],\#(urls)}"#)
            default: return .json("{}", status: 404)
            }
        }
        #expect(
            try await place.hub("org/i").generateImage(prompt: "x", options: Self.options).bytes == HonestRouter.png
        )
        #expect(place.server.requests[1].json["version"]?.string == "abc")
        #expect(place.server.requests[1].json["input"]?["width"]?.int == 512)
    }

    @Test(arguments: [
        (#"{"status":"failed","error":"CUDA out of memory","urls":{"get":"https://x/v1/p"}}"#, "CUDA"),
        (#"{"status":"canceled","output":null,"urls":{"get":"https://x/v1/p"}}"#, "canceled"),
        (#"{"status":"succeeded","output":null,"urls":{"get":"https://x/v1/p"}}"#, "without an output"),
        (#"{"status":"processing","output":null}"#, "without an output"),
    ])
    func replicatesFailuresEnd(_ answer: String, _ words: String) async throws {
        let place = try place("replicate") { _ in .json(answer) }
        let error = await fault { try await place.hub("org/i").generateImage(prompt: "x") }
        #expect(error?.message.contains(words) == true)
    }

    @Test func waveSpeedIsPolledAtItsOwnPath() async throws {
        let place = try place("wavespeed") { request in
            request.path == "/wavespeed/api/v3/p/i"
                ? .json(
                    #"{"data":{"status":"created","urls":{"get":"https://api.wavespeed.ai/api/v3/predictions/4/result"}}}"#
                )
                : request.path == "/wavespeed/api/v3/predictions/4/result"
                    ? .json(
                        request.index < 4
                            ? #"{"data":{"status":"processing"}}"#
                            : #"{"data":{"status":"completed","outputs":["\#(url(request))"]}}"#)
                    : .json("{}", status: 404)
        }
        #expect(try await place.hub("org/i").generateImage(prompt: "x").bytes == HonestRouter.png)
        let failing = try self.place("wavespeed") { _ in
            .json(#"{"data":{"status":"failed","error":"no GPU","urls":{"get":"/api/v3/predictions/4/result"}}}"#)
        }
        let error = await fault { try await failing.hub("org/i").generateImage(prompt: "x") }
        #expect(error?.message.contains("no GPU") == true)
    }

    @Test func zaiIsPolledByItsNumber() async throws {
        let place = try place("zai-org") { request in
            switch request.path {
            case "/zai-org/api/paas/v4/async/images/generations": .json(#"{"id":"j/1","task_status":"PROCESSING"}"#)
            case "/zai-org/api/paas/v4/async-result/j%2F1":
                .json(#"{"task_status":"SUCCESS","image_result":[{"url":"\#(url(request))"}]}"#)
            default: .json("{}", status: 404)
            }
        }
        let options = ImageOptions(width: 8, height: 8)
        #expect(try await place.hub("org/i").generateImage(prompt: "x", options: options).bytes == HonestRouter.png)
        #expect(place.server.requests[1].json["size"]?.string == "8x8")
        let failing = try self.place("zai-org") { _ in .json(#"{"id":"1","task_status":"FAIL"}"#) }
        #expect(await fault { try await failing.hub("org/i").generateImage(prompt: "x") }?.code == .requestRejected)
        let refused = await fault { try await place.hub("org/i").generateImage(prompt: "x", options: Self.options) }
        #expect(refused?.code == .invalidInput)
    }

    // MARK: What is no picture

    @Test func aPageIsNeverAPicture() async throws {
        for answer in [
            { .json(#"{"output":"\#(url($0, "/page"))"}"#) }, { _ in .html("<html>error</html>") },
            { _ in .bytes(Array("<html>".utf8), type: "image/png") },
            { _ in .json(#"{"data":[{"b64_json":"PGh0bWw+"}]}"#) }, { _ in .json(#"{"data":[]}"#) },
            { _ in .json(#"{"output":"file:///etc/passwd"}"#) },
        ] as [@Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply] {
            let place = try place("hf-inference", answer)
            let error = await fault { try await place.hub("org/i").generateImage(prompt: "x") }
            #expect(error?.code == .protocolViolation)
        }
    }

    @Test(arguments: [ImageOptions(width: 0, height: 1), ImageOptions(steps: 0), ImageOptions(guidanceScale: -1)])
    func valuesOutOfRangeAreRefusedUnsent(_ options: ImageOptions) async throws {
        let place = try place("hf-inference") { _ in .json("{}") }
        let error = await fault {
            try await place.hub("org/i:hf-inference").generateImage(prompt: "x", options: options)
        }
        #expect(error?.code == .invalidInput && place.server.requests.isEmpty)
    }
}
