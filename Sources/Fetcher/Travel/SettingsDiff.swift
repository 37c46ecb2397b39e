import HubCore
import ModelFormats

/// Differences of settings: configuration, tokenizer, chat template, metadata of weights.
struct SettingsDiff {
    let a: DiffSide
    let b: DiffSide
    /// The paths whose content differs.
    let changed: Set<String>

    init(_ a: DiffSide, _ b: DiffSide, changed: Set<String>) { (self.a, self.b, self.changed) = (a, b, changed) }

    /// Files of settings, and what is put before their keys.
    private static let documents = [
        ("config.json", ""), ("generation_config.json", "generation_config."),
        ("tokenizer_config.json", "tokenizer_config."), ("adapter_config.json", "adapter_config."),
        ("preprocessor_config.json", "preprocessor_config."), ("special_tokens_map.json", "special_tokens_map."),
    ]
    /// The largest document in bytes.
    private static let limit: Int64 = 4 << 20
    private static let tokenizerLimit: Int64 = 64 << 20

    func settings() async throws -> [ModelDiff.Setting] {
        var out: [ModelDiff.Setting] = []
        for (path, prefix) in Self.documents where changed.contains(path) {
            let one = try await values(path, prefix, a)
            let two = try await values(path, prefix, b)
            out += Self.differences(one, two)
        }
        if changed.contains("chat_template.jinja") {
            let one = try await a.contents("chat_template.jinja", limit: Self.limit)
            let two = try await b.contents("chat_template.jinja", limit: Self.limit)
            out.append(.init(key: "chat_template", from: one.map(Self.text), to: two.map(Self.text)))
        }
        if changed.contains("tokenizer.json") {
            out += Self.differences(try await tokenizer(a), try await tokenizer(b))
        }
        return out
    }

    private static func text(_ bytes: [UInt8]) -> JSON { .string(String(decoding: bytes, as: UTF8.self)) }

    private func values(_ path: String, _ prefix: String, _ side: DiffSide) async throws -> [String: JSON] {
        guard let bytes = try await side.contents(path, limit: Self.limit) else { return [:] }
        do throws(JSONError) {
            var out: [String: JSON] = [:]
            Self.flatten(try JSON.parsePython(bytes), prefix, into: &out)
            return out
        } catch { throw AIError.malformed("\(side.name)/\(path)", "\(error)", cause: error) }
    }

    /// Objects are taken apart, lists are values.
    private static func flatten(_ json: JSON, _ prefix: String, into out: inout [String: JSON]) {
        guard let object = json.object else {
            out[prefix.hasSuffix(".") ? String(prefix.dropLast()) : prefix] = json
            return
        }
        for (key, value) in object.members { flatten(value, prefix + key + ".", into: &out) }
    }

    private static func differences(_ a: [String: JSON], _ b: [String: JSON]) -> [ModelDiff.Setting] {
        Set(a.keys).union(b.keys).sorted().compactMap { key in
            a[key] == b[key] ? nil : ModelDiff.Setting(key: key, from: a[key], to: b[key])
        }
    }

    /// What a tokenizer.json is, in numbers: its lists are too long to show.
    private func tokenizer(_ side: DiffSide) async throws -> [String: JSON] {
        guard let bytes = try await side.contents("tokenizer.json", limit: Self.tokenizerLimit),
            let json = try? JSON.parsePython(bytes)
        else { return [:] }
        var out: [String: JSON] = [:]
        if let type = json["model"]?["type"] { out["tokenizer.type"] = type }
        let vocabulary = json["model"]?["vocab"]
        if let count = vocabulary?.object?.count ?? vocabulary?.array?.count {
            out["tokenizer.vocabulary"] = .int(Int64(count))
        }
        if let count = json["model"]?["merges"]?.array?.count { out["tokenizer.merges"] = .int(Int64(count)) }
        for token in json["added_tokens"]?.array ?? [] {
            guard let text = token["content"]?.string else { continue }
            out["tokenizer.added_tokens.\(text)"] = token["id"] ?? .null
        }
        for part in ["normalizer", "pre_tokenizer", "post_processor", "decoder"] {
            if let type = json[part]?["type"] { out["tokenizer.\(part)"] = type }
        }
        let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
        out["tokenizer.sha256"] = .string(digest)
        return out
    }

    /// Differences of what weight files say of themselves.
    static func metadata(_ a: TensorSpans, _ b: TensorSpans) -> [ModelDiff.Setting] {
        differences(a.metadata, b.metadata)
    }
}
