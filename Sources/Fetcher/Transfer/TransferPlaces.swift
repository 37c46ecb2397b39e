import HubCore

/// Where one content comes together, and where it goes when it is proven. All on one file system.
struct TransferPlaces: Sendable {
    /// The proven content.
    var content: String
    var partial: String
    /// The map of the partial's safe ranges.
    var map: String
    /// Where a copy is made before it gets its name.
    var copy: String
    /// The lock that everybody takes around this content.
    var lock: String
    /// Whether the content is in its place already.
    var isReady: @Sendable () throws(AIError) -> Bool

    /// Removes all that a pull that was cut off has left; under the lock.
    func sweep() throws(AIError) {
        try FileSystem.remove(partial)
        try RangeMap.remove(map)
        try FileSystem.remove(copy)
    }
}

extension RepositoryFolder {
    func places(_ file: RepositoryFile) -> TransferPlaces {
        let name = file.digest.hex
        return TransferPlaces(
            content: blob(name), partial: partial(name), map: partialMap(name), copy: partialCopy(name),
            lock: lock(name),
            isReady: { () throws(AIError) in try SnapshotFile.hasBlob(file, in: self) })
    }
}
