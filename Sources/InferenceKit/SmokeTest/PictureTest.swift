import HubCore
import HubMedia

/// The part of a smoke test in which a model sees pictures that the program makes itself.
struct PictureTest {
    private let model: PictureModel

    static let names = ["pictures", "batched"]
    /// Of a model that also reads texts.
    static let namesOfTexts = ["texts"]

    init(_ model: PictureModel) { self.model = model }

    /// A red disc on white, and stripes of two blues.
    private static let samples: [Picture] = [
        made { x, y in
            let (dx, dy) = (x - 112, y - 112)
            return dx * dx + dy * dy < 70 * 70 ? [200, 30, 30] : [255, 255, 255]
        },
        made { x, y in (x + y) / 16 % 2 == 0 ? [20, 40, 160] : [120, 160, 240] },
    ]

    private static func made(_ color: (Int, Int) -> [UInt8]) -> Picture {
        var pixels: [UInt8] = []
        for y in 0..<224 { for x in 0..<224 { pixels += color(x, y) } }
        return Picture(width: 224, height: 224, pixels: pixels)
    }

    func run(_ log: inout CheckLog) async throws(AIError) -> SmokeTest.Speed {
        log.begin("pictures")
        var alone: [[Float]] = []
        for picture in Self.samples { alone += try await numbers([picture]) }
        let detail = "\(model.engine.team.instructionSet), \(model.engine.team.threads) threads"
        let count = alone[0].count.grouped
        let what =
            switch model.task {
            case .depthEstimation: "depth of \(count) places"
            case .imageSegmentation: "\(model.labels.count.grouped) labels, maps of \(count) numbers"
            default:
                model.labels.isEmpty ? "vectors of \(count) numbers" : "\(model.labels.count.grouped) labels"
            }
        guard alone[0] != alone[1] else {
            throw AIError(.generationFailed, "different pictures have the same numbers")
        }
        log.pass("\(alone.count) different pictures, \(what), \(detail)")
        log.begin("batched")
        guard try await numbers(Self.samples) == alone else {
            throw AIError(.generationFailed, "pictures together gave other numbers than each alone")
        }
        log.pass("pictures together gave the same numbers as each alone, to the bit")
        let start = Clock.seconds
        _ = try await numbers([Self.samples[0]])
        let seconds = Clock.seconds - start
        return SmokeTest.Speed(
            loadSeconds: model.loadSeconds, tokensPerSecond: seconds > 0 ? 1 / seconds : 0, unit: .pictures,
            weightsBytesPerSecond: nil,
            memoryBytesPerSecond: try await MemoryBandwidth.measure(threads: model.engine.team.threads),
            peakMemoryBytes: Machine.peakResidentBytes)
    }

    /// Texts, whose vectors are in one space with those of pictures.
    func run(texts: [String], _ log: inout CheckLog) async throws(AIError) {
        log.begin("texts")
        let vectors = try await model.embed(texts: texts).map(\.vector)
        guard Set(vectors).count == Set(texts).count else {
            throw AIError(.generationFailed, "different texts have the same vector")
        }
        let length = try await model.embed([Self.samples[0]])[0].dimensions
        guard vectors.allSatisfy({ $0.count == length }) else {
            throw AIError(
                .generationFailed,
                "vectors of texts have \(vectors[0].count) numbers, and those of pictures \(length)")
        }
        log.pass("\(texts.count) different texts, vectors in one space with those of pictures")
    }

    private func numbers(_ pictures: [Picture]) async throws(AIError) -> [[Float]] {
        if [.depthEstimation, .imageSegmentation].contains(model.task) {
            var maps: [[Float]] = []
            for picture in pictures { maps.append(try await model.map(picture).values) }
            return maps
        }
        return model.labels.isEmpty
            ? try await model.embed(pictures).map(\.vector) : try await model.outputs(pictures)
    }
}
