import CCrypto
import CCurl
import CMicroHTTPD
import CNCurses
import CPCRE2
import CSQLite

/// Versions of `hub` and of what it is made of. Asking opens nothing.
enum Version {
    /// The version of this source; the change log says what is in it.
    static let number = "0.1.0"

    /// The compiler's version, as far as the source can tell.
    static let swift: String = {
        #if compiler(>=6.4)
        "6.4 or later"
        #elseif compiler(>=6.3)
        "6.3"
        #elseif compiler(>=6.2)
        "6.2"
        #else
        "6.1"
        #endif
    }()

    /// The C libraries in use at this moment, which are those of the system, or inside a release.
    static var libraries: [(name: String, version: String)] {
        [
            ("libcurl", curlVersion),
            ("openssl", openSSLVersion),
            ("sqlite", String(cString: sqlite3_libversion())),
            ("libmicrohttpd", String(cString: MHD_get_version())),
            ("pcre2", pcreVersion),
            ("ncurses", cursesVersion),
        ]
    }

    private static var curlVersion: String {
        // "libcurl/7.88.1 OpenSSL/3.0 ...": the first word's number.
        let words = String(cString: curl_version()).split(separator: " ")
        return words.first.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "unknown"
    }

    private static var openSSLVersion: String {
        let words = String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ")
        return words.count > 1 ? String(words[1]) : "unknown"
    }

    private static var cursesVersion: String {
        // "ncurses 6.4.20221231": without the date of the patch.
        let words = String(cString: curses_version()).split(separator: " ")
        return words.last.map { $0.split(separator: ".").prefix(2).joined(separator: ".") } ?? "unknown"
    }

    private static var pcreVersion: String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let length = bytes.withUnsafeMutableBytes { pcre2_config_8(UInt32(PCRE2_CONFIG_VERSION), $0.baseAddress) }
        guard length > 1 else { return "unknown" }
        let text = String(decoding: bytes.prefix(Int(length) - 1), as: UTF8.self)
        return text.split(separator: " ").first.map(String.init) ?? "unknown"
    }
}
