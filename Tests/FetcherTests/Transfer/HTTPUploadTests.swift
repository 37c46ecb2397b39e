import HubCore
import Support
import Testing

@testable import Fetcher

/// Bodies that are read while they are sent.
@Suite struct HTTPUploadTests {
    private let folder = try! TemporaryFolder("upload")

    private func read(_ upload: HTTPUpload, _ piece: Int, from start: Int64 = 0) throws -> [UInt8] {
        var out: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: piece)
        while true {
            let count = try buffer.withUnsafeMutableBytes {
                try upload.read(into: $0, at: start + Int64(out.count))
            }
            guard count > 0 else { return out }
            out += buffer[..<count]
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 100, 1000])
    func aFileInBase64BetweenBytesIsTheSameInAnyPieces(_ size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        let file = try UploadFile(try folder.write("f\(size)", bytes))
        let upload = HTTPUpload([
            .bytes(Array("{\"a\":\"".utf8)), .file(file, base64: true), .bytes(Array("\",".utf8)), .file(file),
        ])
        let whole = Array("{\"a\":\"".utf8) + Base64.encode(bytes) + Array("\",".utf8) + bytes
        #expect(upload.length == Int64(whole.count))
        for piece in [1, 2, 3, 5, 7, 64, 5000] { #expect(try read(upload, piece) == whole) }
        for start in stride(from: 0, to: whole.count, by: 13) {
            #expect(try read(upload, 17, from: Int64(start)) == Array(whole[start...]))
        }
    }

    @Test func aFileThatBecomesShorterIsAnError() throws {
        let path = try folder.write("short", [UInt8](repeating: 1, count: 100))
        let upload = HTTPUpload([.file(try UploadFile(path))])
        try FileDescriptor(path, [.write]).truncate(to: 50)
        let error = #expect(throws: AIError.self) { try read(upload, 64) }
        #expect(error?.code == .fileChanged && error?.context.path == path)
    }

    @Test func whatIsNotAFileIsRefused() throws {
        #expect(throws: AIError.self) { try UploadFile(folder.path) }
        let error = #expect(throws: AIError.self) { try UploadFile(folder("none")) }
        #expect(error?.code == .fileNotFound)
    }

    /// RFC 4648, section 10
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ])
    func base64IsThatOfTheStandard(_ text: String, _ code: String) {
        #expect(Base64.text(Array(text.utf8)) == code)
        #expect(Base64.bytes(code) == Array(text.utf8))
        #expect(Base64.length(of: Int64(text.utf8.count)) == Int64(code.utf8.count))
    }
}
