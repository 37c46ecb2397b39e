import HubCore
import Support
import Testing

@testable import HubChatTemplates

/// Chat templates in use: sources, inputs and error messages.
@Suite struct ChatTemplateTests {
    private func fault(_ source: String, _ messages: [Message] = [.user("Hi")]) throws -> AIError {
        try #require(
            throws: AIError.self,
            performing: { _ = try ChatTemplate(source, path: "m/t.jinja").render(messages) })
    }

    // MARK: Errors

    @Test func anErrorNamesTheFileTheLineAndWhat() throws {
        let syntax = try fault("a\n{% if x %}\n{{ y }\n{% endif %}")
        #expect(syntax.message == "m/t.jinja: chat template, line 3: unexpected '}'")
        #expect(syntax.code == .malformedModel)
        #expect(syntax.context.path == "m/t.jinja")
        let tag = try fault("{% for m in messages %}\n\n{% endif %}")
        #expect(
            tag.message
                == "m/t.jinja: chat template, line 3: Encountered unknown tag 'endif'. Jinja was looking for "
                + "the following tags: 'endfor' or 'else'. The innermost block that needs to be closed is 'for'.")
        let missing = try fault("{%- for m in messages %}\n{{- m.role }}\n{{- m.tool.name }}\n{%- endfor %}")
        #expect(missing.message == "m/t.jinja: chat template, line 3: 'dict object' has no attribute 'tool'")
        #expect(missing.code == .malformedModel)
        let inMacro = try fault("{% macro f(x) %}\n{{ x + 1 }}\n{% endmacro %}\n\n{{ f('a') }}")
        #expect(
            inMacro.message == "m/t.jinja: chat template, line 2: can only concatenate str (not \"int\") to str")
    }

    @Test func aRefusalIsTheConversationsFault() throws {
        let error = try fault("\n{{ raise_exception('roles must alternate') }}")
        #expect(error.code == .invalidInput)
        #expect(error.exitStatus == 2)
        #expect(
            error.message
                == "m/t.jinja: chat template, line 2: the template refuses the conversation: roles must alternate")
    }

    @Test(arguments: [
        ("{% include 'x' %}", "a chat template cannot use 'include'"),
        ("{% autoescape true %}{% endautoescape %}", "a chat template cannot use 'autoescape'"),
        ("{{ 'x' | urlize }}", "the filter 'urlize' cannot be used in a chat template here"),
        ("{{ lipsum() }}", "lipsum(), which is random"), ("{{ 'x'.encode() }}", "bytes, which encode() gives"),
        ("{{ 99999999999999999999 }}", "the number 99999999999999999999 is too large"),
        ("{{ '\\N{DASH}' }}", "characters by name (\\N{...}) cannot be used"),
        ("{{ '1' * 30 | int }}", nil), ("{{ ('1' * 30) | int }}", "a number of more than 64 bits"),
    ])
    func whatIsNotSupportedIsNamed(source: String, message: String?) throws {
        guard let message else {
            #expect(try ChatTemplate(source, path: "x").render([]).text == String(repeating: "1", count: 30))
            return
        }
        let error = try fault(source)
        #expect(error.code == .unsupportedModel)
        #expect(error.message == "m/t.jinja: chat template, line 1: \(message)")
    }

    /// A tool's schema may have numbers that Python holds and 64 bits do not: they are written as they were, and refused
    /// where they are reckoned with.
    @Test func longNumbersKeepTheirDigits() throws {
        let tools = try JSON.parse(
            #"[{"maximum": 18446744073709551615, "minimum": -1180591620717411303424, "x": 1}]"#)
        func render(_ source: String) throws -> String {
            try ChatTemplate(source, path: "t").render([], .init(tools: tools.array)).text
        }
        #expect(
            try render("{{ tools|tojson }}")
                == #"[{"maximum": 18446744073709551615, "minimum": -1180591620717411303424, "x": 1}]"#)
        #expect(
            try render("{{ tools[0].maximum }} {{ tools[0].minimum is integer }}") == "18446744073709551615 True")
        for use in ["+ 1", "|abs", "|int", "|round", "< 5", "== 1.5", "* 'a'"] {
            let error = try #require(
                throws: AIError.self, performing: { _ = try render("{{ tools[0].maximum \(use) }}") })
            #expect(error.code == .unsupportedModel)
            #expect(
                error.message == "t: chat template, line 1: a number of more than 64 bits (18446744073709551615)")
        }
    }

    @Test func theSandboxHoldsBack() throws {
        for source in [
            "{{ ''.__class__.__mro__ }}", "{{ messages.__class__() }}", "{{ messages.append(1) }}",
            "{{ messages[0].update({}) }}", "{{ '{0.__class__.__init__}'.format(1) }}",
            "{{ (''|attr('__class__'))() }}", "{{ namespace.__init__.__globals__ }}",
            "{{ cycler.__init__.__globals__ }}", "{{ raise_exception.__globals__['x'] }}",
        ] {
            #expect(try fault(source).code == .malformedModel)
        }
        // As in Jinja: unsafe attributes are undefined, and an error only when used.
        #expect(try ChatTemplate("[{{ ''.__class__ }}]", path: "x").render([]).text == "[]")
    }

    @Test func aTemplateOfAMegabyteIsRefused() throws {
        let error = try fault(String(repeating: "x", count: (1 << 20) + 1))
        #expect(error.message == "m/t.jinja: the chat template has more than 1048576 bytes")
    }

    // MARK: What a template is given

    @Test func messagesAndOptionsReachTheTemplate() throws {
        let template = try ChatTemplate(
            """
            {{ messages|tojson }}
            {{ tools|tojson }} {{ documents|tojson }} {{ add_generation_prompt }} {{ bos_token }} {{ extra.deep }}
            """, path: "x")
        let messages: [Message] = [
            .system("S"),
            Message(
                role: .assistant, content: nil, reasoning: "hm",
                toolCalls: [Message.ToolCall(id: "1", name: "f", arguments: ["x": 1])]),
            .tool("r", callID: "1", name: "f"),
        ]
        let options = ChatTemplate.Options(
            tools: [.object(["name": "f"])], documents: [], addsGenerationPrompt: false,
            variables: ["bos_token": "<s>", "extra": .object(["deep": "d"])])
        #expect(
            try template.render(messages, options).text == """
                [{"role": "system", "content": "S"}, {"thinking": "hm", "role": "assistant", \
                "reasoning_content": "hm", "tool_calls": [{"id": "1", "type": "function", \
                "function": {"name": "f", "arguments": {"x": 1}}}]}, \
                {"role": "tool", "content": "r", "tool_call_id": "1", "name": "f"}]
                [{"name": "f"}] [] False <s> d
                """)
        let bare = try ChatTemplate(
            "{{ tools is none }}{{ documents is none }}{{ bos_token is defined }}", path: "x")
        #expect(try bare.render([]).text == "TrueTrueFalse")
    }

    /// Whatever name a message uses for its reasoning, templates find it under both names they read.
    @Test(arguments: ["reasoning_content", "thinking", "reasoning"])
    func thoughtsAreFoundUnderEveryName(name: String) throws {
        let template = try ChatTemplate("{{ messages[0].reasoning_content }}{{ messages[0].thinking }}", path: "x")
        let message = JSON.object(JSONObject([("role", "assistant"), (name, "hm")]))
        #expect(try template.render(json: [message]).text == "hmhm")
    }

    @Test func generationBlocksTellWhatIsLearned() throws {
        let template = try ChatTemplate(Fixtures.text("chat-templates/families/generation-blocks.jinja"), path: "x")
        let rendering = try template.render([.user("é👋"), .assistant("Ja — 是"), .user("2"), .assistant("b")])
        let scalars = Array(rendering.text.unicodeScalars)
        let learned = rendering.generated.map { range in
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars[range])
            return text
        }
        #expect(learned == ["Ja — 是", "b"])
    }

    @Test func theTimeIsThisMachines() throws {
        let template = try ChatTemplate("{{ strftime_now('%Y') }}", path: "x")
        let year = try #require(Int(template.render([]).text))
        #expect(year >= 2025)
    }

    // MARK: Where templates are found

    @Test func aFolderWithoutATemplateHasNone() throws {
        let folder = try TemporaryFolder()
        #expect(try ChatTemplates.read(folder: folder.path) == nil)
        try folder.write("tokenizer_config.json", .object(["bos_token": "<s>"]))
        #expect(try ChatTemplates.read(folder: folder.path) == nil)
    }

    @Test func namedTemplatesOfTokenizerConfig() throws {
        let folder = try TemporaryFolder()
        let named: [JSON] = [
            .object(["name": "default", "template": "plain"]), .object(["name": "tool_use", "template": "tools"]),
            .object(["name": "rag", "template": "documents"]),
        ]
        try folder.write(
            "tokenizer_config.json",
            .object([
                "chat_template": .array(named), "bos_token": .object(["content": "<s>", "lstrip": false]),
                "eos_token": "</s>", "pad_token": .null, "image_token": "<img>", "add_bos_token": true,
                "extra_special_tokens": .object(["audio_token": "<wav>"]),
            ]))
        try folder.write("special_tokens_map.json", .object(["eos_token": "</t>", "unk_token": "<unk>"]))
        let templates = try #require(try ChatTemplates.read(folder: folder.path))
        #expect(templates.names == ["default", "rag", "tool_use"])
        let tokens: JSONObject = [
            "bos_token": "<s>", "eos_token": "</t>", "unk_token": "<unk>", "image_token": "<img>",
            "audio_token": "<wav>",
        ]
        #expect(templates.specialTokens.members.count == 5)
        for (name, token) in tokens.members { #expect(templates.specialTokens[name] == token) }
        #expect(try templates.template().source == "plain")
        #expect(try templates.template(hasTools: true).source == "tools")
        #expect(try templates.template(named: "rag", hasTools: true).source == "documents")
        let error = try #require(throws: AIError.self, performing: { _ = try templates.template(named: "nope") })
        #expect(error.code == .invalidInput)
        #expect(
            error.message == "there is no chat template named nope; the model's are: default, rag, tool_use")
    }

    /// A configuration that holds the added tokens holds the special ones too, whatever the older map says.
    @Test func specialTokensOfNewerConfigurations() throws {
        let folder = try TemporaryFolder()
        try folder.write("chat_template.jinja", Array("{{ eos_token }}{{ unk_token }}".utf8))
        try folder.write("special_tokens_map.json", .object(["eos_token": "</t>", "unk_token": "<unk>"]))
        try folder.write(
            "tokenizer_config.json", .object(["eos_token": "</s>", "added_tokens_decoder": .object([:])]))
        #expect(try ChatTemplates.read(folder: folder.path)?.render(json: []).text == "</s>")
    }

    @Test func templatesByName() throws {
        let folder = try TemporaryFolder()
        let named: JSONObject = ["default": "plain", "tool_use": "tools"]
        try folder.write("tokenizer_config.json", .object(["chat_template": .object(named)]))
        let templates = try #require(try ChatTemplates.read(folder: folder.path))
        #expect(try templates.template().source == "plain")
        #expect(try templates.template(hasTools: true).source == "tools")
        try folder.write("tokenizer_config.json", .object(["chat_template": .null]))
        #expect(try ChatTemplates.read(folder: folder.path) == nil)
    }

    @Test func aMemberThatIsNullIsAbsent() throws {
        let template = try ChatTemplate(
            "{% for m in messages %}{{ m.content is defined }}{{ m.thinking }}{{ m.parts }}{% endfor %}", path: "x")
        let message: JSON = .object([
            "role": "user", "content": .null, "thinking": .null, "reasoning": "well", "parts": .array([.null]),
        ])
        #expect(try template.render(json: [message]).text == "Falsewell[None]")
    }

    @Test func filesOfTemplatesComeFirst() throws {
        let folder = try TemporaryFolder()
        try folder.write("tokenizer_config.json", .object(["chat_template": "old"]))
        try folder.write("chat_template.json", .object(["chat_template": "older"]))
        #expect(try ChatTemplates.read(folder: folder.path)?.template().source == "old")
        try folder.write("chat_template.jinja", Array("new".utf8))
        try FileSystem.createDirectories(folder("additional_chat_templates"))
        try folder.write("additional_chat_templates/tool_use.jinja", Array("more".utf8))
        try folder.write("additional_chat_templates/README.md", Array("no template".utf8))
        let templates = try #require(try ChatTemplates.read(folder: folder.path))
        #expect(templates.names == ["default", "tool_use"])
        #expect(try templates.template().source == "new")
        let tools = try templates.template(hasTools: true)
        #expect(tools.source == "more")
        #expect(tools.path == folder("additional_chat_templates/tool_use.jinja"))
        try folder.write("additional_chat_templates/default.jinja", Array("newest".utf8))
        #expect(try ChatTemplates.read(folder: folder.path)?.template().source == "newest")
    }

    @Test func aProcessorsTemplateServesWhereThereIsNoOther() throws {
        let folder = try TemporaryFolder()
        try folder.write("chat_template.json", .object(["chat_template": "seen"]))
        #expect(try ChatTemplates.read(folder: folder.path)?.template().source == "seen")
    }

    @Test func brokenFilesAreNamed() throws {
        let folder = try TemporaryFolder()
        try folder.write("tokenizer_config.json", .object(["chat_template": 5]))
        func message() throws -> String {
            try #require(throws: AIError.self, performing: { _ = try ChatTemplates.read(folder: folder.path) })
                .message
        }
        let configuration = folder("tokenizer_config.json")
        #expect(
            try message() == "\(configuration): chat_template is neither a text nor a list of named templates")
        try folder.write("tokenizer_config.json", .object(["chat_template": .array([.object(["name": "x"])])]))
        #expect(try message() == "\(configuration): an entry of chat_template has no name or no template")
        try folder.write("chat_template.jinja", [0x7B, 0xFF, 0x7D])
        #expect(try message() == "\(folder("chat_template.jinja")): the chat template is not UTF-8")
    }

    @Test func templatesOfGGUF() throws {
        let pairs = [
            (key: "general.name", value: "x"), (key: "tokenizer.chat_template", value: "plain"),
            (key: "tokenizer.chat_template.tool_use", value: "tools"),
            (key: "tokenizer.chat_template.", value: "no"),
        ]
        let templates = try #require(
            ChatTemplates.gguf(pairs, specialTokens: ["bos_token": "<s>"], path: "m.gguf"))
        #expect(templates.names == ["default", "tool_use"])
        #expect(templates.specialTokens == ["bos_token": "<s>"])
        #expect(try templates.template(hasTools: true).source == "tools")
        #expect(try templates.template().path == "m.gguf")
        #expect(ChatTemplates.gguf(pairs.prefix(1), specialTokens: [:], path: "m.gguf") == nil)
        let onlyTools = try #require(ChatTemplates.gguf(pairs[2...2], specialTokens: [:], path: "m.gguf"))
        let error = try #require(throws: AIError.self, performing: { _ = try onlyTools.template() })
        #expect(error.message == "none of the chat templates is the default; the model's are: tool_use")
    }
}
