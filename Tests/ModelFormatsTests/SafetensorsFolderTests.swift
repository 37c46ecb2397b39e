import HubCore
import ModelFormats
import Testing

@Suite struct SafetensorsFolderTests {
    @Test func shardsHoldTheSameTensorsAsTheSingleFile() throws {
        let single = try SafetensorsFolder(Fixtures.path("tiny-shakespeare"))
        let sharded = try SafetensorsFolder(Fixtures.path("tiny-shakespeare-sharded"))
        #expect(single.shards.count == 1)
        #expect(sharded.shards.count == 2)
        #expect(Set(single.tensors.keys) == Set(sharded.tensors.keys))
        #expect(single.tensorBytes == 2_230_528)
        #expect(sharded.tensorBytes == 2_230_528)
        for (name, entry) in single.tensors {
            #expect(sharded.tensors[name]?.info.shape == entry.info.shape)
        }
    }

    @Test func anIndexOfOneFileIsRead() throws {
        #expect(try SafetensorsFolder(Fixtures.path("tiny-shakespeare-mlx-4bit")).shards.count == 1)
    }

    private static let shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]

    private func error(_ prepare: (TemporaryFolder) throws -> Void) throws -> AIError {
        let folder = try TemporaryFolder()
        try prepare(folder)
        return try #require(throws: AIError.self) { try SafetensorsFolder(folder.path) }
    }

    @Test func aMissingShardIsNamed() throws {
        let error = try error { folder in
            try folder.link(
                "tiny-shakespeare-sharded/model.safetensors.index.json", as: "model.safetensors.index.json")
            try folder.link("tiny-shakespeare-sharded/\(Self.shards[0])", as: Self.shards[0])
        }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains(Self.shards[1]) && error.message.contains("missing"))
    }

    @Test func aLinkThatLeadsNowhereIsSaid() throws {
        let error = try error { try FileSystem.createSymlink("../../blobs/gone", at: $0.file("model.safetensors")) }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("link"))
    }

    @Test func aBrokenLinkToTheIndexIsNotAnAbsentIndex() throws {
        let error = try error { folder in
            try FileSystem.createSymlink("../../blobs/gone", at: folder.file("model.safetensors.index.json"))
            try folder.link("tiny-shakespeare/model.safetensors", as: "model.safetensors")
        }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("index.json"))
    }

    @Test func aLinkToItselfIsSaid() throws {
        let error = try error {
            try FileSystem.createSymlink("model.safetensors", at: $0.file("model.safetensors"))
        }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("link"))
    }

    @Test func anIndexThatDisagreesWithTheHeadersIsRefused() throws {
        let error = try error { folder in
            for shard in Self.shards { try folder.link("tiny-shakespeare-sharded/\(shard)", as: shard) }
            try folder.write(
                "model.safetensors.index.json",
                #"{"weight_map":{"model.norm.weight":"\#(Self.shards[0])","model.embed_tokens.weight":"\#(Self.shards[0])","no.such":"\#(Self.shards[1])"}}"#
            )
        }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("the index has tensor"))
    }

    @Test(arguments: [
        "{}", #"{"weight_map":{}}"#, #"{"weight_map":{"a":1}}"#,
        #"{"weight_map":{"a":"../../secret.safetensors"}}"#,
        #"{"weight_map":{"a":"/etc/x.safetensors"}}"#, #"{"weight_map":{"a":"x.bin"}}"#, "[", "",
    ])
    func brokenIndexesAreRefused(text: String) throws {
        let error = try error { try $0.write("model.safetensors.index.json", text) }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("index.json"))
    }

    @Test func aTensorInTwoShardsIsRefused() throws {
        let error = try error { folder in
            try folder.link("tiny-shakespeare/model.safetensors", as: "a.safetensors")
            try folder.link("tiny-shakespeare/model.safetensors", as: "b.safetensors")
            try folder.write(
                "model.safetensors.index.json",
                #"{"weight_map":{"model.norm.weight":"a.safetensors","model.embed_tokens.weight":"b.safetensors"}}"#
            )
        }
        #expect(error.code == .malformedModel)
        #expect(error.message.contains("another shard"))
    }

    @Test func anEmptyFolderHasNone() throws {
        #expect(try error { _ in }.code == .fileNotFound)
    }
}
