import Fetcher
import HubCore
import Libc
import MemoryKit

/// `hub __complete -- WORD...`: what could stand in place of the last word. The scripts of `hub completions` call it at
/// every tab, so it asks no network, says nothing of what goes wrong, and gives up after two seconds.
enum CandidatesCommand {
    static let name = "__complete"

    /// - Parameter table: the commands to complete.
    static func command(of table: @escaping @Sendable () -> [Command]) -> Command {
        Command(
            name: name, isHidden: true, doc: "print what could stand in place of the last word",
            detail: "For the scripts of hub completions: a candidate a line, a tab and what it is.",
            operands: [Operand("WORD", .any, .text)],
            examples: [.init("hub __complete -- pull llama", "Aliases and models that begin with llama.")],
            run: { context, arguments in try await run(arguments.operands, table(), context) })
    }

    private static func run(_ words: [String], _ table: [Command], _ context: Context) async throws {
        // A disk that hangs must not take the shell along.
        alarm(2)
        let candidates = await Blocking.run { find(words, table, context) }
        let lines = candidates.filter(\.isPlain).map(\.line)
        context.output.render(json: ["candidates": .array(lines.map(JSON.string))], quiet: lines) {
            for line in lines { context.output.value(line) }
        }
    }

    static func find(_ words: [String], _ table: [Command], _ context: Context) -> [Candidate] {
        let line = CompletionLine(words, commands: table)
        switch line.place {
        case .nothing: return []
        case .command: return begins(table.map { .word($0.name, $0.doc) }, line.current)
        case .flag: return begins(flags(line), line.current)
        case .value(let flag, let prefix):
            return begins(values(of: flag, line, context), line.current).map { candidate in
                guard case .word(let text, let doc) = candidate else { return candidate }
                return .word(prefix + text, doc)
            }
        case .operand(let operand) where operand.kind == .page:
            return begins((table.map(\.name) + HelpTopic.all.map(\.name)).map { .word($0) }, line.current)
        case .operand(let operand): return begins(operands(operand, line, context), line.current)
        case .word(let family):
            let words = family.subcommands.map { Candidate.word($0.word, $0.doc) }
            let others = family.usual?.operands.first.map { operands($0, line, context) } ?? []
            return begins(words + others, line.current)
        }
    }

    /// The candidates that begin with what was typed; where none does, those that do without regard to case.
    private static func begins(_ candidates: [Candidate], _ typed: String) -> [Candidate] {
        func matching(_ test: (String) -> Bool) -> [Candidate] {
            candidates.filter { candidate in
                guard case .word(let text, _) = candidate else { return true }
                return test(text)
            }
        }
        let exact = matching { $0.hasPrefix(typed) }
        return exact.isEmpty ? matching { $0.begins(like: typed) } : exact
    }

    /// The flags that may still be given; letters alone, where only letters were typed.
    private static func flags(_ line: CompletionLine) -> [Candidate] {
        let flags = line.knownFlags.filter { $0.repeats || !line.flags.contains($0.name) }
        return flags.map { .word("--\($0.name)", $0.doc) }
            + flags.compactMap { flag in flag.short.map { .word("-\($0)", flag.doc) } }
    }

    private static func values(of flag: Flag, _ line: CompletionLine, _ context: Context) -> [Candidate] {
        let model = line.operands.first
        switch flag.value {
        case .text, .number, .size, .age, .address: return []
        case nil: return flag.refinements.map { .word($0) }
        case .file: return [.files]
        case .folder: return [.folders]
        case .choice(let names): return names.map { .word($0) }
        case .conversation: return conversations(context)
        case .task: return HubTasks.all.map { .word($0) }
        case .model: return line.models(context).cachedModels(line.current)
        case .quantization: return model.map { line.models(context).quantizations(of: $0) } ?? []
        case .ggufFile:
            guard let model else { return [] }
            let here = model.namesModelHere ? context.environment.expand(model) : nil
            return line.models(context).ggufFiles(of: model, in: here)
        case .revision: return model.map { line.models(context).revisions(of: $0) } ?? []
        }
    }

    private static func operands(_ operand: Operand, _ line: CompletionLine, _ context: Context) -> [Candidate] {
        let typed = line.current
        if operand.kind.takesFolder, operand.kind == .folder || typed.namesFolder { return [.folders] }
        switch operand.kind {
        case .file: return [.files]
        case .folder, .text, .page: return []
        case .choice(let names): return names.map { .word($0) }
        case .alias: return line.models(context).aliases()
        case .storedToken: return storedTokens(context)
        case .conversation: return conversations(context)
        case .trashed: return trashed(line.layout(context))
        case .model, .cachedModel, .modelOrFolder, .cachedModelOrFolder: break
        }
        let isCached = operand.kind == .cachedModel || operand.kind == .cachedModelOrFolder
        let models = line.models(context)
        if let colon = typed.firstIndex(of: ":") {
            let (model, prefix) = (String(typed[..<colon]), String(typed[...colon]))
            return models.quantizations(of: model, prefix: prefix, cachedOnly: isCached)
                + models.files(
                    of: model, typed: String(typed[typed.index(after: colon)...]), prefix: prefix,
                    cachedOnly: isCached)
        }
        if let at = typed.firstIndex(of: "@") {
            return models.revisions(of: String(typed[..<at]), prefix: String(typed[...at]), cachedOnly: isCached)
        }
        if isCached { return models.cachedModels(typed) }
        // Words after the first may be files of it.
        let files =
            line.command?.name == "pull" ? line.operands.first.map { models.files(of: $0, typed: typed) } : nil
        return (files ?? []) + models.models(typed)
    }

    private static func storedTokens(_ context: Context) -> [Candidate] {
        ((try? context.accounts.stored())?.entries ?? []).map { .word($0.name) }
    }

    private static func conversations(_ context: Context) -> [Candidate] {
        let path = ConversationArchive.path(in: context.environment.stateDirectory)
        guard FileSystem.exists(path), let archive = try? ConversationArchive(path: path) else { return [] }
        return ((try? archive.entries()) ?? []).map { .word($0.id, $0.title) }
    }

    private static func trashed(_ layout: CacheLayout) -> [Candidate] {
        let entries = (try? Trash(layout).entries()) ?? []
        return Set(entries.compactMap { $0.repository?.description }).sorted().map { .word($0) }
    }
}

extension CompletionLine {
    fileprivate func layout(_ context: Context) -> CacheLayout {
        let environment = context.environment
        return CacheLayout(environment.expand(cacheDirectory ?? context.cacheDir ?? environment.cacheDirectory))
    }

    fileprivate func models(_ context: Context) -> ModelCandidates {
        ModelCandidates(context.environment, layout(context))
    }
}
