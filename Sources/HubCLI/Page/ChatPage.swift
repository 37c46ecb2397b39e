import HubChatTemplates
import HubCore
import HubServer
import InferenceKit
import MemoryKit
import ModelFormats

/// Conversations with the models of this machine. The script talks with the API; what is kept is read without it.
struct ChatPage {
    let place: PagePlace
    let request: PageRequest

    func view() async throws -> PageView {
        let kept = try await place.ask(["chats"]).document["conversations"]?.array ?? []
        var turns: [HTML] = []
        if let id = request.query["id"] {
            let shown = try await place.ask(["chats", "show", "--", id]).document
            turns = (shown["messages"]?.array ?? []).compactMap(turn)
        }
        return PageView(
            title: "Chat", section: .chat, modules: ["chat.js"],
            content: [
                .tag("h1", ["class": "hidden"], "Chat"),
                .tag(
                    "div",
                    [
                        "class": "chat", "data-id": request.query["id"], "data-model": request.query["model"],
                        "data-room": "\(try room())",
                    ], [history(kept), conversation(turns)]),
            ])
    }

    /// Bytes of weights that leave enough of the memory, for the choice among several sets.
    private func room() throws -> Int64 {
        WeightChoice.Target(memoryBytes: try Machine.memory().total, runsMLX: false).weightBytes
    }

    private func history(_ kept: [JSON]) -> HTML {
        let items = kept.map { entry -> HTML in
            let id = entry["id"]?.string ?? ""
            return .tag(
                "li", [:], [.link("/-/chat?id=\(id)", entry["title"]?.string?.nonEmpty ?? "Conversation \(id)")])
        }
        return .tag(
            "details", ["class": "history", "id": "history", "open": ""],
            [
                .tag("summary", [:], "Conversations"),
                .tag("button", ["type": "button", "id": "new", "class": "live"], "New conversation"),
                .tag("label", ["for": "find", "class": "hidden"], "Search conversations"),
                .tag(
                    "input",
                    [
                        "id": "find", "type": "search", "class": "live", "placeholder": "Search",
                        "autocomplete": "off",
                    ]),
                .tag("ul", ["id": "kept"], items),
            ])
    }

    private func turn(_ message: JSON) -> HTML? {
        guard let role = message["role"]?.string, let text = message["content"]?.string?.nonEmpty else {
            return nil
        }
        let who = role == "user" ? "You" : role == "assistant" ? message["model"]?.string ?? "Model" : role
        return .tag("article", ["class": "turn \(role)"], [.tag("h2", [:], who), .tag("pre", [:], text)])
    }

    private func conversation(_ turns: [HTML]) -> HTML {
        .tag(
            "section", ["class": "conversation", "aria-label": "Conversation"],
            [
                .box(
                    "div", "chat-head live",
                    [
                        provider(), .tag("label", ["for": "model", "class": "hidden"], "Model"),
                        .tag("select", ["id": "model"]), remote(),
                        .tag("span", ["id": "gauge", "class": "faint small grow"]), settings(), means(),
                    ]),
                .tag(
                    "div",
                    ["id": "log-of-chat", "class": "turns", "role": "log", "aria-live": "polite", "tabindex": "0"],
                    turns), composer(),
            ])
    }

    /// Who answers, where the server was started with another provider than this machine. Each says what that means.
    private func provider() -> HTML {
        guard let provider = place.talk?.provider else { return [] }
        let name = Secrets.address(provider.text).printable
        let cost = provider.isOnThisMachine ? "" : ", and may cost money"
        let options = [
            (ProviderChoice.local.text, "This machine", "This machine answers."),
            (provider.text, name, "\(name) answers: what you write is sent there\(cost)."),
        ]
        return .group([
            .tag("label", ["for": "provider", "class": "hidden"], "Who answers"),
            .tag(
                "select", ["id": "provider"],
                options.map { .tag("option", ["value": $0, "data-who": $2], $1) }),
        ])
    }

    /// The name of a model there, and what a person has to know of it.
    private func remote() -> HTML {
        guard place.talk?.provider != nil else { return [] }
        return .group([
            .tag("label", ["for": "remote", "class": "hidden"], "Model at the provider"),
            .tag(
                "input",
                ["id": "remote", "type": "text", "placeholder": "org/name", "spellcheck": "false", "hidden": ""]),
            .tag("span", ["id": "who", "class": "small", "role": "status"]),
        ])
    }

    /// What models may use, as the server was started.
    private func means() -> HTML {
        var parts: [String] = []
        if let tools = place.talk?.tools?.tools {
            parts.append("call " + tools.map(\.name).joined(separator: ", "))
        }
        if let memory = place.talk?.memory { parts.append("read excerpts of \(memory.names.printable)") }
        guard !parts.isEmpty else { return [] }
        return .tag(
            "p", ["id": "means", "class": "faint small"], "Models may " + parts.joined(separator: "; ") + ".")
    }

    private func settings() -> HTML {
        .box(
            "details", "settings",
            [
                .tag("summary", [:], "Settings"),
                .box(
                    "div", "card",
                    [
                        area("system", "Instructions (system)", placeholder: "none"), presets(),
                        number("temperature", "Temperature", step: "0.1", most: "2"),
                        number("top_p", "Top p", step: "0.05", most: "1"),
                        number("max_tokens", "Most tokens", step: "1", most: "1000000"),
                        number("seed", "Seed", step: "1", most: "1000000000"),
                        area("schema", "JSON schema of the answer", placeholder: "any text"),
                    ]),
            ])
    }

    /// Those of the command. Fields that are empty take theirs; what an answer may cost ends with the context.
    private func presets() -> HTML {
        let options = [GenerationFlags.Preset.default, .precise, .creative, .code].map { preset -> HTML in
            let config = preset.config
            let settings: JSONObject = [
                "temperature": .double(config.temperature), "top_p": .double(config.topP ?? 1),
                "min_p": config.minP.map { .double($0) },
                "max_tokens": config.maxTokens == GenerateConfig.default.maxTokens
                    ? nil : .int(Int64(config.maxTokens)),
            ]
            return .tag(
                "option", ["value": preset.rawValue, "data-settings": JSON.object(settings).text()],
                preset.rawValue.withCapital)
        }
        return .box("label", "setting", [.text("Preset"), .tag("select", ["id": "preset"], options)])
    }

    private func number(_ id: String, _ text: String, step: String, most: String) -> HTML {
        .box(
            "label", "setting",
            [.text(text), .tag("input", ["type": "number", "id": id, "min": "0", "max": most, "step": step])])
    }

    private func area(_ id: String, _ text: String, placeholder: String) -> HTML {
        .box(
            "label", "setting",
            [
                .text(text),
                .tag("textarea", ["id": id, "rows": "3", "placeholder": placeholder]),
            ])
    }

    private func composer() -> HTML {
        .tag(
            "form", ["id": "composer", "class": "composer live"],
            [
                .tag("div", ["id": "attached", "class": "marks"]),
                .tag("label", ["for": "words", "class": "hidden"], "Message"),
                .tag("textarea", ["id": "words", "rows": "2", "placeholder": "Write a message"]),
                .box(
                    "div", "row",
                    [
                        .tag(
                            "label",
                            [
                                "for": "files", "class": "button small", "id": "attach",
                                "title": "Texts and pictures, 8 MB each at most; a text is sent whole",
                            ], "Attach"),
                        .tag("input", ["id": "files", "type": "file", "multiple": "", "class": "hidden"]),
                        .tag("span", ["class": "grow faint small"], "Enter sends, Shift+Enter begins a line"),
                        .tag("button", ["type": "button", "id": "stop", "hidden": ""], "Stop"),
                        .tag("button", ["id": "send", "class": "primary"], "Send"),
                    ]),
            ])
    }

    // MARK: Keeping

    static func list(_ place: PagePlace, _ request: PageRequest) async throws -> JSON {
        let words = request.query["q"]?.nonEmpty
        return .object(try await place.ask(words.map { ["chats", "search", "--", $0] } ?? ["chats"]).document)
    }

    static func one(_ place: PagePlace, _ id: String) async throws -> JSON {
        .object(try await place.ask(["chats", "show", "--", id]).document)
    }

    static func change(_ verb: String, _ place: PagePlace, _ request: PageRequest) async throws -> JSON {
        switch verb {
        case "keep": return try await keep(place, request)
        case "remove":
            return .object(try await place.ask(["chats", "rm", "--yes", "--", try request.text("id")]).document)
        case "attach":
            let file = try Attachments(text: try request.text("text"), name: try request.text("name"))
            return .object(["content": .string(file.message("").content ?? "")])
        case "answer":
            guard let talk = place.talk,
                talk.questions.answer(
                    try request.text("id"), request.body?["allowed"]?.bool == true)
            else { throw AIError(.nothingMatches, "this question is over") }
            return .object([:])
        default: throw AIError(.fileNotFound, "there is no such page")
        }
    }

    /// Keeps a conversation as the page has it. Turns that are the same stay as they were kept.
    private static func keep(_ place: PagePlace, _ request: PageRequest) async throws -> JSON {
        let model = try request.text("model")
        let provider = request.body?["provider"]?.string ?? ProviderChoice.local.text
        let sent = try PageTurns.read(request.body?["messages"]?.array ?? [], model: model)
        let id = request.body?["id"]?.string?.nonEmpty
        let system = request.body?["system"]?.string?.nonEmpty
        let path = ConversationArchive.path(in: place.context.environment.stateDirectory)
        let kept = try await Blocking.run {
            let archive = try ConversationArchive(path: path)
            var kept =
                try id.flatMap { id throws(AIError) in try archive.conversation(id) }
                ?? KeptConversation(model: model, provider: provider, at: Timestamp.now)
            (kept.model, kept.provider, kept.system) = (model, provider, system)
            kept.turns = sent.enumerated().map { index, turn in
                guard kept.turns.indices.contains(index) else { return turn }
                let old = kept.turns[index]
                return old.says(turn) ? old : turn
            }
            try archive.keep(&kept, at: Timestamp.now)
            return kept
        }
        return .object(["id": .string(kept.id), "title": .string(kept.title)])
    }
}

extension KeptConversation.Turn {
    /// Whether another one is this turn, as far as a browser knows of it.
    fileprivate func says(_ other: KeptConversation.Turn) -> Bool {
        message.role == other.message.role && message.content ?? "" == other.message.content ?? ""
            && message.toolCalls.map(\.name) == other.message.toolCalls.map(\.name)
            && message.toolCallID == other.message.toolCallID && provider == other.provider
    }
}
