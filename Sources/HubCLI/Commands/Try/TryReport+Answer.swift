import HubCore
import InferenceKit

/// What an encoder says of a text: as tables, as lines of a smoke test, in a pipe.
extension TryReport {
    /// Labels and tokens that are shown at most.
    private static let mostLabels = 12

    /// - Parameter text: what was asked about.
    func show(_ answer: EncoderAnswer, of text: String, _ context: Context) {
        let output = context.output
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            output.row(Styled(String(line), .faint))
        }
        let bar = output.settings.width == nil ? nil : Bar(isUnicode: context.isUnicode)
        switch answer {
        case .ranking(let ranking): output.table(Self.table(ranking, ranksPictures ? "PICTURE" : "TEXT", bar))
        case .labels(let labels):
            output.table(Self.table(labels.prefix(Self.mostLabels), bar))
            let rest = labels.count - Self.mostLabels
            if rest > 0 { output.line(Styled("and \(rest) more, all of them with --json", .faint)) }
        case .tokens(let tokens): output.table(Self.table(tokens, text))
        case .masks(let masks):
            for (number, words) in masks.enumerated() {
                if masks.count > 1 { output.line(Styled("mask \(number + 1)", .strong)) }
                output.table(Self.table(words, bar))
            }
        }
    }

    /// A column of bars, and its cells; none in a pipe or where a number is no share of anything.
    private static func bars(_ scores: [Double], _ bar: Bar?) -> (
        columns: [Table.Column], cell: (Double) -> [Styled]
    ) {
        guard let bar, scores.allSatisfy({ (0...1).contains($0) }) else { return ([], { _ in [] }) }
        let best = scores.max()
        return ([.init("", optional: true)], { [Styled(bar($0), $0 == best ? .good : .faint)] })
    }

    private static func table(_ ranking: [RankedText], _ what: String, _ bar: Bar?) -> Table {
        let isCosine = ranking.allSatisfy { $0.logit == nil }
        let bars = bars(ranking.map(\.score), bar)
        var table = Table(
            [.init(isCosine ? "COSINE" : "SCORE", .right)] + bars.columns + [.init(what, least: 20)])
        for entry in ranking {
            table.add([Styled(rounded(entry.score))] + bars.cell(entry.score) + [Styled(SafeText.line(entry.text))])
        }
        return table
    }

    private static func table(_ labels: ArraySlice<TextLabel>, _ bar: Bar?) -> Table {
        let bars = bars(labels.map(\.score), bar)
        var table = Table([.init("LABEL"), .init("SCORE", .right)] + bars.columns + [.init("LOGIT", .right)])
        for (place, entry) in labels.enumerated() {
            let style: Styled.Style = place == 0 ? .strong : .plain
            table.add(
                [Styled(SafeText.line(entry.label), style), Styled(rounded(entry.score))] + bars.cell(entry.score)
                    + [Styled(rounded(entry.logit), .faint)])
        }
        return table
    }

    private static func table(_ words: [MaskCandidate], _ bar: Bar?) -> Table {
        let bars = bars(words.map(\.probability), bar)
        var table = Table([.init("WORD"), .init("PROBABILITY", .right)] + bars.columns)
        for (place, entry) in words.enumerated() {
            let style: Styled.Style = place == 0 ? .strong : .plain
            table.add(
                [Styled(shown(entry.token), style), Styled(rounded(entry.probability))]
                    + bars.cell(entry.probability))
        }
        return table
    }

    private static func table(_ tokens: [TokenLabel], _ text: String) -> Table {
        let scalars = Array(text.unicodeScalars)
        var table = Table([.init("TOKEN"), .init("LABEL"), .init("SCORE", .right), .init("CHARACTERS")])
        for token in tokens {
            // Most of them, by the custom of all data sets for names.
            let style: Styled.Style = token.label == "O" ? .faint : .plain
            table.add([
                Styled(piece(of: scalars, token), style),
                Styled(SafeText.line(token.label), token.label == "O" ? .faint : .good),
                Styled(rounded(token.score), style), Styled("\(token.start)-\(token.end)", .faint),
            ])
        }
        return table
    }

    /// What a token is in the text; its spelling in the vocabulary may be of bytes.
    private static func piece(of scalars: [Unicode.Scalar], _ token: TokenLabel) -> String {
        guard token.start < token.end, token.end <= scalars.count else { return SafeText.line(token.token) }
        return SafeText.line(String(String.UnicodeScalarView(scalars[token.start..<token.end])))
    }

    /// A word that may begin with a space, or be one.
    private static func shown(_ word: String) -> String {
        let line = SafeText.line(word)
        let bare = line.drop { $0 == " " }
        return bare.isEmpty ? "\"\(line)\"" : String(bare)
    }

    // MARK: The smoke test

    func show(_ sample: SmokeTest.Sample, _ output: Output) {
        line("text", sample.text, output)
        let (name, lines) = Self.lines(sample.answer, of: sample.text)
        for (place, text) in lines.enumerated() { line(place == 0 ? name : "", text, output) }
    }

    private static func lines(_ answer: EncoderAnswer, of text: String) -> (name: String, lines: [String]) {
        switch answer {
        case .ranking(let ranking):
            let name = ranking.allSatisfy { $0.logit == nil } ? "neighbors" : "ranking"
            return (name, ranking.map { "\(rounded($0.score))  \($0.text)" })
        case .labels(let labels): return ("labels", labels.prefix(5).map { "\(rounded($0.score))  \($0.label)" })
        case .tokens(let tokens):
            let scalars = Array(text.unicodeScalars)
            let named = tokens.filter { $0.label != "O" }
            let shown = (named.isEmpty ? tokens : named).prefix(5)
            return ("labels", shown.map { "\(rounded($0.score))  \(piece(of: scalars, $0)): \($0.label)" })
        case .masks(let masks):
            return ("words", (masks.first ?? []).map { "\(rounded($0.probability))  \(Self.shown($0.token))" })
        }
    }

    // MARK: In a pipe

    static func quiet(_ answer: EncoderAnswer) -> [String] {
        switch answer {
        case .ranking(let ranking): ranking.map(\.text)
        case .labels(let labels): labels.prefix(1).map(\.label)
        case .tokens(let tokens): tokens.map { "\($0.start) \($0.end) \($0.label)" }
        case .masks(let masks): masks.map { shown($0.first?.token ?? "") }
        }
    }

    /// One of the lists that an answer may be; of a smoke test that of its sample.
    func answer(_ list: (EncoderAnswer) -> JSON?) -> JSON? {
        (answer?.answer ?? smoke?.sample?.answer).flatMap(list)
    }
}

extension EncoderAnswer {
    var ranking: JSON? {
        guard case .ranking(let ranking) = self else { return nil }
        return .array(
            ranking.map {
                .object([
                    "index": .int(Int64($0.index)), "text": .string($0.text), "score": .double($0.score),
                    "logit": $0.logit.map { .double($0) },
                ])
            })
    }

    var labels: JSON? {
        guard case .labels(let labels) = self else { return nil }
        return .array(
            labels.map {
                .object(["label": .string($0.label), "score": .double($0.score), "logit": .double($0.logit)])
            })
    }

    var tokens: JSON? {
        guard case .tokens(let tokens) = self else { return nil }
        return .array(
            tokens.map {
                .object([
                    "token": .string($0.token), "label": .string($0.label), "score": .double($0.score),
                    "start": .int(Int64($0.start)), "end": .int(Int64($0.end)),
                ])
            })
    }

    var fill: JSON? {
        guard case .masks(let masks) = self else { return nil }
        return .array(
            masks.map { words in
                .array(
                    words.map {
                        .object([
                            "token": .string($0.token), "id": .int(Int64($0.id)),
                            "probability": .double($0.probability),
                        ])
                    })
            })
    }
}
