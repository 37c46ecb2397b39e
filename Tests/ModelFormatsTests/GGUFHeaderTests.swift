import HubCore
import ModelFormats
import Support
import Testing

private func read(_ bytes: [UInt8], fileSize: Int? = nil) throws(AIError) -> GGUFHeader.Reading {
    try bytes.withUnsafeBytes { buffer in
        Result { () throws(AIError) in
            try GGUFHeader.read(buffer, fileSize: Int64(fileSize ?? bytes.count), path: "/m/a.gguf")
        }
    }.get()
}

@Suite struct GGUFHeaderTests {
    private let goldens: JSON

    init() throws { goldens = try JSON.parse(Support.Fixtures.bytes("formats/goldens.json")) }

    /// The reference's arrays are told by their length and ends.
    private func expect(_ value: GGUFValue, _ golden: JSON, in file: GGUFFile, _ key: String) throws {
        switch golden {
        case .string(let text): #expect(value.string == text, "\(key)")
        case .bool(let flag): #expect(value.bool == flag, "\(key)")
        case .int(let number): #expect(value.int == number || value.double == Double(number), "\(key)")
        case .double(let number): #expect(value.double == number, "\(key)")
        case .object(let object):
            let array = try #require(value.array)
            #expect(array.count == object["count"]?.int.map(Int.init), "\(key)")
            if let texts = file.strings(key) {
                #expect(texts.first == object["first"]?.string && texts.last == object["last"]?.string, "\(key)")
            } else {
                let values = try #require(array.values(in: file.file.bytes))
                try expect(try #require(values.first), try #require(object["first"]), in: file, key)
                try expect(try #require(values.last), try #require(object["last"]), in: file, key)
            }
        default: Issue.record("\(key) is \(golden)")
        }
    }

    @Test(arguments: ["tiny-shakespeare-gguf/model-q4_0.gguf", "formats/all-kinds.gguf"])
    func filesAreReadAsTheReferenceReadsThem(name: String) throws {
        let file = try GGUFFile(try Support.Fixtures.path(name))
        let golden = try #require(goldens["files"]?[name])
        let metadata = try #require(golden["metadata"]?.object)
        #expect(file.header.metadata.map(\.key) == metadata.keys)
        for (key, value) in metadata.members { try expect(try #require(file.header[key]), value, in: file, key) }
        let tensors = try #require(golden["tensors"]?.array)
        #expect(file.header.tensors.count == tensors.count)
        for (tensor, golden) in zip(file.header.tensors, tensors) {
            let golden = try #require(golden.array)
            #expect(tensor.name == golden[0].string && tensor.type.name == golden[1].string)
            #expect(tensor.dimensions == golden[2].array?.compactMap { $0.int.map(Int.init) })
            #expect(tensor.byteRange.count == golden[3].int.map(Int.init))
            #expect(tensor.byteRange.lowerBound == golden[4].int.map(Int.init))
        }
    }

    @Test func blocksHaveTheSizesOfTheReference() throws {
        let types = try #require(goldens["types"]?.object)
        #expect(types.count > 30)
        for (number, golden) in types.members {
            let type = try #require(UInt32(number).flatMap { GGUFTensorType($0) })
            let golden = try #require(golden.array)
            #expect(type.name == golden[0].string && type.isCurrent)
            #expect(
                type.blockElements == golden[1].int.map(Int.init) && type.blockBytes == golden[2].int.map(Int.init))
            #expect(type.halfOffsets.allSatisfy { $0 + 2 <= type.blockBytes })
        }
        // What is known beyond those was dropped, but for Q2_0, which gguf 0.19.0 does not know yet.
        let current = GGUFTensorType.known.filter(\.value.isCurrent).keys.map { String($0) }
        #expect(Set(current).subtracting(types.members.map { $0.key }) == ["42"])
    }

    @Test func aFileCutAtAnyByteIsRefusedAndABeginningAsksForMore() throws {
        let bytes = try Support.Fixtures.bytes("formats/all-kinds.gguf")
        guard case .header(let header) = try read(bytes) else { throw AIError(.malformedModel, "no header") }
        let end = try #require(header.tensors.last).byteRange.upperBound
        for count in 0..<end {
            let cut = Array(bytes[..<count])
            let error = #expect(throws: AIError.self, "\(count) bytes") { try read(cut) }
            #expect(error?.code == .malformedModel, "\(count) bytes")
            switch try read(cut, fileSize: bytes.count) {
            case .needs(let needed): #expect(needed > count && needed <= bytes.count)
            case .header(let found): #expect(found.tensors == header.tensors)
            }
        }
    }

    @Test func versionTwoIsReadAlike() throws {
        var file = GGUFBytes()
        file.version = 2
        file.pairs = [GGUFBytes.pair("a", 4, GGUFBytes.little(UInt32(7)))]
        guard case .header(let header) = try read(file.bytes) else { throw AIError(.malformedModel, "no header") }
        #expect(header["a"]?.int == 7 && header.version == 2 && header.tensors.isEmpty)
    }

    @Test func whatIsBrokenIsRefusedByName() throws {
        typealias B = GGUFBytes
        let big = UInt64(1) << 62
        func file(pairs: [[UInt8]] = [], _ tensors: [[UInt8]] = [], data: Int = 0) -> [UInt8] {
            B(pairs: pairs, tensors: tensors, data: [UInt8](repeating: 0, count: data)).bytes
        }
        let broken: [([UInt8], String)] = [
            (
                file(pairs: [B.pair("k", 4, B.little(UInt32(1))), B.pair("k", 4, B.little(UInt32(1)))]),
                "key k twice"
            ),
            (file(pairs: [B.pair("k", 13, B.little(UInt64(1)))]), "type 13"),
            (file(pairs: [B.pair("k", 7, [2])]), "neither true nor false"),
            (file(pairs: [B.pair("", 4, B.little(UInt32(1)))]), "0 bytes"),
            (file(pairs: [B.little(UInt64(2)) + [0xFF, 0xFE] + B.little(UInt32(0)) + [1]]), "not UTF-8"),
            (file(pairs: [B.pair("k", 8, B.little(UInt64.max))]), "18446744073709551615 elements"),
            (file(pairs: [B.pair("k", 9, B.little(UInt32(10)) + B.little(UInt64(1) << 61))]), "elements"),
            (file(pairs: [B.pair("k", 9, B.little(UInt32(8)) + B.little(UInt64(1) << 63))]), "elements"),
            (
                file(pairs: [
                    B.pair(
                        "k", 9,
                        (0..<6).flatMap { _ in B.little(UInt32(9)) + B.little(UInt64(1)) }
                            + [UInt8](repeating: 0, count: 64))
                ]), "arrays within arrays"
            ),
            (file(pairs: [B.pair("general.alignment", 4, B.little(UInt32(24)))]), "power of two"),
            (file(pairs: [B.pair("general.alignment", 4, B.little(UInt32(0)))]), "power of two"),
            (file([B.tensor("t", [4], 0), B.tensor("t", [4], 0, offset: 32)], data: 64), "\"t\" twice"),
            (file([B.tensor("t", [1, 1, 1, 1, 1], 0)], data: 64), "5 dimensions"),
            (file([B.tensor("t", [big, 4], 0)], data: 64), "overflows"),
            (file([B.tensor("t", [big], 0)], data: 64), "overflows"),
            (file([B.tensor("t", [big, 0], 0)], data: 64), "overflows"),
            (file([B.tensor("t", [UInt64.max], 0)], data: 64), "dimension"),
            (file([B.tensor("t", [31], 2)], data: 64), "not a multiple of the block size 32 (Q4_0)"),
            (file([B.tensor("t", [4], 0, offset: 32)], data: 64), "not at 0"),
            (file([B.tensor("t", [4], 0), B.tensor("u", [4], 0, offset: 16)], data: 64), "begins at byte 16"),
            (file([B.tensor("t", [4], 0), B.tensor("u", [4], 0, offset: .max)], data: 64), "begins at byte"),
            (file([B.tensor("t", [17], 0)], data: 64), "truncated"),
        ]
        for (bytes, fault) in broken {
            let error = #expect(throws: AIError.self, "\(fault)") { try read(bytes) }
            #expect(error?.code == .malformedModel && error?.message.hasPrefix("/m/a.gguf: ") == true)
            #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
        }
        let unknown = #expect(throws: AIError.self) { try read(file([B.tensor("t", [4], 99)], data: 64)) }
        #expect(unknown?.code == .unsupportedModel && unknown?.message.contains("type 99") == true)
    }

    // MARK: Split files

    private func shard(_ number: UInt16, of count: UInt16, _ tensor: String, total: Int32? = nil) -> [UInt8] {
        typealias B = GGUFBytes
        var file = B()
        file.pairs = [B.pair("split.no", 2, B.little(number)), B.pair("split.count", 2, B.little(count))]
        if let total { file.pairs.append(B.pair("split.tensors.count", 5, B.little(total))) }
        file.tensors = [B.tensor(tensor, [4], 0)]
        file.data = [UInt8](repeating: 0, count: 16)
        return file.bytes
    }

    @Test func splitFilesAreOneModelFromAnyOfThem() throws {
        let folder = try Support.TemporaryFolder("gguf")
        try folder.write("m-00001-of-00002.gguf", shard(0, of: 2, "a", total: 2))
        try folder.write("m-00002-of-00002.gguf", shard(1, of: 2, "b", total: 2))
        for name in ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"] {
            #expect(try GGUFModel(folder(name)).shards.flatMap(\.header.tensors).map(\.name) == ["a", "b"])
        }
    }

    @Test func splitFilesThatDoNotBelongTogetherAreRefused() throws {
        let cases: [(first: [UInt8], second: [UInt8]?, fault: String)] = [
            (shard(0, of: 2, "a"), nil, "missing"),
            (shard(0, of: 3, "a"), shard(1, of: 3, "b"), "split.count says 3 files"),
            (shard(1, of: 2, "a"), shard(0, of: 2, "b"), "the name says 1 of 2"),
            (shard(0, of: 2, "a"), shard(1, of: 2, "a"), "another shard"),
            (shard(0, of: 2, "a", total: 3), shard(1, of: 2, "b"), "split.tensors.count is 3"),
        ]
        for (first, second, fault) in cases {
            let folder = try Support.TemporaryFolder("gguf")
            try folder.write("m-00001-of-00002.gguf", first)
            if let second { try folder.write("m-00002-of-00002.gguf", second) }
            let error = #expect(throws: AIError.self) { try GGUFModel(folder("m-00001-of-00002.gguf")) }
            #expect(
                error?.code == .malformedModel && error?.message.contains(fault) == true, "\(error?.message ?? "")")
        }
    }
}
