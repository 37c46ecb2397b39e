package import HubCore

/// The Hub's HTTP API. Responses are validated and become values; failures become errors with advice.
package struct HubClient: Sendable {
    package let configuration: HFConfiguration
    package let http: HTTPClient
    /// Maximum seconds to wait on the server's request. The Hub's windows are five minutes; longer waits are not
    /// acceptable interactively.
    static let longestWait = 310.0
    /// The same for this client.
    package var longestWait = HubClient.longestWait
    /// Seconds to reach the Hub.
    let connectTimeout: Int
    /// Called for each request, redirect and retry; for `--verbose`. Never contains a credential.
    package let log: @Sendable (String) -> Void
    /// Called with messages for people: that the Hub limits the rate.
    package let notice: @Sendable (String) -> Void
    /// The source of the token; nil if there is none.
    package let tokenSource: TokenSource?
    /// Time limit of an API call in seconds.
    let answerTimeout: Int
    /// Warnings about the token: that it is not sent, or that others can read its file.
    package let tokenRemarks: [String]

    package var endpoint: Endpoint { configuration.endpoint }
    /// Whether a token is sent.
    package var hasToken: Bool { http.token != nil && endpoint.origin.isSafeForCredentials }

    package init(
        _ configuration: HFConfiguration, engine: HTTPEngine, environment: HubEnvironment = .process,
        log: @escaping @Sendable (String) -> Void = { _ in },
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(AIError) {
        self.configuration = configuration
        let found = try configuration.tokenProvider.find(in: environment)
        connectTimeout = try environment.etagTimeout()
        // A connect timeout above the usual answer timeout raises the latter too.
        let usual = configuration.timeout == HFConfiguration.default.timeout
        answerTimeout = usual ? max(configuration.timeout, connectTimeout) : configuration.timeout
        http = HTTPClient(engine: engine, origin: configuration.endpoint.origin, token: found?.token)
        // A server may quote the token: mask it in messages.
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

    /// A text with the token masked, because a server may quote it.
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

    // MARK: Requests

    /// Maximum size of a document: a repository's page lists up to 50,000 files, some 6 MB.
    private static let documentBytes = 16 << 20
    /// In words of the parser's tape; a file name takes four.
    private static let documentWords = 1 << 20

    /// Requests a JSON document; retries if that can help.
    ///
    /// - Throws: ``AIError`` by ``HubFault``; ``ErrorCode/protocolViolation`` if the answer is not JSON, or too large.
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

    /// An API request.
    func question(_ address: String) -> HTTPRequest {
        var request = HTTPRequest(
            .get, address, deadline: answerTimeout, allowsHTTP2: true, acceptsCompression: true)
        request.connectTimeout = Double(connectTimeout)
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

    /// Sends a request with retries until it succeeds.
    ///
    /// - Parameter retries: overrides the configuration's number.
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
            guard delay <= longestWait else { throw failure }
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
    /// The error with every text that may come from a server rewritten.
    func rewriting(_ rewrite: (String) -> String) -> AIError {
        var error = self
        error.message = rewrite(message)
        error.specificAdvice = specificAdvice.map(rewrite)
        error.context.address = context.address.map(rewrite)
        error.context.fault = context.fault.map(rewrite)
        return error
    }
}
