import HubCore
import ModelFormats

/// One text as a model has computed it: what its rows were made of, and their keys and values. Used by one thread at a time.
final class Session {
    private let model: Model
    private let cache: KeyValueCache
    private let context: Int
    /// What recurrent layers remember; nil for a model without any.
    private let states: RecurrentStates?
    /// The rows whose keys and values are cached.
    private(set) var inputs: [RowInput] = []
    var count: Int { inputs.count }
    /// The length of the text that the cached positions were computed for.
    private var length = 0

    init(_ model: Model, context: Int, format: KeyValueFormat) {
        (self.model, self.context) = (model, context)
        cache = KeyValueCache(model.description.cacheShapes, format: format.kernel, capacity: context)
        states = RecurrentStates(model.description, keeping: RecurrentStates.usualCheckpoints)
    }

    /// A text with the same beginning, whose keys and values both share until one of them writes.
    private init(_ other: Session, upTo end: Int) {
        (model, context) = (other.model, other.context)
        cache = other.cache.fork(capacity: context, upTo: end)
        states = nil
        (inputs, length) = (other.inputs, other.length)
        truncate(to: end)
    }

    /// A copy of the beginning, which costs next to nothing; nil for a model with recurrent layers, whose states are not in
    /// pages, or with an encoder.
    func fork(upTo end: Int) -> Session? { states == nil && source.isEmpty ? Session(self, upTo: end) : nil }

    /// What the text answers; empty for a decoder alone.
    private var source: [RowInput] { cache.source?.rows ?? [] }

    /// The number of positions that a text has in common with what is cached.
    func shared(with text: [RowInput], answering source: [RowInput] = []) -> Int {
        source == self.source ? zip(inputs, text).prefix { $0 == $1 }.count : 0
    }

    /// Keeps the beginning that a text shares with what is cached, and forgets the rest.
    ///
    /// - Parameter source: what the text answers; empty for a decoder alone.
    func begin(_ text: [RowInput], answering source: [RowInput] = []) {
        if source != self.source {
            truncate(to: 0)
            cache.source = source.isEmpty ? nil : SourceText(source)
        }
        // The last position's logits are wanted, so it is computed in any case.
        let keeps = model.isSame(length: length, text.count)
        truncate(to: keeps ? min(shared(with: text, answering: source), text.count - 1) : 0)
        length = text.count
    }

    /// Begins a text that answers what others answer too: the encoder reads it once for all.
    func begin(_ text: [RowInput], sharing source: SourceText) {
        truncate(to: 0)
        cache.source = source
        length = text.count
    }

    /// Says how long the text is now. Where a longer text rotates all of its positions differently, the cache is emptied.
    func grow(to count: Int) {
        if !isSame(count) { truncate(to: 0) }
        length = max(inputs.isEmpty ? 0 : length, count)
    }

    /// Bytes of the keys and values: the most that there were at once, what is kept of an encoder's text included,
    var mostCacheBytes: Int { cache.mostBytes + (cache.source?.kept?.mostBytes ?? 0) }
    /// and of what recurrent layers remember.
    var stateBytes: Int { states?.bytes ?? 0 }

    /// Whether a text of this length leaves the cached positions as they are.
    func isSame(_ count: Int) -> Bool { model.growsInPlace || model.isSame(length: length, max(length, count)) }

    /// Forgets rows from a count on, and those before it that no state goes back to.
    private func truncate(to count: Int) {
        let kept = cache.truncate(to: states?.truncate(to: count) ?? count)
        states?.truncate(to: kept)
        inputs.removeLast(inputs.count - min(inputs.count, kept))
    }

    /// Rows that follow the cached ones.
    ///
    /// - Parameter logits: the place among them from which on logits are wanted.
    func rows(_ next: [RowInput], logitsFrom first: Int) -> [StepRow] {
        next.enumerated().map { place, input in
            let position = count + place
            return StepRow(
                cache: cache, position: position, input: input, length: max(length, position + 1),
                wantsLogits: place >= first, states: states)
        }
    }

    /// Keeps the computed rows that turned out to be part of the text, and forgets the others.
    func keep(_ computed: some Sequence<RowInput>) {
        inputs += computed
        truncate(to: count)
    }

    /// Computes a text from its beginning, in pieces.
    ///
    /// - Parameters:
    ///   - first: the position from which on logits are wanted.
    ///   - each: called after each piece with its number of rows.
    ///   - logits: gets a position and its logits.
    /// - Throws: ``ErrorCode/cancelled``, ``ErrorCode/fileChanged``.
    func run(
        anew text: [RowInput], answering source: [RowInput] = [], _ w: Workspace, logitsFrom first: Int,
        isCancelled: () -> Bool,
        each: (Int) throws(AIError) -> Void = { _ in }, _ logits: (Int, Logits) -> Void
    ) throws(AIError) {
        truncate(to: 0)
        begin(text, answering: source)
        grow(to: text.count)
        while count < text.count {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let (start, piece) = (count, Array(text[count...].prefix(w.rows)))
            try model.run(Step(rows(piece, logitsFrom: max(0, first - start))), w) { logits(start + $0, $1) }
            try each(piece.count)
            keep(piece)
        }
    }
}

/// Sessions that nobody uses, the last used one last, and those in use: the next text may share a beginning with one of them.
final class SessionPool {
    /// Makes a text that nothing else uses.
    private let made: () -> Session
    /// Sessions kept.
    private let most: Int
    private var idle: [Session] = []
    private var busy: [Session] = []

    init(keeping most: Int, _ made: @escaping () -> Session) { (self.most, self.made) = (most, made) }

    /// The session with the longest common beginning, or a new one.
    ///
    /// A session whose text goes on is taken; one of which only the beginning is needed, or that is in use, is forked, so
    /// that it is there for the next one, too.
    ///
    /// - Parameter source: what the text answers; empty for a decoder alone.
    func take(_ text: [RowInput], answering source: [RowInput] = []) -> Session {
        let session = found(text, answering: source) ?? made()
        busy.append(session)
        return session
    }

    private func found(_ text: [RowInput], answering source: [RowInput]) -> Session? {
        let known = idle + busy
        let shared = known.map { $0.shared(with: text, answering: source) }
        guard let best = shared.indices.max(by: { shared[$0] < shared[$1] }), shared[best] > 0 else { return nil }
        let isIdle = best < idle.count
        let isContinued = shared[best] == known[best].count
        if !(isIdle && isContinued), let copy = known[best].fork(upTo: shared[best]) { return copy }
        if isIdle { return idle.remove(at: best) }
        // In use, and not to be copied: the best of the others.
        guard let next = idle.indices.max(by: { shared[$0] < shared[$1] }), shared[next] > 0 else { return nil }
        return idle.remove(at: next)
    }

    /// Takes a session back; the one that was unused for longest goes.
    func give(_ session: Session) {
        busy.removeAll { $0 === session }
        idle.append(session)
        if idle.count > most { idle.removeFirst() }
    }
}

extension ModelDescription {
    /// What a cache keeps. An encoder needs keys and values of one layer at a time.
    var cacheShapes: [KeyValueCache.LayerShape] {
        let shapes = layers.compactMap(\.attention).filter { $0.source == nil }.map { $0.shape(window: $0.window) }
        guard !isCausal, let first = layers.lazy.compactMap(\.attention).first else { return shapes }
        return [first.shape(window: nil)]
    }

    /// The layer of a cache that each layer reads; 0 where it reads none.
    var caches: [Int] {
        var (places, next) = ([Int](), 0)
        for layer in layers {
            guard isCausal, let attention = layer.attention else {
                places.append(0)
                continue
            }
            if let source = attention.source {
                places.append(places[source])
            } else {
                places.append(next)
                next += 1
            }
        }
        return places
    }

    /// What is kept of the encoder's rows for each layer.
    var crossShapes: [KeyValueCache.LayerShape] {
        layers.map {
            $0.crossAttention?.shape(window: nil) ?? .init(kvHeads: 0, headSize: 0, valueSize: 0, window: nil)
        }
    }
}

extension ModelDescription.Attention {
    /// What is cached of a position.
    func shape(window: Int?) -> KeyValueCache.LayerShape {
        .init(kvHeads: kvHeads, headSize: headSize, valueSize: valueSize, window: window)
    }
}
