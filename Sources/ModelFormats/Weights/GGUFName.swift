import HubCore

/// The information in a GGUF file's name: its quantisation and its role.
struct GGUFName {
    enum Role {
        case model
        /// A vision or audio encoder for the model beside it; llama.cpp loads one with the model.
        case projector
        /// A draft model for speculative decoding.
        case draft
        /// The importance matrix used for quantisation.
        case importanceMatrix
    }

    let role: Role
    /// The name without extension and part number, common to the parts of a model.
    let stem: String
    let quantization: GGUFQuantization?

    /// nil if it is not a GGUF file.
    init?(path: String) {
        guard let stem = Self.stem(Path.name(path)) else { return nil }
        self.stem = stem
        let folders = Path.parts(Path.parent(path))
        let own = GGUFQuantization(in: stem)
        quantization = own ?? folders.reversed().lazy.compactMap { GGUFQuantization(in: String($0)) }.first
        let lowercased = stem.lowercased()
        let words = lowercased.split { "-_. ".contains($0) }
        if lowercased.contains("mmproj") || folders.contains("mmproj") {
            role = .projector
        } else if words.contains("imatrix"), own == nil {
            // With a quantisation in its name it is a model made with an importance matrix.
            role = .importanceMatrix
        } else if words.first == "mtp" || words.contains("draft") || folders.contains("MTP") {
            role = .draft
        } else {
            role = .model
        }
    }

    /// `x` of `x.gguf`, `x-00001-of-00003.gguf`, and older ways to split a file: `x.gguf-split-a`, `x.gguf.part1of2`.
    private static func stem(_ name: String) -> String? {
        var bytes = Array(name.utf8)[...]
        func lastIndex(_ character: Character) -> Int? { bytes.lastIndex(of: character.asciiValue!) }
        func ending(_ start: Int) -> String { String(decoding: bytes[start...], as: UTF8.self).lowercased() }
        if bytes.count > 8, ending(bytes.endIndex - 8).hasPrefix("-split-") {
            bytes.removeLast(8)
        } else if let dot = lastIndex("."), ending(dot).hasPrefix(".part") {
            let numbers = ending(dot).dropFirst(".part".count).split(separator: "of")
            guard numbers.count == 2, numbers.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { return nil }
            bytes = bytes[..<dot]
        }
        guard let dot = lastIndex("."), ending(dot) == ".gguf" else { return nil }
        return ShardName.removed(from: String(decoding: bytes[..<dot], as: UTF8.self))
    }
}

/// A quantisation in a name, as spelled in llama.cpp's list
/// (https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/quantize.cpp, `QUANT_OPTIONS`), with those of its
/// forks and the `UD-` of Unsloth's dynamic ones.
package struct GGUFQuantization: Sendable, Hashable {
    /// `Q4_K_M`, `UD-IQ2_XXS`, `BF16`.
    package let name: String
    /// Bits per weight according to the name.
    package let bits: Int
    /// The text without it, in lower case: the same for all quantisations of a model.
    let rest: String

    private static let plain: [String: (name: String, bits: Int)] = [
        "F16": ("F16", 16), "FP16": ("F16", 16), "BF16": ("BF16", 16), "F32": ("F32", 32), "FP32": ("F32", 32),
        "F64": ("F64", 64),
    ]
    private static let blocks = ["MXFP4": 4, "NVFP4": 4]
    /// Suffixes of `Q4`: the kind of blocks, the size of the mixture, the rows of a repacked one.
    private static let endings: Set<String> = [
        "0", "1", "4", "8", "K", "S", "M", "L", "XL", "XS", "XXS", "NL", "KS", "KSS", "KL", "KT", "R4", "R8",
    ]

    /// The last one in a text that is a separate word; a plain number type only if there is no other, because `f16` may
    /// name the source of the quantisation.
    init?(in text: String) {
        let words = Self.words(text)
        var found: (range: Range<Int>, name: String, bits: Int)?
        for start in words.indices.reversed() {
            guard let next = Self.quantization(words, at: start) else { continue }
            if found == nil || next.bits < 16 { found = next }
            if next.bits < 16 { break }
        }
        guard let found else { return nil }
        let isDynamic = found.range.lowerBound > 0 && words[found.range.lowerBound - 1].text == "UD"
        let start = found.range.lowerBound - (isDynamic ? 1 : 0)
        name = isDynamic ? "UD-" + found.name : found.name
        bits = found.bits
        rest = (words[..<start] + words[found.range.upperBound...]).map(\.text).joined(separator: "-").lowercased()
    }

    /// The words of a text in upper case, each with whether an underscore joins it to the previous one.
    private static func words(_ text: String) -> [(text: String, isJoined: Bool)] {
        var words: [(text: String, isJoined: Bool)] = []
        var word = ""
        var isJoined = false
        func end() {
            if !word.isEmpty { words.append((word.uppercased(), isJoined)) }
            word = ""
        }
        for character in text {
            guard "-_. ".contains(character) else {
                word.append(character)
                continue
            }
            end()
            isJoined = character == "_"
        }
        end()
        return words
    }

    private static func quantization(_ words: [(text: String, isJoined: Bool)], at start: Int)
        -> (range: Range<Int>, name: String, bits: Int)?
    {
        let head = words[start].text
        if let (name, bits) = plain[head] { return (start..<start + 1, name, bits) }
        var end = start + 1
        if let bits = blocks[head] {
            if end < words.count, words[end].isJoined, words[end].text == "MOE" { end += 1 }
            return (start..<end, words[start..<end].map(\.text).joined(separator: "_"), bits)
        }
        guard let prefix = ["IQ", "TQ", "Q"].first(where: head.hasPrefix),
            let bits = Int(head.dropFirst(prefix.count)), (1...8).contains(bits)
        else { return nil }
        while end < words.count, words[end].isJoined, endings.contains(words[end].text) { end += 1 }
        guard end > start + 1 else { return nil }
        return (start..<end, words[start..<end].map(\.text).joined(separator: "_"), bits)
    }
}

/// `00001-of-00003` in a file's name.
enum ShardName {
    /// The name without its number: `model-00001-of-00003` is `model`, `model-00001-of-00002.fp16` is `model.fp16`.
    static func removed(from stem: String) -> String {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        let bytes = Array(stem.utf8)
        let of = Array("-of-".utf8)
        for at in bytes.indices.reversed() where bytes[at...].starts(with: of) {
            var (start, end) = (at, at + of.count)
            while start > 0, isDigit(bytes[start - 1]) { start -= 1 }
            while end < bytes.count, isDigit(bytes[end]) { end += 1 }
            guard start > 0, start < at, end > at + of.count, "-_.".utf8.contains(bytes[start - 1]),
                end == bytes.count || bytes[end] == UInt8(ascii: ".")
            else { continue }
            return String(decoding: bytes[..<(start - 1)] + bytes[end...], as: UTF8.self)
        }
        return stem
    }
}
