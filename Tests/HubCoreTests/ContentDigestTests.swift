import HubCore
import Support
import Testing

@Suite struct ContentDigestTests {
    /// Trap 14: `git hash-object` says the same.
    @Test(
        arguments: [
            ("", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
            ("a\nb\n", "422c2b7ab3b3c668038da977e4e93a5fc623169c"),
            ("Hello, World!", "b45ef6fec89518d314f546fd6c3025367b721684"),
            ("{\"model_type\":\"tiny\"}\n", "9ad7b74e4cba7355811a595a2e179963435b6384"),
        ] as [(String, String)])
    func aRegularFileHasGitsHash(_ text: String, _ hash: String) {
        let expected = ContentDigest.gitSHA1(hash)
        #expect(ContentHasher.digest(of: Array(text.utf8), like: expected) == expected)
    }

    /// FIPS 180-2's examples.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ] as [(String, String)])
    func anLFSFileHasItsSHA256(_ text: String, _ hash: String) {
        let expected = ContentDigest.sha256(hash)
        #expect(ContentHasher.digest(of: Array(text.utf8), like: expected) == expected)
    }

    @Test func aDigestDoesNotDependOnHowTheBytesWereFed() {
        let bytes = ModelRepository.randomBytes(100_000, seed: 3)
        for kind in [ContentDigest.sha256(""), .gitSHA1("")] {
            let whole = ContentHasher.digest(of: bytes, like: kind)
            let hasher = ContentHasher(like: kind, size: Int64(bytes.count))
            var at = 0
            for step in [0, 1, 63, 64, 65, 4096, 0, 50_000, 100_000] {
                let end = min(bytes.count, at + step)
                hasher.update(Array(bytes[at..<end]))
                at = end
            }
            #expect(hasher.count == 100_000)
            #expect(hasher.finish() == whole)
        }
    }

    @Test func aFileHasTheDigestOfItsBytesAndEachStepIsHeardOf() throws {
        let folder = try TemporaryFolder()
        let bytes = ModelRepository.randomBytes((2 << 20) + 17, seed: 4)
        let path = try folder.write("file", bytes)
        for kind in [ContentDigest.sha256(""), .gitSHA1("")] {
            var heard: [Int] = []
            let digest = try ContentHasher.digest(ofFile: path, like: kind) { heard.append($0) }
            #expect(digest == ContentHasher.digest(of: bytes, like: kind))
            #expect(heard == [Int](repeating: 256 << 10, count: 8) + [17])
        }
        let error = #expect(throws: AIError.self) {
            try ContentHasher.digest(ofFile: folder("absent"), like: .sha256(""))
        }
        #expect(error?.context.path == folder("absent"))
    }

    @Test func hashingStopsWhereItsListenerThrows() throws {
        struct Stop: Error {}
        let folder = try TemporaryFolder()
        let path = try folder.write("file", [1, 2, 3])
        #expect(throws: Stop.self) {
            try ContentHasher.digest(ofFile: path, like: .sha256("")) { _ in throw Stop() }
        }
    }

    /// Trap 12: a weak etag names the same blob.
    @Test(
        arguments: [
            ("W/\"abc\"", "abc"), ("\"abc\"", "abc"), ("Wabc", "abc"), ("\"W/abc\"", "W/abc"), ("abc", "abc"),
            ("", ""),
            ("\"\"", ""), ("W/W/\"a\"", "a"),
        ] as [(String, String)])
    func anEtagIsNormalisedAsPythonDoes(_ header: String, _ etag: String) {
        #expect(ContentDigest.normalized(etag: header) == etag)
    }

    @Test func aBlobsNameSaysWhichDigestItIs() {
        let sha256 = String(repeating: "0a", count: 32)
        let sha1 = String(repeating: "0a", count: 20)
        #expect(ContentDigest(etag: sha256) == .sha256(sha256))
        #expect(ContentDigest(etag: sha1) == .gitSHA1(sha1))
        for text in ["", "abc", sha1.uppercased(), sha1 + "0", "../" + sha1.dropFirst(3), sha1.dropLast() + "g"] {
            #expect(ContentDigest(etag: text) == nil)
        }
    }
}
