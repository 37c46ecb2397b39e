/// The KV cache of one text and its working memory. Used by one thread at a time.
final class DecoderSequence {
    /// The number of positions it can hold.
    let capacity: Int
    /// The number of positions per pass.
    let batch: Int
    /// The number of positions it holds.
    var position = 0

    private let description: DecoderDescription
    // Each [layer][kv head][capacity][head size]: one head's keys are contiguous, as attention reads them.
    private let keyCache: FloatBuffer
    private let valueCache: FloatBuffer
    private var logitsBuffer: FloatBuffer

    // Working memory, [batch][...].
    let hidden: FloatBuffer
    let normed: FloatBuffer
    let delta: FloatBuffer
    let queries: FloatBuffer
    let keys: FloatBuffer
    let values: FloatBuffer
    let attended: FloatBuffer
    let gate: FloatBuffer
    let up: FloatBuffer
    let cosines: FloatBuffer
    let sines: FloatBuffer
    let scores: FloatBuffer

    init(_ d: DecoderDescription, capacity: Int, threads: Int) {
        description = d
        self.capacity = capacity
        batch = min(Decoder.batch, capacity)
        keyCache = FloatBuffer(d.layers * d.kvHeads * capacity * d.headSize)
        valueCache = FloatBuffer(d.layers * d.kvHeads * capacity * d.headSize)
        logitsBuffer = FloatBuffer(d.vocabulary)
        hidden = FloatBuffer(batch * d.hiddenSize)
        normed = FloatBuffer(batch * d.hiddenSize)
        delta = FloatBuffer(batch * d.hiddenSize)
        queries = FloatBuffer(batch * d.heads * d.headSize)
        keys = FloatBuffer(batch * d.kvHeads * d.headSize)
        values = FloatBuffer(batch * d.kvHeads * d.headSize)
        attended = FloatBuffer(batch * d.heads * d.headSize)
        gate = FloatBuffer(batch * d.intermediateSize)
        up = FloatBuffer(batch * d.intermediateSize)
        cosines = FloatBuffer(batch * d.headSize / 2)
        sines = FloatBuffer(batch * d.headSize / 2)
        scores = FloatBuffer(threads * capacity)
    }

    /// Appends this pass's keys and values to the cache.
    func remember(layer: Int, batch: Int) {
        let size = description.headSize
        for head in 0..<description.kvHeads {
            let offset = (head * capacity + position) * size
            for row in 0..<batch {
                let from = (row * description.kvHeads + head) * size
                (cachedKeys(layer) + offset + row * size).update(from: keys.start + from, count: size)
                (cachedValues(layer) + offset + row * size).update(from: values.start + from, count: size)
            }
        }
    }

    func cachedKeys(_ layer: Int) -> UnsafeMutablePointer<Float> { keyCache.start + layer * layerSize }
    func cachedValues(_ layer: Int) -> UnsafeMutablePointer<Float> { valueCache.start + layer * layerSize }
    private var layerSize: Int { description.kvHeads * capacity * description.headSize }

    /// Room for the logits of some positions; it grows only for more than one.
    func logits(rows: Int) -> FloatBuffer {
        if logitsBuffer.count < rows * description.vocabulary {
            logitsBuffer = FloatBuffer(rows * description.vocabulary)
        }
        return logitsBuffer
    }
}
