import HubCore
import Support
import Testing

@testable import HubChatTemplates

/// Against Jinja as transformers sets it up; Tests/Peers/make_chat_goldens.py made the goldens.
@Suite(.largeStack) struct ChatGoldenTests {
    private static let clock = TemplateClock(
        year: 2026, month: 3, day: 4, hour: 5, minute: 6, second: 7, microsecond: 89)

    /// The difference of a rendering from the golden; nil if equal.
    private func difference(_ golden: JSON, _ render: () throws -> ChatTemplate.Rendering) throws -> String? {
        do {
            let rendering = try render()
            guard let expected = golden["rendered"]?.string else {
                return
                    "gives \(JSON.string(rendering.text).text()), the reference fails: \(golden["error"]?.string ?? "")"
            }
            if ExactText(rendering.text) != ExactText(expected) {
                return "gives    \(JSON.string(rendering.text).text())\nexpected \(JSON.string(expected).text())"
            }
            let ranges = golden["generated"]?.array?.map(\.ids)
            if let ranges, ranges != rendering.generated.map({ [$0.lowerBound, $0.upperBound] }) {
                return "generated \(rendering.generated), expected \(ranges)"
            }
            return nil
        } catch let error as AIError {
            return golden["error"] == nil ? "fails: \(error.message)" : nil
        }
    }

    @Test func expressionsAndStatements() throws {
        let document = try Fixtures.json("goldens/chat-expressions.json")
        let variables = try #require(document["variables"]?.object)
        let cases = try #require(document["cases"]?.array)
        #expect(cases.count > 1200)
        for golden in cases {
            let source = try #require(golden["template"]?.string)
            let difference = try difference(golden) {
                try ChatTemplate(source, path: "x").render(
                    variables: variables, limits: Jinja.Limits().untimed, clock: Self.clock)
            }
            if let difference { Issue.record("\(source)\n\(difference)") }
        }
    }

    @Test func templatesInTheMannerOfKnownFamilies() throws {
        let document = try Fixtures.json("goldens/chat-families.json")
        let settings = try #require(document["settings"]?.array)
        var templates: [String: ChatTemplate] = [:]
        let cases = try #require(document["cases"]?.array)
        #expect(cases.count > 300)
        for golden in cases {
            let name = try #require(golden["template"]?.string)
            if templates[name] == nil {
                templates[name] = try ChatTemplate(Fixtures.text("chat-templates/families/\(name)"), path: name)
            }
            let conversation = try #require(golden["conversation"]?.string)
            let messages = try #require(document["conversations"]?[conversation]?.array)
            let setting = try #require(golden["setting"]?.int)
            let options = try options(settings[Int(setting)])
            let difference = try difference(golden) {
                try #require(templates[name]).render(
                    json: messages, options, limits: Jinja.Limits().untimed, clock: Self.clock)
            }
            if let difference { Issue.record("\(name), \(conversation), \(setting)\n\(difference)") }
        }
    }

    private func options(_ setting: JSON) throws -> ChatTemplate.Options {
        var variables = try #require(setting.object)
        for name in ["tools", "documents", "add_generation_prompt"] { variables[name] = nil }
        variables["bos_token"] = variables["bos_token"] ?? "<s>"
        variables["eos_token"] = variables["eos_token"] ?? "</s>"
        return ChatTemplate.Options(
            tools: setting["tools"]?.array, documents: setting["documents"]?.array,
            addsGenerationPrompt: setting["add_generation_prompt"] == .bool(true), variables: variables)
    }

    @Test func templatesOfTheFixtures() throws {
        let cases = try #require(try Fixtures.json("goldens/chat-templates.json")["cases"]?.array)
        #expect(cases.count == 30)
        for golden in cases {
            let path = try #require(golden["template"]?.string)
            let template = try ChatTemplate(Fixtures.text(path), path: path)
            let messages = try #require(golden["messages"]?.array)
            let options = try options(golden)
            let difference = try difference(golden) { try template.render(json: messages, options) }
            if let difference { Issue.record("\(path)\n\(difference)") }
        }
    }

    /// The model's own template, from tokenizer_config.json and from chat_template.jinja.
    @Test(arguments: ["tiny-shakespeare", "tiny-shakespeare-mlx-4bit"])
    func templateOfTheModel(fixture: String) throws {
        let golden = try Fixtures.json("goldens/chat-tiny-shakespeare.json")
        let templates = try #require(try ChatTemplates.read(folder: Fixtures.path(fixture)))
        #expect(templates.names == ["default"])
        let template = try templates.template(hasTools: true)
        let messages = try #require(golden["messages"]?.array)
        for (addsPrompt, key) in [(false, "rendered"), (true, "rendered_with_generation_prompt")] {
            let options = ChatTemplate.Options(
                addsGenerationPrompt: addsPrompt, variables: templates.specialTokens)
            #expect(try template.render(json: messages, options).text == golden[key]?.string)
        }
        let typed: [Message] = [
            .system("You are a player at the Globe."), .user("  Who goes there?\n"),
            .assistant("A friend, my lord."),
        ]
        let options = ChatTemplate.Options(variables: templates.specialTokens)
        #expect(try template.render(typed, options).text == golden["rendered_with_generation_prompt"]?.string)
    }
}
