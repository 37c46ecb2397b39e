import HubCore

/// Where the disk went: by program, by model, and what is held twice.
package struct StoreReport: Sendable {
    package struct StoreLine: Sendable, Hashable {
        package var store: Store
        package var bytes: Int64
        package var models: Int
    }

    package struct ModelLine: Sendable, Hashable {
        package var id: String
        package var bytes: Int64
        package var tools: [StoreTool]
        /// Of ``bytes``, those of copies beyond the first.
        package var duplicateBytes: Int64
    }

    package private(set) var stores: [StoreLine] = []
    /// The largest first.
    package private(set) var models: [ModelLine] = []
    package private(set) var duplicateBytes: Int64 = 0

    /// Each physical file counts once: for the first store and the first model that has it.
    package init(_ survey: StoreSurvey) {
        var copies: [PhysicalFile.Identity: Int64] = [:]
        for places in survey.copies() {
            for place in places.dropFirst() { copies[survey[place].identity] = survey[place].bytes }
        }
        duplicateBytes = copies.values.reduce(0, +)
        var seen: Set<PhysicalFile.Identity> = []
        var lines: [String: ModelLine] = [:]
        for contents in survey.stores {
            var isOwn: [Bool] = []
            var bytes = contents.smallBytes
            for file in contents.files {
                let isFirst = seen.insert(file.identity).inserted
                isOwn.append(isFirst)
                if isFirst { bytes += file.bytes }
            }
            stores.append(StoreLine(store: contents.store, bytes: bytes, models: contents.models.count))
            var taken: Set<Int> = []
            for model in contents.models {
                var line = lines[model.id] ?? ModelLine(id: model.id, bytes: 0, tools: [], duplicateBytes: 0)
                if !line.tools.contains(contents.store.tool) { line.tools.append(contents.store.tool) }
                line.bytes += model.smallBytes
                for file in model.files where isOwn[file] && taken.insert(file).inserted {
                    line.bytes += contents.files[file].bytes
                    line.duplicateBytes += copies[contents.files[file].identity] ?? 0
                }
                lines[model.id] = line
            }
        }
        models = lines.values.sorted { ($0.bytes, $1.id) > ($1.bytes, $0.id) }
    }

    package var bytes: Int64 { stores.reduce(0) { $0 + $1.bytes } }
}
