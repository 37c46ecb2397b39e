import HubCore

/// The command line's options.
struct Options {
    var runs = 5
    /// Names of works; empty means all.
    var only: [String] = []
    var jsonPath: String?
    /// Folders for what is written: anywhere, and in memory.
    var scratch = ""
    var memory: String?
    var hub = ""
    /// The Python that has huggingface_hub; nil with the reason.
    var peers: String?
    var whyNoPeers = "no Python with huggingface_hub was named"
    /// nginx, for the content of the large files; nil with the reason.
    var nginx: String?
    var whyNoNginx = "no nginx was named"
    /// How many pulls are killed, and what their moments are drawn from.
    var kills = 50
    var seed = UInt64.random(in: 1...999_999)
    /// What is said of the machine and of hub at the head of the report.
    var machine = "unknown machine"
    var revision = "unknown revision"
    /// A model to generate with besides the fixtures.
    var model: String?
    /// The Python that has llama.cpp and transformers; nil with the reason.
    var enginePython: String?
    var whyNoEngine = "no Python with llama-cpp-python was named"
    /// Where the engine's random models are, or are made; and a sentence model.
    var models: String?
    var sentences: String?

    static let usage = """
        usage: Benchmarks --hub PATH --scratch FOLDER [options]; scripts/bench gives what it needs
          --runs N            how often everything is measured (5)
          --only NAME,...     only these works: \(Suite.works.map(\.name).joined(separator: ", "))
          --kills N           how many pulls are killed (50)
          --seed N            draws the moments of the kills; each run draws another one
          --model FOLDER      generate with this model too, a folder or a GGUF file
          --json FILE         write the figures there too, every sample of them
          --memory FOLDER     a folder in memory (tmpfs) for the large files
          --peers FOLDER      the programs of a Python environment with huggingface_hub
          --no-peers REASON   why there is none
          --nginx PATH        serves the content of the large files
          --no-nginx REASON   why there is none
          --engine-python PATH      has llama.cpp, torch, transformers and what makes the engine's models
          --no-engine-python REASON why there is none
          --models FOLDER     where the engine's models are, or are made (in the scratch folder)
          --sentences FOLDER  a sentence model
          --machine TEXT, --revision TEXT   what the report says of them
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else {
                throw AIError(.invalidInput, "\(name) is no option or lacks its value", advice: Self.usage)
            }
            switch name {
            case "--runs": runs = try Self.count(value, of: name)
            case "--kills": kills = try Self.count(value, of: name)
            case "--seed":
                guard let number = UInt64(value) else {
                    throw AIError(.invalidInput, "--seed takes a whole number")
                }
                seed = number
            case "--only": only += value.split(separator: ",").map(String.init)
            case "--json": jsonPath = value
            case "--scratch": scratch = value
            case "--memory": memory = value
            case "--hub": hub = value
            case "--peers": peers = value
            case "--no-peers": whyNoPeers = value
            case "--nginx": nginx = value
            case "--no-nginx": whyNoNginx = value
            case "--machine": machine = value
            case "--revision": revision = value
            case "--model": model = value
            case "--engine-python": enginePython = value
            case "--no-engine-python": whyNoEngine = value
            case "--models": models = value
            case "--sentences": sentences = value
            default: throw AIError(.invalidInput, "there is no option \(name)", advice: Self.usage)
            }
        }
        guard !hub.isEmpty, !scratch.isEmpty else {
            throw AIError(.invalidInput, "--hub and --scratch are needed", advice: Self.usage)
        }
        for name in only where !Suite.works.contains(where: { $0.name == name }) {
            throw AIError(.invalidInput, "there is no work \(name)", advice: Self.usage)
        }
    }

    private static func count(_ text: String, of name: String) throws -> Int {
        guard let count = Int(text), (1...1000).contains(count) else {
            throw AIError(.invalidInput, "\(name) takes a number from 1 to 1000")
        }
        return count
    }
}
