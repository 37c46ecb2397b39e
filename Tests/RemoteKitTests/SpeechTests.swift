import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// Trap 21: sound to text, and what is sent of a file.
@Suite struct SpeechTests {
    private let folder = try! TemporaryFolder("sound")
    private static let flac = Array("fLaC".utf8) + (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func place(_ provider: String, _ answer: String) throws -> RemotePlace {
        try RemotePlace { request in
            request.path.hasPrefix("/api/")
                ? .json(
                    #"{"id":"org/s","inferenceProviderMapping":{"\#(provider)":{"status":"live","providerId":"p/s","task":"automatic-speech-recognition"}}}"#
                ) : .json(answer)
        }
    }

    private func sent(
        _ provider: String, _ options: TranscriptionOptions = TranscriptionOptions(), file: String = "a.flac",
        bytes: [UInt8] = flac, answer: String = #"{"text":"Hello"}"#
    ) async throws -> (InferenceStandIn.Request, Transcription) {
        let place = try place(provider, answer)
        let path = try folder.write(file, bytes)
        let text = try await place.hub("org/s").transcribe(file: path, options: options)
        return (try #require(place.server.requests.last), text)
    }

    @Test func aFileGoesAsItIsWithItsType() async throws {
        let (request, text) = try await sent("hf-inference")
        #expect(request.path == "/hf-inference/models/p/s" && request.body == Self.flac && text.text == "Hello")
        #expect(request.header("Content-Type") == "audio/flac")
    }

    @Test(
        arguments: [
            ("a.mp3", [0xFF, 0xFB, 0x90], "audio/mpeg"), ("a.bin", Array("ID3x".utf8), "audio/mpeg"),
            ("a.wav", Array("RIFF0000WAVE".utf8), "audio/wav"), ("x", Array("OggS".utf8), "audio/ogg"),
            ("a.M4A", [1, 2, 3, 4], "audio/mp4"), ("a.webm", [0x1A, 0x45, 0xDF, 0xA3], "audio/webm"),
        ] as [(String, [UInt8], String)])
    func theTypeIsThatOfTheBytesOrTheName(_ name: String, _ bytes: [UInt8], _ type: String) async throws {
        let (request, _) = try await sent("hf-inference", file: name, bytes: bytes)
        #expect(request.header("Content-Type") == type)
    }

    @Test func parametersNeedBase64() async throws {
        let options = TranscriptionOptions(
            timestamps: true, language: "de", parameters: ["generation_parameters": .object(["num_beams": 2])])
        let (request, text) = try await sent(
            "hf-inference", options,
            answer:
                #"{"text":"A b","chunks":[{"text":"A","timestamp":[0.0,1.5]},{"text":" b","timestamp":[1.5,null]}]}"#
        )
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.json["inputs"]?.string.flatMap { Base64.bytes($0) } == Self.flac)
        let parameters = request.json["parameters"]
        #expect(parameters?["return_timestamps"]?.bool == true)
        #expect(parameters?["generation_parameters"] == .object(["num_beams": 2, "language": "de"]))
        #expect(text.segments == [.init(start: 0, end: 1.5, text: "A"), .init(start: 1.5, end: nil, text: " b")])
    }

    @Test func falGetsOneOfItsThreeLabels() async throws {
        let (request, text) = try await sent(
            "fal-ai", TranscriptionOptions(language: "en"), file: "a.mp3", bytes: [0xFF, 0xFB],
            answer: #"{"output":{"text":"Hello","chunks":[{"text":"Hello","timestamp":[0,1]}]}}"#)
        #expect(request.path == "/fal-ai/p/s" && request.json["audio_url"]?.string == "data:audio/mpeg;base64,//s=")
        #expect(request.json["language"]?.string == "en" && text.segments.count == 1)
        let error = await fault { try await sent("fal-ai") }
        #expect(error?.code == .invalidInput && error?.message.contains("audio/flac") == true)
    }

    @Test(arguments: [
        #""Hello""#, #"["Hel","lo"]"#,
        #"{"transcription":"Hello","segments":[{"text":"Hello","start":0.5,"end":1}]}"#,
    ])
    func replicatesOutputIsReadInEveryShape(_ output: String) async throws {
        let (request, text) = try await sent("replicate", answer: #"{"status":"succeeded","output":\#(output)}"#)
        #expect(request.path == "/replicate/v1/models/p/s/predictions" && request.header("Prefer") == "wait=30")
        #expect(request.json["input"]?["audio"]?.string?.hasPrefix("data:audio/flac;base64,") == true)
        #expect(text.text == "Hello")
    }

    @Test func aFormHoldsTheFileAndItsName() async throws {
        let (request, text) = try await sent(
            "deepinfra", TranscriptionOptions(timestamps: true, language: "en"),
            answer: #"{"text":"Hello","segments":[{"text":"Hello","start":0,"end":1.25}]}"#)
        #expect(request.path == "/deepinfra/v1/openai/audio/transcriptions")
        let type = try #require(request.header("Content-Type"))
        let boundary = try #require(type.dropping(prefix: "multipart/form-data; boundary="))
        let body = request.body
        #expect(body.firstRange(of: Self.flac) != nil)
        let text0 = String(decoding: body, as: UTF8.self)
        #expect(text0.contains("name=\"model\"\r\n\r\np/s\r\n--\(boundary)\r\n"))
        #expect(text0.contains("filename=\"audio.flac\"\r\nContent-Type: audio/flac\r\n\r\nfLaC"))
        #expect(
            text0.contains("name=\"response_format\"\r\n\r\nverbose_json")
                && text0.hasSuffix("\r\n--\(boundary)--\r\n"))
        #expect(text.segments == [.init(start: 0, end: 1.25, text: "Hello")])
    }

    @Test func openAIsProtocolIsTheSameForm() async throws {
        let place = try RemotePlace { HonestRouter().answer($0) }
        let path = try folder.write("a.flac", Self.flac)
        #expect(try await place.compatible("/v1?k=1").transcribe(file: path).text == "heard")
        #expect(place.server.requests[0].target == "/v1/audio/transcriptions?k=1")
    }

    @Test func whatIsNoSoundFileIsRefusedUnsent() async throws {
        let place = try place("hf-inference", "{}")
        let provider = try place.hub("org/s:hf-inference")
        #expect(await fault { try await provider.transcribe(file: folder("none.wav")) }?.code == .fileNotFound)
        #expect(await fault { try await provider.transcribe(file: folder.path) }?.code == .invalidInput)
        let empty = try folder.write("empty.wav", [])
        #expect(await fault { try await provider.transcribe(file: empty) }?.code == .invalidInput)
        let text = try folder.write("notes.txt", "hello")
        #expect(await fault { try await provider.transcribe(file: text) }?.code == .invalidInput)
        #expect(place.server.requests.isEmpty)
    }

    @Test(arguments: ["{}", "[]", #"{"text":7}"#, #"{"output":[]}"#])
    func anAnswerWithoutATextIsAnError(_ answer: String) async throws {
        let error = await fault { try await sent("hf-inference", answer: answer) }
        #expect(error?.code == .protocolViolation && error?.message.contains("no text") == true)
    }

    /// A sparse file of one gigabyte, as it is and in base64: it must not be in memory. In a process of its own, for its
    /// peak is all that the system tells.
    @Test func aGigabyteIsSentInALittleMemory() async throws {
        await #expect(processExitsWith: .success) {
            let size: Int64 = 1 << 30
            let folder = try TemporaryFolder("sound")
            let path = try folder.write("large.wav", "RIFF0000WAVE")
            try FileDescriptor(path, [.write]).truncate(to: size)
            let place = try RemotePlace { _ in .json(#"{"text":"done"}"#) }
            let provider = try place.hub("org/s:hf-inference")
            // What is loaded once is loaded before.
            _ = try await provider.transcribe(file: try folder.write("small.wav", "RIFF0000WAVE"))
            for options in [TranscriptionOptions(), TranscriptionOptions(timestamps: true)] {
                let before = Machine.peakResidentBytes
                #expect(try await provider.transcribe(file: path, options: options).text == "done")
                let growth = Machine.peakResidentBytes - before
                let request = try #require(place.server.requests.last)
                #expect(request.bodyBytes >= (options.timestamps ? size / 3 * 4 : size))
                // The stand-in itself keeps eight megabytes of a body, and the address sanitizer 256 of what was freed.
                let most: Int64 = Sanitizer.options.isEmpty ? 64 << 20 : 512 << 20
                #expect(growth < most, "grew by \(ByteCount(growth))")
            }
        }
    }
}
