package import HubCore

/// The contents of a PyTorch checkpoint (`.bin`, `.pt`, `.pth`, `.ckpt`) or another pickle, read as data without
/// running it.
package struct TorchFile: Sendable {
    /// One tensor, as described by the pickle.
    package struct Tensor: Sendable, Hashable {
        package let name: String
        /// Safetensors' name, `BF16`; torch's name if safetensors has none.
        package let dataType: String
        package let shape: [Int]
        package let elementCount: Int
        /// Where its values are in the file, one after another; nil if unknown.
        package let byteRange: Range<Int>?
        /// Whether the values of a matrix are in the order of its columns.
        package let isTransposed: Bool
        /// Why its values cannot be used where they are: `has the strides [0]`.
        package let obstacle: String?
    }

    package let path: String
    package let fileSize: Int64
    /// In the order of the pickle.
    package let tensors: [Tensor]
    /// All imports, in the order of the pickle.
    package let imports: [PickleImport]
    /// The names of its opcodes that call imports.
    package let callingOpcodes: [String]
    /// Why it cannot be read to its end; the results so far remain, because loading would have got as far.
    package let fault: String?
    /// Whether all of it was read, so that ``imports`` is complete.
    package let isReadToEnd: Bool
    /// What keeps it from being a dictionary of tensors by name; nil if it is one.
    package let otherContent: String?

    /// Maximum number of opcodes. A tensor takes a few dozen.
    private static let opcodeLimit = 8_000_000
    /// The magic number in an old checkpoint's first pickle: 0x1950a86a20f9469cfc6c.
    private static let oldMark: [UInt8] = [0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19]

    /// - Throws: ``ErrorCode/unsupportedModel`` for a file that is neither an archive nor a pickle, and
    ///   ``ErrorCode/malformedModel`` for an archive that cannot be read.
    package init(_ path: String) throws(AIError) {
        let file = try MappedFile(path)
        let read = Result { () throws(AIError) in try TorchFile(file.bytes, path: path) }
        // If a part of the file could not be read, that is the error: the zeros in its place cause others, or none.
        try file.checkIntact()
        self = try read.get()
    }

    package init(_ bytes: UnsafeRawBufferPointer, path: String) throws(AIError) {
        self.path = path
        fileSize = Int64(bytes.count)
        guard !bytes.isEmpty else { throw .malformed(path, "it is empty") }
        try LFSPointer.refuse(bytes, fileSize: fileSize, path: path)
        var reading = Reading(fileSize: bytes.count)
        if ZipDirectory.begins(bytes) {
            try reading.archive(try ZipDirectory(bytes, path: path), bytes, path)
        } else if Self.isTapeArchive(bytes) {
            reading.isReadToEnd = false
            reading.fault = "it is a tar archive of an early PyTorch version, which hub does not read"
            reading.otherContent = "is a tar archive"
        } else {
            let isOne = reading.pickles(bytes)
            guard isOne || bytes[0] == 0x80 || bytes.count < 4 else {
                throw .unsupported(path, "it is neither a ZIP archive nor a pickle")
            }
            guard isOne || bytes[0] == 0x80 else { throw .malformed(path, "it has only \(bytes.count) bytes") }
        }
        (tensors, imports, fault) = (reading.tensors, reading.imports, reading.fault)
        (isReadToEnd, otherContent) = (reading.isReadToEnd, reading.otherContent)
        callingOpcodes = reading.calls.sorted()
    }

    /// The greatest danger among its imports; nil if there are none.
    package var danger: PickleImport.Danger? { imports.map(\.danger).max() }

    /// PyTorch opens a file with a valid tar header and checksum with Python's `tarfile`.
    private static func isTapeArchive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 512 else { return false }
        let digits = bytes[148..<156].filter { (0x30...0x37).contains($0) }
        guard !digits.isEmpty else { return false }
        let told = digits.reduce(0) { $0 << 3 | Int($1 - 0x30) }
        // The checksum field itself counts as blanks.
        return told == bytes[..<148].reduce(8 * 0x20) { $0 + Int($1) } + bytes[156..<512].reduce(0) { $0 + Int($1) }
    }

    /// The results so far.
    private struct Reading {
        let fileSize: Int
        var tensors: [Tensor] = []
        var imports: [PickleImport] = []
        var calls: Set<String> = []
        var fault: String?
        var isReadToEnd = true
        var otherContent: String?
        private var known: Set<PickleImport> = []
        private var budget = TorchFile.opcodeLimit

        init(fileSize: Int) { self.fileSize = fileSize }

        /// Since PyTorch 1.6: one pickle, and a file for each storage. Names are case-insensitive, as in PyTorch's
        /// reader.
        mutating func archive(_ archive: ZipDirectory, _ bytes: UnsafeRawBufferPointer, _ path: String)
            throws(AIError)
        {
            let entries = archive.entries.map { (name: $0.name.lowercased(), entry: $0) }
            let pickles = entries.filter { $0.name.hasSuffix(".pkl") }
            guard !pickles.isEmpty else { throw .malformed(path, "the archive has no pickle") }
            if pickles.count > 1 { otherContent = "has \(pickles.count) pickles, as TorchScript does" }
            for (name, pickle) in pickles {
                guard let range = pickle.byteRange else {
                    isReadToEnd = false
                    fault = fault ?? "\(pickle.name.printable) in it is compressed; PyTorch never writes that"
                    otherContent = otherContent ?? "is compressed"
                    continue
                }
                var machine = PickleMachine(
                    UnsafeRawBufferPointer(rebasing: bytes[range]), at: 0, budget: budget)
                let folder = name.hasSuffix("data.pkl") ? String(name.dropLast(8)) : ""
                guard let root = run(&machine).root else { continue }
                collect(root, machine, TorchStorage.all(entries, folder: folder))
                let order = entries.first { $0.name == folder + "byteorder" }?.entry.byteRange
                if let order, bytes[order].elementsEqual("big".utf8) {
                    otherContent = otherContent ?? "is big-endian"
                }
            }
        }

        /// Before that: magic number, version, system info, the object, and the names of the storages, whose bytes
        /// follow. Any other pickle is the object itself.
        ///
        /// - Returns: whether it looks like a pickle: any byte may begin one.
        mutating func pickles(_ bytes: UnsafeRawBufferPointer) -> Bool {
            var first = PickleMachine(bytes, at: 0, budget: budget)
            let (root, isNone) = run(&first)
            guard let root, case .bytes(let range) = first.nodes[root], bytes[range].elementsEqual(oldMark) else {
                if let root { collect(root, first, nil) }
                return !isNone
            }
            var at = first.end
            var rest: [(machine: PickleMachine, root: Int)] = []
            for _ in 0..<4 where fault == nil {
                var machine = PickleMachine(bytes, at: at, budget: budget)
                if let root = run(&machine).root { rest.append((machine, root)) }
                at = machine.end
            }
            guard rest.count > 2 else { return true }
            var storages: [String: TorchStorage]?
            if let names = rest.count > 3 ? rest[3].machine.texts(rest[3].root) : nil {
                do {
                    storages = try TorchStorage.all(
                        bytes, at: at, names: names, types: rest[2].machine.storageTypes)
                } catch { fault = fault ?? "it \((error as? PickleMachine.Fault)?.what ?? "\(error)")" }
            } else {
                fault = fault ?? "it does not name its storages"
            }
            collect(rest[2].root, rest[2].machine, storages)
            return true
        }

        /// - Returns: the pickle's result, and whether it fails before any import, as a file that is not a pickle does.
        private mutating func run(_ machine: inout PickleMachine) -> (root: Int?, isNone: Bool) {
            var root: Int?
            var isNone = false
            do throws(PickleMachine.Fault) { root = try machine.run() } catch {
                isReadToEnd = false
                fault = fault ?? "its pickle \(error.what)"
                isNone = machine.imports.isEmpty && !error.isLimit
            }
            budget = max(0, machine.budget)
            imports += machine.imports.filter { known.insert($0).inserted }
            calls.formUnion(machine.calls)
            return (root, root == nil && isNone)
        }

        private mutating func collect(_ root: Int, _ machine: PickleMachine, _ storages: [String: TorchStorage]?) {
            var walk = TorchWalk(machine, fileSize: fileSize, storages: storages)
            walk.collect(root)
            tensors += walk.tensors
            fault = fault ?? walk.fault
            otherContent = otherContent ?? walk.otherThanTensors(root)
        }
    }
}
