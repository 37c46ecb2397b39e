import HubCore
import Support
import Testing

@Suite struct BudgetCommandTests {
    let stage: Stage
    let mebibyte = 1 << 20

    init() throws {
        stage = try Stage { root in
            for (number, name) in ["one", "two", "three"].enumerated() {
                try ModelRepository("org/\(name)", in: root)
                    .write("model.safetensors", ForeignStores.weights(UInt64(number)))
            }
            try ModelRepository("org/large", in: root)
                .write("model.safetensors", ForeignStores.weights(9, count: 3 << 20))
        }
    }

    private func cached() async throws -> [String] {
        try await stage.run("ls", "-q", "--sort", "name").lines.sorted()
    }

    /// Pulls two models, the first of which was used longer ago.
    private func pullTwo() async throws {
        for name in ["org/one", "org/two"] { #expect(try await stage.run("pull", name).status == 0) }
    }

    @Test func theRuleIsSetShownAndEnded() async throws {
        #expect(try await stage.run("cache", "budget").output == "no budget is set\n")
        try await pullTwo()
        let set = try await stage.run("cache", "budget", "1GB", "--keep", "org/*", "--unused-for", "30d", "--json")
            .document()
        set.expectKeys("budget_bytes used_bytes plan")
        #expect(set["budget_bytes"]?.int == 1_000_000_000 && set.objects("plan").isEmpty)
        #expect(try #require(set["used_bytes"]?.int) >= 2 * mebibyte)
        let shown = try await stage.run("cache", "budget").output
        #expect(shown.contains("are used; org/* stay; only what was not used for 1mo goes"))
        #expect(try await stage.run("cache", "budget", "off").output == "no budget is set\n")
        #expect(try await stage.run("cache", "budget").output == "no budget is set\n")
        #expect(try await cached() == ["org/one", "org/two"])
    }

    @Test func aPullFreesWhatItNeedsAndNoMore() async throws {
        try await pullTwo()
        #expect(try await stage.run("cache", "budget", "2.5MB").status == 0)
        let estimate = try await stage.run("pull", "org/three", "--estimate", "--json").document()
        let plan = try #require(estimate["budget"]?.object).objects("plan")
        #expect(plan.compactMap { $0["id"]?.string } == ["org/one"])
        // What goes first makes room.
        let (free, after) = (estimate["disk_free_bytes"]?.int ?? 0, estimate["disk_after_bytes"]?.int ?? 0)
        #expect(abs(free - after) < 100_000 && estimate["fits"]?.bool == true)
        // Without a terminal and without a yes nothing goes, and nothing is fetched.
        let refused = try await stage.run("pull", "org/three")
        #expect(refused.status == 2 && refused.output.contains("for the budget of 2.5 MB"), "\(refused.error)")
        #expect(try await cached() == ["org/one", "org/two"])
        let done = try await stage.run("pull", "org/three", "--yes")
        #expect(done.status == 0, "\(done.error)")
        #expect(try await cached() == ["org/three", "org/two"])
        // What is there already needs no room.
        #expect(try await stage.run("pull", "org/three").status == 0)
    }

    /// What was used longest ago stays if the next one alone is enough.
    @Test func nothingGoesBesideWhatIsEnough() async throws {
        for name in ["org/one", "org/large"] { #expect(try await stage.run("pull", name).status == 0) }
        #expect(try await stage.run("cache", "budget", "4.5MB").status == 0)
        let plan = try await stage.run("cache", "budget", "2.5MB", "--json").document().objects("plan")
        #expect(plan.compactMap { $0["id"]?.string } == ["org/large"])
        #expect(try await stage.run("cache", "budget", "--yes").status == 0)
        #expect(try await cached() == ["org/one"])
    }

    /// Whatever pulls keeps the budget.
    @Test func aPullOfAnotherCommandFreesToo() async throws {
        try await pullTwo()
        let tiny = try ModelRepository("org/tiny", in: stage.root)
        for name in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"] {
            try tiny.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        #expect(try await stage.run("cache", "budget", "3.5MB").status == 0)
        let tried = try await stage.run("try", "org/tiny", "--yes")
        #expect(tried.status == 0, "\(tried.error)")
        #expect(try await cached() == ["org/tiny", "org/two"])
    }

    @Test func theTrashGoesFirst() async throws {
        try await pullTwo()
        #expect(try await stage.run("rm", "org/one", "--trash", "--yes").status == 0)
        #expect(try await stage.run("cache", "budget", "2.5MB").status == 0)
        #expect(try await stage.run("pull", "org/three", "--yes").status == 0)
        #expect(try await cached() == ["org/three", "org/two"])
        #expect(try await stage.run("trash").output == "the trash is empty\n")
    }

    @Test func whatCannotFitIsRefused() async throws {
        try await pullTwo()
        #expect(try await stage.run("pin", "org/one").status == 0)
        #expect(try await stage.run("cache", "budget", "2.5MB", "--keep", "org/two").status == 0)
        let result = try await stage.run("pull", "org/three", "--yes", "--json")
        #expect(result.status == 6)
        #expect(try result.errorCode() == "disk_full")
        #expect(try await cached() == ["org/one", "org/two"])
        #expect(!stage.hub.requests.contains { $0.path.contains("org/three/resolve") })
    }

    @Test func theBudgetAloneDeletesAfterAYes() async throws {
        try await pullTwo()
        #expect(try await stage.run("cache", "budget", "1.5MB").output.contains("org/one"))
        #expect(try await cached() == ["org/one", "org/two"])
        // A question about the rule is answered, whoever asks.
        let shown = try await stage.run("cache", "budget")
        #expect(shown.status == 0 && shown.output.contains("org/one"), "\(shown.error)")
        #expect(shown.error == "hub: hub cache budget --yes deletes this\n")
        #expect(shown.output.hasPrefix("2.1 MB used, ") && shown.output.contains(" over the budget of 1.5 MB\n"))
        #expect(try await stage.run("cache", "budget", "install").status == 0)
        let process = try stage.start("cache", "budget", terminal: .init(columns: 100))
        try await process.wait(forText: "Delete this for the budget? [y/N] ")
        process.write("n\n")
        let refused = try await process.wait()
        #expect(refused.status == 2 && refused.terminal.contains("nothing was deleted"))
        #expect(try await stage.run("cache", "budget", "--dry-run").status == 0)
        #expect(try await cached() == ["org/one", "org/two"])
        #expect(try await stage.run("cache", "budget", "--yes").status == 0)
        #expect(try await cached() == ["org/two"])
    }

    @Test func aDryRunSetsAndEndsNothing() async throws {
        try await pullTwo()
        let looked = try await stage.run("cache", "budget", "1.5MB", "install", "--dry-run")
        #expect(looked.status == 0 && looked.output.contains("org/one"), "\(looked.error)")
        #expect(looked.error.contains("would write ") && looked.error.hasSuffix("dry run: nothing was changed\n"))
        #expect(try await stage.run("cache", "budget").output == "no budget is set\n")
        #expect(try stage.listing(stage.machine("home")).filter { $0.contains("budget") }.isEmpty)
        #expect(try await stage.run("cache", "budget", "1GB", "install").status == 0)
        let files = try stage.listing(stage.machine("home"))
        #expect(try await stage.run("cache", "budget", "2GB", "-n").output.contains("the budget is 2.0 GB; "))
        let off = try await stage.run("cache", "budget", "off", "-n")
        #expect(off.output == "would end the budget of 1.0 GB and its timer\n")
        #expect(off.error == "hub: dry run: nothing was changed\n")
        #expect(try await stage.run("cache", "budget").output.contains("the budget is 1.0 GB; "))
        #expect(try stage.listing(stage.machine("home")) == files)
        #expect(try await cached() == ["org/one", "org/two"])
    }

    @Test func theTimer() async throws {
        #expect(try await stage.run("cache", "budget", "install").status == 2)
        let result = try await stage.run("cache", "budget", "1GB", "install")
        #expect(
            result.status == 0 && result.error.contains("hub-budget.timer") || result.error.contains("launchctl"))
        let files = try stage.listing(stage.machine("home")).filter { $0.contains("budget") }
        #expect(!files.isEmpty)
        for file in files where file.hasSuffix(".service") {
            let text = try #require(try FileSystem.text(Path.join(stage.machine("home"), file)))
            #expect(
                text.contains("cache budget --yes\n")
                    && text.contains("Environment=\"HUB_HOME=\(stage.machine("state"))\""))
        }
        let off = try await stage.run("cache", "budget", "off")
        #expect(off.status == 0 && off.error.contains("stop the timer with"))
        #expect(try stage.listing(stage.machine("home")).filter { $0.contains("hub-budget") }.isEmpty)
    }

    @Test func badWords() async throws {
        #expect(try await stage.run("cache", "budget", "200").status == 2)
        #expect(try await stage.run("cache", "budget", "--keep", "gpt2").status == 2)
        #expect(try await stage.run("cache", "budget", "1GB", "off").status == 2)
        for (words, message) in [
            (
                ["foo"],
                "\"foo\" is not a size\n     hub cache budget takes a size such as 200GB, or off, or install"
            ),
            (["of"], "\"of\" is not a size; did you mean off?"), (["12"], "\"12\" is not a size\n"),
            (["1GB", "instal"], "\"instal\" is not a size; did you mean install?"),
            (["off", "off"], "off takes no other word"), (["install", "install"], "install was given twice"),
            (["1GB", "2GB"], "a budget has one size"),
        ] {
            let result = try await stage.run(["cache", "budget"] + words)
            #expect(result.status == 2 && result.error.contains(message), "\(words): \(result.error)")
        }
    }

    /// As for hub gc: a typing error must not cost what it should protect.
    @Test func whatIsKeptMustBeThere() async throws {
        try await pullTwo()
        for keep in ["nope/nope", "nope/*"] {
            for words in [[], ["--dry-run"]] {
                let refused = try await stage.run(
                    ["cache", "budget", "1GB", "--keep", "org/one", "--keep", keep] + words)
                #expect(refused.status == 3, "\(refused.error)")
                #expect(refused.error.contains("--keep \(keep): not in the cache\n     no budget was set"))
            }
        }
        #expect(try await stage.run("cache", "budget").output == "no budget is set\n")
        #expect(try await stage.run("cache", "budget", "1GB", "--keep", "org/one").status == 0)
        // What is deleted by hand later does not spoil the rule.
        #expect(try await stage.run("rm", "org/one", "--yes").status == 0)
        #expect(try await stage.run("cache", "budget").status == 0)
    }
}
