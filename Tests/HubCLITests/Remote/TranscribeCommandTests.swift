import HubCore
import HubServer
import InferenceKit
import Support
import Testing

@testable import HubCLI

@Suite struct TranscribeCommandTests {
    private static let model = HonestRouter.listener
    private static let timed =
        #"{"text":" One. Two <b>.","chunks":[{"text":" One.","timestamp":[0.0,1.5]},{"text":" Two <b>.","timestamp":[3661.25,null]}]}"#

    private let place = try! TemporaryFolder("sound")
    private func sound() throws -> String {
        try place.write("a.flac", Array("fLaC".utf8) + Array(repeating: 7, count: 100))
    }

    private func stage(_ answer: String = timed) throws -> RemoteStage {
        try RemoteStage { $0.method == "POST" ? .json(answer) : nil }
    }

    @Test func theTextAlone() async throws {
        let stage = try RemoteStage()
        let result = try await stage.run("transcribe", Self.model, sound(), "--provider", "hf")
        #expect(result.status == 0 && result.output == "104 bytes\n" && result.error.isEmpty)
        let sent = try #require(stage.calls.first)
        #expect(sent.headers["Content-Type"] == "audio/flac" && sent.bodyBytes == 104)
    }

    @Test func theDocumentOfTheContract() async throws {
        let stage = try stage()
        for words in [["--json"], ["--format", "json"], ["--format", "json", "--json"]] {
            let result = try await stage.stage.run(
                ["transcribe", "--provider", "hf", Self.model, sound()] + words, with: stage.variables)
            let document = try result.document()
            document.expectKeys("text segments")
            let segments = document.objects("segments")
            #expect(segments.count == 2 && segments[0]["end"]?.double == 1.5 && segments[1]["end"] == nil)
            #expect(segments[1]["start"]?.double == 3661.25)
        }
    }

    @Test func subtitlesInBothForms() async throws {
        let stage = try stage()
        let srt = try await stage.run("transcribe", Self.model, sound(), "--format", "srt", "--provider", "hf")
        #expect(
            srt.output == """
                1
                00:00:00,000 --> 00:00:01,500
                One.

                2
                01:01:01,250 --> 01:01:04,250
                Two <b>.


                """)
        let vtt = try await stage.run("transcribe", Self.model, sound(), "--format", "vtt", "--provider", "hf")
        #expect(
            vtt.output == """
                WEBVTT

                00:00:00.000 --> 00:00:01.500
                One.

                01:01:01.250 --> 01:01:04.250
                Two &lt;b&gt;.


                """)
    }

    @Test func subtitlesNeedTimes() async throws {
        let stage = try stage(#"{"text":"Hello"}"#)
        let result = try await stage.run("transcribe", Self.model, sound(), "--format", "srt", "--provider", "hf")
        #expect(result.status == 5 && result.output.isEmpty && result.error.contains("gives no times"))
    }

    @Test func whatIsRefusedBeforeAnythingIsSent() async throws {
        let stage = try stage()
        let sound = try sound()
        for (words, status, message) in [
            ([Self.model, place("none.mp3")], Int32(3), "does not exist"),
            ([Self.model, place.path], 2, "is a folder"),
            ([Self.model, sound, "--provider", "local"], 2, "do not write down speech yet"),
            ([Self.model, sound, "--format", "srt", "--json"], 2, "cannot be used together"),
            ([Self.model, sound, "--format", "doc"], 2, "invalid value"), ([Self.model], 2, "missing FILE"),
            ([Self.model, sound, "--offline"], 5, "network"),
            ([Self.model, sound], 2, "no provider was named"),
        ] {
            let result = try await stage.stage.run(["transcribe"] + words, with: stage.variables)
            #expect(result.status == status, "\(words)")
            #expect((result.error + result.output).contains(message), "\(result.error)")
        }
        #expect(stage.calls.isEmpty)
    }

    @Test func timesOfAModelMayBeAnything() throws {
        let odd = Transcription(
            text: "x",
            segments: [
                .init(start: -1, end: .nan, text: "a\n\n b \n"), .init(start: .infinity, end: 2, text: "b"),
                .init(start: 5, end: 1, text: "c"),
            ])
        let lines = try Subtitles(odd, at: "hf").srt.split(separator: "\n").map(String.init)
        #expect(lines[1] == "00:00:00,000 --> 00:00:00,000" && Array(lines[2...3]) == ["a", "b"])
        #expect(lines.contains("00:00:05,000 --> 00:00:05,000"))
    }
}
