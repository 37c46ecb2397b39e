/// `hub cache`: the cache as a whole, and the stores of other programs beside it.
enum CacheCommand {
    static let command = Command.family(
        "cache", doc: "limit, move and measure the cache; share files with other tools",
        detail: """
            du shows where the disk went, budget keeps the cache within a size, mv moves it, warm reads a model into memory. \
            adopt and link share files with other programs. inventory lists contents for hub export on another machine.
            """,
        [
            WhyCommand.command, BudgetCommand.command, MoveCommand.command, WarmCommand.command,
            AdoptCommand.command, AdoptCommand.undoing, LinkCommand.command, InventoryCommand.command,
        ],
        examples: [
            .init("hub cache du", "The stores of all programs."),
            .init("hub cache budget 200GB --keep gpt2", "A rule for the cache."),
            .init("hub cache mv /mnt/disk/hub", "Move the cache to another disk."),
            .init("hub cache adopt --dry-run", "What could become one copy."),
        ])
}
