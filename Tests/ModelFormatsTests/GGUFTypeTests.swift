import HubCore
import Support
import Testing

@testable import ModelFormats

/// A value of a GGUF file's metadata that is not of the type of its key is no absent value.
@Suite struct GGUFTypeTests {
    private func faults(_ pairs: [[UInt8]]) throws -> [String] {
        var file = GGUFBytes("llama", ["embedding_length": 64, "block_count": 2, "attention.head_count": 4])
        file.pairs += pairs
        return try ModelConfiguration(file.header(), path: "m.gguf").faults
    }

    @Test(arguments: [
        "llama.attention.layer_norm_rms_epsilon", "llama.rope.freq_base", "llama.context_length",
        "llama.attention.scale", "llama.attention.causal", "llama.rope.scaling.factor",
        "llama.rope.scaling.original_context_length", "tokenizer.ggml.bos_token_id",
    ]) func aTextIsNoNumber(key: String) throws {
        let faults = try faults([GGUFBytes.pair(key, 8, GGUFBytes.text("10000"))])
        #expect(faults.contains { $0.contains(key) && $0.contains("wrong type") }, "\(faults)")
    }

    /// It is a setting, and counts in the scaling.
    @Test func whatIsReadTwiceIsNamedOnce() throws {
        let key = "llama.rope.scaling.yarn_log_multiplier"
        #expect(try faults([GGUFBytes.pair(key, 8, GGUFBytes.text("0.1"))]) == ["\(key) has the wrong type"])
    }

    @Test func listsAndNumbersThatFitNowhereAreNamed() throws {
        let list = GGUFBytes.little(UInt32(6)) + GGUFBytes.little(UInt64(1)) + GGUFBytes.little(Float(1).bitPattern)
        for (type, value) in [(10, GGUFBytes.little(UInt64.max)), (9, list)] as [(UInt32, [UInt8])] {
            let faults = try faults([GGUFBytes.pair("llama.rope.freq_base", type, value)])
            #expect(faults.contains { $0.contains("llama.rope.freq_base") }, "\(faults)")
        }
        #expect(try faults([GGUFBytes.pair("llama.rope.scaling.type", 4, GGUFBytes.little(UInt32(1)))]).count == 1)
    }

    /// Some converters write the largest number for none; and where no layer has a window, all numbers are 0.
    @Test func whatStandsForNoneIsNoFault() throws {
        let zeros = GGUFBytes.little(UInt32(4)) + GGUFBytes.little(UInt64(2)) + GGUFBytes.little(UInt64(0))
        let pairs = [
            GGUFBytes.pair("tokenizer.ggml.bos_token_id", 10, GGUFBytes.little(UInt64.max)),
            GGUFBytes.pair("llama.attention.sliding_window", 9, zeros),
        ]
        #expect(try faults(pairs).isEmpty)
    }
}
