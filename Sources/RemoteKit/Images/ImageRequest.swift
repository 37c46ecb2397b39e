import HubCore
import InferenceKit

/// The bodies that ask for a picture, by provider. A field that has no name there is refused.
struct ImageRequest: Sendable {
    let prompt: String
    let options: ImageOptions
    /// The provider, for errors.
    let name: String

    /// - Throws: ``ErrorCode/invalidInput`` for a value out of range.
    func check() throws(AIError) {
        func check(_ holds: Bool, _ what: String) throws(AIError) {
            if !holds { throw AIError(.invalidInput, what) }
        }
        try check(prompt.contains { !$0.isWhitespace }, "the prompt is empty")
        for (side, value) in [("width", options.width), ("height", options.height)] {
            try check(
                value.map { (1...65_536).contains($0) } ?? true, "the \(side) must be at least 1, not \(value ?? 0)"
            )
        }
        try check(options.steps.map { $0 >= 1 } ?? true, "the steps must be at least 1, not \(options.steps ?? 0)")
        try check(options.guidanceScale.map { $0.isFinite && $0 >= 0 } ?? true, "the guidance must be 0 or more")
    }

    private func refusal(_ what: String) -> AIError {
        AIError(
            .invalidInput, "\(name) cannot be given \(what)", advice: "leave it out, or choose another provider")
    }

    private var seed: JSON? {
        options.seed.map { seed in Int64(exactly: seed).map { .int($0) } ?? .longNumber(String(seed)) }
    }
    private var steps: JSON? { options.steps.map { .int(Int64($0)) } }
    private var guidance: JSON? { options.guidanceScale.map { .double($0) } }
    private var negative: JSON? { options.negativePrompt.map { .string($0) } }

    /// Both sides or none.
    private func size() throws(AIError) -> (width: Int, height: Int)? {
        switch (options.width, options.height) {
        case (nil, nil): return nil
        case (let width?, let height?): return (width, height)
        default: throw refusal("a width without a height")
        }
    }

    /// `{"inputs", "parameters"}`
    func hub() -> JSON {
        let parameters: JSONObject = [
            "width": options.width.map { .int(Int64($0)) }, "height": options.height.map { .int(Int64($0)) },
            "num_inference_steps": steps, "guidance_scale": guidance, "negative_prompt": negative, "seed": seed,
        ]
        return .object([
            "inputs": .string(prompt), "parameters": parameters.count == 0 ? nil : .object(parameters),
        ])
    }

    /// fal and Replicate take the usual names.
    private func usual() -> JSONObject {
        [
            "prompt": .string(prompt), "num_inference_steps": steps, "guidance_scale": guidance,
            "negative_prompt": negative, "seed": seed,
        ]
    }

    func fal(adapter: String?, providerID: String) throws(AIError) -> JSON {
        var body = usual()
        if let size = try size() {
            body["image_size"] = .object(["width": .int(Int64(size.width)), "height": .int(Int64(size.height))])
        }
        if let adapter {
            body["loras"] = .array([.object(["path": .string(adapter), "scale": 1])])
            // This route alone needs the base model named.
            if providerID == "fal-ai/lora" { body["model_name"] = "stabilityai/stable-diffusion-xl-base-1.0" }
        }
        return .object(body)
    }

    func replicate(version: String?, adapter: String?) throws(AIError) -> JSON {
        var input = usual()
        if let size = try size() {
            input["width"] = .int(Int64(size.width))
            input["height"] = .int(Int64(size.height))
        }
        if let adapter { input["lora_weights"] = .string(adapter) }
        return .object(["version": version.map { .string($0) }, "input": .object(input)])
    }

    func openAI(_ model: String, _ form: OpenAIImageForm) throws(AIError) -> JSON {
        var body: JSONObject = [
            "model": .string(model), "prompt": .string(prompt), "response_format": form.base64.map { .string($0) },
        ]
        if let size = try size() {
            if form.joinsSize {
                body["size"] = .string("\(size.width)x\(size.height)")
            } else {
                body["width"] = .int(Int64(size.width))
                body["height"] = .int(Int64(size.height))
            }
        }
        let fields = [
            (form.steps, steps, "a number of steps"), (form.guidance, guidance, "a guidance"),
            (form.negative, negative, "a negative prompt"), (form.seed, seed, "a seed"),
        ]
        for (key, value, what) in fields {
            guard let value else { continue }
            guard let key else { throw refusal(what) }
            body[key] = value
        }
        return .object(body)
    }

    func wavespeed() throws(AIError) -> JSON {
        var body = usual()
        if let size = try size() {
            body["width"] = .int(Int64(size.width))
            body["height"] = .int(Int64(size.height))
        }
        return .object(body)
    }

    func zai(_ model: String) throws(AIError) -> JSON {
        for (value, what) in [
            (steps, "a number of steps"), (guidance, "a guidance"), (negative, "a negative prompt"),
            (seed, "a seed"),
        ] where value != nil { throw refusal(what) }
        let size = try size().map { JSON.string("\($0.width)x\($0.height)") }
        return .object(["model": .string(model), "prompt": .string(prompt), "size": size])
    }
}
