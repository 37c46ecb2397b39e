import HubCore

/// How one call is written between its markers.
enum CallSyntax: Sendable, Hashable {
    /// `{"name": "f", "arguments": {...}}`, several one after the other or in a list; the key of the arguments is that of
    /// the template, and either is read.
    case json(String)
    /// `[{"name": "f", "arguments": {...}, "id": "..."}]`, or `f[CALL_ID]id[ARGS]{...}`: Mistral before and after 2025.
    case listOrNamed
    /// `f<separator>{...}`, with `function<separator>f` and a block of Markdown in older models.
    case named(separator: String)
    /// `[{"name": "f", "arguments": {...}}]` with keys of its own, and perhaps one for an id, which counts from 0.
    case list(name: String, arguments: String, id: String? = nil)
    /// `[{"f": {...}}]`
    case keyed
    /// `[f(key="text", other=3)]`
    case python
    /// `f">` and `<｜DSML｜parameter name="key" string="true">text</｜DSML｜parameter>`, where the marker had the rest.
    case invocations
    /// `<function=f><parameter=key>value</parameter></function>`
    case parameters
    /// `f<key>name</key><value>text</value>`
    case elements(key: AnswerFormat.Brackets, value: AnswerFormat.Brackets)
    /// `call:f{key:<|"|>text<|"|>,other:3}`
    case marked
    /// gpt-oss's channels: the call's name is in the head of a message.
    case channels
}

/// Reads the text of calls.
struct CallParser {
    let syntax: CallSyntax
    /// The tools that the model knows, in the protocol's form: their schemas tell a text from a number.
    let tools: [JSON]

    /// The calls of a text between markers. What is not readable is a call all the same: its name may be empty, and its
    /// arguments not JSON.
    func calls(in body: String) -> [GeneratedToolCall] {
        let body = body.trimmed
        switch syntax {
        case .json, .channels, .list: return Self.json(body)
        case .keyed: return Self.keyed(body)
        case .python: return body.hasPrefix("[{") || body.hasPrefix("{") ? Self.json(body) : PythonCalls.read(body)
        case .invocations: return [invocation(body)]
        case .listOrNamed:
            return body.hasPrefix("[") || body.hasPrefix("{") ? Self.json(body) : [Self.bracketed(body)]
        case .named(let separator): return [Self.named(body, separator)]
        case .parameters: return parameters(body)
        case .elements(let key, let value): return [elements(body, key, value)]
        case .marked: return [Self.marked(body)]
        }
    }

    /// Whether there is such a tool.
    func knows(_ name: String) -> Bool { tools.contains { $0["function"]?["name"]?.string == name } }

    /// Whether a closing marker here would stand within a string of the call.
    func isWithinString(_ body: String) -> Bool {
        switch syntax {
        case .json, .list, .keyed: break
        default: return false
        }
        var (isInside, isEscaped) = (false, false)
        for byte in body.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = isInside
            } else if byte == UInt8(ascii: "\"") {
                isInside.toggle()
            }
        }
        return isInside
    }

    // MARK: JSON

    /// One call, a list of them, or several one after the other with `;`, `,` or space between them.
    private static func json(_ body: String) -> [GeneratedToolCall] {
        if let list = (try? JSON.parse(body))?.array { return list.map { call($0, written: $0.text()) } }
        if body.contains(".call("), !body.hasPrefix("{") { return [python(body)] }
        var calls: [GeneratedToolCall] = []
        for text in JSONPieces.split(body) {
            guard let json = try? JSON.parse(text) else { return calls + broken(list: text) }
            calls += json.array?.map { call($0, written: $0.text()) } ?? [call(json, written: text)]
        }
        return calls.isEmpty ? [broken(body)] : calls
    }

    private static func call(_ json: JSON, written text: String) -> GeneratedToolCall {
        let function = json["function"]?.object != nil ? json["function"] ?? json : json
        let arguments = function["arguments"] ?? function["parameters"]
        guard let name = (function["name"] ?? function["tool_name"])?.string else {
            return GeneratedToolCall(name: "", arguments: text)
        }
        return GeneratedToolCall(
            id: json["id"]?.string, name: name, arguments: arguments.map { $0.string ?? $0.text() } ?? "{}")
    }

    /// A list whose end is not JSON: the calls before it are whole.
    private static func broken(list text: String) -> [GeneratedToolCall] {
        guard text.hasPrefix("[") else { return [broken(text)] }
        var calls: [GeneratedToolCall] = []
        for text in JSONPieces.split(String(text.dropFirst())) {
            guard let json = try? JSON.parse(text) else { return calls + [broken(text)] }
            calls.append(call(json, written: text))
        }
        return calls.isEmpty ? [broken(text)] : calls
    }

    /// A call that is not JSON, or not whole: as much as can be read.
    private static func broken(_ text: String) -> GeneratedToolCall {
        func rest(behind key: String) -> Substring? {
            guard let range = text.firstRange(of: "\"\(key)\"") else { return nil }
            let after = text[range.upperBound...].drop { $0.isWhitespace }
            return after.first == ":" ? after.dropFirst().drop { $0.isWhitespace } : nil
        }
        let name = (rest(behind: "name") ?? rest(behind: "tool_name")).map {
            $0.dropFirst($0.first == "\"" ? 1 : 0).prefix { $0 != "\"" }
        }
        guard let name else { return GeneratedToolCall(name: "", arguments: text) }
        let arguments = rest(behind: "arguments") ?? rest(behind: "parameters")
        return GeneratedToolCall(name: String(name), arguments: String(arguments ?? ""))
    }

    /// `f.call(key="value", other=3)`, as Llama writes calls of its built-in tools.
    private static func python(_ body: String) -> GeneratedToolCall {
        guard let start = body.firstRange(of: ".call("), body.hasSuffix(")") else {
            return GeneratedToolCall(name: "", arguments: body)
        }
        let name = String(body[..<start.lowerBound])
        var arguments = JSONObject()
        for part in JSONPieces.split(String(body[start.upperBound...].dropLast()), at: ",") {
            guard let equals = part.firstIndex(of: "=") else {
                return GeneratedToolCall(name: name, arguments: part)
            }
            let value = String(part[part.index(after: equals)...]).trimmed
            arguments[String(part[..<equals]).trimmed] = (try? JSON.parse(value)) ?? .string(value)
        }
        return GeneratedToolCall(name: name, arguments: JSON.object(arguments).text())
    }

    /// `[{"f": {...}}, {"g": {...}}]`
    private static func keyed(_ body: String) -> [GeneratedToolCall] {
        guard let list = (try? JSON.parse(body))?.array else {
            let name = body.drop { "[{ \n\"".contains($0) }.prefix { $0 != "\"" }
            let rest = body[name.endIndex...].dropFirst().drop(while: \.isWhitespace)
            guard rest.first == ":", !name.isEmpty else { return [GeneratedToolCall(name: "", arguments: body)] }
            return [GeneratedToolCall(name: String(name), arguments: String(rest.dropFirst()).trimmed)]
        }
        return list.map { item in
            guard let members = item.object?.members, let member = members.first, members.count == 1 else {
                return call(item, written: item.text())
            }
            return GeneratedToolCall(name: member.key, arguments: member.value.string ?? member.value.text())
        }
    }

    // MARK: Names with arguments

    /// `f[CALL_ID]id[ARGS]{...}`; both marks may be missing.
    private static func bracketed(_ body: String) -> GeneratedToolCall {
        let name = body.prefix { $0 != "[" && $0 != "{" }
        var rest = body[name.endIndex...]
        var id: String?
        if rest.hasPrefix("[CALL_ID]") {
            rest = rest.dropFirst("[CALL_ID]".count)
            let text = rest.prefix { $0 != "[" }
            id = String(text)
            rest = rest[text.endIndex...]
        }
        if rest.hasPrefix("[ARGS]") { rest = rest.dropFirst("[ARGS]".count) }
        return GeneratedToolCall(id: id, name: String(name).trimmed, arguments: String(rest).trimmed)
    }

    /// `f<separator>{...}`, `function<separator>f` and a block of JSON, `functions.f:0<separator>{...}`, whose whole name
    /// is the id.
    private static func named(_ body: String, _ separator: String) -> GeneratedToolCall {
        guard let range = body.firstRange(of: separator) else {
            return GeneratedToolCall(name: body, arguments: "")
        }
        var name = String(body[..<range.lowerBound]).trimmed
        var arguments = String(body[range.upperBound...]).trimmed
        if name == "function", !arguments.hasPrefix("{") {
            let line = arguments.prefix { !$0.isNewline }
            (name, arguments) = (String(line).trimmed, String(arguments[line.endIndex...]).trimmed)
            if arguments.hasPrefix("```") { arguments = String(arguments.drop { !$0.isNewline }).trimmed }
            if arguments.hasSuffix("```") { arguments = String(arguments.dropLast(3)).trimmed }
        }
        guard let short = name.dropping(prefix: "functions.") else {
            return GeneratedToolCall(name: name, arguments: arguments)
        }
        return GeneratedToolCall(id: name, name: String(short.prefix { $0 != ":" }), arguments: arguments)
    }

    // MARK: Elements

    /// `<function=f><parameter=key>value</parameter></function>`, once or more.
    private func parameters(_ body: String) -> [GeneratedToolCall] {
        let functions = body.parts(behind: "<function=")
        guard !functions.isEmpty else { return [GeneratedToolCall(name: "", arguments: body)] }
        return functions.map { text in
            let name = String(text.prefix { $0 != ">" }).trimmed
            var arguments = JSONObject()
            for part in text.parts(behind: "<parameter=") {
                let key = String(part.prefix { $0 != ">" }).trimmed
                let value = part.dropFirst(key.count).drop { $0 != ">" }.dropFirst()
                let end = value.firstRange(of: "</parameter>")?.lowerBound ?? value.endIndex
                arguments[key] = argument(String(value[..<end]), key, of: name)
            }
            return GeneratedToolCall(name: name, arguments: JSON.object(arguments).text())
        }
    }

    /// `f">` and its parameters, each of which says whether it is a text.
    private func invocation(_ body: String) -> GeneratedToolCall {
        let name = String(body.prefix { $0 != "\"" && $0 != ">" }).trimmed
        var arguments = JSONObject()
        for part in body.parts(behind: "<｜DSML｜parameter name=\"") {
            let key = String(part.prefix { $0 != "\"" })
            let head = part.dropFirst(key.count).prefix { $0 != ">" }
            let value = part[head.endIndex...].dropFirst()
            let end = value.firstRange(of: "</｜DSML｜parameter>")?.lowerBound ?? value.endIndex
            let text = String(value[..<end])
            arguments[key] =
                head.contains("string=\"false\"")
                ? (try? JSON.parse(text)) ?? .string(text)
                : head.contains("string=") ? .string(text) : argument(text, key, of: name)
        }
        return GeneratedToolCall(name: name, arguments: JSON.object(arguments).text())
    }

    /// `f<key>name</key><value>text</value>`
    private func elements(
        _ body: String, _ key: AnswerFormat.Brackets, _ value: AnswerFormat.Brackets
    ) -> GeneratedToolCall {
        let start = body.firstRange(of: key.opening)?.lowerBound ?? body.endIndex
        let name = String(body[..<start]).trimmed
        var arguments = JSONObject()
        for part in body.parts(behind: key.opening) {
            guard let keyEnd = part.firstRange(of: key.closing), let begin = part.firstRange(of: value.opening)
            else { return GeneratedToolCall(name: name, arguments: body) }
            let text = part[begin.upperBound...]
            let end = text.firstRange(of: value.closing)?.lowerBound ?? text.endIndex
            let argumentName = String(part[..<keyEnd.lowerBound]).trimmed
            arguments[argumentName] = argument(String(text[..<end]), argumentName, of: name)
        }
        return GeneratedToolCall(name: name, arguments: JSON.object(arguments).text())
    }

    /// A value that is written as plain text: what the schema says of it. One line break on each side belongs to the form.
    private func argument(_ text: String, _ key: String, of name: String) -> JSON {
        var text = text[...]
        if text.first == "\n" { text = text.dropFirst() }
        if text.last == "\n" { text = text.dropLast() }
        let function = tools.lazy.compactMap { $0["function"] }.first { $0["name"]?.string == name }
        let parameters = function?["parameters"] ?? .object([:])
        guard let schema = parameters["properties"]?[key], !TextualSchema(root: parameters).allowsText(schema),
            let json = try? JSON.parse(String(text))
        else { return .string(String(text)) }
        return json
    }

    // MARK: Gemma

    /// `call:f{key:value}`
    private static func marked(_ body: String) -> GeneratedToolCall {
        let text = body.dropping(prefix: "call:") ?? body
        let name = text.prefix { $0 != "{" }
        var reader = MarkedValueReader(text[name.endIndex...])
        let arguments = reader.object().map { JSON.object($0).text() }
        return GeneratedToolCall(
            name: String(name).trimmed, arguments: arguments ?? String(text[name.endIndex...]))
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The texts behind each of a marker, up to the next.
    fileprivate func parts(behind marker: String) -> [Substring] {
        var found: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: marker) {
            rest = rest[range.upperBound...]
            found.append(rest[..<(rest.firstRange(of: marker)?.lowerBound ?? rest.endIndex)])
        }
        return found
    }
}
