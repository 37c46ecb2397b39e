import HubCore
import ModelFormats

/// A family of convolutional nets that run: what its files call it, and its description.
struct NetFamily: Sendable {
    typealias Describing = @Sendable (inout Settings) throws(AIError) -> ConvolutionNet

    /// As people call it.
    let name: String
    /// `model_type` in config.json; of timm's nets, whose files have none, `timm:` and what their names begin with.
    let types: [String]
    /// The classes in config.json that run, with what each is for; the first is the usual one. Those of timm are not named.
    let classes: [(name: String, task: ModelTask)]
    private let knows: @Sendable (String) -> Bool
    private let describing: Describing

    /// A family of transformers' with classifiers.
    init(_ name: String, type: String, stem: String, describe: @escaping Describing) {
        let classes: [(String, ModelTask)] = [
            ("\(stem)ForImageClassification", .imageClassification), ("\(stem)Model", .imageEmbedding),
        ]
        self.init(name, type: type, classes: classes, describe: describe)
    }

    /// A family of transformers'.
    init(_ name: String, type: String, classes: [(name: String, task: ModelTask)], describe: @escaping Describing) {
        (self.name, types, self.classes, describing) = (name, [type], classes, describe)
        knows = { _ in false }
    }

    /// A family of timm's.
    ///
    /// - Parameters:
    ///   - types: what names begin with: `resnet`.
    ///   - knows: whether a name is of this family: `resnet50`.
    init(
        _ name: String, timm types: [String], knows: @escaping @Sendable (String) -> Bool,
        describe: @escaping Describing
    ) {
        (self.name, self.types, self.knows, describing) = (name, types.map { "timm:" + $0 }, knows, describe)
        classes = [("", .imageClassification)]
    }

    func has(_ architecture: String) -> Bool { knows(architecture) }

    /// What a configuration describes, and what of it cannot be run.
    ///
    /// - Parameter stored: the names of the stored tensors, which say what stands before them; nil if unknown.
    /// - Throws: ``ErrorCode/malformedModel`` for settings that are missing or contradict each other.
    func describe(_ configuration: ModelConfiguration, stored: Set<String>?) throws(AIError) -> (
        net: ConvolutionNet, obstacles: [RunObstacle]
    ) {
        var settings = Settings(configuration, stored: stored)
        if let named = configuration.architectures.first, !classes.contains(where: { $0.name == named }),
            configuration.timmName == nil
        {
            settings.obstacles.append(.modelClass(named))
        }
        do throws(AIError) {
            let net = try describing(&settings)
            if let fault = settings.fault { throw .malformed(settings.path, fault) }
            try net.check(settings.path)
            return (net, settings.obstacles)
        } catch {
            throw settings.fault.map { .malformed(settings.path, $0) } ?? error
        }
    }

    /// What a configuration's model is for.
    func task(_ configuration: ModelConfiguration) -> ModelTask {
        if configuration.timmName != nil {
            let isBare = configuration.architectures.first == TimmConfiguration.bare
            return isBare ? .imageEmbedding : .imageClassification
        }
        return (classes.first { $0.name == configuration.architectures.first } ?? classes[0]).task
    }
}

extension ModelConfiguration {
    /// The name of a model of timm's, `architecture`; nil for another model.
    var timmName: String? {
        guard isTimm else { return nil }
        // Which weights they are may stand behind a point.
        return settings["architecture"]?.string.flatMap { $0.split(separator: ".").first }.map(String.init)
    }
}
