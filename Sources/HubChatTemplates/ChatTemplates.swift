public import HubCore
import ModelFormats

/// The chat templates of one model by name, most often the one called `default`.
public struct ChatTemplates: Sendable {
    /// The name of the general template.
    public static let defaultName = "default"
    /// The name of the template used when there are tools.
    public static let toolName = "tool_use"

    private let templates: [(name: String, source: String, path: String)]
    /// The special tokens available to templates: `bos_token`, `eos_token` and so on.
    public let specialTokens: JSONObject

    /// The names, sorted.
    public var names: [String] { templates.map(\.name) }

    private init(_ templates: [(name: String, source: String, path: String)], _ specialTokens: JSONObject) {
        self.templates = templates.sorted { $0.name < $1.name }
        self.specialTokens = specialTokens
    }

    /// A single template that replaces a model's own.
    public init(_ source: String, path: String, specialTokens: JSONObject = [:]) {
        self.init([(Self.defaultName, source, path)], specialTokens)
    }

    /// Renders a conversation with the matching template. The model's special tokens are variables unless the options
    /// set them.
    ///
    /// - Throws: what ``template(named:hasTools:)`` and ``ChatTemplate/render(json:_:)`` throw.
    public func render(
        json messages: [JSON], _ options: ChatTemplate.Options = ChatTemplate.Options()
    ) throws(AIError) -> ChatTemplate.Rendering {
        var options = options
        for (name, token) in specialTokens.members where options.variables[name] == nil {
            options.variables[name] = token
        }
        return try template(hasTools: options.tools != nil).render(json: messages, options)
    }

    /// The template for a conversation.
    ///
    /// - Parameters:
    ///   - name: The requested template; nil for `tool_use` if there are tools and such a template, else `default`.
    ///   - hasTools: Whether there are tools.
    /// - Throws: ``ErrorCode/invalidInput`` listing the names if there is no such template; what
    ///   ``ChatTemplate/init(_:path:)`` throws.
    public func template(named name: String? = nil, hasTools: Bool = false) throws(AIError) -> ChatTemplate {
        let wanted = name ?? (hasTools && names.contains(Self.toolName) ? Self.toolName : Self.defaultName)
        guard let found = templates.first(where: { $0.name == wanted }) else {
            let what =
                name.map { "there is no chat template named \($0)" } ?? "none of the chat templates is the default"
            throw AIError(.invalidInput, "\(what); the model's are: \(names.joined(separator: ", "))")
        }
        return try ChatTemplate(found.source, path: found.path)
    }

    // MARK: - A model's folder

    /// Reads the templates of a model: those of its folder, else those of the GGUF model in it; or those of a GGUF file.
    ///
    /// - Returns: nil if it has none.
    /// - Throws: ``ErrorCode/malformedModel`` naming the file and what is wrong with it.
    public static func read(model path: String) throws(AIError) -> ChatTemplates? {
        if try FileSystem.status(path)?.kind == .directory, let found = try read(folder: path) { return found }
        guard let gguf = try GGUFModel.first(in: path) else { return nil }
        return try read(gguf: try GGUFFile(gguf))
    }

    /// Reads the templates of a folder as transformers does: `chat_template.jinja` and `additional_chat_templates/`, or
    /// else `chat_template` of tokenizer_config.json, a text, a list of names and texts, or texts by name; a
    /// processor's `chat_template.json` if there is nothing else.
    ///
    /// - Returns: nil if the folder has none.
    /// - Throws: ``ErrorCode/malformedModel`` naming the file and what is wrong with it.
    public static func read(folder: String) throws(AIError) -> ChatTemplates? {
        let configurationPath = Path.join(folder, "tokenizer_config.json")
        let configuration = try JSONFile.read(configurationPath)
        var templates = try files(folder)
        if templates.isEmpty, let value = configuration?["chat_template"] {
            templates = try list(value, configurationPath)
        }
        if templates.isEmpty {
            let path = Path.join(folder, "chat_template.json")
            if let value = try JSONFile.read(path)?["chat_template"] { templates = try list(value, path) }
        }
        guard !templates.isEmpty else { return nil }
        let map = try JSONFile.read(Path.join(folder, "special_tokens_map.json"))
        return ChatTemplates(templates, specialTokens(configuration, map))
    }

    private static func files(_ folder: String) throws(AIError) -> [(name: String, source: String, path: String)] {
        var found: [(name: String, source: String, path: String)] = []
        let main = Path.join(folder, "chat_template.jinja")
        if let source = try text(main) { found.append((defaultName, source, main)) }
        let more = Path.join(folder, "additional_chat_templates")
        guard FileSystem.exists(more) else { return found }
        for file in try FileSystem.entries(more) ?? [] where file.hasSuffix(".jinja") {
            let path = Path.join(more, file)
            guard let source = try text(path) else { continue }
            let name = String(file.dropLast(".jinja".count))
            // A default among these replaces chat_template.jinja.
            found.removeAll { $0.name == name }
            found.append((name, source, path))
        }
        return found
    }

    private static func text(_ path: String) throws(AIError) -> String? {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(path, "the chat template is not UTF-8")
        }
        return text
    }

    private static func list(
        _ value: JSON, _ path: String
    ) throws(AIError) -> [(name: String, source: String, path: String)] {
        if value == .null { return [] }
        if let source = value.string { return [(defaultName, source, path)] }
        let entries = value.array?.map { ($0["name"]?.string, $0["template"]?.string) }
        guard let entries = entries ?? value.object?.members.map({ ($0.key, $0.value.string) }) else {
            throw .malformed(path, "chat_template is neither a text nor a list of named templates")
        }
        var found: [(name: String, source: String, path: String)] = []
        for case let (name, source) in entries {
            guard let name, let source else {
                throw .malformed(path, "an entry of chat_template has no name or no template")
            }
            // Python keeps the last of two with the same name.
            found.removeAll { $0.name == name }
            found.append((name, source, path))
        }
        return found
    }

    /// Every member named like a special token, model-specific ones included. As in transformers, the map overrides a
    /// configuration without `added_tokens_decoder` and is ignored otherwise.
    /// https://github.com/huggingface/transformers/blob/v5.0.0/src/transformers/tokenization_utils_base.py
    private static func specialTokens(_ configuration: JSON?, _ map: JSON?) -> JSONObject {
        var members = configuration?.object ?? [:]
        if members["added_tokens_decoder"] == nil {
            for member in map?.object?.members ?? [] { members[member.key] = member.value }
        }
        var named = members.members.filter { $0.key.hasSuffix("_token") }
        named += members["extra_special_tokens"]?.object?.members ?? []
        var result = JSONObject()
        for (name, value) in named {
            guard let text = value.string ?? value["content"]?.string else { continue }
            result[name] = .string(text)
        }
        return result
    }

    // MARK: - GGUF

    /// The templates of a GGUF file: `tokenizer.chat_template` is the default, `tokenizer.chat_template.NAME` another.
    /// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    ///
    /// - Parameters:
    ///   - metadata: The file's string-valued pairs.
    ///   - specialTokens: The texts of the file's special tokens, by names such as `bos_token`.
    ///   - path: The file, for errors.
    /// - Returns: nil if the file has none.
    public static func gguf(
        _ metadata: some Sequence<(key: String, value: String)>, specialTokens: JSONObject, path: String
    ) -> ChatTemplates? {
        let key = "tokenizer.chat_template"
        var found: [(name: String, source: String, path: String)] = []
        for pair in metadata {
            if pair.key == key {
                found.append((defaultName, pair.value, path))
            } else if pair.key.hasPrefix(key + "."), pair.key.utf8.count > key.utf8.count + 1 {
                found.append((String(pair.key.dropFirst(key.count + 1)), pair.value, path))
            }
        }
        return found.isEmpty ? nil : ChatTemplates(found, specialTokens)
    }
}
