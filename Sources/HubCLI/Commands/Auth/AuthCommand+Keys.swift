import Fetcher
import HubCore
import RemoteKit

extension AuthCommand {
    // MARK: The keys of servers that speak OpenAI's protocol

    /// Asks for a server's key, checks it with the server's list of models, and keeps it.
    static func login(_ context: Context, to address: String, _ method: Method) async throws {
        guard address != "hf" else {
            throw AIError(
                .invalidInput, "the Hub's inference providers take the Hub's own token",
                advice: "hub auth login saves it")
        }
        let server = try await server(context, address, key: nil)
        guard !context.isOffline else {
            throw AIError(
                .offline, "hub auth login checks the key with the server, and the network is switched off")
        }
        let origin = server.origin
        guard origin.isSafeForCredentials else {
            throw AIError(
                .invalidInput, "the key is not sent to \(origin): it is plain http and not this machine",
                advice: "give the https address")
        }
        context.interruption.kept = "no key was saved"
        let text =
            method == .stdin
            ? try await piped() : try await context.readSecret("Key for \(origin) (input hidden): ")
        let key = try token(in: text, advice: "the server's own pages or its owner give its key")
        var isChecked = true
        do {
            _ = try await Self.server(context, address, key: key).models()
        } catch let error as AIError where [404, 405].contains(error.context.status) {
            isChecked = false
        } catch let error as AIError {
            throw AIError(
                error.code, "\(error.message); the key was not saved", advice: error.specificAdvice,
                context: error.context)
        }
        let keys = ProviderKeys(context.environment)
        try await keys.set(key, of: origin)
        context.interruption.kept = nil
        let document: JSONObject = [
            "provider": .string(origin.description), "checked": .bool(isChecked), "key_path": .string(keys.path),
        ]
        context.output.render(json: document, quiet: [origin.description]) {
            context.output.line(Styled("The key for \(origin) is in \(keys.path)"))
        }
        if !isChecked { context.output.note("\(origin) has no list of models to check the key with") }
        if context.environment["HUB_PROVIDER_KEY"] != nil {
            context.output.warning(
                "HUB_PROVIDER_KEY is set and overrides the key", advice: "unset HUB_PROVIDER_KEY")
        }
    }

    /// Takes back the agreement to send texts to the Hub's inference providers without `--provider`.
    private static func disagree(_ context: Context) async throws {
        let router = try context.environment.inferenceEndpoint().origin
        let wasThere = try await SendingAgreements(context.environment).set(nil, of: router)
        let document: JSONObject = ["provider": .string(router.description), "removed": .bool(wasThere)]
        context.output.render(json: document, quiet: []) {
            context.output.line(
                Styled(
                    wasThere
                        ? "Nothing is sent to \(router) any more unless --provider names it, or you agree again"
                        : "You had not agreed to send texts to \(router)"))
        }
    }

    /// Forgets a server's key, or an agreement.
    static func logout(_ context: Context, of address: String) async throws {
        if address == "hf" { return try await disagree(context) }
        let origin = try await server(context, address, key: nil).origin
        let keys = ProviderKeys(context.environment)
        let wasThere = try await keys.set(nil, of: origin) != nil
        let document: JSONObject = ["provider": .string(origin.description), "removed": .bool(wasThere)]
        context.output.render(json: document, quiet: []) {
            context.output.line(
                Styled(wasThere ? "The key for \(origin) is deleted" : "No key for \(origin) is kept"))
        }
    }

    private static func server(_ context: Context, _ address: String, key: AccessToken?) async throws
        -> OpenAICompatibleProvider
    {
        var settings = OpenAICompatibleProvider.Settings()
        settings.key = key
        return try OpenAICompatibleProvider(
            address: address, model: "any", settings: settings, context: try await context.remoteContext())
    }
}
