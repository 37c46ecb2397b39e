import HubChatTemplates
import HubCore
import HubTokenizers
import ModelFormats
import Support
import Testing

@testable import InferenceKit

@Suite struct LanguageModelTests {
    private func open(_ options: ModelOptions = ModelOptions()) async throws -> LanguageModel {
        try await LanguageModel.open(folder: Fixtures.path("tiny-shakespeare"), options: options)
    }

    private let sampled = GenerateConfig(maxTokens: 40, temperature: 0.9, topP: 0.95, seed: 42)

    @Test func theSameSeedMakesTheSameText() async throws {
        let one = try await open(ModelOptions(threads: 1))
        let three = try await open(ModelOptions(threads: 3))
        let first = try await one.generate(prompt: "ROMEO:", config: sampled).collectWithMetadata()
        let again = try await three.generate(prompt: "ROMEO:", config: sampled).collectWithMetadata()
        let other = try await one.generate(prompt: "ROMEO:", config: sampled.seed(43)).collectWithMetadata()
        #expect(first.ids == again.ids && first.seed == 42)
        #expect(first.ids != other.ids)
    }

    @Test func aSeedChosenAtRandomIsTold() async throws {
        let model = try await open()
        let stream = model.generate(prompt: "ROMEO:", config: sampled.seed(nil))
        let first = try await stream.collectWithMetadata()
        #expect(try await stream.collectWithMetadata().ids == first.ids)
        #expect(
            try await model.generate(prompt: "ROMEO:", config: sampled.seed(first.seed)).collect() == first.text)
    }

    @Test func chunksJoinedAreTheText() async throws {
        let model = try await open()
        var chunks: [GenerationChunk] = []
        let config = sampled.topLogprobs(3)
        for try await chunk in model.generate(prompt: "JULIET:", config: config) { chunks.append(chunk) }
        let last = try #require(chunks.last)
        let result = try #require(last.result)
        #expect(chunks.count == 41 && chunks.filter(\.isComplete).count == 1)
        #expect(chunks.map(\.text).joined() == result.text)
        #expect(chunks.compactMap(\.tokenId) == result.ids)
        #expect(chunks.reduce(0) { $0 + $1.tokenCount } == 40)
        #expect(result.text == model.tokenizer.decode(result.ids, skipSpecialTokens: true))
        #expect(result.loadSeconds > 0 && result.peakMemoryBytes > 1 << 20)
        #expect((result.ttftSeconds ?? 0) > 0 && result.tokensPerSecond > 0 && result.promptTokensPerSecond > 0)
        for chunk in chunks.dropLast() {
            #expect(chunk.topLogprobs.count == 3)
            #expect(chunk.topLogprobs.map(\.logprob) == chunk.topLogprobs.map(\.logprob).sorted(by: >))
            let logprob = try #require(chunk.logprob)
            #expect(logprob < 0 && logprob <= chunk.topLogprobs[0].logprob)
        }
        #expect(try await model.generate(prompt: "JULIET:", config: sampled).text.reduce("", +) == result.text)
        #expect(try await model.generate(prompt: "JULIET:", config: sampled).timeToFirstToken() > .zero)
    }

    @Test func aStopSequenceEndsTheText() async throws {
        let model = try await open()
        let whole = try await model.generate(prompt: "ROMEO:\nBut, soft!", config: .precise.maxTokens(64)).collect()
        // A stop in the middle of the text that greedy decoding makes, across a token's end.
        let words = whole.split(separator: " ", omittingEmptySubsequences: false)
        let stop = "\(words[4]) \(words[5])"
        var shown = ""
        var reason: FinishReason?
        let config = GenerateConfig.precise.maxTokens(64).stopSequences([stop, "never there"])
        for try await chunk in model.generate(prompt: "ROMEO:\nBut, soft!", config: config) {
            shown += chunk.text
            reason = chunk.finishReason ?? reason
        }
        #expect(reason == .stopSequence)
        #expect(!shown.contains(stop) && whole.hasPrefix(shown + stop))
    }

    @Test func leavingTheLoopEndsTheWork() async throws {
        // What cancelling a job does to the work is the next test's matter.
        let job = GenerationJob()
        let stream = GenerationStream { job }
        job.send(
            GenerationChunk(
                text: "a", tokenCount: 1, tokenId: 1, logprob: nil, topLogprobs: [], tokensPerSecond: 0,
                finishReason: nil, timestamp: .now, result: nil))
        for try await chunk in stream {
            #expect(!job.isCancelled && chunk.text == "a")
            break
        }
        #expect(job.isCancelled)
    }

    /// Cancelled on the thread that generates, with its third token: nothing depends on how fast anybody reads.
    @Test func aCancelledJobGivesWhatThereWas() async throws {
        let reading = try FolderReading(Fixtures.path("tiny-shakespeare"))
        let model = try LoadedModel(reading, options: ModelOptions())
        let sent = Lock(0)
        let job = GenerationJob { job, chunk in
            let count = sent.withLock { sent in
                sent += chunk.tokenCount
                return sent
            }
            if count == 3 { job.cancel() }
        }
        model.scheduler.add(
            try GenerationRun(
                model: model, prompt: "a", config: .precise.maxTokens(500).ignoresEndOfSequence(true), seed: 0,
                job: job))
        var last: GenerationResult?
        var tokens = 0
        while let chunk = try await job.next() {
            tokens += chunk.tokenCount
            last = chunk.result
        }
        #expect(last?.finishReason == .cancelled && last?.ids.count == 3 && tokens == 3)
    }

    @Test func cancellingTheTaskCancelsTheJob() async throws {
        let job = GenerationJob()
        let task = Task { try await job.next() == nil }
        task.cancel()
        while !job.isCancelled { await Task.yield() }
        job.end(.success(()))
        #expect(try await task.value)
    }

    @Test func cancelledBeforeItBeganIsCancelled() async throws {
        let model = try LoadedModel(FolderReading(Fixtures.path("tiny-shakespeare")), options: ModelOptions())
        let job = GenerationJob()
        job.cancel()
        model.scheduler.add(
            try GenerationRun(model: model, prompt: "a", config: .precise.maxTokens(500), seed: 0, job: job))
        var last: GenerationResult?
        while let chunk = try await job.next() { last = chunk.result }
        #expect(last?.finishReason == .cancelled && last?.text == "")
        let opened = try await open()
        let logits = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await opened.logits(prompt: "a")
        }
        #expect(try await thrown { try await logits.value }.code == .cancelled)
    }

    @Test func theContextEndsTheText() async throws {
        let model = try await open(ModelOptions(context: 20))
        #expect(model.context == 20)
        let result = try await model.generate(prompt: "But", config: .precise.maxTokens(500)).collectWithMetadata()
        #expect(result.finishReason == .length)
        // The last token needs no position: it is never fed.
        #expect(result.promptIDs.count + result.ids.count == 21)
        let long = String(repeating: "word ", count: 30)
        let error = try await thrown { try await model.generate(prompt: long).collect() }
        #expect(error.code == .contextFull && error.message.contains("20"))
    }

    @Test func anEndTokenStopsUnlessItIsIgnored() async throws {
        // Greedy decoding meets this token soon, so it is made the end token.
        let text = try await open().generate(prompt: "ROMEO:", config: .precise.maxTokens(12)).collectWithMetadata()
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["generation_config.json"])
        try folder.write(
            "generation_config.json", .object(["eos_token_id": .array([.int(Int64(text.ids[8])), 1])]))
        let model = try await LanguageModel.open(folder: folder.path)
        let stopped = try await model.generate(prompt: "ROMEO:", config: .precise).collectWithMetadata()
        let end = try #require(text.ids.firstIndex(of: text.ids[8]))
        #expect(stopped.finishReason == .stop && stopped.ids == Array(text.ids[...end]))
        #expect(stopped.text == model.tokenizer.decode(Array(text.ids[..<end])))
        let on = GenerateConfig.precise.maxTokens(12).ignoresEndOfSequence(true)
        #expect(try await model.generate(prompt: "ROMEO:", config: on).collectWithMetadata().ids == text.ids)
    }

    /// A GGUF file may name the token that ends a turn beside the one that ends a text, and a tokenizer one that the
    /// model's settings do not.
    @Test(arguments: ["tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id", nil])
    func everyTokenThatEndsATurnStops(key: String?) async throws {
        let folder = try TemporaryFolder(
            linking: "tiny-shakespeare",
            except: key == nil ? ["tokenizer_config.json", "special_tokens_map.json"] : [])
        var path = folder.path
        if let key {
            let file = try Fixtures.bytes("tiny-shakespeare-gguf/model-q4_0.gguf")
            try folder.write("ends.gguf", GGUFBytes.adding(key, 2, to: file))
            path = folder("ends.gguf")
        } else {
            try folder.write("tokenizer_config.json", .object(["eos_token": .object(["content": "<|user|>"])]))
        }
        let model = try await LanguageModel.open(folder: path)
        for id in [1, 2] {
            var config = GenerateConfig.precise.maxTokens(8)
            config.logitBias = [id: 100]
            let result = try await model.generate(prompt: "To be", config: config).collectWithMetadata()
            #expect(result.finishReason == .stop && result.ids == [id] && result.text.isEmpty)
        }
    }

    @Test func errorsOfTheConfigurationComeWithTheFirstChunk() async throws {
        let model = try await open()
        #expect(
            try await thrown { try await model.generate(prompt: "a", config: .default.topK(0)).collect() }.code
                == .invalidInput)
        #expect(try await thrown { try await model.perplexity(of: "") }.code == .invalidInput)
    }

    @Test func optionsOutOfRangeAreRefused() async throws {
        for options in [ModelOptions(threads: 0), .init(threads: 5000), .init(context: 0), .init(context: 513)] {
            #expect(try await thrown { try await open(options) }.code == .invalidInput)
        }
    }

    // MARK: Conversations

    private let conversation: [Message] = [
        .system("You are a player at the Globe."), .user("  Who goes there?\n"), .assistant("A friend, my lord."),
    ]

    @Test func aConversationGoesThroughTheModelsTemplate() async throws {
        let golden = try Fixtures.json("goldens/chat-tiny-shakespeare.json")
        let model = try await open()
        let prompt = try await model.prompt(for: conversation)
        #expect(prompt == golden["rendered_with_generation_prompt"]?.string)
        let config = GenerateConfig.precise.maxTokens(8)
        let said = try await model.generate(messages: conversation, config: config).collect()
        let raw = model.generate(prompt: prompt, addsSpecialTokens: false, config: config)
        #expect(try await raw.collect() == said)
    }

    /// What is wrong with the template comes where everything else does.
    @Test func aModelWithoutATemplateSaysSoInTheStream() async throws {
        let folder = try TemporaryFolder(linking: "micro/llama", except: ["tokenizer_config.json"])
        let model = try await LanguageModel.open(folder: folder.path)
        let error = await #expect(throws: AIError.self) { try await model.prompt(for: conversation) }
        #expect(error?.code == .unsupportedModel)
        let stream = model.generate(messages: conversation)
        let told = await #expect(throws: AIError.self) { try await stream.collect() }
        #expect(told?.code == .unsupportedModel)
    }
}
