import HubCore
import Support
import Testing

@testable import HubCLI

@Suite struct ImageCommandTests {
    private static let model = HonestRouter.painter
    private let place = try! TemporaryFolder("pictures")

    @Test func thePictureGetsItsNameWhenItIsComplete() async throws {
        let stage = try RemoteStage()
        let file = place("fox.png")
        let result = try await stage.run(
            "image", "--provider", "hf", Self.model, "a fox", "-o", file, "--size", "512x256", "--steps", "4",
            "--guidance", "2.5", "--negative", "dogs", "--seed", "7", "--json")
        #expect(result.status == 0)
        let document = try result.document()
        document.expectKeys("model provider served_by path media_type size_bytes")
        #expect(document["path"]?.string == file && document["media_type"]?.string == "image/png")
        #expect(try FileSystem.contents(file) == HonestRouter.png)
        #expect(try FileSystem.entries(place.path) == ["fox.png"])
        let sent = try #require(stage.calls.first).json
        #expect(sent["inputs"]?.string == "a fox")
        let parameters = try #require(sent["parameters"]?.object)
        #expect(parameters["width"]?.int == 512 && parameters["height"]?.int == 256 && parameters["seed"]?.int == 7)
        #expect(parameters["num_inference_steps"]?.int == 4 && parameters["guidance_scale"]?.double == 2.5)
        #expect(parameters["negative_prompt"]?.string == "dogs")
    }

    @Test func aFileThatExistsIsKeptUnlessForced() async throws {
        let stage = try RemoteStage()
        let file = try place.write("old.png", Array("old".utf8))
        let words = ["image", Self.model, "a fox", "-o", file, "--provider", "hf"]
        let kept = try await stage.stage.run(words, with: stage.variables)
        #expect(kept.status == 2 && kept.error == "hub: \(file) exists\n     --force replaces it\n")
        let asked = try await stage.answer(words, "Replace \(file)? [y/N] ", "n")
        #expect(asked.status == 2 && asked.terminal.contains("nothing was sent"))
        #expect(stage.calls.isEmpty)
        #expect(try FileSystem.contents(file) == Array("old".utf8))
        let forced = try await stage.stage.run(words + ["-f", "-q"], with: stage.variables)
        #expect(forced.status == 0 && forced.output == file + "\n")
        #expect(try FileSystem.contents(file) == HonestRouter.png)
    }

    /// A page of HTML, or a refusal, is no picture.
    @Test(arguments: [0, 1])
    func whatIsNoPictureIsNotKept(_ kind: Int) async throws {
        let stage = try RemoteStage { request in
            guard request.method == "POST" else { return nil }
            return kind == 0
                ? .html("<html><title>Busy</title></html>") : .json(#"{"error":"not safe"}"#, status: 400)
        }
        let result = try await stage.run(
            "image", Self.model, "a fox", "-o", place("fox.png"), "--json", "--provider", "hf")
        #expect(result.status == 5)
        #expect(try FileSystem.entries(place.path) == [])
    }

    @Test func aNameThatEndsOtherwiseIsWarnedOf() async throws {
        let stage = try RemoteStage()
        let result = try await stage.run(
            "image", Self.model, "a fox", "-o", place("fox.jpg"), "--provider", "hf")
        #expect(result.status == 0 && result.error.contains("holds image/png, which its name does not say"))
    }

    @Test func whatIsRefusedBeforeAnythingIsSent() async throws {
        let stage = try RemoteStage()
        let file = place("fox.png")
        for (words, status, message) in [
            (["a fox"], Int32(2), "missing -o FILE"),
            (["a fox", "-o", place.path, "--provider", "hf"], 2, "is a folder"),
            (["a fox", "-o", place("none/fox.png"), "--provider", "hf"], 6, "none/fox.png"),
            ([" ", "-o", file], 2, "the prompt is empty"),
            (["a fox", "-o", "/dev/null", "--force", "--provider", "hf"], 2, "is not a regular file"),
            (["a fox", "-o", file, "--size", "big"], 2, "write it like 1024x768"),
            (["a fox", "-o", file, "--size", "0x5"], 2, "out of bounds"),
            (["a fox", "-o", file, "--provider", "local"], 2, "do not make pictures yet"),
            (["a fox", "-o", file, "--offline"], 5, "network"),
            (["a fox", "-o", file], 2, "no provider was named"),
        ] {
            let result = try await stage.stage.run(["image", Self.model] + words, with: stage.variables)
            #expect(result.status == status && result.error.contains(message), "\(words): \(result.error)")
        }
        #expect(stage.calls.isEmpty)
        #expect(try FileSystem.entries(place.path) == [])
    }
}
