package import HubCore

/// Answers requests. Called on a connection's own thread, which may block.
package protocol HTTPHandler: Sendable {
    func respond(to request: HTTPRequest) -> HTTPResponse
}

/// A response. The length comes from the body; `Content-Length` is never among the headers.
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
    /// A range of an open file, sent with sendfile.
    case file(OpenFile, Range<Int64>)
    /// Bytes produced while sending; chunked if the length is unknown.
    case stream(length: Int64?, any BodyProducer)

    /// The number of bytes; nil if unknown before the end.
    package var length: Int64? {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let range): Int64(range.count)
        case .stream(let length, _): length
        }
    }
}

/// Produces the bytes of a body piece by piece on the connection's thread. It may block: only this response waits.
package protocol BodyProducer: AnyObject, Sendable {
    /// Fills the start of the buffer with the bytes from `position`.
    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep
    /// The response is over, sent whole or not. Called once.
    func finished()
}

extension BodyProducer {
    package func finished() {}
}

/// The result of one call to a producer.
package enum BodyStep: Sendable, Equatable {
    /// The number of bytes written to the buffer, at least one.
    case bytes(Int)
    /// The body is complete.
    case end
    /// Close the connection now, even if bytes are missing.
    case abort
}

/// An open file that several responses may share; the last one closes it.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor
    /// The status when it was opened.
    package let status: FileStatus

    /// Opens a file for reading. Never blocks, not even on a named pipe.
    package init(_ path: String) throws(AIError) {
        descriptor = try FileDescriptor(path, [.nonBlocking])
        status = try descriptor.status()
    }
}
