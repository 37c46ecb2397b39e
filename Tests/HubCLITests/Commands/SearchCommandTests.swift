import HubCore
import Support
import Testing

@Suite struct SearchCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let first = try ModelRepository("org/first", in: root)
            try first.write("config.json", "{}")
            try first.card([
                "downloads": 12345, "likes": 7, "pipeline_tag": "text-generation", "library_name": "transformers",
                "tags": .array(["license:mit", "tiny"]), "lastModified": "2026-01-02T03:04:05.000Z",
                "createdAt": "2025-01-02T03:04:05.000Z",
            ])
            let second = try ModelRepository("org/second", in: root)
            try second.write("config.json", "{}")
            try second.card([
                "downloads": 5, "likes": 9, "gated": "manual", "lastModified": "2026-02-02T00:00:00.000Z",
            ])
        }
    }

    @Test func aTaskThatNobodyKnowsIsRefused() async throws {
        for (task, near) in [
            ("text-gen", "; did you mean text-generation?"), ("sumarization", "; did you mean summarization?"),
            ("zzz", ""),
        ] {
            let result = try await stage.run("search", "--task", task)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.error.hasPrefix("hub: unknown task \"\(task)\"\(near)\n"), "\(result.error)")
            #expect(try await stage.run("search", "task:\(task)", "--json").errorCode() == "invalid_input")
        }
        let known = try await stage.run("search", "--task", "text-ranking")
        #expect(known.status == 0 && known.error == "hub: no model was found\n")
    }

    /// The Hub has new tasks sooner than the program.
    @Test func aTaskOfTheHubOrTheCatalogIsKnown() async throws {
        let stage = try Stage { root in
            try ModelRepository("org/new", in: root).card(["pipeline_tag": "time-travel"])
        }
        #expect(try await stage.run("search", "--task", "time-travel", "-q").output == "org/new\n")
        for flags in [[], ["--offline"]] {
            let none = try await stage.run(["search", "--task", "time-travel", "--author", "nobody"] + flags)
            #expect(none.status == 0 && none.output.isEmpty, "\(none.error)")
        }
    }

    @Test func theTableHasNoPaddingAtItsEndAndNoMarkWithoutACache() async throws {
        let result = try await stage.run("search")
        #expect(result.status == 0 && result.error.isEmpty)
        let words = result.lines.map { $0.split(separator: " ").map(String.init) }
        #expect(words.count == 3)
        #expect(words[0] == ["MODEL", "SIZE", "TASK", "DOWNLOADS", "LIKES", "UPDATED", "LICENSE"])
        #expect(words[1].contains("12.3k") && words[1].first == "org/first" && words[1].last == "mit", "\(words)")
        #expect(words[2].starts(with: ["org/second", "<=", "2", "B", "5", "9"]), "\(words)")
        #expect(result.lines.allSatisfy { !$0.hasSuffix(" ") })
    }

    @Test func quietPrintsIdsAlone() async throws {
        #expect(try await stage.run("search", "-q").output == "org/first\norg/second\n")
        #expect(try await stage.run("search", "-q", "--sort", "likes").output == "org/second\norg/first\n")
        #expect(try await stage.run("search", "-q", "--limit", "1").output == "org/first\n")
        #expect(try await stage.run("search", "-q", "second").output == "org/second\n")
    }

    @Test func filtersNarrowTheAnswer() async throws {
        #expect(try await stage.run("search", "-q", "--task", "text-generation").output == "org/first\n")
        #expect(try await stage.run("search", "-q", "--gated").output == "org/second\n")
        #expect(try await stage.run("search", "-q", "--ungated").output == "org/first\n")
        #expect(try await stage.run("search", "-q", "--author", "nobody").output == "")
        #expect(try await stage.run("search", "-q", "--tag", "tiny", "--tag", "none").output == "")
        let both = try await stage.run("search", "--gated", "--ungated")
        #expect(both.status == 2 && both.error == "hub: --gated and --ungated cannot be used together\n")
    }

    @Test func theDocumentKeepsToTheContract() async throws {
        let document = try await stage.run("search", "--json").document()
        document.expectKeys("models elapsed_seconds")
        let models = document.objects("models")
        #expect(models.map { $0["id"]?.string } == ["org/first", "org/second"])
        for model in models {
            model.expectKeys(
                """
                id author task library license downloads likes parameters size_bytes updated_at gated tags cached \
                source curated weights_bytes parameters_from runs
                """)
        }
        #expect(models[0]["updated_at"]?.string == "2026-01-02T03:04:05Z" && models[0]["author"]?.string == "org")
        #expect(models[0]["downloads"]?.int == 12345 && models[0]["license"]?.string == "mit")
        #expect(models[0]["gated"]?.bool == false && models[1]["gated"]?.string == "manual")
        #expect(models[0]["cached"]?.bool == false && models[0]["source"]?.string == "hub")
    }

    @Test func noMatchIsNoFailure() async throws {
        let result = try await stage.run("search", "zzz")
        #expect(result.status == 0 && result.output.isEmpty)
        #expect(result.error == "hub: no model matches \"zzz\"\n")
        #expect(try await stage.run("search", "zzz", "--json").document().objects("models").isEmpty)
    }

    @Test func whatIsCachedCarriesAMark() async throws {
        #expect(try await stage.run("pull", "org/first").status == 0)
        let lines = try await stage.run("search").lines
        #expect(lines[1].hasPrefix("●  org/first ") && lines[2].hasPrefix("   org/second "))
        let plain = try await stage.run("search", with: ["LC_ALL": "C"]).lines
        #expect(plain[1].hasPrefix("*  org/first "))
        #expect(try await stage.run("search", "--cached", "-q").output == "org/first\n")
    }

    @Test func offlineTheCatalogAnswers() async throws {
        #expect(try await stage.run("search").status == 0)
        let seen = stage.hub.requests.count
        let result = try await stage.run("search", "first", "--offline", "--json")
        #expect(result.status == 0)
        #expect(try result.document().objects("models").map { $0["source"]?.string } == ["catalog"])
        #expect(stage.hub.requests.count == seen)
    }

    @Test func anUnreachableHubIsExit5AndTheCatalogStillShows() async throws {
        #expect(try await stage.run("search").status == 0)
        let away = Stage.away
        let result = try await stage.run("search", "first", with: away)
        #expect(result.status == 5 && result.lines.count == 2 && result.output.contains("org/first"))
        #expect(result.error.contains("cannot be reached"))
        #expect(result.error.hasSuffix("hub: these models are from the catalog on this machine\n"))
        let document = try await stage.run("search", "first", "--json", with: away)
        #expect(try document.errorCode() == "unreachable")
        #expect(try document.document().objects("models").count == 1)
    }

    /// "no model matches" would say that the Hub knows none.
    @Test func withoutTheHubNoMatchIsSaidOfTheCatalogOnly() async throws {
        let result = try await stage.run("search", "zzz", with: Stage.away)
        #expect(result.status == 5 && result.output.isEmpty)
        #expect(result.error.contains("hub: no model in the catalog on this machine matches \"zzz\"\n"))
    }
}
