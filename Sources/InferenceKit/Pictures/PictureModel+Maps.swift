import CKernels
public import HubCore
public import HubMedia
import ModelFormats

/// What models do that say something of each pixel.
extension PictureModel {
    /// How far away the pixels of a picture are, in its own size: the model's numbers between four by four, as transformers'
    /// `post_process_depth_estimation` interpolates them.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that does not estimate depth, ``ErrorCode/invalidInput`` for a
    ///   picture that the model cannot take, ``ErrorCode/generationFailed`` for outputs that are not finite,
    ///   ``ErrorCode/cancelled``.
    public func depth(_ picture: Picture) async throws(AIError) -> DepthMap {
        guard task == .depthEstimation else { throw lacks("it does not estimate depth") }
        let made = try await map(picture)
        return try await compute { isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let resized = made.resized(height: picture.height, width: picture.width, interpolation: .bicubic)
            return DepthMap(width: picture.width, height: picture.height, values: resized.values)
        }
    }

    /// The labels of a picture's pixels, the one with most of them first. Each pixel has one: that whose number is the
    /// largest where the model's are interpolated between four, as in transformers'
    /// `post_process_semantic_segmentation`.
    ///
    /// - Throws: as ``depth(_:)``, for a model that does not segment pictures.
    public func segments(_ picture: Picture) async throws(AIError) -> [PictureSegment] {
        guard task == .imageSegmentation else { throw lacks("it gives pixels no labels") }
        let made = try await map(picture)
        return try await compute { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let (places, shares) = labelled(made, height: picture.height, width: picture.width)
            return segments(places, shares)
        }
    }

    /// What the model makes of a picture, in the model's size.
    func map(_ picture: Picture) async throws(AIError) -> FloatGrid {
        try await compute { [self] isCancelled throws(AIError) in
            try engine.map(picture, isCancelled: isCancelled)
        }
    }

    private func lacks(_ what: String) -> AIError {
        .unsupported(inspection.folder, "the model is for \(task.rawValue); \(what)")
    }

    /// The label of each pixel, and its share of the softmax.
    private func labelled(_ map: FloatGrid, height: Int, width: Int) -> (labels: [UInt32], shares: [Float]) {
        let count = height * width
        var labels = [UInt32](repeating: 0, count: count)
        let shares = [Float](unsafeUninitializedCapacity: count) { shares, filled in
            map.values.withUnsafeBufferPointer { values in
                var resizing = hub_resizing(
                    x: values.baseAddress, height: map.height, width: map.width, channels: map.channels,
                    rows: height,
                    columns: width, keeps_corners: false)
                let scratch = FloatBuffer(hub_label_scratch(engine.team.team, &resizing))
                withExtendedLifetime(scratch) {
                    hub_label_places(engine.team.team, &resizing, scratch.start, &labels, shares.baseAddress)
                }
            }
            filled = count
        }
        return (labels, shares)
    }

    private func segments(_ places: [UInt32], _ shares: [Float]) -> [PictureSegment] {
        var counts = [Int](repeating: 0, count: labels.count), sums = [Double](repeating: 0, count: labels.count)
        for (place, label) in places.enumerated() {
            counts[Int(label)] += 1
            sums[Int(label)] += Double(shares[place])
        }
        let found = counts.indices.filter { counts[$0] > 0 }.sorted { (counts[$1], $0) < (counts[$0], $1) }
        return found.map { label in
            PictureSegment(
                label: labels[label], score: sums[label] / Double(counts[label]), pixels: counts[label],
                number: UInt32(label), of: places)
        }
    }
}
