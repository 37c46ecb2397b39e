extension ConvolutionNet {
    /// The size of a plane.
    struct Plane: Sendable, Hashable {
        var height: Int
        var width: Int
        var channels: Int

        var places: Int { height * width }
        var count: Int { places * channels }
    }
}

extension ConvolutionNet.Window {
    /// The window's places along a side of a plane, and how many are added before it.
    func places(along size: Int) -> (count: Int, before: Int) {
        switch padding {
        case .even(let around):
            let all = size + 2 * around
            return (all < side ? 0 : (all - side) / stride + 1, around)
        case .same:
            let count = (size + stride - 1) / stride
            return (count, max(0, (count - 1) * stride + side - size) / 2)
        }
    }

    /// The plane that is made of one.
    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        .init(
            height: places(along: plane.height).count, width: places(along: plane.width).count,
            channels: plane.channels)
    }
}

extension ConvolutionNet.Layer {
    /// The plane that is made of one.
    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        switch self {
        case .convolution(let convolution): convolution.plane(of: plane)
        case .largest(let window), .mean(let window): window.plane(of: plane)
        case .squeeze, .norm, .response, .attention: plane
        }
    }
}

extension ConvolutionNet.Convolution {
    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        var made = window.plane(of: plane)
        made.channels = outputs
        return made
    }
}
