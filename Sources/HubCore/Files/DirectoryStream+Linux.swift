#if os(Linux)
/// `DIR *`: opaque in Linux's C libraries.
typealias DirectoryStream = OpaquePointer
#endif
