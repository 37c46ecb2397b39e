import Fetcher
import HubCore
import ModelFormats

/// What of a repository is opened as a model: its folder, or a file that `--file` or the reference names.
struct ModelPart {
    /// The file, from the repository's folder; nil for the folder as a whole, or where it is not known yet.
    private(set) var file: String?
    /// The quantization that the reference names; ``file`` is the first one of it where it is here.
    private(set) var quantization: String?
    /// Whether it is in the snapshot.
    private(set) var isHere: Bool

    /// - Parameter snapshot: nil if there is none.
    /// - Throws: ``ErrorCode/invalidInput`` for a reference to something other than a model.
    init(of reference: ModelReference, _ demand: ModelPlace.Demand, in snapshot: String?) throws(AIError) {
        isHere = snapshot != nil
        guard let word = reference.files else {
            file = demand.file
            if let snapshot, let file { isHere = FileSystem.exists(Path.join(snapshot, file)) }
            return
        }
        if let file = demand.file {
            throw AIError(
                .invalidInput, "\(reference) names \(word.printable), and --file names \(file.printable)",
                advice: "leave out one of the two")
        }
        let paths = try snapshot.map { path throws(AIError) in try Warming(folder: path).files.map(\.name) } ?? []
        do throws(AIError) {
            switch try NamedFiles(word, amongPaths: paths, of: reference.repository) {
            case .path(let path) where WeightFormat(fileName: path) == .gguf:
                file = path
                return
            case .weights(let variant, _):
                quantization = word
                if variant.format == .gguf { file = variant.files[0] }
                return
            case .path, .glob: break
            }
        } catch {
            // The quantization is not here.
            guard error.code == .nothingMatches else { throw error }
        }
        isHere = false
        guard NamedFiles.isOfModel(word) else {
            throw AIError(
                .invalidInput, "\(reference) names a file; \(demand.command) takes a model",
                advice: "a GGUF file or a quantization, such as Q4_K_M, may follow the colon")
        }
        if NamedFiles.isQuantization(word) { quantization = word } else { file = word }
    }
}
