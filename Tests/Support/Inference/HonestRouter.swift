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

    package init() {}

    package func answer(_ request: InferenceStandIn.Request) -> InferenceStandIn.Reply {
        let path = request.path
        if path.hasPrefix("/api/models/") { return mapping(of: String(path.dropFirst("/api/models/".count))) }
        switch path {
        case "/v1/models": return .json(Self.list)
        case _ where path.hasSuffix("/chat/completions"): return chat(request)
        case _ where path.hasSuffix("/embeddings"): return embeddings(request)
        case _ where path.hasSuffix("/pipeline/feature-extraction"):
            return .json(JSON.array(Self.texts(request.json["inputs"]).map { .array(Self.vector($0)) }).text())
        case "/hf-inference/models/\(Self.painter)": return .bytes(Self.png, type: "image/png")
        case "/hf-inference/models/\(Self.listener)": return .json(#"{"text":"\#(request.bodyBytes) bytes"}"#)
        case _ where path.hasSuffix("/audio/transcriptions"): return .json(#"{"text":"heard"}"#)
        case _ where path.hasSuffix("/images/generations"):
            return .json(#"{"data":[{"b64_json":"\#(Base64.text(Self.png))"}]}"#)
        default: return .json(#"{"error":"Not Found"}"#, status: 404)
        }
    }

    // MARK: The Hub

    private func mapping(of model: String) -> InferenceStandIn.Reply {
        let tasks = [
            Self.chatModel: "conversational", Self.embedder: "feature-extraction",
            Self.listener: "automatic-speech-recognition", Self.painter: "text-to-image",
        ]
        guard let task = tasks[model] else {
            return .json(
                #"{"error":"Repository not found"}"#, status: 404, headers: [("X-Error-Code", "RepoNotFound")])
        }
        let tag = task == "conversational" ? "text-generation" : task
        return .json(
            """
            {"id":"\(model)","pipeline_tag":"\(tag)","tags":["\(tag)"],"inferenceProviderMapping":{"hf-inference":{"status":"live",\
            "providerId":"\(model)","task":"\(task)"},"together":{"status":"live","providerId":"T/\(model)","task":"\(task)"}}}
            """)
    }

    private static let list = """
        {"object":"list","data":[{"id":"\(chatModel)","object":"model","created":1,"owned_by":"org","providers":[\
        {"provider":"together","status":"live","context_length":8192,"pricing":{"input":0.2,"output":0.6},\
        "supports_tools":true,"supports_structured_output":true,"throughput":50.0},\
        {"provider":"groq","status":"live","context_length":131072,"pricing":{"input":0.1,"output":0.3},\
        "supports_tools":true,"supports_structured_output":false,"throughput":500.0}]}]}
        """

    // MARK: Tasks

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
