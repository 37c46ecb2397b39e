import Fetcher
import HubCore
import InferenceKit

/// What the model is for, and the commands that use it.
extension ModelPage {
    /// What the engine does with it: by what is on this machine, else by what the Hub says of it.
    func use(_ info: JSONObject, _ reference: ModelReference) async -> ModelUse? {
        guard isModel else { return nil }
        let said = info["task"]?.string
        let own = await Blocking.run { [workspace = place.workspace] () -> ModelUse? in
            guard let (folder, commit) = try? workspace.snapshot(of: reference) else { return nil }
            return ModelUse(in: folder.snapshot(commit))
        }
        // A classifier with one label ranks.
        if let own {
            return own.task == .classification && said == ModelTask.ranking.rawValue ? ModelUse(.ranking) : own
        }
        let known = said.flatMap(ModelUse.init(ofHub:))
        // It is known only of what writes text.
        return info["runs"]?["tokens_per_second"] != nil && known?.task != .textGeneration
            ? ModelUse(.textGeneration, chats: true) : known
    }

    /// What could be used where hub does not run it, each a clause that may end in a command.
    func alternatives(_ runs: JSON?) -> [String] { runs?["alternatives"]?.array?.compactMap(\.string) ?? [] }

    func alternatives(_ info: JSONObject) -> HTML {
        let clauses = alternatives(info["runs"])
        guard !clauses.isEmpty else { return [] }
        let parts = clauses.flatMap { clause -> [HTML] in
            let parts = clause.split(separator: ": ", maxSplits: 1).map(String.init)
            return [.tag("p", [:], parts[0].withCapital)] + parts.dropFirst().map(PageParts.command)
        }
        return .box("section", "card", [.tag("h2", [:], "Alternatives")] + parts)
    }

    func commands(_ info: JSONObject, _ use: ModelUse?) -> HTML {
        var lines = ["hub pull \(ShellQuoting.word(typed))"]
        if isModel, info["runs"]?["possible"]?.bool == true {
            lines += use?.commands(typed) ?? ["hub try \(ShellQuoting.word(typed))"]
        }
        lines.append("HF_ENDPOINT=\(request.address) hf download \(ShellQuoting.word(name))")
        let ggufs = (info["variants"]?.array ?? []).filter { $0["format"]?.string == "gguf" }
        let chosen = chosenSet(info).flatMap { $0["format"]?.string == "gguf" ? $0 : nil }
        // What is usual there, else what hub takes.
        let usual = ggufs.first { $0["quantization"]?.string == "Q4_K_M" } ?? chosen ?? ggufs.first
        if let quantization = usual?["quantization"]?.string {
            lines.append("ollama pull --insecure \(request.address.dropFirst(7))/\(name):\(quantization)")
        }
        return .tag(
            "section", ["class": "card", "id": "use"], [.tag("h2", [:], "Use it")] + lines.map(PageParts.command))
    }
}
