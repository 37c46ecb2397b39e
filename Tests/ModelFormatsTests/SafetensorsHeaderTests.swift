import HubCore
import ModelFormats
import Support
import Testing

/// A file's bytes: the length, the header text, then data of the given size.
private func file(_ header: String, data: Int = 0, length: UInt64? = nil) -> [UInt8] {
    let text = Array(header.utf8)
    let declared = length ?? UInt64(text.count)
    return (0..<8).map { UInt8(truncatingIfNeeded: declared >> (8 * $0)) } + text
        + [UInt8](repeating: 0, count: data)
}

private func header(_ bytes: [UInt8], path: String = "/m/a.safetensors") throws(AIError) -> SafetensorsHeader {
    let result = bytes.withUnsafeBytes { buffer in
        Result { () throws(AIError) in try SafetensorsHeader(buffer, fileSize: Int64(bytes.count), path: path) }
    }
    return try result.get()
}

@Suite struct SafetensorsHeaderTests {
    @Test func tensorsComeInOrderOfTheirBytes() throws {
        let bytes = file(
            #"{"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[6,14]},"#
                + #""a":{"dtype":"BF16","shape":[3,1],"data_offsets":[0,6]},"s":{"dtype":"U8","shape":[],"data_offsets":[14,15]}}  "#,
            data: 15)
        let header = try header(bytes)
        #expect(header.tensors.map(\.name) == ["a", "b", "s"])
        #expect(header.tensors.map(\.shape) == [[3, 1], [2], []])
        #expect(header.tensors.map(\.elementCount) == [3, 2, 1])
        #expect(header.tensors[0].byteRange == header.dataStart..<header.dataStart + 6)
        #expect(header.metadata == ["format": "pt"])
    }

    @Test func emptyTensorsTakeNoBytes() throws {
        let bytes = file(
            #"{"e":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}}"#,
            data: 2)
        #expect(try header(bytes).tensors.map(\.name) == ["e", "a"])
    }

    @Test func elementsBelowAByteArePacked() throws {
        let bytes = file(#"{"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}}"#, data: 2)
        #expect(try header(bytes).tensors[0].elementCount == 4)
    }

    @Test func everyElementTypeHasItsSize() throws {
        for type in TensorDataType.allCases {
            let bytes = file(
                #"{"a":{"dtype":"\#(type.rawValue)","shape":[8],"data_offsets":[0,\#(type.bits)]}}"#,
                data: type.bits)
            #expect(try header(bytes).tensors[0].dataType == type)
        }
    }

    @Test(arguments: [
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, 7, "truncated"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, 9, "1 byte after the last tensor"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#, 4, "needs 8"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, 8, "data_offsets"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}}"#, 8, "data_offsets"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615]}}"#, 8, "data_offsets"),
        (#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}"#, 8, "data_offsets"),
        (#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}"#, 0, "overflows"),
        (#"{"a":{"dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,0]}}"#, 0, "overflows"),
        (#"{"a":{"dtype":"I32","shape":[0,1152921504606846976],"data_offsets":[0,0]}}"#, 0, "overflows"),
        (#"{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}"#, 8, "list of sizes"),
        (#"{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}}"#, 8, "list of sizes"),
        (#"{"a":{"dtype":"F32","data_offsets":[0,8]}}"#, 8, "no shape"),
        (#"{"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}}"#, 8, "F33"),
        (#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}"#, 2, "12 bits"),
        (#"{"a":{"shape":[2],"data_offsets":[0,8]}}"#, 8, "no dtype"),
        (
            #"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}}"#,
            3, "overlaps"
        ),
        (
            #"{"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"I8","shape":[2],"data_offsets":[3,5]}}"#,
            5, "1 byte before"
        ),
        (
            #"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#,
            1, "twice"
        ),
        (#"{"__metadata__":{"format":1}}"#, 0, "not a string"),
        (#"{"__metadata__":[]}"#, 0, "not an object"),
        (#"{"a":7}"#, 0, "no dtype"),
        (#"{"a":"#, 0, "not JSON"),
        (" {}", 0, "brace"),
        ("[]", 0, "brace"),
    ])
    func brokenHeadersAreRefusedWithTheFault(text: String, data: Int, fault: String) throws {
        let error = try #require(throws: AIError.self) { try header(file(text, data: data)) }
        #expect(error.code == .malformedModel)
        #expect(error.exitStatus == 7)
        #expect(error.message.contains(fault), "\(error.message)")
        #expect(error.message.contains("/m/a.safetensors"))
    }

    @Test(arguments: [UInt64(1) << 63, .max, 100_000_001, 3, 0, 1])
    func absurdHeaderLengthsAreRefused(length: UInt64) throws {
        let error = try #require(throws: AIError.self) { try header(file("{}", length: length)) }
        #expect(error.code == .malformedModel)
    }

    @Test func aFileCutAtAnyByteIsRefused() throws {
        let bytes = file(#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, data: 8)
        for count in 0..<bytes.count {
            let error = try #require(throws: AIError.self) { try header(Array(bytes[..<count])) }
            #expect(error.code == .malformedModel, "\(count) bytes")
        }
        #expect(try header(bytes).tensors.count == 1)
    }

    /// Any byte of a real header changed: an error or a header, never a crash.
    @Test func damagedBytesNeverCrash() throws {
        let path = Fixtures.path("tiny-shakespeare/model.safetensors")
        let whole = try #require(try FileSystem.contents(path))
        let start = try header(whole, path: path).dataStart
        var random = SeededRandom(state: 1)
        var refused = 0
        for _ in 0..<300 {
            var bytes = Array(whole[..<start])
            let at = Int.random(in: 0..<start, using: &random)
            bytes[at] = UInt8.random(in: .min ... .max, using: &random)
            let ok = bytes.withUnsafeBytes { buffer in
                (try? SafetensorsHeader(buffer, fileSize: Int64(whole.count), path: path)) != nil
            }
            if !ok { refused += 1 }
        }
        #expect(refused > 0)
    }
}
