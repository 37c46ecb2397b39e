import HubCore

/// From the words of the command line to the exit status.
enum Program {
    /// Everything but the process itself, so that tests can run it in their own.
    ///
    /// - Parameter fault: the error that prevented the start; it is reported instead of running anything.
    static func run(
        _ words: [String], fault: AIError? = nil, environment: HubEnvironment = .process,
        streams: Context.Streams = .process,
        interruption: Interruption = Interruption(), suspension: Suspension = Suspension(),
        commands: [Command] = CommandTable.all + CommandTable.hidden,
        output: Sink = .standardOutput, error: Sink = .standardError
    ) async -> Int32 {
        let parsed = ArgumentParser.parse(
            words, commands: commands, isConversation: { ConversationWord.isName($0, environment) })
        let context = Context(
            GlobalOptions(parsed.arguments), environment: environment, streams: streams, interruption: interruption,
            suspension: suspension, listKey: parsed.command?.listKey, output: output, error: error
        ) { words, recorder in
            await run(
                words, environment: environment, streams: Context.Streams(), commands: commands,
                output: recorder.outputSink, error: recorder.errorSink)
        }
        var failure: AIError?
        var answer: Int32 = 0
        do {
            if let fault { throw fault }
            let invocation = try invocation(parsed, commands)
            for note in parsed.notes { context.output.note(note) }
            try await run(invocation, parsed.arguments, context)
        } catch is AnswerIsNo {
            answer = 1
        } catch {
            failure = await report(error, context)
        }
        context.output.finish(error: failure)
        // It holds the context, which holds the output.
        context.output.onUnknownName { $0 }
        return status(failure, context) ?? answer
    }

    private typealias Invocation = (
        purpose: Command.Purpose, run: @Sendable (Context, ParsedArguments) async throws -> Void
    )

    /// What is to be run: the command, or the help or version asked for instead of it.
    private static func invocation(_ parsed: ArgumentParser.Outcome, _ commands: [Command]) throws -> Invocation {
        let listed = commands.filter { !$0.isHidden }
        if parsed.isCommandUnknown, let fault = parsed.fault { throw fault }
        if parsed.arguments[GlobalFlags.help] {
            return (
                .answers, { context, _ in HelpCommand.show(parsed.command, of: listed, isLong: false, context) }
            )
        }
        if parsed.arguments[GlobalFlags.version] {
            return (.answers, { context, _ in try await VersionCommand.run(context) })
        }
        if let fault = parsed.fault { throw fault }
        if let command = parsed.command {
            return (
                command.purpose,
                { context, arguments in
                    let typed = command.references(in: arguments)
                    let context = await context.resolvingAliases(typed)
                    context.output.onUnknownName(NameSuggestion(context: context, typed: typed).advised)
                    try await command.run(context, arguments)
                }
            )
        }
        return (
            .answers,
            { context, _ in try HelpCommand.missingCommand(of: listed, isBare: parsed.arguments.isEmpty, context) }
        )
    }

    private static func run(_ invocation: Invocation, _ arguments: ParsedArguments, _ context: Context) async throws
    {
        // The work begins when those who may cancel it are known.
        let (begin, known) = AsyncStream.makeStream(of: Never.self)
        let work = Task(executorPreference: TaskThreads.shared) {
            for await _ in begin {}
            try await invocation.run(context, arguments)
        }
        let key = context.interruption.onRequest { work.cancel() }
        defer {
            context.interruption.remove(key)
            context.output.onFailure { _ in }
        }
        context.output.onFailure { _ in
            if invocation.purpose == .answers { work.cancel() }
        }
        known.finish()
        try await work.value
    }

    /// Tells people what went wrong, unless they know; the error, for the document and the exit status.
    private static func report(_ thrown: any Error, _ context: Context) async -> AIError? {
        if let reported = thrown as? ReportedError { return reported.error }
        var error = await context.output.advised(AIError.wrapping(thrown))
        if error.code == .cancelled {
            // Cancelled for want of a reader: ``status(_:_:)`` decides.
            if !context.interruption.isRequested, context.output.writeFailure != 0 { return nil }
            error.specificAdvice = context.interruption.kept ?? error.specificAdvice
        }
        context.output.failure(error)
        return error
    }

    /// The exit status of the error, or of stdout where that failed by more than a reader who went away; nil for none.
    private static func status(_ failure: AIError?, _ context: Context) -> Int32? {
        if let failure { return failure.exitStatus }
        let number = context.output.writeFailure
        guard number != 0, !Sink.isBrokenPipe(number) else { return nil }
        let error = AIError.system("cannot write to", path: "standard output", errno: number)
        context.output.failure(error)
        return error.exitStatus
    }
}
