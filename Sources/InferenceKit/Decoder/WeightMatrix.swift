import CKernels
import HubCore
import ModelFormats

/// A tensor in its mapped file, row-major; it keeps the mapping alive.
struct WeightMatrix: Sendable {
    let element: hub_element
    let rows: Int
    let columns: Int
    private let file: MappedFile
    private let offset: Int

    /// - Throws: ``ErrorCode/unsupportedModel`` for an element type without kernels.
    init(_ info: TensorInfo, rows: Int, columns: Int, in file: MappedFile) throws(AIError) {
        guard let element = Self.element(info.dataType) else {
            throw .unsupported(
                file.path, "\(info.dataType.rawValue) weights (tensor \"\(info.name)\") cannot be run yet")
        }
        // The header was read before the file was mapped: a shorter file may have replaced it since.
        guard info.byteRange.upperBound <= file.bytes.count else {
            throw .malformed(file.path, "the file changed while it was being opened")
        }
        self.element = element
        self.rows = rows
        self.columns = columns
        self.file = file
        offset = info.byteRange.lowerBound
    }

    /// The kernels' name of an element type; nil if unsupported.
    static func element(_ type: TensorDataType) -> hub_element? {
        switch type {
        case .f32: HUB_F32
        case .f16: HUB_F16
        case .bf16: HUB_BF16
        default: nil
        }
    }

    /// The bytes. The kernels read little-endian, like the format; so is every machine Swift runs on.
    var address: UnsafeRawPointer? { file.bytes.baseAddress.map { $0 + offset } }

    /// One row as float32.
    func widen(row: Int, into out: UnsafeMutablePointer<Float>) {
        guard let address else { return }
        hub_widen(element, address + row * columns * hub_element_bytes(element), columns, out)
    }

    /// The whole tensor as float32, for small ones.
    func widened() -> [Float] {
        [Float](unsafeUninitializedCapacity: rows * columns) { buffer, count in
            if let address, let out = buffer.baseAddress { hub_widen(element, address, rows * columns, out) }
            count = rows * columns
        }
    }
}
