import HubCore
import MemoryKit

/// The excerpts that an answer is based on.
enum SourceList {
    /// Names below an answer the excerpts that it cites; all, if it cites none. In a pipe on stderr.
    static func show(_ sources: [MemoryExcerpt], in answer: String, _ context: Context) {
        guard !sources.isEmpty, context.mode == .human else { return }
        let numbered = sources.enumerated().map { (number: $0 + 1, source: $1) }
        let cited = numbered.filter { answer.range(of: "[\($0.number)]") != nil }
        for (number, source) in cited.isEmpty ? numbered : cited {
            let line = "[\(number)] \(source.citation)"
            if context.output.settings.outputIsTerminal {
                context.output.line(Styled(line, .faint))
            } else {
                context.output.note(line)
            }
        }
    }

    /// `"sources"` of the contract.
    static func json(_ sources: [MemoryExcerpt]) -> JSON {
        .array(
            sources.map { source in
                var object: JSONObject = ["path": .string(source.path)]
                switch source.place {
                case .lines(let lines):
                    object["first_line"] = .int(Int64(lines.lowerBound))
                    object["last_line"] = .int(Int64(lines.upperBound))
                case .page(let page): object["page"] = .int(Int64(page))
                }
                object["score"] = .double((source.score * 1000).rounded() / 1000)
                return .object(object)
            })
    }
}
