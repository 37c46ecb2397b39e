import HubCore

/// Reads the vectors of an answer in any of the shapes that providers use.
struct EmbeddingAnswer {
    /// Who answered, for errors.
    let name: String
    /// The number of texts.
    let count: Int

    /// One vector for each text, in their order.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for another number of vectors, and for what is not a vector;
    ///   ``ErrorCode/unsupportedModel`` for vectors of tokens.
    func vectors(_ json: JSON) throws(AIError) -> [[Float]] {
        let rows: [JSON]
        if let data = json["data"]?.array {
            rows = try ordered(data)
        } else if let list = json.array ?? json["embeddings"]?.array {
            // One text's vector may come without a list around it.
            rows = count == 1 && list.first?.double != nil ? [.array(list)] : list
        } else {
            throw violation("answers with JSON that holds no vectors")
        }
        guard rows.count == count else {
            guard count > 1 || rows.first?.array?.first?.double == nil else { throw tokens() }
            throw violation("returns \(rows.count) vectors for \(count) texts")
        }
        var out: [[Float]] = []
        for row in rows { out.append(try vector(row)) }
        return out
    }

    private func ordered(_ data: [JSON]) throws(AIError) -> [JSON] {
        guard data.count == count else { throw violation("returns \(data.count) vectors for \(count) texts") }
        var rows = [JSON?](repeating: nil, count: count)
        for (place, entry) in data.enumerated() {
            let index = entry["index"]?.int.map { Int(clamping: $0) } ?? place
            guard rows.indices.contains(index), rows[index] == nil, let vector = entry["embedding"] else {
                throw violation("numbers its vectors wrongly")
            }
            rows[index] = vector
        }
        return rows.compactMap { $0 }
    }

    private func vector(_ json: JSON) throws(AIError) -> [Float] {
        if let text = json.string { return try checked(floats(text)) }
        guard let list = json.array, !list.isEmpty else {
            throw violation("returns something that is not a vector")
        }
        if list[0].array != nil {
            guard list.count == 1 else { throw tokens() }
            return try vector(list[0])
        }
        return try checked(list.map { $0.double.map { Float($0) } ?? .nan })
    }

    /// Base64 of float32, least significant byte first.
    private func floats(_ text: String) throws(AIError) -> [Float] {
        guard let bytes = Base64.bytes(text), !bytes.isEmpty, bytes.count % 4 == 0 else {
            throw violation("returns a vector that is not base64 of float32")
        }
        return bytes.withUnsafeBytes { buffer in
            (0..<bytes.count / 4).map {
                Float(
                    bitPattern: UInt32(littleEndian: buffer.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)))
            }
        }
    }

    private func checked(_ vector: [Float]) throws(AIError) -> [Float] {
        guard vector.allSatisfy(\.isFinite) else { throw violation("returns a vector with NaN or infinity in it") }
        return vector
    }

    private func tokens() -> AIError {
        AIError(
            .unsupportedModel, "\(name) returns a vector for each token: the model has no pooling",
            advice: "choose a model that embeds texts: hub search --task sentence-similarity")
    }

    private func violation(_ what: String) -> AIError {
        AIError(.protocolViolation, "\(name) \(what)", advice: "try again, or choose another provider")
    }
}
