import Catalog
import Fetcher
import HubCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import struct FoundationEssentials.Date
#else
import struct Foundation.Date
#endif

/// A tour of the library: the Hub's data, this machine's catalog, and the cache.
///
///     swift run CatalogTour [WORDS]
///
/// It honours the variables of the Hugging Face libraries (HF_HOME, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE) and keeps
/// its catalog in HUB_HOME. Offline it shows the data of earlier runs.
@main
struct CatalogTour {
    let environment = HubEnvironment.process
    let words: String

    static func main() async {
        let tour = CatalogTour(words: CommandLine.arguments.dropFirst().joined(separator: " "))
        do {
            try await tour.run()
        } catch {
            // Every error of the library is of this type, or a cancellation: it says what happened and what to do.
            let error = AIError.wrapping(error)
            let text = "\(error.message)\n" + (error.recoverySuggestion.map { $0 + "\n" } ?? "")
            _ = write(2, text, text.utf8.count)
            exit(1)
        }
    }

    private func run() async throws {
        // One SQLite file. Its calls block on the disk; one object serves all threads.
        let catalog = try Catalog(path: Catalog.path(in: environment.stateDirectory))
        let configuration = HFConfiguration.endpoint(try environment.endpoint())
        if environment.isOffline {
            print("offline: what is remembered has to do")
        } else {
            try await ask(HFMetadataService(configuration, environment: environment), catalog)
        }
        try search(catalog)
        try await showCache(ModelManager(configuration, environment: environment))
    }

    /// The Hub's results are stored, so that the next search needs no network.
    private func ask(_ service: HFMetadataService, _ catalog: Catalog) async throws {
        let found = try await service.search(query)
        try catalog.remember(found, at: Date().timeIntervalSince1970)
        print("the Hub knows \(found.count)")
        guard let first = found.first else { return }
        let tree = try await service.fetchFileTree(repoId: first.repository.id.name)
        print("\(first.repository) has \(tree.files.count) files, \(ByteCount(tree.totalSize))")
    }

    private func search(_ catalog: Catalog) throws(AIError) {
        let known = try catalog.search(query)
        print("the catalog knows \(known.count)")
        for model in known {
            let record = model.record
            // Text from a Hub may contain control characters for the terminal.
            let task = (record.task ?? "-").filter { $0.isLetter || $0.isNumber || $0 == "-" }
            print("  \(record.repository)  \(task)  \(record.downloads ?? 0) downloads")
        }
    }

    /// The shared cache, with the files of all programs.
    private func showCache(_ manager: ModelManager) async throws {
        let cached = try await manager.cachedModels()
        print("the cache holds \(cached.count), \(try await manager.cacheSize())")
        for model in cached {
            let state = model.complete.map { $0 ? "whole" : "in part" } ?? "nobody knows whether whole"
            print("  \(model.identifier.repository) at \(model.revision.short), \(model.size), \(state)")
        }
    }

    private var query: ModelQuery {
        var query = ModelQuery()
        query.text = words
        query.limit = 5
        return query
    }
}
