import HubCore
import HubMedia
import Support
import Testing

@testable import InferenceKit

/// The detector that `scripts/train_shapes.py` trains, on pictures that it was not trained on.
@Suite struct ShapesTests {
    @Test(arguments: ["shapes", "shapes-tall"]) func shapesAreFound(name: String) async throws {
        let model = try await PictureModel.open(folder: Fixtures.path("shapes-detector"))
        let file = "shapes-detector/examples/\(name)"
        let picture = try PictureFile.read(Fixtures.bytes("\(file).png"), name: name)
        let shapes = try #require(try Fixtures.json("\(file).json").array)
        // Half sure, it sees some of them twice.
        let found = try await model.objects(picture, threshold: 0.8)
        #expect(found.count == shapes.count)
        for shape in shapes {
            let box = (shape["box"]?.array ?? []).compactMap(\.double)
            let best = found.filter { $0.label == shape["label"]?.string }.map { overlap($0.box, box) }.max() ?? 0
            #expect(best > 0.6, "\(shape.text()) in \(found)")
        }
    }

    /// The area that both have, as a share of that which either has.
    private func overlap(_ a: ObjectBox, _ b: [Double]) -> Double {
        let (width, height) = (
            max(0, min(a.right, b[2]) - max(a.left, b[0])), max(0, min(a.bottom, b[3]) - max(a.top, b[1]))
        )
        let all = (a.right - a.left) * (a.bottom - a.top) + (b[2] - b[0]) * (b[3] - b[1])
        return width * height / (all - width * height)
    }
}
