import Libc

/// The permissions that new files of this process do not get.
package enum Umask {
    /// Lets the group do with new files and folders what their owner can.
    package static func shareWithGroup() {
        let old = umask(0o077)
        umask(old & ~0o070)
    }
}
