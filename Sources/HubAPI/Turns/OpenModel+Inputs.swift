import HubCore
import HubMedia
import InferenceKit

extension OpenModel {
    /// The vectors of texts and pictures, in their order: in one space where a model has both.
    ///
    /// - Throws: 400 for a model that has no vectors of one of them, or for a picture that cannot be read.
    func vectors(of inputs: [ModelInput], _ options: EmbeddingOptions) async throws -> [EmbeddingResult] {
        let texts = inputs.compactMap(\.text)
        var read: [EmbeddingResult] = []
        // Without any input the model still has to be one for that.
        if !texts.isEmpty || inputs.isEmpty {
            let language = try language
            guard language.embeds else {
                throw unsupported(
                    "\(cached.id) does not turn texts into vectors: it is for \(language.task.rawValue)")
            }
            read = texts.isEmpty ? [] : try await language.embed(texts, options: options)
        }
        var results: [EmbeddingResult] = []
        results.reserveCapacity(inputs.count)
        var next = read.makeIterator()
        for input in inputs {
            if case .picture(let sent) = input {
                let model = try pictures
                // Pixels are large, so there are those of one picture at a time.
                let vector = try await model.embed([try await sent.decoded()])[0]
                let short = try vector.shortened(to: options.dimensions)
                results.append(options.normalizes ? short.unit : short)
            } else if let vector = next.next() {
                results.append(vector)
            }
        }
        return results
    }

    /// Whether it finds objects in pictures.
    var findsObjects: Bool { (try? pictures)?.task == .objectDetection }

    /// The objects in a picture, the surest first.
    ///
    /// - Parameter threshold: their scores are above it; nil for the usual one.
    /// - Throws: 400 for a model that finds none, or for a picture that cannot be read.
    func objects(in sent: SentPicture, threshold: Double?) async throws -> [FoundObject] {
        try await pictures.objects(
            try await sent.decoded(), threshold: threshold ?? PictureModel.objectThreshold)
    }

    /// The labels of a text or of a picture, the likeliest first.
    ///
    /// - Parameter tried: labels of the request's own; nil for the model's.
    /// - Throws: 400 for a model that gives it none.
    func labels(of input: ModelInput, tried: LabelTrial?) async throws -> [TextLabel] {
        switch (input, tried) {
        case (.text(let text), nil): return try await language.classify([TextPair(text)])[0]
        case (.text(let text), let tried?):
            guard let template = tried.template else { return try await language.classify(text, as: tried.names) }
            return try await language.classify(text, as: tried.names, template: template)
        case (.picture(let sent), nil): return try await pictures.classify([try await sent.decoded()])[0]
        case (.picture(let sent), let tried?):
            let model = try pictures
            let vectors = try await tried.vectors(model)
            return try await model.classify([try await sent.decoded()], as: vectors)[0]
        }
    }
}

/// Labels of a request's own, whose vectors are computed once for all of its pictures.
final class LabelTrial: Sendable {
    let names: [String]
    /// The sentence they are put in; nil for what is usual for texts or for pictures.
    let template: String?
    private let made = Lock<TriedLabels?>(nil)

    init(_ names: [String], template: String?) { (self.names, self.template) = (names, template) }

    func vectors(_ model: PictureModel) async throws(AIError) -> TriedLabels {
        if let known = made.withLock({ $0 }) { return known }
        let labels = try await model.labels(names, template: template ?? PictureModel.labelTemplate)
        made.withLock { $0 = labels }
        return labels
    }
}
