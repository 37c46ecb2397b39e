#if canImport(Darwin)
import Darwin

/// `DIR *`
typealias DirectoryStream = UnsafeMutablePointer<DIR>
#endif
