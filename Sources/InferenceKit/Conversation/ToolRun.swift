import HubChatTemplates
import HubCore

/// Runs the calls of one turn.
struct ToolRun: Sendable {
    let tools: [any Tool]
    let approve: (@Sendable (GeneratedToolCall) async throws -> ToolApproval)?

    /// Runs calls at the same time, after all were allowed one by one. The answers come in the order of the calls; what
    /// fails, does not exist or is refused is an answer too.
    func run(_ calls: [GeneratedToolCall]) async -> [Transcript.ToolOutput] {
        var answers: [Answer?] = []
        for call in calls { answers.append(await obstacle(to: call)) }
        await withTaskGroup(of: (Int, Answer).self) { group in
            for (place, call) in calls.enumerated() where answers[place] == nil {
                group.addTask { (place, await answer(call)) }
            }
            for await (place, answer) in group { answers[place] = answer }
        }
        return zip(calls, answers).map { call, answer in
            let answer = answer ?? Answer(Self.interrupted, isError: true)
            return Transcript.ToolOutput(
                callID: call.id ?? "", name: call.name, text: answer.text, isError: answer.isError)
        }
    }

    private struct Answer: Sendable {
        var text: String
        var isError: Bool

        init(_ text: String, isError: Bool) { (self.text, self.isError) = (text, isError) }
    }

    private static let interrupted = "the call was interrupted"

    /// Why a call does not run; nil if it does.
    private func obstacle(to call: GeneratedToolCall) async -> Answer? {
        func not(_ why: String) -> Answer { Answer(why, isError: true) }
        guard !Task.isCancelled else { return not(Self.interrupted) }
        guard !call.name.isEmpty else { return not("the call cannot be read: \(call.arguments.prefix(200))") }
        guard tools.contains(where: { $0.name == call.name }) else {
            let names = tools.map(\.name).joined(separator: ", ")
            return not("there is no tool \(call.name.printable); the tools are: \(names.isEmpty ? "none" : names)")
        }
        do {
            _ = try call.parsed()
        } catch {
            return not("the arguments are not a JSON object: \(call.arguments.prefix(200))")
        }
        guard let approve else { return nil }
        do {
            if case .refused(let why) = try await approve(call) { return not(why) }
            return nil
        } catch {
            return not(Self.text(error))
        }
    }

    private func answer(_ call: GeneratedToolCall) async -> Answer {
        guard let tool = tools.first(where: { $0.name == call.name }) else {
            return Answer(Self.interrupted, isError: true)
        }
        do {
            let text = try await tool.call(arguments: call.parsed().arguments)
            return Task.isCancelled ? Answer(Self.interrupted, isError: true) : Answer(text, isError: false)
        } catch {
            return Answer(Task.isCancelled ? Self.interrupted : Self.text(error), isError: true)
        }
    }

    private static func text(_ error: any Error) -> String { (error as? AIError)?.message ?? "\(error)" }
}
