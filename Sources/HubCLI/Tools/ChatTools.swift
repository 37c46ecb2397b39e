import HubCore
import InferenceKit
import RemoteKit

/// The tools of a conversation on the command line: programs, each call of which is shown, and runs only if somebody
/// allowed it.
struct ChatTools: Sendable {
    static let tool = Option.text(
        "tool", "CMD", kind: .file, repeats: true, "a program that the model may call",
        detail: """
            Its name is that of the file, without an ending. It gets its arguments as JSON on standard input, and what it \
            writes to standard output is the answer. CMD.json beside it may hold "description" and "parameters", a JSON \
            Schema. It is started without a shell and without tokens in its environment; it has 60 seconds, and 1 MiB for \
            the answer. Each call is shown; hub asks before it runs, and in a pipe only what --allow-tool names runs.
            """)
    static let allow = Option.text(
        "allow-tool", "NAME", repeats: true, "run this tool without asking",
        detail: "The name of a tool of --tool. --yes does not allow tools.")

    static let web = Switch(
        "web", "let the model search the web and read pages",
        detail: """
            It searches with the SearxNG of HUB_SEARXNG_URL, and reads the text of pages that you named or the search found: \
            1 MiB of each, no scripts. Machines of this network are not asked. Each call is shown.
            """)

    let tools: [any Tool]
    /// The tools of `--web`; nil without it.
    let web: WebTools?
    private let allowed: Set<String>
    private let context: Context

    /// The tools of a command line; nil if it names none.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for what is no tool, for two of one name, and for an allowance of none of them.
    init?(_ commands: [String], allowed: [String], web: WebTools?, _ context: Context) throws(AIError) {
        var tools: [CommandTool] = []
        for command in commands {
            let tool = try CommandTool(command, context.environment) { context.output.debug($0) }
            guard !tools.contains(where: { $0.name == tool.name }) else {
                throw AIError(.invalidInput, "--tool: two tools have the name \(tool.name)")
            }
            tools.append(tool)
        }
        for name in allowed where !tools.contains(where: { $0.name == name }) {
            let names = tools.map(\.name).joined(separator: ", ")
            throw AIError(
                .invalidInput, "--allow-tool: there is no tool \(name.printable)",
                advice: names.isEmpty ? "name its program with --tool" : "the tools are: \(names)")
        }
        let own = web?.tools ?? []
        if let tool = tools.first(where: { tool in own.contains { $0.name == tool.name } }) {
            throw AIError(.invalidInput, "--tool: \(tool.name) is the name of a tool of --web")
        }
        guard !tools.isEmpty || !own.isEmpty else { return nil }
        self.tools = tools + own
        self.allowed = Set(allowed).union(own.map(\.name))
        (self.web, self.context) = (web, context)
    }

    /// For a session that uses them: who allows a call.
    var settings: ModelSession.Settings {
        var settings = ModelSession.Settings()
        settings.approve = { try await approve($0) }
        return settings
    }

    private func approve(_ call: GeneratedToolCall) async throws -> ToolApproval {
        let shown = "\(call.name) \(Self.shown(call.arguments))"
        if allowed.contains(call.name) {
            context.output.note("the model calls \(shown)")
            return .allowed
        }
        guard context.isInteractive, context.mode == .human, context.output.settings.outputIsTerminal else {
            context.output.warning(
                "the model calls \(shown), which was not allowed",
                advice: "--allow-tool \(call.name) lets it run in a pipe")
            return .refused("this tool may not be called here: nobody is there to allow it")
        }
        let isAllowed = try await context.confirm(
            "The model calls \(shown). Run it?", isGiven: false, otherwise: "a tool needs a yes")
        return isAllowed ? .allowed : .refused("the person does not allow this call")
    }

    /// Arguments for a terminal. A long text is cut in the middle, so that its end is seen too.
    private static func shown(_ arguments: String) -> String {
        let text = ((try? JSON.parse(arguments))?.text() ?? arguments).printable
        return text.count > 2000
            ? "\(text.prefix(1500)) [... \(text.count - 2000) more ...] \(text.suffix(500))" : text
    }
}
