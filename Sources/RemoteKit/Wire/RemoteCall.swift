import Fetcher
import HubCore

/// A request to a provider.
struct RemoteCall: Sendable {
    enum Body: Sendable {
        case none
        case json(JSON)
        /// Parts and their media type.
        case upload(HTTPUpload, mediaType: String)
    }

    var address: String
    var body: Body
    /// Further header fields.
    var fields: [(String, String)] = []
    /// The answer's media type.
    var accepts = "application/json"
    /// The model, for errors.
    var model: String?

    static func post(_ address: String, _ json: JSON, model: String? = nil) -> RemoteCall {
        RemoteCall(address: address, body: .json(json), model: model)
    }

    static func get(_ address: String, model: String? = nil) -> RemoteCall {
        RemoteCall(address: address, body: .none, model: model)
    }

    /// Whether repeating it does nothing again.
    var isSafe: Bool { if case .none = body { true } else { false } }

    func request(_ limits: RemoteLimits) -> HTTPRequest {
        var request = HTTPRequest(isSafe ? .get : .post, address, fields: HTTPFields(fields))
        request.fields["Accept"] = accepts
        request.connectTimeout = limits.connect
        // Silence is measured by what arrives, not by bytes a second.
        request.stallTimeout = 0
        switch body {
        case .none: break
        case .json(let json):
            request.fields["Content-Type"] = "application/json"
            request.upload = HTTPUpload([.bytes(Array(json.text().utf8))])
        case .upload(let upload, let mediaType):
            request.fields["Content-Type"] = mediaType
            request.upload = upload
        }
        // What may cost money is never repeated by libcurl.
        request.reusesConnection = isSafe
        return request
    }
}
