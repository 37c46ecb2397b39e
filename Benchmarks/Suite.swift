import HubCore

/// All that is measured, and what the works share.
struct Suite {
    /// A piece of work by its name on the command line.
    struct Work: Sendable {
        let name: String
        /// The comparisons, each made only when it is its turn.
        let contests: @Sendable (Suite) throws -> [Contest]
    }

    static let works: [Work] = [
        Work(name: "start", contests: { try StartUp.contests($0) }),
        Work(name: "ls", contests: { try Listing.contests($0) }),
        Work(name: "nothing", contests: { try NothingToDo.contests($0) }),
        Work(name: "large", contests: { try LargeFiles.contests($0) }),
        Work(name: "small", contests: { try SmallFiles.contests($0) }),
        Work(name: "try", contests: { try Inference.contests($0) }),
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

    /// A folder of this suite's own.
    func folder(_ name: String) -> String { Path.join(options.scratch, name) }

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
