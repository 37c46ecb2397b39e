package import HubCore

/// Entries as JSON: the shipped list, and the format of `hub registry export` and `import`.
///
/// `{"models":[ENTRY, ...],"hidden":[ALIAS, ...]}`; `hidden` has the aliases of shipped entries that the user removed.
package struct RegistryDocument: Sendable, Hashable {
    package var entries: [RegistryEntry]
    package var hidden: [String]

    package init(entries: [RegistryEntry], hidden: [String] = []) {
        self.entries = entries
        self.hidden = hidden
    }

    /// The document; without hidden aliases that member is absent.
    package var json: JSONObject {
        [
            "models": .array(entries.map { .object($0.json) }),
            "hidden": hidden.isEmpty ? nil : .array(hidden.map { .string($0) }),
        ]
    }

    /// Reads a document and checks all of it.
    ///
    /// - Parameter source: the name of the source, for errors.
    /// - Throws: ``ErrorCode/invalidInput`` naming the entry by its index from 0, the field and the fault.
    package init(_ bytes: [UInt8], source: String) throws(AIError) {
        func refuse(_ why: String, advice: String? = nil) -> AIError {
            AIError(.invalidInput, "\(source.printable): \(why)", advice: advice)
        }
        let json: JSON
        do throws(JSONError) { json = try JSON.parse(bytes) } catch { throw refuse("\(error)") }
        let advice = "hub registry export writes such a file"
        guard let object = json.object, let list = object["models"]?.array else {
            throw refuse("\"models\" is missing or is not a list", advice: advice)
        }
        if let unknown = object.keys.first(where: { $0 != "models" && $0 != "hidden" }) {
            throw refuse("unknown field \"\(unknown.prefix(80).description.printable)\"", advice: advice)
        }
        guard !object.hasDuplicateKeys else { throw refuse("a field occurs twice") }
        var places: [String: String] = [:]
        func note(_ alias: String, _ place: String) throws(AIError) {
            if let earlier = places[alias] {
                throw refuse("\(place): the alias \(alias) is also that of \(earlier)")
            }
            places[alias] = place
        }
        entries = []
        for (index, element) in list.enumerated() {
            let place = "models[\(index)]"
            let entry: RegistryEntry
            do throws(AIError) { entry = try RegistryEntry(element) } catch {
                throw refuse("\(place): \(error.message)", advice: error.specificAdvice)
            }
            try note(entry.alias, place)
            entries.append(entry)
        }
        hidden = []
        guard let aliases = object["hidden"] else { return }
        guard let aliases = aliases.array else { throw refuse("\"hidden\" is not a list") }
        for (index, element) in aliases.enumerated() {
            let place = "hidden[\(index)]"
            guard let alias = element.string else { throw refuse("\(place): it is not a string") }
            do throws(AIError) { try RegistryEntry.checkAlias(alias) } catch {
                throw refuse("\(place): \(error.message)", advice: error.specificAdvice)
            }
            try note(alias, place)
            hidden.append(alias)
        }
    }
}
