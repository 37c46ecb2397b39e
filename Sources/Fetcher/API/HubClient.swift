package import HubCore

/// The Hub's HTTP API. Answers are checked and turned into values; failures into errors that say what to do.
package struct HubClient: Sendable {
    package let configuration: HFConfiguration
    package let http: HTTPClient
    /// Seconds that a request may be told to wait. The Hub's windows are five minutes; a longer wait is not meant for a
    /// program that someone waits for.
    static let longestWait = 310.0
    /// Seconds to reach the Hub.
    let connectTimeout: Int
    /// Hears each request, redirect and retry; for `--verbose`. Never given a credential.
    package let log: @Sendable (String) -> Void
    /// Hears what a person should know while waiting: that the Hub limits the rate.
    package let notice: @Sendable (String) -> Void
    /// What the token was read from; nil where there is none.
    package let tokenSource: TokenSource?
    /// Seconds that an answer of the API may take.
    let answerTimeout: Int
    /// What a person should know of the token: that it is not sent, or that others can read its file.
    package let tokenRemarks: [String]

    package var endpoint: Endpoint { configuration.endpoint }
    /// Whether a token goes along.
    package var hasToken: Bool { http.token != nil && endpoint.origin.isSafeForCredentials }

    package init(
        _ configuration: HFConfiguration, engine: HTTPEngine, environment: HubEnvironment = .process,
        log: @escaping @Sendable (String) -> Void = { _ in },
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(AIError) {
        self.configuration = configuration
        let found = try configuration.tokenProvider.find(in: environment)
        connectTimeout = try environment.etagTimeout()
        // Whoever gives the Hub more time to be reached than an answer usually has means that for the answer too.
        let usual = configuration.timeout == HFConfiguration.default.timeout
        answerTimeout = usual ? max(configuration.timeout, connectTimeout) : configuration.timeout
        http = HTTPClient(engine: engine, origin: configuration.endpoint.origin, token: found?.token)
        // A server that quotes what it was sent may not put the token into what people read.
        let token = found?.token
        self.log = { log(token?.masked(in: $0) ?? $0) }
        self.notice = { notice(token?.masked(in: $0) ?? $0) }
        tokenSource = found?.source
        tokenRemarks = try Self.remarks(on: found?.source, configuration.endpoint)
    }

    private static func remarks(on source: TokenSource?, _ endpoint: Endpoint) throws(AIError) -> [String] {
        guard let source else { return [] }
        guard endpoint.origin.isSafeForCredentials else {
            return ["the token is not sent: \(endpoint) is plain http and not this machine"]
        }
        guard case .file(let path) = source, let exposure = try TokenFile(path).exposure() else { return [] }
        return [exposure]
    }

    /// A text without the token, for a server may have written it there.
    func masked(_ text: String) -> String { http.token?.masked(in: text) ?? text }

    // MARK: Addresses

    /// The API address of a repository: `/api/models/org/name`.
    package func apiAddress(_ repository: Repository) -> String {
        "\(endpoint)/api/\(repository.kind.plural)/\(repository.id)"
    }

    /// The address of a file: the revision encoded whole, the path with its slashes kept.
    package func fileAddress(_ repository: Repository, revision: String, path: String) -> String {
        "\(endpoint)/\(repository)/resolve/\(PercentEncoding.encode(revision))/\(PercentEncoding.encode(path, keeping: "/"))"
    }

    static func query(_ items: [(String, String)]) -> String {
        guard !items.isEmpty else { return "" }
        return "?"
            + items.map { "\(PercentEncoding.encode($0.0))=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    }

    // MARK: Asking

    /// What an answer that is one document may have: a repository's page names up to 50,000 files, some 6 MB.
    private static let documentBytes = 16 << 20
    /// In words of the parser, of which a file's name takes four.
    private static let documentWords = 1 << 20

    /// Asks for a JSON document; tries again where that can help.
    ///
    /// - Throws: ``AIError`` by ``HubFault``; ``ErrorCode/protocolViolation`` where the answer is not JSON, or is more
    ///   than such an answer can be.
    func json(_ address: String, fault: HubFault) async throws -> JSON {
        let answer = try await retrying(question(address), fault: fault) {
            try await http.response(to: $0, limit: Self.documentBytes)
        }
        do {
            let json = try JSON.parse(answer.body, mostWords: Self.documentWords)
            return http.token?.masked(in: json) ?? json
        } catch {
            throw notJSON(address, "\(error)", first: answer.body.first { $0 > 0x20 })
        }
    }

    /// What is asked of the API.
    func question(_ address: String) -> HTTPRequest {
        var request = HTTPRequest(
            .get, address, deadline: answerTimeout, allowsHTTP2: true, acceptsCompression: true)
        request.connectTimeout = connectTimeout
        return request
    }

    /// - Parameter first: the answer's first byte that is not white space.
    func notJSON(_ address: String, _ what: String, first: UInt8?) -> AIError {
        let shown = masked(SafeAddress.shown(address))
        return AIError(
            .protocolViolation,
            "\(shown) answers with "
                + (first == UInt8(ascii: "<") ? "a web page instead of JSON" : "something that is \(what)"),
            context: .init(address: shown))
    }

    /// Asks until an answer is a success, as often as is worth it.
    ///
    /// - Parameter retries: another number than the configuration's.
    func retrying(
        _ request: HTTPRequest, fault: HubFault, retries: Int? = nil,
        ask: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let most = retries ?? configuration.maxRetries
        var attempt = 0
        while true {
            log("\(request.method.rawValue) \(SafeAddress.shown(request.address))")
            let failure: AIError
            var wait: Double?
            do {
                let answer = try await ask(request)
                if let warning = answer.fields["X-HF-Warning"] { notice("the Hub says: \(warning.printable)") }
                if answer.head.isSuccess { return answer }
                failure = fault.error(answer.head, body: answer.body)
                if answer.status == 429 || answer.status == 503 {
                    wait = RateLimit(answer.fields)?.secondsToWait.map(Double.init)
                }
            } catch let error as AIError {
                failure = error.rewriting(masked)
            }
            let worthIt: Set<ErrorCode> = [.serverError, .rateLimited, .connectionLost]
            guard worthIt.contains(failure.code) || (failure.code == .timedOut && failure.context.status != nil),
                attempt < most
            else { throw failure }
            let delay = wait ?? configuration.retryBaseDelay * Double(1 << attempt) * Double.random(in: 0.75...1.25)
            guard delay <= Self.longestWait else { throw failure }
            attempt += 1
            let text =
                "\(failure.message); trying again in \(Int(delay.rounded(.up))) s (\(attempt) of \(most))"
            if delay > 5 { notice(text) } else { log(text) }
            try await http.engine.sleep(delay)
        }
    }

    func fault(_ repository: Repository?, revision: String? = nil, path: String? = nil) -> HubFault {
        HubFault(endpoint: endpoint, repository: repository, revision: revision, path: path, hasToken: hasToken)
    }
}

extension AIError {
    /// The error with every text that a server may have had a hand in rewritten.
    func rewriting(_ rewrite: (String) -> String) -> AIError {
        var error = self
        error.message = rewrite(message)
        error.specificAdvice = specificAdvice.map(rewrite)
        error.context.address = context.address.map(rewrite)
        return error
    }
}
