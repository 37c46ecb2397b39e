package import HubCore

/// Answers requests. Called on a connection's own thread, which may block.
package protocol HTTPHandler: Sendable {
    func respond(to request: HTTPRequest) -> HTTPResponse
}

/// What is sent back. The length is the body's own; `Content-Length` is never among the headers.
package struct HTTPResponse: Sendable {
    package var status: Int
    package var headers: HTTPHeaders
    package var body: HTTPBody

    package init(_ status: Int, headers: HTTPHeaders = [:], body: HTTPBody = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON document.
    package static func json(_ value: JSON, status: Int = 200, headers: HTTPHeaders = [:]) -> HTTPResponse {
        var all: HTTPHeaders = ["Content-Type": "application/json; charset=utf-8"]
        all.merge(headers)
        return HTTPResponse(status, headers: all, body: .bytes(Array(value.text().utf8)))
    }
}

/// The bytes of a response.
package enum HTTPBody: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A part of an open file, sent by the kernel without a copy (sendfile).
    case file(OpenFile, Range<Int64>)
    /// Bytes made while they are sent; without a length they go out in chunks.
    case stream(length: Int64?, any BodyProducer)

    /// The number of bytes; nil where only the end will tell.
    package var length: Int64? {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let range): Int64(range.count)
        case .stream(let length, _): length
        }
    }
}

/// Makes the bytes of a body one piece after the other, on the connection's thread. It may block: only this one
/// response waits.
package protocol BodyProducer: AnyObject, Sendable {
    /// Fills the buffer's beginning with the bytes from `position` on.
    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep
    /// The response is over, sent whole or not. Called once.
    func finished()
}

extension BodyProducer {
    package func finished() {}
}

/// What a producer did.
package enum BodyStep: Sendable, Equatable {
    /// So many bytes lie in the buffer, at least one.
    case bytes(Int)
    /// The body is complete.
    case end
    /// The connection is to be cut now, whatever was promised.
    case abort
}

/// An open file that several responses may share; closed with the last of them.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor
    /// Its state when it was opened.
    package let status: FileStatus

    /// Opens a file for reading. Never waits, not even for the writer of a named pipe.
    package init(_ path: String) throws(AIError) {
        descriptor = try FileDescriptor(path, [.nonBlocking])
        status = try descriptor.status()
    }
}
