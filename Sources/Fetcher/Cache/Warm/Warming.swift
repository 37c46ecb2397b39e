package import HubCore
import ModelFormats

/// Brings the files of a model into memory, so that a program that loads it does not wait for the disk.
package struct Warming: Sendable {
    /// One file.
    package struct File: Sendable, Hashable {
        /// The path in the model.
        package var name: String
        /// The path on the disk.
        package var path: String
        /// Bytes.
        package var size: Int64
    }

    /// In the order of a loader: what describes the model, then its weights, shard by shard.
    package let files: [File]
    package var bytes: Int64 { files.reduce(0) { $0 + $1.size } }

    /// The files of a folder: links are followed.
    ///
    /// - Parameters:
    ///   - word: takes only what a reference names so after its colon, and with weights what they need.
    ///   - repository: the reference's.
    /// - Throws: ``ErrorCode/nothingMatches`` for a quantization that is not there.
    package init(folder: String, named word: String?, of repository: Repository) throws(AIError) {
        try self.init(folder: folder) { names throws(AIError) in
            guard let word else { return { !WeightFormat.isTrainingState($0) } }
            return try NamedFiles(word, amongPaths: names, of: repository).needs
        }
    }

    /// All files of a folder: links are followed, training states left out.
    package init(folder: String) throws(AIError) {
        try self.init(folder: folder) { _ in { !WeightFormat.isTrainingState($0) } }
    }

    private init(
        folder: String, choosing: ([String]) throws(AIError) -> (String) -> Bool
    ) throws(AIError) {
        var found: [(file: File, key: PhysicalFile.Identity)] = []
        func walk(_ place: String, _ prefix: String) throws(AIError) {
            for entry in try OpenFolder.open(place)?.entries() ?? [] where entry.isText {
                let path = Path.join(place, entry.name)
                guard let status = try FileSystem.status(path) else { continue }
                let name = prefix + entry.name
                if status.kind == .directory {
                    // A link to a folder could lead to itself.
                    if entry.kind != .symlink { try walk(path, name + "/") }
                } else if status.kind == .file {
                    found.append((File(name: name, path: path, size: status.size), PhysicalFile(status).identity))
                }
            }
        }
        try walk(folder, "")
        let isWanted = try choosing(found.map(\.file.name))
        found.removeAll { !isWanted($0.file.name) }
        found.sort { left, right in
            let (first, second) = (Self.rank(left.file.name), Self.rank(right.file.name))
            return first == second ? left.file.name < right.file.name : first < second
        }
        // Two names of one file are read once.
        var seen: Set<PhysicalFile.Identity> = []
        files = found.filter { seen.insert($0.key).inserted }.map(\.file)
    }

    /// What loaders open first: everything that is not weights.
    private static func rank(_ name: String) -> Int { WeightFormat(fileName: name) == nil ? 0 : 1 }

    /// The bytes that were in memory already, and whether the system said so of every file.
    package struct Outcome: Sendable {
        package var bytes: Int64 = 0
        package var already: Int64 = 0
        /// Files of which the system does not say what is in memory, because they belong to another user.
        package var unknown = 0
    }

    /// Requests what is missing, or reads it.
    ///
    /// - Parameters:
    ///   - waits: whether all of it is in memory at the end. Otherwise the kernel is asked to read, which is only a hint.
    ///   - progress: the bytes done so far; may throw to stop.
    package func run(waits: Bool, progress: (Int64) throws -> Void) throws -> Outcome {
        var outcome = Outcome()
        for file in files {
            let descriptor = try FileDescriptor(unnoticed: file.path)
            let size = try descriptor.status().size
            let resident = try PageCache.resident(descriptor)
            if resident == nil { outcome.unknown += 1 }
            let known = resident ?? IntervalSet()
            outcome.already += known.count
            var done = outcome.bytes + known.count
            try progress(done)
            for gap in known.gaps(in: 0..<size) {
                if waits {
                    try PageCache.read(gap, of: descriptor) { count in
                        done += Int64(count)
                        try progress(done)
                    }
                } else {
                    PageCache.request(gap, of: descriptor)
                }
            }
            outcome.bytes += size
            try progress(outcome.bytes)
        }
        return outcome
    }
}
