import HubCore

/// Signing in with a code that is typed on another device. https://www.rfc-editor.org/rfc/rfc8628
package struct DeviceSignIn: Sendable {
    /// What the person needs, and what hub does.
    package struct Code: Sendable {
        /// The secret that the token is asked for with.
        let deviceCode: String
        /// What the person types: `ABCD-1234`.
        package let userCode: String
        /// Where.
        package let address: String
        /// The same with the code in it, if the Hub gives one.
        package let completeAddress: String?
        /// Seconds until the code ends.
        package let expiresIn: Double
        /// Seconds between two questions.
        let interval: Double
    }

    private let client: OAuthClient
    private let now: @Sendable () -> Double
    private let sleep: @Sendable (Double) async throws -> Void

    /// - Parameters:
    ///   - now: a clock in seconds.
    ///   - sleep: waits for seconds; nil for the engine's own.
    package init(
        _ client: OAuthClient, now: @escaping @Sendable () -> Double = { Clock.seconds },
        sleep: (@Sendable (Double) async throws -> Void)? = nil
    ) {
        self.client = client
        self.now = now
        self.sleep = sleep ?? { [engine = client.engine] in try await engine.sleep($0) }
    }

    /// Asks for a code.
    package func begin() async throws -> Code {
        let json: JSON
        do { json = try await client.post(client.deviceEndpoint, []) } catch let refusal as OAuthClient.Refusal {
            throw client.error(refusal)
        }
        guard let code = json["device_code"]?.string, !code.isEmpty, let user = json["user_code"]?.string,
            !user.isEmpty, let address = json["verification_uri"]?.string, Origin(address) != nil
        else {
            throw AIError(.protocolViolation, "\(client.endpoint.origin) gives no code to sign in with")
        }
        let complete = json["verification_uri_complete"]?.string.flatMap { Origin($0) == nil ? nil : $0 }
        // Fifteen minutes and five seconds where the Hub is silent; the latter is in RFC 8628, section 3.2.
        return Code(
            deviceCode: code, userCode: user.printable, address: address.printable,
            completeAddress: complete?.printable,
            expiresIn: min(max(json["expires_in"]?.double ?? 900, 0), 86_400),
            interval: min(max(json["interval"]?.double ?? 5, 0.05), 300))
    }

    /// Asks until the person has confirmed the code, refused it, or let it expire.
    ///
    /// A gateway's error page or a broken connection is no answer: the person may be confirming meanwhile.
    ///
    /// - Throws: ``ErrorCode/unauthorized`` if it was denied, ``ErrorCode/timedOut`` if it expired.
    package func token(for code: Code) async throws -> TokenGrant {
        var interval = code.interval
        let deadline = now() + code.expiresIn
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code.deviceCode),
        ]
        while true {
            let left = deadline - now()
            if left > 0 { try await sleep(min(interval, left)) }
            guard now() < deadline else { throw AIError.codeExpired }
            do {
                return try await client.grant(form, hiding: [code.deviceCode])
            } catch let refusal as OAuthClient.Refusal {
                switch refusal.code {
                case "authorization_pending": break
                // "the interval MUST be increased by 5 seconds for this and all subsequent requests"
                case "slow_down": interval += 5
                default: throw client.error(refusal)
                }
            } catch let error as AIError where error.code != .cancelled {
                client.log("\(error.message); asking again")
            }
        }
    }
}
