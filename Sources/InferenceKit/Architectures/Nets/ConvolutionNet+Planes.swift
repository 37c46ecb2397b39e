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
        case .even(let around): return places(along: size, around, around)
        case .uneven(let before, let behind): return places(along: size, before, behind)
        case .same:
            let count = (size + stride - 1) / stride
            return (count, max(0, (count - 1) * stride + side - size) / 2)
        }
    }

    private func places(along size: Int, _ before: Int, _ behind: Int) -> (count: Int, before: Int) {
        let all = size + before + behind
        return (all < side ? 0 : (all - side) / stride + 1, before)
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
        case .squeeze, .norm, .response, .reducedAttention, .shares: plane
        case .attention, .squares, .channelAttention, .places:
            plane.with(channels: ConvolutionNet.channels(after: [self], of: plane.channels))
        }
    }
}

extension ConvolutionNet.Plane {
    func with(channels: Int) -> ConvolutionNet.Plane { .init(height: height, width: width, channels: channels) }

    /// The smallest plane of whole squares that is not smaller.
    func whole(_ side: Int) -> ConvolutionNet.Plane {
        func whole(_ size: Int) -> Int { (size + side - 1) / side * side }
        return .init(height: whole(height), width: whole(width), channels: channels)
    }
}

extension ConvolutionNet.Convolution {
    func plane(of plane: ConvolutionNet.Plane) -> ConvolutionNet.Plane {
        window.plane(of: plane).with(channels: outputs)
    }
}
