import HubCore
import HubTokenizers

/// What a smoke test lets an encoder read.
struct SampleTexts {
    /// The first and the second are alike.
    let texts: [String]
    let query: String
    /// The first answers the query.
    let answers: [String]
    /// `[MASK]` stands for a word.
    let masked: [String]
    /// What a tokenizer gives back.
    let roundTrip: String

    private static let english = SampleTexts(
        texts: [
            "The sea was calm that morning, said Anna in Lisbon.", "A ship sailed over the quiet water.",
            "A loan is repaid with interest over several years.", "Ja.",
        ],
        query: "What is the capital of France?",
        answers: [
            "Paris is the capital of France.", "The sea was calm that morning.",
            "A loan is repaid with interest over several years.",
        ],
        masked: [
            "The capital of France is [MASK].", "She opened the [MASK] and went in.",
            "A [MASK] is repaid with interest over several years.",
        ],
        roundTrip: "The quick brown fox jumps over the lazy dog. 123 + 456 = 579; naïve café, 你好 😀\n")

    private static let protein = SampleTexts(
        texts: [
            "MKTAYIAKQRQISFVKSHFSRQ", "MKTAYIAKQRQISFVKSHFARQ", "GSHMLEDPVDAFKQLWNNWKRY", "MVLSPADKTN",
        ],
        query: "MKTAYIAKQRQISFVKSHFSRQ", answers: ["MKTAYIAKQRQISFVKSHFARQ", "GSHMLEDPVDAFKQLWNNWKRY"],
        masked: ["MKTAYIAK[MASK]RQISFVKSHFSRQ", "GSHMLEDP[MASK]DAFKQLW", "MVLS[MASK]ADKTN"],
        roundTrip: "MKTAYIAKQRQISFVKSHFSRQ")

    /// Those of which a tokenizer knows most: some read nothing but amino acids.
    static func of(_ tokenizer: Tokenizer) throws(AIError) -> SampleTexts {
        /// The share of the most frequent token, which is that of unknown words.
        func unknown(_ text: String) throws(AIError) -> Double {
            let ids = try tokenizer.encode(text, addSpecialTokens: false)
            let most = Dictionary(grouping: ids) { $0 }.values.map(\.count).max() ?? 0
            return Double(most) / Double(max(1, ids.count))
        }
        guard try unknown(english.texts[0]) > 0.5 else { return english }
        return try unknown(protein.texts[0]) < 0.5 ? protein : english
    }
}
