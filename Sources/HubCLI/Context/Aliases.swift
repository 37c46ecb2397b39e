import Catalog
import HubCore

extension Context {
    /// This context with what those words stand for that are aliases.
    ///
    /// Start-up is measured: unless a word could be an alias, neither the registry is read nor the catalog opened.
    ///
    /// - Parameter references: the words that were typed for models; see ``Command/references(in:)``.
    func resolvingAliases(_ references: [String]) async -> Context {
        let words = Set(references.compactMap(Self.possibleAlias))
        guard !words.isEmpty else { return self }
        let entries = await Blocking.run { [environment] in
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
