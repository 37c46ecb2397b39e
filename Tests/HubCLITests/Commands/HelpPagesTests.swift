import HubCore
import Support
import Testing

@testable import HubCLI

/// The commands in the help work.
@Suite struct HelpPagesTests {
    let stage: Stage

    init() throws { stage = try Stage() }

    @Test func everyCommandAndTopicHasItsPage() async throws {
        for name in CommandTable.all.map(\.name) + HelpTopic.all.map(\.name) {
            let result = try await stage.run("help", name)
            #expect(result.status == 0 && result.error.isEmpty && !result.output.isEmpty, "\(name)")
            #expect(result.lines.allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") }, "\(name)")
            #expect(try await stage.run("help", name, "--json").document().count > 0)
        }
        for command in CommandTable.all {
            let result = try await stage.run(command.name, "--help")
            #expect(result.status == 0 && result.lines.count <= 40, "\(command.name)")
        }
    }

    /// Examples are what people copy: each of them is understood, whatever then comes of it here.
    @Test func everyExampleIsUnderstood() {
        for command in CommandTable.all {
            for example in command.examples {
                guard example.line.hasPrefix("hub "), !example.line.contains("|") else { continue }
                // Every second part stands between quotes.
                let parts = example.line.split(separator: /['"]/, omittingEmptySubsequences: false)
                var words = parts.enumerated().flatMap { index, part in
                    index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
                }
                if let end = words.firstIndex(of: ">") { words = Array(words[..<end]) }
                #expect(
                    ArgumentParser.parse(Array(words.dropFirst()), commands: CommandTable.all).fault == nil,
                    "\(example.line)")
            }
        }
    }

    /// Every type of the engine's registry, as people and as programs read it.
    @Test func theArchitecturesAreThoseOfTheEngine() async throws {
        let page = try await stage.run("help", "architectures")
        let document = try await stage.run("help", "architectures", "--json").document()
        let families = document.objects("architectures")
        let manual = try await stage.run("help", "--man").output
        for family in families {
            family.expectKeys("model_type gguf tasks formats runs")
            let name = try #require(family["model_type"]?.string)
            #expect(page.output.contains(name) && manual.contains(name.replacing("-", with: "\\-")), "\(name)")
            let runs = try #require(family["runs"]?.bool as Bool?)
            #expect(family.strings("tasks").isEmpty != runs && !family.strings("formats").isEmpty, "\(name)")
            #expect(family.strings("formats").contains("gguf") == (family["gguf"] != nil), "\(name)")
        }
        let bert = try #require(families.first { $0["model_type"]?.string == "bert" })
        #expect(bert["gguf"]?.string == "bert" && bert["runs"]?.bool == true)
        #expect(
            bert.strings("tasks").contains("feature-extraction") && bert.strings("tasks").contains("text-ranking"))
        #expect(
            page.lines.contains {
                $0.hasPrefix("bert ") && $0.contains(" vectors masks ") && $0.hasSuffix("  bert")
            })
        // What the page says of all is true of each, and it is cut nowhere.
        for family in families where family["runs"]?.bool == true {
            let formats = Set(family.strings("formats"))
            #expect(
                formats.subtracting(["gguf"]).isEmpty || formats.isSuperset(of: ["safetensors", "mlx", "pickle"]))
        }
        #expect(!page.output.contains("…"))
        #expect(families.first { $0["model_type"]?.string == "mistral" }?["gguf"]?.string == "llama")
        #expect(families.first { $0["model_type"]?.string == "llama4" }?["runs"]?.bool == false)
        #expect(document.strings("formats").starts(with: ["safetensors", "gguf", "mlx", "pickle"]))
        #expect(document.strings("quantizations").starts(with: ["none"]))
    }

    /// A variable that is read and that no page names is a secret; serve's own was one.
    @Test func everyVariableThatIsReadIsNamed() async throws {
        let page = try await stage.run("help", "environment").output
        for name in [
            "HF_HUB_CACHE", "HF_HOME", "HF_ENDPOINT", "HF_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
            "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS", "HF_HUB_DISABLE_SYMLINKS",
            "HF_HUB_DISABLE_IMPLICIT_TOKEN", "HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT",
            "HUGGING_FACE_HUB_TOKEN", "HUB_HOME", "OLLAMA_MODELS", "LLAMA_CACHE", "XDG_DATA_HOME",
            "XDG_CONFIG_HOME", "HUB_SERVE_TOKEN", "NO_COLOR",
        ] { #expect(page.contains(name), "\(name)") }
    }

    @Test func theManualPageNamesEveryCommand() async throws {
        let page = try await stage.run("help", "--man").output
        for command in CommandTable.all { #expect(page.contains(command.name)) }
    }

    @Test func aWordThatNoPageHas() async throws {
        let near = try await stage.run("help", "pul")
        #expect(
            near.status == 2 && near.error == "hub: no help on \"pul\"\n     did you mean: hub help pull\n"
        )
        #expect(
            try await stage.run("help", "rm", "gc").error == """
                hub: hub help explains one command or topic at a time
                     hub help alone lists the commands

                """)
        #expect(try await stage.run("help", "list").error.contains("did you mean: hub help ls\n"))
        for (typed, meant) in [
            ("cache budge", "cache budget"), ("trash restor", "trash restore"), ("cach budget", "cache budget"),
            ("auth list", "auth ls"), ("regsitry ad", "registry add"),
        ] {
            let result = try await stage.run(["help"] + typed.split(separator: " ").map(String.init))
            #expect(
                result.status == 2
                    && result.error == "hub: no help on \"\(typed)\"\n     did you mean: hub help \(meant)\n")
        }
        #expect(try await stage.run("help", "cache", "zzz").error.contains("hub help cache lists its subcommands"))
        let manual = try await stage.run("help", "exit-codes", "--man")
        #expect(manual.status == 2 && manual.error.contains("hub help --man has the topics"))
        let far = try await stage.run("help", "zzzzz")
        #expect(far.status == 2)
        #expect(far.error == "hub: no help on \"zzzzz\"\n     hub --help lists the commands and topics\n")
    }

    @Test func completionsOfAShellThatIsNotKnown() async throws {
        let result = try await stage.run("completions", "tcsh")
        #expect(result.status == 2)
        #expect(
            result.error
                == "hub: unknown shell \"tcsh\"\n     hub completions takes bash, zsh, fish\n")
        let document = try await stage.run("completions", "fish", "--json").document()
        #expect(document["shell"]?.string == "fish" && document["script"]?.string?.isEmpty == false)
    }
}
