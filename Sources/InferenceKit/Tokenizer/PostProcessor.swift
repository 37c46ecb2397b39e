import HubCore
import ModelFormats

/// What a tokenizer puts around the ids of one text: `<|bos|>` before it and the like.
struct PostProcessor: Sendable {
    /// One round of additions, in the order of the file.
    private struct Template: Sendable {
        var before: [Int]
        var after: [Int]
    }

    private var templates: [Template] = []

    /// Reads `post_processor`; nil where it adds nothing.
    init(_ part: TokenizerComponent?) throws(AIError) {
        guard let part else { return }
        try add(part)
    }

    private mutating func add(_ part: TokenizerComponent) throws(AIError) {
        switch part.type {
        case "Sequence":
            try part.allowOnly(["processors"])
            for processor in try part.parts("processors") { try add(processor) }
        case "ByteLevel":
            // It moves the offsets of tokens, which nobody here asks for; ids stay as they are.
            try part.allowOnly(["add_prefix_space", "trim_offsets", "use_regex"])
        case "TemplateProcessing":
            try part.allowOnly(["single", "pair", "special_tokens"])
            templates.append(try Self.template(part))
        default:
            throw part.refuse("")
        }
    }

    private static func template(_ part: TokenizerComponent) throws(AIError) -> Template {
        guard let items = part["single"]?.array else {
            throw .malformed(part.path, "TemplateProcessing has no single")
        }
        var template = Template(before: [], after: [])
        var texts = 0
        for item in items {
            if let sequence = item["Sequence"] {
                guard sequence["id"]?.string == "A" else { throw part.refuse("a sequence other than A") }
                texts += 1
            } else if let name = item["SpecialToken"]?["id"]?.string {
                guard let ids = part["special_tokens"]?[name]?["ids"]?.array else {
                    throw .malformed(part.path, "TemplateProcessing does not say what \"\(name)\" is")
                }
                for id in ids {
                    guard let id = id.int, (0...Int64(Int32.max)).contains(id) else {
                        throw .malformed(part.path, "TemplateProcessing gives \"\(name)\" an id that is none")
                    }
                    if texts == 0 { template.before.append(Int(id)) } else { template.after.append(Int(id)) }
                }
            } else {
                throw .malformed(part.path, "TemplateProcessing has a piece that is no token and no sequence")
            }
        }
        guard texts == 1 else { throw part.refuse("\(texts) sequences in its single form") }
        return template
    }

    /// The ids of a text with what belongs around them.
    func process(_ ids: [Int]) -> [Int] { templates.reduce(ids) { $1.before + $0 + $1.after } }

    /// Every id that may be added.
    var addedIDs: [Int] { templates.flatMap { $0.before + $0.after } }
}
