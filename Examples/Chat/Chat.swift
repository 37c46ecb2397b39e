import HubCore
import InferenceKit
import RemoteKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A chat application over the library: the same conversation with a model on this machine and with a remote one.
///
///     swift run Chat local FOLDER [--tools] [--keep FILE]
///     swift run Chat server http://127.0.0.1:8080 MODEL [--tools] [--keep FILE]
///     swift run Chat hub org/name [--tools] [--keep FILE]
///
/// Each line of the input is a prompt. `/back` takes the last turn back, `/prompts` shows what was asked; Ctrl-C ends it.
@main
struct Chat {
    let session: ModelSession
    /// Where the conversation is kept; nil for nowhere.
    let file: String?

    static func main() async {
        do {
            var words = Array(CommandLine.arguments.dropFirst())
            let hasTools = words.contains("--tools")
            words.removeAll { $0 == "--tools" }
            var file: String?
            if let place = words.firstIndex(of: "--keep"), place + 1 < words.count {
                file = words[place + 1]
                words.removeSubrange(place...place + 1)
            }
            let chat = Chat(
                try model(words), tools: hasTools ? [LetterCounter()] : [], file: file)
            try await chat.run()
        } catch {
            // Every error of the library is of this type, or a cancellation: it says what happened and what to do.
            let error = AIError.wrapping(error)
            say("\(error.message)\n" + (error.recoverySuggestion.map { $0 + "\n" } ?? ""), to: 2)
            exit(1)
        }
    }

    /// All of them are a `ChatModel`: from here on nothing depends on where it runs.
    private static func model(_ words: [String]) throws(AIError) -> any ChatModel {
        switch (words.first, words.count) {
        case ("local", 2): return LocalModel(folder: words[1])
        case ("server", 3): return try OpenAICompatibleProvider(address: words[1], model: words[2])
        case ("hub", 2): return try HuggingFaceProvider(model: RemoteModelName(words[1]))
        default:
            throw AIError(
                .invalidInput, "usage: Chat local FOLDER | server URL MODEL | hub org/name [--tools] [--keep FILE]")
        }
    }

    private init(_ model: any ChatModel, tools: [any Tool], file: String?) {
        var settings = ModelSession.Settings()
        // A long conversation goes on without its beginning.
        settings.policy = .dropOldestTurns
        // The application decides what may run: here everything, after it was shown.
        settings.approve = { call in
            Chat.say("[\(call.name) \(call.arguments)]\n", to: 1)
            return .allowed
        }
        self.file = file
        if let file, let kept = Self.kept(file) {
            session = ModelSession(model: model, transcript: kept, tools: tools, settings: settings)
        } else {
            session = ModelSession(
                model: model, instructions: "Answer in a few words.", tools: tools, settings: settings)
        }
    }

    private func run() async throws {
        // The model is opened, and the instructions are computed, while the first line is typed.
        try await session.prewarm()
        while let line = readLine() {
            switch line {
            case "": continue
            case "/back": try session.edit { _ = $0.removeLastTurn() }
            case "/prompts": showPrompts()
            default: await answer(line)
            }
            try keep()
        }
    }

    /// Shows an answer as it comes. What fails is said, and the conversation continues.
    private func answer(_ line: String) async {
        do {
            let config = GenerateConfig(maxTokens: 64, temperature: 0.7, seed: 1)
            for try await event in try session.streamResponse(to: line, config: config) {
                switch event {
                case .chunk(let chunk): Self.say(chunk.text, to: 1)
                case .shortened(let trace): Self.say("[\(trace.droppedTurns) turns are forgotten]\n", to: 1)
                case .response: Self.say("\n", to: 1)
                case .toolCall, .toolOutput: break
                }
            }
        } catch {
            Self.say("\(AIError.wrapping(error).message)\n", to: 2)
        }
    }

    private func showPrompts() {
        for case .prompt(let prompt) in session.transcript.entries { Self.say("> \(prompt.text)\n", to: 1) }
    }

    // MARK: Keeping

    /// A transcript is a value that any encoder writes.
    private func keep() throws {
        guard let file else { return }
        try JSONEncoder().encode(session.transcript).write(to: URL(filePath: file))
    }

    private static func kept(_ file: String) -> Transcript? {
        guard let data = try? Data(contentsOf: URL(filePath: file)) else { return nil }
        return try? JSONDecoder().decode(Transcript.self, from: data)
    }

    private static func say(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }
}

/// Something that language models are bad at.
struct LetterCounter: Tool {
    let name = "count_letters"
    let description = "Counts the letters of a text."
    let parameters: JSON = .object([
        "type": "object", "properties": .object(["text": .object(["type": "string"])]),
        "required": .array(["text"]),
    ])

    func call(arguments: JSONObject) async throws -> String {
        guard let text = arguments["text"]?.string else { throw AIError(.invalidInput, "the text is missing") }
        return "\(text.filter(\.isLetter).count) letters"
    }
}
