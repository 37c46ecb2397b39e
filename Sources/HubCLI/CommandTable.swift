/// Every command there is, in the order of help. What is not in this list does not exist: no help, no completion.
enum CommandTable {
    static let all: [Command] =
        group(
            .find,
            [
                SearchCommand.command, InfoCommand.command, DiffCommand.command, RegistryCommand.command,
                SyncCommand.command,
            ])
        + group(
            .get,
            [
                PullCommand.command, OutdatedCommand.command, LockCommand.command, ExportCommand.command,
                ImportCommand.command,
            ])
        + group(
            .keep,
            [
                LsCommand.command, PathCommand.command, RmCommand.command, GcCommand.command, PinCommand.command,
                UnpinCommand.command, VerifyCommand.command, TrashCommand.command, CacheCommand.command,
            ])
        + group(
            .use,
            [
                TryCommand.command, ChatCommand.command, EmbedCommand.command, RankCommand.command,
                ClassifyCommand.command, ForecastCommand.command, TranscribeCommand.command, ImageCommand.command,
                TokenizeCommand.command, EvalCommand.command, ChatsCommand.command,
            ])
        + group(
            .machine,
            [
                ServeCommand.command, AuthCommand.command, DoctorCommand.command, EnvCommand.command,
                CompletionsCommand.command, HelpCommand.command { all }, VersionCommand.command,
            ])

    /// Those that no help mentions.
    static let hidden: [Command] = [CandidatesCommand.command { all }]

    private static func group(_ group: Command.Group, _ commands: [Command]) -> [Command] {
        commands.map { $0.inGroup(group) }
    }
}
