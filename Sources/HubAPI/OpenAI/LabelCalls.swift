import HubCore
import HubServer
import InferenceKit

/// Calls for labels of texts and pictures.
struct LabelCalls: Sendable {
    let shelf: Shelf
    let runner: TurnRunner

    private struct Asked {
        var model: String
        var inputs: [ModelInput]
        /// Labels of the request's own; nil for the model's.
        var tried: LabelTrial?
        /// How many labels or objects of an input are answered.
        var most: Int
        /// The scores of objects are above it; nil for the usual one.
        var threshold: Double?
        var keepAlive: KeepAlive?

        init(_ fields: Fields) throws(APIFault) {
            model = try fields.model()
            inputs = try ModelInput.inputs(fields, "input")
            most = try fields.int("top_n", from: 1) ?? .max
            threshold = try fields.number("threshold", in: 0...1)
            keepAlive = try fields.keepAlive()
            let template = try fields.string("label_template")
            if let labels = try fields.strings("labels") {
                guard (1...SentPicture.most).contains(labels.count) else {
                    throw .invalid("'labels' must be 1 to \(SentPicture.most) texts", param: "labels")
                }
                guard template?.contains("{}") ?? true else {
                    throw .invalid("'label_template' has no {}", param: "label_template")
                }
                tried = LabelTrial(labels, template: template)
            } else if template != nil {
                throw .invalid("'label_template' needs 'labels'", param: "label_template")
            }
            try fields.refuse("classifier_id", "classifiers are not trained here")
        }
    }

    /// `/classify` and `/v1/classify`: an entry has what vLLM's clients read (`label`, `probs`, `num_classes`), and what
    /// Jina's do (`prediction`, `score`, `predictions`). `labels` tries labels of one's own. Of a model that finds objects
    /// an entry has these.
    func classify(_ request: HTTPRequest) throws(APIFault) -> HTTPResponse {
        let asked = try Asked(try Fields(request))
        return try Whole.answer(for: request) {
            let cached = try await shelf.model(asked.model)
            let found = try await runner.slots.with(1) {
                try await runner.pool.with(
                    cached, keepAlive: asked.keepAlive, seeing: asked.inputs.contains(where: \.isPicture)
                ) { model in
                    var found: [JSON] = []
                    for (number, input) in asked.inputs.enumerated() {
                        found.append(try await Self.entry(number, input, asked, model))
                    }
                    return found
                }
            }
            return .json(
                .object([
                    "id": .string(AnswerParts.id("classify")), "object": "list",
                    "created": .int(Int64(Timestamp.now)), "model": .string(asked.model), "data": .array(found),
                ]))
        }
    }

    private static func entry(
        _ number: Int, _ input: ModelInput, _ asked: Asked, _ model: OpenModel
    ) async throws -> JSON {
        if case .picture(let sent) = input, asked.tried == nil, model.findsObjects {
            let objects = try await model.objects(in: sent, threshold: asked.threshold)
            return .object([
                "object": "detection", "index": .int(Int64(number)),
                "objects": .array(objects.prefix(asked.most).map(\.json)),
            ])
        }
        guard asked.threshold == nil else {
            throw APIFault.invalid("'threshold' is for models that find objects", param: "threshold")
        }
        let labels = try await model.labels(of: input, tried: asked.tried)
        let names = if let tried = asked.tried { tried.names } else { try names(model, input) }
        return entry(number, labels, names, asked.most)
    }

    /// The model's labels in the order of its outputs.
    private static func names(_ model: OpenModel, _ input: ModelInput) throws(APIFault) -> [String] {
        input.isPicture ? try model.pictures.labels : try model.language.labels
    }

    /// - Parameter names: in the order of `probs`.
    private static func entry(_ number: Int, _ labels: [TextLabel], _ names: [String], _ most: Int) -> JSON {
        // Two labels may have the same name; their scores come in the order that they have among `labels`.
        var scores = Dictionary(grouping: labels, by: \.label).mapValues { $0.map(\.score)[...] }
        let ordered = names.map { scores[$0]?.popFirst() ?? 0 }
        return .object([
            "object": "classification", "index": .int(Int64(number)),
            "label": labels.first.map { .string($0.label) }, "prediction": labels.first.map { .string($0.label) },
            "score": labels.first.map { .double($0.score) }, "probs": .array(ordered.map { .double($0) }),
            "num_classes": .int(Int64(names.count)),
            "predictions": .array(
                labels.prefix(most).map { label in
                    .object([
                        "label": .string(label.label), "score": .double(label.score), "logit": .double(label.logit),
                    ])
                }),
        ])
    }
}

extension FoundObject {
    /// As `hub try --json` has it: the box in pixels of the picture as it is shown, left, top, right, bottom.
    fileprivate var json: JSON {
        .object([
            "label": .string(label), "score": .double(score),
            "box": .array([box.left, box.top, box.right, box.bottom].map { .double($0) }),
        ])
    }
}
