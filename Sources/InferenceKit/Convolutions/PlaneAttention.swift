import CKernels
import HubCore

/// Each place of a plane attends to all, or to fewer that are made of them.
struct PlaneAttention: Sendable {
    private let description: ConvolutionNet.ReducedAttention
    private let query: ConvolutionWeights
    private let key: ConvolutionWeights
    private let value: ConvolutionWeights
    private let output: ConvolutionWeights
    /// nil where each place has a key.
    private let reduction: Reduction?

    private struct Reduction: Sendable {
        let convolution: ConvolutionWeights
        let weight: FloatBuffer
        let bias: FloatBuffer
        let epsilon: Float

        func apply(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> ConvolutionPlane {
            let made = convolution.apply(plane, space)
            let width = made.size.channels
            hub_layer_norm(
                space.team.team, made.start, width, made.size.places, width, weight.start, bias.start, epsilon,
                made.start, width)
            return made
        }
    }

    init(_ d: ConvolutionNet.ReducedAttention, prefix: String, _ source: TensorSource) throws(AIError) {
        description = d
        query = try ConvolutionWeights(d.query, prefix: prefix, source)
        key = try ConvolutionWeights(d.key, prefix: prefix, source)
        value = try ConvolutionWeights(d.value, prefix: prefix, source)
        output = try ConvolutionWeights(d.output, prefix: prefix, source)
        reduction = try d.reduction.map { reduction throws(AIError) in
            let norm = reduction.norm
            return Reduction(
                convolution: try ConvolutionWeights(reduction.convolution, prefix: prefix, source),
                weight: try source.vector("\(prefix)\(norm.name).weight", norm.channels),
                bias: try source.vector("\(prefix)\(norm.name).bias", norm.channels), epsilon: Float(norm.epsilon))
        }
    }

    func apply(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> ConvolutionPlane {
        let cache = cache(plane, space)
        let queries = query.apply(plane, space)
        let attended = space.plane(queries.size)
        attend(queries, cache, into: attended.start, space.team)
        space.give(back: queries)
        let out = output.apply(attended, space)
        space.give(back: attended)
        space.released(description.cacheNumbers(cache.count))
        return out
    }

    /// Keys and values of all places that have them.
    private func cache(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> KeyValueCache {
        let read = reduction?.apply(plane, space) ?? plane
        let (keys, values) = (key.apply(read, space), value.apply(read, space))
        let (count, width) = (read.size.places, keys.size.channels)
        let shape = KeyValueCache.LayerShape(
            kvHeads: description.heads, headSize: description.headSize, valueSize: description.headSize, window: nil
        )
        let cache = KeyValueCache([shape], format: HUB_CACHE_F32, capacity: count)
        _ = space.held(description.cacheNumbers(count))
        cache.prepare(upTo: count)
        for place in 0..<count {
            cache.store(
                0, position: place, keys: keys.start + place * width, values: values.start + place * width)
        }
        cache.advance(to: count)
        for made in [keys, values] { space.give(back: made) }
        if reduction != nil { space.give(back: read) }
        return cache
    }

    private func attend(
        _ queries: ConvolutionPlane, _ cache: KeyValueCache, into out: UnsafeMutablePointer<Float>,
        _ team: ComputeTeam
    ) {
        let (count, width) = (queries.size.places, queries.size.channels)
        withUnsafeTemporaryAllocation(of: hub_attention_row.self, capacity: count) { views in
            for place in 0..<count {
                views.initializeElement(
                    at: place,
                    to: hub_attention_row(
                        queries: queries.start + place * width, out: out + place * width, keys: cache.keyPages(0),
                        values: cache.valuePages(0), first: 0, end: cache.count, origin: 0))
            }
            var attention = hub_attention()
            attention.rows = UnsafePointer(views.baseAddress)
            attention.count = count
            (attention.heads, attention.kv_heads) = (description.heads, description.heads)
            (attention.head_size, attention.value_size) = (description.headSize, description.headSize)
            attention.format = cache.format
            attention.scale = 1 / Float(description.headSize).squareRoot()
            withExtendedLifetime(cache) { hub_attend(team.team, &attention) }
        }
    }
}
