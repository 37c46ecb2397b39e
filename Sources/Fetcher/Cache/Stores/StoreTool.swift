import HubCore

/// A program that keeps models on this machine.
package enum StoreTool: String, Sendable, Hashable, CaseIterable {
    case huggingface
    case ollama
    case lmstudio
    case llamaCpp = "llama.cpp"
    case jan
    /// Weights in folders that belong to no known program.
    case files

    /// Whether the program never writes into a finished file, so that a hard link to it keeps its bytes. Updates and
    /// removals replace or unlink names.
    ///
    /// ollama and LM Studio write beside and rename; llama.cpp too, and its migration renames. Of the others nothing is
    /// promised: some rewrite files in place (text-generation-webui's `--clean`).
    package var keepsFilesUnchanged: Bool {
        switch self {
        case .huggingface, .ollama, .lmstudio, .llamaCpp: true
        case .jan, .files: false
        }
    }
}

/// A folder in which a program keeps models.
package struct Store: Sendable, Hashable {
    package var tool: StoreTool
    /// The folder, links resolved.
    package var path: String
    /// What it is where it is not where the program keeps its models: `trash`, `xet`, `assets`, or `folder` of a person's
    /// own.
    package var part: String?

    package init(_ tool: StoreTool, _ path: String, part: String? = nil) {
        self.tool = tool
        self.path = path
        self.part = part
    }
}

/// A file that may hold weights, or a large one of any kind.
package struct StoreFile: Sendable, Hashable {
    /// Below the store's folder.
    package var path: String
    package var file: PhysicalFile
    /// When its content was last changed, nanoseconds since 1970.
    package var modified: Int64

    /// Bytes that count: of a sparse file, such as a partial, what is allocated.
    package var bytes: Int64 { min(file.size, max(file.allocated, 0)) }
    package var identity: PhysicalFile.Identity { file.identity }
}

/// A model of a store.
package struct StoreModel: Sendable, Hashable {
    /// What its program calls it; `org/name` where it comes from the Hub.
    package var id: String
    /// Its large files, by their place in ``StoreContents/files``.
    package var files: [Int] = []
    /// Bytes of its small files.
    package var smallBytes: Int64 = 0
}

/// What lies in a store.
package struct StoreContents: Sendable {
    package var store: Store
    package var files: [StoreFile] = []
    package var models: [StoreModel] = []
    /// SHA-256 that the program itself names files by, by their place in ``files``: a claim.
    package var claims: [Int: String] = [:]
    /// Files that are still being fetched: their content is not what their name says.
    package var partials: Set<Int> = []
    /// Bytes of files that are not in ``files``.
    package var smallBytes: Int64 = 0
    /// Folders that could not be read.
    package var unreadable: [String] = []

    package init(_ store: Store) { self.store = store }

    package func path(_ file: Int) -> String { Path.join(store.path, files[file].path) }
}
