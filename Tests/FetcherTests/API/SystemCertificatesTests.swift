@testable import Fetcher
import Support
import Testing

struct SystemCertificatesTests {
    @Test func whatIsBuiltInComesBeforeThePlacesOfOtherSystems() throws {
        let folder = try TemporaryFolder()
        let fedora = try folder.write("ca-bundle.crt", "")
        let suse = try folder.write("ca-bundle.pem", "")
        #expect(SystemCertificates.file(builtIn: [suse], places: [fedora]) == nil)
        #expect(
            SystemCertificates.file(builtIn: [folder("absent")], places: [folder("none"), fedora, suse]) == fedora)
        #expect(SystemCertificates.file(builtIn: [], places: [folder("none")]) == nil)
    }
}
