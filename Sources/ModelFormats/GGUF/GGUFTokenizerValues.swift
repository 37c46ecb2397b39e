package import HubCore

/// The values of a GGUF file below `tokenizer.ggml`.
package struct GGUFTokenizerValues {
    private let file: GGUFFile

    package init(_ file: GGUFFile) { self.file = file }

    private func value(_ key: String) -> GGUFValue? { file.header["tokenizer.ggml.\(key)"] }

    private func fault(_ key: String) -> AIError {
        .malformed(file.file.path, "tokenizer.ggml.\(key) has the wrong type")
    }

    /// - Throws: ``ErrorCode/malformedModel`` for what is neither true nor false.
    package func flag(_ key: String) throws(AIError) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.bool else { throw fault(key) }
        return flag
    }

    /// An impossible id means none: some converters write the largest number.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is no whole number.
    package func id(_ key: String) throws(AIError) -> Int? {
        guard let value = value("\(key)_token_id") else { return nil }
        guard value.isWhole else { throw fault("\(key)_token_id") }
        guard let id = value.int, id >= 0, id < Int64(UInt32.max) else { return nil }
        return Int(id)
    }

    /// The ids of the tokens that end a text besides `eos_token_id`: those that end a turn, a message, or a file in a
    /// prompt of several files, and those that Ollama's converter lists. They may lie outside of the vocabulary.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for what is no whole number.
    package func ends() throws(AIError) -> [Int] {
        let key = "eos_token_ids"
        var listed: [Int] = []
        for value in try numbers(key) {
            guard value.isWhole else {
                let shown = value.double.map { "\($0)" } ?? value.bool.map { "\($0)" } ?? "an element"
                throw .malformed(file.file.path, "tokenizer.ggml.\(key): \(shown) is no whole number")
            }
            if let id = value.int.flatMap(Int.init(exactly:)) { listed.append(id) }
        }
        var ids: [Int] = []
        for key in ["eot", "eom", "fim_pad", "fim_rep", "fim_sep"] {
            if let id = try id(key) { ids.append(id) }
        }
        return ids + listed
    }

    /// The texts of an array, as bytes; empty if the file has no such array.
    ///
    /// - Throws: ``ErrorCode/malformedModel``, or ``ErrorCode/fileChanged`` if the file could not be read.
    package func texts(_ key: String) throws(AIError) -> [[UInt8]] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw fault(key) }
        var texts: [[UInt8]] = []
        texts.reserveCapacity(array.count)
        let isRead = array.eachString(in: file.file.bytes) { texts.append(Array($0)) }
        try file.file.checkIntact()
        guard isRead else { throw fault(key) }
        return texts
    }

    /// The numbers of an array, at most as many as a vocabulary may have; empty if the file has no such array.
    ///
    /// - Throws: ``ErrorCode/malformedModel``, or ``ErrorCode/fileChanged`` if the file could not be read.
    package func numbers(_ key: String) throws(AIError) -> [GGUFValue] {
        guard let value = value(key) else { return [] }
        // A number of one byte takes many in memory, and no vocabulary is larger.
        guard value.array?.count ?? 0 <= SettingLimits.sizes.upperBound else { throw fault(key) }
        let numbers = value.array?.values(in: file.file.bytes)
        try file.file.checkIntact()
        guard let numbers else { throw fault(key) }
        return numbers
    }

    package func bytes(_ key: String) throws(AIError) -> [UInt8] {
        guard let value = value(key) else { return [] }
        guard let array = value.array, array.element.size == 1 else { throw fault(key) }
        let bytes = Array(file.file.bytes[array.byteRange])
        try file.file.checkIntact()
        return bytes
    }
}
