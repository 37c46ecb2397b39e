import CKernels

/// The keys and values of one sequence in every layer, in pages. Used by one thread at a time.
final class KeyValueCache {
    let format: hub_cache_format
    /// The number of positions it can hold.
    let capacity: Int
    /// The number of positions it holds.
    private(set) var count = 0
    /// What the sequence answers; nil for a decoder alone.
    var source: SourceText?

    private let shapes: [LayerShape]
    private let pagesPerLayer: Int
    private var pages: [CachePage?]
    // The addresses of `pages`, by layer and page, as the kernels read them.
    private let keyTable: UnsafeMutableBufferPointer<UnsafeRawPointer?>
    private let valueTable: UnsafeMutableBufferPointer<UnsafeRawPointer?>
    /// Where each layer with a window begins; the pages before are gone.
    private var firstPages: [Int]
    /// Bytes of all pages, those that other caches share included,
    private(set) var bytes = 0
    /// and the most that there were at once.
    private(set) var mostBytes = 0

    private static let page = Int(HUB_PAGE)

    init(_ shapes: [LayerShape], format: hub_cache_format, capacity: Int) {
        self.shapes = shapes
        self.format = format
        self.capacity = capacity
        pagesPerLayer = (capacity + Self.page - 1) / Self.page
        pages = Array(repeating: nil, count: shapes.count * pagesPerLayer)
        firstPages = Array(repeating: 0, count: shapes.count)
        keyTable = .allocate(capacity: max(1, pages.count))
        valueTable = .allocate(capacity: max(1, pages.count))
        keyTable.initialize(repeating: nil)
        valueTable.initialize(repeating: nil)
    }

    deinit {
        keyTable.deallocate()
        valueTable.deallocate()
    }

    /// Makes room for positions up to a count: new pages, and own copies of shared ones that would be written to.
    func prepare(upTo end: Int) {
        precondition(end <= capacity)
        guard end > count else { return }
        for layer in shapes.indices {
            for number in count / Self.page...(end - 1) / Self.page {
                let place = layer * pagesPerLayer + number
                if pages[place] == nil {
                    set(place, CachePage(format, shapes[layer]))
                } else if !isKnownUniquelyReferenced(&pages[place]), let shared = pages[place] {
                    set(place, CachePage(copying: shared))
                }
            }
        }
    }

    /// Stores a position's keys and values in one layer.
    func store(_ layer: Int, position: Int, keys: UnsafePointer<Float>, values: UnsafePointer<Float>) {
        guard let page = pages[layer * pagesPerLayer + position / Self.page] else {
            preconditionFailure("no page for position \(position)")
        }
        let (shape, slot) = (shapes[layer], position % Self.page)
        hub_store_keys(format, page.keys, slot, keys, shape.kvHeads, shape.headSize)
        hub_store_values(format, page.values, slot, values, shape.kvHeads, shape.valueSize)
    }

    /// Says that all layers have stored the positions up to a count, and drops what no later position sees, nor one
    /// after up to ``HUB_PAGE`` positions are forgotten again.
    func advance(to end: Int) {
        count = max(count, end)
        for (layer, shape) in shapes.enumerated() {
            guard let window = shape.window else { continue }
            let first = max(0, count - window - Self.page) / Self.page
            for number in firstPages[layer]..<max(first, firstPages[layer]) {
                set(layer * pagesPerLayer + number, nil)
            }
            firstPages[layer] = max(first, firstPages[layer])
        }
    }

    /// Forgets positions from one on.
    ///
    /// - Parameter keepsPages: whether pages stay for the next text.
    /// - Returns: The number of positions that are left: less than asked for where a window needs pages that are gone.
    @discardableResult
    func truncate(to end: Int, keepsPages: Bool = false) -> Int {
        guard end < count else { return count }
        let lacks = shapes.indices.contains { layer in
            guard let window = shapes[layer].window else { return false }
            return firstPages[layer] > max(0, end - window) / Self.page
        }
        count = lacks ? 0 : end
        if count == 0, !keepsPages || lacks {
            for place in pages.indices { set(place, nil) }
            firstPages = Array(repeating: 0, count: shapes.count)
        }
        return count
    }

    /// A cache with the same beginning, whose pages both share until one writes to them.
    ///
    /// - Parameter end: the positions that are wanted; it may have more of the page where they end.
    func fork(capacity: Int, upTo end: Int = .max) -> KeyValueCache {
        let copy = KeyValueCache(shapes, format: format, capacity: max(capacity, count))
        for layer in shapes.indices {
            for number in 0..<min(pagesPerLayer, copy.pagesPerLayer) where number * Self.page < end {
                copy.set(layer * copy.pagesPerLayer + number, pages[layer * pagesPerLayer + number])
            }
        }
        copy.count = count
        copy.firstPages = firstPages
        copy.source = source
        return copy
    }

    private func set(_ place: Int, _ page: CachePage?) {
        bytes += (page?.bytes ?? 0) - (pages[place]?.bytes ?? 0)
        mostBytes = max(mostBytes, bytes)
        pages[place] = page
        keyTable[place] = page.map { UnsafeRawPointer($0.keys) }
        valueTable[place] = page.map { UnsafeRawPointer($0.values) }
    }

    /// A layer's pages of keys, in order.
    func keyPages(_ layer: Int) -> UnsafePointer<UnsafeRawPointer?> {
        UnsafePointer(keyTable.baseAddress! + layer * pagesPerLayer)
    }
    func valuePages(_ layer: Int) -> UnsafePointer<UnsafeRawPointer?> {
        UnsafePointer(valueTable.baseAddress! + layer * pagesPerLayer)
    }
}
