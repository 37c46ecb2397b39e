import HubCore
import Support
import Testing

@testable import HubChatTemplates

/// Templates made of pieces of known ones: each is rendered or rejected, quickly.
@Suite struct MutatedTemplateTests {
    @Test func mutatedTemplatesNeitherCrashNorHang() throws {
        let outcome = try MutatedTemplates(goldens: 200).run(seeds: 0..<300)
        // Neither may be all there is, or the mutations are too weak or too strong.
        #expect(outcome.rendered > 20)
        #expect(outcome.refused > 20)
    }
}

/// One run for each seed: a template made of pieces of known ones, rendered under small limits.
struct MutatedTemplates: Sendable {
    struct Outcome {
        var rendered = 0
        var refused = 0
    }

    private static let limits = Jinja.Limits(steps: 20_000, characters: 1 << 18, cells: 1 << 14, depth: 400)
        .untimed
    private static let pieces = [
        "{{", "}}", "{%", "%}", "{#", "#}", "-", "+", "'", "\"", "\\", "(", ")", "[", "]", "{", "}", "|", ".", ",",
        ":",
        "~", "**", "//", "==", "!=", "<", ">=", "=", " ", "\n", "\r\n", "0", "1", "9223372036854775807", "1e308",
        "0x", "1_0", " if ", " else ", " for ", " in ", " not ", " and ", " or ", " is ", "none", "true", "endfor",
        "endif", "{% raw %}", "{% endraw %}", "{% set x = x ~ x %}", "{% break %}", "{% continue %}", "loop.index",
        "loop(x)", "namespace(", "range(", "|tojson", "|map('", "|join", "|sort", "|format(", "[::-1]", "[1:]",
        " * ",
        "* 99999", "caller()", "varargs", "recursive ", "{% macro f(a, b=1) %}", "{% endmacro %}", "{{ f(f) }}",
        "{% generation %}", "{% endgeneration %}", "👋🏽", "ß", "\u{0}", "\u{FEFF}", "messages", "tools", "nope",
        ".format(", "'%*d' % ", "\\u00e9", "\\xZZ", "{% call f() %}", "{% endcall %}", "{% filter upper %}",
    ]

    private let sources: [[Unicode.Scalar]]
    private let variables: JSONObject

    /// Starts from the families' templates and so many of the expressions.
    init(goldens count: Int) throws {
        let document = try Fixtures.json("goldens/chat-expressions.json")
        var sources = (document["cases"]?.array ?? []).prefix(count).compactMap { $0["template"]?.string }
        for name in try FileSystem.entries(Fixtures.path("chat-templates/families")) ?? [] {
            sources.append(try Fixtures.text("chat-templates/families/\(name)"))
        }
        self.sources = sources.map { Array($0.unicodeScalars) }
        variables = try #require(document["variables"]?.object)
    }

    func run(seeds: Range<Int>) throws -> Outcome {
        var outcome = Outcome()
        for seed in seeds {
            if try run(seed) { outcome.rendered += 1 } else { outcome.refused += 1 }
        }
        return outcome
    }

    /// Whether the template of a seed was rendered; false if it was rejected.
    ///
    /// - Throws: what is neither.
    func run(_ seed: Int) throws(AIError) -> Bool {
        let rendering: ChatTemplate.Rendering
        do throws(AIError) {
            rendering = try ChatTemplate(template(seed), path: "seed \(seed)")
                .render(variables: variables, limits: Self.limits, clock: .now)
        } catch {
            guard [.malformedModel, .unsupportedModel, .invalidInput].contains(error.code),
                error.message.hasPrefix("seed \(seed): chat template, line ")
            else { throw error }
            return false
        }
        guard rendering.text.unicodeScalars.count <= Self.limits.characters else {
            throw AIError(.ioError, "it rendered more characters than its limit")
        }
        return true
    }

    private func template(_ seed: Int) -> String {
        var random = SeededRandom(number: seed)
        var scalars = sources[Int.random(in: 0..<sources.count, using: &random)]
        for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&scalars, &random) }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    private func mutate(_ scalars: inout [Unicode.Scalar], _ random: inout SeededRandom) {
        let at = Int.random(in: 0...scalars.count, using: &random)
        let end = min(scalars.count, at + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: scalars.removeSubrange(at..<end)
        case 1: scalars.insert(contentsOf: scalars[at..<end], at: at)
        case 2:
            let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
            scalars.insert(contentsOf: piece.unicodeScalars, at: at)
        case 3:
            let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
            scalars.replaceSubrange(at..<end, with: piece.unicodeScalars)
        case 4:
            let other = sources[Int.random(in: 0..<sources.count, using: &random)]
            let from = Int.random(in: 0...other.count, using: &random)
            let to = min(other.count, from + Int.random(in: 0...60, using: &random))
            scalars.insert(contentsOf: other[from..<to], at: at)
        default: scalars.swapAt(max(0, min(at, scalars.count - 1)), max(0, end - 1))
        }
        if scalars.isEmpty { scalars = ["{"] }
    }
}
