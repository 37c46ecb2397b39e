import CKernels
import HubCore
import HubTokenizers
import ModelFormats
import Support
import Testing

@testable import InferenceKit

/// The estimate of every model that has a golden, beside what is read and allocated when it runs.
@Suite struct MemoryUseTests {
    /// The models of all goldens, each once.
    private static let fixtures: [String] = {
        let names = (try? FileSystem.entries(Fixtures.path("goldens"))) ?? []
        let found = names.compactMap { try? Fixtures.json("goldens/\($0)")["fixture"]?.string }
        return Set(found).filter { !$0.hasSuffix("tokenizer.json") }.sorted()
    }()
    private static let forecasters = ["micro/chronos", "micro/chronos-bolt", "micro/chronos-2"]
    private static let models = fixtures.filter { !forecasters.contains($0) }
    /// Each model with one text, and some with four; with HUB_SOAK all, which takes minutes.
    private static let cases: [(String, Int)] = models.enumerated().flatMap { number, model in
        (HubEnvironment.process["HUB_SOAK"] != nil || number % 8 == 0 ? [1, 4] : [1]).map { (model, $0) }
    }

    @Test func everyGoldenIsThere() {
        #expect(Self.models.count > 240 && Set(Self.forecasters).isSubset(of: Self.fixtures))
    }

    /// Within a tenth of what was counted.
    private func isNear(_ estimate: Int64, _ counted: Int64) -> Bool { abs(estimate - counted) <= counted / 10 }

    private func ids(_ count: Int, _ model: LoadedModel) -> [Int] {
        var random = Xoshiro256(seed: 7)
        return (0..<count).map { _ in Int.random(in: 0..<model.vocabulary, using: &random) }
    }

    @Test(arguments: cases) func theEstimateIsWhatIsAllocated(fixture: String, texts: Int) throws {
        let reading = try FolderReading(Fixtures.path(fixture))
        let model = try LoadedModel(reading, options: ModelOptions(threads: 1))
        #expect(model.context == min(4096, try reading.runnable().description.maxPositions))
        let use = try #require(
            reading.memory.use(texts: texts, context: model.context, format: model.cacheFormat))
        let read = model.model.weightsBytes + (model.sentenceLayers?.weightsBytes ?? 0)
        #expect(isNear(use.weights, read), "\(use.weights) of weights, \(read) were read")
        let (cache, states) = model.generates ? try generating(texts, model) : try encoding(texts, model)
        #expect(isNear(use.cache, Int64(cache)), "\(use.cache) of cache, \(cache) were allocated")
        #expect(isNear(use.states, Int64(states)), "\(use.states) of states, \(states) were allocated")
    }

    /// Texts that go on until the context is full: prompts, and at last guesses beside the next token.
    private func generating(_ texts: Int, _ model: LoadedModel) throws -> (cache: Int, states: Int) {
        let d = model.model.description
        let workspace = Workspace(d, team: model.team, isExact: model.isExact)
        let text = [RowInput](tokens: ids(model.context, model))
        let source = d.encoder == nil ? [] : text
        let sessions = (0..<texts).map { _ in model.session() }
        for session in sessions {
            let prompt = Array(text.dropLast(12))
            try session.run(
                anew: prompt, answering: source, workspace, logitsFrom: prompt.count - 1, isCancelled: { false }
            ) { _, _ in }
            while session.count < text.count {
                let next = Array(text[session.count...].prefix(4))
                session.grow(to: session.count + next.count)
                try model.model.run(Step(session.rows(next, logitsFrom: 0)), workspace)
                session.keep(next)
            }
        }
        return (
            sessions.reduce(0) { $0 + $1.mostCacheBytes }, sessions.reduce(0) { $0 + $1.stateBytes }
        )
    }

    /// Texts as long as the model takes, of which as many as fit go through it together.
    private func encoding(_ texts: Int, _ model: LoadedModel) throws -> (cache: Int, states: Int) {
        let workspace = Workspace(model.model.description, team: model.team, isExact: model.isExact)
        var run = EncoderRun(model.computation, workspace)
        var text = try model.tokenized("a")
        text.ids = ids(model.context, model)
        text.types = text.ids.map { _ in 0 }
        var given = 0
        try run.rows(Array(repeating: model.input(text), count: texts), isCancelled: { false }) { _, _ in given += 1
        }
        #expect(given == texts)
        return (
            run.caches.reduce(0) { $0 + $1.keys.mostBytes + ($1.keys.source?.kept?.mostBytes ?? 0) },
            run.caches.reduce(0) { $0 + ($1.states?.bytes ?? 0) }
        )
    }

    /// A series after another: its paths are texts that answer one text.
    @Test(arguments: forecasters, [1, 4]) func soItIsOfModelsThatForecast(fixture: String, series: Int) throws {
        let reading = try FolderReading(Fixtures.path(fixture))
        let model = try Forecaster(reading, options: ModelOptions(threads: 1))
        let d = model.model.description
        let use = try #require(reading.memory.use(texts: series, context: d.maxPositions, format: model.format))
        #expect(isNear(use.weights, model.model.weightsBytes))
        #expect(use.states == 0)
        let counted = try forecasting(model)
        #expect(isNear(use.cache, Int64(counted)), "\(use.cache) of cache, \(counted) were allocated")
    }

    /// Bytes of keys and values for the longest series, with what ``Forecaster/forecast(_:horizon:samples:seed:)`` computes.
    private func forecasting(_ model: Forecaster) throws -> Int {
        let d = model.model.description
        switch model.settings.method {
        case .paths(let paths):
            let bins = SeriesBins(paths, contextLength: model.contextLength)
            let source = SourceText(
                [RowInput](tokens: try bins.tokens(of: (0..<model.contextLength).map(Double.init)).ids))
            let sessions = (0..<paths.samples).map { _ in
                let session = Session(model.model, context: model.horizon + 1, format: model.format)
                session.begin([.token(model.start)], sharing: source)
                return session
            }
            for _ in 0..<model.horizon {
                var step = Step()
                for session in sessions {
                    session.grow(to: session.count + 1)
                    for row in session.rows([.token(model.start)], logitsFrom: 0) { step.append(row) }
                }
                try model.model.run(step, model.workspace)
                for session in sessions { session.keep([.token(model.start)]) }
            }
            let kept = source.kept?.mostBytes ?? 0
            return sessions.reduce(kept) { $0 + $1.mostCacheBytes - kept }
        case .quantiles(let quantiles):
            let patches = try SeriesPatches(quantiles, (0..<model.contextLength).map(Double.init)[...])
            var rows = patches.rows.map { RowInput.patch($0) }
            if quantiles.hasRegister { rows.append(.token(1)) }
            guard quantiles.hasDecoder else {
                rows += SeriesPatches.future(quantiles, model.horizon / quantiles.size).map { .patch($0) }
                let cache = KeyValueCache(d.cacheShapes, format: model.format.kernel, capacity: rows.count)
                try model.model.run(
                    Step(
                        rows.enumerated().map {
                            StepRow(
                                cache: cache, position: $0.offset, input: $0.element, length: rows.count)
                        }), model.workspace)
                return cache.mostBytes
            }
            let session = Session(model.model, context: 1, format: model.format)
            session.begin([.token(model.start)], sharing: SourceText(rows))
            session.grow(to: 1)
            try model.model.run(Step(session.rows([.token(model.start)], logitsFrom: 0)), model.workspace)
            return session.mostCacheBytes
        }
    }

    /// A picture that takes all rows; of two sides, a text beside it that takes all positions.
    @Test(arguments: TowerGoldenTests.names + ContrastiveGoldenTests.both)
    func soItIsOfModelsThatSee(name: String) throws {
        let reading = try FolderReading(Fixtures.path("micro/\(name)"))
        let model = try PictureModel(reading, options: ModelOptions(threads: 1))
        let tower = try #require(model.engine as? TowerEngine)
        let texts = model.texts?.model
        let use = try #require(
            reading.memory.use(context: tower.computation.context, format: tower.computation.cacheFormat))
        let read = tower.computation.model.weightsBytes + (texts?.model.weightsBytes ?? 0)
        #expect(isNear(use.weights, read), "\(use.weights) of weights, \(read) were read")
        var run = EncoderRun(tower.computation, tower.computation.workspace())
        let input = try tower.input(TowerGoldenTests.picture(width: 32, height: 32))
        let full = EncoderInput(
            input.rows + Array(repeating: input.rows.last!, count: tower.computation.context - input.count),
            positions: nil)
        try run.rows([full], isCancelled: { false }) { _, _ in }
        var cache = run.caches.reduce(0) { $0 + $1.keys.mostBytes }
        if let texts {
            var read = EncoderRun(
                texts.computation,
                Workspace(texts.model.description, team: texts.team, isExact: texts.isExact))
            var text = try texts.tokenized("a")
            text.ids = Array(repeating: 5, count: texts.context - 1) + [texts.tokenizer.ends.first ?? 5]
            text.types = text.ids.map { _ in 0 }
            try read.rows([texts.input(text)], isCancelled: { false }) { _, _ in }
            cache += read.caches.reduce(0) { $0 + $1.keys.mostBytes }
        }
        #expect(isNear(use.cache, Int64(cache)), "\(use.cache) of cache, \(cache) were allocated")
    }

    /// The scratch memory has the size that is told before.
    @Test(arguments: fixtures) func aWorkspaceHasTheSizeThatIsTold(fixture: String) throws {
        let d = try FolderReading(Fixtures.path(fixture)).runnable().description.limited(to: 300)
        let workspace = Workspace(d, team: try ComputeTeam(threads: 1), isExact: true)
        func packed(_ size: WorkspaceSize) -> Int { size.encoders.reduce(size.packedBytes) { $0 + packed($1) } }
        #expect(workspace.size.bytes == Int64(4 * Self.numbers(workspace) + packed(workspace.size)))
    }

    /// Numbers of all buffers within a value.
    private static func numbers(_ value: Any) -> Int {
        if let buffer = value as? FloatBuffer { return buffer.count }
        if value is ComputeTeam { return 0 }
        return Mirror(reflecting: value).children.reduce(0) { $0 + numbers($1.value) }
    }

    /// A window keeps what it sees, and a page; whatever it is, the pages are those that there were at once.
    @Test(arguments: [1, 8, 255, 256, 257, 512, 1000, 4096], [1, 256, 257, 1000, 4096])
    func pagesOfAWindowAreThoseThatThereWere(window: Int, length: Int) {
        for window in [window, nil] {
            let shape = KeyValueCache.LayerShape(kvHeads: 2, headSize: 8, valueSize: 4, window: window)
            let cache = KeyValueCache([shape], format: HUB_CACHE_Q8, capacity: length)
            var count = 0
            while count < length {
                // A prompt in whole pages, then token by token.
                let end = length - count > 300 ? count + 256 : count + 1
                cache.prepare(upTo: end)
                cache.advance(to: end)
                count = end
            }
            #expect(shape.bytes(length, HUB_CACHE_Q8) == Int64(cache.mostBytes))
        }
    }
}
