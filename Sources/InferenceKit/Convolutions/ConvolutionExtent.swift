import CKernels
import ModelFormats

/// How much of each buffer computing a picture takes. ``ConvolutionSpace`` allocates what is told here, and the estimate of
/// memory counts it.
struct ConvolutionExtent: Sendable, Hashable {
    /// Numbers of the largest plane,
    var plane = 0
    /// and of what windows see, of as many places as are multiplied at once.
    var windows = 0
    /// Bytes of the same, packed for products.
    var packed = 0
    /// Numbers of the keys and values of attention.
    var pages = 0
    /// Numbers of all planes at once, where each has memory of its own,
    var loose = 0
    /// and whether that is so: they are of very different sizes.
    var isLoose = false
    /// Rows of the tower before the net; 0 without one.
    var rows = 0
    /// Places of the smallest plane; 0 where the picture is too small for a window.
    var places = Int.max

    /// The plane that the blocks make last.
    private(set) var map = ConvolutionNet.Plane(height: 0, width: 0, channels: 0)

    /// What a block is given, what it makes and what goes around it.
    static let planes = 4

    /// What a picture of so many rows and columns takes.
    init(_ net: ConvolutionNet, height: Int, width: Int) {
        var plane = ConvolutionNet.Plane(height: height, width: width, channels: 3)
        isLoose = net.isLoose
        if let map = net.map {
            let planes = net.tower.map { towerPlanes($0, plane) } ?? blockPlanes(net, plane)
            if places > 0 { walk(map, planes, net) }
            return
        }
        if isLoose { _ = blockPlanes(net, plane) }
        note(plane)
        plane = walk(net.blocks, plane)
        map = plane
        let mean = ConvolutionNet.Plane(height: 1, width: 1, channels: plane.channels)
        note(mean)
        let features = walk(net.pooled, mean)
        if let classifier = net.classifier { _ = walk([.convolution(classifier)], features) }
    }

    mutating func note(_ plane: ConvolutionNet.Plane) {
        self.plane = max(self.plane, plane.count)
        places = min(places, plane.places)
    }

    private mutating func walk(_ blocks: [ConvolutionNet.Block], _ first: ConvolutionNet.Plane)
        -> ConvolutionNet.Plane
    {
        var plane = first
        for block in blocks {
            let around = block.around.map { walk($0, plane) }
            let channels = block.channels(of: plane.channels)
            let made = walk(block.layers, plane)
            plane = (block.isJoined ? around ?? made : made).with(channels: channels)
            note(plane)
        }
        return plane
    }

    mutating func walk(_ layers: [ConvolutionNet.Layer], _ first: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        var plane = first
        for layer in layers {
            let made = layer.plane(of: plane)
            switch layer {
            case .convolution(let convolution): note(convolution, made.places)
            case .squeeze(let squeeze):
                note(squeeze.reduce, 1)
                note(squeeze.expand, 1)
            case .attention(let attention): pages = max(pages, attention.pages(of: plane))
            case .squares(let squares):
                let whole = plane.whole(squares.side)
                note(whole)
                _ = walk(squares.blocks, whole)
            case .reducedAttention(let attention):
                note(attention.keys(of: plane))
                let keys = attention.keys(of: plane).places
                if let reduction = attention.reduction { note(reduction.convolution, keys) }
                note(attention.key, keys)
                note(attention.query, plane.places)
            default: break
            }
            plane = made
            note(plane)
        }
        return plane
    }

    mutating func note(_ convolution: ConvolutionNet.Convolution, _ places: Int) {
        guard !convolution.isDepthwise else { return }
        let rows = convolution.rowsAtOnce(of: places)
        if convolution.gathers { windows = max(windows, rows * convolution.columns) }
        packed = max(packed, convolution.packedBytes(rows: rows))
    }

    /// The larger of both in everything.
    func union(_ other: ConvolutionExtent) -> ConvolutionExtent {
        var union = self
        union.plane = max(plane, other.plane)
        (union.windows, union.packed) = (max(windows, other.windows), max(packed, other.packed))
        (union.loose, union.rows) = (max(loose, other.loose), max(rows, other.rows))
        (union.pages, union.places) = (max(pages, other.pages), min(places, other.places))
        return union
    }

    /// Whether memory of this size has room for another.
    func holds(_ other: ConvolutionExtent) -> Bool {
        let fits = isLoose ? other.loose <= loose && other.rows <= rows : other.plane <= plane
        return fits && other.windows <= windows && other.packed <= packed && other.pages <= pages
    }

    /// Bytes of rows that are packed for a product, in whole lines of the cache.
    static func packedBytes(rows: Int, columns: Int) -> Int { (hub_packed_bytes(rows, columns) + 63) / 64 * 64 }

    /// Bytes of all buffers; at most `Int64.max`.
    var bytes: Int64 {
        let planes = isLoose ? Int64(loose) : Int64(plane).multipliedClamped(by: Int64(Self.planes))
        let numbers = planes.addedClamped(Int64(windows)).addedClamped(Int64(pages))
        return numbers.multipliedClamped(by: 4).addedClamped(Int64(packed))
    }
}

extension ConvolutionNet.Convolution {
    /// Bytes of windows that are written down and packed at once: they stay in a core's cache, and weights are used often.
    private static let scratch = 16 << 20

    /// Whether what the window sees is written down; otherwise places are rows as they are.
    var gathers: Bool { window.side > 1 || window.stride > 1 }

    /// Numbers that a window sees.
    var columns: Int { window.side * window.side * inputs }

    /// Groups that are multiplied as one, with zeros where an output does not read an input: vectors have up to sixteen
    /// outputs.
    var groupsAtOnce: Int {
        guard groups > 1 else { return 1 }
        return (1...groups).first { groups % $0 == 0 && $0 * (outputs / groups) >= 16 } ?? groups
    }

    /// The products that a convolution is, each of its own inputs and outputs.
    var products: Int { groups / groupsAtOnce }

    func packedBytes(rows: Int) -> Int {
        products * ConvolutionExtent.packedBytes(rows: rows, columns: columns / products)
    }

    /// How many of so many places are multiplied at once.
    func rowsAtOnce(of places: Int) -> Int {
        let each = packedBytes(rows: 1) + (gathers ? 4 * columns : 0)
        // Kernels take twelve rows at a time.
        return min(places, max(48, Self.scratch / max(1, each) / 12 * 12))
    }

    /// Numbers that are made of the weights when a model is opened; at most `Int64.max`.
    var madeNumbers: Int64 {
        let each = Int64(columns / groups) * Int64(isDepthwise ? 1 : groupsAtOnce)
        return Int64(outputs).multipliedClamped(by: each).addedClamped(Int64(outputs))
    }
}

extension StoredNet {
    /// Bytes of the stored tensors that are read, those of a tower too, by the headers; at most `Int64.max`.
    func storedBytes(_ weights: StoredWeights) -> Int64 {
        let names = Set(tensors.map(\.name))
        let own = weights.tensors.reduce(Int64(0)) {
            names.contains(TensorList.plain($1.name)) ? $0.addedClamped(Int64($1.byteCount)) : $0
        }
        return own.addedClamped(tower.map { TensorList(weights).bytes(of: $0.description, $0.names) } ?? 0)
    }
}

extension ConvolutionNet {
    /// What running takes, counted as it is allocated.
    ///
    /// - Parameters:
    ///   - weights: bytes of the weights that are read.
    ///   - extent: what the largest picture takes; nil for one as large as those that the net was made for.
    ///   - format: how a tower caches keys and values.
    func memory(weights: Int64, _ extent: ConvolutionExtent? = nil, format: KeyValueFormat) -> MemoryUse {
        let extent = extent ?? ConvolutionExtent(self, height: height, width: width)
        let use = MemoryUse(weights: weights, made: madeNumbers.multipliedClamped(by: 4), scratch: extent.bytes)
        guard var d = tower?.description else { return use }
        d.maxPositions = extent.rows
        return use.added(to: d.memory(weights: 0, isPacked: false, context: extent.rows, format: format))
    }

    /// Whether each plane has memory of its own.
    var isLoose: Bool {
        map != nil
            || blocks.contains { $0.layers.contains { if case .reducedAttention = $0 { true } else { false } } }
    }

    /// Numbers that are made of weights when a model is opened; at most `Int64.max`.
    private var madeNumbers: Int64 {
        let layers = blocks.flatMap(\.all) + pooled
        let made = layers.reduce(classifier?.madeNumbers ?? 0) { $0.addedClamped($1.madeNumbers) }
        return made.addedClamped(map?.madeNumbers ?? 0)
    }
}

extension ConvolutionNet.Layer {
    fileprivate var madeNumbers: Int64 {
        switch self {
        case .convolution(let convolution): convolution.madeNumbers
        case .squeeze(let squeeze): squeeze.reduce.madeNumbers.addedClamped(squeeze.expand.madeNumbers)
        case .norm(let norm): 2 * Int64(norm.channels)
        case .response(let norm): 2 * Int64(norm.channels)
        case .squares(let squares):
            squares.blocks.flatMap(\.all).reduce(0) { $0.addedClamped($1.madeNumbers) }
        case .reducedAttention(let attention):
            attention.convolutions.reduce(Int64(2 * (attention.reduction?.norm.channels ?? 0))) {
                $0.addedClamped($1.madeNumbers)
            }
        case .channelAttention(let attention): Int64(attention.heads)
        case .shares(let shares): shares.convolutions.reduce(0) { $0.addedClamped($1.madeNumbers) }
        case .largest, .mean, .attention, .places: 0
        }
    }
}
