/// What an encoder reads and a decoder answers, with what the decoder's cross attention keeps of it. Used by one thread at
/// a time.
final class SourceText {
    /// A token each, or the numbers in the place of one.
    let rows: [(id: Int, patch: [Float]?)]
    /// The keys and values of each of the decoder's layers; nil until the text is read.
    var kept: KeyValueCache?

    init(_ ids: [Int]) { rows = ids.map { ($0, nil) } }
    init(rows: [(id: Int, patch: [Float]?)]) { self.rows = rows }

    var ids: [Int] { rows.map(\.id) }
}
