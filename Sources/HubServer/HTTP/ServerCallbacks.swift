import CMicroHTTPD
import HubCore

// The functions that libmicrohttpd calls, in the order of a request's life: arrived, handled (once for the head, once
// for each piece of the body, once at the end), over.

/// What all requests of a server share. Lives as long as the server does.
final class ServerContext: Sendable {
    let handler: any HTTPHandler
    let bodyLimit: Int

    init(handler: any HTTPHandler, bodyLimit: Int) {
        self.handler = handler
        self.bodyLimit = bodyLimit
    }
}

/// One request on its way in. Touched by its connection's thread alone.
private final class PendingRequest {
    let target: String
    var body: [UInt8] = []
    var sawHead = false
    var isTooLong = false

    init(target: String) { self.target = target }
}

/// Keeps the target as it was sent: later libmicrohttpd hands out only the decoded path, in which an escaped slash
/// cannot be told from a real one.
func requestArrived(
    _: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    let pending = PendingRequest(target: target.map { String(cString: $0) } ?? "")
    return Unmanaged.passRetained(pending).toOpaque()
}

func requestOver(
    _: UnsafeMutableRawPointer?, _: OpaquePointer?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    _: MHD_RequestTerminationCode
) {
    guard let pointer = state?.pointee else { return }
    Unmanaged<PendingRequest>.fromOpaque(pointer).release()
    state?.pointee = nil
}

func handleRequest(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let method, let size, let pointer = state?.pointee else { return hub_mhd_no }
    let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
    let pending = Unmanaged<PendingRequest>.fromOpaque(pointer).takeUnretainedValue()
    if !pending.sawHead {
        pending.sawHead = true
        let length = hub_mhd_header(connection, "Content-Length")
        if let length, (Int(String(cString: length)) ?? .max) > server.bodyLimit {
            // Answered before the body, and so it is never sent; libmicrohttpd closes the connection.
            return send(.tooLong, on: connection)
        }
        return hub_mhd_yes
    }
    if size.pointee > 0 {
        if pending.body.count + size.pointee > server.bodyLimit { pending.isTooLong = true }
        if !pending.isTooLong { pending.body += UnsafeRawBufferPointer(start: data, count: size.pointee) }
        size.pointee = 0
        return hub_mhd_yes
    }
    if pending.isTooLong { return send(.tooLong, on: connection) }
    let request = HTTPRequest(
        String(cString: method), pending.target, headers: headers(of: connection), body: pending.body)
    return send(server.handler.respond(to: request), on: connection)
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
