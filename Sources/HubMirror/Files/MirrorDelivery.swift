import Fetcher
import HubCore
import HubServer

/// Delivers the files of one commit: from the cache, or while they are fetched.
struct MirrorDelivery: FileDelivery {
    let files: MirrorFiles
    let known: KnownTree
    /// The branch or tag that the client named; nil for a commit.
    let ref: String?
    let credential: Credential

    func deliver(_ asked: FileRequest) -> ServedResponse? {
        guard let file = known.file(asked.file.path) else { return nil }
        do throws(HubFault) {
            return try files.deliver(asked, WantedFile(known: known, file: file, ref: ref, credential: credential))
        } catch { return error.response }
    }
}

/// A file that a client wants.
struct WantedFile: Sendable {
    var known: KnownTree
    var file: RepositoryFile
    var ref: String?
    var credential: Credential

    var repository: Repository { known.repository }
    var commit: Commit { known.tree.commit }
}

/// The files of a mirror.
final class MirrorFiles: Sendable {
    private let upstream: Upstream
    private let metrics: ServerMetrics
    let fetches: Fetches
    let tickets = Tickets()
    private let uses: UseMarks
    private let report: @Sendable (AIError) -> Void

    /// Python's client refuses plain HTTP above this size, unless another server has the file.
    /// huggingface_hub, `constants.MAX_HTTP_DOWNLOAD_SIZE`
    static let pythonLimit: Int64 = 50_000_000_000
    /// A range up to this long is a look into a file; a longer one is a part of a download of it.
    private static let glance: Int64 = 1 << 20
    /// Bytes of a whole file that wait for its digest.
    private static let held: Int64 = 64 << 10

    init(
        _ upstream: Upstream, metrics: ServerMetrics, access: AccessChecks, eviction: Eviction,
        report: @escaping @Sendable (AIError) -> Void
    ) {
        self.upstream = upstream
        self.report = report
        self.metrics = metrics
        fetches = Fetches(upstream, metrics: metrics, access: access, eviction: eviction)
        uses = UseMarks(upstream.workspace)
        metrics.declare("hub_cache_hit_bytes_total", type: "counter", "Bytes of files answered from the cache.")
        metrics.declare(
            "hub_cache_miss_bytes_total", type: "counter", "Bytes of files answered while they were fetched.")
    }

    func deliver(_ asked: FileRequest, _ wanted: WantedFile, isTicket: Bool = false) throws(HubFault)
        -> ServedResponse
    {
        let isHead = asked.request.method == "HEAD"
        var asked = asked
        if asked.isResume {
            // Bytes that were wrong must not become the start of a file: the client gets all of it anew.
            switch fetches.earlierBytes(of: wanted) {
            case .good: break
            case .maybeWrong: asked.request.headers["Range"] = nil
            case .wrong:
                throw HubFault(status: 502, message: "upstream sends \(wanted.file.path) with a wrong digest")
            }
        }
        if isHead, !isTicket, wanted.file.size > Self.pythonLimit,
            let address = tickets.address(for: wanted, host: asked.request.headers["Host"])
        {
            var headers = asked.headers
            headers["X-Linked-Size"] = nil
            headers["Location"] = address
            return ServedResponse(302, headers: headers)
        }
        if let response = try cached(asked, wanted) { return response }
        if isHead {
            return asked.ranged(asked.headers) { range, _ in .stream(length: Int64(range.count), NoBytes()) }
        }
        if upstream.isOffline || (upstream.isAway && !fetches.isRunning(wanted)) {
            throw HubFault(
                status: 504,
                message: upstream.isOffline
                    ? "\(wanted.file.path) is not in the cache, and this mirror is offline"
                    : "\(wanted.file.path) is not in the cache, and upstream is away")
        }
        return try fetched(asked, wanted)
    }

    /// The response from the cache; nil if the file is not there.
    private func cached(_ asked: FileRequest, _ wanted: WantedFile) throws(HubFault) -> ServedResponse? {
        let folder = upstream.workspace.layout.repository(wanted.repository)
        do throws(AIError) {
            var path = Path.join(folder.snapshot(wanted.commit), wanted.file.path)
            if try SnapshotFile.state(wanted.file, commit: wanted.commit, in: folder) == .absent {
                // The content without its link: only a transfer puts that in place.
                guard upstream.isAway, try SnapshotFile.hasBlob(wanted.file, in: folder) else { return nil }
                path = folder.blob(wanted.file.digest.hex)
            }
            guard let status = try FileSystem.status(path) else { return nil }
            var here = asked
            here.file.location = path
            here.file.identity = FileIdentity(status)
            guard let response = try here.content(here.headers) else { return nil }
            uses.mark(folder, wanted.commit)
            if asked.request.method == "GET", response.status < 300 {
                metrics.add("hub_cache_hit_bytes_total", Double(response.body.length ?? 0))
            }
            return response
        } catch { throw fault(error) }
    }

    /// The response of a file that is being fetched, begun once the first byte is here.
    private func fetched(_ asked: FileRequest, _ wanted: WantedFile) throws(HubFault) -> ServedResponse {
        let size = wanted.file.size
        return try asked.ranged(asked.headers) { range, isPart throws(HubFault) in
            // A range is sent when it is here: the client's own digest decides. A whole file waits at its end, and so does
            // the rest of one.
            let isRest = asked.isOpenEnded && range.count >= Self.held
            // What waits for the digest needs all of the file, however little of it is asked for.
            let isGlance = isPart && !isRest && Int64(range.count) <= Self.glance
            let reader = fetches.join(wanted, urgent: isPart ? range : nil, wantsAll: !isGlance)
            let limit = isPart && !isRest ? range.upperBound : max(range.lowerBound, size - min(size, Self.held))
            while true {
                let client = asked.request.connection
                let step = reader.watch.next(at: range.lowerBound, below: limit, after: nil) {
                    client?.isGone == true
                }
                switch step {
                case .restarted: continue
                case .gone:
                    reader.leave()
                    throw .gone
                case .failed(let error):
                    reader.leave()
                    throw fault(error)
                case .complete:
                    reader.leave()
                    return try content(range, wanted)
                case .bytes(let partial, let here):
                    metrics.add("hub_cache_miss_bytes_total", Double(range.count))
                    return .stream(
                        length: Int64(range.count),
                        GrowingBody(
                            reader, range: range, limit: limit, partial: partial, here: here, client: client))
                }
            }
        }
    }

    private func fault(_ error: AIError) -> HubFault {
        let fault = HubFault(error)
        if fault.isOfThisMachine { report(error) }
        return fault
    }

    /// The bytes of a file that has just come.
    private func content(_ range: Range<Int64>, _ wanted: WantedFile) throws(HubFault) -> HTTPBody {
        let folder = upstream.workspace.layout.repository(wanted.repository)
        let snapshot = Path.join(folder.snapshot(wanted.commit), wanted.file.path)
        let blob = folder.blob(wanted.file.digest.hex)
        metrics.add("hub_cache_miss_bytes_total", Double(range.count))
        do throws(AIError) {
            return .file(try OpenFile(FileSystem.exists(snapshot) ? snapshot : blob), range)
        } catch { throw fault(error) }
    }
}

extension FileRequest {
    /// Whether the client wants everything after the bytes that it has: `bytes=1000-`.
    fileprivate var isResume: Bool { isOpenEnded && plainRange != "0-" }

    /// Whether it wants everything from somewhere on: `bytes=0-`.
    fileprivate var isOpenEnded: Bool {
        guard let range = plainRange else { return false }
        return range.hasSuffix("-") && range.count > 1 && range.dropLast().allSatisfy(\.isNumber)
    }

    /// `1000-` of `bytes=1000-`, read as leniently as ``ByteRange`` does.
    private var plainRange: String? {
        request.headers["Range"]?.lowercased().filter { $0 != " " && $0 != "\t" }.dropping(prefix: "bytes=")
    }
}

/// The body of an answer to HEAD, of which only the length is sent.
private final class NoBytes: BodyProducer {
    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep { .abort }
}
