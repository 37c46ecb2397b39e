import CCrypto

/// The digest that names a blob in the Hub's tree and in the cache's `blobs/`.
public enum ContentDigest: Sendable, Hashable, CustomStringConvertible {
    /// SHA-256 of the bytes: 64 lower-case hexadecimal digits. LFS and Xet files.
    case sha256(String)
    /// git's blob hash, SHA-1 of `blob <length>\0` and the bytes: 40 lower-case hexadecimal digits. Regular files.
    /// SHA-1 has collisions, so content is never shared between repositories by it.
    case gitSHA1(String)

    /// The digest of a blob's name or a normalised etag; nil if it is not 40 or 64 hexadecimal digits.
    public init?(etag: String) {
        guard etag.utf8.allSatisfy(\.isLowercaseHex) else { return nil }
        switch etag.utf8.count {
        case 64: self = .sha256(etag)
        case 40: self = .gitSHA1(etag)
        default: return nil
        }
    }

    /// The digits: the blob's name.
    public var hex: String {
        switch self {
        case .sha256(let hex), .gitSHA1(let hex): hex
        }
    }

    /// The digits.
    public var description: String { hex }

    /// An `ETag` or `X-Linked-Etag` header as Python normalises it: leading `W` and `/` stripped, then quotes.
    package static func normalized(etag: String) -> String {
        var text = Substring(etag)
        while let first = text.first, first == "W" || first == "/" { text.removeFirst() }
        while text.hasPrefix("\"") { text.removeFirst() }
        while text.hasSuffix("\"") { text.removeLast() }
        return String(text)
    }
}

/// An incremental digest: fed in order, finished once. Uses libcrypto with the CPU's SHA instructions.
package final class ContentHasher {
    private enum Algorithm {
        case sha256(SHA256Hasher)
        /// https://docs.openssl.org/3.0/man3/EVP_DigestInit/
        case gitSHA1(OpaquePointer)
    }

    /// The read-ahead distance in bytes.
    private static let lead: Int64 = 4 << 20

    private let algorithm: Algorithm
    /// Bytes of content fed so far.
    package private(set) var count: Int64 = 0

    /// A digest of the kind of `expected`.
    ///
    /// - Parameter size: the whole length of the content, which git's hash begins with.
    package convenience init(like expected: ContentDigest, size: Int64) {
        if case .gitSHA1 = expected { self.init(gitSize: size) } else { self.init() }
    }

    /// SHA-256.
    package init() { algorithm = .sha256(SHA256Hasher()) }

    /// git's hash of an object of this length: a blob, or with `type` a tree or a commit.
    package init(gitSize size: Int64, type: String = "blob") {
        let context = EVP_MD_CTX_new()!
        algorithm = .gitSHA1(context)
        precondition(EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1, "libcrypto offers no SHA-1")
        let header = Array("\(type) \(size)\0".utf8)
        _ = header.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    }

    deinit { if case .gitSHA1(let context) = algorithm { EVP_MD_CTX_free(context) } }

    /// Feeds the next bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        switch algorithm {
        case .sha256(let hasher): hasher.update(bytes)
        case .gitSHA1(let context):
            precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "libcrypto failed")
        }
        count += Int64(bytes.count)
    }

    /// Feeds the next bytes.
    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The SHA-256 states at the ends of the ranges fed; empty for git's hash.
    package var ranges: RangeDigests {
        if case .sha256(let hasher) = algorithm { hasher.ranges } else { RangeDigests() }
    }

    /// The digest of everything fed. The hasher cannot be used afterwards.
    package func finish() -> ContentDigest {
        switch algorithm {
        case .sha256(let hasher): return .sha256(hasher.finish().hexadecimal)
        case .gitSHA1(let context):
            var out = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var length: UInt32 = 0
            precondition(EVP_DigestFinal_ex(context, &out, &length) == 1, "libcrypto failed")
            return .gitSHA1(out.prefix(Int(length)).hexadecimal)
        }
    }

    /// The digest of bytes in memory, of the kind of `expected`.
    package static func digest(of bytes: [UInt8], like expected: ContentDigest) -> ContentDigest {
        let hasher = ContentHasher(like: expected, size: Int64(bytes.count))
        hasher.update(bytes)
        return hasher.finish()
    }

    /// The digest of a file, read in steps of 256 KiB. `progress` gets each step's bytes and may throw to stop.
    package static func digest(
        ofFile path: String, like expected: ContentDigest, progress: (Int) throws -> Void = { _ in }
    ) throws -> ContentDigest {
        let hasher = ContentHasher(like: expected, size: try FileDescriptor(path).status().size)
        try hasher.update(file: path, progress: progress)
        return hasher.finish()
    }

    /// Feeds a file, read in steps of 256 KiB. `progress` gets each step's bytes and may throw to stop.
    package func update(file path: String, progress: (Int) throws -> Void) throws {
        try update(FileDescriptor(path), progress: progress)
    }

    /// Feeds an open file from its beginning, in steps of 256 KiB, which fit the CPU cache. `progress` gets each step's
    /// bytes and may throw to stop.
    package func update(_ file: borrowing FileDescriptor, progress: (Int) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            // Far enough ahead for the disk to work in parallel.
            if offset % Self.lead == 0 { file.readAhead(offset == 0 ? 0 : offset + Self.lead, 2 * Self.lead) }
            let count = try file.read(into: buffer, at: offset)
            if count == 0 { return }
            update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
            try progress(count)
        }
    }
}

/// A lookup key of a text: the first 48 bits of its SHA-256. Among millions of texts two may share one, so callers
/// compare the text too.
package func textNumber(_ text: String) -> Int64 {
    var text = text
    return text.withUTF8 { bytes in
        var context = SHA256_CTX()
        SHA256_Init(&context)
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
        return withUnsafeTemporaryAllocation(byteCount: Int(SHA256_DIGEST_LENGTH), alignment: 1) { out in
            SHA256_Final(out.bindMemory(to: UInt8.self).baseAddress, &context)
            return out.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
        }
    }
}
