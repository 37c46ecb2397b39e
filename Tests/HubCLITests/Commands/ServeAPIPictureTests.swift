import HubCore
import HubServer
import Support
import Testing

/// Pictures by `hub serve api`: the forms of several servers, the command's vectors, and what is refused.
@Suite struct ServeAPIPictureTests {
    private struct Server {
        let stage: Stage
        let process: RunningProcess
        let address: String

        func ask(_ path: String, _ body: JSON) async throws -> HTTPReply {
            let address = address
            return try await Thread.run {
                try HTTPConnection(address).request("POST", path, headers: [:], body: Array(body.text().utf8))
            }
        }

        func answer(_ path: String, _ members: JSONObject) async throws -> JSON {
            let reply = try await ask(path, .object(members))
            #expect(reply.status == 200, "\(path): \(reply.text)")
            return try reply.json()
        }

        func stop() async throws {
            process.interrupt()
            #expect(try await process.wait().status == 0)
        }
    }

    private func start(_ parts: String...) async throws -> Server {
        let models = [
            ("org/clip", "micro/clip"), ("org/vit", "micro/vit"), ("org/bert", "micro/bert"),
            ("org/detr", "micro/detr"),
        ]
        let stage = try Stage { root in
            for (name, fixture) in models { try ModelRepository(name, in: root).copy(fixture) }
        }
        for (name, _) in models { #expect(try await stage.run("pull", name, "-q").status == 0) }
        let process = try stage.start(["serve", "api"] + parts + ["--exact"])
        let address = String(try await process.wait(forText: "export OPENAI").prefix { $0 != "\n" })
        return Server(stage: stage, process: process, address: address)
    }

    private static let bytes = try! Fixtures.bytes("pictures/444.jpg")
    private static let base64 = Base64.text(bytes)
    private static let dataURL = "data:image/jpeg;base64,\(base64)"
    private static let part = JSON.object([
        "type": "image_url", "image_url": .object(["url": .string(dataURL)]),
    ])

    @Test func everyFormGivesTheVectorsOfTheCommand() async throws {
        let server = try await start()
        let file = try Fixtures.path("pictures/444.jpg")
        let told = try await server.stage.run(
            "embed", "org/clip", "a king", "--attach", file, "--exact", "--json"
        ).document()
        let (text, picture) = (told["embeddings"]?.array?.first, told["embeddings"]?.array?.last)
        let both = try await server.answer(
            "/v1/embeddings",
            [
                "model": "org/clip",
                "input": .array(["a king", .object(["image": .string(Self.dataURL)])]),
            ])
        #expect(both["data"]?.array?.map { $0["embedding"] } == [text, picture])

        let forms: [JSONObject] = [
            ["input": .string(Self.dataURL)], ["input": .array([.object(["image": .string(Self.base64)])])],
            ["input": .array([.string(Self.base64)]), "modality": "image"],
            ["input": .array([.object(["content": .array([Self.part])])])],
            ["input": .object(["image_url": .object(["url": .string(Self.dataURL)])])],
            [
                "input": .array([
                    .object([
                        "prompt_string": "<__media__>\n", "multimodal_data": .array([.string(Self.base64)]),
                    ])
                ])
            ],
            ["messages": .array([.object(["role": "user", "content": .array([Self.part])])])],
            [
                "messages": .array([
                    .object([
                        "role": "user", "content": .array([Self.part, .object(["type": "text", "text": ""])]),
                    ])
                ])
            ],
        ]
        for form in forms {
            var body = form
            body["model"] = "org/clip"
            let found = try await server.answer("/v1/embeddings", body)
            #expect(
                found["data"]?.array?.map { $0["embedding"] } == [picture], "\(JSON.object(form).text().prefix(80))"
            )
        }

        // llama.cpp's own call, of length 1 unless it is told otherwise.
        let raw: JSONObject = [
            "model": "org/clip", "content": .array([.object(["image": .string(Self.base64)])]),
            "embd_normalize": -1,
        ]
        let own = try await server.answer("/embedding", raw)
        #expect(own.array?.first?["embedding"]?.array?.first == picture)
        var usual = raw
        usual["embd_normalize"] = nil
        let unit = try await server.answer("/embeddings", usual)
        let length = unit.array?.first?["embedding"]?.array?.first?.array?.compactMap(\.double)
            .reduce(0) { $0 + $1 * $1 }
        #expect(abs((length ?? 0) - 1) < 1e-5)
        try await server.stop()
    }

    @Test func labelsAndRankings() async throws {
        // More than the text side of CLIP takes, which has its own limit then.
        let server = try await start("--context", "256")
        let file = try Fixtures.path("pictures/444.jpg")
        let told = try await server.stage.run("classify", "org/vit", "--attach", file, "--exact", "--json")
            .document()
        let image = JSON.object(["image": .string(Self.dataURL)])
        let found = try await server.answer("/v1/classify", ["model": "org/vit", "input": .array([image])])
        let entry = try #require(found["data"]?.array?.first)
        #expect(entry["predictions"] == told["labels"] && entry["num_classes"]?.int == 3)
        #expect(entry["label"] == told["labels"]?.array?.first?["label"] && entry["prediction"] == entry["label"])
        let probs = entry["probs"]?.array?.compactMap(\.double) ?? []
        #expect(abs(probs.reduce(0, +) - 1) < 1e-9 && probs.max() == entry["score"]?.double)

        let own = try await server.stage.run(
            "classify", "org/clip", "--attach", file, "--labels", "cat,dog", "--exact", "--json"
        ).document()
        let tried = try await server.answer(
            "/classify", ["model": "org/clip", "input": image, "labels": .array(["cat", "dog"]), "top_n": 1])
        let best = own["labels"]?.array?.first
        #expect(tried["data"]?.array?.first?["predictions"] == .array([best].compactMap { $0 }))

        let objects = try await server.answer(
            "/v1/classify", ["model": "org/detr", "input": image, "threshold": 0, "top_n": 2])
        let boxes = objects["data"]?.array?.first?["objects"]?.array ?? []
        #expect(boxes.count == 2 && boxes.allSatisfy { $0["box"]?.array?.count == 4 && $0["label"] != nil })

        let ranked = try await server.answer(
            "/v1/rerank",
            [
                "model": "org/clip", "query": "a king", "return_documents": true,
                "documents": .array([
                    .object(["content": .array([Self.part])]), "a queen", .object(["text": "a ship"]), image,
                ]),
            ])
        let results = ranked["results"]?.array ?? []
        let scores = results.compactMap { $0["relevance_score"]?.double }
        #expect(Set(results.compactMap { $0["index"]?.int }) == [0, 1, 2, 3] && scores == scores.sorted(by: >))
        #expect(results.first { $0["index"]?.int == 1 }?["document"]?["text"] == "a queen")
        #expect(results.first { $0["index"]?.int == 0 }?["document"] == nil)
        let vectors = try await server.answer(
            "/v1/embeddings", ["model": "org/clip", "input": .array(["a king", image])])
        #expect(vectors["data"]?.array?.count == 2)
        // One object with a part a document, and a picture as the query.
        let parts = try await server.answer(
            "/v1/rerank",
            [
                "model": "org/clip", "query": .object(["content": .array([Self.part])]),
                "documents": .object(["content": .array([Self.part, .object(["type": "text", "text": "a king"])])]),
            ])
        #expect(parts["results"]?.array?.first?["index"]?.int == 0)
        #expect(abs((parts["results"]?.array?.first?["relevance_score"]?.double ?? 0) - 1) < 1e-5)

        let listed = try await HTTPClient.get("\(server.address)/v1/models").json()["data"]?.array ?? []
        let tasks = listed.map { [$0["id"]?.string, $0["task"]?.string] }
        #expect(tasks.contains(["org/vit", "image-classification"]))
        #expect(tasks.contains(["org/clip", "zero-shot-image-classification"]))
        let running = try await HTTPClient.get("\(server.address)/api/ps").json()["models"]?.array ?? []
        #expect(running.count == 3)
        try await server.stop()
    }

    @Test func whatCannotBeDoneIsAPlainError() async throws {
        let server = try await start()
        let image = JSON.object(["image": .string(Self.dataURL)])
        let chat = JSON.array([.object(["role": "user", "content": "Hi"])])
        let cut = Base64.text(Self.bytes.prefix(200))
        // A PNG's head that tells of a picture of 60,000 by 60,000 pixels.
        var head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        head += Array("IHDR".utf8)
        head += [0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60, 8, 2, 0, 0, 0]
        head += [0x0F, 0xB0, 0xE2, 0x15]
        // The pixels begin, and no more.
        head += [0, 0, 0, 4] + Array("IDAT".utf8) + [0, 0, 0, 0]
        let huge = Base64.text(head)
        let refused: [(String, JSONObject, String)] = [
            ("/v1/chat/completions", ["model": "org/vit", "messages": chat], "org/vit generates no text"),
            ("/v1/chat/completions", ["model": "org/clip", "messages": chat], "org/clip generates no text"),
            ("/v1/completions", ["model": "org/vit", "prompt": "a"], "org/vit generates no text"),
            ("/tokenize", ["model": "org/vit", "content": "a"], "org/vit reads pictures, and no text"),
            ("/v1/embeddings", ["model": "org/vit", "input": "a"], "org/vit reads pictures, and no text"),
            ("/api/embed", ["model": "org/vit", "input": "a"], "org/vit reads pictures, and no text"),
            ("/v1/embeddings", ["model": "org/bert", "input": image], "org/bert reads no pictures"),
            ("/v1/rerank", ["model": "org/vit", "query": "a", "documents": .array([image])], "and no text"),
            ("/v1/classify", ["model": "org/clip", "input": image], "it gives pictures no labels"),
            ("/v1/classify", ["model": "org/vit", "input": image, "labels": .array(["a"])], "it reads no texts"),
            ("/v1/classify", ["model": "org/vit", "input": image, "labels": .array([])], "'labels' must be 1 to"),
            (
                "/v1/embeddings", ["model": "org/clip", "input": .object(["image": "https://a.example/b.png"])],
                "addresses are not fetched"
            ),
            (
                "/v1/embeddings", ["model": "org/clip", "input": .object(["image": "file:///etc/passwd"])],
                "addresses are not fetched"
            ),
            (
                "/v1/embeddings", ["model": "org/clip", "input": .object(["image": "bm8gcGljdHVyZQ=="])],
                "is not a picture"
            ),
            (
                "/v1/embeddings", ["model": "org/clip", "input": .object(["image": .string(cut)])],
                "cannot read input.image"
            ),
            (
                "/v1/embeddings", ["model": "org/clip", "input": .object(["image": .string(huge)])],
                "60000 by 60000 pixels"
            ),
            (
                "/v1/embeddings",
                ["model": "org/clip", "input": .object(["image": .string(Self.dataURL), "text": "a king"])],
                "one text or one picture"
            ),
            (
                "/v1/embeddings",
                [
                    "model": "org/clip",
                    "input": .object(["prompt_string": "a", "multimodal_data": .array([.string(Self.base64)])]),
                ], "0 marks <__media__> for 1 pictures"
            ),
            ("/v1/embeddings", ["model": "org/clip", "input": image, "dimensions": 4000], "this model makes"),
            ("/v1/embeddings", ["model": "org/detr", "input": image], "it gives pictures no vectors"),
            (
                "/v1/classify", ["model": "org/vit", "input": image, "threshold": .double(0.5)],
                "models that find objects"
            ),
            (
                "/embedding", ["model": "org/clip", "content": image, "embd_normalize": 1],
                "'embd_normalize' can be 2"
            ),
            ("/v1/embeddings", ["model": "org/clip", "input": "a", "messages": .array([])], "two requests"),
        ]
        for (path, body, message) in refused {
            let reply = try await server.ask(path, .object(body))
            #expect(
                reply.status == 400 && reply.text.contains(message),
                "\(path) \(message): \(reply.status) \(reply.text)")
        }
        // None of it has broken anything.
        _ = try await server.answer("/v1/embeddings", ["model": "org/clip", "input": image])
        try await server.stop()
    }

    @Test func thePageHasAViewOfThem() async throws {
        let server = try await start("page")
        let headers: HTTPHeaders = ["Accept": "text/html"]
        let address = server.address
        let page = try await Thread.run {
            try HTTPConnection(address).request(
                "GET", "/-/pictures?model=org%2Fclip", headers: headers, body: [])
        }
        #expect(page.status == 200 && page.text.contains("data-model=\"org/clip\""), "\(page.text.prefix(300))")
        #expect(page.text.contains("pictures.js") && page.text.contains("pictures.css"))
        let model = try await Thread.run {
            try HTTPConnection(address).request("GET", "/-/models/org/vit", headers: headers, body: [])
        }
        #expect(model.text.contains("/-/pictures?model=org/vit"))
        try await server.stop()
    }
}
