import HubCore

/// `hub forecast`
enum ForecastCommand {
    static let command = Command(
        name: "forecast", doc: "forecast a series of numbers",
        detail: """
            Reads the numbers of a CSV file: the latest value is last, and the values are at equal intervals. A file with \
            several columns of numbers needs --column. Empty cells, NaN and NA are missing values. Shows the median and a \
            range for each value to come; --json has every value.
            """,
        operands: [Operand("MODEL", .one, .modelOrFolder), Operand("FILE.csv", .one, .file)],
        flags: [TryCommand.column.flag, TryCommand.horizon.flag, GenerationFlags.seed.flag]
            + GenerationFlags.computing + [SharedFlags.yes.flag],
        exclusive: [["exact", "fast"]],
        examples: [
            .init("hub forecast amazon/chronos-bolt-tiny sales.csv", "The next 64 values."),
            .init(
                "hub forecast org/model weather.csv --column rain --horizon 24", "One column, for a day of hours."),
        ],
        run: { try await TryCommand.run($0, try request($1)) })

    private static func request(_ arguments: ParsedArguments) throws(AIError) -> TryCommand.Request {
        var request = TryCommand.Request(reading: arguments, command: command)
        request.series = arguments.operands[1]
        // The seed is the forecast's.
        request.generating = []
        try request.validate()
        return request
    }
}
