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
        detail: """
            The name of a tool of --tool; web_search of --web, where a conversation has files. --yes does not allow tools.
            """)

    static let web = Switch(
        "web", "let the model search the web and read pages",
        detail: """
            It searches with the SearxNG of HUB_SEARXNG_URL, and reads the text of pages that you named or the search found: \
            1 MiB of each, no scripts. Machines of this network are not asked. Each call is shown. If the conversation has \
            files in it (--with, --attach, answers of --tool), hub asks before each search, whose words the model chooses; in \
            a pipe --allow-tool web_search lets it search.
            """)

    private let programs: [CommandTool]
    /// The tools of `--web`; nil without it.
    let web: WebTools?
    private let allowed: Set<String>
    private let overseer: any ToolOverseer
    private struct State {
        var guardsSearches = false
        var waited = 0.0
    }
    private let state = Lock(State())
    /// The tool of ``WebTools`` whose arguments reach others, and both: what they answer is of no file.
    private static let search = "web_search"
    static let ofTheWeb: Set = [search, "read_page"]
    /// Characters of arguments shown in a question; a call with more is refused without one.
    private static let most = 8000

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
        let own = web?.tools ?? []
        for name in allowed where !(tools + own).contains(where: { $0.name == name }) {
            let names = (tools + own).map(\.name).joined(separator: ", ")
            throw AIError(
                .invalidInput, "--allow-tool: there is no tool \(name.printable)",
                advice: names.isEmpty ? "name its program with --tool" : "the tools are: \(names)")
        }
        if let tool = tools.first(where: { tool in own.contains { $0.name == tool.name } }) {
            throw AIError(.invalidInput, "--tool: \(tool.name) is the name of a tool of --web")
        }
        guard !tools.isEmpty || !own.isEmpty else { return nil }
        self.init(tools, allowed: Set(allowed), web: web, context)
    }

    private init(_ programs: [CommandTool], allowed: Set<String>, web: WebTools?, _ overseer: any ToolOverseer) {
        (self.programs, self.allowed, self.web, self.overseer) = (programs, allowed, web, overseer)
    }

    /// The same tools for another conversation, over which somebody else watches.
    func anew(web: WebTools?, _ overseer: any ToolOverseer) -> ChatTools {
        ChatTools(programs, allowed: allowed, web: web, overseer)
    }

    var tools: [any Tool] { programs + (web?.tools ?? []) }

    private func isOfTheWeb(_ name: String) -> Bool { web?.tools.contains { $0.name == name } ?? false }

    /// For a session that uses them: who allows a call.
    var settings: ModelSession.Settings {
        var settings = ModelSession.Settings()
        settings.approve = { try await approve($0) }
        return settings
    }

    /// Seconds in which a person was asked.
    var waited: Double { state.withLock { $0.waited } }

    /// Asks before each search from now on: the conversation has something of this machine, and the model chooses the words.
    func guardSearches() { state.withLock { $0.guardsSearches = true } }

    private func approve(_ call: GeneratedToolCall) async throws -> ToolApproval {
        let approval = try await decide(call)
        // What it answers is of this machine, too.
        if case .allowed = approval, !isOfTheWeb(call.name) { guardSearches() }
        return approval
    }

    private func decide(_ call: GeneratedToolCall) async throws -> ToolApproval {
        let arguments = Self.readable(call.arguments)
        let shown = "\(call.name) \(Self.shown(arguments))"
        let isGuarded = call.name == Self.search && state.withLock { $0.guardsSearches }
        if allowed.contains(call.name) || isOfTheWeb(call.name) && !isGuarded {
            overseer.hear("the model calls \(shown)")
            return .allowed
        }
        guard overseer.isThere else {
            overseer.warn(
                "the model calls \(shown), which was not allowed",
                advice: "--allow-tool \(call.name) lets it run in a pipe")
            return .refused("this tool may not be called here: nobody is there to allow it")
        }
        guard arguments.count <= Self.most else {
            overseer.warn(
                "\(call.name) does not run: its arguments are too long to look through",
                advice: "--allow-tool \(call.name) lets it run without a question")
            return .refused("the arguments are too long to be allowed: at most \(Self.most) characters")
        }
        let start = Clock.seconds
        defer { state.withLock { $0.waited += Clock.seconds - start } }
        let isAllowed = try await overseer.allows(call.name, with: arguments)
        return isAllowed ? .allowed : .refused("the person does not allow this call")
    }

    private static func readable(_ arguments: String) -> String {
        ((try? JSON.parse(arguments))?.text() ?? arguments).printable
    }

    /// Arguments of which nobody is asked. A long text is cut in the middle, so that its end is seen too.
    private static func shown(_ text: String) -> String {
        text.count > 2000
            ? "\(text.prefix(1500)) [... \(text.count - 2000) more ...] \(text.suffix(500))" : text
    }
}
