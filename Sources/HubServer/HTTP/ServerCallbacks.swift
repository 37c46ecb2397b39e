import CMicroHTTPD
import HubCore

// The functions that libmicrohttpd calls, in the order of a connection's life: opened, then for each request arrived
// (its first line), handled (once for the head, once for each piece of the body, once at the end) and over, then closed.

/// Shared by all requests of a server. Lives as long as the server.
final class ServerContext: Sendable {
    let handler: any HTTPHandler
    let bodyLimit: Int
    let watch: RequestWatch
    let proxies: TrustedProxies
    let log: (@Sendable (AnsweredRequest) -> Void)?
    // Written once, below.
    nonisolated(unsafe) let callbacks: UnsafeMutablePointer<hub_mhd_callbacks>

    init(
        handler: any HTTPHandler, bodyLimit: Int, watch: RequestWatch, proxies: TrustedProxies,
        log: (@Sendable (AnsweredRequest) -> Void)?
    ) {
        self.handler = handler
        self.bodyLimit = bodyLimit
        self.watch = watch
        self.proxies = proxies
        self.log = log
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(
            to: hub_mhd_callbacks(
                context: Unmanaged.passUnretained(self).toOpaque(), opened_or_closed: connectionOpenedOrClosed,
                arrived: requestArrived, handle: handleRequest, over: requestOver, misread_length: lengthMisread))
    }

    deinit { callbacks.deallocate() }

    static func at(_ context: UnsafeMutableRawPointer) -> ServerContext {
        Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
    }

    func answer(_ request: HTTPRequest, with response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
        if let log {
            log(
                AnsweredRequest(
                    client: request.client, method: request.method, target: request.target,
                    status: response.status, length: response.body.length))
        }
        return send(response, on: connection)
    }
}

/// A request being received. Used only by its connection's thread.
private final class PendingRequest {
    let target: String
    var body: [UInt8] = []
    var sawHead = false
    var isTooLong = false

    init(target: String) { self.target = target }
}

func connectionOpenedOrClosed(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ what: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    let watch = ServerContext.at(context).watch
    if what == hub_mhd_opened { watch.opened(connection) } else { watch.closed(connection) }
}

/// Keeps the target as sent: libmicrohttpd later gives only the decoded path, which loses escaped slashes.
func requestArrived(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    if let context, let connection { ServerContext.at(context).watch.arrived(connection) }
    let pending = PendingRequest(target: target.map { String(cString: $0) } ?? "")
    return Unmanaged.passRetained(pending).toOpaque()
}

func requestOver(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _: MHD_RequestTerminationCode
) {
    if let context, let connection { ServerContext.at(context).watch.expectHead(connection) }
    guard let pointer = state?.pointee else { return }
    let hadBody = !Unmanaged<PendingRequest>.fromOpaque(pointer).takeRetainedValue().body.isEmpty
    state?.pointee = nil
    hub_trim_stack(hadBody)
}

/// libmicrohttpd 0.9.75 sends the head of its own answer to a bad Content-Length twice, so that one is answered here.
func lengthMisread(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let body = #"{"error":"Content-Length is not a number"}"#
    let head = """
        HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n\
        Content-Length: \(body.utf8.count)\r\n\r\n
        """
    ServerContext.at(context).watch.refuse(with: Array((head + body).utf8))
}

func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let method, let size, let pointer = state?.pointee else { return hub_mhd_no }
    let server = ServerContext.at(context)
    let pending = Unmanaged<PendingRequest>.fromOpaque(pointer).takeUnretainedValue()
    if pending.sawHead, size.pointee > 0 {
        if pending.body.count + size.pointee > server.bodyLimit { pending.isTooLong = true }
        if !pending.isTooLong { pending.body += UnsafeRawBufferPointer(start: data, count: size.pointee) }
        size.pointee = 0
        return hub_mhd_yes
    }
    var request = HTTPRequest(
        String(cString: method), pending.target, headers: headers(of: connection), body: pending.body)
    request.connection = ClientConnection(socket: hub_mhd_socket(connection))
    request.client = client(of: connection)
    server.proxies.apply(to: &request)
    if !pending.sawHead {
        pending.sawHead = true
        // Answered before the body is read; libmicrohttpd then closes the connection.
        if let refusal = refusal(of: request, bodyLimit: server.bodyLimit) {
            server.watch.forget(connection)
            return server.answer(request, with: refusal, on: connection)
        }
        server.watch.expectBody(connection)
        return hub_mhd_yes
    }
    server.watch.forget(connection)
    let response = pending.isTooLong ? .tooLong : server.handler.respond(to: request)
    hub_mhd_touch(connection)
    return server.answer(request, with: response, on: connection)
}

/// The error response to a bad head; nil if it is acceptable.
private func refusal(of request: HTTPRequest, bodyLimit: Int) -> HTTPResponse? {
    do throws(HTTPFault) { try RequestFraming.check(request.headers) } catch {
        // The start of the next request is unknown, so the connection closes.
        return .json(
            .object(["error": .string(error.reason)]), status: error.status, headers: ["Connection": "close"])
    }
    guard let length = request.headers["Content-Length"] else { return nil }
    return (Int(length) ?? .max) > bodyLimit ? .tooLong : nil
}

private func client(of connection: OpaquePointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        hub_mhd_client(connection, text.baseAddress, text.count)
        return String(cString: text.baseAddress!)
    }
}

private func headers(of connection: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { pointer in
        _ = hub_mhd_headers(
            connection,
            { pointer, _, name, value in
                guard let pointer, let name else { return hub_mhd_yes }
                pointer.assumingMemoryBound(to: HTTPHeaders.self).pointee
                    .add(String(cString: name), value.map { String(cString: $0) } ?? "")
                return hub_mhd_yes
            }, pointer)
    }
    return headers
}

extension HTTPResponse {
    fileprivate static var tooLong: HTTPResponse {
        .json(.object(["error": "the request is too long"]), status: 413)
    }
}
