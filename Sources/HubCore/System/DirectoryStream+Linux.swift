#if os(Linux)
/// `DIR *`: the C libraries of Linux do not say what is in it.
typealias DirectoryStream = OpaquePointer
#endif
