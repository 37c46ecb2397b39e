import HubCore
package import HubMedia

/// A picture of a request as it was sent: its kind is known, and it is not decoded yet.
package struct SentPicture: Sendable {
    let bytes: [UInt8]
    /// The field that it came in: `input[2]`.
    let place: String

    /// Several requests may decode pictures at once, so that the limit is half of the usual one: 50 million pixels need
    /// 150 MB, and are what a camera makes. The file's own limit is that of a request's body.
    package static let limits = PictureLimits(fileBytes: 16 << 20, pixels: 50_000_000)
    /// Pictures of one request.
    static let most = 1024

    /// - Parameters:
    ///   - text: a data URL, or base64 alone. Other addresses are not fetched: whoever asks could choose what this
    ///     machine reads.
    ///   - place: the field, for errors.
    /// - Throws: 400 for any other address, for what is not base64, and for what is no picture.
    init(_ text: String, _ place: String) throws(APIFault) {
        // An address has a scheme, and base64 no colon (RFC 4648, section 4).
        if let colon = text.utf8.prefix(32).firstIndex(of: UInt8(ascii: ":")) {
            guard text[..<colon].lowercased() == "data" else { throw Self.notFetched(place) }
            bytes = try Self.dataURL(text, place).bytes
        } else {
            guard let read = Base64.bytes(text) else { throw Self.notFetched(place) }
            bytes = read
        }
        self.place = place
        guard PictureKind(bytes) != nil else {
            let known = PictureKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("'\(place)' is not a picture; pictures are read as \(known)", param: place)
        }
    }

    private static func notFetched(_ place: String) -> APIFault {
        .invalid("a picture must be a data URL with base64; addresses are not fetched", param: place)
    }

    /// The bytes and the media type of a data URL. RFC 2397
    ///
    /// - Throws: 400 for any other address, and for what is not base64.
    static func dataURL(_ address: String, _ place: String) throws(APIFault) -> (bytes: [UInt8], type: String) {
        guard address.prefix(5).lowercased() == "data:", let comma = address.firstIndex(of: ",") else {
            throw notFetched(place)
        }
        let head = address[..<comma].dropFirst(5)
        guard head.hasSuffix(";base64"), let bytes = Base64.bytes(String(address[address.index(after: comma)...]))
        else { throw notFetched(place) }
        return (bytes, String(head.dropLast(7)))
    }

    /// The pixels.
    ///
    /// - Throws: 400 for what is damaged or beyond the limits.
    func decoded() async throws -> Picture {
        try await Blocking.run { [self] in
            do throws(AIError) { return try PictureFile.read(bytes, name: place, limits: Self.limits) } catch {
                guard error.code == .unreadableFile else { throw error }
                throw APIFault.invalid(error.message, param: place)
            }
        }
    }
}
