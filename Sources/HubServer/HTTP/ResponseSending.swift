import CMicroHTTPD
import HubCore
import Libc

/// Hands a response to libmicrohttpd. MHD_NO closes the connection, for when not even an error response can be built.
func send(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    guard let made = make(response.body, connection) else { return hub_mhd_no }
    defer { MHD_destroy_response(made) }
    for field in response.headers.fields {
        // Rejects line breaks in a name or value: header injection.
        guard MHD_add_response_header(made, field.name, field.value) == hub_mhd_yes else { return hub_mhd_no }
    }
    return MHD_queue_response(connection, UInt32(response.status), made)
}

private func make(_ body: HTTPBody, _ connection: OpaquePointer) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
        return bytes.withUnsafeBytes { hub_mhd_bytes($0.baseAddress, $0.count) }
    case .file(let file, let range):
        // libmicrohttpd closes the descriptor it is given.
        let copy = fcntl(file.descriptor.raw, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        guard
            let made = MHD_create_response_from_fd_at_offset64(
                UInt64(range.count), copy, UInt64(range.lowerBound))
        else {
            close(copy)
            return nil
        }
        return made
    case .stream(let length, let producer):
        let box = Unmanaged.passRetained(ProducerBox(producer, connection))
        let made = MHD_create_response_from_callback(
            length.map { UInt64($0) } ?? hub_mhd_size_unknown, 256 << 10, produce, box.toOpaque(), finish)
        if made == nil { box.release() }
        return made
    }
}

/// A class around the existential, whose address C can hold.
private final class ProducerBox {
    let producer: any BodyProducer
    let connection: OpaquePointer

    init(_ producer: any BodyProducer, _ connection: OpaquePointer) {
        (self.producer, self.connection) = (producer, connection)
    }
}

private func produce(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let context, let buffer else { return hub_mhd_end_with_error }
    let box = Unmanaged<ProducerBox>.fromOpaque(context).takeUnretainedValue()
    let room = UnsafeMutableRawBufferPointer(start: buffer, count: size)
    let step = box.producer.produce(into: room, at: Int64(position))
    hub_mhd_touch(box.connection)
    switch step {
    case .bytes(let count):
        precondition(
            (1...size).contains(count), "a producer makes at least one byte and no more than there is room for")
        return count
    case .end: return hub_mhd_end_of_stream
    case .abort: return hub_mhd_end_with_error
    }
}

private func finish(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let box = Unmanaged<ProducerBox>.fromOpaque(context)
    box.takeUnretainedValue().producer.finished()
    box.release()
}
