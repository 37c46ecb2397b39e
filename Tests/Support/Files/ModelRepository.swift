package import HubCore

/// Writes a repository into a folder that a ``LoopbackHub`` serves.
package struct ModelRepository: Sendable {
    /// `org/name`
    package let id: String
    /// Its folder.
    package let path: String

    /// - Parameters:
    ///   - root: the folder served.
    ///   - revision: makes it another revision: `pr1` is refs/pr/1, anything else a branch.
    package init(_ id: String, in root: TemporaryFolder, revision: String? = nil, kind: RepositoryKind = .model)
        throws
    {
        self.id = id
        let suffix = revision.map { "@" + PercentEncoding.encode($0) } ?? ""
        path = root(kind.prefix + id + suffix)
        try FileSystem.createDirectories(path)
    }

    /// Writes a file.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> [UInt8] {
        let place = Path.join(path, name)
        try FileSystem.createDirectories(Path.parent(place))
        try FileSystem.replace(place, with: bytes)
        return bytes
    }

    /// Writes a text file.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> [UInt8] { try write(name, Array(text.utf8)) }

    /// Copies the files of a folder of Tests/Fixtures, and of the folders in it.
    package func copy(_ fixture: String, except: Set<String> = []) throws {
        func walk(_ folder: String, _ prefix: String) throws {
            for name in try FileSystem.entries(folder) ?? [] where !except.contains(prefix + name) {
                let place = Path.join(folder, name)
                if let bytes = try FileSystem.contents(place) {
                    try write(prefix + name, bytes)
                } else {
                    try walk(place, "\(prefix)\(name)/")
                }
            }
        }
        try walk(Fixtures.path(fixture), "")
    }

    /// Writes a file of bytes that look random and are always the same for the same seed.
    @discardableResult
    package func random(_ name: String, size: Int, seed: UInt64 = 1) throws -> [UInt8] {
        try write(name, Self.randomBytes(size, seed: seed))
    }

    /// Makes a file of zeros that takes no space on disk, for offsets beyond 4 GiB, with bytes put in at places.
    package func sparse(_ name: String, size: Int64, patches: [(offset: Int64, bytes: [UInt8])] = []) throws {
        let place = Path.join(path, name)
        try FileSystem.createDirectories(Path.parent(place))
        let file = try FileDescriptor(place, [.write, .create, .truncate])
        try file.truncate(to: size)
        for patch in patches { try patch.bytes.withUnsafeBytes { try file.write($0, at: patch.offset) } }
    }

    /// Sets the metadata, under the Hub's own names.
    package func card(_ fields: JSONObject) throws { try write(".hub.json", JSON.object(fields).text()) }

    /// config.json, a tokenizer file in a folder, an empty file, and weights of this size: the smallest repository in
    /// which every way of delivery occurs.
    @discardableResult
    package static func tiny(_ id: String, in root: TemporaryFolder, weights: Int = 300_000) throws
        -> ModelRepository
    {
        let repository = try ModelRepository(id, in: root)
        try repository.write("config.json", "{\"model_type\":\"tiny\"}\n")
        try repository.write("sub/dir/vocab.txt", "a\nb\n")
        try repository.write("empty.txt", [])
        try repository.random("model.safetensors", size: weights)
        return repository
    }

    /// The output of ``SeededRandom``.
    package static func randomBytes(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededRandom(state: seed)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var at = 0
            while at < count {
                let word = random.next()
                for shift in stride(from: 0, to: 64, by: 8) where at < count {
                    buffer[at] = UInt8(truncatingIfNeeded: word >> UInt64(shift))
                    at += 1
                }
            }
            filled = count
        }
    }
}
