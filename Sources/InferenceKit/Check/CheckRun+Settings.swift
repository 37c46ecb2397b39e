import HubCore
import ModelFormats

/// Checks of the generation settings.
extension CheckRun {
    mutating func checkGeneration() throws(AIError) {
        let name = "generation_config.json"
        let settings = json(name, "generation config")
        if let settings, settings.object == nil {
            add(
                .init("generation config", .fail, "\(name): it is not an object", file: name, expected: "an object")
            )
        }
        for (key, expected, isSane) in Self.ranges {
            guard let value = settings?[key], !isSane(value) else { continue }
            bad(key, value, expected, name)
        }
        for (file, json) in [(name, settings), ("config.json", self.json("config.json", "generation config"))] {
            for key in ["bos_token_id", "eos_token_id", "pad_token_id"] {
                guard let value = json?[key] else { continue }
                for id in value.array ?? [value] { checkToken(key, id, file) }
            }
        }
        close("generation config", settings == nil ? "none" : "sane")
    }

    private mutating func checkToken(_ key: String, _ id: JSON, _ file: String) {
        guard let number = id.int else { return bad(key, id, "the number of a token", file) }
        guard let vocabulary = tokens, number >= vocabulary || number < -1 else { return }
        add(
            .init(
                "generation config", .fail, "\(key) is \(number); the model has \(counted(vocabulary, "token"))",
                file: file,
                expected: "an id below \(vocabulary)", found: "\(number)"))
    }

    /// The number of token ids: the rows of the embedding if larger than the configuration's vocabulary.
    private var tokens: Int? {
        guard let configuration = sources?.configuration, let vocabulary = configuration.vocabulary else {
            return nil
        }
        let rows = sources?.weights?.tensors.compactMap { tensor -> Int? in
            guard tensor.shape.count == 2, tensor.shape[1] == configuration.hiddenSize,
                TensorPart(tensor.name) == .embedding, !tensor.name.holds("position"), !tensor.name.holds("wpe")
            else { return nil }
            return tensor.shape[0]
        }
        return max(vocabulary + (configuration.hasCodes ? 1 : 0), rows?.max() ?? 0)
    }

    private mutating func bad(_ key: String, _ value: JSON, _ expected: String, _ file: String) {
        add(
            .init(
                "generation config", .warn, "\(key) is \(value.text().printable), which is not \(expected)",
                file: file,
                expected: expected, found: value.text()))
    }

    /// The valid range of each setting; `null` means its default.
    private static let ranges: [(key: String, expected: String, isSane: @Sendable (JSON) -> Bool)] = [
        ("temperature", "a number from 0 to 100", { $0.double.map { $0 >= 0 && $0 <= 100 } == true }),
        ("top_p", "above 0 and at most 1", { $0.double.map { $0 > 0 && $0 <= 1 } == true }),
        ("min_p", "from 0 to 1", { $0.double.map { $0 >= 0 && $0 <= 1 } == true }),
        ("top_k", "a whole number of at least 0", { $0.int.map { $0 >= 0 } == true }),
        ("repetition_penalty", "above 0", { $0.double.map { $0 > 0 } == true }),
        ("max_length", "a whole number above 0", { $0.int.map { $0 > 0 } == true }),
        ("max_new_tokens", "a whole number above 0", { $0.int.map { $0 > 0 } == true }),
        ("num_beams", "a whole number above 0", { $0.int.map { $0 > 0 } == true }),
        ("do_sample", "true or false", { $0.bool != nil }),
    ]
}
