/// Which bytes of a file an answer brings, by its head. A box on the way may have changed the range that was asked for.
enum RangedBody: Hashable, CustomStringConvertible {
    /// All of it. If it is encoded, libcurl decodes it.
    case whole
    case range(Range<Int64>)
    /// A part of it, or of an encoding of it, and which one cannot be known.
    case unknown
    /// This many bytes, which are not the file's.
    case other(Int64)
    /// An answer with this status brings nothing of a file.
    case status(Int)

    init(_ head: HTTPHead, of size: Int64) {
        let coding = head.fields["Content-Encoding"]?.lowercased() ?? "identity"
        let said = head.fields["Content-Range"].flatMap(ContentRange.init)
        let range = said.flatMap { $0.range.upperBound <= size && $0.total ?? size == size ? $0.range : nil }
        let length = head.contentLength
        switch head.status {
        // A range of an encoded file is one of the encoding's bytes.
        case 206: self = coding == "identity" ? range.map(Self.range) ?? .unknown : .unknown
        case 200 where coding != "identity": self = .whole
        case 200:
            if let range, range != 0..<size, length ?? Int64(range.count) == Int64(range.count) {
                self = .range(range)
            } else if let length, length != size {
                self = .other(length)
            } else {
                self = .whole
            }
        default: self = .status(head.status)
        }
    }

    var description: String {
        switch self {
        case .whole: "the whole file"
        case .range(let range): "bytes \(range.lowerBound)-\(range.upperBound - 1)"
        case .unknown: "bytes that it does not name"
        case .other(let length): "\(length) bytes"
        case .status(let status): "status \(status)"
        }
    }
}
