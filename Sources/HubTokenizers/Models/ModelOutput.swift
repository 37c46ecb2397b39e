import HubCore

/// The output of a model: ids, and if requested their byte ranges in the piece.
struct ModelOutput {
    var ids: [Int] = []
    /// Offsets in the piece; empty if not requested.
    var spans: [Range<Int>] = []
    let isTracked: Bool

    init(isTracked: Bool) { self.isTracked = isTracked }

    mutating func append(_ id: Int32, _ span: @autoclosure () -> Range<Int>) {
        ids.append(Int(id))
        if isTracked { spans.append(span()) }
    }

    /// Extends the range of the last token.
    mutating func extendLast(to end: Int) {
        if isTracked, let last = spans.indices.last { spans[last] = spans[last].lowerBound..<end }
    }
}

extension AIError {
    /// The error for text without a token.
    static func noUnknown(_ text: UnsafeBufferPointer<UInt8>) -> AIError {
        let shown = String(String(decoding: text, as: UTF8.self).prefix(40))
        return AIError(
            .generationFailed, "the tokenizer has no token for \"\(shown)\" and no unknown token")
    }
}

/// A cache of the ids of recent pieces, cleared when full.
///
/// Words repeat: about three quarters of all pieces hit.
final class WordCache {
    private struct Slot {
        var hash: UInt64 = 0
        var start: UInt32 = 0
        var keyCount: UInt16 = 0
        var idCount: UInt16 = 0
        var firstID: UInt32 = 0
    }

    private var slots = [Slot](repeating: Slot(), count: WordCache.slotCount)
    private var keys: [UInt8] = []
    private var ids: [Int32] = []
    private static let slotCount = 1 << 15
    private static let longestKey = 64
    private static let mostKeyBytes = 1 << 20

    /// Appends the ids of a piece.
    ///
    /// - Returns: false if they are not cached.
    func append(_ piece: UnsafeBufferPointer<UInt8>, hash: UInt64, to out: inout [Int]) -> Bool {
        guard piece.count <= Self.longestKey else { return false }
        let slot = slots[Int(truncatingIfNeeded: hash) & (Self.slotCount - 1)]
        guard slot.hash == hash, Int(slot.keyCount) == piece.count, piece.count > 0 else { return false }
        let start = Int(slot.start)
        for offset in 0..<piece.count where keys[start + offset] != piece[offset] { return false }
        for index in Int(slot.firstID)..<Int(slot.firstID) + Int(slot.idCount) { out.append(Int(ids[index])) }
        return true
    }

    /// Stores the ids of a piece.
    func keep(_ piece: UnsafeBufferPointer<UInt8>, hash: UInt64, _ found: ArraySlice<Int>) {
        guard piece.count <= Self.longestKey, found.count <= UInt16.max else { return }
        if keys.count + piece.count > Self.mostKeyBytes {
            keys.removeAll(keepingCapacity: true)
            ids.removeAll(keepingCapacity: true)
            slots = [Slot](repeating: Slot(), count: Self.slotCount)
        }
        slots[Int(truncatingIfNeeded: hash) & (Self.slotCount - 1)] = Slot(
            hash: hash, start: UInt32(keys.count), keyCount: UInt16(piece.count), idCount: UInt16(found.count),
            firstID: UInt32(ids.count))
        keys.append(contentsOf: piece)
        for id in found { ids.append(Int32(truncatingIfNeeded: id)) }
    }
}

/// The working memory of encoding, for one thread.
final class EncodingScratch {
    let cache = WordCache()
    var word = MergingWord()
    var lattice = Lattice()

    /// Appends the tokens of a piece from the cache, or from `find`.
    @inline(__always)
    func append<Failure: Error>(
        _ piece: UnsafeBufferPointer<UInt8>, to out: inout ModelOutput,
        find: (inout ModelOutput) throws(Failure) -> Void
    ) throws(Failure) {
        if out.isTracked { return try find(&out) }
        let hash = ByteHash.hash(piece)
        if cache.append(piece, hash: hash, to: &out.ids) { return }
        let start = out.ids.count
        try find(&out)
        cache.keep(piece, hash: hash, out.ids[start...])
    }
}
