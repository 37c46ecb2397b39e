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

    /// Forgets a server's key, and takes back the agreement to send texts there without `--provider`.
    static func logout(_ context: Context, of address: String) async throws {
        let isRouter = address == "hf"
        let origin =
            isRouter
            ? try context.environment.inferenceEndpoint().origin
            : try await server(context, address, key: nil).origin
        let hadKey = isRouter ? false : try await ProviderKeys(context.environment).set(nil, of: origin) != nil
        let hadAgreed = try await SendingAgreements(context.environment).set(nil, of: origin)
        let document: JSONObject = [
            "provider": .string(origin.description), "removed": .bool(hadKey || hadAgreed),
        ]
        context.output.render(json: document, quiet: []) {
            if hadKey { context.output.line("The key for \(origin) is deleted") }
            if hadAgreed {
                context.output.line(
                    "Nothing is sent to \(origin) any more unless --provider names it, or you agree again")
            }
            guard !hadKey, !hadAgreed else { return }
            context.output.line(
                isRouter ? "You had not agreed to send texts to \(origin)" : "No key for \(origin) is kept")
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
