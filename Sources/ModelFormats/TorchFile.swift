package import HubCore

/// What a PyTorch checkpoint (`.bin`, `.pt`, `.pth`, `.ckpt`) or another pickle holds, read as data; nothing of it is run.
package struct TorchFile: Sendable {
    /// One tensor, as far as the pickle says.
    package struct Tensor: Sendable, Hashable {
        package let name: String
        /// As safetensors calls it, `BF16`; torch's own name for what safetensors has not.
        package let dataType: String
        package let shape: [Int]
        package let elementCount: Int
    }

    package let path: String
    package let fileSize: Int64
    /// In the order of the pickle.
    package let tensors: [Tensor]
    /// Everything that loading it would import, in the order of the pickle.
    package let imports: [PickleImport]
    /// The opcodes in it that call what was imported, by name.
    package let callingOpcodes: [String]
    /// Why it cannot be read to its end; what was found up to there is there all the same, for loading would have come as
    /// far.
    package let fault: String?

    /// More of a pickle than this is not gone through. The pickle of a checkpoint has some kilobytes for each layer.
    private static let pickleLimit = 32 << 20
    /// What the first pickle of an old checkpoint is: 0x1950a86a20f9469cfc6c.
    private static let oldMark: [UInt8] = [0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19]

    /// - Throws: ``ErrorCode/malformedModel`` for what is neither an archive nor a pickle.
    package init(_ path: String) throws(AIError) {
        let file = try MappedFile(path)
        self = try TorchFile(file.bytes, path: path)
    }

    package init(_ bytes: UnsafeRawBufferPointer, path: String) throws(AIError) {
        self.path = path
        fileSize = Int64(bytes.count)
        var reading = Reading()
        if ZipDirectory.begins(bytes) {
            try reading.archive(try ZipDirectory(bytes, path: path), bytes, path)
        } else if bytes.first == 0x80 || bytes.first.map({ "(cd]}l.".utf8.contains($0) }) == true {
            reading.pickles(bytes)
        } else {
            throw .malformed(path, bytes.isEmpty ? "it is empty" : "it is neither a ZIP archive nor a pickle")
        }
        (tensors, imports, fault) = (reading.tensors, reading.imports, reading.fault)
        callingOpcodes = reading.calls.sorted()
    }

    /// The most dangerous of what it imports; nil where it imports nothing.
    package var danger: PickleImport.Danger? { imports.map(\.danger).max() }

    /// What was found so far.
    private struct Reading {
        var tensors: [Tensor] = []
        var imports: [PickleImport] = []
        var calls: Set<String> = []
        var fault: String?

        /// Since PyTorch 1.6: one pickle, and each storage as a file of its own.
        mutating func archive(_ archive: ZipDirectory, _ bytes: UnsafeRawBufferPointer, _ path: String)
            throws(AIError)
        {
            let pickles = archive.entries.filter { $0.name.hasSuffix(".pkl") }
            guard !pickles.isEmpty else { throw .malformed(path, "the archive holds no pickle") }
            let sizes = Dictionary(
                archive.entries.map { ($0.name, $0.size) }, uniquingKeysWith: { first, _ in first })
            for pickle in pickles {
                guard let range = pickle.byteRange, range.count <= TorchFile.pickleLimit else {
                    fault = "\(pickle.name.printable) in it is compressed or too long, which PyTorch never writes"
                    continue
                }
                var machine = PickleMachine(UnsafeRawBufferPointer(rebasing: bytes[range]), at: 0)
                let folder = pickle.name.hasSuffix("data.pkl") ? String(pickle.name.dropLast(8)) : ""
                run(&machine) { storage in sizes["\(folder)data/\(storage)"] }
            }
        }

        /// Before that: a mark, a version, facts of the machine, the object, and the names of the storages, whose bytes
        /// follow. Any other pickle is the object itself.
        mutating func pickles(_ bytes: UnsafeRawBufferPointer) {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(TorchFile.pickleLimit))
            var at = 0
            for number in 0..<5 where at < bytes.count && fault == nil {
                var machine = PickleMachine(bytes, at: at)
                let root = run(&machine) { _ in nil }
                at = machine.end
                guard number == 0 else { continue }
                guard let root, case .bytes(let range) = machine.nodes[root], bytes[range].elementsEqual(oldMark)
                else { return }
            }
        }

        @discardableResult
        private mutating func run(_ machine: inout PickleMachine, storageBytes: @escaping (String) -> Int?) -> Int?
        {
            var root: Int?
            do throws(PickleMachine.Fault) { root = try machine.run() } catch { fault = "its pickle \(error.what)" }
            imports += machine.imports.filter { !imports.contains($0) }
            calls.formUnion(machine.calls)
            guard let root else { return nil }
            var walk = TorchWalk(machine, storageBytes: storageBytes)
            walk.collect(root)
            tensors += walk.tensors
            fault = fault ?? walk.fault
            return root
        }
    }
}
