/// The patterns of pre-tokenizers, built from shared parts.
enum GGUFPatterns {
    private static let endings = #"(?i:'s|'t|'re|'ve|'m|'ll|'d)"#
    private static let word = #"[^\r\n\p{L}\p{N}]?\p{L}+"#
    private static let signs = #" ?[^\s\p{L}\p{N}]+[\r\n]*"#
    private static let pathSigns = #" ?[^\s\p{L}\p{N}]+[\r\n/]*"#
    private static let blanks = #"\s*[\r\n]+|\s+(?!\S)|\s+"#
    private static let han3 = "[\u{4E00}-\u{9FA5}\u{3040}-\u{309F}\u{30A0}-\u{30FF}]+"
    private static let notLatin = "[\u{4E00}-\u{9FA5}\u{800}-\u{4E00}\u{AC00}-\u{D7FF}]+"
    private static let sign = ##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##
    private static let marked = #"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"#

    private static func any(_ parts: String...) -> String { parts.joined(separator: "|") }

    /// Words of lower-case letters after optional capitals, and words of capitals before optional lower-case letters.
    private static func cased(_ ending: String, besides: String = "") -> String {
        let start = #"[^\r\n\p{L}\p{N}]?"#
        let large = #"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}\#(besides)]"#
        let small = #"[\p{Ll}\p{Lm}\p{Lo}\p{M}\#(besides)]"#
        return any(start + large + "*" + small + "+" + ending, start + large + "+" + small + "*" + ending)
    }

    static let llama3 = any(endings, word, #"\p{N}{1,3}"#, signs, blanks)
    static let qwen2 = any(endings, word, #"\p{N}"#, signs, blanks)
    static let gpt4o = any(cased(endings + "?"), #"\p{N}{1,3}"#, pathSigns, blanks)
    static let bloom = #" ?[^(\s|.,!?…。，、।۔،)]+"#
    static let deepSeek3 = [
        #"\p{N}{1,3}"#, han3, any(sign, marked, #" ?[\p{P}\p{S}]+[\r\n]*"#, blanks),
    ]

    /// Cased letters, except those of some scripts.
    private static let deepSeekLetters =
        #"[\p{Lu}\p{Ll}\p{Lt}&&[^\x{560}-\x{588}\x{10C7}-\x{10FF}\x{1C80}-\x{1C8F}\x{2D00}-\x{2D2D}\x{A790}-\x{A7FA}"#
        + #"\x{AB30}-\x{AB68}\x{10570}-\x{105BC}\x{16E40}-\x{16E7F}\x{1D400}-\x{1D7CB}\x{1DF00}-\x{1DF1E}]]"#

    /// White space in runs of powers of two from 512 to 4, then the rest.
    private static let halvedBlanks =
        [512, 256, 128, 64, 32, 16, 8, 4].map { #"\s{\#($0)}(?!\S)"# }.joined(separator: "|")
        + #"|\s{1,2}(?!\S)|\s"#

    /// Digits in threes, counted from their end.
    private static func threes(_ digit: String, end: String) -> String { "\(digit){1,3}(?=(?:\(digit){3})*\(end))" }

    static let ofOneName: [String: [String]] = [
        "tekken": [any(cased(""), #"\p{N}"#, pathSigns, blanks)],
        "deepseek-coder": [#"[\r\n]"#, #"\s?\p{L}+"#, #"\s?\p{P}+"#, notLatin, #"\p{N}"#],
        "deepseek-llm": [
            #"[\r\n]"#, #"\s?"# + deepSeekLetters + "+",
            #"\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+"#, #"\s+$"#,
            notLatin,
            #"\p{N}+"#,
        ],
        "falcon": [#"[\p{P}\$\+<=>\^~\|`]+"#, Pattern.gpt2, "[0-9][0-9][0-9]"],
        "default": [#"[\p{P}\$\+<=>\^~\|]+"#, Pattern.gpt2, #"\p{N}+"#, "[0-9][0-9][0-9]"],
        "viking": [bloom, #"\p{N}"#],
        "jais-2": [any(endings, word, #"\p{N}{1,3}"#, signs, #"\s*[\r\n]+"#, halvedBlanks)],
        "qwen35": [
            any(
                endings, #"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+"#, #"\p{N}"#, #" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"#, blanks)
        ],
        "kimi-k2": [
            any(#"\p{Han}+"#, cased(endings + "?", besides: #"&&[^\p{Han}]"#), #"\p{N}{1,3}"#, signs, blanks)
        ],
        "bailingmoe": [bailing], "bailingmoe2": [bailing], "llada-moe": [bailing],
        "seed-coder": [any(endings, word, #"\p{N}"#, #" ?[^\s\p{L}\p{N}\r\n]+"#, blanks)],
        "superbpe": [#"\p{N}+"#, #"(?=(?:[0-9]{3})+(?![0-9]))"#],
        "tiny_aya": tinyAya, "cohere2moe": tinyAya,
        "exaone-moe": [
            any(
                endings, #"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"#, #"\p{N}"#,
                #" ?[^\s\p{L}\p{N}]+[\r\n/]?"#, #"\s*[\r\n]"#, #"\s+(?!\S)"#, #"\s+"#)
        ],
        "chameleon": [
            "<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", #"[\t\n]|    |  "#, #"\p{N}"#, #"[\p{P}!-/:-@\[-`{-~]"#,
            Pattern.gpt2,
        ],
        "youtu": [
            #"[\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}"#
                + #"\x{FF1B}\x{FF0C}\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[\x{3105}-\x{312F}]+|"# + han3,
            any(cased(endings + "?"), #"\p{N}"#, pathSigns, blanks),
        ],
        "afmoe": [
            threes(#"\p{N}"#, end: #"(?!\p{N})"#),
            #"[\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{30FF}\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}"#
                + #"\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}\x{1000}-\x{109F}\x{AA60}-\x{AA7F}"#
                + #"\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+"#,
            any(sign, marked, #" ?[\p{P}\p{S}]+[\r\n]*"#, blanks),
        ],
        "minicpm5": [#"\p{N}{1,3}"#, any(endings, word, #"\p{N}+"#, signs, blanks)],
        "ufakzeka": [any(word, #"\p{N}"#, signs, blanks)],
        "laguna": [#"[^\n]+|\n+"#, qwen2],
        "spark2_5": [
            #"\p{N}{1,3}"#, han3, any(sign, marked, #" ?[\p{P}\p{S}]+|[\r\n]"#, #"\s+(?!\S)"#, #"\s+"#), #"\p{N}"#,
        ],
    ]

    private static let bailing = any(
        #"'(?i:s|d|m|t|ll|ve|re)"#, word, #"\p{N}"#, signs, #"\s*[\r\n]"#, #"\s+(?!\S)"#, #"\s+"#)
    private static let tinyAya = [threes(#"\d"#, end: #"\b"#), gpt4o]
}
