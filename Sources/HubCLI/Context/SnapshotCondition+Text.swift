import Fetcher
import HubCore

/// What commands say of a cached revision that is not as it should be.
extension SnapshotCondition {
    /// nil where nothing is missing.
    func incompleteSentence(_ reference: ModelReference) -> String? {
        isIncomplete ? "the download is incomplete; hub pull \(reference.withoutFiles) finishes it" : nil
    }

    /// nil where verifying found nothing.
    func damageSentence(_ reference: ModelReference) -> String? {
        damagedFile.map {
            "hub verify found \($0.printable) damaged; hub verify --repair \(reference.withoutFiles) repairs it"
        }
    }

    /// - Throws: ``ErrorCode/malformedModel`` where verifying found damage.
    func checkSound(_ reference: ModelReference) throws(AIError) {
        guard let damagedFile else { return }
        let whole = reference.withoutFiles
        throw AIError(
            .malformedModel, "\(whole): hub verify found \(damagedFile.printable) damaged",
            advice: "hub verify --repair \(whole) repairs it",
            context: .init(repository: whole.repository.description, path: damagedFile))
    }
}

extension ModelReference {
    /// The same revision, all of it.
    var withoutFiles: ModelReference {
        var out = self
        out.files = nil
        return out
    }
}
