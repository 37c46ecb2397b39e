package import HubCore

/// Header fields in the order they came; names compare without regard to case.
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

/// What is asked of a server.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", head = "HEAD", post = "POST" }
    package var method: Method
    package var address: String
    package var fields: HTTPFields
    package var body: [UInt8]?
    /// Seconds for the whole exchange; nil where only silence ends it.
    package var deadline: Int?
    /// Seconds to connect, where that differs from the engine's setting.
    package var connectTimeout: Int?
    /// Whether HTTP/2 may be spoken. Many small answers gain by it; ranges of large files do better on connections of
    /// their own, where one lost packet stalls one range.
    package var allowsHTTP2: Bool
    /// Bytes that the system may take in before they are read, where that is to be less than it would choose.
    package var receiveBuffer: Int?
    /// Whether the body may come compressed, and is unpacked on the way.
    package var acceptsCompression: Bool
    /// The token that is taken out of the answer's head, whether it goes along or not: a server may quote it.
    var token: AccessToken?

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
    /// The token that was taken out of the fields, and may stand in the body.
    var token: AccessToken?

    package var isSuccess: Bool { (200..<300).contains(status) }
    package var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && fields["Location"] != nil }
    package var contentLength: Int64? { fields["Content-Length"].flatMap { Int64($0) } }

    /// Where a redirect leads, as an absolute address.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for what is not http or https, and for the way from https to http,
    ///   which would show to the line what was secret.
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
