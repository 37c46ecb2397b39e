import CKernels

/// The layers of a stage, in place.
extension WindowModel {
    func compute(
        _ layers: [WindowLayer], _ stage: WindowNet.Stage, _ place: WindowPlan.Stage, _ space: WindowSpace
    ) {
        space.lay(
            pages: place.windowsAtOnce * place.window.pages, bytes: WindowExtent.pageBytes(stage))
        for (number, row) in place.distances().enumerated() { space.distances[number] = row }
        let plain = place.rows(shiftedBy: .none)
        let shifted = place.isShifted ? place.rows(shiftedBy: place.shift) : plain
        for (number, layer) in layers.enumerated() {
            let isShifted = place.isShifted && number % 2 == 1
            let attention = WindowAttention(
                layer: layer, stage: stage, place: place, isShifted: isShifted, isFirst: net.version == .first)
            attention.apply(isShifted ? shifted : plain, space)
            feedForward(layer, stage, place.places, space)
        }
    }

    /// The second half of a layer.
    private func feedForward(
        _ layer: WindowLayer, _ stage: WindowNet.Stage, _ places: Int, _ space: WindowSpace
    ) {
        let (width, inner, team) = (stage.channels, stage.inner, space.team)
        for first in stride(from: 0, to: places, by: WindowExtent.rowsAtOnce) {
            let count = min(WindowExtent.rowsAtOnce, places - first)
            let (rows, made) = (space.rows.start + first * width, space.seen.start)
            if net.version == .first { layer.secondHalfNorm.apply(rows, rows: count, team, into: made) }
            space.multiply(
                net.version == .first ? made : rows, rows: count, columns: width, [(layer.up, space.wide.start)])
            hub_activate(
                team.team, net.activation.kernel, space.wide.start, nil, inner, count, inner, space.wide.start)
            space.multiply(space.wide.start, rows: count, columns: inner, [(layer.down, made)])
            if net.version == .second { layer.secondHalfNorm.apply(made, rows: count, team, into: made) }
            hub_add(team.team, rows, made, 1, count * width)
        }
    }
}

/// The first half of a layer: rows see those of their window.
struct WindowAttention {
    let layer: WindowLayer
    let stage: WindowNet.Stage
    let place: WindowPlan.Stage
    let isShifted: Bool
    /// Whether the norm stands before it; otherwise behind it.
    let isFirst: Bool

    private var area: Int { place.window.area }
    private var width: Int { stage.channels }

    /// - Parameter rows: the row at each place of each window; -1 for none.
    func apply(_ rows: [Int], _ space: WindowSpace) {
        var lists = makeLists(space)
        for first in stride(from: 0, to: place.windows, by: place.windowsAtOnce) {
            let windows = first..<min(first + place.windowsAtOnce, place.windows)
            let sources = rows[windows.lowerBound * area..<windows.upperBound * area]
            read(sources, space)
            makeInputs(sources.count, space)
            attend(windows, sources, &lists, space)
            add(sources, space)
        }
    }

    /// What distances add, of each head: for each kind of window a list of each query.
    private func makeLists(_ space: WindowSpace) -> hub_distances {
        let count = (isShifted ? place.kinds : 1) * area * area
        var lists = hub_distances()
        lists.stride = count + Int(HUB_BEHIND)
        lists.biases = UnsafePointer(space.lists.start)
        // What is read behind the last distance is not used.
        space.lists.start.update(repeating: 0, count: stage.heads * lists.stride)
        hub_list_distances(
            space.team.team, layer.distances.start, stage.heads, space.distances.baseAddress, count,
            space.lists.start, lists.stride)
        return lists
    }

    /// Copies the rows of windows. What fills a window up is 0, behind the norm too.
    private func read(_ sources: ArraySlice<Int>, _ space: WindowSpace) {
        let out = space.seen.start
        for (number, row) in sources.enumerated() {
            if row < 0 {
                (out + number * width).update(repeating: 0, count: width)
            } else {
                (out + number * width).update(from: space.rows.start + row * width, count: width)
            }
        }
        guard isFirst else { return }
        layer.firstHalfNorm.apply(out, rows: sources.count, space.team, into: out)
        guard place.isFilled else { return }
        for (number, row) in sources.enumerated() where row < 0 {
            (out + number * width).update(repeating: 0, count: width)
        }
    }

    /// Queries, keys and values; where scores are cosines, of length 1 but for the root of their size.
    private func makeInputs(_ count: Int, _ space: WindowSpace) {
        space.multiply(
            space.seen.start, rows: count, columns: width,
            [
                (layer.query, space.queries.start), (layer.key, space.keys.start),
                (layer.value, space.values.start),
            ])
        guard let factors = layer.factors else { return }
        let (team, size, heads) = (space.team.team, stage.headSize, count * stage.heads)
        // The reference divides by the length, or by 1e-12 where that is less.
        let epsilon = 1e-24 / Float(size)
        for rows in [space.queries.start, space.keys.start] {
            hub_rms_norm(team, rows, size, heads, size, nil, 0, epsilon, rows, size)
        }
        hub_affine(
            team, space.queries.start, count, width, factors.start, factors.start + width, space.queries.start)
    }

    private func attend(
        _ windows: Range<Int>, _ sources: ArraySlice<Int>, _ lists: inout hub_distances, _ space: WindowSpace
    ) {
        let (bytes, pages) = (WindowExtent.pageBytes(stage), place.window.pages)
        let page = Int(HUB_PAGE)
        var views: [hub_attention_row] = []
        views.reserveCapacity(sources.count)
        for (number, row) in sources.enumerated() {
            let (window, position) = (number / area, number % area)
            let place = (window * pages + position / page) * bytes
            hub_store_keys(
                HUB_CACHE_F32, space.keyPages + place, position % page, space.keys.start + number * width,
                stage.heads, stage.headSize)
            hub_store_values(
                HUB_CACHE_F32, space.valuePages + place, position % page, space.values.start + number * width,
                stage.heads, stage.headSize)
            let out = space.attended.start + number * width
            guard row >= 0 else {
                out.update(repeating: 0, count: width)
                continue
            }
            let kind = isShifted ? self.place.kind(windows.lowerBound + window) : 0
            views.append(
                hub_attention_row(
                    queries: space.queries.start + number * width, out: out,
                    keys: UnsafePointer(space.keyStarts + window * pages),
                    values: UnsafePointer(space.valueStarts + window * pages), first: 0, end: area,
                    origin: (kind * area + position) * area))
        }
        var attention = hub_attention()
        (attention.count, attention.heads, attention.kv_heads) = (views.count, stage.heads, stage.heads)
        (attention.head_size, attention.value_size) = (stage.headSize, stage.headSize)
        attention.format = HUB_CACHE_F32
        attention.scale = isFirst ? 1 / Float(stage.headSize).squareRoot() : 1 / Float(stage.headSize)
        views.withUnsafeBufferPointer { views in
            attention.rows = views.baseAddress
            withUnsafePointer(to: &lists) {
                attention.distances = $0
                hub_attend(space.team.team, &attention)
            }
        }
    }

    /// Adds what rows saw to them.
    private func add(_ sources: ArraySlice<Int>, _ space: WindowSpace) {
        let made = space.seen.start
        space.multiply(space.attended.start, rows: sources.count, columns: width, [(layer.output, made)])
        if !isFirst { layer.firstHalfNorm.apply(made, rows: sources.count, space.team, into: made) }
        for (number, row) in sources.enumerated() where row >= 0 {
            let (out, from) = (space.rows.start + row * width, made + number * width)
            for column in 0..<width { out[column] += from[column] }
        }
    }
}
