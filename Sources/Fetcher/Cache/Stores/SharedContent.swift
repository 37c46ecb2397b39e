import CPlatform
import HubCore

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

    /// Whether a name can be replaced by a hard link to another file, in a folder that can be written to. It can still
    /// fail (bind mounts, subvolumes), and then nothing has changed.
    static func canLink(_ source: String, over target: String) -> Bool { obstacle(source, over: target) == nil }

    /// What is in the way of a hard link.
    static func obstacle(_ source: String, over target: String) -> SeparateCopy.Reason? {
        guard let from = (try? FileSystem.linkStatus(source)) ?? nil,
            let to = (try? FileSystem.linkStatus(target)) ?? nil
        else { return .unlike }
        if let obstacle = obstacle(from, over: to) { return obstacle }
        return FileSystem.isWritable(Path.parent(target)) && !FileSystem.isOverlay(target) ? nil : .unwritable
    }

    /// Whether both files are alike in what names of one file share: everybody who could read the second one still can.
    /// A second copy with further names is left alone: they would keep its space in use, and a link that its user made
    /// would break.
    static func canLink(_ source: FileStatus, over target: FileStatus) -> Bool {
        obstacle(source, over: target) == nil
    }

    private static func obstacle(_ source: FileStatus, over target: FileStatus) -> SeparateCopy.Reason? {
        if source.device != target.device { return .otherDisk }
        if target.links != 1 { return .furtherNames }
        let isAlike =
            source.kind == .file && target.kind == .file && source.owner == target.owner
            && source.group == target.group && source.mode == target.mode
        return isAlike ? nil : .unlike
    }
}
