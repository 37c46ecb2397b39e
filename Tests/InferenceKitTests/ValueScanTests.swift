import HubCore
import Support
import Testing

@testable import InferenceKit
@testable import ModelFormats

@Suite struct ValueScanTests {
    /// What a scan finds in a file that is one tensor.
    private func scan(
        _ type: String, _ shape: [Int], _ bytes: [UInt8], count: Int? = nil, isWhole: Bool = true,
        isUnchanging: Bool = false
    ) throws -> [CheckFinding] {
        let folder = try TemporaryFolder()
        try folder.write("a", bytes)
        let tensor = StoredTensor(
            name: "t", type: type, shape: shape, elementCount: shape.reduce(1, *), byteCount: count ?? bytes.count,
            offset: 0, file: 0)
        return try ValueScan(
            folder("a"), tensors: [tensor], isWhole: isWhole, isUnchanging: isUnchanging
        ).findings()
    }

    /// Two blocks of each type, or some numbers, one byte of which makes a number none.
    @Test(
        arguments: [
            ("F8_E4M3", 1, 1, 3, 0x7F, 3), ("F8_E5M2", 1, 1, 3, 0xFC, 3), ("F8_E4M3FNUZ", 1, 1, 3, 0x80, 3),
            ("F8_E5M2FNUZ", 1, 1, 3, 0x80, 3), ("F8_E8M0", 1, 1, 3, 0xFF, 3), ("MXFP4", 32, 17, 17, 0xFF, 32),
            ("NVFP4", 64, 36, 36 + 3, 0x7F, 64), ("IQ1_M", 256, 56, 0, 0, 256),
            ("Q8_1", 32, 40, 40 + 7, 0x7F, 32), ("Q8_K", 256, 292, 292 + 3, 0x7F, 256),
            ("Q4_K", 256, 144, 144 + 3, 0x7E, 256), ("C64", 1, 8, 8 + 7, 0x7F, 1),
        ] as [(String, Int, Int, Int, UInt8, Int)])
    func everyTypeHasARule(type: String, elements: Int, size: Int, place: Int, byte: UInt8, element: Int) throws {
        let units = size == 1 ? 8 : 2
        var bytes = (0..<units * size).map { UInt8($0 % 5) }
        #expect(try scan(type, [units * elements], bytes).isEmpty)
        if type == "IQ1_M" {
            // The upper four bits of the third and the fourth word.
            (bytes[56 + 53], bytes[56 + 55]) = (0xC0, 0x70)
        } else {
            bytes[place] = byte
            // What has eight bits of exponent has one of them in the byte before.
            if ["Q8_1", "Q8_K", "C64"].contains(type) { bytes[place - 1] = 0x80 }
        }
        let found = try scan(type, [units * elements], bytes)
        #expect(found.count == 1 && found.first?.status == .fail)
        #expect(found.first?.detail.hasSuffix("at element \(element)") == true, "\(found)")
    }

    @Test func whatHasNoRuleIsSaid() throws {
        let found = try scan("Q4_2", [32], [UInt8](repeating: 0, count: 20))
        #expect(found.map(\.status) == [.pass])
        #expect(found[0].detail.hasPrefix("1 tensor of type Q4_2 not checked"))
        #expect(try scan("I32", [2, 4], [UInt8](repeating: 0, count: 32)).isEmpty)
    }

    @Test(arguments: [true, false], [true, false]) func piecesAreJoined(isWhole: Bool, isUnchanging: Bool) throws {
        let count = 700_000
        var bytes = [UInt8](repeating: 0x38, count: count)
        func found(_ bytes: [UInt8]) throws -> CheckFinding? {
            try scan("F8_E4M3", [1000, 700], bytes, isWhole: isWhole, isUnchanging: isUnchanging).first
        }
        #expect(try found(bytes)?.detail == "all values of tensor \"t\" are 0x38 of F8_E4M3")
        bytes[count - 297_000] = 0x39
        // Between two samples.
        #expect(try found(bytes) == nil)
        bytes[count - 1] = 0x7F
        #expect(try found(bytes)?.detail.hasSuffix("at element 699999") == true)
    }

    /// A file that ends before its header says so: it was cut short since that was read.
    @Test(arguments: [true, false]) func aFileThatIsCutShortMeanwhileIsAFault(isUnchanging: Bool) throws {
        let error = #expect(throws: AIError.self) {
            try scan(
                "F32", [1000], [UInt8](repeating: 0, count: 3000), count: 4000, isUnchanging: isUnchanging)
        }
        #expect(
            error?.code == .malformedModel && error?.message.hasSuffix("it was truncated while it was read") == true
        )
    }
}
