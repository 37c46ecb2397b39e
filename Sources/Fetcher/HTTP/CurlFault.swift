import CCurl
import HubCore

/// A transfer that libcurl could not complete. https://curl.se/libcurl/c/libcurl-errors.html
struct CurlFault {
    let code: CURLcode
    /// libcurl's message about this transfer; may be empty.
    var detail = ""
    /// Of the failed system call; 0 for none.
    var errno: Int32 = 0
    /// The address of the proxy in the settings; empty if there is none.
    var proxy = ""
    /// The proxy's status for CONNECT; 0 if not used.
    var tunnel = 0
    let address: String

    var error: AIError { shortage ?? tunnelRefusal ?? proxyTLSFault ?? transferError }

    private var place: String { Origin(address)?.description ?? SafeAddress.shown(address) }
    private var proxyName: String { Self.name(ofProxy: proxy) }
    private var text: String {
        detail.isEmpty ? String(cString: curl_easy_strerror(code)) : Secrets.masked(in: detail)
    }

    private func fault(_ kind: ErrorCode, _ message: String, advice: String? = nil) -> AIError {
        AIError(kind, message, advice: advice, context: .init(address: SafeAddress.shown(address)))
    }

    /// The error if this process has no descriptors or threads left.
    private var shortage: AIError? {
        guard Self.shortageCodes.contains(code.rawValue) else { return nil }
        if let shortage = Shortage.descriptors("cannot connect to \(place)") { return shortage }
        // libcurl's message if its resolver thread cannot start.
        guard detail.contains("thread failed to start") else { return nil }
        return AIError(
            .ioError, "cannot look up \(place): no thread can be started", advice: BackgroundThread.advice)
    }

    private var tunnelRefusal: AIError? {
        if tunnel == 407 {
            return fault(
                .unreachable, "the proxy \(proxyName) asks for a name and a password (407)",
                advice: Self.proxyPassword)
        }
        guard tunnel >= 300 else { return nil }
        // The host behind the proxy may be down for a moment; a refusal is permanent.
        return fault(
            tunnel >= 500 ? .serverError : .unreachable,
            "the proxy \(proxyName) refuses to connect to \(place) (HTTP \(tunnel))", advice: Self.proxyAdvice)
    }

    /// The error if a proxy with an https address cannot be spoken to, before any tunnel through it.
    private var proxyTLSFault: AIError? {
        guard proxy.lowercased().hasPrefix("https://"), tunnel == 0 else { return nil }
        switch code {
        case CURLE_SSL_CONNECT_ERROR:
            return fault(
                .unreachable, "the proxy \(proxyName) does not answer by TLS: \(text)",
                advice: "if it speaks plain HTTP, as most do, write http://\(proxyName) in HTTPS_PROXY")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            return fault(
                .unreachable, "the certificate of the proxy \(proxyName) is not trusted: \(text)",
                advice:
                    "name its certificate with SSL_CERT_FILE; if it speaks plain HTTP, write http://\(proxyName)")
        default: return nil
        }
    }

    private var transferError: AIError {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return fault(.unreachable, "\(place) cannot be reached: its host name cannot be resolved")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return fault(
                .unreachable, "the proxy \(proxyName) cannot be reached: its host name cannot be resolved",
                advice: Self.proxyAdvice
            )
        case CURLE_COULDNT_CONNECT:
            // libcurl's text names what it tried to reach, which may be the proxy, and the milliseconds it took.
            let why = errno == 0 ? String(cString: curl_easy_strerror(code)) : SystemErrno.text(errno)
            if let host = Origin("http://" + proxyName)?.host, detail.contains(host) {
                return fault(
                    .unreachable, "the proxy \(proxyName) cannot be reached: \(why)", advice: Self.proxyAdvice)
            }
            return fault(.unreachable, "\(place) cannot be reached: \(why)")
        case CURLE_OUT_OF_MEMORY: return AIError(.insufficientMemory, "cannot connect to \(place): out of memory")
        case CURLE_OPERATION_TIMEDOUT:
            return fault(.timedOut, "\(place) did not answer in time: \(text)")
        case CURLE_SSL_CACERT_BADFILE:
            return fault(
                .invalidInput, "the certificates to trust cannot be read: \(text)",
                advice: "REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE or SSL_CERT_DIR names them, in PEM")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            return fault(
                .unreachable, "the certificate of \(place) is not trusted: \(text)",
                advice:
                    "behind a proxy that opens TLS, name its certificate with SSL_CERT_FILE or REQUESTS_CA_BUNDLE")
        case CURLE_PROXY:
            return fault(.unreachable, "the proxy \(proxyName) refuses: \(text)", advice: Self.proxyAdvice)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return fault(
                .protocolViolation, "\(SafeAddress.shown(address)) is not an address that can be asked: \(text)")
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY:
            return fault(.protocolViolation, "\(place) does not speak HTTP as it should: \(text)")
        default:
            return fault(.connectionLost, "the connection to \(place) broke: \(text)")
        }
    }

    /// Codes that can also mean that this process has no descriptors or threads left.
    private static let shortageCodes = [
        CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_FAILED_INIT,
    ].map(\.rawValue)
    static let proxyAdvice = "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY"
    static let proxyPassword = "write them before the host in HTTPS_PROXY: name:password@host:port"

    /// Host and port of a proxy, without user name and password.
    private static func name(ofProxy address: String) -> String {
        let shown = Secrets.address(address)
        let authority = shown.range(of: "://").map { shown[$0.upperBound...] } ?? shown[...]
        return String(authority.prefix { $0 != "/" }).printable
    }
}
