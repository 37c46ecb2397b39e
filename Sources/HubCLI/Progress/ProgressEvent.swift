import HubCore

/// The events of `--progress json` besides the running figures: one object per line of stderr.
enum ProgressEvent: Sendable {
    /// What is going to be fetched.
    case plan(id: String, commit: String?, files: Int, totalBytes: Int64, downloadBytes: Int64)
    /// A file has come to a new state: `started`, `downloaded`, `cached`, `linked`, `failed`.
    case file(id: String, path: String, status: String, sizeBytes: Int64?)
    /// Something is tried again.
    case retry(path: String?, attempt: Int, reason: String, waitSeconds: Double)
    /// The digest of a file has been checked and is right.
    case verified(path: String, digest: String)
    /// Nothing is asked for some time.
    case wait(reason: String, seconds: Double)
    /// One model is complete.
    case done(id: String, path: String, downloadedBytes: Int64, elapsedSeconds: Double)

    /// The value of `"event"`.
    var name: String {
        switch self {
        case .plan: "plan"
        case .file: "file"
        case .retry: "retry"
        case .verified: "verified"
        case .wait: "wait"
        case .done: "done"
        }
    }

    /// The members beside it.
    var object: JSONObject {
        switch self {
        case .plan(let id, let commit, let files, let total, let download):
            [
                "id": .string(id), "commit": commit.map(JSON.string), "files": .int(Int64(files)),
                "total_bytes": .int(total), "download_bytes": .int(download),
            ]
        case .file(let id, let path, let status, let size):
            ["id": .string(id), "path": .string(path), "status": .string(status), "size_bytes": size.map(JSON.int)]
        case .retry(let path, let attempt, let reason, let wait):
            [
                "path": path.map(JSON.string), "attempt": .int(Int64(attempt)), "reason": .string(reason),
                "wait_seconds": .double(wait),
            ]
        case .verified(let path, let digest): ["path": .string(path), "digest": .string(digest)]
        case .wait(let reason, let seconds): ["reason": .string(reason), "wait_seconds": .double(seconds)]
        case .done(let id, let path, let bytes, let seconds):
            [
                "id": .string(id), "path": .string(path), "downloaded_bytes": .int(bytes),
                "elapsed_seconds": .double(seconds),
            ]
        }
    }
}

extension ProgressSnapshot {
    /// The members of a `progress` event.
    var json: JSONObject { unit == .bytes ? transfer : listing }

    private var listing: JSONObject {
        let members: JSONObject = [
            "title": .string(title), "phase": phase.map(JSON.string), "done_\(unit)": .int(doneBytes),
            "total_\(unit)": totalBytes.map(JSON.int), "\(unit)_per_second": bytesPerSecond.map(JSON.double),
            "seconds_left": secondsLeft.map(JSON.double),
        ]
        return JSONObject(members.members + counts.map { ($0.name, .int($0.value)) })
    }

    private var transfer: JSONObject {
        [
            "title": .string(title), "phase": phase.map(JSON.string), "done_bytes": .int(doneBytes),
            "total_bytes": totalBytes.map(JSON.int), "bytes_per_second": bytesPerSecond.map(JSON.double),
            "seconds_left": secondsLeft.map(JSON.double), "files_done": .int(Int64(filesDone)),
            "files_total": filesTotal.map { .int(Int64($0)) },
            "active": .array(
                active.map { file in
                    .object([
                        "id": file.model.map(JSON.string), "path": .string(file.name),
                        "done_bytes": .int(file.done),
                        "total_bytes": file.total.map(JSON.int),
                    ])
                }),
        ]
    }
}
