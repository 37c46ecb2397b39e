import HubCore
import ModelFormats

/// A family of nets that run: what its files call it, and its description.
struct NetFamily: Sendable {
    typealias Describing = @Sendable (inout Settings) throws(AIError) -> ConvolutionNet
    typealias DescribingWindows = @Sendable (inout Settings) throws(AIError) -> WindowNet

    /// As people call it.
    let name: String
    /// `model_type` in config.json; of timm's nets, whose files have none, `timm:` and what their names begin with.
    let types: [String]
    /// The classes in config.json that run, with what each is for; the first is the usual one. Those of timm are not named.
    let classes: [(name: String, task: ModelTask)]
    private let knows: @Sendable (String) -> Bool
    private let describing: @Sendable (inout Settings) throws(AIError) -> PictureNet

    /// A family of transformers', with a class that labels pictures and one without labels.
    init(_ name: String, type: String, stem: String, describe: @escaping Describing) {
        self.init(name, type: type, classes: Self.usual(stem), describe: describe)
    }

    /// A family of transformers' with the classes that it has.
    init(_ name: String, type: String, classes: [(name: String, task: ModelTask)], describe: @escaping Describing) {
        self.init(name, type, classes) { settings throws(AIError) in .convolutions(try describe(&settings)) }
    }

    /// One with windows.
    init(windows name: String, type: String, stem: String, describe: @escaping DescribingWindows) {
        self.init(name, type, Self.usual(stem)) { settings throws(AIError) in .windows(try describe(&settings)) }
    }

    private init(
        _ name: String, _ type: String, _ classes: [(name: String, task: ModelTask)],
        _ describe: @escaping @Sendable (inout Settings) throws(AIError) -> PictureNet
    ) {
        (self.name, types, self.classes, describing) = (name, [type], classes, describe)
        knows = { _ in false }
    }

    private static func usual(_ stem: String) -> [(name: String, task: ModelTask)] {
        [("\(stem)ForImageClassification", .imageClassification), ("\(stem)Model", .imageEmbedding)]
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
        self.init(name, types, knows) { settings throws(AIError) in .convolutions(try describe(&settings)) }
    }

    /// One with windows.
    init(
        windows name: String, timm types: [String], knows: @escaping @Sendable (String) -> Bool,
        describe: @escaping DescribingWindows
    ) {
        self.init(name, types, knows) { settings throws(AIError) in .windows(try describe(&settings)) }
    }

    private init(
        _ name: String, _ types: [String], _ knows: @escaping @Sendable (String) -> Bool,
        _ describe: @escaping @Sendable (inout Settings) throws(AIError) -> PictureNet
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
        net: PictureNet, obstacles: [RunObstacle]
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
