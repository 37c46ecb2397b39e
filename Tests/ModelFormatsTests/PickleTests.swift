import HubCore
import ModelFormats
import Support
import Testing

private func torch(_ bytes: [UInt8]) throws(AIError) -> TorchFile {
    try bytes.withUnsafeBytes { buffer in
        Result { () throws(AIError) in try TorchFile(buffer, path: "/m/a.bin") }
    }.get()
}

private func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

@Suite struct PickleTests {
    @Test func whatPythonWritesIsReadInEveryProtocol() throws {
        let goldens = try JSON.parse(Support.Fixtures.bytes("formats/goldens.json"))
        let pickles = try #require(goldens["pickles"]?.array)
        #expect(pickles.count == 24)
        for golden in pickles {
            let raw = bytes(hex: try #require(golden["hex"]?.string))
            let name = "\(golden["name"]?.string ?? "") \(golden["protocol"]?.int ?? -1)"
            // A pickle of protocol 0 or 1 may begin with any opcode, and is recognised by its name.
            guard let read = try? torch(raw) else {
                #expect(golden["protocol"]?.int ?? 9 < 2, "\(name)")
                continue
            }
            #expect(read.fault == nil, "\(name)")
            #expect(
                read.imports.map(\.description).sorted() == golden["imports"]?.array?.compactMap(\.string),
                "\(name)")
            let isPlain = golden["name"]?.string == "plain"
            #expect(read.danger == (isPlain ? .harmless : .dangerous), "\(name)")
        }
    }

    @Test func aCheckpointIsListed() throws {
        let file = try TorchFile(try Support.Fixtures.path("formats/state.bin"))
        #expect(file.tensors.map(\.name) == ["a.weight", "a.bias", "step"])
        #expect(file.tensors.map(\.dataType) == ["F32", "BF16", "I64"])
        #expect(file.tensors.map(\.shape) == [[2, 3], [3], []] && file.tensors.map(\.elementCount) == [6, 3, 1])
        #expect(file.danger == .harmless && file.fault == nil && file.callingOpcodes == ["REDUCE"])
    }

    @Test func aCheckpointCutAtAnyByteIsRefused() throws {
        let whole = try Support.Fixtures.bytes("formats/state.bin")
        for count in 0..<whole.count {
            let error = #expect(throws: AIError.self, "\(count) bytes") { try torch(Array(whole[..<count])) }
            #expect(error?.code == .malformedModel)
        }
    }

    @Test func aStorageThatIsTooShortIsSaid() throws {
        // The archive's two sizes of the first storage, 24 bytes, made smaller in its directory and before its content.
        var bytes = try Support.Fixtures.bytes("formats/state.bin")
        let size: [UInt8] = [24, 0, 0, 0, 24, 0, 0, 0]
        for at in 0..<bytes.count - 8 where Array(bytes[at..<at + 8]) == size {
            (bytes[at], bytes[at + 4]) = (20, 20)
        }
        let file = try torch(bytes)
        #expect(file.fault == "tensor \"a.weight\" needs 24 bytes; its storage has 20")
    }

    /// What was called before the pickle breaks has been called.
    @Test func importsBeforeAFaultAreNamed() throws {
        let raw =
            Array("\u{80}".unicodeScalars.map { UInt8($0.value) }) + [2] + Array("cos\nsystem\n(X".utf8) + [
                9, 0, 0, 0,
            ]
        let file = try torch(raw)
        #expect(file.imports.map(\.description) == ["os.system"] && file.danger == .dangerous)
        #expect(file.fault == "its pickle ends in the middle")
    }

    @Test func whatHidesANameIsDangerous() throws {
        // A module's name that a call would give; an extension's number.
        let computed: [UInt8] = [0x80, 4, 0x8C, 1, 0x61, 0x29, 0x52, 0x8C, 1, 0x62, 0x93, 0x2E]
        #expect(try torch(computed).danger == .dangerous)
        #expect(try torch([0x80, 2, 0x82, 1, 0x2E]).imports.map(\.module) == ["copyreg"])
        #expect(try torch([0x80, 2] + Array("(ios\nsystem\n.".utf8)).callingOpcodes == ["INST"])
    }

    @Test func unknownImportsAreNeitherHarmlessNorDangerous() throws {
        let file = try torch([0x80, 2] + Array("cmy_package.models\nNet\n)R.".utf8))
        #expect(file.danger == .unknown && file.imports.map(\.description) == ["my_package.models.Net"])
        #expect(PickleImport(module: "builtins", name: "getattr").danger == .dangerous)
        #expect(PickleImport(module: "torch", name: "FloatStorage").danger == .harmless)
        #expect(PickleImport(module: "torch._utils", name: "_rebuild_tensor_v2").danger == .harmless)
        #expect(PickleImport(module: "os.path", name: "join").danger == .dangerous)
    }

    @Test(
        arguments: [
            ([0x80, 2, 0x52, 0x2E], "empty stack"), ([0x80, 2, 0x74, 0x2E], "mark"),
            ([0x80, 2, 0x68, 9, 0x2E], "memo entry"),
            ([0x80, 2, 0xFF], "opcode 255"), ([0x80, 2, 0x28, 0x30, 0x30, 0x2E], "empty stack"),
            ([0x80, 4, 0x8D, 255, 255, 255, 255, 255, 255, 255, 127], "ends in the middle"),
        ] as [([UInt8], String)])
    func brokenPicklesAreSaid(raw: [UInt8], fault: String) throws {
        #expect(try torch(raw).fault?.contains(fault) == true)
    }

    /// A million tuples in one another, a list that holds itself, a dictionary that doubles thirty times.
    @Test func depthAndCirclesCostNothing() throws {
        let deep: [UInt8] = [0x80, 2, 0x4E] + [UInt8](repeating: 0x85, count: 200_000) + [0x2E]
        #expect(try torch(deep).fault == nil)
        let circle: [UInt8] = [0x80, 2, 0x5D, 0x71, 0, 0x68, 0, 0x61, 0x2E]
        #expect(try torch(circle).fault == nil)
        var doubling: [UInt8] = [0x80, 2, 0x7D]
        for level in 0..<UInt8(60) {
            doubling += [0x71, level, 0x30, 0x7D, 0x28, 0x4B, 1, 0x68, level, 0x4B, 2, 0x68, level, 0x75]
        }
        #expect(try torch(doubling + [0x2E]).fault == nil)
    }

    private func tensor(_ shape: [UInt8]) -> [UInt8] {
        let start =
            "ctorch._utils\n_rebuild_tensor_v2\n((X\u{7}\0\0\0storagectorch\nFloatStorage\nX\u{1}\0\0\00X\u{3}\0\0\0cpuK\u{2}tQK\0"
        return Array(start.utf8) + shape + Array(")\u{89}NtR".unicodeScalars.map { UInt8($0.value) })
    }

    /// A list that names one tensor very often, below a long key.
    @Test func namesThatFillTheMemoryAreNotMade() throws {
        let key: [UInt8] = [0x7D, 0x58, 0xA0, 0x0F, 0, 0] + [UInt8](repeating: 0x6B, count: 4000)
        let again = [[UInt8]](repeating: [0x68, 0], count: 20_000).joined()
        let file = try torch(
            [0x80, 2] + key + [0x5D, 0x28] + tensor([0x4B, 2, 0x85]) + [0x71, 0] + again + [0x65, 0x73, 0x2E])
        #expect(file.fault?.hasSuffix("tensors, or their names are too long") == true && file.isReadToEnd)
        #expect((10_000..<17_000).contains(file.tensors.count))
    }

    @Test func aTensorThatIsLargerThanTheFileIsRefused() throws {
        // 2^40 as eight bytes; and two elements, which fit.
        let huge: [UInt8] = [0x8A, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0x85]
        let file = try torch([0x80, 2, 0x28] + tensor(huge) + tensor([0x4B, 2, 0x85]) + [0x74, 0x2E])
        #expect(file.tensors.map(\.shape) == [[2]] && file.tensors.map(\.name) == ["1"])
        #expect(
            file.fault?.hasPrefix("tensor \"0\" has the shape [1099511627776], too large for the file's")
                == true)
        let deep = [0x28] + [UInt8](repeating: 0x4E, count: 65) + [0x74]
        #expect(try torch([0x80, 2] + tensor(deep) + [0x2E]).fault == "tensor \"\" has 65 dimensions")
    }

    @Test func whatIsTooLongToGoThroughIsSaid() throws {
        let file = try torch([0x80, 2, 0x28] + [UInt8](repeating: 0x5D, count: 4_100_000) + [0x74, 0x2E])
        #expect(file.fault == "its pickle is longer than hub reads" && !file.isReadToEnd)
    }

    /// Any byte may begin a pickle; a file with imports is certainly one.
    @Test(arguments: [
        "I1\n0cos\nsystem\n(S'id'\ntR.", "N0cos\nsystem\n)R.", "F1\n0cos\nsystem\n", "Np 5\n0cos\nsystem\n)R.",
    ])
    func anyByteMayBeginAPickle(text: String) throws {
        #expect(try torch(Array(text.utf8)).danger == .dangerous)
    }

    @Test(
        arguments: [
            ("torch.serialization", "os.system"), ("torch", "os.system.x.Storage"), ("numpy", "f2py.os.system"),
            ("pathlib", "os.system"), ("collections", "OrderedDict.__init_subclass__"), ("datetime", "sys.modules"),
            ("numpy.distutils.exec_command", "exec_command"), ("_codecs", "encode.__self__"), ("torch", "builtins"),
        ])
    func whereANameLeadsIsJudged(module: String, name: String) throws {
        let raw = [0x80, 4, 0x8C, UInt8(module.utf8.count)] + Array(module.utf8)
        let file = try torch(raw + [0x8C, UInt8(name.utf8.count)] + Array(name.utf8) + [0x93, 0x29, 0x52, 0x2E])
        #expect(file.danger == .dangerous && file.imports.map(\.description) == ["\(module).\(name)"])
    }

    @Test func namesOfPackagesOwnPartsAreNotDangerous() {
        #expect(PickleImport(module: "my_package.types", name: "Net").danger == .unknown)
        #expect(PickleImport(module: "torch", name: "BFloat16Storage").danger == .harmless)
    }

    /// `S'o\x73'` is `os` to Python.
    @Test func aNameWithEscapesIsDangerous() throws {
        let raw = [0x80, 4] + Array("S'o\\x73'\nS'system'\n".utf8) + [0x93, 0x29, 0x52, 0x2E]
        #expect(try torch(raw).danger == .dangerous)
    }

    /// state.bin with its pickle's name and way of packing changed, in its directory and before its content.
    private func archive(name: String, method: UInt8 = 0, flags: UInt8 = 0) throws -> [UInt8] {
        var bytes = try Support.Fixtures.bytes("formats/state.bin")
        let old = Array("data.pkl".utf8)
        for at in 0..<bytes.count - 8 where Array(bytes[at..<at + 8]) == old {
            bytes.replaceSubrange(at..<at + 8, with: Array(name.utf8))
        }
        for at in 0..<bytes.count - 4 where Array(bytes[at..<at + 4]) == [0x50, 0x4B, 1, 2] {
            let length = Int(bytes[at + 28])
            guard String(decoding: bytes[at + 46..<at + 46 + length], as: UTF8.self).hasSuffix(name) else {
                continue
            }
            (bytes[at + 8], bytes[at + 10]) = (flags, method)
        }
        return bytes
    }

    @Test func namesInAnArchiveAreFoundWithoutRegardToCase() throws {
        let file = try torch(try archive(name: "DATA.PKL"))
        #expect(file.tensors.map(\.name) == ["a.weight", "a.bias", "step"] && file.fault == nil)
    }

    @Test(arguments: [(8, 0), (0, 1)] as [(UInt8, UInt8)]) func aPickleThatIsPackedIsNotRead(
        method: UInt8, flags: UInt8
    )
        throws
    {
        let file = try torch(try archive(name: "data.pkl", method: method, flags: flags))
        #expect(!file.isReadToEnd && file.fault?.contains("data.pkl in it is compressed") == true)
    }

    @Test func aTarArchiveIsNotTakenForHarmless() throws {
        var raw = [UInt8](repeating: 0, count: 1024)
        raw.replaceSubrange(0..<8, with: Array("storages".utf8))
        let sum = raw.reduce(8 * 0x20) { $0 + Int($1) }
        raw.replaceSubrange(148..<154, with: Array(("000000" + String(sum, radix: 8)).utf8.suffix(6)))
        let file = try torch(raw)
        #expect(!file.isReadToEnd && file.fault?.hasPrefix("it is a tar archive") == true)
    }

    @Test(arguments: [[], Array("PK".utf8), Array("not a pickle".utf8), [UInt8](repeating: 0, count: 40)])
    func whatIsNoneIsRefused(raw: [UInt8]) throws {
        #expect(throws: AIError.self) { try torch(raw) }
    }
}
