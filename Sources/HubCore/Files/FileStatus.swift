package import Libc

/// The result of stat(2). Times are seconds since 1970 with their fraction.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case file, directory, symlink, other }
    package var kind: Kind
    /// Apparent size in bytes (st_size).
    package var size: Int64
    /// Allocated bytes (st_blocks): less than its size if sparse or compressed.
    package var allocated: Int64
    package var device: UInt64
    package var inode: UInt64
    package var links: UInt64
    /// Permission bits.
    package var mode: UInt32
    package var owner: UInt32
    package var group: UInt32
    package var modified: Double
    package var accessed: Double
    package var changed: Double
    /// Modification time in whole nanoseconds, for comparing without loss.
    package var modifiedNanoseconds: Int64
    /// When the inode was last changed, in whole nanoseconds.
    package var changedNanoseconds: Int64

    package init(_ info: stat) {
        switch info.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symlink
        default: kind = .other
        }
        size = Int64(info.st_size)
        // "st_blocks: number of 512B blocks allocated" stat(3type)
        allocated = Int64(info.st_blocks) * 512
        device = UInt64(truncatingIfNeeded: info.st_dev)
        inode = UInt64(truncatingIfNeeded: info.st_ino)
        links = UInt64(truncatingIfNeeded: info.st_nlink)
        mode = UInt32(info.st_mode & 0o7777)
        owner = UInt32(info.st_uid)
        group = UInt32(info.st_gid)
        #if os(Linux)
        let (modification, access, change) = (info.st_mtim, info.st_atim, info.st_ctim)
        #else
        let (modification, access, change) = (info.st_mtimespec, info.st_atimespec, info.st_ctimespec)
        #endif
        func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
        modified = seconds(modification)
        accessed = seconds(access)
        changed = seconds(change)
        modifiedNanoseconds = Timestamp.nanoseconds(modification)
        changedNanoseconds = Timestamp.nanoseconds(change)
    }
}

/// Detects a change of a file without reading it.
package struct FileStamp: Sendable, Hashable {
    package var size: Int64
    /// When its content was last changed, nanoseconds since 1970.
    package var modified: Int64
    package var inode: UInt64

    package init(size: Int64, modified: Int64, inode: UInt64) {
        (self.size, self.modified, self.inode) = (size, modified, inode)
    }
}

/// Identifies a file and its state. Any write or replacement changes it, even if the modification time is set back.
package struct FileFingerprint: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64
    package var size: Int64
    /// Nanoseconds since 1970, as ``changed``.
    package var modified: Int64
    /// When the inode was last changed, which programs cannot set.
    package var changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        (self.device, self.inode, self.size) = (device, inode, size)
        (self.modified, self.changed) = (modified, changed)
    }
}

extension FileStatus {
    package var stamp: FileStamp { FileStamp(size: size, modified: modifiedNanoseconds, inode: inode) }
    package var fingerprint: FileFingerprint {
        FileFingerprint(
            device: device, inode: inode, size: size, modified: modifiedNanoseconds, changed: changedNanoseconds)
    }
}
