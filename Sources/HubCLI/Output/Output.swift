import HubCore

/// Everything that `hub` writes. Results go to stdout, buffered; notes, warnings, errors and progress to stderr at once.
///
/// Safe to use from any thread. One lock covers both streams, for on a terminal they share a screen: a message takes
/// the progress bar away and puts it back below itself.
final class Output: Sendable {
    /// The format of stdout.
    enum Mode: Sendable {
        /// Tables and sentences.
        case human
        /// The essential column.
        case quiet
        /// One JSON document.
        case json
    }

    /// What is known about the two streams.
    struct Settings: Sendable {
        var mode = Mode.human
        var isVerbose = false
        /// Whether stderr holds one JSON object on each line and nothing else.
        var writesEvents = false
        var outputIsTerminal = false
        var errorIsTerminal = false
        /// Columns of the terminal that stdout is; nil for none.
        var width: Int?
        /// The same of stderr.
        var errorWidth: Int?
        /// The document's list whose entries are printed on a line each, instead of the document.
        var listKey: String?
        var colorsOutput = false
        var colorsError = false
        var ellipsis = "…"
    }

    private struct State {
        var pending: [UInt8] = []
        /// The errno of the first write to stdout that failed.
        var failure: Int32 = 0
        var document: JSONObject?
        /// Whether the document is out: there is only one.
        var isPublished = false
        /// The progress bar on the screen.
        var live = LiveRegion()
        var onFailure: (@Sendable (Int32) -> Void)?
        var advisor: (@Sendable (AIError) async -> AIError)?

        /// What `--json=lines` prints: the entries of the list, then the error. nil if the document has no such list.
        func lines(of document: JSONObject, _ key: String, _ error: AIError?) -> [JSON]? {
            guard let rows = document[key]?.array ?? (document.keys.isEmpty ? [] : nil) else { return nil }
            return rows + (error.map { [.object(["error": .object($0.json)])] } ?? [])
        }
    }

    let settings: Settings
    private let standardOutput: Sink
    private let standardError: Sink
    private let state: Lock<State>

    init(_ settings: Settings, output: Sink = .standardOutput, error: Sink = .standardError) {
        self.settings = settings
        standardOutput = output
        standardError = error
        state = Lock(State())
    }

    var mode: Mode { settings.mode }

    // MARK: Results

    /// Shows a result in the form asked for; only that form is made.
    func render(
        json: @autoclosure () throws -> JSONObject, quiet: @autoclosure () throws -> [String],
        human: () throws -> Void
    ) rethrows {
        switch settings.mode {
        case .json: document(try json())
        case .quiet: for entry in try quiet() { value(entry) }
        case .human: try human()
        }
    }

    /// A line for people, broken between words where the terminal ends; nothing in the other modes.
    func line(_ text: Styled = "") {
        for line in settings.width.map(text.wrapped) ?? [text] { row(line) }
    }

    /// A line for people as it is, wherever the terminal ends: of a table, or of a text that is not hub's own.
    func row(_ text: Styled) {
        guard settings.mode == .human else { return }
        write(text.written(color: settings.colorsOutput) + "\n")
    }

    /// A table for people; nothing in the other modes or without rows.
    func table(_ table: Table) {
        for row in table.lines(width: settings.width, ellipsis: settings.ellipsis) { self.row(row) }
    }

    /// A line for people and scripts (a path, an id), unchanged; nothing with `--json`. Only on a terminal are control
    /// characters shown instead of sent.
    func value(_ text: String) {
        guard settings.mode != .json else { return }
        write((settings.outputIsTerminal ? SafeText.line(text) : text) + "\n")
    }

    /// A piece of a longer text (generated tokens), written at once; nothing with `--json`.
    func stream(_ text: String, _ style: Styled.Style = .plain) {
        stream([Styled.Run(text: text, style: style)])
    }

    /// The same of several styles.
    func stream(_ runs: [Styled.Run]) {
        guard settings.mode != .json else { return }
        for run in runs {
            let safe = settings.outputIsTerminal ? SafeText.lines(run.text) : run.text
            write(settings.colorsOutput ? run.style.applied(to: safe) : safe)
        }
        flush()
    }

    /// The document of `--json`: kept until the end, so that an error can still be put beside what was achieved. A
    /// later one takes its place.
    func document(_ object: JSONObject) { state.withLock { $0.document = object } }

    /// Writes the document and what is pending now, for a command that runs for long. Nothing else is written at the end.
    func publish() {
        withState { state in
            endDocument(&state, error: nil)
            flush(&state)
        }
    }

    private func endDocument(_ state: inout State, error: AIError?) {
        guard settings.mode == .json, !state.isPublished, state.document != nil || error != nil else { return }
        var document = state.document ?? JSONObject()
        state.document = nil
        state.isPublished = true
        if let key = settings.listKey, let rows = state.lines(of: document, key, error) {
            for row in rows { state.pending += (row.text(.compact) + "\n").utf8 }
            return
        }
        if let error { document["error"] = .object(error.json) }
        state.pending += JSON.object(document).text(settings.outputIsTerminal ? .pretty : .compact).utf8
        state.pending.append(10)
    }

    // MARK: Messages

    /// Something worth knowing; not with `--quiet`.
    func note(_ text: String) {
        if settings.mode != .quiet { message("note", text, nil, .plain) }
    }

    /// Something that may be wrong, and what to do about it.
    func warning(_ text: String, advice: String? = nil) { message("warning", text, advice, .caution) }

    /// Something that failed, and what to do about it.
    ///
    /// - Parameter told: advice that need not be read again.
    func failure(_ error: AIError, omitting told: Set<String> = []) {
        if settings.writesEvents {
            return event("error", error.json)
        }
        let advice = error.recoverySuggestion.flatMap { told.contains($0) ? nil : $0 }
        message("error", error.message, advice, .bad)
    }

    /// Lets the closure add to the advice of errors before people read them.
    func onUnknownName(_ closure: @escaping @Sendable (AIError) async -> AIError) {
        state.withLock { $0.advisor = closure }
    }

    /// The error with what ``onUnknownName(_:)`` adds.
    func advised(_ error: AIError) async -> AIError {
        await state.withLock { $0.advisor }?(error) ?? error
    }

    /// What is requested and decided; only with `--verbose`.
    func debug(_ text: @autoclosure () -> String) {
        if settings.isVerbose { message("debug", text(), nil, .faint) }
    }

    /// One object on one line of stderr, with `--progress json`; nothing otherwise.
    func event(_ name: String, _ object: JSONObject) {
        guard settings.writesEvents else { return }
        let members = [(key: "event", value: JSON.string(name))] + object.members
        toError(JSON.object(JSONObject(members)).text() + "\n")
    }

    private func message(_ kind: String, _ text: String, _ advice: String?, _ style: Styled.Style) {
        // An address that a person typed may hold a password.
        let (text, advice) = (Secrets.masked(in: text), advice.map { Secrets.masked(in: $0) })
        if settings.writesEvents {
            return event(kind, ["message": .string(text), "advice": advice.map(JSON.string)])
        }
        let isShort = kind == "note" || kind == "error"
        let start = Styled("hub: \(isShort ? "" : kind + ": ")", style)
        var lines: [Styled] = []
        for line in wrapped(text, behind: start.width) {
            lines.append((lines.isEmpty ? start : Self.margin) + Styled(line))
        }
        for line in (advice ?? "").split(separator: "\n") {
            lines += wrapped(String(line), behind: 0).map { Self.margin + Styled($0) }
        }
        toError(lines.map { $0.written(color: settings.colorsError) + "\n" }.joined())
    }

    private static let margin = Styled("     ")

    /// A message in lines that the terminal need not break within a word, the first of them behind so many cells.
    private func wrapped(_ text: String, behind start: Int) -> [String] {
        let text = SafeText.line(text)
        guard let width = settings.errorWidth.map({ max(30, $0) }) else { return [text] }
        let room = width - Self.margin.width
        return TextWrap.paragraph(text, width: room, first: start == 0 ? room : width - start)
    }

    // MARK: Streams

    private func write(_ text: String) {
        withState { state in
            state.pending += text.utf8
            if state.pending.count >= 1 << 16 || (settings.outputIsTerminal && text.utf8.last == 10) {
                flush(&state)
            }
        }
    }

    /// Writes what is pending.
    func flush() { withState { flush(&$0) } }

    /// Changes the state; a failure to write is reported after the lock is released, because the listener may write too.
    private func withState(_ change: (inout State) -> Void) {
        let (failure, told) = state.withLock { state in
            let before = state.failure
            change(&state)
            return before == state.failure ? (0, nil) : (state.failure, state.onFailure)
        }
        told?(failure)
    }

    private func flush(_ state: inout State) {
        guard !state.pending.isEmpty else { return }
        defer { state.pending.removeAll(keepingCapacity: true) }
        // The reader is gone or the disk is full: the first failure counts, the rest is dropped.
        guard state.failure == 0 else { return }
        if settings.outputIsTerminal { _ = standardError.write(state.live.erase()) }
        state.failure = standardOutput.write(state.pending)
        if settings.outputIsTerminal { _ = standardError.write(state.live.redraw()) }
    }

    private func toError(_ text: String) {
        // Should stderr fail, there is nowhere to say so; the exit status still tells. What was said before goes first,
        // or in a log of both streams the error would stand above what it is about.
        withState { state in
            flush(&state)
            _ = standardError.write(state.live.erase() + Array(text.utf8) + state.live.redraw())
        }
    }

    /// Puts these rows below everything else on a terminal's stderr, in place of the former ones; none takes them away.
    func live(_ rows: [String], width: Int) {
        state.withLock { state in _ = standardError.write(state.live.replace(with: rows, width: width)) }
    }

    /// A question on stderr, the cursor left behind it.
    func prompt(_ text: String) { toError(SafeText.lines(text)) }

    /// Lines of progress for a stderr that is not a terminal.
    func progressLine(_ text: String) { toError(SafeText.line(text) + "\n") }

    /// Calls the closure with the errno once writing to stdout has failed.
    func onFailure(_ closure: @escaping @Sendable (Int32) -> Void) { state.withLock { $0.onFailure = closure } }

    /// The errno of the first write to stdout that failed, or 0.
    var writeFailure: Int32 { state.withLock { $0.failure } }

    /// Ends the output: takes the bar away, prints the document of `--json` with the error in it, writes what is pending.
    func finish(error: AIError? = nil) {
        withState { state in
            _ = standardError.write(state.live.replace(with: [], width: 0))
            endDocument(&state, error: error)
            flush(&state)
        }
    }
}

extension AIError {
    /// The `"error"` of `--json`. A file's entry of a larger document may hold it too.
    var json: JSONObject {
        [
            "code": .string(code.rawValue), "message": .string(Secrets.masked(in: message)),
            "advice": recoverySuggestion.map { .string(Secrets.masked(in: $0)) }, "retryable": .bool(isRetryable),
        ]
    }
}
