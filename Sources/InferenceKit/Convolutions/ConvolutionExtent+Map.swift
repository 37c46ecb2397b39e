import CKernels
import ModelFormats

/// What planes take that have memory of their own, in the order in which ``ConvolutionModel`` makes them.
extension ConvolutionExtent {
    private mutating func hold(_ numbers: Int...) { loose = max(loose, numbers.reduce(0, +)) }

    /// The rows of a tower as planes, all of which are there at once.
    mutating func towerPlanes(
        _ tower: ConvolutionNet.Tower, _ picture: ConvolutionNet.Plane
    ) -> [ConvolutionNet.Plane] {
        let plane = ConvolutionNet.Plane(
            height: picture.height / tower.patch, width: picture.width / tower.patch,
            channels: tower.description.width)
        note(plane)
        if plane.places > 0 { rows = tower.first + plane.places }
        return tower.taps.map { _ in plane }
    }

    /// The planes after the blocks that a map reads.
    mutating func blockPlanes(_ net: ConvolutionNet, _ picture: ConvolutionNet.Plane) -> [ConvolutionNet.Plane] {
        note(picture)
        var (plane, kept, taken) = (picture, 0, [ConvolutionNet.Plane]())
        for (number, block) in net.blocks.enumerated() {
            let first = plane
            // What goes around is there until the end.
            let base = block.around == nil ? kept : kept + first.count
            for (index, layer) in block.layers.enumerated() {
                let made = walk([layer], plane)
                let isKept = index == 0 && block.around != nil
                let given = isKept ? 0 : plane.count
                hold(base, given, layer.isInPlace && !isKept ? 0 : made.count, layer.inner(plane))
                plane = made
            }
            if let around = block.around { hold(base, plane.count, walk(around, first).count) }
            if net.map?.blocks.contains(number) == true {
                taken.append(plane)
                kept += plane.count
            }
        }
        return taken
    }

    /// What is made of planes.
    mutating func walk(_ map: ConvolutionNet.Map, _ planes: [ConvolutionNet.Plane], _ net: ConvolutionNet) {
        switch map {
        case .sum(let sum, _): walk(sum, planes)
        case .fusion(let fusion): walk(fusion, planes, patch: net.tower?.patch ?? 1, first: net.tower?.first ?? 0)
        }
    }

    private mutating func walk(_ sum: ConvolutionNet.MapSum, _ planes: [ConvolutionNet.Plane]) {
        guard var made = planes.first else { return }
        let kept = planes.reduce(0) { $0 + $1.count }
        made.channels = sum.fuse.outputs
        for plane in planes {
            note(sum.joined(plane.channels), plane.places)
            hold(kept, made.count, plane.places * sum.fuse.outputs)
        }
        note(sum.classifier, made.places)
        hold(kept, made.count, sum.classifier.plane(of: made).count)
    }

    private mutating func walk(
        _ fusion: ConvolutionNet.MapFusion, _ planes: [ConvolutionNet.Plane], patch: Int, first: Int
    ) {
        // The rows of the tower are there until the end.
        let rows = planes.reduce(0) { $0 + $1.count + first * $1.channels }
        defer { loose += rows }
        var features: [ConvolutionNet.Plane] = []
        for (stage, plane) in zip(fusion.stages, planes) {
            if case .projected(let readout) = stage.readout { note(readout, plane.places) }
            let projected = walk([.convolution(stage.projection)], plane)
            var resized = projected
            switch stage.resizing {
            case .none: break
            case .enlarged(let larger):
                resized = larger.plane(of: projected)
                packed = max(packed, larger.packedBytes(projected))
            case .reduced(let smaller): resized = walk([.convolution(smaller)], projected)
            }
            note(resized)
            let made = walk([.convolution(stage.output)], resized)
            let before = features.reduce(0) { $0 + $1.count }
            hold(before, 4 * plane.count)
            hold(before, plane.count, projected.count, resized.count)
            hold(before, resized.count, made.count)
            features.append(made)
        }
        guard var sum = features.last else { return }
        for (index, join) in fusion.joins.enumerated() {
            let place = features.count - 1 - index
            let rest = features[..<max(0, place)].reduce(0) { $0 + $1.count }
            note(join.sum.first, sum.places)
            // The sum, the side that is added, what an activation makes of it, and the first convolution.
            hold(rest, features[place].count, 4 * sum.count)
            note(join.projection, sum.places)
            var larger = sum
            if fusion.fitsStages, place > 0 {
                (larger.height, larger.width) = (features[place - 1].height, features[place - 1].width)
            } else {
                (larger.height, larger.width) = (2 * sum.height, 2 * sum.width)
            }
            hold(rest, sum.count, larger.count)
            note(larger)
            sum = larger
        }
        walk(fusion.head, sum, fusion.pixels(planes[0], patch: patch))
    }

    private mutating func walk(
        _ head: ConvolutionNet.MapFusion.Head, _ sum: ConvolutionNet.Plane, _ pixels: ConvolutionNet.Plane
    ) {
        func through(_ convolutions: [ConvolutionNet.Convolution], _ first: ConvolutionNet.Plane)
            -> ConvolutionNet.Plane
        {
            convolutions.reduce(first) { plane, convolution in
                let made = walk([.convolution(convolution)], plane)
                hold(plane.count, made.count)
                return made
            }
        }
        let small = through(head.before, sum)
        var large = small
        (large.height, large.width) =
            head.isOfPixels ? (pixels.height, pixels.width) : (2 * small.height, 2 * small.width)
        hold(small.count, large.count)
        note(large)
        _ = through(head.after, large)
    }
}

extension ConvolutionNet.MapFusion {
    /// The pixels of the squares that are the places of a tower's plane.
    func pixels(_ plane: ConvolutionNet.Plane, patch: Int) -> ConvolutionNet.Plane {
        .init(height: plane.height * patch, width: plane.width * patch, channels: 1)
    }
}

extension ConvolutionNet.Map {
    /// The numbers of the blocks that it reads.
    var blocks: [Int] { if case .sum(_, let blocks) = self { blocks } else { [] } }

    /// Numbers that are made of the weights when a model is opened; at most `Int64.max`.
    var madeNumbers: Int64 {
        switch self {
        case .sum(let sum, _):
            sum.projections.reduce(sum.classifier.madeNumbers) {
                $0.addedClamped(sum.joined($1.inputs).madeNumbers)
            }
        case .fusion:
            convolutions.reduce(
                enlargements.reduce(Int64(0)) { $0.addedClamped($1.madeNumbers) }
            ) { $0.addedClamped($1.madeNumbers) }
        }
    }
}

extension ConvolutionNet.MapSum {
    /// A projection and its part of the matrix behind it as one.
    func joined(_ channels: Int) -> ConvolutionNet.Convolution {
        .init(name: fuse.name, inputs: channels, outputs: fuse.outputs, hasBias: true, isMatrix: true)
    }
}

extension ConvolutionNet.Enlargement {
    var madeNumbers: Int64 {
        Int64(channels).multipliedClamped(by: Int64(channels * factor * factor + factor))
    }

    /// Bytes of all rows of a plane, packed.
    func packedBytes(_ plane: ConvolutionNet.Plane) -> Int {
        plane.height * ConvolutionExtent.packedBytes(rows: plane.width, columns: channels)
    }
}

extension ConvolutionNet.Layer {
    /// Whether it may change a plane in its place.
    fileprivate var isInPlace: Bool {
        switch self {
        case .squeeze, .norm, .response: true
        case .convolution, .largest, .mean, .attention, .reducedAttention, .squares, .channelAttention, .shares,
            .places:
            false
        }
    }

    /// Numbers that are there while it is computed.
    fileprivate func inner(_ plane: ConvolutionNet.Plane) -> Int {
        guard case .reducedAttention(let attention) = self else { return 0 }
        let keys = attention.keys(of: plane).places
        return attention.cacheNumbers(keys) + max(3 * keys, 2 * plane.places) * attention.query.outputs
    }
}

extension ConvolutionNet.ReducedAttention {
    /// Of the pages of keys and values.
    func cacheNumbers(_ keys: Int) -> Int {
        let pages = (keys + Int(HUB_PAGE) - 1) / Int(HUB_PAGE)
        return 2 * pages * Int(HUB_PAGE) * query.outputs
    }
}
