import HubServer

/// Stands before a listener's own handler: logs every request and lets the faults happen.
struct FaultLayer: HTTPHandler {
    let listener: Fault.Listener
    let state: LoopbackState
    let inner: any HTTPHandler

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let (index, fault) = state.enter(request, listener)
        let response = answer(request, fault)
        // As on the Hub: these are on every answer, so they alone say nothing.
        var headers = response.headers
        if listener == .hub, headers["RateLimit"] == nil {
            headers["RateLimit"] = "\"api\";r=499;t=120"
            headers["RateLimit-Policy"] = "\"fixed window\";\"api\";q=500;w=300"
        }
        state.record(index) {
            $0.status = response.status
            $0.responseHeaders = headers
            if request.method == "HEAD" { $0.isFinished = true }
        }
        guard request.method != "HEAD" else {
            return HTTPResponse(response.status, headers: headers, body: response.body)
        }
        let body = FaultyBody(response.body, plan(fault, request, response), state, index)
        return HTTPResponse(response.status, headers: headers, body: .stream(length: response.body.length, body))
    }

    /// The head, and the body before it is cut.
    private func answer(_ request: HTTPRequest, _ fault: Fault.Kind?) -> HTTPResponse {
        var request = request
        switch fault {
        case .status(let status, let headers, let body):
            return HTTPResponse(status, headers: headers, body: .bytes(Array(body.utf8)))
        case .expire:
            return HTTPResponse(
                403, headers: ["Content-Type": "application/xml"],
                body: .bytes(Array("<Error><Code>AccessDenied</Code></Error>".utf8)))
        case .garbage:
            return HTTPResponse(
                200, headers: ["Content-Type": "application/json; charset=utf-8"],
                body: .bytes(Array("{\"id\": [unfinished".utf8)))
        case .html:
            return HTTPResponse(
                200, headers: ["Content-Type": "text/html"],
                body: .bytes(Array("<!DOCTYPE html><title>Sign in</title><p>Welcome to the hotel's network\n".utf8))
            )
        case .redirectLoop: return HTTPResponse(302, headers: ["Location": request.target])
        case .redirect(let target): return HTTPResponse(302, headers: ["Location": target])
        case .delay(let seconds): _ = state.pause(seconds)
        case .holdHead(let gate): gate.pass()
        case .noRange: request.headers["Range"] = nil
        case .shiftedRange(let by): Self.change(&request) { (max(0, $0 - by), $1) }
        case .shortRange(let most): Self.change(&request) { ($0, min($1, $0 + most - 1)) }
        default: break
        }
        var response = inner.respond(to: request)
        switch fault {
        case .wrongContentRange:
            if let range = response.headers["Content-Range"] {
                response.headers["Content-Range"] = Self.shifted(range)
            }
        case .changedEtag(let etag):
            for name in ["ETag", "X-Linked-Etag"] where response.headers[name] != nil {
                response.headers[name] = "\"\(etag)\""
            }
        case .gzip: response = Gzip.encoded(response)
        case .noContentRange: response.headers["Content-Range"] = nil
        case .rangeWithStatus200: if response.status == 206 { response.status = 200 }
        default: break
        }
        return response
    }

    private func plan(_ fault: Fault.Kind?, _ request: HTTPRequest, _ response: HTTPResponse) -> FaultyBody.Plan {
        var plan = FaultyBody.Plan(bytesPerSecond: state.bytesPerSecond)
        switch fault {
        case .drop(let after): plan.limit = after
        case .truncate(let missing): plan.limit = max(0, (response.body.length ?? 0) - missing)
        case .stall(let after, let seconds):
            plan.limit = after
            plan.ending = .stall(seconds)
        case .hold(let after, let gate):
            plan.limit = after
            plan.ending = .hold(gate)
        case .corrupt(let place): plan.flip = place
        case .corruptFile(let place):
            if case .file(_, let range) = response.body { plan.flip = place - range.lowerBound }
        case .trickle(let rate): plan.bytesPerSecond = rate
        default: break
        }
        return plan
    }

    /// Another range in place of the one that is asked for.
    private static func change(_ request: inout HTTPRequest, _ body: (Int64, Int64) -> (Int64, Int64)) {
        guard let found = request.headers["Range"]?.wholeMatch(of: /bytes=(\d+)-(\d+)/), let first = Int64(found.1),
            let last = Int64(found.2)
        else { return }
        let (start, end) = body(first, last)
        request.headers["Range"] = "bytes=\(start)-\(end)"
    }

    /// `bytes 0-9/20` → `bytes 1-10/20`
    private static func shifted(_ range: String) -> String {
        guard let found = range.wholeMatch(of: /bytes (\d+)-(\d+)\/(\d+)/), let first = Int64(found.1),
            let last = Int64(found.2)
        else { return range }
        return "bytes \(first + 1)-\(last + 1)/\(found.3)"
    }
}
