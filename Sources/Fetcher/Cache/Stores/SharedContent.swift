import CPlatform
package import HubCore

/// Makes two files share their content.
package enum SharedContent {
    /// Whether the file system can share the blocks of two files (FIDEDUPERANGE, asked about no bytes, which changes
    /// nothing).
    static func canShareBlocks(_ source: String, _ target: String) -> Bool {
        guard let from = try? FileDescriptor(unnoticed: source), let to = try? FileDescriptor(target, [.write])
        else {
            return false
        }
        return from.canShareBlocks(with: to)
    }

    /// Whether a name can be replaced by a hard link to another file: one device and one owner, and a folder that can be
    /// written to. It can still fail (bind mounts, subvolumes), and then nothing has changed.
    static func canLink(_ source: String, over target: String) -> Bool {
        guard let from = (try? FileSystem.linkStatus(source)) ?? nil, from.kind == .file,
            let to = (try? FileSystem.linkStatus(target)) ?? nil, to.kind == .file
        else { return false }
        return from.device == to.device && from.owner == to.owner && FileSystem.isWritable(Path.parent(target))
            && !FileSystem.isOverlay(target)
    }
}
