import HubCore

/// Tests/Fixtures of this checkout.
package enum Fixtures {
    /// The folder, found from this source file.
    package static let path = Path.normalized(Path.join(Path.parent(#filePath), "../../Fixtures"))

    /// The path of one fixture.
    ///
    /// - Throws: where it is missing, so that a test cannot pass by finding nothing.
    package static func path(_ name: String) throws -> String {
        let place = Path.join(path, name)
        guard FileSystem.exists(place) else { throw AIError(.fileNotFound, "there is no fixture \(name)") }
        return place
    }

    /// A fixture's bytes.
    package static func bytes(_ name: String) throws -> [UInt8] {
        guard let bytes = try FileSystem.contents(try path(name)) else {
            throw AIError(.fileNotFound, "the fixture \(name) is no file")
        }
        return bytes
    }
}
