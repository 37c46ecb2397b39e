import HubCore

/// All benchmarks, and what they share.
struct Suite {
    /// A piece of work by its name on the command line.
    struct Work: Sendable {
        let name: String
        /// The benchmarks, each created when it is its turn.
        let measurements: @Sendable (Suite) throws -> [any Measurement]
    }

    static let works: [Work] = [
        Work(name: "large", measurements: { try LargeFiles.measurements($0) }),
        Work(name: "throttled", measurements: { try ThrottledConnections.measurements($0) }),
        Work(name: "small", measurements: { try SmallFiles.measurements($0) }),
        Work(name: "nothing", measurements: { try NothingToDo.measurements($0) }),
        Work(name: "kills", measurements: { try KilledPulls.measurements($0) }),
        Work(name: "mirror", measurements: { try Serving.warm($0) }),
        Work(name: "mirror-cold", measurements: { try Serving.cold($0) }),
        Work(name: "connections", measurements: { Serving.connections($0) }),
        Work(name: "page", measurements: { try FirstView.measurements($0) }),
        Work(name: "start", measurements: { try StartUp.measurements($0) }),
        Work(name: "ls", measurements: { try Listing.measurements($0) }),
        Work(name: "stores", measurements: { try Stores.measurements($0) }),
        Work(name: "verify", measurements: { try Verifying.measurements($0) }),
        Work(name: "travel", measurements: { try Travelling.measurements($0) }),
        Work(name: "catalog", measurements: { try Mirroring.measurements($0) }),
        Work(name: "formats", measurements: { try Formats.measurements($0) }),
        Work(name: "tokenizer", measurements: { try Tokenizing.measurements($0) }),
        Work(name: "grammar", measurements: { try Grammars.measurements($0) }),
        Work(name: "vectors", measurements: { try Vectors.measurements($0) }),
        Work(name: "try", measurements: { try Inference.measurements($0) }),
        Work(name: "engine", measurements: { try Engine.measurements($0) }),
        Work(name: "api", measurements: { try Chats.measurements($0) }),
        Work(name: "encoders", measurements: { try Encoders.measurements($0) }),
        Work(name: "families", measurements: { try Families.measurements($0) }),
    ]

    let options: Options
    let tools: Tools
    let runner: Runner

    init(_ options: Options) throws {
        self.options = options
        tools = Tools(options)
        runner = Runner(folder: options.scratch)
        guard FileSystem.exists("Tests/Peers/hubsim.py") else {
            throw AIError(.invalidInput, "start it in the top folder of the sources, as scripts/bench does")
        }
    }

    /// This suite's folder.
    func folder(_ name: String) -> String { Path.join(options.scratch, name) }

    /// The folder for large files: in memory where there is one, so that no disk is measured.
    var largeFolder: String { options.memory ?? options.scratch }

    /// `hub WORDS` in a sandbox.
    func hub(_ arguments: [String], _ sandbox: Sandbox) -> Command {
        Command(tools.hub, arguments, in: sandbox.environment)
    }

    /// A simulated Hub of a folder of repositories.
    func server(_ root: String, _ flags: [String] = []) throws -> SimulatedHub {
        switch tools.python {
        case .at(let python):
            try SimulatedHub(root, flags, python: python, log: folder("hubsim.log"), runner: runner)
        case .missing(let reason): throw AIError(.ioError, "no Hub to fetch from: \(reason)")
        }
    }
}
