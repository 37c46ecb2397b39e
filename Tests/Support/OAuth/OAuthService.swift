import HubCore
import HubServer

/// Answers as an ``OAuthServer`` does.
struct OAuthService: HTTPHandler {
    let options: OAuthServer.Options
    let state: Monitor<OAuthServer.State>

    /// The pair of a number: the tokens of two numbers differ.
    static func pair(_ number: Int) -> (access: String, refresh: String) {
        let digits = String(number)
        let filler = String(repeating: "x", count: 30 - digits.count)
        return ("hf_oauth_Access\(filler)\(digits)", "Refresh\(filler)\(digits)")
    }

    func respond(to request: HTTPRequest) -> HTTPResponse {
        let text = String(decoding: request.body, as: UTF8.self)
        let items = (try? HTTPQuery(text))?.items ?? []
        let asked = OAuthServer.Asked(
            method: request.method, path: request.rawPath, query: request.rawQuery,
            form: Dictionary(items.map { ($0.key, $0.value) }) { $1 },
            authorization: request.headers["Authorization"])
        let answer = state.update { state -> OAuthServer.Answer in
            state.log.append(asked)
            guard asked.path == "/oauth/token", !state.script.isEmpty else { return .usual }
            return state.script.removeFirst()
        }
        switch answer {
        case .json(let status, let body): return Self.json(status, body)
        case .html(let status):
            return HTTPResponse(
                status, headers: ["Content-Type": "text/html"], body: .bytes(Array("<html>down</html>".utf8)))
        case .cut: return HTTPResponse(200, body: .stream(length: 100, Cut()))
        case .redirect(let place): return HTTPResponse(307, headers: ["Location": place])
        case .hold(let gate):
            gate.pass()
            return usual(asked, request)
        case .usual: return usual(asked, request)
        }
    }

    private final class Cut: BodyProducer {
        func produce(into _: UnsafeMutableRawBufferPointer, at _: Int64) -> BodyStep { .abort }
    }

    private func usual(_ asked: OAuthServer.Asked, _ request: HTTPRequest) -> HTTPResponse {
        switch (asked.method, asked.path) {
        case ("POST", "/oauth/device"): device(asked)
        case ("GET", "/oauth/authorize"): authorize(request)
        case ("POST", "/oauth/token"): token(asked)
        case ("GET", "/api/whoami-v2"): whoami(asked)
        default: Self.json(404, #"{"error":"Not found"}"#)
        }
    }

    // MARK: Codes

    private func device(_ asked: OAuthServer.Asked) -> HTTPResponse {
        guard asked.form["client_id"] == options.clientID else { return Self.refusal("invalid_client") }
        let code = state.update { state in
            state.count += 1
            let code = "device-code-\(state.count)-0123456789"
            state.deviceCodes.insert(code)
            return code
        }
        var answer: JSONObject = [
            "device_code": .string(code), "user_code": "ABCD-1234",
            "verification_uri": "https://hf.co/oauth/device", "expires_in": 300,
        ]
        for (key, value) in options.device.members { answer[key] = value.isNull ? nil : value }
        return .json(.object(answer))
    }

    /// What the browser's person allows at once.
    private func authorize(_ request: HTTPRequest) -> HTTPResponse {
        guard let query = try? request.query(), query["client_id"] == options.clientID,
            query["response_type"] == "code", query["code_challenge_method"] == "S256",
            let challenge = query["code_challenge"], let redirect = query["redirect_uri"], let back = query["state"]
        else { return Self.refusal("invalid_request") }
        let code = state.update { state in
            state.count += 1
            let code = "browser-code-\(state.count)"
            state.codes[code] = (challenge, redirect)
            return code
        }
        return HTTPResponse(
            302, headers: ["Location": "\(redirect)?code=\(code)&state=\(PercentEncoding.encode(back))"])
    }

    // MARK: Tokens

    private func token(_ asked: OAuthServer.Asked) -> HTTPResponse {
        guard asked.form["client_id"] == options.clientID else { return Self.refusal("invalid_client") }
        switch asked.grantType {
        case "urn:ietf:params:oauth:grant-type:device_code":
            return state.update { state in
                guard let code = asked.form["device_code"], state.deviceCodes.contains(code) else {
                    return Self.refusal("invalid_grant", "Invalid device code")
                }
                guard state.isAllowed else {
                    return Self.refusal("authorization_pending", "Device code pending, not yet approved")
                }
                state.deviceCodes.remove(code)
                return granted(&state, refresh: nil)
            }
        case "authorization_code":
            return state.update { state in
                guard let code = asked.form["code"], let wanted = state.codes.removeValue(forKey: code),
                    asked.form["redirect_uri"] == wanted.redirect,
                    Self.challenge(asked.form["code_verifier"] ?? "") == wanted.challenge
                else { return Self.refusal("invalid_grant", "Invalid code") }
                return granted(&state, refresh: nil)
            }
        case "refresh_token":
            return state.update { state in
                guard let token = asked.form["refresh_token"], state.refreshTokens.contains(token) else {
                    return Self.refusal("invalid_grant", "Invalid refresh token")
                }
                if options.rotates { state.refreshTokens.remove(token) }
                return granted(&state, refresh: token)
            }
        default: return Self.refusal("unsupported_grant_type")
        }
    }

    private func granted(_ state: inout OAuthServer.State, refresh: String?) -> HTTPResponse {
        state.count += 1
        let pair = Self.pair(state.count)
        state.accessTokens.insert(pair.access)
        let givesAnother = options.givesRefreshToken && (refresh == nil || options.rotates)
        if givesAnother { state.refreshTokens.insert(pair.refresh) }
        let answer: JSONObject = [
            "access_token": .string(pair.access), "token_type": "bearer",
            "expires_in": options.lifetime.map { .int(Int64($0)) }, "scope": options.scope.map(JSON.string),
            "refresh_token": givesAnother ? .string(pair.refresh) : nil,
        ]
        return .json(.object(answer), headers: ["Cache-Control": "no-store"])
    }

    /// RFC 7636, section 4.6, apart from hub's own.
    private static func challenge(_ verifier: String) -> String {
        let hex = ContentHasher.digest(of: Array(verifier.utf8), like: .sha256("")).hex
        var bits = ""
        for digit in hex {
            let four = String(digit.hexDigitValue!, radix: 2)
            bits += String(repeating: "0", count: 4 - four.count) + four
        }
        bits += "00"
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        return String(
            stride(from: 0, to: bits.count, by: 6).map { at in
                let start = bits.index(bits.startIndex, offsetBy: at)
                return alphabet[Int(bits[start..<bits.index(start, offsetBy: 6)], radix: 2)!]
            })
    }

    private func whoami(_ asked: OAuthServer.Asked) -> HTTPResponse {
        let token = (asked.authorization ?? "").replacing("Bearer ", with: "")
        if let name = options.pasted[token] {
            return Self.json(
                200,
                #"{"type":"user","name":"ada","orgs":[],"auth":{"type":"access_token","accessToken":{"displayName":\#(JSON.string(name).text()),"role":"write"}}}"#
            )
        }
        guard state.update({ $0.accessTokens.contains(token) }) else {
            return Self.json(401, #"{"error":"Invalid username or password."}"#)
        }
        return Self.json(
            200, #"{"type":"user","name":"ada","fullname":"Ada L.","orgs":[],"auth":{"type":"oauth"}}"#)
    }

    private static func refusal(_ code: String, _ description: String? = nil) -> HTTPResponse {
        .json(
            .object(["error": .string(code), "error_description": description.map(JSON.string)]), status: 400)
    }

    private static func json(_ status: Int, _ body: String) -> HTTPResponse {
        HTTPResponse(
            status, headers: ["Content-Type": "application/json; charset=utf-8"], body: .bytes(Array(body.utf8)))
    }
}
