import Fetcher
import HubCore

/// Makes errors of providers' refusals: the code by status, the message in their own words.
struct RemoteFault: Sendable {
    /// Who answers, for messages: `groq`, `https://router.huggingface.co`.
    let name: String
    /// Whether it is the Hub's router, whose token and account the advice is about.
    let isHub: Bool
    let credential: Credential?

    private static let codes: [Int: ErrorCode] = [
        401: .unauthorized, 402: .paymentRequired, 403: .forbidden, 404: .modelNotServed, 407: .unreachable,
        408: .timedOut, 410: .modelRetired, 413: .requestTooLarge, 424: .serverError, 429: .rateLimited,
        503: .serviceUnavailable, 504: .gatewayTimedOut,
    ]

    /// The code of a status.
    static func code(_ status: Int) -> ErrorCode {
        switch status {
        case _ where codes[status] != nil: codes[status]!
        case 400..<500: .requestRejected
        case 500...: .serverError
        default: .protocolViolation
        }
    }

    /// The error of an answer.
    func error(_ head: HTTPHead, _ body: [UInt8], model: String?) -> AIError {
        let json = try? JSON.parse(body, mostWords: 1 << 16)
        let words = Self.words(json) ?? Self.plainWords(body)
        let served = head.fields["x-inference-provider"].map { "\($0.printable), by \(name)," } ?? name
        let isUnserved = head.status == 400 && Self.saysNotServed(json, words)
        var error = fault(
            isUnserved ? .modelNotServed : Self.code(head.status), "\(served) answers \(head.status)", words)
        error.context = .init(repository: model, status: head.status, address: SafeAddress.shown(head.address))
        error.specificAdvice = advice(error.code, isUnserved: isUnserved)
        return error
    }

    /// The error in the middle of a stream, or in an answer with status 200; nil if the value holds none.
    ///
    /// - Parameter code: of an error that names no status.
    func error(in json: JSON, code: ErrorCode = .requestRejected) -> AIError? {
        let isError: Bool
        switch json["error"] {
        case nil: isError = json["error_type"] != nil
        case .bool(let value): isError = value
        case .string(let text): isError = !text.isEmpty
        default: isError = true
        }
        guard isError else { return nil }
        let inner = json["error"]
        let status = [inner?["http_status_code"], inner?["status"], inner?["code"], json["status_code"]]
            .compactMap { $0?.int }.first { (400..<600).contains($0) }
        let words = Self.words(json) ?? ""
        var error = fault(
            status.map { Self.code(Int($0)) } ?? code, "\(name) reports an error", words)
        error.context.status = status.map(Int.init)
        error.specificAdvice = advice(error.code, isUnserved: false)
        return error
    }

    private func fault(_ code: ErrorCode, _ what: String, _ words: String) -> AIError {
        let clean = String(masked(words).prefix(600)).printable
        return AIError(code, clean.isEmpty ? what : "\(what): \(clean)")
    }

    private func masked(_ text: String) -> String { credential?.token.masked(in: text) ?? text }

    /// nil for the code's own advice.
    private func advice(_ code: ErrorCode, isUnserved: Bool) -> String? {
        switch code {
        case .modelNotServed where isUnserved && isHub:
            "enable a provider that serves it: https://huggingface.co/settings/inference-providers"
        case .modelNotServed where !isHub: "check the model's name and the address"
        case .unauthorized where !isHub: "check the key for \(name)"
        case .paymentRequired where !isHub: "check your account at \(name)"
        case .forbidden where isHub:
            "the token needs the permission \"Make calls to Inference Providers\": https://huggingface.co/settings/tokens"
        case .forbidden: "the key for \(name) lacks a permission"
        case .rateLimited: "wait a few minutes, or choose another provider"
        case .protocolViolation: "check the provider's address"
        default: nil
        }
    }

    /// What to do where nobody answers: the code's own advice is about the Hub.
    var unreachedAdvice: String {
        if isHub { return "check the network, the proxy variables and HUB_INFERENCE_ENDPOINT" }
        guard name.contains("://") else { return "check the network and the proxy variables" }
        return "check the network, the proxy variables and the address \(name)"
    }

    private static func saysNotServed(_ json: JSON?, _ words: String) -> Bool {
        json?["error"]?["code"]?.string == "model_not_supported"
            || words.lowercased().contains("model not supported")
            || words.contains("is not supported by any provider")
    }

    // MARK: Words

    /// What a JSON body says, in any of the shapes that providers use.
    static func words(_ json: JSON?) -> String? {
        guard let json else { return nil }
        if let text = json.string { return text }
        if let list = json.array { return joined(list.map { words($0) }) }
        for key in ["error", "errors", "message", "detail", "error_description", "msg"] {
            if let found = words(json[key]), !found.isEmpty {
                // `{"error": "invalid_scope", "error_description": "..."}`
                guard key == "error", let more = json["error_description"]?.string else { return found }
                return "\(found): \(more)"
            }
        }
        return nil
    }

    private static func joined(_ parts: [String?]) -> String? {
        let all = parts.compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Of a web page only its title is worth showing.
    private static func plainWords(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(16 << 10), as: UTF8.self)
        guard text.prefix(500).contains("<") else { return text.prefix(600).trimmed }
        guard let title = text.firstMatch(of: /(?is)<title[^>]*>(.*?)<\/title>/) else { return "a web page" }
        return "a web page, \"\(title.output.1.trimmed)\""
    }
}
