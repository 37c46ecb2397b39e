package import HubCore

extension ModelLock {
    private static let version: Int64 = 1
    /// The largest lock in bytes.
    private static let limit = 64 << 20

    /// The text of the file.
    package var text: String {
        var out = "{\n  \"hub_lock\": \(Self.version),\n  \"models\": ["
        for (index, entry) in entries.enumerated() {
            out += index == 0 ? "\n" : ",\n"
            out += "    {\n"
            var members: [(String, JSON)] = [("id", .string(entry.repository.description))]
            if let revision = entry.revision { members.append(("revision", .string(revision))) }
            members.append(("commit", .string(entry.commit.hash)))
            if !entry.choice.isEverything { members.append(("choice", entry.choice.json)) }
            for (key, value) in members { out += "      \"\(key)\": \(value.text()),\n" }
            out += "      \"files\": ["
            for (index, file) in entry.files.enumerated() {
                out += "\(index == 0 ? "" : ",")\n        \(file.json.text())"
            }
            out += entry.files.isEmpty ? "]\n    }" : "\n      ]\n    }"
        }
        return out + (entries.isEmpty ? "]\n}\n" : "\n  ]\n}\n")
    }

    /// Reads a lock; nil if there is none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` naming the file, the entry and the fault.
    package static func read(_ path: String) throws(AIError) -> ModelLock? {
        guard let bytes = try FileSystem.contents(path, limit: limit) else { return nil }
        func fault(_ why: String) -> AIError {
            AIError(.invalidInput, "\(path.printable): \(why)", context: .init(path: path))
        }
        let json: JSON
        do throws(JSONError) { json = try JSON.parse(bytes) } catch { throw fault("\(error)") }
        guard let version = json["hub_lock"]?.int, let models = json["models"]?.array else {
            throw fault("it is not a lock of hub")
        }
        guard version == Self.version else {
            throw fault("it has version \(version), and this hub knows version \(Self.version)")
        }
        var lock = ModelLock()
        for model in models {
            let name = model["id"]?.string ?? "a model without an id"
            do throws(AIError) {
                let entry = try Entry(json: model)
                guard
                    !lock.entries.contains(where: {
                        $0.repository == entry.repository && $0.revision == entry.revision
                    })
                else { throw AIError(.invalidInput, "it is there twice") }
                lock.set(entry)
            } catch { throw fault("\(name.printable): \(error.message)") }
        }
        return lock
    }

    /// Writes the file, whole or not at all.
    package func write(_ path: String) throws(AIError) {
        try FileSystem.replace(path, with: Array(text.utf8), durable: true)
    }
}

extension ModelLock.Entry {
    fileprivate init(json: JSON) throws(AIError) {
        func fault(_ why: String) -> AIError { AIError(.invalidInput, why) }
        guard let id = json["id"]?.string else { throw fault("there is no id") }
        let name = try ModelReference(parsing: id)
        guard name.revision == nil, name.files == nil, name.repository.description == id else {
            throw fault("it is not the name of a repository")
        }
        guard let commit = json["commit"]?.string.flatMap(Commit.init) else { throw fault("there is no commit") }
        let revision = json["revision"]?.string
        if let revision { try RepositoryPath.checkRevision(revision) }
        guard let list = json["files"]?.array else { throw fault("there are no files") }
        var choice = FileChoice.everything
        if let told = json["choice"] {
            guard let read = FileChoice(json: told) else { throw fault("the choice is not one of hub's") }
            choice = read
        }
        var files: [TravellingFile] = []
        for file in list { files.append(try TravellingFile(json: file)) }
        guard Set(files.map { ExactText($0.path) }).count == files.count else {
            throw fault("a file is there twice")
        }
        self.init(name.repository, revision: revision, commit: commit, choice: choice, files: files)
    }
}
