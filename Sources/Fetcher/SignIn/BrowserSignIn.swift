#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
package import HubCore

/// Signing in with a browser on this machine: authorization code, PKCE with S256, and the answer at an address of the
/// loopback. https://www.rfc-editor.org/rfc/rfc8252
package struct BrowserSignIn: Sendable {
    /// The path of the answer. The app's redirect address must have the same; of the loopback the port is free.
    package static let path = "/callback"
    /// What hub asks for: whose token it is, downloads, and calls to inference providers.
    package static let scope = "openid profile read-repos gated-repos inference-api"

    /// What the browser brought back.
    package enum Answer: Sendable, Hashable {
        /// The code to redeem.
        case code(String)
        /// The Hub's refusal: its word, and what it says about it.
        case refused(String, String?)
        /// Not the answer to this sign-in.
        case foreign
    }

    private let client: OAuthClient
    private let redirect: String
    private let state: String
    private let verifier: String

    /// - Parameter port: where the answer is awaited.
    package init(_ client: OAuthClient, port: UInt16) {
        self.client = client
        redirect = "http://127.0.0.1:\(port)\(Self.path)"
        state = Self.base64URL(Self.random())
        verifier = Self.base64URL(Self.random())
    }

    /// The address for the browser.
    package var address: String {
        let digest = ContentHasher()
        digest.update(Array(verifier.utf8))
        let query = [
            ("client_id", client.clientID), ("response_type", "code"), ("redirect_uri", redirect),
            ("scope", Self.scope), ("state", state), ("code_challenge", Self.base64URL(digest.finish().bytes)),
            ("code_challenge_method", "S256"),
        ]
        return client.authorizeEndpoint + HubClient.query(query)
    }

    /// Reads the query of a request to the loopback. One without this sign-in's state may be anybody's.
    package func answer(_ items: [(key: String, value: String)]) -> Answer {
        func only(_ key: String) -> String? {
            let values = items.filter { $0.key == key }
            return values.count == 1 && !values[0].value.isEmpty ? values[0].value : nil
        }
        guard only("state") == state else { return .foreign }
        if let error = only("error") {
            return .refused(
                String(error.prefix(100)).printable,
                only("error_description").map { String($0.prefix(300)).printable }
            )
        }
        return only("code").map { .code($0) } ?? .foreign
    }

    /// The token for a code.
    package func redeem(_ code: String) async throws -> TokenGrant {
        do {
            return try await client.grant(
                [
                    ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
                    ("code_verifier", verifier),
                ], hiding: [code, verifier])
        } catch let refusal as OAuthClient.Refusal {
            throw client.error(refusal)
        }
    }

    /// The error for a refusal.
    package func error(_ code: String, _ description: String?) -> AIError {
        client.error(OAuthClient.Refusal(code: code, description: description, status: 0))
    }

    /// 256 bits of the system's generator.
    private static func random() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }

    /// https://www.rfc-editor.org/rfc/rfc7636#appendix-A
    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

extension ContentDigest {
    fileprivate var bytes: [UInt8] {
        var digits = Substring(hex)
        var out: [UInt8] = []
        while !digits.isEmpty {
            out.append(UInt8(digits.prefix(2), radix: 16)!)
            digits = digits.dropFirst(2)
        }
        return out
    }
}
