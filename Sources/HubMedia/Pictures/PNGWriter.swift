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
        return try pngBytes(made, count)
    }

    /// Grey of 16 bits as a PNG file: of each pixel a number from 0, black, to 65,535, white.
    ///
    /// - Parameters:
    ///   - levels: rows from the top, `height * width` of them.
    ///   - width: pixels in a row.
    ///   - height: rows.
    /// - Precondition: both sides are positive, and there are as many levels.
    /// - Throws: ``ErrorCode/insufficientMemory``.
    public static func png(levels: [UInt16], width: Int, height: Int) throws(AIError) -> [UInt8] {
        precondition(width > 0 && height > 0 && levels.count == width * height)
        var count = 0
        let made = hub_png_write_levels(levels, UInt32(width), UInt32(height), &count)
        return try pngBytes(made, count)
    }
}

/// What the library wrote, which is freed here.
private func pngBytes(_ made: UnsafeMutablePointer<UInt8>?, _ count: Int) throws(AIError) -> [UInt8] {
    guard let made else { throw AIError(.insufficientMemory, "there is not enough memory to write a PNG") }
    defer { free(made) }
    return Array(UnsafeBufferPointer(start: made, count: count))
}
