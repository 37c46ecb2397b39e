/// One value of a GGUF file's metadata.
/// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#file-structure
package enum GGUFValue: Sendable, Hashable {
    case unsigned(UInt64)
    case signed(Int64)
    case float(Double)
    case bool(Bool)
    /// Invalid UTF-8 has been replaced.
    case string(String)
    /// Not decoded: a vocabulary has hundreds of thousands of elements.
    case array(GGUFArray)

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: GGUFArray? { if case .array(let array) = self { array } else { nil } }
    package var int: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .signed(let value): value
        default: nil
        }
    }
    /// Whether it is a whole number, even one that does not fit into ``int``.
    package var isWhole: Bool {
        switch self {
        case .unsigned, .signed: true
        default: false
        }
    }
    package var double: Double? { if case .float(let value) = self { value } else { int.map(Double.init) } }
}

/// An array of a GGUF file's metadata: element type and location.
package struct GGUFArray: Sendable, Hashable {
    package let element: GGUFValueType
    package let count: Int
    /// Offsets in the file; checked to hold the elements.
    package let byteRange: Range<Int>
    /// Integers and Booleans, if there are no more than a model can have layers.
    package let numbers: [Int64]?

    /// - Parameter file: the bytes that contain it.
    init(element: GGUFValueType, count: Int, byteRange: Range<Int>, in file: UnsafeRawBufferPointer) {
        (self.element, self.count, self.byteRange) = (element, count, byteRange)
        let values = count <= Self.mostNumbers ? Self.values(element, count, byteRange, file) : nil
        let found = values?.compactMap { $0.bool.map { $0 ? 1 : 0 } ?? $0.int }
        numbers = found?.count == count ? found : nil
    }

    private static let mostNumbers = 4096

    /// Calls `body` with the bytes of each string, in order.
    ///
    /// - Parameter file: the bytes that the header was read from.
    /// - Returns: false if its elements are not strings.
    @discardableResult
    package func eachString(in file: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard element == .string, byteRange.upperBound <= file.count else { return false }
        var reader = ByteReader(
            UnsafeRawBufferPointer(rebasing: file[..<byteRange.upperBound]), at: byteRange.lowerBound)
        for _ in 0..<count {
            guard let length = try? reader.number(UInt64.self), let size = Int(exactly: length),
                let range = try? reader.skip(size)
            else { return false }
            body(UnsafeRawBufferPointer(rebasing: file[range]))
        }
        return true
    }

    /// Its numbers or Booleans; nil for other types.
    package func values(in file: UnsafeRawBufferPointer) -> [GGUFValue]? {
        Self.values(element, count, byteRange, file)
    }

    private static func values(
        _ element: GGUFValueType, _ count: Int, _ byteRange: Range<Int>, _ file: UnsafeRawBufferPointer
    ) -> [GGUFValue]? {
        guard element.size != nil, byteRange.upperBound <= file.count else { return nil }
        var reader = ByteReader(file, at: byteRange.lowerBound)
        var values: [GGUFValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            guard let value = try? element.number(&reader) else { return nil }
            values.append(value)
        }
        return values
    }
}

/// The value types by number.
package enum GGUFValueType: UInt32, Sendable, Hashable, CaseIterable {
    case uint8, int8, uint16, int16, uint32, int32, float32, bool, string, array, uint64, int64, float64

    /// Bytes of one value; nil if they vary.
    package var size: Int? {
        switch self {
        case .uint8, .int8, .bool: 1
        case .uint16, .int16: 2
        case .uint32, .int32, .float32: 4
        case .uint64, .int64, .float64: 8
        case .string, .array: nil
        }
    }

    /// A number or Boolean; nil for a string, an array, and a Boolean other than 0 or 1.
    func number(_ reader: inout ByteReader) throws(ByteReader.Short) -> GGUFValue? {
        switch self {
        case .uint8: .unsigned(UInt64(try reader.number(UInt8.self)))
        case .uint16: .unsigned(UInt64(try reader.number(UInt16.self)))
        case .uint32: .unsigned(UInt64(try reader.number(UInt32.self)))
        case .uint64: .unsigned(try reader.number())
        case .int8: .signed(Int64(try reader.number(Int8.self)))
        case .int16: .signed(Int64(try reader.number(Int16.self)))
        case .int32: .signed(Int64(try reader.number(Int32.self)))
        case .int64: .signed(try reader.number())
        case .float32: .float(Double(Float(bitPattern: try reader.number())))
        case .float64: .float(Double(bitPattern: try reader.number()))
        case .bool:
            switch try reader.number(UInt8.self) {
            case 0: .bool(false)
            case 1: .bool(true)
            default: nil
            }
        case .string, .array: nil
        }
    }
}
