package import HubCore

/// An error response in the Hub's format: a status, `X-Error-Code` and `X-Error-Message`, and a JSON body with the
/// message. How clients read the codes: huggingface_hub, `utils/_http.py`, `hf_raise_for_status`.
package struct HubFault: Error {
    package var status: Int
    package var code: String?
    package var message: String
    package var headers: HTTPHeaders = [:]

    package init(status: Int, code: String? = nil, message: String, headers: HTTPHeaders = [:]) {
        (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
    }

    package var response: HTTPResponse {
        var all = headers
        all["X-Error-Code"] = code
        // It quotes names from the request, and a header holds only visible ASCII.
        all["X-Error-Message"] = String(
            decoding: message.utf8.prefix(2000).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
        return .json(.object(["error": .string(message)]), status: status, headers: all)
    }

    package static func malformed(_ fault: HTTPFault) -> HubFault {
        HubFault(status: fault.status, message: fault.reason)
    }

    static func badRequest(_ reason: String) -> HubFault { HubFault(status: 400, message: reason) }

    /// No repository, or a private one: the Hub does not distinguish them, and asks clients without a token to log in.
    static func repository(_ identity: HubIdentity) -> HubFault {
        identity == .anonymous
            ? HubFault(status: 401, code: "RepoNotFound", message: "Invalid username or password.")
            : HubFault(status: 404, code: "RepoNotFound", message: "Repository not found")
    }

    static func gated(_ repository: Repository, _ identity: HubIdentity) -> HubFault {
        let what = "Access to \(repository.kind.rawValue) \(repository.id) is restricted"
        return identity == .anonymous
            ? HubFault(
                status: 401, code: "GatedRepo",
                message: "\(what). You must have access to it and be authenticated to access it. Please log in.")
            : HubFault(
                status: 403, code: "GatedRepo",
                message: "\(what) and you are not in the authorized list. Ask for access on its page.")
    }

    package static func revision(_ name: String) -> HubFault {
        HubFault(status: 404, code: "RevisionNotFound", message: "Invalid rev id: \(name)")
    }

    package static func entry(_ message: String, commit: String) -> HubFault {
        HubFault(status: 404, code: "EntryNotFound", message: message, headers: ["X-Repo-Commit": commit])
    }

    /// An unknown address.
    package static let page = HubFault(status: 404, message: "Sorry, we can't find the page you are looking for.")

    /// An invalid token. Clients recognise it by this text.
    package static let credentials = HubFault(
        status: 401, message: "Invalid credentials in Authorization header", headers: ["WWW-Authenticate": "Bearer"]
    )

    package static let login = HubFault(
        status: 401, message: "Invalid username or password.", headers: ["WWW-Authenticate": "Bearer"])

    package static func method(allowed: String) -> HubFault {
        HubFault(status: 405, message: "This address answers \(allowed) only", headers: ["Allow": allowed])
    }

    /// An error of this machine: the operator sees it in full, the client without local paths.
    package static func machine(_ error: AIError) -> HubFault {
        HubFault(
            status: 500, message: "This Hub cannot read the repository (\(error.code.rawValue)); its log says why")
    }
}
