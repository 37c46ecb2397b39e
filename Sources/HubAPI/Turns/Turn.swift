import HubCore
import InferenceKit

/// One request for texts: what every protocol's call comes down to.
struct Turn: Sendable {
    var model: CachedModel
    var keepAlive: KeepAlive?
    var config: GenerateConfig
    /// What is generated from: one stream for each text.
    var choices: [Choice]

    typealias Choice = @Sendable (OpenModel, GenerateConfig) async throws -> GenerationStream

    init(_ model: CachedModel, _ config: GenerateConfig, keepAlive: KeepAlive? = nil, choices: [Choice]) {
        (self.model, self.config, self.keepAlive, self.choices) = (model, config, keepAlive, choices)
    }

    /// The same prompt several times, each with a seed of its own.
    init(
        _ model: CachedModel, _ config: GenerateConfig, keepAlive: KeepAlive? = nil, count: Int,
        _ choice: @escaping Choice
    ) {
        self.init(
            model, config, keepAlive: keepAlive,
            choices: (0..<count).map { number in
                { model, config in
                    try await choice(model, config.seed(config.seed.map { $0 &+ UInt64(number) }))
                }
            })
    }
}

/// Runs requests: in their turn, on an open model, the texts of a request at once as far as there are places.
struct TurnRunner: Sendable {
    let pool: ModelPool
    let slots: Slots
    let counters: TurnCounters

    /// The model that a name means; without one the only model that is open, as llama.cpp's calls mean it.
    ///
    /// - Throws: what ``Shelf/model(_:isUse:)`` throws, and 400 where not one model alone is open.
    func model(_ name: String?, of shelf: Shelf) async throws -> CachedModel {
        if let name { return try await shelf.model(name) }
        let open = await pool.entries()
        guard open.count == 1 else {
            throw APIFault.invalid("'model' is missing, and not one model alone is open", param: "model")
        }
        return open[0].model.cached
    }

    /// - Parameter each: called with the number of a text and its chunks in their order; of several texts from several
    ///   tasks at once.
    /// - Returns: the results in the order of the texts.
    func run(
        _ turn: Turn, _ each: @escaping @Sendable (OpenModel, Int, GenerationChunk) -> Void = { _, _, _ in }
    ) async throws -> [GenerationResult] {
        let asked = Clock.seconds
        let width = min(turn.choices.count, slots.parallel)
        let places = try await slots.places(width)
        defer { places.end() }
        return try await pool.with(turn.model, keepAlive: turn.keepAlive) { model in
            try model.checkGenerates()
            return try await withThrowingTaskGroup(of: (Int, GenerationResult).self) { group in
                @Sendable func one(_ number: Int) async throws -> (Int, GenerationResult) {
                    let stream = try await turn.choices[number](model, turn.config)
                    return (number, try await read(stream, since: asked) { each(model, number, $0) })
                }
                for number in 0..<width { group.addTask { try await one(number) } }
                var results: [Int: GenerationResult] = [:]
                var next = width
                while let (number, result) = try await group.next() {
                    results[number] = result
                    guard next < turn.choices.count else {
                        places.giveBack()
                        continue
                    }
                    group.addTask { [next] in
                        try await places.renew()
                        return try await one(next)
                    }
                    next += 1
                }
                return turn.choices.indices.compactMap { results[$0] }
            }
        }
    }

    private func read(
        _ stream: GenerationStream, since asked: Double, _ each: (GenerationChunk) -> Void
    ) async throws -> GenerationResult {
        var isFirst = true
        for try await chunk in stream {
            if isFirst, chunk.tokenId != nil {
                isFirst = false
                counters.first(after: Clock.seconds - asked)
            }
            guard let result = chunk.result else {
                each(chunk)
                continue
            }
            counters.ended(result)
            if result.finishReason == .cancelled { throw CancellationError() }
            each(chunk)
            return result
        }
        throw AIError(.generationFailed, "the generation ended without a result")
    }
}
