/// What is refused before anything is decoded: a file of a kilobyte may name a picture of a terabyte.
public struct PictureLimits: Sendable, Hashable {
    /// Bytes of a file; 100 million by default.
    public var fileBytes = 100_000_000
    /// Pixels of a picture; 100 million by default, which need 300 MB, and up to three times that while a progressive JPEG or an
    /// interlaced PNG is read.
    public var pixels = 100_000_000
    /// Pixels of a side; 65,535 by default.
    public var side = 65_535

    /// The limits that apply unless others are given.
    public init() {}

    /// Other limits.
    public init(fileBytes: Int, pixels: Int, side: Int = 65_535) {
        (self.fileBytes, self.pixels, self.side) = (fileBytes, pixels, side)
    }
}
