import HubCore
import Support
import Testing

@testable import HubCLI

/// What commands and flags were called before still runs, and says the new name.
@Suite struct FormerNamesTests {
    @Test func everyFormerCommandIsOneThatRuns() {
        let names = CommandTable.all.flatMap(\.leaves).map(\.name)
        for (former, words) in FormerNames.commands {
            #expect(names.contains(words.joined(separator: " ")), "\(former)")
            #expect(!CommandTable.all.map(\.name).contains(former))
            let outcome = ArgumentParser.parse([former, "x", "y"])
            #expect(outcome.command?.name == words.joined(separator: " "))
            #expect(outcome.notes == ["hub \(former) is hub \(words.joined(separator: " ")) now"])
        }
    }

    @Test(arguments: [
        ("lock --check --upstream", "lock check"), ("lock org/m --update", "lock update"),
        ("lock --key", "lock key"),
        ("lock org/m", "lock write"), ("doctor --fix", "doctor fix"), ("doctor --rebuild", "doctor rebuild"),
        ("serve --mirror --port 1", "serve mirror"), ("serve --all", "serve all"), ("auth list", "auth ls"),
        ("adopt --undo", "cache unadopt"), ("budget 3GB --install", "cache budget"),
        ("budget --off", "cache budget"),
    ]) func aWordStandsForAFormerFlag(_ typed: String, _ now: String) {
        let outcome = ArgumentParser.parse(typed.split(separator: " ").map(String.init))
        #expect(outcome.fault == nil && outcome.command?.name == now && !outcome.notes.isEmpty)
    }

    @Test func partsOfAServerGoTogetherAsBefore() {
        let outcome = ArgumentParser.parse(["serve", "--mirror", "--api", "--page"])
        #expect(outcome.command?.name == "serve mirror" && outcome.arguments.operands == ["api", "page"])
    }

    @Test(arguments: ["--all --page", "--mirror --all", "--mirror --api --all --page"])
    func aPartBesideAllIsSaidTwice(_ flags: String) throws {
        let outcome = ArgumentParser.parse(["serve"] + flags.split(separator: " ").map(String.init))
        let command = try #require(outcome.command)
        #expect(outcome.fault == nil && command.name.hasPrefix("serve "))
        #expect(
            try ServeCommand.parts([command.word] + outcome.arguments.operands) == Set(ServeCommand.Part.allCases))
    }

    /// The word that the former flag stands for is the one that was missing.
    @Test(arguments: ["lock x/y --check", "lock --check x/y", "lock x/y z/w --check"])
    func aFormerFlagIsSaidOnce(_ typed: String) {
        let outcome = ArgumentParser.parse(typed.split(separator: " ").map(String.init))
        #expect(outcome.fault == nil && outcome.command?.name == "lock check")
        #expect(outcome.arguments.operands.first == "x/y")
        #expect(outcome.notes == ["--check is a word now: hub lock check"])
    }

    @Test func twoActionsAreNotOne() {
        let outcome = ArgumentParser.parse(["lock", "--check", "--update"])
        #expect(outcome.fault?.message == "hub lock check and hub lock update cannot be used together")
    }

    @Test(arguments: [
        ("gc --older-than 3d", "unused-for"), ("budget 1GB --older-than 3d", "unused-for"),
        ("search --max-size 3GB", "smaller-than"), ("embed m --file f", "texts"), ("try m --file f", "gguf"),
        ("chat m --file f", "gguf"), ("registry add a b --provider mlx", "format"),
    ]) func aFlagHasANewName(_ typed: String, _ now: String) {
        let outcome = ArgumentParser.parse(typed.split(separator: " ").map(String.init))
        #expect(outcome.fault == nil && outcome.arguments.has(now))
        #expect(outcome.notes.contains { $0.hasSuffix("is --\(now) now") })
    }

    /// Every flag of a table of former names is gone, and what stands for it is there.
    @Test func everySuccessorExists() {
        for (name, flags) in FormerNames.flags {
            let leaves = CommandTable.all.flatMap(\.leaves).filter { "\($0.name) ".hasPrefix("\(name) ") }
            for (former, successor) in flags {
                #expect(
                    !leaves.contains { $0.flag(named: former).map { !$0.isHidden } ?? false && name != "registry" })
                switch successor {
                case .flag(let now): #expect(leaves.contains { $0.flag(named: now) != nil }, "\(name) \(now)")
                case .word: break
                }
            }
        }
    }

    @Test func theNewNameIsSaidOnStandardError() async throws {
        let stage = try Stage()
        let result = try await stage.run("doctor", "--fix", "--offline", "--json")
        #expect(result.error.contains("--fix is a word now: hub doctor fix"))
        #expect(try result.document()["findings"] != nil)
    }

    /// A flag of `hub try` that another command has now works as before.
    @Test func aFormerFlagOfTryNamesItsCommand() {
        let outcome = ArgumentParser.parse(["try", "m", "--query", "q", "--texts", "f"])
        #expect(outcome.fault == nil)
        #expect(
            outcome.notes == ["--query is hub rank now", "--texts is hub embed --texts or hub rank --texts now"])
    }

    @Test(arguments: [
        ("trash --older-than 3d", "--older-than is not a flag of hub trash ls", "hub trash empty takes it"),
        ("trash restore m --yes", "--yes is not a flag of hub trash restore", "hub trash empty takes it"),
        ("chats show", "missing ID", "usage: hub chats show ID"),
        ("cache prune", "hub cache does not know \"prune\"", "did you mean: hub gc"),
        ("cache", "hub cache needs a subcommand", "it takes du, budget, mv, warm, adopt, unadopt, link, inventory"),
        ("info m --quant x", "unknown flag --quant", "the quantization stands behind the name: org/name:Q4_K_M"),
        (
            "doctor rebuild --nonsense", "unknown flag --nonsense",
            "it has no flags of its own; put -- before a value that starts with -"
        ),
        ("lock chek", "hub lock does not know \"chek\"", "did you mean: hub lock check"),
        (
            "serve --open", "--open is not a flag of hub serve hub",
            "hub serve mirror, api, page and all take it"
        ),
        ("run m", "unknown command \"run\"", "did you mean: hub chat, or hub try for a test"),
    ]) func aWrongWordIsExplained(_ typed: String, _ message: String, _ advice: String) {
        let fault = ArgumentParser.parse(typed.split(separator: " ").map(String.init)).fault
        #expect(fault?.message == message && fault?.specificAdvice == advice)
    }

    /// What is typed behind hub auth may be a token.
    @Test func aSecretIsNotRepeated() {
        let fault = ArgumentParser.parse(["auth", "hf_secret"]).fault
        #expect(fault?.message.contains("secret") == false && fault?.specificAdvice?.contains("secret") == false)
    }
}
