package import HubCore

/// A mapped GGUF file with its header.
package struct GGUFFile: Sendable {
    package let header: GGUFHeader
    package let file: MappedFile

    /// - Throws: ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel``, or the error of the failed system call.
    package init(_ path: String) throws(AIError) {
        file = try MappedFile(path)
        // If a part of the file could not be read, that is the error: the zeros in its place cause others.
        let read = Result { [file] () throws(AIError) in
            try GGUFHeader.read(file.bytes, fileSize: Int64(file.bytes.count), path: path)
        }
        try file.checkIntact()
        guard case .header(let header) = try read.get() else {
            throw .malformed(path, "the file is shorter than its header")
        }
        self.header = header
    }

    /// The strings of an array of the metadata, decoded as UTF-8; nil if there is none.
    package func strings(_ key: String) -> [String]? {
        var texts: [String] = []
        let isThere = header[key]?.array?.eachString(in: file.bytes) {
            texts.append(String(decoding: $0, as: UTF8.self))
        }
        return isThere == true ? texts : nil
    }
}

/// A model in one GGUF file, or in several that were split.
package struct GGUFModel: Sendable {
    /// One file and its header.
    package struct Shard: Sendable {
        package let path: String
        package let fileSize: Int64
        package let header: GGUFHeader

        package init(path: String, fileSize: Int64, header: GGUFHeader) {
            (self.path, self.fileSize, self.header) = (path, fileSize, header)
        }
    }

    /// In the order of their numbers.
    package let shards: [Shard]

    /// The first shard's header: `general.architecture`, the vocabulary.
    package var header: GGUFHeader { shards[0].header }

    /// Reads a file and, if it is one of several shards, the others beside it.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a missing shard too.
    package init(_ path: String) throws(AIError) {
        var shards: [Shard] = []
        for path in Self.paths(of: path) {
            guard let status = try FileSystem.status(path) else {
                throw .malformed(path, "the shard is missing", expected: Path.name(path), found: "nothing")
            }
            shards.append(Shard(path: path, fileSize: status.size, header: try GGUFFile(path).header))
        }
        try self.init(shards)
    }

    /// Combines headers that have been read already.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a shard that is missing, out of order or of another model, and for a
    ///   tensor in two shards.
    package init(_ shards: [Shard]) throws(AIError) {
        guard let first = shards.first else { throw AIError(.malformedModel, "no GGUF file") }
        let count = first.header["split.count"]?.int ?? 1
        guard max(1, count) == shards.count else {
            throw .malformed(
                first.path, "split.count says \(counted(count, "file")); there are \(shards.count)",
                expected: "\(count)", found: "\(shards.count)")
        }
        var names: Set<String> = []
        for (index, shard) in shards.enumerated() {
            let number = shard.header["split.no"]?.int
            guard shards.count == 1 || number == Int64(index), (shard.header["split.count"]?.int ?? 1) == count
            else {
                throw .malformed(
                    shard.path,
                    "split.no says file \(number.map { String($0 &+ 1) } ?? "?"); the name says \(index + 1) of \(shards.count)",
                    expected: "\(index + 1)", found: number.map { String($0 &+ 1) })
            }
            for tensor in shard.header.tensors where !names.insert(tensor.name).inserted {
                throw .malformed(
                    shard.path, "tensor \"\(tensor.name)\" is in another shard too", tensor: tensor.name,
                    expected: "one shard", found: "two")
            }
        }
        if let told = first.header["split.tensors.count"]?.int, told != Int64(names.count), shards.count > 1 {
            throw .malformed(
                first.path, "split.tensors.count is \(told); the files have \(counted(names.count, "tensor"))",
                expected: "\(told)", found: "\(names.count)")
        }
        self.shards = shards
    }

    /// Whether a path is a model, not a projector, a draft or an importance matrix.
    package static func isModel(_ path: String) -> Bool { GGUFName(path: Path.name(path))?.role == .model }

    /// Whether a path is what reads pictures or sounds for the model beside it.
    package static func isProjector(_ path: String) -> Bool { GGUFName(path: Path.name(path))?.role == .projector }

    /// The files that belong to a name like `model-00002-of-00003.gguf`, in order; the file alone for any other name.
    package static func paths(of path: String) -> [String] {
        let name = Path.name(path)
        let stem = name.dropLast(5)
        let parts = stem.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[parts.count - 2] == "of", let total = parts.last, total.count == 5,
            parts[parts.count - 3].count == 5, let count = Int(total), (2...9999).contains(count)
        else { return [path] }
        let base = parts.dropLast(3).joined(separator: "-")
        return (1...count).map { number in
            let digits = String(number)
            let shard = "\(base)-\(String(repeating: "0", count: 5 - digits.count))\(digits)-of-\(total).gguf"
            return name == path ? shard : Path.join(Path.parent(path), shard)
        }
    }
}
