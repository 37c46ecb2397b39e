// The system's C library under one name. Swift has a module for each: Glibc and Musl on Linux, Darwin on macOS.
#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#else
@_exported import Darwin
#endif
