package import HubCore
import HubServer

/// The sign-in of a Hub on this machine: codes for devices and browsers, refresh tokens that are good once, and whose
/// token it is. It holds to RFC 6749, 7636 and 8628 and to the Hub's own ways, and does what a test scripts instead.
package final class OAuthServer: Sendable {
    package struct Options: Sendable {
        /// The only app that it knows.
        package var clientID = "hub-tests-app"
        /// Seconds that a token is good; nil to keep silent about it.
        package var lifetime: Int? = 28_800
        /// Whether a sign-in gets a refresh token.
        package var givesRefreshToken = true
        /// Whether a renewal brings a new refresh token; else the old one stays good.
        package var rotates = true
        package var scope: String? = "openid profile read-repos"
        /// Members of the answer to a device, over the usual ones; null takes one away.
        package var device: JSONObject = [:]
        /// Tokens that were made by hand, and their names.
        package var pasted: [String: String] = [:]

        package init() {}
    }

    /// What is said to a question at the token endpoint, in place of the usual.
    package enum Answer: Sendable {
        /// Status and JSON.
        case json(Int, String)
        /// A page of a gateway.
        case html(Int)
        /// Sends the head and closes before the body.
        case cut
        /// Another place.
        case redirect(to: String)
        /// Waits, and then answers as usual.
        case hold(Gate)
        /// As usual.
        case usual
    }

    /// A question as it came.
    package struct Asked: Sendable {
        package var method: String
        package var path: String
        package var query: String
        package var form: [String: String]
        package var authorization: String?
        /// `refresh_token`, ...
        package var grantType: String? { form["grant_type"] }
    }

    struct State {
        var log: [Asked] = []
        var script: [Answer] = []
        var isAllowed = false
        var count = 0
        /// Access tokens that are good.
        var accessTokens: Set<String> = []
        var refreshTokens: Set<String> = []
        var deviceCodes: Set<String> = []
        /// Codes for browsers, with the challenge and the redirect address that they belong to.
        var codes: [String: (challenge: String, redirect: String)] = [:]
    }

    /// `http://127.0.0.1:PORT`: HF_ENDPOINT.
    package let endpoint: String
    package let options: Options
    private let server: HubServer
    private let state: Monitor<State>

    package init(_ options: Options = Options()) throws {
        let state = Monitor(State())
        self.options = options
        self.state = state
        server = try HubServer(limits: .patient, handler: OAuthService(options: options, state: state))
        endpoint = server.address
    }

    deinit { server.stop() }

    /// Scripts the next answers of the token endpoint.
    package func script(_ answers: Answer...) { state.update { $0.script += answers } }
    /// Confirms every code of a device.
    package func allow() { state.update { $0.isAllowed = true } }
    /// Every question so far.
    package var log: [Asked] { state.update { $0.log } }
    /// The renewals among them.
    package var renewals: [Asked] { log.filter { $0.grantType == "refresh_token" } }
    /// Every secret that it gave away.
    package var secrets: Set<String> {
        state.update { $0.accessTokens.union($0.refreshTokens).union($0.deviceCodes) }
    }

    /// A pair of tokens as an earlier sign-in got them.
    package func grant() -> (access: String, refresh: String) {
        state.update { state in
            state.count += 1
            let pair = OAuthService.pair(state.count)
            state.accessTokens.insert(pair.access)
            state.refreshTokens.insert(pair.refresh)
            return pair
        }
    }

    /// Ends a token.
    package func revoke(_ token: String) {
        state.update {
            $0.accessTokens.remove(token)
            $0.refreshTokens.remove(token)
        }
    }

    /// Waits for so many questions at a path.
    package func wait(for path: String, count: Int = 1) async throws {
        _ = try await state.value("question \(count) at \(path)") { state in
            state.log.count { $0.path == path } >= count ? true : nil
        }
    }
}
