import HubCore
import Support
import Testing

@testable import InferenceKit

/// Encoders with each of their heads, against transformers in float32 as `scripts/goldens_encoders.py` wrote it down.
@Suite struct EncoderGoldenTests {
    private static let models = [
        "bert-heads", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "electra-wide", "albert",
        "modernbert", "modernbert-biased", "nomic-bert", "nomic-bert-published", "gte", "gte-new", "jina-v3",
        "jina-v3-published",
        "eurobert", "eurobert-mean", "esm2", "esm1b", "embeddinggemma",
        "mpnet", "deberta-v2", "deberta-v2-far", "deberta", "mobilebert", "mobilebert-plain",
    ]

    private struct Golden {
        let fixture: String
        let texts: [(ids: [Int], types: [Int])]
        /// The row of each text whose words a golden holds.
        let mask: Int
        /// Both spellings of config.json.
        let configurations: [JSONObject]
        let classes: [(name: String, golden: JSON)]

        init(_ name: String) throws {
            let golden = try Fixtures.json("goldens/encoder-\(name).json")
            fixture = try #require(golden["fixture"]?.string)
            texts = try #require(golden["texts"]?.array).map { ($0["ids"]?.ids ?? [], $0["types"]?.ids ?? []) }
            mask = Int(try #require(golden["mask"]?.int))
            let published = try #require(Fixtures.json("\(fixture)/config.json").object)
            configurations = [published] + [golden["saved"]?.object].compactMap { $0 }
            classes = try #require(golden["classes"]?.object).members.map { ($0.key, $0.value) }
        }

        /// The model under a class of its configuration.
        func open(_ configuration: JSONObject, as name: String, _ options: ModelOptions) throws -> LoadedModel {
            let folder = try TemporaryFolder(linking: fixture, except: ["config.json"])
            var configuration = configuration
            configuration["architectures"] = .array([.string(name)])
            try folder.write("config.json", .object(configuration))
            return try LoadedModel(FolderReading(folder.path), options: options)
        }
    }

    /// The rows of texts that go through a model together, and the workspace that holds them then.
    private func run(_ model: LoadedModel, _ texts: [(ids: [Int], types: [Int])]) throws -> (
        places: [Range<Int>], workspace: Workspace
    ) {
        let d = model.model.description
        let workspace = Workspace(d, team: model.team, isExact: model.isExact)
        var step = Step()
        var places: [Range<Int>] = []
        for text in texts {
            let cache = KeyValueCache(
                d.cacheShapes, format: model.cacheFormat.kernel, capacity: model.context)
            let states = RecurrentStates(d, keeping: 0)
            let first = step.count
            for (position, id) in text.ids.enumerated() {
                step.append(
                    StepRow(
                        cache: cache, position: position, input: .token(id, type: text.types[position]),
                        length: text.ids.count, states: states))
            }
            places.append(first..<step.count)
        }
        try model.model.run(step, workspace)
        return (places, workspace)
    }

    private func worst(_ values: [Float], _ expected: JSON?) -> Double {
        let expected = expected?.array?.compactMap(\.double) ?? []
        guard values.count == expected.count else { return .infinity }
        return zip(values, expected).map { abs(Double($0) - $1) }.max() ?? .infinity
    }

    @Test(arguments: models) func everyHead(name: String) throws {
        let golden = try Golden(name)
        #expect(!golden.classes.isEmpty && golden.texts.count > 1)
        for configuration in golden.configurations {
            for (name, said) in golden.classes {
                let model = try golden.open(configuration, as: name, ModelOptions(isExact: true))
                let d = model.model.description
                #expect(d.task.rawValue == said["task"]?.string)
                let (places, workspace) = try run(model, golden.texts)
                let texts = try #require(said["texts"]?.array)
                guard d.head != nil else {
                    let width = d.width
                    let rows = model.model.lastRows(places.last!.upperBound, workspace).array
                    for (place, text) in zip(places, texts) {
                        func row(_ index: Int) -> [Float] { Array(rows[index * width..<(index + 1) * width]) }
                        let mean = (0..<width).map { column in
                            place.reduce(0) { $0 + rows[$1 * width + column] } / Float(place.count)
                        }
                        #expect(worst(row(place.lowerBound), text["first"]) < 1e-5)
                        #expect(worst(row(place.upperBound - 1), text["last"]) < 1e-5)
                        #expect(worst(mean, text["mean"]) < 1e-5)
                    }
                    continue
                }
                let wanted =
                    d.task == .fillMask
                    ? places.map { $0.lowerBound + golden.mask..<$0.lowerBound + golden.mask + 1 } : places
                let outputs = try model.model.outputs(texts: wanted, workspace)
                for (output, text) in zip(outputs, texts) {
                    #expect(worst(output, text["outputs"]) < 1e-4, "\(name): \(worst(output, text["outputs"]))")
                }
            }
        }
    }

    /// The bits of a text's results depend on it alone: not on the texts beside it, nor on the number of threads.
    @Test(arguments: models, [true, false]) func textsTogetherAreWhatTheyAreAlone(name: String, isExact: Bool)
        throws
    {
        let golden = try Golden(name)
        for (name, _) in golden.classes {
            var alone: [[Float]] = []
            for threads in [1, 3] {
                let model = try golden.open(
                    golden.configurations[0], as: name, ModelOptions(threads: threads, isExact: isExact))
                func results(_ texts: [(ids: [Int], types: [Int])]) throws -> [[Float]] {
                    let (places, workspace) = try run(model, texts)
                    guard model.model.description.head == nil else {
                        return try model.model.outputs(texts: places, workspace)
                    }
                    let width = model.model.description.width
                    let rows = model.model.lastRows(places.last!.upperBound, workspace).array
                    return places.map { Array(rows[$0.lowerBound * width..<$0.upperBound * width]) }
                }
                if alone.isEmpty { alone = try golden.texts.flatMap { try results([$0]) } }
                #expect(try results(golden.texts) == alone)
                #expect(try results(golden.texts.reversed()).reversed() == alone)
            }
        }
    }
}
