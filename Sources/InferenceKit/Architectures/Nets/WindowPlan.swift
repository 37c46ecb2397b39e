/// Where the rows of a picture stand in the windows of each stage.
struct WindowPlan: Sendable, Hashable {
    struct Stage: Sendable, Hashable {
        /// Rows of the picture, down and across.
        var height: Int
        var width: Int
        var window: WindowNet.Extent
        /// Of every second layer.
        var shift: WindowNet.Extent
        var fillsFirst: Bool

        var places: Int { height * width }
        /// Windows down and across.
        var down: Int { (height + window.height - 1) / window.height }
        var across: Int { (width + window.width - 1) / window.width }
        var windows: Int { down * across }
        var isShifted: Bool { shift != .none }
        /// Whether windows have places that no row stands at.
        var isFilled: Bool { windows * window.area != places }
        /// Kinds of windows by the sides that a shift brought together in them: none, below, at the right, both.
        var kinds: Int { isShifted ? 4 : 1 }
    }

    /// Squares of pixels, down and across.
    let height: Int
    let width: Int
    let stages: [Stage]

    /// nil for a picture that is too small.
    init?(_ net: WindowNet, height: Int, width: Int) {
        func squares(_ side: Int) -> Int {
            net.fillsSquares ? (side + net.patch - 1) / net.patch : side / net.patch
        }
        (self.height, self.width) = (squares(height), squares(width))
        guard self.height > 0, self.width > 0 else { return nil }
        var (down, across) = (self.height, self.width)
        var stages: [Stage] = []
        for (number, stage) in net.stages.enumerated() {
            if number > 0 { (down, across) = ((down + 1) / 2, (across + 1) / 2) }
            var shift = stage.shift
            if net.shiftsWithRoom {
                let (least, side) = (min(down, across), stage.window.height)
                // transformers' table of distances has one size.
                guard least >= side else { return nil }
                if least == side { shift = .none }
            }
            stages.append(
                Stage(
                    height: down, width: across, window: stage.window, shift: shift, fillsFirst: net.fillsFirst))
        }
        self.stages = stages
    }
}

extension WindowPlan.Stage {
    /// The row at each place of each window, window after window; -1 for none.
    ///
    /// - Parameter shift: by how much windows are shifted.
    func rows(shiftedBy shift: WindowNet.Extent) -> [Int] {
        let (ys, xs) = (
            Self.sources(height, window.height * down, shift.height, fillsFirst),
            Self.sources(width, window.width * across, shift.width, fillsFirst)
        )
        var rows: [Int] = []
        rows.reserveCapacity(windows * window.area)
        for top in 0..<down {
            for left in 0..<across {
                for y in ys[top * window.height..<(top + 1) * window.height] {
                    for x in xs[left * window.width..<(left + 1) * window.width] {
                        rows.append(y < 0 || x < 0 ? -1 : y * width + x)
                    }
                }
            }
        }
        return rows
    }

    /// Where what stands at each place of a side comes from; -1 for nowhere.
    private static func sources(_ size: Int, _ filled: Int, _ shift: Int, _ fillsFirst: Bool) -> [Int] {
        (0..<filled).map { place in
            if fillsFirst {
                let source = (place + shift) % filled
                return source < size ? source : -1
            }
            return place < size ? (place + shift) % size : -1
        }
    }

    /// Which kind a window is of.
    func kind(_ window: Int) -> Int {
        guard isShifted else { return 0 }
        let isLast = window / across == down - 1, isRightmost = window % across == across - 1
        return (isLast && shift.height > 0 ? 1 : 0) + (isRightmost && shift.width > 0 ? 2 : 0)
    }

    /// The row of a table for each query and key of each kind of window: that of their distance, or as far behind it as the
    /// table is long where they were not neighbours before the shift.
    func distances() -> [UInt32] {
        let area = window.area
        var rows: [UInt32] = []
        rows.reserveCapacity(kinds * area * area)
        for kind in 0..<kinds {
            for query in 0..<area {
                for key in 0..<area {
                    let (down, across) = (
                        query / window.width - key / window.width, query % window.width - key % window.width
                    )
                    let distance =
                        (down + window.height - 1) * (2 * window.width - 1) + across + window.width - 1
                    let isApart =
                        kind & 1 != 0
                        && isBehind(query / window.width, window.height, shift.height)
                            != isBehind(key / window.width, window.height, shift.height)
                        || kind & 2 != 0
                            && isBehind(query % window.width, window.width, shift.width)
                                != isBehind(key % window.width, window.width, shift.width)
                    rows.append(UInt32(distance + (isApart ? window.distances : 0)))
                }
            }
        }
        return rows
    }

    private func isBehind(_ place: Int, _ size: Int, _ shift: Int) -> Bool { place >= size - shift }
}
