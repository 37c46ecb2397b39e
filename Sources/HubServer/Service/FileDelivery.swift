package import HubCore

/// How a file's bytes are delivered. The real Hub redirects; a local Hub sends them itself.
package protocol FileDelivery: Sendable {
    /// The response; nil if the file has changed since it was resolved.
    func deliver(_ asked: FileRequest) throws(AIError) -> HTTPResponse?
}

/// A file that was resolved.
package struct FileRequest: Sendable {
    package var repository: Repository
    package var commit: String
    package var file: ServedFile
    package var request: HTTPRequest
    /// Whether it was requested through `/api/resolve-cache/`, the second address of a small file.
    package var isCached: Bool

    package init(
        repository: Repository, commit: String, file: ServedFile, request: HTTPRequest, isCached: Bool = false
    ) {
        self.repository = repository
        self.commit = commit
        self.file = file
        self.request = request
        self.isCached = isCached
    }

    /// The headers of every response about the file, redirects included.
    package var headers: HTTPHeaders {
        var headers: HTTPHeaders = [
            "X-Repo-Commit": commit, "Accept-Ranges": "bytes", "ETag": "\"\(file.etag)\"",
            // A browser must never run a served file as a page of this origin.
            "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
        ]
        if file.lfs != nil {
            headers["X-Linked-Etag"] = "\"\(file.etag)\""
            headers["X-Linked-Size"] = String(file.size)
        }
        return headers
    }

    package var contentType: String { file.lfs == nil ? "text/plain; charset=utf-8" : "application/octet-stream" }

    /// The bytes, or the range that `Range` requests.
    package func content(_ headers: HTTPHeaders) throws(AIError) -> HTTPResponse? {
        guard let open = try file.open() else { return nil }
        return ranged(headers) { range, _ in .file(open, range) }
    }

    /// The response with the bytes that `Range` requests, or all.
    ///
    /// - Parameter body: the bytes of a range; the second argument is whether the client asked for one.
    package func ranged<Failure: Error>(
        _ headers: HTTPHeaders, _ body: (Range<Int64>, Bool) throws(Failure) -> HTTPBody
    ) throws(Failure) -> HTTPResponse {
        var headers = headers
        if headers["Content-Type"] == nil { headers["Content-Type"] = contentType }
        // RFC 9110, 13.1.5: a range only if the content is the same as the client's.
        let isSame = request.headers["If-Range"].map { $0 == headers["ETag"] } ?? true
        switch ByteRange(header: isSame ? request.headers["Range"] : nil, length: file.size) {
        case .whole: return HTTPResponse(200, headers: headers, body: try body(0..<file.size, false))
        case .part(let range):
            headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
            return HTTPResponse(206, headers: headers, body: try body(range, true))
        case .unsatisfiable:
            headers["Content-Range"] = "bytes */\(file.size)"
            return HTTPResponse(416, headers: headers)
        }
    }
}

/// Sends every file without a redirect, with the digest as its ETag.
package struct DirectDelivery: FileDelivery {
    package init() {}

    package func deliver(_ asked: FileRequest) throws(AIError) -> HTTPResponse? { try asked.content(asked.headers) }
}
