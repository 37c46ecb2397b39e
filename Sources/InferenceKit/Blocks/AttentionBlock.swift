import CKernels
import HubCore
import Libc

/// Attention over the cached positions of each row's sequence.
struct AttentionBlock: Sendable {
    private let description: ModelDescription.Attention
    private let isCausal: Bool
    private let query: Linear
    /// nil where it reads the keys of another layer,
    private let key: Linear?
    /// or makes values of keys.
    private let value: Linear?
    /// What its result is multiplied with; nil for nothing.
    private let gate: Linear?
    private let output: Linear
    /// nil for none.
    private let norms: (query: NormBlock?, key: NormBlock?, value: NormBlock?)
    /// A logit of each head beside its scores; nil for none.
    private let sinks: FloatBuffer?
    /// The kind of its rotary embedding; nil for none.
    private let rotary: (block: RotaryBlock, kind: Int)?
    /// What distances add to scores, with the matrices that make keys and queries of them; nil for nothing.
    private let distances: (block: DistanceBlock, key: Linear, query: Linear)?
    /// What places of a picture's squares add to scores; nil for nothing.
    private let squares: SquareDistanceBlock?

    init(
        _ d: ModelDescription.Attention, isCausal: Bool, rotary: (RotaryBlock, Int)?, distances: DistanceBlock?,
        squares: ModelDescription.SquareDistances?, _ layer: Int, _ table: TensorTable
    ) throws(AIError) {
        description = d
        self.isCausal = isCausal
        self.rotary = rotary.map { ($0.0, $0.1) }
        query = try table.linear(.query, layer)
        key = try table.optionalLinear(.key, layer)
        value = try table.optionalLinear(.value, layer)
        gate = try table.optionalLinear(.outputGate, layer)
        output = try table.linear(.attentionOutput, layer)
        self.squares = try squares.map { squares throws(AIError) in
            try SquareDistanceBlock(squares, heads: d.heads, layer, table)
        }
        sinks = d.hasSinks ? try table.vector(.sinks, layer) : nil
        if let distances, let key {
            self.distances = (
                distances, try table.optionalLinear(.distanceKey, layer) ?? key,
                try table.optionalLinear(.distanceQuery, layer) ?? query
            )
        } else {
            self.distances = nil
        }
        norms = (
            try table.headNorm(d, .queryNorm, d.heads, layer), try table.headNorm(d, .keyNorm, d.kvHeads, layer),
            d.valueNorm.map { NormBlock(.init(epsilon: $0), width: d.headSize) }
        )
    }

    /// - Parameters:
    ///   - x: `[rows][width]`, normalised.
    ///   - layer: the layer of the caches, its own or that of the layer whose keys it reads.
    ///   - out: `[rows][width]`.
    func apply(
        _ x: FloatBuffer, values: FloatBuffer? = nil, _ step: Step, layer: Int, _ w: Workspace,
        into out: FloatBuffer
    ) {
        let (d, rows) = (description, step.count)
        project(x, values, rows, w)
        complete(w.queries, norms.query, heads: d.heads, rows: rows, w)
        if let temperature = d.temperature { heat(step, temperature, w) }
        if d.source == nil { keep(step, layer, w) }
        attend(step, layer, w)
        if gate != nil {
            hub_activate(
                w.team.team, HUB_SIGMOID, w.gate.start, w.attended.start, d.queryWidth, rows, d.queryWidth,
                w.attended.start)
        }
        w.multiply(w.attended, rows: rows, columns: d.queryWidth, [(output, out.start)])
    }

    /// Makes queries, and of keys and values those that are its own.
    private func project(_ x: FloatBuffer, _ values: FloatBuffer?, _ rows: Int, _ w: Workspace) {
        let gates = gate.map { [($0, w.gate.start)] } ?? []
        let asked = [(query, w.queries.start)] + gates + (key.map { [($0, w.keys.start)] } ?? [])
        let valued = value.map { [($0, w.values.start)] } ?? []
        w.multiply(x, rows: rows, columns: query.columns, values == nil ? asked + valued : asked)
        if let values, let value { w.multiply(values, rows: rows, columns: value.columns, valued) }
        if description.hasKeysAsValues {
            w.values.start.update(from: w.keys.start, count: rows * description.keyWidth)
        }
        if let limit = description.limit { hub_clamp(w.values.start, limit, rows * description.keyWidth) }
    }

    /// Normalises and rotates queries or keys.
    private func complete(_ x: FloatBuffer, _ norm: NormBlock?, heads: Int, rows: Int, _ w: Workspace) {
        let d = description
        let count = d.headNormSpan == .width ? rows : rows * heads
        if !d.isNormedLast { norm?.apply(x.start, rows: count, w.team, into: x.start) }
        if let limit = d.limit { hub_clamp(x.start, limit, rows * heads * d.headSize) }
        if let rotary {
            rotary.block.apply(x, rows: rows, heads: heads, headSize: d.headSize, w.angles[rotary.kind], w.team)
        }
        if d.isNormedLast { norm?.apply(x.start, rows: count, w.team, into: x.start) }
    }

    /// Makes queries of late positions larger.
    private func heat(_ step: Step, _ temperature: ModelDescription.Temperature, _ w: Workspace) {
        let width = description.queryWidth
        for (index, row) in step.rows.enumerated() {
            let factor = 1 + temperature.factor * logf(Float(1 + row.position / temperature.positions))
            if factor != 1 { hub_scale(w.team.team, w.queries.start + index * width, factor, width) }
        }
    }

    /// Completes keys and values, and puts them into the caches.
    private func keep(_ step: Step, _ layer: Int, _ w: Workspace) {
        let (d, rows, team) = (description, step.count, w.team)
        complete(w.keys, norms.key, heads: d.kvHeads, rows: rows, w)
        norms.value?.apply(w.values.start, rows: rows * d.kvHeads, team, into: w.values.start)
        for (index, row) in step.rows.enumerated() {
            row.cache.store(
                layer, position: row.position, keys: w.keys.start + index * d.keyWidth,
                values: w.values.start + index * d.keyWidth)
        }
    }

    private func attend(_ step: Step, _ layer: Int, _ w: Workspace) {
        if let squares {
            let (lists, starts) = squares.lists(step, w)
            let origin = { (row: StepRow) in
                row.picture.map { (starts[[$0.rows, $0.columns]] ?? 0) + row.position * $0.count } ?? 0
            }
            return description.attend(step, layer: layer, (lists, origin), sinks: sinks, w) {
                ($0.cache, positions($0))
            }
        }
        let longest = step.rows.reduce(0) { max($0, $1.length) }
        let added = distances.map {
            let (lists, middle) = $0.block.lists($0.key, $0.query, length: longest, w)
            return (lists, { (row: StepRow) in middle - row.position })
        }
        description.attend(step, layer: layer, added, sinks: sinks, w) { ($0.cache, positions($0)) }
    }

    /// The positions that a row sees.
    private func positions(_ row: StepRow) -> Range<Int> {
        let end = isCausal ? row.position + 1 : row.length
        guard let window = description.window else { return 0..<end }
        return max(0, row.position + 1 - window)..<min(end, row.position + window)
    }
}

extension ModelDescription.Attention {
    /// Attends with the workspace's queries to what caches keep.
    ///
    /// - Parameters:
    ///   - layer: the layer of the caches.
    ///   - added: what distances add to scores, and where a row's list begins; nil for nothing.
    ///   - sinks: a logit of each head beside the scores; nil for none.
    ///   - seen: a row's cache, and the positions that it sees.
    func attend(
        _ step: Step, layer: Int, _ added: (lists: hub_distances, origin: (StepRow) -> Int)?,
        sinks: FloatBuffer? = nil, _ w: Workspace, seen: (StepRow) -> (cache: KeyValueCache, positions: Range<Int>)
    ) {
        withUnsafeTemporaryAllocation(of: hub_attention_row.self, capacity: step.count) { views in
            for (index, row) in step.rows.enumerated() {
                let (cache, positions) = seen(row)
                views.initializeElement(
                    at: index,
                    to: hub_attention_row(
                        queries: w.queries.start + index * queryWidth,
                        out: w.attended.start + index * heads * valueSize,
                        keys: cache.keyPages(layer), values: cache.valuePages(layer),
                        first: positions.lowerBound, end: positions.upperBound,
                        origin: added.map { $0.origin(row) } ?? 0))
            }
            var attention = hub_attention()
            attention.rows = UnsafePointer(views.baseAddress)
            attention.count = step.count
            attention.heads = heads
            attention.kv_heads = kvHeads
            attention.head_size = headSize
            attention.value_size = valueSize
            attention.format = step.rows[0].cache.format
            attention.scale = scale
            attention.cap = cap
            attention.sinks = sinks.map { UnsafePointer($0.start) }
            guard var lists = added?.lists else { return hub_attend(w.team.team, &attention) }
            withUnsafePointer(to: &lists) {
                attention.distances = $0
                hub_attend(w.team.team, &attention)
            }
        }
    }
}

extension TensorTable {
    /// A matrix with its bias.
    func linear(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> Linear {
        Linear(try parts(role, layer), bias: try bias(role, layer))
    }

    /// The same; nil if the description has none.
    func optionalLinear(_ role: TensorRole, _ layer: Int) throws(AIError) -> Linear? {
        has(role, layer) ? try linear(role, layer) : nil
    }

    /// The norm of queries or keys; nil if the description has none.
    func headNorm(_ d: ModelDescription.Attention, _ role: TensorRole, _ heads: Int, _ layer: Int) throws(AIError)
        -> NormBlock?
    {
        guard let norm = d.headNorm, has(role, layer) else { return nil }
        guard d.headNormSpan == .each else { return try NormBlock(norm, role, layer, self) }
        return try NormBlock(heads: heads, norm, role, layer, self)
    }
}
