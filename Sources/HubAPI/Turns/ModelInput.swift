import HubCore

/// What becomes a vector or labels, or is ranked: a text or a picture.
enum ModelInput: Sendable {
    case text(String)
    case picture(SentPicture)

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var isPicture: Bool { text == nil }

    // MARK: Reading

    /// The inputs of a request: those of a field, a text or a picture each, or vLLM's `messages`, which are one.
    ///
    /// Pictures come as llama.cpp's `prompt_string` with `multimodal_data`, as parts of messages (`image_url`), as
    /// `{"image": ...}`, as data URLs, and as base64 with `"modality": "image"`.
    ///
    /// - Parameter names: the field's names, of which the first that is there counts.
    /// - Throws: 400 for anything else, and for nothing.
    static func inputs(_ fields: Fields, _ names: String...) throws(APIFault) -> [ModelInput] {
        try fields.refuse("mm_processor_kwargs", "pictures are prepared as the model's files say")
        let name = names.first(where: fields.has) ?? names[0]
        if let messages = try fields.array("messages") {
            guard !fields.has(name) else {
                throw .invalid("'\(name)' and 'messages' are two requests", param: "messages")
            }
            return [try conversation(messages)]
        }
        // Some clients send ids of another model's tokenizer, which would make wrong vectors without a word.
        if fields.hasTokenIDs(name) {
            throw .invalid(
                "'\(name)' must be text: ids of tokens are not taken (LangChain: check_embedding_ctx_length=False)",
                param: name)
        }
        let value = try fields.required(name, fields[name])
        let arePictures = try modality(fields)
        var inputs: [ModelInput] = []
        for (number, json) in (value.array ?? [value]).enumerated() {
            inputs.append(try input(json, value.array == nil ? name : "\(name)[\(number)]", arePictures))
        }
        try check(inputs, name)
        return inputs
    }

    /// - Throws: 400 for no input, and for too many pictures.
    static func check(_ inputs: [ModelInput], _ name: String) throws(APIFault) {
        guard !inputs.isEmpty else { throw .invalid("'\(name)' is empty", param: name) }
        guard inputs.count(where: \.isPicture) <= SentPicture.most else {
            throw .invalid("'\(name)' has more than \(SentPicture.most) pictures", param: name)
        }
    }

    /// Whether texts of the request are pictures: infinity's `modality`.
    private static func modality(_ fields: Fields) throws(APIFault) -> Bool {
        switch try fields.string("modality") {
        case nil, "text", "auto": return false
        case "image": return true
        default: throw .invalid("'modality' must be text or image", param: "modality", code: "unsupported_value")
        }
    }

    /// One input.
    ///
    /// - Parameter isPicture: whether a text is a picture, too.
    static func input(_ json: JSON, _ place: String, _ isPicture: Bool = false) throws(APIFault) -> ModelInput {
        if let text = json.string {
            // No one wants the vector of such a text.
            let isData = text.prefix(11).lowercased() == "data:image/"
            return isPicture || isData ? .picture(try SentPicture(text, place)) : .text(text)
        }
        guard let object = json.object else {
            throw .invalid("'\(place)' must be a text or a picture", param: place)
        }
        let fields = Fields(object, prefix: place + ".")
        let found: [ModelInput]
        if fields.has("multimodal_data") || fields.has("prompt_string") {
            found = try llama(fields, place)
        } else if let content = fields["content"] {
            found = try parts(content, place + ".content")
        } else {
            found = try part(fields, place)
        }
        return try one(of: found, place)
    }

    /// A model here has vectors of texts and of pictures, and none of both together.
    private static func one(of said: [ModelInput], _ place: String) throws(APIFault) -> ModelInput {
        // An empty text says nothing beside a picture.
        let pictures = said.filter(\.isPicture)
        let isWordless = said.allSatisfy { $0.text?.allSatisfy(\.isWhitespace) ?? true }
        let inputs = isWordless && !pictures.isEmpty ? pictures : said
        guard inputs.count == 1 else {
            throw .invalid(
                inputs.isEmpty
                    ? "'\(place)' has neither a text nor a picture"
                    : "'\(place)' must be one text or one picture; models here read no two together", param: place)
        }
        return inputs[0]
    }

    /// llama.cpp's prompt, where a mark stands for each picture. https://github.com/ggml-org/llama.cpp, tools/server
    private static func llama(_ fields: Fields, _ place: String) throws(APIFault) -> [ModelInput] {
        let data = try fields.array("multimodal_data") ?? []
        let text = try fields.string("prompt_string") ?? ""
        let marks = text.ranges(of: "<__media__>").count
        guard marks == data.count else {
            throw .invalid(
                "'\(place).prompt_string' has \(marks) marks <__media__> for \(data.count) pictures", param: place)
        }
        var found = [ModelInput.text(text.replacing("<__media__>", with: ""))]
        for (number, picture) in data.enumerated() {
            let place = "\(place).multimodal_data[\(number)]"
            guard let text = picture.string else { throw .invalid("'\(place)' must be base64", param: place) }
            found.append(.picture(try SentPicture(text, place)))
        }
        return found
    }

    /// The parts of a content: a text, or a list of them.
    static func parts(_ content: JSON, _ place: String) throws(APIFault) -> [ModelInput] {
        if let text = content.string { return [.text(text)] }
        guard let list = content.array else {
            throw .invalid("'\(place)' must be a text or a list of parts", param: place)
        }
        var found: [ModelInput] = []
        for (number, json) in list.enumerated() {
            let place = "\(place)[\(number)]"
            guard let object = json.object else { throw .invalid("'\(place)' must be an object", param: place) }
            found += try part(Fields(object, prefix: place + "."), place)
        }
        return found
    }

    /// A part of a content, or an object of Jina's form: `{"text": ...}`, `{"image": ...}`.
    private static func part(_ fields: Fields, _ place: String) throws(APIFault) -> [ModelInput] {
        switch try fields.string("type") {
        case nil, "text", "input_text", "image_url", "input_image", "image": break
        case "input_audio", "audio_url": throw .notSupported("no model here hears: '\(place)' has audio")
        case let type?: throw .invalid("'\(place)' has the type \"\(type.printable)\"", param: place)
        }
        var found: [ModelInput] = []
        if let text = try fields.string("text") { found.append(.text(text)) }
        for key in ["image", "image_url"] {
            guard let value = fields[key] else { continue }
            guard let address = value.string ?? value["url"]?.string else {
                throw .invalid("'\(place).\(key)' must be a data URL", param: "\(place).\(key)")
            }
            found.append(.picture(try SentPicture(address, "\(place).\(key)")))
        }
        return found
    }

    /// vLLM's `messages`, of which there is one vector.
    private static func conversation(_ messages: [JSON]) throws(APIFault) -> ModelInput {
        var found: [ModelInput] = []
        for (number, json) in messages.enumerated() {
            let place = "messages[\(number)]"
            guard let object = json.object else { throw .invalid("'\(place)' must be an object", param: place) }
            let fields = Fields(object, prefix: place + ".")
            let role = try fields.required("role", try fields.string("role"))
            guard role == "user" else {
                throw .invalid("'\(place).role' must be user: a vector is of what it says alone", param: place)
            }
            found += try parts(try fields.required("content", fields["content"]), place + ".content")
        }
        return try one(of: found, "messages")
    }
}
