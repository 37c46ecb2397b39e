import Fetcher
import HubCore
import HubServer

/// What every part of the page shares.
struct PagePlace: Sendable {
    let context: Context
    /// The cache, the catalog and the Hub that is asked: behind a mirror its upstream.
    let workspace: Workspace
    let downloads: PageDownloads
    let log: PageLog
    let metrics: ServerMetrics
    /// What a chat may use; nil where no API answers beside the page.
    let talk: PageTalk?

    /// Whether the API answers beside the page, so that one can chat.
    var hasAPI: Bool { talk != nil }
    var endpoint: Endpoint { workspace.configuration.endpoint }

    /// What a command says, as with `--json`.
    ///
    /// - Throws: the error that it ended with, where there is no document beside it.
    func ask(_ words: [String]) async throws -> CommandAnswer {
        let answer = try await context.answer(words, endpoint: endpoint)
        if let error = answer.document["error"], answer.document.count == 1 {
            let code = error["code"]?.string.flatMap(ErrorCode.init) ?? .ioError
            var fault = AIError(code, error["message"]?.string ?? "hub \(words[0]) failed")
            fault.specificAdvice = error["advice"]?.string
            throw fault
        }
        return answer
    }
}

/// A request for the page: its path behind `/-/`, its query, its own address.
struct PageRequest: Sendable {
    let parts: [String]
    let query: HTTPQuery
    /// `http://127.0.0.1:8080`, as the visitor reaches it.
    let address: String
    let body: JSON?

    /// A text of the body.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` without it.
    func text(_ key: String) throws(AIError) -> String {
        guard let text = body?[key]?.string, !text.isEmpty else {
            throw AIError(.invalidInput, "the request lacks \"\(key)\"")
        }
        return text
    }
}

/// A part of the page: its title, the modules that make it live, and what it shows.
struct PageView: Sendable {
    var title: String
    /// The place in the navigation.
    var section: PageSection?
    var modules: [String] = []
    /// Style sheets of its own.
    var styles: [String] = []
    /// Whether the navigation stands above it: not before who reads it has signed in.
    var hasPlaces = true
    var content: [HTML]
}

/// The places of the navigation.
enum PageSection: String, Sendable, CaseIterable {
    case models, downloads, storage, chat, pictures, machine

    var address: String { self == .models ? "/" : "/-/\(rawValue)" }
    var name: String { rawValue.withCapital }
}
