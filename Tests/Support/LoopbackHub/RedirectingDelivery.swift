import HubCore
import HubServer

/// Hands files out as the real Hub does: a small file after a relative redirect to its commit, a large one from the CDN
/// after an absolute redirect to a signed address. Each hop has the traps of the real one.
struct RedirectingDelivery: FileDelivery {
    let state: LoopbackState
    /// `http://127.0.0.1:PORT` of the CDN, known once it listens.
    let cdn: String
    let signedSeconds: Int

    func deliver(_ asked: FileRequest) throws(AIError) -> HTTPResponse? {
        var headers = asked.headers
        let file = asked.file
        if file.lfs == nil {
            if asked.isCached {
                headers["ETag"] = "W/\"\(file.etag)\""
                return try asked.content(headers)
            }
            let place = PercentEncoding.encode(file.path)
            let target =
                "/api/resolve-cache/\(asked.repository.kind.plural)/\(asked.repository.id)/\(asked.commit)/\(place)"
            headers["X-Linked-Etag"] = "\"\(file.etag)\""
            headers["X-Linked-Size"] = String(file.size)
            return redirect(307, "Temporary Redirect", to: "\(target)?etag=%22\(file.etag)%22", headers)
        }
        state.monitor.update { $0.files[file.etag] = file }
        let expires = String(Int(Timestamp.now) + signedSeconds)
        let signed = state.signature(file.etag, expires)
        if let xet = file.xetHash {
            headers["X-Xet-Hash"] = xet
            headers["Link"] =
                "</api/models/\(asked.repository.id)/xet-read-token/\(asked.commit)>; rel=\"xet-auth\""
        }
        // The name is there for the log and the faults; the digest alone decides.
        let name = PercentEncoding.encode(file.path, keeping: "/")
        let place = "\(cdn)/repos/\(file.etag)/\(asked.repository.id)/\(name)"
        return redirect(302, "Found", to: "\(place)?Expires=\(expires)&Signature=\(signed)", headers)
    }

    /// The ETag is that of the note in the body, as on the Hub: a client that takes it for the file's is wrong.
    private func redirect(_ status: Int, _ words: String, to target: String, _ headers: HTTPHeaders) -> HTTPResponse
    {
        let note = Array("\(words). Redirecting to \(target)".utf8)
        var headers = headers
        headers["ETag"] = "W/\"\(String(note.count, radix: 16))-redirect\""
        headers["Location"] = target
        headers["Content-Type"] = "text/plain; charset=utf-8"
        return HTTPResponse(status, headers: headers, body: .bytes(note))
    }
}

/// The CDN: hands out what its address is signed for.
struct CDNService: HTTPHandler {
    let state: LoopbackState

    func respond(to request: HTTPRequest) -> HTTPResponse {
        // As S3 does: a signed address and a credential are two ways to authenticate, and only one is allowed. A client
        // that sends its token along finds out here.
        guard request.headers["Authorization"] == nil else { return refuse(400, "InvalidArgument") }
        guard ["GET", "HEAD"].contains(request.method) else { return refuse(405, "MethodNotAllowed") }
        guard let parts = try? request.pathParts(), let query = try? request.query(), parts.first == "repos",
            let sha256 = parts.dropFirst().first, let expires = query["Expires"], let limit = Double(expires)
        else { return refuse(400, "InvalidURI") }
        guard query["Signature"] == state.signature(sha256, expires), limit >= Timestamp.now else {
            return refuse(403, "AccessDenied")
        }
        guard let file = state.monitor.update({ $0.files[sha256] }) else { return refuse(404, "NoSuchKey") }
        do {
            let asked = FileRequest(
                repository: Repository(.model, try RepositoryID("cdn")), commit: "", file: file, request: request)
            let headers: HTTPHeaders = [
                "ETag": "\"\(sha256)\"", "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream",
            ]
            return try asked.content(headers) ?? refuse(404, "NoSuchKey")
        } catch {
            return refuse(500, "InternalError")
        }
    }

    private func refuse(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(
            status, headers: ["Content-Type": "application/xml"],
            body: .bytes(Array("<Error><Code>\(code)</Code></Error>".utf8)))
    }
}
