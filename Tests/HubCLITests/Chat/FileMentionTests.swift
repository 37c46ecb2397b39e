import HubCore
import Support
import Testing

@testable import HubCLI

@Suite struct FileMentionTests {
    @Test func filesAreFoundByTheirMark() throws {
        let place = try TemporaryFolder("mentions")
        let (one, two) = (try place.write("one.md", [65]), try place.write("my notes.md", [66]))
        let environment = HubEnvironment(["HOME": place.path])
        func read(_ text: String) -> [String] { FileMentions.read(text, environment).files }
        #expect(read("Compare @\(one), and @\"\(two)\"!") == [one, two])
        #expect(read("(@\(one)) @\(one).") == [one] && read("@~/one.md?") == ["~/one.md"])
        #expect(read("me@\(one)").isEmpty && read("@ \(one)").isEmpty && read("@\(place.path)").isEmpty)
        let unknown = FileMentions.read("@nobody asks @no/such.md and @home", environment).unknown
        #expect(unknown == ["no/such.md"])
    }
}
