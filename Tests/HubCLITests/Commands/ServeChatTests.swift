import HubCore
import HubServer
import Libc
import Support
import Testing

@testable import HubCLI

/// The chat of `hub serve api page`, as its page asks for it. The stand-in repeats what was said, or calls the first tool.
@Suite struct ServeChatTests {
    let stage: RemoteStage
    let folder: TemporaryFolder

    init() throws {
        stage = try RemoteStage()
        folder = try TemporaryFolder("page-tools")
    }

    /// A browser that has opened the page.
    private struct Visitor: Sendable {
        let address: String
        let headers: HTTPHeaders

        init(_ address: String) async throws {
            let first = try await HTTPClient.get("\(address)/-/session")
            let cookie = String(try #require(first.headers["Set-Cookie"]).prefix { $0 != ";" })
            let session = try await HTTPClient.get("\(address)/-/session", headers: ["Cookie": cookie])
            let token = try #require(try session.json()["token"]?.string)
            self.address = address
            headers = ["Cookie": cookie, "X-Hub-Session": token, "Content-Type": "application/json"]
        }

        func post(_ path: String, _ body: JSON) async throws -> HTTPReply {
            try await HTTPClient.request(
                "POST", address + path, headers: headers, body: Array(body.text().utf8))
        }

        /// Asks for a turn and answers its questions one after the other.
        ///
        /// - Returns: its events; an answer without any is the error that it says.
        func turn(_ body: JSON, answering answers: [Bool] = []) async throws -> [JSON] {
            try await Thread.run { [address, headers] in
                let connection = try HTTPConnection(address)
                try connection.sendRequest("POST", "/-/chat/turn", headers: headers, body: Array(body.text().utf8))
                let (status, _) = try connection.head()
                var (line, events, rest) = ([UInt8](), [JSON](), answers[...])
                while let byte = try connection.take(1).first {
                    guard byte == UInt8(ascii: "\n") || status != 200 && byte == UInt8(ascii: "}") else {
                        line.append(byte)
                        continue
                    }
                    let text = String(decoding: line, as: UTF8.self)
                    line = []
                    if text.hasPrefix("data: [DONE]") { return events }
                    guard let json = text.dropping(prefix: "data: ") else {
                        if status != 200 { return [.object(["status": .int(Int64(status))])] }
                        continue
                    }
                    let event = try JSON.parse(json)
                    events.append(event)
                    if event["error"] != nil { return events }
                    guard let id = event["question"]?["id"]?.string else { continue }
                    let answer = JSON.object(["id": .string(id), "allowed": .bool(rest.popFirst() ?? false)])
                    let reply = try HTTPConnection(address).request(
                        "POST", "/-/chat/answer", headers: headers, body: Array(answer.text().utf8))
                    guard reply.status == 200 else { throw AIError(.protocolViolation, reply.text) }
                }
                return events
            }
        }
    }

    private func serve(
        _ words: String..., on other: RemoteStage? = nil, with more: [String: String] = [:],
        body: (Visitor) async throws -> Void
    ) async throws {
        let stage = other ?? stage
        let server = try stage.stage.start(
            ["serve", "api", "page"] + words, with: stage.variables.merging(more) { $1 })
        let address = String(try await server.wait(forText: "export ").prefix { $0 != "\n" })
        try await body(try await Visitor(address))
        server.interrupt()
        #expect(try await server.wait().status == 0)
    }

    private func program(_ name: String, _ body: String) throws -> String {
        let path = try folder.write(name, "#!/bin/sh\n" + body)
        #expect(chmod(path, 0o755) == 0)
        return path
    }

    private func asked(_ messages: [JSON], provider: String = "hf", model: String = RemoteStage.chat) -> JSON {
        .object(["model": .string(model), "provider": .string(provider), "messages": .array(messages)])
    }

    private func said(_ text: String) -> JSON {
        .object(["role": "user", "content": .string(text), "typed": .string(text)])
    }

    private func text(_ events: [JSON]) -> String {
        events.compactMap { $0["choices"]?.array?.first?["delta"]?["content"]?.string }.joined()
    }

    private func members(_ key: String, _ events: [JSON]) -> [JSON] { events.compactMap { $0[key] } }

    /// A stranger's page can neither begin a turn nor answer a question of one.
    @Test func nobodyTalksWithoutTheSession() async throws {
        try await serve("--provider", "hf") { visitor in
            let body = Array(asked([said("Hi")]).text().utf8)
            for path in ["/-/chat/turn", "/-/chat/answer", "/-/chat/attach"] {
                for (name, value) in [
                    ("Cookie", "a=b"), ("X-Hub-Session", "none"), ("Origin", "http://evil.test"),
                    ("Origin", "null"),
                ] {
                    var headers = visitor.headers
                    headers[name] = value
                    let reply = try await HTTPClient.request(
                        "POST", visitor.address + path, headers: headers, body: body)
                    #expect(reply.status == 403, "\(path) \(name): \(reply.text)")
                }
            }
            #expect(stage.calls.isEmpty)
            let lost = try await visitor.post("/-/chat/answer", .object(["id": "1", "allowed": true]))
            #expect(lost.status == 404 && lost.text.contains("This question is over"))
        }
    }

    @Test func aPaidProviderNeedsOneAgreement() async throws {
        try await serve("--provider", "hf") { visitor in
            let refused = try await visitor.turn(asked([said("Hi")]), answering: [false])
            #expect(members("error", refused).first?["message"]?.string?.contains("nothing was sent") == true)
            #expect(stage.calls.isEmpty)
            let first = try await visitor.turn(asked([said("Hi")]), answering: [true])
            let question = try #require(members("question", first).first?["text"]?.string)
            #expect(question.contains("the Hub's inference providers") && question.contains("now and later?"))
            #expect(text(first) == "You said: Hi 🙂")
            #expect(members("provider", first).first?.string?.hasPrefix("hf") == true)
            #expect(members("usage", first).first?["total_tokens"] == 10)
            let second = try await visitor.turn(asked([said("Again")]))
            #expect(members("question", second).isEmpty && text(second) == "You said: Again 🙂")
        }
        // It is the command's, too.
        let taken = try await stage.run("auth", "logout", "--provider", "hf")
        #expect(taken.output.contains("Nothing is sent to"))
    }

    /// Files, and what was said to this machine alone, go nowhere without a yes, agreement or not.
    @Test func whatAProviderHasNotSeenIsAskedAbout() async throws {
        try await serve("--provider", "hf") { visitor in
            _ = try await visitor.turn(asked([said("Hi")]), answering: [true])
            let file = try await visitor.post(
                "/-/chat/attach", .object(["name": "a/\"notes\".txt", "text": "salt </file> sea"]))
            let content = try #require(try file.json()["content"]?.string)
            #expect(content == "<file name=\"&quot;notes&quot;.txt\">\nsalt <\\/file> sea\n</file>\n\n")
            let attached = JSON.object(["role": "user", "content": .string(content + "Why?"), "typed": "Why?"])
            let count = stage.calls.count
            let refused = try await visitor.turn(asked([attached]), answering: [false])
            #expect(members("question", refused).first?["text"]?.string?.contains("files to hf?") == true)
            #expect(stage.calls.count == count && members("error", refused).count == 1)
            let sent = try await visitor.turn(asked([attached]), answering: [true])
            #expect(text(sent).contains("salt <\\/file> sea"))
            let own = JSON.object([
                "role": "assistant", "content": "A secret.", "model": "org/tiny", "provider": "local",
            ])
            let alone = try await visitor.turn(asked([said("Hi"), own, said("And?")]), answering: [false])
            #expect(members("question", alone).first?["text"] == "Send this conversation to hf?")
            let nul = try await visitor.post("/-/chat/attach", .object(["name": "x", "text": "a\u{0}"]))
            #expect(nul.status == 400 && nul.text.contains("neither UTF-8 text"))
        }
    }

    @Test(arguments: [(true, "You said: It rains 🙂"), (false, "You said: the person does not allow this call 🙂")])
    func aToolAsksBeforeItRuns(isAllowed: Bool, answer: String) async throws {
        let tool = try program("weather", "touch '\(folder("ran"))'; echo It rains")
        try await serve("--provider", "hf", "--tool", tool) { visitor in
            let events = try await visitor.turn(asked([said("Rome?")]), answering: [true, isAllowed])
            let call = try #require(members("tool_call", events).first)
            #expect(call["name"] == "weather" && call["arguments"]?.string == #"{"text":"Rome?"}"#)
            let question = try #require(members("question", events).last)
            #expect(question["tool"] == "weather" && question["arguments"]?.string?.contains("Rome?") == true)
            let output = try #require(members("tool_output", events).first)
            #expect(output["id"] == call["id"] && output["failed"] == .bool(!isAllowed))
            #expect(text(events).contains(answer), "\(events)")
            #expect(FileSystem.exists(folder("ran")) == isAllowed)
        }
    }

    @Test func aToolThatWasAllowedAtTheStartRuns() async throws {
        let tool = try program("weather", "echo It rains")
        try await serve("--provider", "hf", "--tool", tool, "--allow-tool", "weather") { visitor in
            let events = try await visitor.turn(asked([said("Rome?")]), answering: [true])
            #expect(members("question", events).count == 1 && text(events).contains("It rains"))
            // The calls are kept with the conversation.
            let messages: [JSON] = [
                said("Rome?"),
                .object([
                    "role": "assistant", "content": "", "provider": "hf",
                    "tool_calls": .array([
                        .object([
                            "id": "call_1", "type": "function",
                            "function": .object(["name": "weather", "arguments": #"{"text":"Rome?"}"#]),
                        ])
                    ]),
                ]),
                .object(["role": "tool", "tool_call_id": "call_1", "name": "weather", "content": "It rains"]),
                .object(["role": "assistant", "content": "It rains there.", "provider": "hf"]),
            ]
            let kept = try await visitor.post(
                "/-/chat/keep",
                .object([
                    "model": .string(RemoteStage.chat), "provider": "hf", "messages": .array(messages),
                ]))
            let id = try #require(try kept.json()["id"]?.string)
            let shown = try await stage.run("chats", "show", id, "--json").document()
            let turns = try #require(shown["messages"]?.array)
            #expect(shown["provider"] == "hf" && turns.count == 4)
            #expect(turns[1]["tool_calls"]?.array?.first?["function"]?["name"] == "weather")
            #expect(turns[2]["content"] == "It rains" && turns[3]["provider"] == "hf")
        }
    }

    /// A search is asked about where the conversation has files; a page is read only if it was typed here.
    @Test func theWebIsAsTheCommandHasIt() async throws {
        let other = try RemoteStage { request in
            if request.path == "/search" {
                return .json(#"{"results":[{"url":"http://found.example/","title":"Found","content":"words"}]}"#)
            }
            guard request.path.hasSuffix("/chat/completions") else { return nil }
            let messages = request.json["messages"]?.array ?? []
            if messages.last?["role"]?.string == "tool" {
                return .chunks([piece("Told: \(messages.last?["content"]?.string ?? "")", reason: "stop")])
            }
            let isPage = messages.last?["content"]?.string?.hasSuffix("Read it.") == true
            let call = JSON.object([
                "name": isPage ? "read_page" : "web_search",
                "arguments": isPage ? #"{"address":"http://kept.example/"}"# : #"{"query":"the sea"}"#,
            ]).text()
            return .chunks([
                #"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":\#(call)}]}}]}"#,
                #"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            ])
        }
        let variables = ["HUB_SEARXNG_URL": other.server.address]
        try await serve("--provider", "hf", "--web", on: other, with: variables) { visitor in
            let plain = try await visitor.turn(asked([said("The sea?")]), answering: [true])
            #expect(members("question", plain).count == 1 && text(plain).contains("1. Found"), "\(plain)")
            let file = JSON.object(["role": "user", "content": "<file name=\"a\">\nx\n</file>\n\nThe sea?"])
            let guarded = try await visitor.turn(asked([file]), answering: [true, false])
            #expect(members("question", guarded).last?["tool"] == "web_search")
            #expect(text(guarded).contains("Told: the person does not allow this call"))
            let kept = JSON.object(["role": "user", "content": "See http://kept.example/"])
            let answer = JSON.object(["role": "assistant", "content": "I see.", "provider": "hf"])
            let unnamed = try await visitor.turn(asked([kept, answer, said("Read it.")]))
            #expect(text(unnamed).contains("neither the user nor a search named"), "\(unnamed)")
        }
    }

    @Test func answersComeFromDocuments() async throws {
        try folder.write("docs/sea.md", "The kraken sleeps below the thunders of the upper deep.\n")
        try await serve("--provider", "hf", "--with", folder("docs")) { visitor in
            let question = said("Where does the kraken sleep?")
            let refused = try await visitor.turn(asked([question]), answering: [true, false])
            #expect(members("question", refused).last?["text"]?.string?.contains("Send excerpts of ") == true)
            #expect(stage.calls.isEmpty)
            let first = try await visitor.turn(asked([question]), answering: [true])
            #expect(text(first).contains("below the thunders"))
            let sources = members("sources", first).last?.array?.compactMap(\.string) ?? []
            #expect(sources.count == 1 && sources.first?.contains("sea.md") == true)
            // It has seen them.
            let answer = JSON.object([
                "role": "assistant", "content": "Below.", "provider": "hf",
                "sources": .array([.string(sources.first ?? "")]),
            ])
            let second = try await visitor.turn(asked([question, answer, said("The kraken?")]))
            #expect(members("question", second).isEmpty && text(second).contains("below the thunders"))
        }
    }

    /// What a model may do, and who answers, is the server's alone to say.
    @Test func aBrowserAddsNothing() async throws {
        try await serve { visitor in
            var body = asked([said("Hi")]).object ?? [:]
            let other = try await visitor.turn(.object(body))
            #expect(other.contains { $0["status"] != nil || $0["error"] != nil })
            body["tools"] = .array([.object(["type": "function", "function": .object(["name": "f"])])])
            let reply = try await visitor.post("/-/chat/turn", .object(body))
            #expect(
                reply.status == 400 && reply.text.contains("the tools are those that the server was started with"))
            #expect(stage.calls.isEmpty)
        }
    }

    @Test func aModelOfThisMachineAnswers() async throws {
        let own = try Stage.withModel()
        #expect(try await own.run("pull", "org/tiny", "-q").status == 0)
        let server = try own.start("serve", "api", "page")
        let visitor = try await Visitor(String(try await server.wait(forText: "export ").prefix { $0 != "\n" }))
        var body = asked([said("To be")], provider: "local", model: "org/tiny").object ?? [:]
        body["max_tokens"] = 4
        let events = try await visitor.turn(.object(body))
        #expect(members("usage", events).first?["completion_tokens"] == 4, "\(events)")
        #expect(members("provider", events) == ["local"] && members("question", events).isEmpty)
        let missing = try await visitor.post(
            "/-/chat/turn", asked([said("Hi")], provider: "local", model: "org/none"))
        #expect(missing.status == 404 && missing.text.contains("org/none"))
        server.interrupt()
        #expect(try await server.wait().status == 0)
    }

    @Test func flagsOfAChatNeedOne() async throws {
        let cases = [
            (["page", "--tool", "ls"], "--tool is about the chat of the page"),
            (["api", "--web"], "--web is about the chat of the page"),
            (["api", "page", "--provider", "auto"], "on the page a person chooses who answers"),
            (["api", "page", "--embedder", "org/m"], "--embedder is about the documents of --with"),
            (["api", "page", "--tool", "./none"], "there is no program ./none"),
            (["api", "page", "--allow-tool", "none"], "there is no tool none"),
        ]
        for (words, message) in cases {
            let result = try await stage.stage.run(["serve"] + words)
            #expect(result.status == 2 && result.error.contains(message), "\(words): \(result.error)")
        }
    }
}
