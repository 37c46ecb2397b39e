package import HubCore

/// `generation_config.json`; it takes precedence over `config.json`
/// (https://huggingface.co/docs/transformers/main_classes/text_generation).
package struct GenerationConfiguration: Sendable {
    /// The tokens that end a text; nil if the file does not say.
    package let eosIDs: [Int]?
    /// What a decoder after an encoder begins with; nil if the file does not say.
    package let decoderStartID: Int?
    /// The first token of every answer; nil for any.
    package let forcedBosID: Int?
    /// Tokens that no answer has; nil if the file does not say.
    package let bannedIDs: [Int]?

    /// Reads the file of a folder; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    package static func read(folder: String) throws(AIError) -> GenerationConfiguration? {
        let path = Path.join(folder, "generation_config.json")
        guard let json = try JSONFile.read(path) else { return nil }
        guard let members = json.object else { throw .malformed(path, "it is not an object") }
        let fields = ConfigurationFields(members, path: path)
        let ids = try fields.tokenIDs("eos_token_id")
        return GenerationConfiguration(
            eosIDs: ids.isEmpty ? nil : ids, decoderStartID: try fields.tokenIDs("decoder_start_token_id").first,
            forcedBosID: try fields.tokenIDs("forced_bos_token_id").first, bannedIDs: fields.bannedIDs)
    }
}
