import Fetcher
import HubCore
import InferenceKit
import ModelFormats
import RemoteKit

/// A model of a remote provider, and what the output calls both.
struct RemoteModel: Sendable {
    /// All that hub asks of a provider.
    typealias Provider = ChatModel & EmbeddingModel & SpeechTranscriber & ImageGenerator

    let provider: any Provider
    /// `"provider"` of the contract: `hf:groq`, `hf`, or a server's origin.
    let label: String
    /// `"model"` of the contract.
    let name: String
    /// The model on the Hub; nil for a server's own.
    var repository: RepositoryID?

    /// The label when it is known who answered: where the Hub's router chose, the one that it chose.
    static func label(_ label: String, servedBy: String?) -> String {
        guard label == "hf", let servedBy else { return label }
        return "hf:\(servedBy)"
    }
}

extension Context {
    /// What all calls to providers share.
    func remoteContext() async throws -> RemoteContext {
        let output = output
        return RemoteContext(
            workspace: try await workspace(), log: { output.debug($0) }, notice: { output.note($0) })
    }

    /// The model of a provider. Nothing is sent.
    ///
    /// - Parameter text: the model as it was typed.
    /// - Throws: ``ErrorCode/invalidInput`` for what that provider cannot be asked for.
    func remoteModel(
        _ text: String, at choice: ProviderChoice, timeout: Double?, _ shared: RemoteContext
    ) throws(AIError) -> RemoteModel {
        guard case .server(let address) = choice else {
            let name = try remoteName(text, at: choice)
            var settings = HuggingFaceProvider.Settings()
            settings.limits = ProviderFlags.limits(timeout)
            let provider = try HuggingFaceProvider(model: name, settings: settings, context: shared)
            return RemoteModel(
                provider: provider, label: provider.label, name: name.repository.name, repository: name.repository)
        }
        var settings = OpenAICompatibleProvider.Settings()
        settings.limits = ProviderFlags.limits(timeout)
        settings.key = try providerKey(for: address)
        let provider = try OpenAICompatibleProvider(
            address: address, model: text, settings: settings, context: shared)
        return RemoteModel(provider: provider, label: provider.label, name: text)
    }

    /// `HUB_PROVIDER_KEY`, else the key that `hub auth login --provider URL` kept; nil if there is none.
    private func providerKey(for address: String) throws(AIError) -> AccessToken? {
        guard let text = environment["HUB_PROVIDER_KEY"] else {
            guard let origin = Origin(address) else { return nil }
            return try ProviderKeys(environment).key(of: origin)
        }
        guard let key = AccessToken(text) else {
            throw AIError(.invalidInput, "HUB_PROVIDER_KEY contains characters that no key has")
        }
        return key
    }

    /// The model as the Hub's router takes it: `org/name`, and who must serve it.
    private func remoteName(_ text: String, at choice: ProviderChoice) throws(AIError) -> RemoteModelName {
        guard !text.namesModelHere else {
            throw AIError(
                .invalidInput, "\(text.printable) is on this machine; the Hub's providers serve models of the Hub",
                advice: "write org/name, or leave out --provider")
        }
        let reference = try reference(text)
        guard reference.repository.kind == .model else {
            throw AIError(.invalidInput, "\(reference.repository) is not a model")
        }
        guard reference.revision == nil else {
            throw AIError(
                .invalidInput, "providers serve the main branch of a model; \(text.printable) names a revision",
                advice: "write \(reference.repository.id.name)")
        }
        var wanted: String?
        if case .hub(let name) = choice { wanted = name }
        if let suffix = reference.files {
            guard !NamedFiles.isOfModel(suffix) else {
                throw AIError(
                    .invalidInput,
                    "\(suffix.printable) names files of \(reference.withoutFiles), and providers serve whole models",
                    advice: "leave it out, or write --provider local")
            }
            _ = try RemoteModelName("\(reference.repository.id.name):\(suffix)")
            guard wanted == nil || wanted == suffix else {
                throw AIError(
                    .invalidInput, "\(text.printable) names \(suffix), and --provider names \(wanted ?? "")",
                    advice: "leave out one of the two")
            }
            wanted = suffix
        }
        return RemoteModelName(reference.repository.id, suffix: wanted)
    }
}

extension Context {
    /// The model of a command that nothing on this machine does yet; `auto` is the Hub's providers.
    ///
    /// - Parameter whoWould: what models here do not do: "write down speech".
    /// - Throws: ``ErrorCode/invalidInput`` for `--provider local`.
    func onlyRemoteModel(
        _ text: String, at choice: ProviderChoice, timeout: Double?, whoWould work: String
    ) async throws -> RemoteModel {
        guard choice != .local else {
            throw AIError(
                .invalidInput, "models on this machine do not \(work) yet", advice: "write --provider hf")
        }
        let model = try remoteModel(
            text, at: choice == .auto ? .hub(nil) : choice, timeout: timeout, try await remoteContext())
        if choice == .auto, !isOffline {
            try await SendingAgreement("models on this machine do not \(work) yet", self).ask(for: model.name)
        }
        return model
    }
}
