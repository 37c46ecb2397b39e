import CKernels
import ModelFormats

/// How much of each buffer computing a picture takes. ``WindowSpace`` allocates what is told here, and the estimate of
/// memory counts it.
struct WindowExtent: Sendable, Hashable {
    /// Numbers of all rows of the largest stage,
    var rows = 0
    /// and of those that are made of them.
    var merged = 0
    /// Numbers of as many rows as are computed at once,
    var narrow = 0
    /// and of those within feed-forward blocks, of squares, or before merging.
    var wide = 0
    /// Bytes of the same, packed for products.
    var packed = 0
    /// Pages of keys, or of values: bytes.
    var pages = 0
    /// Pages of the windows that are computed at once.
    var pageCount = 0
    /// Numbers of what distances add, and of their rows in a table.
    var lists = 0
    var distances = 0

    /// Buffers of rows in the midst of attention: what it reads, queries, keys, values, what it makes.
    static let narrowBuffers = 5
    /// Rows that are computed at once, unless a window has more.
    static let rowsAtOnce = 1536

    /// What a picture with such stages takes.
    init(_ net: WindowNet, _ plan: WindowPlan) {
        for (stage, place) in zip(net.stages, plan.stages) { note(stage, place, net) }
        let squares = min(plan.height * plan.width, Self.rowsAtOnce)
        note(rows: squares, from: net.squareCount)
        wide = max(wide, squares * net.squareCount)
        for number in 1..<max(1, net.stages.count) {
            let columns = 4 * net.stages[number - 1].channels
            let count = min(plan.stages[number].places, Self.rowsAtOnce)
            note(rows: count, from: columns)
            wide = max(wide, count * columns)
            merged = max(merged, plan.stages[number].places * net.stages[number].channels)
        }
        note(rows: 1, from: net.features)
    }

    private mutating func note(_ stage: WindowNet.Stage, _ place: WindowPlan.Stage, _ net: WindowNet) {
        let (area, width) = (place.window.area, stage.channels)
        let windows = place.windowsAtOnce
        rows = max(rows, place.places * width)
        narrow = max(narrow, max(windows * area, min(place.places, Self.rowsAtOnce)) * width)
        note(rows: windows * area, from: width)
        let together = min(place.places, Self.rowsAtOnce)
        note(rows: together, from: width)
        note(rows: together, from: stage.inner)
        wide = max(wide, together * stage.inner)
        let count = windows * place.window.pages
        pages = max(pages, count * Self.pageBytes(stage))
        pageCount = max(pageCount, count)
        distances = max(distances, place.kinds * area * area)
        lists = max(lists, stage.heads * (place.kinds * area * area + Int(HUB_BEHIND)))
    }

    private mutating func note(rows: Int, from columns: Int) {
        packed = max(packed, ConvolutionExtent.packedBytes(rows: rows, columns: columns))
    }

    /// Bytes of a page of keys or of values.
    static func pageBytes(_ stage: WindowNet.Stage) -> Int {
        hub_page_bytes(HUB_CACHE_F32, stage.heads, stage.headSize)
    }

    /// The larger of both in everything.
    func union(_ other: WindowExtent) -> WindowExtent {
        var union = self
        union.rows = max(rows, other.rows)
        union.merged = max(merged, other.merged)
        (union.narrow, union.wide) = (max(narrow, other.narrow), max(wide, other.wide))
        (union.packed, union.pages) = (max(packed, other.packed), max(pages, other.pages))
        union.pageCount = max(pageCount, other.pageCount)
        (union.lists, union.distances) = (max(lists, other.lists), max(distances, other.distances))
        return union
    }

    /// Whether memory of this size has room for another.
    func holds(_ other: WindowExtent) -> Bool { union(other) == self }

    /// Numbers of float32 in all buffers; at most `Int64.max`.
    private var numbers: Int64 {
        Int64(rows).addedClamped(Int64(merged)).addedClamped(Int64(wide)).addedClamped(Int64(lists))
            .addedClamped(Int64(narrow).multipliedClamped(by: Int64(Self.narrowBuffers)))
    }

    /// Bytes of all buffers; at most `Int64.max`.
    var bytes: Int64 {
        numbers.addedClamped(Int64(distances)).multipliedClamped(by: 4).addedClamped(Int64(packed))
            .addedClamped(2 * Int64(pages)).addedClamped(2 * Int64(pageCount * MemoryLayout<Int>.stride))
    }
}

extension WindowNet.Extent {
    /// Pages that the places of a window take.
    var pages: Int { (area + Int(HUB_PAGE) - 1) / Int(HUB_PAGE) }
}

extension WindowPlan.Stage {
    /// Windows that are computed at once.
    var windowsAtOnce: Int { min(windows, max(1, WindowExtent.rowsAtOnce / window.area)) }
}

extension WindowNet {
    /// What running takes, counted as it is allocated.
    ///
    /// - Parameter weights: bytes of the weights that are read.
    func memory(weights: Int64, height: Int, width: Int) -> MemoryUse {
        let scratch = WindowPlan(self, height: height, width: width).map { WindowExtent(self, $0).bytes } ?? 0
        return MemoryUse(weights: weights, made: madeNumbers.multipliedClamped(by: 4), scratch: scratch)
    }

    /// Numbers that are made of weights when a model is opened: norms and biases in float32, and what distances add.
    private var madeNumbers: Int64 {
        let first = stages.first?.channels ?? 0
        var made = Int64(3 * first + (hasFinalNorm ? 2 * features : 0) + (labels?.count ?? 0))
        for (number, stage) in stages.enumerated() {
            if number > 0 { made += Int64(2 * mergeNormWidth(number)) }
            let inputs = !hasInputBias ? 0 : version == .first ? 3 : 2
            // Factors of queries, and what is added to them: nothing.
            let width = stage.channels * (6 + inputs + (version == .second ? 2 : 0)) + stage.inner
            let each = Int64(width).addedClamped(Int64(2 * stage.window.distances * stage.heads))
            made = made.addedClamped(each.multipliedClamped(by: Int64(stage.depth)))
        }
        return made
    }
}
