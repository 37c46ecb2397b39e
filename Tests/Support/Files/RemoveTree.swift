package import HubCore

extension FileSystem {
    /// Removes a path with everything below it, if it exists.
    package static func removeTree(_ path: String) throws(AIError) {
        try OpenFolder.open(Path.parent(path))?.removeTree(Path.name(path))
    }
}
