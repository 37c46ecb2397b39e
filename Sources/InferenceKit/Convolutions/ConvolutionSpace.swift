import CKernels

/// The scratch memory of a picture that is being computed. Used by one thread at a time.
final class ConvolutionSpace {
    let team: ComputeTeam
    let extent: ConvolutionExtent
    private let planes: [FloatBuffer]
    /// Which of them hold nothing that is still read.
    private var free: [Int]
    /// What windows see, `[place][group][row][column][channel]`.
    let windows: FloatBuffer
    /// Keys and values of attention.
    let pages: FloatBuffer
    let packed: UnsafeMutableRawPointer

    init(_ extent: ConvolutionExtent, _ team: ComputeTeam) {
        (self.extent, self.team) = (extent, team)
        planes = (0..<ConvolutionExtent.planes).map { _ in FloatBuffer(extent.plane) }
        free = Array(planes.indices)
        windows = FloatBuffer(extent.windows)
        pages = FloatBuffer(extent.pages)
        packed = .allocate(byteCount: max(extent.packed, 1), alignment: 64)
    }

    deinit { packed.deallocate() }

    /// A plane of this size. Its numbers are those of whatever was there.
    func plane(_ size: ConvolutionNet.Plane) -> ConvolutionPlane {
        precondition(size.count <= extent.plane && !free.isEmpty)
        let number = free.removeLast()
        return ConvolutionPlane(size: size, number: number, start: planes[number].start)
    }

    /// Says that nobody reads a plane any more.
    func give(back plane: ConvolutionPlane) { free.append(plane.number) }

    /// Forgets all planes.
    func clear() { free = Array(planes.indices) }
}

/// A plane in the scratch memory: `[height][width][channels]`.
struct ConvolutionPlane {
    let size: ConvolutionNet.Plane
    /// Its place in the scratch memory.
    fileprivate let number: Int
    /// Valid as long as the scratch memory.
    let start: UnsafeMutablePointer<Float>
}
