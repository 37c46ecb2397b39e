import ModelFormats
import Testing

@Suite struct ShardNumbersTests {
    @Test(arguments: [
        (
            ["model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors"],
            ["model-00002-of-00003.safetensors"]
        ),
        (["b-2-of-2.bin", "unet/a-1-of-2.bin"], ["b-1-of-2.bin", "unet/a-2-of-2.bin"]),
        // Each extension is a separate set.
        (["m-1-of-2.gguf", "m-2-of-2.bin"], ["m-1-of-2.bin", "m-2-of-2.gguf"]), (["m-00001-of-00001.gguf"], []),
        // No shards: another number of digits, a number of none, beyond the last, too many.
        (["m-1-of-02.gguf", "m-0-of-2.gguf", "m-3-of-2.gguf", "m-000001-of-000002.gguf", "m-one-of-two.gguf"], []),
        (["-1-of-2", "1-of-2.gguf", "of-2.gguf", ".gguf", ""], []),
    ])
    func whatTheNamesAskForIsMissing(paths: [String], missing: [String]) {
        #expect(ShardNumbers.missing(among: paths).map(\.path) == missing)
    }

    @Test func namesThatAskForMillionsCostWhatIsTakenOfThem() {
        let paths = (0..<10_000).map { "m\($0)-99999-of-99999.safetensors" }
        let missing = Array(ShardNumbers.missing(among: paths).prefix(2))
        #expect(missing.map(\.path) == ["m0-00001-of-99999.safetensors", "m0-00002-of-99999.safetensors"])
        #expect(missing.map(\.count) == [99_999, 99_999])
    }
}
