/// Every command there is, in the order of help. What is not in this list does not exist: no help, no completion.
enum CommandTable {
    static let all: [Command] = [
        SearchCommand.command, InfoCommand.command, PullCommand.command,
        LsCommand.command, OutdatedCommand.command, PathCommand.command, RmCommand.command,
        WhyCommand.command, AdoptCommand.command, LinkCommand.command, BudgetCommand.command, MoveCommand.command,
        GcCommand.command,
        VerifyCommand.command, WarmCommand.command, LockCommand.command,
        ExportCommand.command, ImportCommand.command, InventoryCommand.command,
        DiffCommand.command,
        TryCommand.command, ChatCommand.command, ChatsCommand.command, EmbedCommand.command,
        TranscribeCommand.command,
        ImageCommand.command, SyncCommand.command, RegistryCommand.command, DoctorCommand.command,
        ServeCommand.command,
        AuthCommand.command, PinCommand.command, UnpinCommand.command, TrashCommand.command,
        EnvCommand.command, CompletionsCommand.command, HelpCommand.command { all }, VersionCommand.command,
    ]

    /// Those that no help mentions.
    static let hidden: [Command] = [CandidatesCommand.command { all }]
}
