import HubCore

/// How one answer is read.
struct AnswerReading: Sendable {
    var format: AnswerFormat
    /// The tools that the model may call, in the protocol's form; without any, no text is a call.
    var tools: [JSON] = []
    /// Whether the prompt ends within reasoning.
    var beginsInReasoning = false
    /// What the prompt already has of the answer: the beginning of a call that was demanded.
    var opening = ""
}

/// Reads a model's answer as it comes: text, reasoning, and tool calls. No part of a marker is ever shown as text.
struct AnswerReader {
    /// What can be shown now.
    struct Piece: Equatable {
        var text = ""
        var reasoning = ""
    }

    private enum Place: Equatable {
        case text, reasoning
        case call
        /// An answer that may be a bare call: JSON without a marker.
        case undecided
        /// The head of a message of gpt-oss, which says what the message is.
        case head
    }

    private let format: AnswerFormat
    private let parser: CallParser?
    private var scanner: MarkerScanner
    private var place: Place
    /// What the current call, or the head of a message, has so far.
    private var held = ""
    /// White space that is shown if text follows.
    private var space = ""
    /// The tool that a message of gpt-oss calls.
    private var recipient = ""
    /// Whether white space at the beginning of what comes next is left out.
    private var skipsSpace = false

    /// Everything that was shown.
    private(set) var text = ""
    private(set) var reasoning = ""
    /// The calls so far, without ids that the model does not give.
    private(set) var calls: [GeneratedToolCall] = []

    init(_ reading: AnswerReading) {
        var format = reading.format
        let isChannels = format.calls?.syntax == .channels
        if reading.tools.isEmpty, !isChannels { format.calls = nil }
        self.format = format
        parser = format.calls.map { CallParser(syntax: $0.syntax, tools: reading.tools) }
        scanner = MarkerScanner(format.markers)
        place =
            isChannels ? .head : reading.beginsInReasoning ? .reasoning : format.mayBeBare ? .undecided : .text
        skipsSpace = reading.beginsInReasoning
        if !reading.opening.isEmpty { _ = add(reading.opening) }
    }

    /// Takes text, whole characters.
    mutating func add(_ text: String) -> Piece {
        var piece = Piece()
        for part in scanner.add(text) {
            switch part {
            case .text(let text): take(text, &piece)
            case .marker(let marker): take(marker: marker, &piece)
            }
        }
        return keep(piece)
    }

    /// The end of the answer: what was held back.
    ///
    /// - Parameter isCut: whether something else than the model ended it; then a call that is not whole is left out.
    mutating func finish(isCut: Bool) -> Piece {
        var piece = Piece()
        let rest = scanner.finish()
        if !rest.isEmpty { take(rest, &piece) }
        switch place {
        case .call: if !isCut { endCall() }
        case .undecided: decide(&piece, isCut: isCut)
        case .head:
            // A model that writes no heads writes text.
            if !held.trimmed.isEmpty, calls.isEmpty, text.isEmpty, reasoning.isEmpty { show(held, &piece) }
        case .text, .reasoning: break
        }
        if calls.isEmpty, place != .reasoning { piece.text += space }
        (space, held) = ("", "")
        return keep(piece)
    }

    private mutating func keep(_ piece: Piece) -> Piece {
        text += piece.text
        reasoning += piece.reasoning
        return piece
    }

    // MARK: Text

    private mutating func take(_ text: String, _ piece: inout Piece) {
        switch place {
        case .call, .head: held += text
        case .text: show(text, &piece)
        case .reasoning:
            var text = text[...]
            if skipsSpace { text = text.drop(while: \.isWhitespace) }
            if !text.isEmpty { skipsSpace = false }
            // White space at its end belongs to the marker.
            let shown = space + text
            let end = shown.lastIndex { !$0.isWhitespace }.map { shown.index(after: $0) } ?? shown.startIndex
            piece.reasoning += shown[..<end]
            space = String(shown[end...])
        case .undecided:
            held += text
            if !BareCall.isPossible(held) {
                place = .text
                let text = held
                held = ""
                show(text, &piece)
            }
        }
    }

    private mutating func show(_ text: String, _ piece: inout Piece) {
        var text = text[...]
        if skipsSpace { text = text.drop(while: \.isWhitespace) }
        guard !text.isEmpty else { return }
        skipsSpace = false
        // Before a call white space belongs to its form.
        let shown = space + text
        // White space at the beginning may be followed by reasoning.
        let isHeld =
            format.calls != nil
            || format.reasoning != nil && self.text.isEmpty && piece.text.isEmpty
                && shown.allSatisfy(\.isWhitespace)
        guard isHeld else {
            space = ""
            piece.text += shown
            return
        }
        let end = shown.lastIndex { !$0.isWhitespace }.map { shown.index(after: $0) } ?? shown.startIndex
        piece.text += shown[..<end]
        space = String(shown[end...])
    }

    /// The end of an answer that began like a bare call.
    private mutating func decide(_ piece: inout Piece, isCut: Bool) {
        let found = isCut ? [] : parser?.calls(in: held) ?? []
        place = .text
        // An answer in JSON may have a name, too.
        if !found.isEmpty, found.allSatisfy({ parser?.knows($0.name) == true }) {
            calls += found
        } else {
            show(held, &piece)
        }
        held = ""
    }

    // MARK: Markers

    private mutating func take(marker: String, _ piece: inout Piece) {
        if format.calls?.syntax == .channels { return takeChannel(marker) }
        switch place {
        case .call:
            guard let forms = format.calls else { return }
            if marker == forms.closing, parser?.isWithinString(held) != true {
                endCall()
                (place, skipsSpace) = (.text, true)
            } else if marker == forms.opening, forms.closing == nil {
                endCall()
            } else {
                held += marker
            }
        case .reasoning:
            guard marker == format.reasoning?.closing else { return take(marker, &piece) }
            (place, skipsSpace, space) = (format.mayBeBare ? .undecided : .text, true, "")
        case .text, .undecided, .head:
            if place == .undecided, marker != format.calls?.opening, marker != format.reasoning?.opening {
                return take(marker, &piece)
            }
            takeOpening(marker, &piece)
        }
    }

    /// A marker where text may be. Models reason before they answer: behind text such a marker is text, which may speak of
    /// it. Other markers that open nothing are left out.
    private mutating func takeOpening(_ marker: String, _ piece: inout Piece) {
        if place == .undecided, !held.trimmed.isEmpty { show(held, &piece) }
        held = ""
        if marker == format.calls?.opening {
            (place, space) = (.call, "")
        } else if marker == format.reasoning?.opening || marker == format.reasoning?.closing {
            if !text.isEmpty || !piece.text.isEmpty {
                place = .text
                show(marker, &piece)
            } else {
                // White space before it is not part of anything.
                (place, skipsSpace, space) = (marker == format.reasoning?.opening ? .reasoning : .text, true, "")
            }
        } else if marker == format.calls?.closing, format.calls?.closesLikeText == true {
            show(marker, &piece)
        }
    }

    private mutating func endCall() {
        defer { (held, space, recipient) = ("", "", "") }
        if format.calls?.syntax == .channels {
            calls.append(GeneratedToolCall(name: recipient, arguments: held.trimmed))
        } else if let parser, !held.trimmed.isEmpty {
            calls += parser.calls(in: held).filter { format.calls?.none.contains($0.name) != true }
        }
    }

    // MARK: Channels

    /// gpt-oss writes messages: `<|start|>assistant<|channel|>analysis<|message|>text<|end|>`. In the head of a call stands
    /// `to=functions.f` (https://cookbook.openai.com/articles/openai-harmony).
    private mutating func takeChannel(_ marker: String) {
        switch marker {
        case "<|message|>" where place == .head: beginMessage()
        case "<|channel|>", "<|constrain|>", "<|message|>":
            if place == .head || marker == "<|constrain|>" { return held += marker }
            // A message without its beginning.
            if place == .call { endCall() }
            (place, held) = (.head, marker)
        default:
            // The beginning or the end of a message.
            if place == .call { endCall() }
            (place, held) = (.head, "")
        }
    }

    private mutating func beginMessage() {
        let head = held
        held = ""
        if let range = head.range(of: "to=") {
            recipient = String(head[range.upperBound...].prefix { !$0.isWhitespace && $0 != "<" })
            recipient = recipient.dropping(prefix: "functions.") ?? recipient
            place = .call
            return
        }
        let channel = head.range(of: "<|channel|>").map { head[$0.upperBound...] } ?? ""
        if channel.hasPrefix("analysis") {
            if !reasoning.isEmpty { space = "\n\n" }
            place = .reasoning
        } else {
            // Two texts in one answer: what is said before a call, and after it.
            space = text.isEmpty ? "" : "\n\n"
            place = .text
        }
    }
}
