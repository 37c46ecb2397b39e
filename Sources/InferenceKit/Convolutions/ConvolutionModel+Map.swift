import CKernels

/// What is made of planes without a mean of their places.
extension ConvolutionModel {
    /// What a transformer reads of a picture: the numbers of each place of the last plane, row by row.
    ///
    /// - Precondition: the scratch memory has room for it.
    func places(
        _ pixels: [Float], height: Int, width: Int, _ space: ConvolutionSpace
    ) -> (size: ConvolutionNet.Plane, places: [[Float]]) {
        let plane = plane(pixels, height: height, width: width, space)
        let channels = plane.size.channels
        return (
            plane.size,
            (0..<plane.size.places).map { place in
                Array(UnsafeBufferPointer(start: plane.start + place * channels, count: channels))
            }
        )
    }

    /// What is made of the planes of several blocks.
    ///
    /// - Parameter pixels: `[height][width][3]`.
    /// - Precondition: the net has a map, and no tower; the scratch memory has room for it.
    func map(_ pixels: [Float], height: Int, width: Int, _ space: ConvolutionSpace) -> ConvolutionPlane {
        guard case .sum(let sum) = map, let taps = net.map?.blocks else { preconditionFailure("there is no sum") }
        var plane = Self.first(pixels, height: height, width: width, space)
        var taken: [ConvolutionPlane] = []
        for (number, block) in blocks.enumerated() {
            plane = Self.apply(block, to: plane, keepsFirst: number > 0 && taps.contains(number - 1), space)
            if taps.contains(number) { taken.append(plane) }
        }
        return sum.apply(taken, space)
    }

    /// What is made of a tower's rows.
    ///
    /// - Parameter size: of the tower's plane.
    /// - Precondition: as of ``map(_:height:width:_:)``, but for the tower.
    func map(_ rows: [FloatBuffer], _ size: ConvolutionNet.Plane, _ space: ConvolutionSpace) -> ConvolutionPlane {
        guard case .fusion(let fusion) = map else { preconditionFailure("there is no tower") }
        space.clear()
        return fusion.apply(rows, size, space)
    }
}
