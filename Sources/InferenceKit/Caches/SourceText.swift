/// What an encoder reads and a decoder answers, with what the decoder's cross attention keeps of it. Used by one thread at
/// a time.
final class SourceText {
    let rows: [RowInput]
    /// The keys and values of each of the decoder's layers; nil until the text is read.
    var kept: KeyValueCache?

    /// Of a picture; nil for a text.
    let picture: PicturePlaces?

    init(_ rows: [RowInput], picture: PicturePlaces? = nil) { (self.rows, self.picture) = (rows, picture) }
}
