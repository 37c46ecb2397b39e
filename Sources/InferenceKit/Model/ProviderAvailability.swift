import HubCore

/// Whether a model can be used now, and why not.
public enum ProviderAvailability: Sendable, Hashable {
    /// It can be used.
    case available
    /// It cannot.
    case unavailable(Reason)

    /// Why a model cannot be used.
    public enum Reason: Sendable, Hashable {
        /// A service requires an API key that is missing.
        case apiKeyMissing
        /// A service cannot be reached.
        case networkUnavailable
        /// The folder does not exist.
        case modelNotDownloaded
        /// A part of the model that is not implemented: `architecture gpt2`.
        case unsupportedArchitecture(String)
        /// Required and available bytes.
        case insufficientMemory(required: Int64, available: Int64)
        /// This platform cannot run it.
        case unsupportedPlatform
        /// Anything else, in one sentence.
        case unknown(String)
    }

    /// Whether it can be used.
    public var isAvailable: Bool { self == .available }
}

extension LanguageModel {
    /// Whether a folder's model can be opened, from its headers and the free memory.
    public static func availability(folder: String, options: ModelOptions = ModelOptions()) async
        -> ProviderAvailability
    {
        do throws(AIError) {
            let inspection = try await ModelInspection.inspect(folder: folder)
            guard inspection.isSupported else {
                return .unavailable(.unsupportedArchitecture(inspection.obstacles.joined(separator: ", ")))
            }
            let required = inspection.memoryBytes(context: options.context)
            let available: Int64
            if let given = options.availableMemory {
                available = given
            } else {
                available = try Machine.memory().available
            }
            guard required <= available else {
                return .unavailable(.insufficientMemory(required: required, available: available))
            }
            return .available
        } catch {
            switch error.code {
            case .fileNotFound: return .unavailable(.modelNotDownloaded)
            case .unsupportedModel: return .unavailable(.unsupportedArchitecture(error.message))
            default: return .unavailable(.unknown(error.message))
            }
        }
    }
}
