/// The named tokens of this user, in the file `stored_tokens` that Python's client keeps beside the token file. `hf auth
/// list` and `hf auth switch` show the same ones.
///
/// Sections of Python's own sign-ins hold a refresh token and are kept as they are. hub writes none: Python would present
/// it with its own client's id.
package struct StoredTokens: Sendable, Hashable {
    /// One of them.
    package struct Entry: Sendable, Hashable {
        package var name: String
        /// nil if the section has none.
        package var token: AccessToken?
        /// In seconds since 1970; nil if unknown.
        package var expiresAt: Double?
    }

    private var file: IniFile

    /// None.
    package init() { file = IniFile() }

    /// Reads the collection; an absent file is an empty one.
    ///
    /// - Throws: ``ErrorCode/ioError`` for a damaged file, with the line; ``ErrorCode/permissionDenied``.
    package init(reading path: String) throws(AIError) {
        guard let bytes = try FileSystem.contents(path, limit: 1 << 20) else {
            guard try FileSystem.status(path) == nil else { throw Self.damage(path, "it is not a file") }
            file = IniFile()
            return
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.damage(path, "it is not UTF-8")
        }
        do throws(IniFile.Fault) { file = try IniFile(text) } catch {
            throw Self.damage(path, "line \(error.line) is \(error.reason)")
        }
    }

    private static func damage(_ path: String, _ reason: String) -> AIError {
        AIError(
            .ioError, "the stored tokens in \(path) cannot be read: \(reason)",
            advice: "correct the file or move it away; hub does not overwrite it", context: .init(path: path))
    }

    /// All of them, in the order of their names.
    package var entries: [Entry] {
        let sections = file.sections.filter { $0.name != IniFile.defaults }
        return sections.sorted { $0.name.unicodeScalars.lexicographicallyPrecedes($1.name.unicodeScalars) }.map {
            Entry(
                name: $0.name, token: value("hf_token", of: $0).flatMap { AccessToken($0) },
                expiresAt: value("expires_at", of: $0).flatMap(Double.init))
        }
    }

    private func value(_ option: String, of section: IniFile.Section) -> String? {
        section[option] ?? file[IniFile.defaults]?[option]
    }

    /// The one of this name.
    package func entry(named name: String) -> Entry? { entries.first { ExactText($0.name) == ExactText(name) } }
    /// The first that holds this token.
    package func entry(holding token: AccessToken) -> Entry? { entries.first { $0.token == token } }

    /// Adds a token, in place of one of the same name with all that was known of it.
    package mutating func set(_ name: String, _ token: AccessToken, expiresAt: Double?) {
        var section = IniFile.Section(name)
        section["hf_token"] = token.secret
        section["expires_at"] = expiresAt.map { String(Int64($0)) }
        file[name] = section
    }

    /// Puts a new token in place of an old one, wherever that is stored.
    package mutating func replace(_ old: AccessToken, by new: AccessToken, expiresAt: Double?) {
        for entry in entries where entry.token == old { set(entry.name, new, expiresAt: expiresAt) }
    }

    /// Removes a token; whether it was there.
    package mutating func remove(_ name: String) -> Bool {
        defer { file[name] = nil }
        return file[name] != nil
    }

    /// A name that the file can hold: line ends become spaces, and the name that means something else gets an ending.
    package static func name(for text: String) -> String {
        let line = String(text.map { IniFile.endsLine($0) ? " " : $0 })
        return IniFile.canName(line) ? line : line + "-token"
    }

    /// Replaces the file, readable by its owner alone; removes it when the last token is gone.
    package func write(to path: String) throws(AIError) {
        let place = try TokenFile.target(of: path, "file of stored tokens")
        guard !file.sections.isEmpty else {
            try FileSystem.remove(place)
            return
        }
        try TokenFile.replace(place, with: file.text)
    }
}
