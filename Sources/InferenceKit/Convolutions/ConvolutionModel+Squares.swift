import CKernels
import HubMedia

extension ConvolutionModel {
    /// Blocks of a plane of whole squares. Another plane is resized first, and what is made of it is resized back.
    ///
    /// - Parameter isKept: whether the plane must stay as it is; otherwise nobody reads it any more.
    static func apply(
        _ blocks: [Block], side: Int, to first: ConvolutionPlane, isKept: Bool, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let (size, whole) = (first.size, first.size.whole(side))
        var plane = first
        if isKept || size != whole {
            plane = space.plane(whole)
            resize(first, into: plane)
            if !isKept { space.give(back: first) }
        }
        for block in blocks { plane = apply(block, to: plane, space) }
        let made = size.with(channels: plane.size.channels)
        guard plane.size != made else { return plane }
        let out = space.plane(made)
        resize(plane, into: out)
        space.give(back: plane)
        return out
    }

    private static func resize(_ plane: ConvolutionPlane, into out: ConvolutionPlane) {
        let (from, to) = (plane.size, out.size)
        guard from != to else { return out.start.update(from: plane.start, count: from.count) }
        let values = Array(UnsafeBufferPointer(start: plane.start, count: from.count))
        let grid = FloatGrid(height: from.height, width: from.width, channels: from.channels, values: values)
            .resized(height: to.height, width: to.width, interpolation: .bilinear)
        grid.values.withUnsafeBufferPointer { out.start.update(from: $0.baseAddress!, count: to.count) }
    }
}

extension ConvolutionNet.Attention {
    /// Pages of the keys of places that attend to each other, and places of them.
    private func pages(_ plane: ConvolutionNet.Plane) -> (pages: Int, places: Int) {
        let places = plane.places / (side * side)
        return ((places + Int(HUB_PAGE) - 1) / Int(HUB_PAGE), places)
    }

    /// Numbers of a page of keys, or of values.
    private var page: Int { channels * Int(HUB_PAGE) }

    /// Numbers of all pages.
    func pages(of plane: ConvolutionNet.Plane) -> Int { 2 * side * side * pages(plane).pages * page }

    /// - Precondition: the plane is of whole squares.
    func apply(_ plane: ConvolutionPlane, _ space: ConvolutionSpace) -> ConvolutionPlane {
        let (size, (each, places)) = (plane.size, pages(plane.size))
        precondition(size.whole(side) == size && size.channels == 3 * channels)
        let out = space.plane(size.with(channels: channels))
        // What stands behind the last place is multiplied with 0, and must be a number.
        space.pages.start.update(repeating: 0, count: pages(of: size))
        let start = UnsafeMutableRawPointer(space.pages.start)
        let bytes = page * MemoryLayout<Float>.stride
        // Of each of the places in a square its pages of keys, then those of values.
        let pages = (0..<2 * side * side * each).map { UnsafeRawPointer?(start + $0 * bytes) }
        pages.withUnsafeBufferPointer { pages in
            var rows: [hub_attention_row] = []
            rows.reserveCapacity(size.places)
            for within in 0..<side * side {
                let (keys, values) = (2 * within * each, (2 * within + 1) * each)
                var position = 0
                for row in stride(from: within / side, to: size.height, by: side) {
                    for column in stride(from: within % side, to: size.width, by: side) {
                        let place = row * size.width + column
                        let numbers = UnsafePointer(plane.start) + place * size.channels
                        store(numbers, start + keys * bytes, start + values * bytes, position)
                        rows.append(
                            hub_attention_row(
                                queries: numbers, out: out.start + place * channels,
                                keys: pages.baseAddress! + keys, values: pages.baseAddress! + values, first: 0,
                                end: places, origin: 0))
                        position += 1
                    }
                }
            }
            rows.withUnsafeBufferPointer { attend($0, space.team) }
        }
        return out
    }

    /// Keeps the key and the value of a place.
    private func store(
        _ numbers: UnsafePointer<Float>, _ keys: UnsafeMutableRawPointer, _ values: UnsafeMutableRawPointer,
        _ position: Int
    ) {
        let (page, slot) = position.quotientAndRemainder(dividingBy: Int(HUB_PAGE))
        let skipped = page * self.page * MemoryLayout<Float>.stride
        let size = channels / heads
        hub_store_keys(HUB_CACHE_F32, keys + skipped, slot, numbers + channels, heads, size)
        hub_store_values(HUB_CACHE_F32, values + skipped, slot, numbers + 2 * channels, heads, size)
    }

    private func attend(_ rows: UnsafeBufferPointer<hub_attention_row>, _ team: ComputeTeam) {
        let size = channels / heads
        var attention = hub_attention()
        (attention.rows, attention.count) = (rows.baseAddress, rows.count)
        (attention.heads, attention.kv_heads, attention.head_size, attention.value_size) = (
            heads, heads, size, size
        )
        (attention.format, attention.scale) = (HUB_CACHE_F32, 1 / Float(size).squareRoot())
        hub_attend(team.team, &attention)
    }
}
