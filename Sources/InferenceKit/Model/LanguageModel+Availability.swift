import HubCore
import ModelFormats

extension LanguageModel {
    /// Whether a folder's model can be opened, from its headers and the free memory.
    public static func availability(folder: String, options: ModelOptions = ModelOptions()) async
        -> ProviderAvailability
    {
        do throws(AIError) {
            let inspection = try await ModelInspection.inspect(folder: folder)
            guard inspection.isSupported else {
                return .unavailable(.unsupported(inspection.obstacles))
            }
            let required = inspection.memoryBytes(
                context: options.context, cacheFormat: options.usedCacheFormat)
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
            case .unsupportedModel: return .unavailable(.unsupported([RunObstacle(error)]))
            default: return .unavailable(.unknown(error.message))
            }
        }
    }
}
