import HubCore

/// The nearest of many vectors, beside numpy.
enum Vectors {
    private static let words = ["100000", "384"]

    static func measurements(_ suite: Suite) throws -> [any Measurement] {
        guard let own = CommandLine.arguments.first else { return [] }
        let box = try Sandbox(suite.folder("vectors"))
        let peer: Peer =
            switch suite.tools.enginePython {
            case .at(let python):
                .present(
                    Contestant(
                        name: "numpy",
                        command: Command(python, ["Benchmarks/vectors_peer.py"] + words, in: box.environment),
                        inspect: inspect))
            case .missing(let reason): .missing(name: "numpy", reason: reason)
            }
        return [
            Contest(
                work: "ten nearest of 100,000 vectors of 384", measures: [.search],
                bars: [Bar(.search, .most(0.020), beside: "numpy")],
                ours: Contestant(
                    name: "hub", command: Command(own, ["vectors"] + words, in: box.environment), inspect: inspect),
                peers: [peer])
        ]
    }

    private static func inspect(_ output: String) throws -> [Measure: Double] {
        guard let seconds = try JSON.parse(output)["seconds"]?.double else {
            throw AIError(.ioError, "no figure in \(output)")
        }
        return [.search: seconds]
    }
}
