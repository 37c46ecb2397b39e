import HubCore

extension ParsedArguments {
    /// What the first operand of a command such as `hub trash` asks for.
    ///
    /// - Parameter usual: what is meant without an operand.
    /// - Throws: ``ErrorCode/invalidInput`` for another word, with the nearest action.
    func action<Action: RawRepresentable<String> & CaseIterable>(_ usual: Action, of command: String)
        throws(AIError) -> Action
    {
        guard let operand else { return usual }
        if let action = Action(rawValue: operand) { return action }
        let names = Action.allCases.map(\.rawValue)
        throw AIError(
            .invalidInput, "hub \(command) does not know \"\(operand.printable)\"",
            advice: NearestName.of(operand, among: names).map { "did you mean: hub \(command) \($0)" }
                ?? "it takes \(names.joined(separator: ", "))")
    }
}
