import Catalog
import Fetcher
import HubCore

/// `hub env`
enum EnvCommand {
    static let command = Command(
        name: "env", doc: "print versions, paths, variables and numbers for a bug report",
        detail: """
            Prints the versions of hub and of the libraries it uses, the machine, the paths in use, the environment \
            variables that hub reads and that are set, and how much the cache holds. It uses no network and changes nothing. \
            Of tokens it says only that they are set; names and passwords in addresses are left out. hub doctor says what \
            is wrong.
            """,
        examples: [
            .init("hub env", "To paste into a bug report."),
            .init("hub env --json", "The same for a program."),
        ],
        run: { context, _ in try await run(context) })

    static func run(_ context: Context) async throws {
        let report = try await EnvironmentReport(context)
        context.output.render(json: report.json, quiet: ["hub \(Version.number)"]) {
            for (index, section) in report.sections.enumerated() {
                if index > 0 { context.output.line() }
                context.output.line(Styled(section.title, .strong))
                for (name, value) in section.entries {
                    context.output.line(Styled("  \(name): ", .faint) + Styled(value))
                }
            }
        }
    }
}

/// What `hub env` has found.
private struct EnvironmentReport {
    let environment: HubEnvironment
    let layout: CacheLayout
    let endpoint: String
    let system = SystemName.current
    let memory: (total: Int64, available: Int64)
    /// nil if the cache cannot be read.
    let cache: CacheOverview?
    let diskFree: Int64?

    init(_ context: Context) async throws {
        environment = context.environment
        memory = try Machine.memory()
        let layout = CacheLayout(environment.expand(context.cacheDir ?? environment.cacheDirectory))
        self.layout = layout
        do throws(AIError) { endpoint = try context.hubEndpoint().address } catch {
            endpoint = "invalid: \(error.message)"
        }
        // Without the catalog: opening it would create it.
        cache = try? await Blocking.run { try CacheScanner(layout, catalog: nil).overview() }
        diskFree = try? await Blocking.run { try FileSystem.diskSpace(layout.root).available }
    }

    private var versions: [(String, String)] {
        [("hub", Version.number), ("swift", Version.swift)] + Version.libraries.map { ($0.name, $0.version) }
    }

    private var paths: [(String, String)] {
        [
            ("cache", layout.root), ("hf_home", environment.huggingFaceHome),
            ("hub_home", environment.stateDirectory),
            ("catalog", Catalog.path(in: environment.stateDirectory)), ("token", environment.tokenPath),
            ("endpoint", endpoint),
        ]
    }

    /// The variables that are set, as they may be shown.
    private var variables: [(String, String)] {
        (EnvironmentVariable.all + EnvironmentVariable.others).flatMap { variable in
            variable.names.compactMap { name in
                environment[name].map { value in (name, Self.shown(value, variable.content)) }
            }
        }
    }

    private static func shown(_ value: String, _ content: EnvironmentVariable.Content) -> String {
        switch content {
        case .plain: value.printable
        case .secret: "set, not shown"
        case .address: Secrets.address(value).printable
        }
    }

    private var tokenFile: String { FileSystem.exists(environment.tokenPath) ? "present" : "missing" }

    private var catalogSize: Int64? {
        (try? CatalogInspection.size(Catalog.path(in: environment.stateDirectory))) ?? nil
    }

    var sections: [(title: String, entries: [(String, String)])] {
        let machine = [
            ("system", "\(system.system) \(system.release)"), ("architecture", system.architecture),
            ("processors", "\(Machine.processors)"),
            ("memory", "\(ByteCount(memory.total)), \(ByteCount(memory.available)) available"),
        ]
        var figures: [(String, String)] = []
        if let cache {
            figures.append(("repositories", "\(cache.repositories.count)"))
            figures.append(("size", "\(ByteCount(cache.totalSize))"))
            figures.append(("unfinished downloads", "\(ByteCount(cache.partialSize))"))
            figures.append(("problems", "\(cache.remarks.count)"))
        } else {
            figures.append(("cache", "cannot be read"))
        }
        if let diskFree { figures.append(("free on its disk", "\(ByteCount(diskFree))")) }
        figures.append(("catalog", catalogSize.map { "\(ByteCount($0))" } ?? "none yet"))
        figures.append(("token file", tokenFile))
        return [
            ("versions", versions), ("machine", machine), ("paths", paths),
            ("variables", variables.isEmpty ? [("none", "set")] : variables), ("figures", figures),
        ]
    }

    var json: JSONObject {
        func object(_ entries: [(String, String)]) -> JSON {
            .object(JSONObject(entries.map { ($0.0, .string($0.1)) }))
        }
        return [
            "versions": object(versions),
            "machine": .object([
                "system": .string(system.system), "release": .string(system.release),
                "architecture": .string(system.architecture), "processors": .int(Int64(Machine.processors)),
                "memory_bytes": .int(memory.total), "memory_available_bytes": .int(memory.available),
            ]),
            "paths": object(paths), "variables": object(variables),
            "cache": .object([
                "readable": .bool(cache != nil), "repositories": cache.map { .int(Int64($0.repositories.count)) },
                "total_bytes": cache.map { .int($0.totalSize) },
                "partial_bytes": cache.map { .int($0.partialSize) },
                "other_bytes": cache.map { .int($0.otherSize) },
                "problems": cache.map { .int(Int64($0.remarks.count)) },
                "disk_free_bytes": diskFree.map { .int($0) },
            ]),
            "catalog_bytes": catalogSize.map { .int($0) },
            "token_file": .bool(FileSystem.exists(environment.tokenPath)),
        ]
    }
}
