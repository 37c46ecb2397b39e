import HubCore

/// The bytes that tensors of a checkpoint are views of.
struct TorchStorage {
    /// nil if compressed.
    let byteRange: Range<Int>?
    /// Uncompressed size in bytes.
    let size: Int

    /// The element types of torch's storages.
    static let types = [
        "FloatStorage": "F32", "DoubleStorage": "F64", "HalfStorage": "F16", "BFloat16Storage": "BF16",
        "LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8", "ByteStorage": "U8",
        "BoolStorage": "BOOL", "ComplexFloatStorage": "C64",
    ]

    /// Those of an archive: `archive/data/0` for one called `0`.
    static func all(_ files: [(name: String, entry: ZipDirectory.Entry)], folder: String) -> [String: TorchStorage]
    {
        let start = folder + "data/"
        return Dictionary(
            files.lazy.filter { $0.name.hasPrefix(start) }.map {
                (
                    String($0.name.dropFirst(start.count)),
                    TorchStorage(byteRange: $0.entry.byteRange, size: $0.entry.size)
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Those of an old checkpoint, one after another: each is its number of elements in 8 bytes, then its content.
    ///
    /// - Parameters:
    ///   - names: their names in this order, the last pickle.
    ///   - types: the element types by name, as the object tells them.
    /// - Throws: a ``PickleMachine/Fault``.
    static func all(_ bytes: UnsafeRawBufferPointer, at start: Int, names: [String], types: [String: String]) throws
        -> [String: TorchStorage]
    {
        var found: [String: TorchStorage] = [:]
        var reader = ByteReader(bytes, at: start)
        for name in names {
            guard let bits = types[name].flatMap({ TensorDataType(rawValue: $0)?.bits }) else {
                throw PickleMachine.Fault(what: "does not say the type of its storage \(name.printable)")
            }
            do throws(ByteReader.Short) {
                let count: Int64 = try reader.number()
                let (size, overflow) = Int(count).multipliedReportingOverflow(by: bits / 8)
                let range = try reader.skip(overflow ? .max : size)
                found[name.lowercased()] = TorchStorage(byteRange: range, size: range.count)
            } catch {
                throw PickleMachine.Fault(what: "has storages that go past the end of the file")
            }
        }
        return found
    }
}

extension PickleMachine {
    /// The element types of the storages that were referred to, by name.
    var storageTypes: [String: String] {
        var found: [String: String] = [:]
        for case .persistent(let identifier) in nodes {
            guard case .tuple(let parts) = nodes[identifier], parts.count >= 5, let name = text(parts[2]),
                case .imported(let kind) = nodes[parts[1]]
            else { continue }
            found[name] = TorchStorage.types[imports[kind].name]
        }
        return found
    }

    /// The texts of a list; nil if it holds anything else.
    func texts(_ node: Int) -> [String]? {
        guard case .list(let number) = nodes[node] else { return nil }
        let texts = lists[number].compactMap { text($0) }
        return texts.count == lists[number].count ? texts : nil
    }
}
