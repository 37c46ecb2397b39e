import CKernels
import HubCore

/// Rows to objects: logits of labels and a box of each.
struct DetectionBlock: Sendable {
    private let description: ModelDescription.Detection
    private let width: Int
    private let labels: [Linear]
    private let boxes: [Linear]

    init(_ d: ModelDescription.Detection, _ table: TensorTable) throws(AIError) {
        (description, width) = (d, table.width)
        var labels: [Linear] = []
        for layer in 0..<d.labelLayers { labels.append(try table.linear(.objectLabels(layer))) }
        var boxes: [Linear] = []
        for layer in 0..<ModelDescription.Detection.boxLayers {
            boxes.append(try table.linear(.objectBoxes(layer)))
        }
        (self.labels, self.boxes) = (labels, boxes)
    }

    /// What the rows say that look for an object: logits, the last of them of no object, and boxes, whose middle across and
    /// down, width and height are shares of the picture's.
    ///
    /// - Parameter rows: after the last norm, `[queries][width]`.
    func apply(_ rows: UnsafePointer<Float>, _ w: Workspace) -> [ObjectRow] {
        let count = description.queries
        let input = FloatBuffer(UnsafeBufferPointer(start: rows, count: count * width))
        let logits = run(labels, input, w).array
        let boxes = run(boxes, input, w)
        let numbers = ModelDescription.Detection.boxNumbers
        hub_activate(w.team.team, HUB_SIGMOID, boxes.start, nil, numbers, count, numbers, boxes.start)
        let shares = boxes.array
        return (0..<count).map { row in
            ObjectRow(
                logits: Array(logits[row * description.logits..<(row + 1) * description.logits]),
                box: Array(shares[row * numbers..<(row + 1) * numbers]))
        }
    }

    private func run(_ layers: [Linear], _ input: FloatBuffer, _ w: Workspace) -> FloatBuffer {
        var x = input
        let count = description.queries
        for (place, layer) in layers.enumerated() {
            let made = FloatBuffer(count * layer.rows)
            w.multiply(x, rows: count, columns: layer.columns, [(layer, made.start)])
            if place + 1 < layers.count {
                hub_activate(
                    w.team.team, ModelDescription.Activation.relu.kernel, made.start, nil, layer.rows, count,
                    layer.rows, made.start)
            }
            x = made
        }
        return x
    }
}

/// What a row says of the object that it looks for.
struct ObjectRow: Sendable, Hashable {
    /// Of each label, and last of no object.
    let logits: [Float]
    /// The middle across and down, width and height, as shares of the picture's.
    let box: [Float]
}
