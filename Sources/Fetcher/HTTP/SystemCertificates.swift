import CCurl
import HubCore

/// Where this system keeps the certificate authorities that it trusts. A libcurl that the system brings has the place built
/// in; the one inside a release runs on systems that have others.
enum SystemCertificates {
    /// Debian and Arch, Fedora, SUSE, Alpine; as Go looks for them. https://go.dev/src/crypto/x509/root_linux.go
    static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    /// The file to name to libcurl; nil if what is built in serves, or no place has one.
    static let file = file(builtIn: builtIn, places: places)

    static func file(builtIn: [String], places: [String]) -> String? {
        if builtIn.contains(where: FileSystem.exists) { return nil }
        return places.first(where: FileSystem.exists)
    }

    /// The file and the folder that libcurl was built with.
    private static var builtIn: [String] {
        [hub_curl_certificate_file(), hub_curl_certificate_folder()].compactMap { $0.map { String(cString: $0) } }
    }
}
