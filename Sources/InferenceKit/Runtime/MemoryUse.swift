import ModelFormats

/// What running a model takes in memory, in bytes, each at most `Int64.max`.
struct MemoryUse: Sendable, Hashable {
    /// Weights that are read, as they are stored.
    var weights: Int64
    /// What is made of weights when a model is opened.
    var made: Int64 = 0
    /// Keys and values of all texts, those of an encoder's included.
    var cache: Int64 = 0
    /// What recurrent layers remember of them.
    var states: Int64 = 0
    /// Rows that are being computed.
    var scratch: Int64 = 0

    func added(to other: MemoryUse) -> MemoryUse {
        MemoryUse(
            weights: weights.addedClamped(other.weights), made: made.addedClamped(other.made),
            cache: cache.addedClamped(other.cache), states: states.addedClamped(other.states),
            scratch: scratch.addedClamped(other.scratch))
    }

    var bytes: Int64 { [made, cache, states, scratch].reduce(weights) { $0.addedClamped($1) } }
}

/// What is computed at once.
struct MemoryLoad: Sendable, Hashable {
    /// Texts, and the positions of each.
    var texts: Int
    var positions: Int
    /// Texts that an encoder reads for them, and the positions of each; 0 of a model without one.
    var sources = 0
    var sourcePositions = 0

    /// More than any text has.
    static let most = Int(Int32.max)
}

extension ModelDescription {
    /// The same for texts of at most so many positions.
    func limited(to context: Int) -> ModelDescription {
        var limited = self
        limited.maxPositions = min(maxPositions, context)
        limited.encoders = encoders.map { $0.limited(to: context) }
        return limited
    }

    /// The most texts in one step. Each text has its own states of recurrent layers, which may be large. So a step has no
    /// more states than one generated text keeps.
    var mostTogether: Int { stateSize == 0 ? .max : RecurrentStates.usualCheckpoints + 1 }

    /// How many of so many texts, each of this length, are in one step.
    private func together(_ texts: Int, length: Int) -> Int {
        max(1, min(texts, WorkspaceSize(self).rows / max(1, length), mostTogether))
    }

    /// What running takes, counted as it is allocated.
    ///
    /// - Parameters:
    ///   - weights: bytes of the weights that are read.
    ///   - isPacked: whether their matrices are packed.
    ///   - texts: texts that are worked on at once. A model that forecasts reads one series after another.
    ///   - context: the positions of each.
    func memory(
        weights: Int64, isPacked: Bool, texts: Int = 1, context: Int, format: KeyValueFormat
    ) -> MemoryUse {
        let context = max(0, min(context, MemoryLoad.most))
        // A model that forecasts is opened with all of its positions.
        var d = forecast == nil ? limited(to: max(1, context)) : self
        d.towers = []
        // Positions of a larger grid are interpolated.
        if pixels != nil { d.maxPositions = max(1, context) }
        if encoder?.pixels != nil { d.encoders[0].maxPositions = max(1, context) }
        let load = d.load(texts: texts, context: context)
        let rows = max(
            Int64(load.texts).multipliedClamped(by: Int64(load.positions)),
            Int64(load.sources).multipliedClamped(by: Int64(load.sourcePositions)))
        let use = MemoryUse(
            weights: weights, made: d.madeBytes(isPacked: isPacked), cache: d.cacheBytes(load, format),
            states: RecurrentStates.mostBytes(d, length: load.positions, keeping: d.checkpoints(context))
                .multipliedClamped(by: Int64(load.texts)),
            scratch: WorkspaceSize(d, limit: Int(min(rows, Int64(MemoryLoad.most)))).bytes)
        guard let tower else { return use }
        // A picture beside texts.
        return use.added(
            to: tower.memory(
                weights: 0, isPacked: isPacked, context: max(context, tower.maxPositions), format: format))
    }

    /// Earlier states kept for each text; 0 for a text that is computed in one step.
    private func checkpoints(_ context: Int) -> Int {
        let hasFurtherSteps = task == .textGeneration || context > WorkspaceSize(self).rows
        return hasFurtherSteps ? RecurrentStates.usualCheckpoints : 0
    }

    /// The texts that are computed at once, and their positions.
    private func load(texts: Int, context: Int) -> MemoryLoad {
        switch forecast?.method {
        case .paths(let paths):
            return MemoryLoad(
                texts: min(paths.samples, WorkspaceSize(self).rows), positions: forecast?.horizon ?? 0, sources: 1,
                sourcePositions: encoder?.maxPositions ?? 0)
        case .quantiles(let quantiles):
            let read = encoder?.maxPositions ?? 0
            return MemoryLoad(
                texts: 1, positions: quantiles.hasDecoder ? 1 : maxPositions, sources: encoders.count,
                sourcePositions: read)
        case nil:
            let together = task == .textGeneration ? texts : self.together(texts, length: context)
            return MemoryLoad(
                texts: together, positions: context, sources: encoder == nil ? 0 : together,
                sourcePositions: encoder == nil ? 0 : context)
        }
    }

    /// Keys and values.
    private func cacheBytes(_ load: MemoryLoad, _ format: KeyValueFormat) -> Int64 {
        func bytes(_ shapes: [KeyValueCache.LayerShape], _ length: Int, _ texts: Int) -> Int64 {
            shapes.reduce(Int64(0)) { $0.addedClamped($1.bytes(length, format.kernel)) }
                .multipliedClamped(by: Int64(texts))
        }
        let own = bytes(cacheShapes, load.positions, load.texts)
        guard let encoder else { return own }
        // While the encoder reads a text it has a cache, and the decoder's is empty.
        return bytes(crossShapes, load.sourcePositions, load.sources).addedClamped(
            max(own, bytes(encoder.cacheShapes, load.sourcePositions, 1)))
    }

    /// Bytes of the KV cache per position of a generated text; 0 for an encoder, which has none.
    func cacheBytesPerPosition(_ format: KeyValueFormat) -> Int64 {
        isCausal && ending == nil
            ? cacheShapes.reduce(0) { $0.addedClamped($1.bytesPerPosition(format.kernel)) } : 0
    }

    /// Norms and biases as float32; lists of distances; and the matrices of latent attention's keys, which packed ones
    /// are no longer when they are turned.
    private func madeBytes(isPacked: Bool) -> Int64 {
        var numbers: Int64 = 0
        for need in tensors where need.shape.count == 1 { numbers = numbers.addedClamped(Int64(need.shape[0])) }
        if let pixels, let positions = pixels.positions {
            // A table, and one behind each layer but the last.
            let tables = positions.areInLayers ? Int64(max(1, layers.count)) : 1
            let each = Int64(pixels.rowCount).multipliedClamped(by: Int64(width))
            numbers = numbers.addedClamped(each.multipliedClamped(by: tables))
        }
        if let distances = pixels?.distances, let heads = layers.first?.attention?.heads {
            let each = Int64(distances.count).multipliedClamped(by: Int64(heads))
            numbers = numbers.addedClamped(each.multipliedClamped(by: Int64(layers.count)))
        }
        for d in [self] + encoders {
            guard let distances = d.distances else { continue }
            // Lists for each head, or the table of vectors.
            let (lists, length) =
                distances.vectors == nil
                ? (d.layers.first?.attention?.heads ?? 0, DistanceSpace.stride(d.maxPositions))
                : (distances.rows, d.width)
            numbers = numbers.addedClamped(Int64(lists).multipliedClamped(by: Int64(length)))
        }
        for attention in layers.compactMap(\.attention) {
            guard isPacked, let latent = attention.latent, !latent.isSplit else { continue }
            numbers = numbers.addedClamped(
                Int64(attention.heads * latent.plain).multipliedClamped(by: Int64(latent.rank)))
        }
        return numbers.multipliedClamped(by: 4)
    }
}
