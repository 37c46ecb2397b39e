import HubCore

/// What the command line means here: on this terminal, in this environment.
struct Context: Sendable {
    let environment: HubEnvironment
    let output: Output
    let interruption: Interruption
    let suspension: Suspension
    /// Whether a question can be asked: a person sits at stdin and stderr.
    let isInteractive: Bool
    /// Whether a person types what is read from stdin.
    let inputIsTerminal: Bool
    /// `--cache-dir`, if given; the variables are the cache's own matter.
    let cacheDir: String?
    /// `--endpoint`, if given; the variable is the client's own matter.
    let endpoint: String?
    /// Whether the network may not be used, by flag or variable.
    let isOffline: Bool
    let progressMode: ProgressRenderer.Mode
    let isUnicode: Bool
    /// Runs a command line within this process and gives its exit status; see ``answer(_:endpoint:)``.
    let runsCommand: @Sendable (_ words: [String], CommandRecorder) async -> Int32
    /// What the words stand for that were typed for models and are aliases; see ``resolvingAliases(_:)``.
    var aliases: [String: RepositoryID] = [:]
    /// The quantisations that those aliases mean, of repositories that hold many.
    var aliasQuantizations: [RepositoryID: String] = [:]

    /// How texts are shown.
    var mode: Output.Mode { output.mode }
    /// Whether `--verbose` was given.
    var isVerbose: Bool { output.settings.isVerbose }

    /// A renderer for one piece of work; to be finished by the caller.
    func progress() -> ProgressRenderer { ProgressRenderer(progressMode, output: output, isUnicode: isUnicode) }

    /// The time, in seconds since 1970.
    var now: Double { Timestamp.now }
}

extension Context {
    /// What is known of the three standard descriptors.
    struct Streams: Sendable {
        var inputIsTerminal = false
        var outputIsTerminal = false
        var errorIsTerminal = false
        /// Columns of the terminal that stdout is.
        var width: Int?
        /// Columns of the terminal that stderr is.
        var errorWidth: Int?

        /// Those of this process.
        static var process: Streams {
            func width(_ descriptor: Int32) -> Int? {
                Terminal.isTerminal(descriptor) ? Terminal.size(descriptor)?.columns ?? 80 : nil
            }
            return Streams(
                inputIsTerminal: Terminal.isTerminal(0), outputIsTerminal: Terminal.isTerminal(1),
                errorIsTerminal: Terminal.isTerminal(2), width: width(1), errorWidth: width(2))
        }
    }

    /// Decides what the flags leave open.
    init(
        _ options: GlobalOptions, environment: HubEnvironment, streams: Streams, interruption: Interruption,
        suspension: Suspension = Suspension(), listKey: String? = nil, output sink: Sink = .standardOutput,
        error errorSink: Sink = .standardError,
        runsCommand: @escaping @Sendable ([String], CommandRecorder) async -> Int32
    ) {
        let progress = Context.progressMode(options, environment, streams)
        let isUnicode = environment.isUnicode
        func colors(_ isTerminal: Bool) -> Bool {
            switch options.color {
            case .always: true
            case .never: false
            case .auto: isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
            }
        }
        output = Output(
            Output.Settings(
                mode: options.output, isVerbose: options.isVerbose,
                writesEvents: progress == .json, outputIsTerminal: streams.outputIsTerminal,
                errorIsTerminal: streams.errorIsTerminal, width: streams.width, errorWidth: streams.errorWidth,
                listKey: options.printsLines ? listKey : nil,
                colorsOutput: colors(streams.outputIsTerminal), colorsError: colors(streams.errorIsTerminal),
                ellipsis: isUnicode ? "…" : "~"),
            output: sink, error: errorSink)
        self.environment = environment
        self.interruption = interruption
        self.suspension = suspension
        self.isUnicode = isUnicode
        inputIsTerminal = streams.inputIsTerminal
        isInteractive = streams.inputIsTerminal && streams.errorIsTerminal
        cacheDir = options.cacheDir
        endpoint = options.endpoint
        // The older variable counts only where the newer one says nothing, as in the Python client.
        isOffline =
            options.isOffline
            || environment.flag("HF_HUB_OFFLINE") ?? environment.flag("TRANSFORMERS_OFFLINE") ?? false
        progressMode = progress
        self.runsCommand = runsCommand
    }

    private static func progressMode(
        _ options: GlobalOptions, _ environment: HubEnvironment, _ streams: Streams
    ) -> ProgressRenderer.Mode {
        switch options.progress {
        case .bar: return .bar
        case .plain: return .plain
        case .json: return .json
        case .none: return .none
        case .auto:
            if options.isQuiet || environment.progressBarsDisabled == true {
                return .none
            }
            // A dumb terminal cannot move its cursor.
            return streams.errorIsTerminal && environment["TERM"] != "dumb" ? .bar : .plain
        }
    }
}
