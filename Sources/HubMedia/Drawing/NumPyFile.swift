/// Arrays as NumPy reads them: format 1.0 of .npy
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
public enum NumPyFile {
    /// Rows of numbers in float32, little-endian.
    ///
    /// - Parameters:
    ///   - values: rows from the top, `height * width` of them.
    ///   - width: numbers in a row.
    ///   - height: rows.
    /// - Precondition: there are as many numbers.
    public static func bytes(_ values: [Float], width: Int, height: Int) -> [UInt8] {
        precondition(values.count == width * height)
        var header = "{'descr': '<f4', 'fortran_order': False, 'shape': (\(height), \(width)), }"
        // The numbers begin at a multiple of 64, after ten bytes, the header and its line's end.
        let padding = (64 - (10 + header.utf8.count + 1) % 64) % 64
        header += String(repeating: " ", count: padding) + "\n"
        let length = UInt16(header.utf8.count)
        var bytes: [UInt8] = [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(length & 255), UInt8(length >> 8)]
        bytes += header.utf8
        bytes.reserveCapacity(bytes.count + 4 * values.count)
        for value in values { withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 } }
        return bytes
    }
}
