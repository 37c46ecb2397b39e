import HubCore

/// What an honest router answers: the Hub's mapping, its list of models, and every task, all deterministic. For tests of
/// what goes right, and for Python's clients.
package struct HonestRouter: Sendable {
    package static let chatModel = "org/chat"
    package static let embedder = "org/embed"
    package static let listener = "org/listen"
    package static let painter = "org/paint"
    /// The smallest PNG.
    package static let png = Base64.bytes(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!

    /// What each of the models that it serves is for.
    private let tasks: [String: String]
    /// Who serves each of them.
    private let providers: [String]

    package static let usualTasks = [
        chatModel: "conversational", embedder: "feature-extraction", listener: "automatic-speech-recognition",
        painter: "text-to-image",
    ]

    package init(tasks: [String: String] = Self.usualTasks, providers: [String] = ["hf-inference", "together"]) {
        self.tasks = tasks
        self.providers = providers
    }

    package func answer(_ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        let path = request.path
        if path.hasPrefix("/api/models/") { return mapping(of: String(path.dropFirst("/api/models/".count))) }
        switch path {
        case "/v1/models": return .json(list)
        case _ where path.hasSuffix("/chat/completions"): return chat(request)
        case _ where path.hasSuffix("/embeddings"): return embeddings(request)
        case _ where path.hasSuffix("/pipeline/feature-extraction"):
            return .json(JSON.array(Self.texts(request.json["inputs"]).map { .array(Self.vector($0)) }).text())
        case _ where path.hasPrefix("/hf-inference/models/"):
            return inference(String(path.dropFirst("/hf-inference/models/".count)), request)
        case _ where path.hasPrefix("/fal-ai/"): return queue(path, request)
        case "/result.png": return .bytes(Self.png, type: "image/png")
        case _ where path.hasSuffix("/audio/transcriptions"): return .json(#"{"text":"heard"}"#)
        case _ where path.hasSuffix("/images/generations"):
            return .json(#"{"data":[{"b64_json":"\#(Base64.text(Self.png))"}]}"#)
        default: return Self.notFound
        }
    }

    private static let notFound = InferenceStandIn.Reply.json(#"{"error":"Not Found"}"#, status: 404)

    // MARK: The Hub

    private func mapping(of model: String) -> InferenceStandIn.Reply {
        guard let task = tasks[model] else {
            return .json(
                #"{"error":"Repository not found"}"#, status: 404, headers: [("X-Error-Code", "RepoNotFound")])
        }
        let tag = task == "conversational" ? "text-generation" : task
        let served = providers.map { name in
            let id = name == "together" ? "T/\(model)" : model
            return #""\#(name)":{"status":"live","providerId":"\#(id)","task":"\#(task)"}"#
        }
        return .json(
            """
            {"id":"\(model)","pipeline_tag":"\(tag)","tags":["\(tag)"],"inferenceProviderMapping":{\(served.joined(separator: ","))}}
            """)
    }

    private var list: String {
        let models = tasks.filter { $0.value == "conversational" }.keys.sorted().map { model in
            """
            {"id":"\(model)","object":"model","created":1,"owned_by":"org","providers":[\
            {"provider":"together","status":"live","context_length":8192,"pricing":{"input":0.2,"output":0.6},\
            "supports_tools":true,"supports_structured_output":true,"throughput":50.0},\
            {"provider":"groq","status":"live","context_length":131072,"pricing":{"input":0.1,"output":0.3},\
            "supports_tools":true,"supports_structured_output":false,"throughput":500.0}]}
            """
        }
        return #"{"object":"list","data":[\#(models.joined(separator: ","))]}"#
    }

    // MARK: Tasks

    /// What the Hub's own provider answers: a picture, or how many bytes it heard, with times where they are wanted.
    private func inference(_ model: String, _ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        switch tasks[model] {
        case "text-to-image": return .bytes(Self.png, type: "image/png")
        case "automatic-speech-recognition":
            let text = "\(request.bodyBytes) bytes"
            let times = request.json["parameters"]?["return_timestamps"]?.bool == true
            let chunks = times ? #","chunks":[{"text":"\#(text)","timestamp":[0,1]}]"# : ""
            return .json(#"{"text":"\#(text)"\#(chunks)}"#)
        default: return Self.notFound
        }
    }

    /// fal's queue, in which nobody waits.
    private func queue(_ path: String, _ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        let place = path.dropFirst("/fal-ai/".count)
        if place.hasSuffix("/requests/r/status") { return .json(#"{"status":"COMPLETED"}"#, status: 202) }
        if place.hasSuffix("/requests/r") {
            return .json(#"{"images":[{"url":"http://\#(request.header("Host") ?? "")/result.png"}]}"#)
        }
        return .json(
            #"{"request_id":"r","status":"IN_QUEUE","response_url":"https://queue.fal.run/\#(place)/requests/r"}"#)
    }

    private static func texts(_ json: JSON?) -> [String] {
        json?.string.map { [$0] } ?? (json?.array ?? []).compactMap(\.string)
    }

    /// A vector that belongs to a text.
    private static func vector(_ text: String) -> [JSON] {
        [.double(Double(text.utf8.count)), .double(Double(text.utf8.first ?? 0)), .double(0.5)]
    }

    private func embeddings(_ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        let isBase64 = request.json["encoding_format"]?.string == "base64"
        let rows = Self.texts(request.json["input"]).enumerated().map { index, text in
            let numbers = Self.vector(text)
            let bytes = numbers.flatMap { number in
                withUnsafeBytes(of: Float(number.double ?? 0).bitPattern.littleEndian) { Array($0) }
            }
            return JSON.object([
                "object": "embedding", "index": .int(Int64(index)),
                "embedding": isBase64 ? .string(Base64.text(bytes)) : .array(numbers),
            ])
        }
        return .json(
            JSON.object([
                "object": "list", "data": .array(rows), "model": request.json["model"] ?? "m",
                "usage": .object(["prompt_tokens": 3, "total_tokens": 3]),
            ]).text())
    }

    /// Repeats the last message, or calls the first tool with it.
    private func chat(_ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        let body = request.json
        guard let last = body["messages"]?.array?.last else {
            return .json(
                #"{"error":{"message":"messages are missing","type":"invalid_request_error"}}"#, status: 422)
        }
        let said = last["content"]?.string ?? "nothing"
        let usage = #""usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}"#
        let id = #""id":"chat-1","created":1,"model":\#((body["model"] ?? "m").text())"#
        let isTool = body["tools"] != nil && last["role"]?.string == "user"
        let call = toolCall(body, said)
        let answer = "You said: \(said) 🙂"
        guard body["stream"]?.bool == true else {
            let message =
                isTool ? #""content":null,"tool_calls":[\#(call)]"# : #""content":\#(JSON.string(answer).text())"#
            return .json(
                #"{\#(id),"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",\#(message)},"finish_reason":"\#(isTool ? "tool_calls" : "stop")"}],\#(usage)}"#
            )
        }
        func chunk(_ delta: String, _ reason: String = "null") -> String {
            #"{\#(id),"object":"chat.completion.chunk","choices":[{"index":0,"delta":{\#(delta)},"finish_reason":\#(reason)}]}"#
        }
        var documents = [chunk(#""role":"assistant","content":"""#)]
        if isTool {
            documents.append(chunk(#""tool_calls":[\#(call)]"#))
        } else {
            documents += answer.map { chunk(#""content":\#(JSON.string(String($0)).text())"#) }
        }
        documents.append(chunk("", isTool ? #""tool_calls""# : #""stop""#))
        if body["stream_options"]?["include_usage"]?.bool == true {
            documents.append(#"{\#(id),"object":"chat.completion.chunk","choices":[],\#(usage)}"#)
        }
        return .chunks(documents)
    }

    private func toolCall(_ body: JSON, _ said: String) -> String {
        let name = body["tools"]?.array?.first?["function"]?["name"]?.string ?? "none"
        let arguments = JSON.string(JSON.object(["text": .string(said)]).text()).text()
        return
            #"{"index":0,"id":"call_1","type":"function","function":{"name":"\#(name)","arguments":\#(arguments)}}"#
    }
}
