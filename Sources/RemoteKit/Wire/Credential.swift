import Fetcher
import HubCore

/// A key and the only origin that it is sent to.
struct Credential: Sendable {
    let token: AccessToken
    let origin: Origin
    /// `Bearer`, or `Key` at fal.
    var scheme = "Bearer"
    /// Who pays, on the Hub's router alone.
    var billTo: String?

    /// The Hub's tokens begin so, those of OAuth too; another key is one provider's own.
    static func isOfHub(_ token: AccessToken) -> Bool { token.secret.hasPrefix("hf_") }

    /// - Throws: ``ErrorCode/invalidInput`` if the key would go by plain http to another machine.
    init(_ token: AccessToken, to origin: Origin, scheme: String = "Bearer", billTo: String? = nil) throws(AIError)
    {
        guard origin.isSafeForCredentials else {
            throw AIError(
                .invalidInput, "the key is not sent to \(origin), which is plain http and not this machine",
                advice: "use an https address, or no key")
        }
        self.token = token
        self.origin = origin
        self.scheme = scheme
        self.billTo = Self.isOfHub(token) ? billTo : nil
    }

    /// Adds the key where an address has its origin.
    func authorise(_ request: inout HTTPRequest) {
        request.token = token
        request.fields["Authorization"] = nil
        request.fields["X-HF-Bill-To"] = nil
        guard Origin(request.address) == origin else { return }
        request.fields["Authorization"] = "\(scheme) \(token.secret)"
        if let billTo { request.fields["X-HF-Bill-To"] = billTo }
    }
}
