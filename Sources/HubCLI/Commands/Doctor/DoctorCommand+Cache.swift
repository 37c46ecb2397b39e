import Fetcher
import HubCore

extension DoctorCommand {
    /// The cache's contents and problems.
    @Sendable static func cacheFindings(_ context: Context, _ workspace: Workspace) async throws -> [DoctorFinding]
    {
        let (layout, xet, now) = (workspace.layout, workspace.xet, context.now)
        let diagnosis = try await Blocking.run { try CacheDiagnosis(layout, xet: xet, now: now) }
        return [summary(diagnosis.state)] + (try await damage(workspace))
            + diagnosis.findings.map { doctorFinding($0, context) }
    }

    /// Damage that verifying found and that is still there.
    private static func damage(_ workspace: Workspace) async throws -> [DoctorFinding] {
        let count = try await workspace.damagedRevisions().values.reduce(0) { $0 + $1.count }
        guard count > 0 else { return [] }
        return [
            DoctorFinding(
                section: "cache", name: "damaged", level: .bad,
                text: "hub verify found damage in \(Humanize.plural(count, "revision"))", count: count,
                advice: "hub verify --repair fetches what is damaged; hub ls shows where it is")
        ]
    }

    private static func summary(_ state: CacheState) -> DoctorFinding {
        let (count, bytes) = (state.repositories.count, state.totalSize)
        return DoctorFinding(
            section: "cache", name: "contents", level: .good,
            text: count == 0
                ? "nothing is cached in \(state.layout.root)"
                : "\(Humanize.plural(count, "repository", "repositories")) in \(state.layout.root), \(ByteCount(bytes))",
            count: count, bytes: bytes)
    }

    private static func doctorFinding(_ finding: CacheDiagnosis.Finding, _ context: Context) -> DoctorFinding {
        let words = Words(finding)
        var text = words.text
        if let detail = finding.detail { text += ": \(detail)" }
        let fix = finding.fix.map { fix in
            { @Sendable () async throws -> (text: String, isWhole: Bool) in
                let now = context.now
                let outcome = try await Blocking.run { try fix.run(now: now) }
                return (outcome.text, outcome.isWhole && finding.fixesAll)
            }
        }
        // A single path is not listed separately.
        let places = words.hasPlaces ? places(finding) : nil
        return DoctorFinding(
            section: "cache", name: finding.kind.rawValue, level: words.level,
            text: text + (places.map { " (\($0))" } ?? ""), count: finding.count,
            bytes: words.hasBytes ? finding.bytes : nil, advice: words.advice, fix: fix)
    }

    /// The first few, and how many more there are.
    private static func places(_ finding: CacheDiagnosis.Finding) -> String {
        let shown = finding.paths.prefix(3)
        let more = finding.count - shown.count
        return shown.map(\.printable).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// How a finding is said.
    private struct Words {
        var level: DoctorFinding.Level
        var text: String
        var advice: String?
        var hasBytes = false
        var hasPlaces = true

        init(_ finding: CacheDiagnosis.Finding) {
            let (count, bytes) = (finding.count, ByteCount(finding.bytes))
            func many(_ noun: String, _ nouns: String? = nil) -> String { Humanize.plural(count, noun, nouns) }
            /// "1 link leads", "2 links lead".
            func does(_ one: String, _ several: String) -> String { count == 1 ? one : several }
            (level, advice) = (.bad, nil)
            switch finding.kind {
            case .unreadable:
                text = "\(many("place")) in the cache cannot be read"
                advice = "the owner can allow it with chmod; what is in there is not counted"
            case .brokenLinks:
                text = does("1 broken link in a snapshot", "\(many("broken link")) in snapshots")
                advice =
                    "hub pull fetches what is missing of \(does("its model", "their models")); Python hides \(does("it", "them")) until then"
            case .danglingRefs:
                text = "\(many("ref")) \(does("names a snapshot that is", "name snapshots that are")) missing"
                advice = "hub doctor fix deletes refs older than an hour; Python hides those models until then"
            case .refsWithSpace:
                text = "\(many("ref")) \(does("ends", "end")) in a line end, which hides the model from Python"
                advice = "hub doctor fix rewrites \(does("it", "them"))"
            case .refsWithoutCommit:
                text = "\(many("ref")) \(does("has", "have")) no commit, which hides the model from Python"
                advice = "hub pull of that branch rewrites it"
            case .damagedNames: text = "\(many("file name")) in the cache \(does("is", "are")) not valid UTF-8"
            case .misplaced:
                (level, text) = (.bad, "\(many("entry", "entries")) where something else is expected")
                advice = "hub does not know \(does("it", "them")): look, and move \(does("it", "them")) away"
            case .unwritable:
                text = "\(many("cache folder")) \(does("is", "are")) not writable"
                advice =
                    "to share a cache, give it a common group: chgrp -R GROUP, chmod -R g+rwX, and g+s on folders"
            case .ofOthers:
                (level, text) = (.note, "\(many("file or folder", "files and folders")) of other users")
            case .worldWritable:
                text = "anybody can write to \(many("file or folder", "files and folders")) of the cache"
                advice = "chmod -R o-w: a model that anybody can change cannot be trusted"
            case .withheld:
                text =
                    "the group cannot use \(many("file or folder", "files and folders")) of this shared cache as \(does("its owner", "their owners")) can"
                advice = "hub doctor fix gives them to the group; each user can do that for what is theirs"
            case .orphans:
                (level, text, hasBytes) = (.note, "\(many("blob")) that no snapshot links to, \(bytes)", true)
                advice = "hub gc --orphans deletes \(does("it", "them"))"
            case .unusedPayloads:
                (level, text, hasBytes) = (
                    .note, "\(many("payload")) of the shared store that nothing uses, \(bytes)", true
                )
                advice = "hub gc --orphans deletes \(does("it", "them"))"
            case .detached:
                (level, hasBytes) = (.note, true)
                text =
                    "\(many("revision")) that no branch or tag names; deleting \(does("it", "them")) frees \(bytes)"
                advice =
                    "hub gc --detached deletes \(does("it", "them")); this includes commits you pulled by hash"
            case .unfinished:
                (level, hasPlaces) = (.note, false)
                let names = finding.paths.map { path in
                    Repository(folderName: Path.name(path)).map(\.description) ?? path.printable
                }
                let more = count > names.count ? " and \(count - names.count) more" : ""
                text =
                    "the \(does("download", "downloads")) of \(names.joined(separator: ", "))\(more) \(does("is", "are")) unfinished"
                advice =
                    count == 1 ? "hub pull \(names[0]) finishes it" : "hub pull finishes each of them"
            case .stalePartials:
                (level, text, hasBytes, hasPlaces) = (.note, "\(many("unfinished file")), \(bytes)", true, false)
                advice = "hub pull continues its own; hub gc --partials deletes all"
            case .lonelyPartials:
                (level, hasBytes) = (.note, true)
                text = "\(many("partial")) of hub that cannot be continued, \(bytes)"
                advice = "hub doctor fix deletes \(does("it", "them"))"
            case .linkedFolders:
                (level, text) = (.note, "\(many("folder")) that \(does("is a link", "are links")) to another place")
                advice = "hub lists what it holds and deletes nothing in it"
            case .foreignNames:
                (level, text) = (.note, "\(many("folder")) with a name that no repository can have")
            case .strangers:
                (level, text) = (
                    .note,
                    "\(many("entry", "entries")) that \(does("belongs", "belong")) to no Hugging Face library"
                )
                advice = "hf cache ls warns of \(does("it", "each")): move \(does("it", "them")) out of the cache"
            case .plainFiles:
                (level, text, hasBytes) = (
                    .note,
                    "\(many("file")) in snapshots that \(does("is", "are")) not \(does("a link", "links")), \(bytes)",
                    true
                )
                advice =
                    "somebody put them there, or the file system has no symbolic links; revisions do not share such files"
            case .missing:
                (level, text, hasPlaces) = (
                    .note, "\(many("note")) of files that a repository does not have", false
                )
            case .trees:
                (level, text, hasBytes) = (
                    .note, "\(many("file list")) of deleted revisions, \(bytes)", true
                )
                advice = "hub doctor fix deletes \(does("it", "them"))"
            case .temporaries:
                (level, text) = (
                    .note,
                    "\(many("temporary file or folder", "temporary files and folders")) left by Python's client"
                )
            case .probes:
                (level, text) = (.note, "\(many("test link")) that hub made")
                advice = "hub doctor fix deletes \(does("it", "them"))"
            case .locks:
                (level, text, hasPlaces) = (
                    .good, "\(many("leftover lock file")) (empty, harmless)", false
                )
            case .xet:
                (level, hasBytes) = (.note, true)
                text = "\(bytes) in \(many("file")) of Xet transfers"
                advice =
                    finding.fix == nil
                    ? "it changed within the hour; later hub doctor fix deletes what can be fetched again"
                    : "hub doctor fix deletes what can be fetched again"
            case .noAccessTimes:
                (level, text) = (
                    .note, "the cache's disk does not record when files are read (noatime or read-only)"
                )
                advice =
                    "hub gc --unused-for cannot see what other programs use; hub path and hub try record their own uses"
            case .network:
                (level, text) = (.note, "the cache is on a network file system")
                advice = "locks may not work between machines; contents are verified all the same"
            }
        }
    }
}
