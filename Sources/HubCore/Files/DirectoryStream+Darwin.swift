#if canImport(Darwin)
import Libc

/// `DIR *`
typealias DirectoryStream = UnsafeMutablePointer<DIR>
#endif
