import Fetcher
import HubCore
import HubMedia
import InferenceKit

/// Gets a picture from what an answer names: an address, a data URL, or base64.
struct PictureFetch: Sendable {
    static let mostBytes = 64 << 20
    let client: RemoteClient
    let servedBy: String?

    func picture(_ text: String, _ deadline: Deadline) async throws(AIError) -> GeneratedImage {
        let bytes: [UInt8]
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            bytes = try await fetch(text, deadline)
        } else {
            let encoded =
                text.hasPrefix("data:")
                ? text.split(separator: ",", maxSplits: 1).last.map(String.init) ?? "" : text
            guard let decoded = Base64.bytes(encoded) else {
                throw AIError(.protocolViolation, "\(client.name) answers with a picture that is not base64")
            }
            bytes = decoded
        }
        guard let type = PictureKind(bytes)?.mediaType else {
            let isPage = bytes.first { $0 > 0x20 } == UInt8(ascii: "<")
            throw AIError(
                .protocolViolation,
                "\(client.name) gives \(isPage ? "a web page" : "something that is not a picture") in place of a picture",
                advice: "try again, or choose another provider")
        }
        return GeneratedImage(bytes: bytes, mediaType: type, servedBy: servedBy)
    }

    /// Results lie on foreign hosts, which must not see the key.
    private func fetch(_ address: String, _ deadline: Deadline) async throws(AIError) -> [UInt8] {
        guard let origin = Origin(address) else {
            throw AIError(.protocolViolation, "\(client.name) names an address of a picture that is not one")
        }
        let other = RemoteClient(
            client.context, client.limits, credential: nil, name: origin.description, isHub: false)
        var call = RemoteCall.get(address)
        call.accepts = "image/*"
        do throws(AIError) { return try await other.send(call, by: deadline).body(limit: Self.mostBytes) } catch {
            // It says nothing of the model or the key: the picture was made, and no key was sent.
            guard let status = error.context.status, (400..<500).contains(status), status != 429 else {
                throw error
            }
            throw AIError(
                .protocolViolation,
                "the picture is not at the address that \(client.name) gives: \(origin) answers \(status)",
                advice: "ask for it again", context: error.context)
        }
    }
}
