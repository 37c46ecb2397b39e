package import HubCore

/// Header fields in order; names are case-insensitive.
package struct HTTPFields: Sendable, Hashable {
    package private(set) var fields: [Field] = []

    package struct Field: Sendable, Hashable {
        package var name: String
        package var value: String
    }

    package init(_ fields: [(String, String)] = []) { self.fields = fields.map { Field(name: $0.0, value: $0.1) } }

    /// The first field of a name.
    package subscript(name: String) -> String? {
        get { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
        set {
            fields.removeAll { $0.name.lowercased() == name.lowercased() }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

    /// The address of a `Link` header's relation: `<https://...>; rel="next"`. RFC 8288
    package func link(_ relation: String) -> String? {
        for field in fields where field.name.lowercased() == "link" {
            var rest = Substring(field.value)
            while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
                let target = rest[rest.index(after: open)..<close]
                rest = rest[rest.index(after: close)...]
                let parameters = rest.prefix { $0 != "<" }
                let wanted = ["rel=\"\(relation)\"", "rel=\(relation)"]
                if parameters.split(whereSeparator: { $0 == ";" || $0 == "," }).contains(where: {
                    wanted.contains($0.filter { !$0.isWhitespace })
                }) {
                    return String(target)
                }
            }
        }
        return nil
    }
}

/// A request.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", post = "POST" }
    package var method: Method
    package var address: String
    package var fields: HTTPFields
    package var body: [UInt8]?
    /// A body that is read while it is sent, in place of ``body``.
    package var upload: HTTPUpload?
    /// Time limit of the whole exchange in seconds; nil for only the stall timeout.
    package var deadline: Int?
    /// Seconds to connect, where that differs from the engine's setting.
    package var connectTimeout: Double?
    /// Seconds without a byte that count as a stall, where that differs from the engine's setting; 0 for no limit.
    package var stallTimeout: Int?
    /// Whether an open connection may be used again. libcurl repeats a request by itself, of any method, if such a
    /// connection turns out to be closed.
    package var reusesConnection = true
    /// The one IP address to connect to, whatever the host's name stands for; nil to look it up. A proxy is asked for a
    /// tunnel to it. Such a connection serves this request alone.
    package var connectsTo: String?
    /// Whether HTTP/2 is allowed. Many small responses profit; ranges of large files use separate connections, so that
    /// a lost packet stalls only one range.
    package var allowsHTTP2: Bool
    /// The socket's receive buffer in bytes, to make it smaller than the default.
    package var receiveBuffer: Int?
    /// Whether a compressed body is accepted; it is decompressed on receipt.
    package var acceptsCompression: Bool
    /// The token to mask in the response's head, sent or not: a server may quote it.
    package var token: AccessToken?

    package init(
        _ method: Method = .get, _ address: String, fields: HTTPFields = HTTPFields(), body: [UInt8]? = nil,
        deadline: Int? = nil, allowsHTTP2: Bool = false, acceptsCompression: Bool = false
    ) {
        self.method = method
        self.address = address
        self.fields = fields
        self.body = body
        self.deadline = deadline
        self.allowsHTTP2 = allowsHTTP2
        self.acceptsCompression = acceptsCompression
    }
}

/// Status and header fields of an answer.
package struct HTTPHead: Sendable {
    package var status: Int
    package var fields: HTTPFields
    /// The address that answered.
    package var address: String
    /// The token masked in the fields, which may also occur in the body.
    var token: AccessToken?

    package var isSuccess: Bool { (200..<300).contains(status) }
    package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && fields["Location"] != nil }
    package var contentLength: Int64? { fields["Content-Length"].flatMap { Int64($0) } }

    /// The target of a redirect as an absolute address.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for other schemes than http and https, and for a downgrade from https
    ///   to http.
    package func redirectTarget() throws(AIError) -> String {
        let shown = SafeAddress.shown(address)
        guard let location = fields["Location"], let target = SafeAddress.resolve(location, against: address) else {
            throw AIError(
                .protocolViolation, "\(shown) redirects to an invalid address",
                context: .init(status: status, address: shown))
        }
        guard let origin = Origin(target) else {
            throw AIError(
                .protocolViolation,
                "\(shown) redirects to \(SafeAddress.shown(target).printable), which is not http or https",
                context: .init(status: status, address: shown))
        }
        if origin.scheme == "http", Origin(address)?.scheme == "https" {
            throw AIError(
                .protocolViolation, "\(shown) redirects from https to http at \(origin)",
                context: .init(status: status, address: shown))
        }
        return target
    }
}

/// A whole answer.
package struct HTTPResponse: Sendable {
    package var head: HTTPHead
    package var body: [UInt8]
    package var status: Int { head.status }
    package var fields: HTTPFields { head.fields }
}
