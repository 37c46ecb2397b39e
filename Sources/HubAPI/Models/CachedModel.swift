import Fetcher
import HubCore
import InferenceKit

/// A model of the cache that runs here, under the name that clients call it by.
struct CachedModel: Sendable {
    /// `org/name`, or `org/name:Q4_K_M` for one of several quantizations.
    var id: String
    var reference: ModelReference
    var commit: Commit
    /// What is opened: the snapshot, or a GGUF file in it.
    var path: String
    /// The files of its weights, where the snapshot has others besides; nil if the whole snapshot is the model.
    var files: Set<String>?
    /// Seconds since 1970.
    var modified: Double
    /// Bytes of its weights.
    var bytes: Int64
    /// The SHA-256 of its first file of weights; empty if that is not known.
    var digest: String
    var format: String
    var quantization: String?
    var inspection: ModelInspection

    /// What errors call it by instead of its folder.
    var place: (path: String, name: String) { (path, id) }

    /// Reads more of it on a thread that may block.
    func read<Value: Sendable>(_ body: @escaping @Sendable (CachedModel) throws -> Value) async throws -> Value {
        do { return try await Blocking.run { try body(self) } } catch { throw APIFault(error, at: place) }
    }
}
