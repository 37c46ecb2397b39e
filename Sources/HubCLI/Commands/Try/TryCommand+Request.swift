import HubCore
import InferenceKit

extension TryCommand {
    /// What is tried, and how.
    struct Request {
        /// The command that was typed, such as `hub rank`.
        var command: String
        var model: String
        var prompt: String?
        /// The GGUF file of the folder that is meant.
        var file: String?
        var config: GenerateConfig
        var options: ModelOptions
        /// Texts to tokenize, and a file with a list of them; nil if it is not asked.
        var tokenize: (texts: [String], file: String?)?
        /// The file of a conversation to render.
        var render: String?
        var template: String?
        var system: String?
        var chat: Bool
        var raw: Bool
        var logits: Bool
        /// Texts to embed, and a file with more of them.
        var embed: [String]
        var texts: String?
        /// Texts to rank that were typed.
        var rankedTexts: [String] = []
        /// The tasks that the command is for, the usual one first; nil for what the model is for.
        var tasks: [ModelTask]?
        /// The text that the others are compared with.
        var similar: String?
        /// What the texts are ranked by.
        var query: String?
        /// The text that belongs to the prompt.
        var textPair: String?
        /// The labels to try on the prompt or on pictures; empty for the model's own.
        var labels: [String]
        /// The sentence that they are put in for pictures; nil for the usual one.
        var labelTemplate: String?
        /// The files of pictures.
        var attach: [String]
        /// Where vectors of pictures are kept; nil for nowhere.
        var index: String?
        /// The score above which objects are shown; nil for the usual one.
        var threshold: Double?
        /// The file that what is made of a picture is written to, and whether it may replace another one.
        var output: String?
        var force: Bool
        /// The file of a series to forecast, its column, and the number of values; nil for what is usual.
        var series: String?
        var column: String?
        var horizon: Int?
        /// What the model is to do; nil for what it is for.
        var task: ModelTask?
        /// How texts become vectors.
        var embedding: EmbeddingOptions
        /// Flags that were given and are about generated text.
        var generating: [String]
        /// The file of a text, and the number of its tokens to score.
        var perplexity: String?
        var perplexityTokens: Int?
        var inspect: Bool
        /// How files are checked; nil if it is not asked.
        var check: ModelCheck.Options?
        /// Whether the model is fetched without a question.
        var yes: Bool
        /// Who runs it, and how long that may take in seconds; nil for the usual time.
        var provider: ProviderChoice
        var timeout: Double?
        /// Flags that were given and are about a model on this machine.
        var local: [String]

        /// - Throws: ``ErrorCode/invalidInput`` for a flag that lacks what it is about.
        init(_ arguments: ParsedArguments) throws(AIError) {
            self.init(reading: arguments, command: TryCommand.command)
            prompt = arguments.operands.count > 1 ? arguments.operands[1] : nil
            try validate()
        }

        /// The model and the flags that were given; what is to be done with it is added by the command.
        init(reading arguments: ParsedArguments, command: Command) {
            self.command = "hub \(command.name)"
            model = arguments.operands[0]
            file = arguments[InputFlags.gguf]
            config = GenerationFlags.config(arguments)
            options = GenerationFlags.options(arguments)
            let texts = arguments.all(TryCommand.tokenize)
            let file = arguments[tokenizeFile]
            tokenize = texts.isEmpty && file == nil ? nil : (texts, file)
            render = arguments[TryCommand.render]
            template = arguments[TryCommand.template]
            system = arguments[TryCommand.system]
            chat = arguments[TryCommand.chat]
            raw = arguments[TryCommand.raw]
            logits = arguments[TryCommand.logits]
            embed = arguments.all(TryCommand.embed)
            self.texts = arguments[InputFlags.texts]
            similar = arguments[TryCommand.similar]
            query = arguments[TryCommand.query]
            textPair = arguments[TryCommand.textPair]
            labels = arguments[TryCommand.labels] ?? []
            labelTemplate = arguments[TryCommand.labelTemplate]
            attach = arguments.all(InputFlags.attach)
            index = arguments[InputFlags.index]
            threshold = arguments[TryCommand.threshold]
            output = arguments[TryCommand.output]
            force = arguments[SharedFlags.force]
            series = arguments[TryCommand.series]
            column = arguments[TryCommand.column]
            horizon = arguments[TryCommand.horizon]
            let languages = (from: arguments[TryCommand.from], to: arguments[TryCommand.to])
            if languages.from != nil || languages.to != nil {
                config.translation = Translation(from: languages.from, to: languages.to)
            }
            task = arguments[TryCommand.task]
            embedding = EmbeddingOptions(
                promptName: arguments[InputFlags.promptName], dimensions: arguments[InputFlags.dimensions])
            generating = TryCommand.generating.filter(arguments.has)
            perplexity = arguments[TryCommand.perplexity]
            perplexityTokens = arguments[TryCommand.perplexityTokens]
            inspect = arguments[TryCommand.inspect]
            let checkFlag = TryCommand.check
            let isFull = arguments.texts(of: checkFlag.flag.name).contains("full")
            check = arguments[checkFlag] ? ModelCheck.Options(isFull: isFull) : nil
            yes = arguments[SharedFlags.yes]
            provider = arguments[ProviderFlags.provider] ?? .local
            timeout = arguments[ProviderFlags.timeout]
            let remote = [ProviderFlags.provider.flag, ProviderFlags.timeout.flag, SharedFlags.yes.flag].map(\.name)
            local = command.flags.map(\.name).filter { !remote.contains($0) && arguments.has($0) }
        }

        /// - Throws: ``ErrorCode/invalidInput`` for a flag that lacks what it is about.
        func validate() throws(AIError) {
            try checkTexts()
            try checkOutput()
            try checkSeries()
            try checkTask()
            try checkPrompt()
        }

        /// Whether flags say how tokens are drawn.
        var samples: Bool {
            let flags = ["preset", "temperature", "top-k", "top-p", "min-p", "typical-p", "greedy"]
            return flags.contains(where: generating.contains)
        }
        /// Whether the model is computed with, not only looked at.
        var runs: Bool { !inspect && check == nil && render == nil && tokenize == nil }
        /// Whether texts are to become vectors, whatever the model is for.
        var embeds: Bool { !embed.isEmpty || texts != nil && query == nil || similar != nil }
        /// A flag that was given and says how texts become vectors.
        var vectorFlag: String? {
            embedding.promptName != nil ? "prompt-name" : embedding.dimensions != nil ? "dimensions" : nil
        }
        /// Whether vectors are asked for by name.
        var asksForVectors: Bool { !embed.isEmpty || similar != nil || task == .embedding }
        /// What is asked of the model before it is found.
        var demand: ModelPlace.Demand {
            ModelPlace.Demand(command: command, file: file, options: options, runs: runs, yes: yes)
        }
        /// What is asked for, and of whom.
        var wish: ModelWish {
            ModelWish(
                model: model, provider: provider, capability: .textGeneration, demand: demand, timeout: timeout)
        }
        /// Whether pictures are ranked: files, or all of an index.
        var ranksPictures: Bool { query != nil && (!attach.isEmpty || index != nil) }
        /// Whether it is tested, for want of anything to do with it.
        var isTest: Bool {
            runs && prompt == nil && !embeds && query == nil && perplexity == nil && series == nil && attach.isEmpty
                && !chat
        }
        /// Whether a person talks with it.
        var isConversation: Bool { runs && prompt == nil && chat }

        /// Texts for vectors, rankings and labels.
        private func checkTexts() throws(AIError) {
            if query != nil, prompt != nil {
                throw AIError(.invalidInput, "--query ranks the texts of --texts; a PROMPT has no place beside it")
            }
            if query != nil, texts == nil, rankedTexts.isEmpty, !ranksPictures {
                throw AIError(
                    .invalidInput, "--query needs texts to rank: --texts FILE",
                    advice: "FILE is a JSON list of strings, or lines")
            }
            for (isGiven, flag) in [(textPair != nil, "text-pair"), (!labels.isEmpty, "labels")]
            where isGiven && prompt == nil && (attach.isEmpty || flag != "labels") {
                throw AIError(
                    .invalidInput, "--\(flag) needs a PROMPT", advice: "write hub try REF PROMPT --\(flag) ...")
            }
            if labelTemplate != nil, labels.isEmpty || attach.isEmpty {
                throw AIError(.invalidInput, "--label-template needs --labels and a picture, by --attach FILE")
            }
            if let flag = vectorFlag, prompt == nil, !embeds, query == nil {
                throw AIError(.invalidInput, "--\(flag) needs a text: a PROMPT, --embed TEXT or --texts FILE")
            }
        }

        /// What is asked of parts of a picture.
        private func checkOutput() throws(AIError) {
            for (isGiven, flag) in [(threshold != nil, "threshold"), (output != nil, "output"), (force, "force")]
            where isGiven && attach.isEmpty {
                throw AIError(.invalidInput, "--\(flag) needs a picture, by --attach FILE")
            }
            guard let output else {
                if force { throw AIError(.invalidInput, "--force needs -o FILE") }
                return
            }
            guard attach.count == 1 else {
                throw AIError(.invalidInput, "-o takes one picture, and there are \(attach.count)")
            }
            _ = try OutputFormat(output)
        }

        private func checkSeries() throws(AIError) {
            if !attach.isEmpty, prompt != nil {
                // A name with a typo is to be corrected first.
                for file in attach where !file.hasPrefix("~") && file != "-" && !FileSystem.exists(file) {
                    throw AIError(.fileNotFound, "\(file.printable) does not exist")
                }
                throw AIError(
                    .invalidInput, "models that read a picture and a PROMPT do not run here yet",
                    advice: "hub chat MODEL PROMPT --attach FILE asks one at a provider")
            }
            if series != nil, prompt != nil {
                throw AIError(.invalidInput, "--series is what the model reads; a PROMPT has no place beside it")
            }
            for (isGiven, flag) in [(column != nil, "column"), (horizon != nil, "horizon")]
            where isGiven && series == nil {
                throw AIError(.invalidInput, "--\(flag) needs --series FILE")
            }
        }

        /// Flags that do what another task than `--task` is about.
        private func checkTask() throws(AIError) {
            guard let task else { return }
            let others: [(isGiven: Bool, flag: String, tasks: [ModelTask])] = [
                (query != nil, "query", [.ranking, .embedding, .zeroShotImages]),
                (similar != nil, "similar", [.embedding]),
                (!embed.isEmpty, "embed", [.embedding]), (vectorFlag != nil, vectorFlag ?? "", [.embedding]),
                (!labels.isEmpty, "labels", [.classification, .zeroShotImages]),
                (textPair != nil, "text-pair", [.classification]), (chat, "chat", [.textGeneration]),
                (series != nil, "series", [.forecasting]),
                (!attach.isEmpty, "attach", ModelTask.allCases.filter(\.sees)),
                (threshold != nil, "threshold", [.objectDetection]),
                (output != nil, "output", ModelTask.allCases.filter(\.seesParts)),
            ]
            for other in others where other.isGiven && !other.tasks.contains(task) {
                throw AIError(.invalidInput, "--\(other.flag) has no meaning with --task \(task.rawValue)")
            }
        }

        private func checkPrompt() throws(AIError) {
            if perplexityTokens != nil, perplexity == nil {
                throw AIError(.invalidInput, "--perplexity-tokens needs --perplexity FILE")
            }
            if similar != nil, embed.isEmpty, texts == nil, prompt == nil {
                throw AIError(.invalidInput, "--similar needs texts to compare with: --embed TEXT or --texts FILE")
            }
            guard prompt == nil else { return }
            for (isGiven, flag) in [
                (logits, "logits"), (config.translation != nil, "to"), (config.topLogprobs != nil, "logprobs"),
            ] where isGiven {
                throw AIError(
                    .invalidInput, "--\(flag) needs a PROMPT", advice: "write hub try REF PROMPT --\(flag) --json")
            }
            if system != nil, !chat {
                throw AIError(.invalidInput, "--system needs a PROMPT or --chat")
            }
            if template != nil, render == nil, !chat {
                throw AIError(.invalidInput, "--template needs a PROMPT, --chat or --render")
            }
        }
    }
}
