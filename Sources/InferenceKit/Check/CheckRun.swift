import HubCore
import ModelFormats

/// The state of a running check.
struct CheckRun {
    let path: String
    let options: ModelCheck.Options
    private(set) var results: [CheckResult] = []
    private(set) var findings: [CheckFinding] = []
    /// Findings of the current check.
    private(set) var pending: [CheckFinding] = []
    private var isPending: Set<CheckFinding> = []
    var isFolder = false
    var folder = CheckedFolder()
    /// The model's metadata; nil if its headers are broken.
    var sources: ModelSources?
    /// All weights with readable headers, the model's own first.
    var parts: [CheckedWeights] = []
    /// Unreadable files, each reported once.
    var broken: Set<String> = []
    /// Whether the current check met a fault already reported by an earlier one.
    var isRepeated = false

    init(path: String, options: ModelCheck.Options) {
        (self.path, self.options) = (Path.withoutEnd(path), options)
    }

    mutating func run(_ isCancelled: @escaping @Sendable () -> Bool) throws(AIError) {
        guard let status = try FileSystem.status(path) else {
            throw AIError(.fileNotFound, "\(path) does not exist", context: .init(path: path))
        }
        isFolder = status.kind == .directory
        if isFolder { folder = try CheckedFolder(path, isCancelled) }
        try checkHeaders(size: status.size)
        checkTensors()
        try checkValues(isCancelled)
        if isFolder {
            try checkTokenizers()
            try checkTemplates(isCancelled)
            try checkGeneration()
            try checkCode()
        } else if WeightFormat(fileName: Path.name(path)) == .gguf {
            try checkTokenizers()
            try checkTemplates(isCancelled)
        }
        try checkPickles(isCancelled)
    }

    // MARK: Names

    /// A file's path relative to the folder, for display.
    func shown(_ place: String) -> String {
        isFolder && place.hasPrefix(path + "/") ? String(place.dropFirst(path.count + 1)) : Path.name(place)
    }

    /// An error's message with the file's name instead of its path.
    func told(_ error: AIError) -> String {
        guard let place = error.context.path, error.message.hasPrefix(place + ": ") else { return error.message }
        return shown(place) + error.message.dropFirst(place.count)
    }

    /// Prefixes a sentence with its file's label, if any.
    static func labelled(_ label: String, _ text: String) -> String { label.isEmpty ? text : "\(label): \(text)" }

    // MARK: Results

    mutating func add(_ finding: CheckFinding) {
        if isPending.insert(finding).inserted { pending.append(finding) }
    }

    /// Adds an error of the model as a finding.
    mutating func add(_ check: String, _ status: CheckResult.Status, _ error: AIError, file: String? = nil) {
        let fault = error.formatFault
        let file = file ?? error.context.path.map(shown)
        if let file { broken.insert(file) }
        let finding = CheckFinding(
            check, status, told(error), file: file, tensor: fault?.tensor, expected: fault?.expected,
            found: fault?.found)
        if findings.contains(where: { $0.file == file && $0.detail == finding.detail }) {
            isRepeated = true
        } else {
            add(finding)
        }
    }

    /// Runs `body` and turns an error of the model into a finding, a warning if something is not implemented.
    /// Unreadable headers count as broken.
    ///
    /// - Returns: nil on an error.
    @discardableResult
    mutating func attempt<Value>(
        _ check: String, file: String? = nil, _ body: () throws(AIError) -> Value
    ) throws(AIError) -> Value? {
        do throws(AIError) { return try body() } catch {
            let lesser: CheckResult.Status = check == "headers" ? .fail : .warn
            let statuses: [ErrorCode: CheckResult.Status] = [
                .malformedModel: .fail, .unsupportedModel: lesser, .invalidInput: .warn,
            ]
            guard let status = statuses[error.code] else { throw error }
            add(check, status, error, file: file)
            return nil
        }
    }

    /// Skips a check because an earlier one failed and gives the reason.
    mutating func skip(_ name: String) {
        results.append(.init(name: name, status: .skip, detail: "skipped: an earlier check failed"))
    }

    /// Ends a check with the status and sentence of its most severe finding.
    mutating func close(_ name: String, _ detail: String, otherwise: CheckResult.Status = .pass) {
        func gravity(_ status: CheckResult.Status) -> Int { status == .fail ? 0 : status == .warn ? 1 : 2 }
        let sorted = pending.enumerated().sorted {
            (gravity($0.element.status), $0.offset) < (gravity($1.element.status), $1.offset)
        }.map(\.element)
        let worst = sorted.first { $0.status != .pass }
        let more = sorted.count { $0.status == worst?.status } - 1
        let told = worst.map { $0.detail + (more > 0 ? " (and \(more) more)" : "") }
        findings += sorted
        (pending, isPending) = ([], [])
        defer { isRepeated = false }
        if isRepeated, sorted.isEmpty { return skip(name) }
        results.append(.init(name: name, status: worst?.status ?? otherwise, detail: told ?? detail))
    }

    /// Joins the sentences of several files; a shared sentence appears once.
    static func summed(_ details: [(label: String, text: String)]) -> String {
        let texts = Set(details.map(\.text))
        guard details.count > 1 else { return details.first?.text ?? "" }
        if texts.count == 1 { return "\(details[0].text), in each of \(details.count) files" }
        return details.map { labelled($0.label, $0.text) }.joined(separator: "; ")
    }
}
