import HubCore
import HubMedia
import Support
import Testing

/// Files that are cut off, changed, or lie about themselves.
@Suite struct DamagedPictureTests {
    private static let files: [(name: String, bytes: [UInt8])] = {
        let names = (try? FileSystem.entries(Fixtures.path("pictures"))) ?? []
        return names.filter { $0 != "goldens.json" }.compactMap { name in
            (try? Fixtures.bytes("pictures/\(name)")).map { (name, $0) }
        }
    }()

    /// What is wrong with a file, or nil if it is read.
    private static func fault(_ bytes: [UInt8], limits: PictureLimits = PictureLimits()) throws -> String? {
        do throws(AIError) {
            _ = try PictureFile.read(bytes, name: "holiday.jpg", limits: limits)
            return nil
        } catch {
            guard error.code == .unreadableFile, error.exitStatus == 7, error.context.path == "holiday.jpg",
                error.message.hasPrefix("cannot read holiday.jpg: ")
            else { throw error }
            return String(error.message.dropFirst("cannot read holiday.jpg: ".count))
        }
    }

    /// A file that ends early is an error, or it had all of the picture: never a picture with a grey rest.
    @Test func aFileThatIsCutOffGivesItsPictureOrAnError() throws {
        for file in Self.files where file.bytes.count < 20_000 {
            guard let whole = try? PictureFile.read(file.bytes, name: file.name) else { continue }
            var random = SeededRandom(number: file.bytes.count)
            let half = file.bytes.count / 2
            // Half of an animation has its first frame.
            let hasFrames = file.name.hasPrefix("animated")
            #expect(try hasFrames || Self.fault(Array(file.bytes.prefix(half))) != nil, "half of \(file.name)")
            for _ in 0..<40 {
                let cut = Array(file.bytes.prefix(random.below(file.bytes.count)))
                if let picture = try? PictureFile.read(cut, name: "cut") {
                    #expect(picture == whole, "\(cut.count) bytes of \(file.name)")
                } else {
                    #expect(try Self.fault(cut) != nil)
                }
            }
        }
    }

    /// Changed bytes give a picture or an error that says what is wrong; whoever reads beyond its memory would not return.
    @Test func aChangedFileGivesAPictureOrAnError() throws {
        let limits = PictureLimits(fileBytes: 1 << 20, pixels: 1 << 20)
        for file in Self.files where file.bytes.count < 20_000 {
            for number in 0..<60 {
                var random = SeededRandom(number: number)
                var bytes = file.bytes
                for _ in 0...random.below(6) {
                    let at = random.below(bytes.count)
                    switch random.below(4) {
                    case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes[at] ^= 1 << UInt8(random.below(8))
                    case 2:
                        for byte in at..<min(at + 4, bytes.count) { bytes[byte] = random.one(in: 2) ? 0xFF : 0 }
                    default: bytes.removeSubrange(at..<min(at + 1 + random.below(9), bytes.count))
                    }
                    if bytes.isEmpty { break }
                }
                if let fault = try Self.fault(bytes, limits: limits) { #expect(!fault.isEmpty) }
            }
        }
    }

    @Test func whatIsNoPictureIsSaidToBeWhatItIs() throws {
        #expect(try Self.fault([]) == "it is empty")
        #expect(try Self.fault(Array("hello, world".utf8)) == "it is not a picture")
        #expect(try Self.fault([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]) == "it is a TIFF picture")
        #expect(try Self.fault(Array("<svg xmlns=".utf8)) == "it is an SVG drawing")
        #expect(try Self.fault(Array("%PDF-1.7".utf8)) == "it is a PDF")
        do throws(AIError) {
            _ = try PictureFile.read("/nowhere/\u{1B}[2J.png")
            Issue.record("a file was read that is not there")
        } catch {
            #expect(error.code == .fileNotFound && error.exitStatus == 3)
            #expect(error.message == "/nowhere/\\u{1B}[2J.png does not exist")
        }
        let folder = try Fixtures.path("pictures")
        #expect(throws: AIError.self) { try PictureFile.read(folder) }
    }

    /// Sides that a file only claims cost no memory.
    @Test func aPictureBeyondTheLimitsIsRefusedBeforeItIsDecoded() throws {
        var png = try Fixtures.bytes("pictures/rgb.png")
        for (at, byte) in [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF].enumerated() { png[16 + at] = UInt8(byte) }
        // The header's checksum is right, so that only its claim is wrong.
        let sum = Self.crc(png[12..<29])
        for at in 0..<4 { png[29 + at] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * at)) }
        #expect(
            try Self.fault(png)
                == "it has 65535 by 65535 pixels, and a picture may have 100000000, 65535 on a side")
        let small = try Fixtures.bytes("pictures/rgb.png")
        #expect(try Self.fault(small, limits: PictureLimits(fileBytes: 100_000, pixels: 23 * 17)) == nil)
        #expect(try Self.fault(small, limits: PictureLimits(fileBytes: 100_000, pixels: 390)) != nil)
        #expect(try Self.fault(small, limits: PictureLimits(fileBytes: 100_000, pixels: 391, side: 22)) != nil)
        #expect(
            try Self.fault(small, limits: PictureLimits(fileBytes: 100, pixels: 391))?.contains("100 B") == true)
    }

    private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}
