import Catalog
import Fetcher
import HubCore
import Support

/// The readers of files from other machines.
extension FuzzDoor {
    /// An archive of `hub export`, its manifest alone, or a hub.lock.
    static let archive = FuzzDoor(
        "archive",
        read: { bytes in
            let isJSON = bytes.first == UInt8(ascii: "{")
            let file = try ScratchFile(isJSON ? "hub-export.json" : "models.tar")
            try file.write(bytes)
            let folder = Path.parent(file.path)
            let layout = CacheLayout(Path.join(folder, "cache"))
            do throws(AIError) {
                if isJSON { _ = try ModelLock.read(file.path)?.text }
            } catch { try error.mustRefuse(.invalidInput) }
            do throws(AIError) {
                _ = try ArchiveImport(
                    isJSON ? folder : file.path, into: layout, catalog: DispensableCatalog(nil) { _ in }
                ).newBytes
            } catch { try error.mustRefuse(.malformedModel, .fileNotFound, .notCached) }
        })
}
