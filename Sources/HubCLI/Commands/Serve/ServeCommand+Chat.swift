import Fetcher
import HubAPI
import HubCore
import InferenceKit
import RemoteKit

extension ServeCommand {
    /// What a chat on the page may use. `hub help chat` explains them.
    static let chatFlags = [
        ChatTools.tool.flag, ChatTools.allow.flag, ChatTools.web.flag, ChatCommand.with.flag,
        ChatCommand.embedder.flag, ProviderFlags.provider.flag,
    ]

    /// What is asked for the chat of the page.
    struct ChatRequest: Sendable {
        var tools: [String]
        var allowedTools: [String]
        var searchesWeb: Bool
        var folders: [String]
        var embedder: String?
        /// Who else may answer; nil for this machine alone.
        var provider: ProviderChoice?

        /// nil where there is no chat.
        init?(_ parts: Set<Part>, _ arguments: ParsedArguments) throws(AIError) {
            guard parts.isSuperset(of: [.api, .page]) else {
                if let flag = chatFlags.map(\.name).first(where: arguments.has) {
                    throw AIError(
                        .invalidInput, "--\(flag) is about the chat of the page",
                        advice: "write hub serve api page, or all")
                }
                return nil
            }
            (tools, allowedTools) = (arguments.all(ChatTools.tool), arguments.all(ChatTools.allow))
            searchesWeb = arguments[ChatTools.web]
            folders = arguments.all(ChatCommand.with)
            embedder = arguments[ChatCommand.embedder]
            if embedder != nil, folders.isEmpty {
                throw AIError(.invalidInput, "--embedder is about the documents of --with, which is missing")
            }
            provider = arguments[ProviderFlags.provider]
            if provider == .local { provider = nil }
            if provider == .auto {
                throw AIError(
                    .invalidInput, "--provider auto: on the page a person chooses who answers",
                    advice: "name who else may: hf, hf:NAME or a server's address")
            }
        }
    }

    /// What a chat on the page may use; nil without an API beside it.
    static func pageTalk(_ context: Context, _ asked: ChatRequest?, _ api: APIRoom?) async throws -> PageTalk? {
        guard let api else { return nil }
        var talk = PageTalk(api: api)
        guard let asked else { return talk }
        let web = asked.searchesWeb ? try WebTools(try await context.remoteContext()) : nil
        if web?.searches == false {
            context.output.note(
                "HUB_SEARXNG_URL is not set: nothing is searched, and pages that are named can be read")
        }
        talk.tools = try ChatTools(asked.tools, allowed: asked.allowedTools, web: web, context)
        if let names = talk.tools?.tools.map(\.name).joined(separator: ", "), !asked.tools.isEmpty {
            context.output.note("models in the chat may call \(names); whoever may use the page allows it")
        }
        if !asked.folders.isEmpty {
            let demand = ModelPlace.Demand(command: "hub serve")
            talk.memory = try await ChatMemory.open(asked.folders, embedder: asked.embedder, demand, context)
        }
        talk.provider = asked.provider
        if let provider = asked.provider {
            context.output.note("the chat may ask \(Secrets.address(provider.text)), after a yes on the page")
        }
        return talk
    }
}
