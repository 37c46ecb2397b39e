import HubCore
package import ModelFormats

extension GGUFBytes {
    /// The file's header, as it is read.
    package func header() throws -> GGUFHeader {
        let file = bytes
        let reading = try file.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try GGUFHeader.read(buffer, fileSize: Int64(file.count), path: "m.gguf")
            }
        }.get()
        guard case .header(let header) = reading else { throw AIError(.malformedModel, "the header is cut short") }
        return header
    }
}
