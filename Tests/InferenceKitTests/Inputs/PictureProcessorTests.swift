import HubCore
import HubMedia
@testable import InferenceKit
import Support
import Testing

/// Pictures prepared against transformers, timm and open_clip (scripts/goldens_picture_inputs.py).
@Suite struct PictureProcessorTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        let json: JSON
        var testDescription: String { json["name"]?.string ?? "" }

        static let all: [Golden] = {
            let cases = try? Fixtures.json("goldens/picture-inputs.json")["cases"]?.array
            return (cases ?? []).map { Golden(json: $0) }
        }()
    }

    private static func picture(seed: Int, width: Int, height: Int) -> Picture {
        var random = SeededRandom(number: seed)
        let levels = (0..<3 * width * height).map { _ in Int(random.next() >> 56) }
        var pixels = [UInt8](repeating: 0, count: levels.count)
        for y in 0..<height {
            for x in 0..<width {
                for color in 0..<3 {
                    var sum = 0
                    for row in 0..<3 {
                        for column in 0..<3 {
                            let from = ((y + height - row) % height * width + (x + width - column) % width) * 3
                            sum += levels[from + color]
                        }
                    }
                    let at = 3 * (y * width + x) + color
                    pixels[at] = UInt8((levels[at] + 3 * (sum / 9)) / 4)
                }
            }
        }
        return Picture(width: width, height: height, pixels: pixels)
    }

    private static func folder(_ files: JSON?) throws -> TemporaryFolder {
        let folder = try TemporaryFolder("pictures")
        for (name, content) in files?.object?.members ?? [] {
            try FileSystem.replace(folder(name), with: Array(content.text().utf8))
        }
        return folder
    }

    @Test(arguments: Golden.all)
    func everyNumberIsTheReferences(_ golden: Golden) throws {
        let folder = try Self.folder(golden.json["files"])
        let processor = try PictureProcessor(folder: folder.path)
        let cases = try #require(golden.json["pictures"]?.array)
        for entry in cases {
            let sides = (entry["from"]?.array ?? []).compactMap { $0.int.map(Int.init) }
            let seed = try #require(entry["seed"]?.int)
            let picture = Self.picture(seed: Int(seed), width: sides[0], height: sides[1])
            let made = try processor.process(picture)
            var values = made.values, shape = [3, made.height, made.width]
            if let side = processor.patchSide {
                values = try processor.process(picture, layout: .pixels).patches(side: side)
                shape = [made.height / side * (made.width / side), 3 * side * side]
            }
            // Half a level of rounding that falls otherwise is a level, and torchvision's weights have fewer bits.
            let level = Float(processor.factor / (processor.deviations.min() ?? 1))
            for (way, tolerance) in [("pillow", 0), ("torchvision", golden.isInFloats ? 0 : level)] {
                guard let expected = entry[way] else { continue }
                #expect(shape == (expected["shape"]?.array ?? []).compactMap { $0.int.map(Int.init) })
                let numbers = try #require(expected["every"]?.string.flatMap { Base64.bytes($0) }).floats
                let found = stride(from: 0, to: values.count, by: 3989).map { values[$0] }
                #expect(found.count == numbers.count)
                let worst = zip(found, numbers).map { abs($0 - $1) / max(1, abs($1)) }.max() ?? 0
                #expect(worst <= tolerance + 2e-6, "\(way), \(sides)")
                if tolerance == 0 {
                    let sum = values.reduce(0.0) { $0 + Double($1) }
                    #expect(
                        abs(sum - (expected["sum"]?.double ?? .nan)) < 1e-6 * Double(values.count),
                        "\(way), \(sides)")
                }
                if let digest = expected["levels"]?.string {
                    #expect(Self.levels(made, processor).sha256.prefix(16) == digest, "\(sides)")
                }
            }
        }
    }

    /// The levels behind the numbers.
    private static func levels(_ made: PicturePixels, _ processor: PictureProcessor) -> [UInt8] {
        let count = made.height * made.width
        return made.values.enumerated().map { at, value in
            let color = at / count
            let level = (Double(value) * processor.deviations[color] + processor.means[color]) / processor.factor
            return UInt8(min(max(level.rounded(.toNearestOrEven), 0), 255))
        }
    }

    /// Padded and not, blue first and red first.
    @Test(arguments: ["mobilevit", "dpt-padded", "grounding-dino"])
    func bothLayoutsHaveTheSameNumbers(_ name: String) throws {
        let golden = try #require(Golden.all.first { $0.testDescription == name })
        let folder = try Self.folder(golden.json["files"])
        let processor = try PictureProcessor(folder: folder.path)
        let picture = Self.picture(seed: 4, width: 31, height: 20)
        let (planes, pixels) = (try processor.process(picture), try processor.process(picture, layout: .pixels))
        #expect(planes.height == pixels.height && planes.width == pixels.width)
        let count = planes.height * planes.width
        #expect(planes.values == (0..<3 * count).map { pixels.values[$0 % count * 3 + $0 / count] })
    }

    @Test func whatIsPaddedIsSaid() throws {
        let golden = try #require(Golden.all.first { $0.testDescription == "grounding-dino" })
        let folder = try Self.folder(golden.json["files"])
        let processor = try PictureProcessor(folder: folder.path)
        let made = try processor.process(Self.picture(seed: 1, width: 301, height: 211))
        #expect([made.height, made.width, made.contentHeight, made.contentWidth] == [340, 336, 200, 285])
    }

    @Test func whatDoesNotFitIntoItsPaddingIsRefused() throws {
        let folder = try TemporaryFolder("pictures")
        let text = #"{"image_processor_type": "DetrImageProcessor", "size": 40, "pad_size": 50}"#
        try FileSystem.replace(folder("preprocessor_config.json"), with: Array(text.utf8))
        let processor = try PictureProcessor(folder: folder.path)
        let error = #expect(throws: AIError.self) {
            try processor.process(Self.picture(seed: 1, width: 30, height: 60))
        }
        #expect(error?.message.contains("does not fit into 50 by 50") == true)
    }

    @Test(
        arguments: [
            (#"{"image_processor_type": "ViTImageProcessor", "do_sharpen": true}"#, "do_sharpen"),
            (#"{"image_processor_type": "ViTImageProcessor", "crop_pct": 0.9}"#, "crop_pct"),
            (#"{"image_processor_type": "ViTImageProcessor", "size": {"longest_edge": 9}}"#, "size"),
            (#"{"image_processor_type": "ViTImageProcessor", "size": {"height": 0, "width": 3}}"#, "height"),
            (#"{"image_processor_type": "ViTImageProcessor", "resample": 9}"#, "resample"),
            (#"{"image_processor_type": "ViTImageProcessor", "image_std": [0, 1, 1]}"#, "image_std"),
            (#"{"image_processor_type": "ViTImageProcessor", "image_mean": [1, 1]}"#, "image_mean"),
            (#"{"image_processor_type": "DINOv3ViTImageProcessor", "resample": 1}"#, "resample"),
            (#"{"image_processor_type": "Owlv2ImageProcessor", "size": {"height": 5, "width": 6}}"#, "size"),
            (#"{"feature_extractor_type": "WhisperFeatureExtractor"}"#, "WhisperFeatureExtractor"),
            (#"{"size": 224}"#, "no image processor"),
            ("[]", "not an object"), ("{", "preprocessor_config.json"),
        ])
    func aSettingThatIsNotKnownIsNamed(_ text: String, _ name: String) throws {
        let folder = try TemporaryFolder("pictures")
        try FileSystem.replace(folder("preprocessor_config.json"), with: Array(text.utf8))
        do throws(AIError) {
            _ = try PictureProcessor(folder: folder.path)
            Issue.record("\(text) was taken")
        } catch {
            #expect([.unsupportedModel, .malformedModel].contains(error.code))
            #expect(error.message.contains(name), "\(error.message)")
            #expect(error.message.contains("preprocessor_config.json"))
        }
    }

    @Test func otherFilesRefuseToo() throws {
        for (name, text, word) in [
            ("config.json", #"{"pretrained_cfg": {"crop_mode": "spiral"}}"#, "crop_mode"),
            ("config.json", #"{"pretrained_cfg": {"input_size": [1, 28, 28]}}"#, "input_size"),
            ("config.json", #"{"pretrained_cfg": {"sharpen": 1}}"#, "sharpen"),
            ("config.json", #"{"model_type": "vit"}"#, "none of its files"),
            ("open_clip_config.json", #"{"preprocess_cfg": {"resize_mode": "spiral"}}"#, "resize_mode"),
            ("open_clip_config.json", #"{"preprocess_cfg": {"mode": "L"}}"#, "mode"),
        ] {
            let folder = try TemporaryFolder("pictures")
            try FileSystem.replace(folder(name), with: Array(text.utf8))
            let error = #expect(throws: AIError.self) { try PictureProcessor(folder: folder.path) }
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        }
    }

    /// config.json's type stands in for a class that no file names.
    @Test func theTypeOfTheModelSaysTheClass() throws {
        let folder = try TemporaryFolder("pictures")
        try FileSystem.replace(folder("preprocessor_config.json"), with: Array("{}".utf8))
        try FileSystem.replace(folder("config.json"), with: Array(#"{"model_type": "siglip"}"#.utf8))
        let made = try PictureProcessor(folder: folder.path)
            .process(Picture(width: 2, height: 1, pixels: [0, 0, 0, 255, 255, 255]))
        #expect(made.height == 224 && made.width == 224 && made.values.first == -1 && made.values.last == 1)
    }

    /// A long picture of one row would become one of millions of columns.
    @Test func aPictureThatWouldBecomeTooLargeIsRefused() throws {
        let folder = try TemporaryFolder("pictures")
        let text = #"{"image_processor_type": "CLIPImageProcessor", "size": 30000}"#
        try FileSystem.replace(folder("preprocessor_config.json"), with: Array(text.utf8))
        let processor = try PictureProcessor(folder: folder.path)
        let error = #expect(throws: AIError.self) {
            try processor.process(Picture(width: 500, height: 1, pixels: [UInt8](repeating: 0, count: 1500)))
        }
        #expect(error?.code == .invalidInput && error?.message.contains("15000000 by 30000") == true)
    }
}

extension PictureProcessorTests.Golden {
    /// Whether pixels are resized without rounding, in torchvision as here.
    fileprivate var isInFloats: Bool { ["dinov3", "owlv2"].contains(testDescription) }
}

extension [UInt8] {
    fileprivate var sha256: String {
        let hasher = ContentHasher()
        hasher.update(self)
        return hasher.finish().hex
    }

    /// Numbers of 32 bits, the lowest byte first.
    fileprivate var floats: [Float] {
        stride(from: 0, to: count, by: 4).map { at in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(self[at + $1]) << UInt32(8 * $1) })
        }
    }
}
