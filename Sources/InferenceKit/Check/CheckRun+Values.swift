import HubCore
import ModelFormats

/// Checks of the values.
extension CheckRun {
    mutating func checkValues(_ isCancelled: () -> Bool) throws(AIError) {
        guard !parts.isEmpty else { return sources == nil ? skip("values") : warnUnread("values") }
        var (remembered, count) = (0, 0)
        for part in parts {
            if part.hasNumbers {
                for number in part.weights.files.indices {
                    if isCancelled() { throw AIError(.cancelled, "interrupted") }
                    remembered += try scan(part, number) ? 1 : 0
                    count += 1
                }
            }
            if part.isModel, !part.hasAllNumbers { unread(part) }
        }
        let some = pending.contains { $0.status == .pass } ? " that could be checked" : ""
        let how =
            options.isFull ? "all values\(some) are finite" : "samples of every tensor\(some) are finite"
        let before =
            "\(remembered) of \(counted(count, "file")) checked earlier"
        close("values", how + (remembered > 0 ? " (\(before))" : ""))
    }

    private mutating func unread(_ part: CheckedWeights) {
        let file = part.weights.files.first.map { shown($0.path) }
        let what =
            part.weights.tensors.isEmpty
            ? "there are no tensors in \(file ?? "it")"
            : "\(part.hasNumbers ? "some" : "the") values of a pickle (\(file ?? ""))"
        add(
            .init(
                "values", .warn, part.weights.tensors.isEmpty ? what : "not checked: hub does not read \(what)",
                file: file))
    }

    /// Scans one file.
    ///
    /// - Returns: whether a stored result was used.
    private mutating func scan(_ part: CheckedWeights, _ number: Int) throws(AIError) -> Bool {
        let file = part.weights.files[number]
        let name = shown(file.path)
        let blob = try options.memory.blob(file.path)
        if let blob, let known = options.memory.recall(blob, ValueScan.version, options.isFull),
            let found = Self.findings(known)
        {
            for finding in found { add(Self.placed(finding, name, part.label)) }
            return true
        }
        let isSettled = blob.map { CheckMemory.isSettled($0, at: Timestamp.nowNanoseconds) } ?? false
        let (path, isFull) = (file.path, options.isFull)
        let tensors = part.weights.tensors.filter { $0.file == number }
        let found = try attempt("values", file: name) { () throws(AIError) in
            try ValueScan(path, tensors: tensors, isWhole: isFull, isUnchanging: blob != nil).findings()
        }
        guard let found else { return false }
        for finding in found { add(Self.placed(finding, name, part.label)) }
        // If the file changed during the scan the result is not stored.
        if let blob, isSettled, try options.memory.blob(path) == blob {
            options.memory.keep(blob, ValueScan.version, isFull, Self.json(found))
        }
        return false
    }

    /// A finding with the file's name relative to the folder.
    private static func placed(_ finding: CheckFinding, _ file: String, _ label: String) -> CheckFinding {
        CheckFinding(
            "values", finding.status, labelled(label, finding.detail), file: file, tensor: finding.tensor,
            expected: finding.expected, found: finding.found)
    }

    private static func json(_ findings: [CheckFinding]) -> JSON {
        .array(
            findings.map { finding in
                .object([
                    "status": .string(finding.status.rawValue), "detail": .string(finding.detail),
                    "tensor": finding.tensor.map { .string($0) }, "expected": finding.expected.map { .string($0) },
                    "found": finding.found.map { .string($0) },
                ])
            })
    }

    /// nil for another version.
    private static func findings(_ json: JSON) -> [CheckFinding]? {
        guard let entries = json.array else { return nil }
        var findings: [CheckFinding] = []
        for entry in entries {
            guard let status = entry["status"]?.string.flatMap(CheckResult.Status.init),
                let detail = entry["detail"]?.string
            else { return nil }
            findings.append(
                .init(
                    "values", status, detail, tensor: entry["tensor"]?.string,
                    expected: entry["expected"]?.string, found: entry["found"]?.string))
        }
        return findings
    }
}
