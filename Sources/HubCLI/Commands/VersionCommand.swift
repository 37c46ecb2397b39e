import HubCore

/// `hub version`
enum VersionCommand {
    static let command = Command(
        name: "version", doc: "print the version; with -v those of its libraries too",
        detail: "With -v it also prints the versions of the Swift compiler and of the system libraries in use.",
        examples: [
            .init("hub version", "The version."),
            .init("hub version -v", "With the libraries; hub env prints more for a bug report."),
        ],
        run: { context, _ in try await run(context) })

    static func run(_ context: Context) async throws {
        context.output.render(
            json: [
                "name": "hub", "version": .string(Version.number), "swift": .string(Version.swift),
                "libraries": .object(JSONObject(Version.libraries.map { ($0.name, .string($0.version)) })),
            ],
            quiet: [Version.number]
        ) {
            context.output.line("hub \(Version.number)")
            guard context.isVerbose else { return }
            context.output.line("swift \(Version.swift)")
            for library in Version.libraries { context.output.line("\(library.name) \(library.version)") }
        }
    }
}
