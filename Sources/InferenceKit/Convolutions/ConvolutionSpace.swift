import CKernels

/// The scratch memory of a picture that is being computed. Used by one thread at a time.
final class ConvolutionSpace {
    let team: ComputeTeam
    let extent: ConvolutionExtent
    /// Those that layers share; none where each has memory of its own as long as it is read.
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
        let shared = extent.isLoose ? 0 : ConvolutionExtent.planes
        planes = (0..<shared).map { _ in FloatBuffer(extent.plane) }
        free = Array(planes.indices)
        windows = FloatBuffer(extent.windows)
        pages = FloatBuffer(extent.pages)
        packed = .allocate(byteCount: max(extent.packed, 1), alignment: 64)
    }

    deinit { packed.deallocate() }

    /// A plane of this size. Its numbers are those of whatever was there.
    func plane(_ size: ConvolutionNet.Plane) -> ConvolutionPlane {
        if extent.isLoose { return ConvolutionPlane(size, FloatBuffer(held(size.count))) }
        precondition(size.count <= extent.plane && !free.isEmpty)
        let number = free.removeLast()
        return ConvolutionPlane(size, planes[number], number: number)
    }

    /// Says that nobody reads a plane any more.
    func give(back plane: ConvolutionPlane) {
        if let number = plane.number { free.append(number) } else { held -= plane.size.count }
    }

    /// Forgets all planes.
    func clear() {
        free = Array(planes.indices)
        held = 0
    }

    /// Numbers of the planes that have memory of their own, and the most that there were at once.
    private var held = 0
    private(set) var mostHeld = 0

    /// Counts numbers that are there for a while.
    func held(_ count: Int) -> Int {
        held += count
        mostHeld = max(mostHeld, held)
        return count
    }

    func released(_ count: Int) { held -= count }
}

/// A plane in the scratch memory: `[height][width][channels]`.
struct ConvolutionPlane {
    let size: ConvolutionNet.Plane
    /// Its place in the scratch memory; nil where its memory is its own.
    fileprivate let number: Int?
    private let numbers: FloatBuffer
    /// Valid as long as the plane is, and as the scratch memory.
    var start: UnsafeMutablePointer<Float> { numbers.start }

    fileprivate init(_ size: ConvolutionNet.Plane, _ numbers: FloatBuffer, number: Int? = nil) {
        (self.size, self.numbers, self.number) = (size, numbers, number)
    }
}
