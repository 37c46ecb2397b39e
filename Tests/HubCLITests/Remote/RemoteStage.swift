import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// The real program on a simulated machine whose Hub and router are one stand-in.
final class RemoteStage: Sendable {
    /// Nothing else looks like it.
    static let token = "hf_NeverSeenOutside0123456789abcdefgh"
    static let chat = HonestRouter.chatModel

    let stage: Stage
    let server: InferenceStandIn

    /// - Parameter answer: nil for what the honest router says.
    init(_ answer: @escaping @Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply? = { _ in nil }) throws
    {
        stage = try Stage()
        server = try InferenceStandIn { answer($0) ?? HonestRouter().answer($0) }
    }

    /// Answers of the chat route alone are the test's.
    static func chatting(_ answer: @escaping @Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply) throws
        -> RemoteStage
    {
        try RemoteStage { $0.path.hasSuffix("/chat/completions") ? answer($0) : nil }
    }

    var variables: [String: String] {
        ["HF_ENDPOINT": server.address, "HUB_INFERENCE_ENDPOINT": server.address, "HF_TOKEN": Self.token]
    }

    func run(
        _ words: String..., with more: [String: String] = [:], input: String = "",
        terminal: RunningProcess.Terminal? = nil
    ) async throws -> ProcessResult {
        try await stage.run(words, with: variables.merging(more) { $1 }, input: input, terminal: terminal)
    }

    /// Runs a line on a terminal and answers a question.
    func answer(_ words: [String], _ question: String, _ answer: String) async throws -> ProcessResult {
        let line = (["\"$hub\""] + words.map(ShellQuoting.posix)).joined(separator: " ")
        let own = variables.map { "\($0)=\($1)" }.joined(separator: " ")
        let process = try stage.shell("exec env \(own) \(line)", terminal: .init(columns: 300))
        try await process.wait(forText: question)
        process.write(answer + "\n")
        return try await process.wait()
    }

    /// The requests for answers, not those about who serves.
    var calls: [InferenceStandIn.Request] { server.requests.filter { $0.method == "POST" } }
}

/// A piece of a streamed answer.
func piece(_ text: String, reason: String? = nil) -> String {
    let end = reason.map { "\"\($0)\"" } ?? "null"
    return
        #"{"choices":[{"index":0,"delta":{"content":\#(JSON.string(text).text())},"finish_reason":\#(end)}]}"#
}

/// A piece of what a model reasons.
func thought(_ text: String) -> String {
    #"{"choices":[{"index":0,"delta":{"reasoning_content":\#(JSON.string(text).text())}}]}"#
}
