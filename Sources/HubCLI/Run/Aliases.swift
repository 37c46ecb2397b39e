import Catalog
import HubCore

extension Context {
    /// This context with what those words stand for that were typed for models and are aliases. The table says which
    /// words those are, so that every command that takes a reference takes an alias.
    ///
    /// Start-up is measured: unless a word could be an alias, neither the registry is read nor the catalog opened.
    func resolvingAliases(of command: Command, _ arguments: ParsedArguments) async -> Context {
        let words = Set(command.references(in: arguments).compactMap(Self.possibleAlias))
        guard !words.isEmpty else { return self }
        let entries = await Offload.run { [environment] in
            ModelRegistry.entries(aliases: words, environment: environment)
        }
        var context = self
        context.aliases = entries.mapValues(\.repository)
        for (alias, entry) in entries.sorted(by: { $0.key < $1.key }) {
            // An MLX repository is quantised one way.
            if entry.provider != .mlx { context.aliasQuantizations[entry.repository] = entry.quantization }
            output.debug("\(alias) is the registry's alias of \(entry.repository)")
        }
        return context
    }

    /// The part of a reference that may be an alias: before the revision and the files.
    private static func possibleAlias(_ text: String) -> String? {
        guard !text.contains("://") else { return nil }
        let word = String(text.prefix { $0 != ":" && $0 != "@" })
        return (try? RegistryEntry.checkAlias(word)) == nil ? nil : word
    }
}

extension Command {
    /// The words that name models, among the operands and the values of flags.
    func references(in arguments: ParsedArguments) -> [String] {
        let words = arguments.operands.enumerated().filter { index, _ in
            // What comes after the last operand belongs to it: it takes many.
            guard let operand = index < operands.count ? operands[index] : operands.last else { return false }
            return operand.kind.isModel
        }
        let values = flags.filter { $0.value == .model }.flatMap { arguments.texts(of: $0.name) }
        return words.map(\.element) + values
    }
}
