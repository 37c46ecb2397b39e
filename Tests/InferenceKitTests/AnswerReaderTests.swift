import HubChatTemplates
import HubCore
import Support
import Testing

@testable import InferenceKit

/// How models write calls, as their templates show it: each form is written by a template and read again.
@Suite struct AnswerReaderTests {
    /// An answer in the form of a template.
    struct Written: CustomStringConvertible, Sendable {
        /// In Tests/Fixtures/chat-templates/calls.
        var template: String
        /// As the template writes the calls.
        var calls: String
        /// What a model may write before them, and what of that is text.
        var before = "Let me look.\n"
        var text = "Let me look."
        /// What ends a thought in this form.
        var thought: (begin: String, end: String)?
        var description: String { template }
    }

    static let weather: JSON = try! JSON.parse(
        """
        {"type":"function","function":{"name":"weather","description":"Tells the weather.","parameters":{"type":"object",\
        "properties":{"place":{"type":"string"},"days":{"type":"integer"},"zip":{"type":"string"},\
        "units":{"type":"array","items":{"type":"string"}}},"required":["place"]}}}
        """)
    static let clock: JSON = try! JSON.parse(
        #"{"type":"function","function":{"name":"clock","description":"Tells the time.","parameters":{"type":"object"}}}"#
    )
    /// A text that looks like a number, and the marks of some forms within texts.
    static let arguments: JSONObject = [
        "days": 3, "place": "Paris \"<q>\"; {x}", "units": .array(["m", "°C 🙂"]), "zip": "01067",
    ]
    static let calls = [
        Message.ToolCall(id: "aaaaaaaa1", name: "weather", arguments: arguments),
        Message.ToolCall(id: "functions.clock:1", name: "clock"),
    ]

    static let json = #"{"days":3,"place":"Paris \"<q>\"; {x}","units":["m","°C 🙂"],"zip":"01067"}"#
    static let spaced = #"{"days": 3, "place": "Paris \"<q>\"; {x}", "units": ["m", "°C 🙂"], "zip": "01067"}"#

    static let all: [Written] = [
        Written(
            template: "hermes",
            calls:
                "<tool_call>\n{\"name\": \"weather\", \"arguments\": \(spaced)}\n</tool_call>\n<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>",
            thought: ("<think>\n", "\n</think>\n\n")),
        Written(
            template: "parameters",
            calls:
                "<tool_call>\n<function=weather>\n<parameter=days>\n3\n</parameter>\n<parameter=place>\nParis \"<q>\"; {x}\n</parameter>\n<parameter=units>\n[\"m\", \"°C 🙂\"]\n</parameter>\n<parameter=zip>\n01067\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=clock>\n</function>\n</tool_call>"
        ),
        Written(
            template: "elements",
            calls:
                "<tool_call>weather\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n<arg_key>place</arg_key>\n<arg_value>Paris \"<q>\"; {x}</arg_value>\n<arg_key>units</arg_key>\n<arg_value>[\"m\", \"°C 🙂\"]</arg_value>\n<arg_key>zip</arg_key>\n<arg_value>01067</arg_value>\n</tool_call><tool_call>clock\n</tool_call>",
            thought: ("<think>", "</think>\n")),
        Written(
            template: "bare",
            calls: "{\"name\": \"weather\", \"parameters\": \(spaced)}; {\"name\": \"clock\", \"parameters\": {}}",
            before: "", text: ""),
        Written(
            template: "list",
            calls:
                "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": \(spaced), \"id\": \"aaaaaaaa1\"}, {\"name\": \"clock\", \"arguments\": {}, \"id\": \"aaaaaaaa2\"}]"
        ),
        Written(
            template: "bracketed", calls: "[TOOL_CALLS]weather[ARGS]\(spaced)[TOOL_CALLS]clock[ARGS]{}",
            thought: ("[THINK]", "[/THINK]")),
        Written(
            template: "fenced",
            calls:
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n\(json)\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>clock\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            thought: ("<think>\n", "\n</think>\n\n")),
        Written(
            template: "named",
            calls:
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>\(json)<｜tool▁call▁end｜><｜tool▁call▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            thought: ("<think>", "</think>")),
        Written(
            template: "sections",
            calls:
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>\(spaced)<|tool_call_end|><|tool_call_begin|>functions.clock:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        ),
        Written(
            template: "marked",
            calls:
                "<|tool_call>call:weather{days:3,place:<|\"|>Paris \"<q>\"; {x}<|\"|>,units:[<|\"|>m<|\"|>,<|\"|>°C 🙂<|\"|>],zip:<|\"|>01067<|\"|>}<tool_call|><|tool_call>call:clock{}<tool_call|>",
            thought: ("<|channel>thought\n", "<channel|>")),
        Written(
            template: "channels",
            calls:
                "<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>\(spaced)<|call|><|start|>assistant to=functions.clock<|channel|>commentary json<|message|>{}",
            before: "<|channel|>commentary<|message|>Let me look.<|end|>",
            thought: ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant")),
        Written(
            template: "python",
            calls:
                #"<|tool_call_start|>[weather(days=3, place="Paris \"<q>\"; {x}", units=["m", "°C 🙂"], zip="01067"), clock()]<|tool_call_end|>"#
        ),
        Written(
            template: "quoted",
            calls:
                #"<|tool_call_start|>[weather(days=3, place='Paris "<q>"; {x}', units=['m', '°C 🙂'], zip='01067'), clock()]<|tool_call_end|>"#,
            thought: ("<think>", "</think>")),
        Written(
            template: "plain-list",
            calls: #"<|tool_call|>[{"name": "weather", "arguments": \#(json)}, {"name": "clock", "arguments": {}}]"#
        ),
        Written(
            template: "actions",
            calls:
                "<|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"weather\", \"parameters\": \(spaced)},\n    {\"tool_call_id\": \"1\", \"tool_name\": \"clock\", \"parameters\": {}}\n]<|END_ACTION|>",
            before: "", text: "", thought: ("<|START_THINKING|>", "<|END_THINKING|>")),
        Written(
            template: "action-block",
            calls:
                "Action: ```json\n[\n    {\n        \"tool_name\": \"weather\",\n        \"parameters\": \(spaced)\n    },\n    {\n        \"tool_name\": \"clock\",\n        \"parameters\": {}\n    }\n]```"
        ),
        Written(
            template: "keyed",
            calls: #"<|tools_prefix|>[{"weather": \#(json)}, {"clock": {}}]<|tools_suffix|>"#,
            thought: ("<|inner_prefix|>", "<|inner_suffix|>")),
        Written(
            template: "invocations", calls: dsml("function_calls"), thought: ("<think>", "</think>\n")),
        Written(template: "tool-invocations", calls: dsml("tool_calls"), thought: ("<think>", "</think>")),
        Written(
            template: "own-variable",
            calls:
                "<tool_call>\n{\"name\": \"weather\", \"arguments\": \(json)}\n</tool_call>\n<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>",
            thought: ("<think>\n", "\n</think>\n")),
        Written(
            template: "no-tools",
            calls:
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>\(json)<｜tool▁call▁end｜><｜tool▁call▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            thought: ("<think>", "</think>")),
    ]

    /// DeepSeek's elements, in a block of this name.
    private static func dsml(_ block: String) -> String {
        let values = [
            ("days", "false", "3"), ("place", "true", "Paris \"<q>\"; {x}"),
            ("units", "false", "[\"m\", \"°C 🙂\"]"),
            ("zip", "true", "01067"),
        ].map { "<｜DSML｜parameter name=\"\($0)\" string=\"\($1)\">\($2)</｜DSML｜parameter>\n" }.joined()
        return "<｜DSML｜\(block)>\n<｜DSML｜invoke name=\"weather\">\n\(values)</｜DSML｜invoke>\n"
            + "<｜DSML｜invoke name=\"clock\">\n</｜DSML｜invoke>\n</｜DSML｜\(block)>"
    }

    private func template(_ name: String) throws -> ChatTemplate {
        let path = try Fixtures.path("chat-templates/calls/\(name).jinja")
        return try ChatTemplate(
            String(decoding: Fixtures.bytes("chat-templates/calls/\(name).jinja"), as: UTF8.self), path: path)
    }

    private func reading(_ name: String) throws -> AnswerReading {
        AnswerReading(
            format: AnswerFormat(template: try template(name), tokenizer: nil),
            tools: [Self.weather, Self.clock])
    }

    /// What comes of an answer in pieces, each after the other. Nothing may show a part of a marker.
    private func read(_ pieces: [String], _ reading: AnswerReading) -> AnswerReader {
        var reader = AnswerReader(reading)
        for piece in pieces { _ = reader.add(piece) }
        _ = reader.finish(isCut: false)
        return reader
    }

    private func check(_ reader: AnswerReader, _ written: Written, reasoning: String = "") throws {
        #expect(reader.calls.map(\.name) == ["weather", "clock"], "\(reader)")
        #expect(try reader.calls.map { try $0.parsed().arguments } == [Self.arguments, [:]])
        #expect(reader.text == written.text && reader.reasoning == reasoning, "\(reader)")
    }

    @Test(arguments: all) func theTemplateWritesItSo(written: Written) throws {
        let template = try template(written.template)
        let format = AnswerFormat(template: template, tokenizer: nil)
        var calls = Self.calls
        if written.template == "list" { calls[1].id = "aaaaaaaa2" }
        if written.template == "sections" { calls[0].id = "functions.weather:0" }
        var messages = [
            Message.user("Hi"), Message(role: .assistant, content: nil, toolCalls: calls),
            .tool("Rain", callID: calls[0].id, name: "weather"), .tool("Noon", callID: calls[1].id, name: "clock"),
        ]
        var options = ChatTemplate.Options(variables: ["bos_token": "<s>", "eos_token": "</s>"])
        #expect(TemplateTools.areKnown(template, format))
        TemplateTools.offer([Self.weather, Self.clock], template, format, &options, &messages)
        let text = try TemplateTools.render(messages, template, format, options).text
        #expect(text.contains(written.calls), "\(text)")
        #expect(text.contains("Rain") && text.contains("Noon"))
        if ["own-variable", "no-tools"].contains(written.template) {
            // It is told of the tools all the same.
            #expect(text.contains("Tells the weather.") && text.contains("Tells the time."), "\(text)")
        }
    }

    @Test(arguments: all) func itIsReadWholeAndInPieces(written: Written) throws {
        let reading = try reading(written.template)
        let answer = written.before + written.calls
        try check(read([answer], reading), written)
        try check(read(answer.unicodeScalars.map { String($0) }, reading), written)
        let scalars = Array(answer.unicodeScalars)
        for cut in scalars.indices {
            let pieces = [scalars[..<cut], scalars[cut...]].map { String(String.UnicodeScalarView($0)) }
            try check(read(pieces, reading), written)
        }
    }

    /// What is shown grows by whole texts alone: at no cut is a marker, or a part of one, shown.
    @Test(arguments: all) func noPartOfAMarkerIsShown(written: Written) throws {
        var reader = AnswerReader(try reading(written.template))
        for scalar in (written.before + written.calls).unicodeScalars {
            _ = reader.add(String(scalar))
            #expect(written.text.hasPrefix(reader.text), "\(reader.text)")
        }
    }

    @Test(arguments: all.filter { $0.thought != nil }) func reasoningIsApart(written: Written) throws {
        let thought = try #require(written.thought)
        let answer = thought.begin + "I wonder <tool_call>." + thought.end + written.before + written.calls
        try check(
            read(answer.unicodeScalars.map { String($0) }, try reading(written.template)), written,
            reasoning: "I wonder <tool_call>.")
        guard written.template != "channels" else { return }
        // The prompt ends with the marker.
        var reading = try reading(written.template)
        reading.beginsInReasoning = true
        let rest = String(answer.dropFirst(thought.begin.count))
        try check(read([rest], reading), written, reasoning: "I wonder <tool_call>.")
        // Cut in the middle of a thought.
        let cut = read(["I won"], reading)
        #expect(cut.reasoning == "I won" && cut.text.isEmpty)
    }

    @Test(arguments: all) func withoutToolsNothingIsACall(written: Written) throws {
        var reading = try reading(written.template)
        reading.tools = []
        let reader = read([written.before + written.calls], reading)
        if written.template == "channels" {
            #expect(reader.calls.count == 2)
        } else {
            #expect(reader.calls.isEmpty && reader.text == written.before + written.calls)
        }
    }

    /// A demanded call is begun for the model, which goes on in the same form.
    @Test(arguments: all) func aDemandedCallIsBegun(written: Written) throws {
        var reading = try reading(written.template)
        let source = try template(written.template).source
        let opening = try #require(reading.format.opening(calling: "weather", template: source))
        let any = try #require(reading.format.opening(calling: nil, template: source))
        #expect(opening.hasPrefix(any))
        if written.template == "channels" {
            reading.opening = opening
            let reader = read([#"{"place": "Rome"}"#], reading)
            #expect(reader.calls == [GeneratedToolCall(name: "weather", arguments: #"{"place": "Rome"}"#)])
            return
        }
        // Lists over several lines are begun in one.
        let isLong = ["actions", "action-block"].contains(written.template)
        let calls =
            isLong ? written.calls.replacing(#/,\n */#, with: ", ").replacing(#/\n */#, with: "") : written.calls
        let start = try #require(calls.firstRange(of: opening), "\(opening) in \(calls)")
        reading.opening = opening
        let reader = read([String(calls[start.upperBound...])], reading)
        #expect(reader.calls.map(\.name) == ["weather", "clock"] && reader.text.isEmpty)
        #expect(try reader.calls[0].parsed().arguments == Self.arguments)
    }

    // MARK: What models write wrongly

    @Test func aCallThatIsCutKeepsItsNameAndWhatThereIs() throws {
        let text = #"<tool_call>{"name": "weather", "arguments": {"place": "Par"#
        let reader = read([text], try reading("hermes"))
        #expect(reader.calls == [GeneratedToolCall(name: "weather", arguments: #"{"place": "Par"#)])
        var cancelled = AnswerReader(try reading("hermes"))
        _ = cancelled.add(text)
        _ = cancelled.finish(isCut: true)
        #expect(cancelled.calls.isEmpty && cancelled.text.isEmpty)
    }

    /// What is there may be readable, and say something else.
    @Test(arguments: [
        ("parameters", "<tool_call><function=weather><parameter=place>/data/tm"),
        ("elements", "<tool_call>weather<arg_key>place</arg_key><arg_value>/data/tm"),
        ("hermes", #"<tool_call>{"name": "clock", "arguments":"#), ("bracketed", "[TOOL_CALLS]clock"),
        ("named", "<｜tool▁call▁begin｜>clock"),
        ("channels", "<|start|>assistant to=functions.clock<|channel|>commentary json<|message|>"),
    ]) func whatEndsWithinACallIsNoCall(template: String, text: String) throws {
        for reason in [
            FinishReason.length, .stopSequence, .contentFilter, .cancelled, .init(rawValue: "MAX_TOKENS"),
        ] {
            var reader = AnswerReader(try reading(template))
            _ = reader.add(text)
            _ = reader.finish(isCut: reason.isCut)
            #expect(reader.calls.isEmpty && reader.text.isEmpty, "\(reason)")
        }
        #expect(![FinishReason.stop, .toolCalls].contains { $0.isCut })
    }

    /// Models may begin with a line break before they reason, with and without tools.
    @Test func whiteSpaceBeforeReasoningIsNotTheAnswer() throws {
        for hasTools in [false, true] {
            var reading = try reading("hermes")
            if !hasTools { reading.tools = [] }
            for pieces in [["\n<think>Hm.</think>\nYes"], ["\n", "<think>", "Hm.", "</think>", "\n", "Yes"]] {
                let reader = read(pieces, reading)
                #expect(reader.reasoning == "Hm." && reader.text == "Yes", "\(hasTools) \(reader)")
            }
            #expect(read(["\n", "  Yes"], reading).text == "\n  Yes")
            #expect(read(["\n"], reading).text == "\n")
        }
    }

    /// Values without quotation marks are what the schema says, by whatever way it says it.
    @Test func plainValuesHaveTheTypeOfTheSchema() throws {
        let tool = try JSON.parse(
            """
            {"type":"function","function":{"name":"f","parameters":{"type":"object","$defs":{"n":{"type":"number"},\
            "loop":{"$ref":"#/$defs/loop"}},"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]},\
            "b":{"$ref":"#/$defs/n"},"c":{"enum":[1,2]},"d":{"anyOf":[{"type":"integer"},{"type":"string"}]},\
            "e":{"enum":["1","2"]},"f":{},"g":{"$ref":"#/$defs/loop"},"h":{"oneOf":[{"$ref":"#/$defs/n"}]}}}}}
            """)
        var reading = try reading("parameters")
        reading.tools = [tool]
        let values = "abcdefgh".map { "<parameter=\($0)>\n1\n</parameter>" }.joined()
        let reader = read(["<tool_call><function=f>\(values)</function></tool_call>"], reading)
        #expect(
            try reader.calls.map { try $0.parsed().arguments } == [
                ["a": 1, "b": 1, "c": 1, "d": "1", "e": "1", "f": "1", "g": "1", "h": 1]
            ])
    }

    @Test(arguments: [
        ("hermes", "<tool_call>\nI do not know.\n</tool_call>", "", "I do not know."),
        ("hermes", #"<tool_call>{"tool": "x"}</tool_call>"#, "", #"{"tool": "x"}"#),
        ("hermes", #"<tool_call>{"name": "clock"}</tool_call>"#, "clock", "{}"),
        ("hermes", #"<tool_call>{"name": "clock", "arguments": "{\"a\": 1}"}</tool_call>"#, "clock", #"{"a": 1}"#),
        (
            "hermes", #"<tool_call>{"name": "clock", "arguments": {"q": "</tool_call> literal"}}</tool_call>"#,
            "clock",
            #"{"q":"</tool_call> literal"}"#
        ),
        ("bracketed", "[TOOL_CALLS]clock", "clock", ""),
        ("bracketed", "[TOOL_CALLS]clock[CALL_ID]abc[ARGS]{}", "clock", "{}"),
        ("bracketed", "[TOOL_CALLS]clock{}", "clock", "{}"),
        ("marked", "<|tool_call>call:clock{a:[1,2}<tool_call|>", "clock", "{a:[1,2}"),
        ("bare", "<|python_tag|>clock.call(city=\"Rome\", n=2)", "clock", #"{"city":"Rome","n":2}"#),
        ("bare", "<|python_tag|>{\"name\": \"clock\", \"parameters\": {}}", "clock", "{}"),
        ("named", "<｜tool▁call▁begin｜>clock<｜tool▁call▁end｜>", "clock", ""),
        ("parameters", "<tool_call>clock()</tool_call>", "", "clock()"),
    ]) func whatIsNotReadableIsACallAllTheSame(
        template: String, text: String, name: String, arguments: String
    ) throws {
        let reader = read([text], try reading(template))
        #expect(reader.calls.map(\.name) == [name] && reader.calls.first?.arguments == arguments, "\(reader.calls)")
        #expect(reader.text.isEmpty)
    }

    @Test(arguments: [
        "{\"name\": \"Ann\", \"age\": 3}", "{\"names\": []}", "{\"name\": \"unknown\", \"parameters\": {}}", "{",
        "Hello {",
        "  [1, 2]",
    ]) func jsonThatIsNoCallIsText(answer: String) throws {
        for pieces in [[answer], answer.map { String($0) }] {
            let reader = read(pieces, try reading("bare"))
            #expect(reader.text == answer && reader.calls.isEmpty)
        }
    }

    /// JSON that is surely not a call is shown as it comes.
    @Test func jsonIsNotHeldBackForLong() throws {
        var reader = AnswerReader(try reading("bare"))
        #expect(reader.add("{\"na").text.isEmpty)
        #expect(reader.add("mes\": [").text == "{\"names\": [")
    }

    @Test func textBehindACallIsText() throws {
        let reader = read(
            [#"<tool_call>{"name": "clock", "arguments": {}}</tool_call>"#, "\n\nThat is all.\n"],
            try reading("hermes"))
        #expect(reader.text == "That is all." && reader.calls.count == 1)
    }

    @Test func anAnswerMaySpeakOfItsMarkers() throws {
        let answer = "Models write <think>, then </think>."
        for pieces in [[answer], answer.map { String($0) }] {
            let reader = read(pieces, try reading("hermes"))
            #expect(reader.text == answer && reader.reasoning.isEmpty && reader.calls.isEmpty)
        }
        // Nothing was said before: the end of a thought whose beginning is missing.
        #expect(read(["</think>\n\nHello"], try reading("hermes")).text == "Hello")
    }

    @Test func whiteSpaceOfAPlainAnswerStays() throws {
        let reader = read(["  Hello \n", "\n there \n"], try reading("hermes"))
        #expect(reader.text == "  Hello \n\n there \n")
    }

    @Test func anAnswerOfGptOssHasChannels() throws {
        let answer =
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>"
        let reader = read(answer.map { String($0) }, try reading("channels"))
        #expect(reader.reasoning == "Hm." && reader.text == "Hello." && reader.calls.isEmpty)
        #expect(read(["No heads at all"], try reading("channels")).text == "No heads at all")
    }

    /// GigaChat's template has room for one call.
    @Test func aTurnOfItsOwnIsACall() throws {
        let template = try template("turns")
        let format = AnswerFormat(template: template, tokenizer: nil)
        let call = Message.ToolCall(name: "weather", arguments: ["place": "Rome"])
        var messages = [Message.user("Hi"), .assistant("I look.", toolCalls: [call]), .tool("Rain")]
        var options = ChatTemplate.Options(variables: ["bos_token": "<s>"])
        TemplateTools.offer([Self.weather], template, format, &options, &messages)
        let text = try TemplateTools.render(messages, template, format, options).text
        let answer =
            "I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{\"name\": \"weather\", \"arguments\": {\"place\": \"Rome\"}}<|message_sep|>\n\n"
        #expect(
            text.contains("assistant<|role_sep|>\n" + answer) && text.hasSuffix("assistant<|role_sep|>\n"),
            "\(text)")
        let reading = AnswerReading(format: format, tools: [Self.weather])
        for pieces in [[answer], answer.map { String($0) }] {
            let reader = read(pieces, reading)
            #expect(reader.text == "I look." && reader.calls.map(\.name) == ["weather"], "\(reader)")
            #expect(try reader.calls.map { try $0.parsed().arguments } == [["place": "Rome"]])
        }
        #expect(read(["Hello.<|message_sep|>"], reading).text == "Hello.")
        let opening = try #require(format.opening(calling: "weather", template: template.source))
        var demanded = reading
        demanded.opening = opening
        #expect(read([#"{"place": "Rome"}}"#], demanded).calls.map(\.name) == ["weather"])
        #expect(answer.contains(opening))
    }

    /// What a model writes in these forms beside what its template shows.
    @Test(arguments: [
        // JSON between Python's marks, Python's other values, and quotes within quotes.
        ("python", #"<|tool_call_start|>[{"name": "clock", "arguments": {"a": 1}}]<|tool_call_end|>"#, #"{"a":1}"#),
        (
            "python",
            #"<|tool_call_start|>[clock(a=None, b=True, c=-1.5e3, d=('x', {"y": [False]}), e="tab\tü\u00e9\x41")]<|tool_call_end|>"#,
            #"{"a":null,"b":true,"c":-1500.0,"d":["x",{"y":[false]}],"e":"tab\tüéA"}"#
        ),
        (
            "quoted", "<|tool_call_start|>[clock(a='it's, well', b=2)]<|tool_call_end|>",
            #"{"a":"it's, well","b":2}"#
        ),
        // Cut, or not what it must be.
        ("python", "<|tool_call_start|>[clock(a=1, b=", "a=1, b="),
        ("python", "<|tool_call_start|>[clock(a=[1, 2}, b=3)]<|tool_call_end|>", "a=[1, 2}, b=3)]"),
        ("plain-list", #"<|tool_call|>[{"name": "clock", "arguments": {"a": "#, #"{"a":"#),
        ("plain-list", #"<|tool_call|>{"name": "clock", "arguments": {}}"#, "{}"),
        (
            "actions", #"<|START_ACTION|>[{"tool_name": "clock", "parameters": {"a": [}}]<|END_ACTION|>"#,
            #"{"a": [}}]"#
        ),
        ("action-block", "Action: ```json\n[{\"tool_name\": \"clock\", \"parameters\": {}}]\n```\n", "{}"),
        ("keyed", #"<|tools_prefix|>[{"clock": {"a": 1"#, #"{"a": 1"#),
        (
            "invocations",
            "<｜DSML｜invoke name=\"clock\"><｜DSML｜parameter name=\"a\">1</｜DSML｜parameter></｜DSML｜invoke>",
            #"{"a":"1"}"#
        ),
        (
            "invocations",
            "<｜DSML｜invoke name=\"clock\"><｜DSML｜parameter name=\"a\" string=\"false\">[1</｜DSML｜parameter></｜DSML｜invoke>",
            #"{"a":"[1"}"#
        ),
    ]) func otherSpellingsAreCalls(template: String, text: String, arguments: String) throws {
        let reader = read([text], try reading(template))
        #expect(reader.calls.map(\.name) == ["clock"] && reader.text.isEmpty, "\(reader)")
        let got = reader.calls.first?.arguments ?? ""
        // The same text, or the same value.
        let value = try? JSON.parse(arguments)
        #expect(got == arguments || value != nil && (try? JSON.parse(got)) == value, "\(got)")
    }

    /// `directly_answer` is not a call, and a block of code without calls is text.
    @Test func noToolIsNoCall() throws {
        let reading = try reading("action-block")
        let none = read([#"Action: ```json [{"tool_name": "directly_answer", "parameters": {}}]```"#], reading)
        #expect(none.calls.isEmpty && none.text.isEmpty)
        let code = "So:\n```swift\nlet a = 1\n```\nThat is it."
        for pieces in [[code], code.map { String($0) }] {
            #expect(read(pieces, reading).text == code)
        }
    }

    // MARK: The table

    @Test func noMarkerIsTheBeginningOfAnother() {
        for calls in AnswerFormat.calls {
            for reasoning in AnswerFormat.reasoning {
                let markers = Set(AnswerFormat(calls: calls, reasoning: reasoning).markers)
                for marker in markers {
                    #expect(!markers.contains { $0 != marker && $0.hasPrefix(marker) }, "\(marker)")
                }
            }
        }
    }

    @Test(arguments: ["chatml.jinja", "families/thinking-with-tools.jinja", "families/python-types.jinja"])
    func aTemplateWithoutKnownFormsHasNoCalls(name: String) throws {
        let source = String(decoding: try Fixtures.bytes("chat-templates/\(name)"), as: UTF8.self)
        #expect(AnswerFormat(template: source, tokenizer: nil).calls == nil)
    }
}
