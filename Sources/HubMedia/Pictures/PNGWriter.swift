import CPictures
public import HubCore
import Libc

extension Picture {
    /// The picture as a PNG file of 8 bits: RGB, or RGBA with ``alpha``.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory``.
    public func png() throws(AIError) -> [UInt8] {
        var count = 0
        let made: UnsafeMutablePointer<UInt8>?
        if let alpha {
            made = hub_png_write(pixels, alpha, UInt32(width), UInt32(height), &count)
        } else {
            made = hub_png_write(pixels, nil, UInt32(width), UInt32(height), &count)
        }
        guard let made else { throw AIError(.insufficientMemory, "there is not enough memory to write a PNG") }
        defer { free(made) }
        return Array(UnsafeBufferPointer(start: made, count: count))
    }
}
