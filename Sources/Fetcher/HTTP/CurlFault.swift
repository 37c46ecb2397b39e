import CCurl
import HubCore

/// What libcurl's result codes mean to a person. https://curl.se/libcurl/c/libcurl-errors.html
enum CurlFault {
    /// - Parameters:
    ///   - detail: libcurl's own words about this transfer; may be empty.
    ///   - errno: of the system call that failed; 0 where none did.
    static func error(_ code: CURLcode, detail: String, errno: Int32 = 0, address: String) -> AIError {
        let shown = SafeAddress.shown(address)
        let place = Origin(address)?.description ?? shown
        let text = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : SafeAddress.shown(detail)
        func fault(_ kind: ErrorCode, _ message: String, advice: String? = nil) -> AIError {
            AIError(kind, message, advice: advice, context: .init(address: shown))
        }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            return fault(.unreachable, "\(place) cannot be found: no address for its name")
        case CURLE_COULDNT_RESOLVE_PROXY:
            return fault(
                .unreachable, "the proxy cannot be found: no address for its name",
                advice: "check HTTPS_PROXY and ALL_PROXY")
        case CURLE_COULDNT_CONNECT:
            // libcurl's text names the host again, and the milliseconds it took.
            let why = errno == 0 ? String(cString: curl_easy_strerror(code)) : SystemErrno.text(errno)
            return fault(.unreachable, "\(place) cannot be reached: \(why)")
        case CURLE_OPERATION_TIMEDOUT:
            return fault(.timedOut, "\(place) did not answer in time: \(text)")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
            return fault(
                .unreachable, "the certificate of \(place) is not trusted: \(text)",
                advice:
                    "behind a proxy that opens TLS, name its certificate with SSL_CERT_FILE or REQUESTS_CA_BUNDLE")
        case CURLE_PROXY:
            return fault(.unreachable, "the proxy refuses: \(text)", advice: "check HTTPS_PROXY and ALL_PROXY")
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return fault(.protocolViolation, "\(shown) is no address that can be asked: \(text)")
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY:
            return fault(.protocolViolation, "\(place) does not speak HTTP as it should: \(text)")
        default:
            return fault(.connectionLost, "the connection to \(place) broke: \(text)")
        }
    }
}
