import Fetcher
import HubCore

extension DoctorCommand {
    /// What the cache looks like, and everything in it that is not as it should be.
    @Sendable static func cacheFindings(_ context: Context, _ workspace: Workspace) async throws -> [DoctorFinding]
    {
        let (layout, xet, now) = (workspace.layout, workspace.xet, context.now)
        let diagnosis = try await Offload.run { try CacheDiagnosis(layout, xet: xet, now: now) }
        return [summary(diagnosis.state)] + diagnosis.findings.map { doctorFinding($0, context) }
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
        let mend = finding.mend.map { mend in
            { @Sendable () async throws -> (text: String, isWhole: Bool) in
                let now = context.now
                let outcome = try await Offload.run { try mend.run(now: now) }
                return (outcome.text, outcome.isWhole && finding.mendsAll)
            }
        }
        // What lies in one place has no list of places.
        let places = words.hasPlaces ? places(finding) : nil
        return DoctorFinding(
            section: "cache", name: finding.kind.rawValue, level: words.level,
            text: text + (places.map { " (\($0))" } ?? ""), count: finding.count,
            bytes: words.hasBytes ? finding.bytes : nil, advice: words.advice, mend: mend)
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
                advice = "who owns \(does("it", "them")) can allow it with chmod; what is in there is not counted"
            case .brokenLinks:
                text = "\(many("link")) of snapshots \(does("leads", "lead")) nowhere"
                advice = "hub pull of those models fetches what is missing; Python hides them until then"
            case .danglingRefs:
                text = "\(many("ref")) \(does("names a snapshot that is", "name snapshots that are")) not here"
                advice = "hub doctor --fix deletes what is older than an hour; Python hides those models until then"
            case .refsWithSpace:
                text = "\(many("ref")) \(does("ends", "end")) in a line end, which hides the model from Python"
                advice = "hub doctor --fix writes \(does("it", "them")) anew"
            case .refsWithoutCommit:
                text = "\(many("ref")) \(does("holds", "hold")) no commit, which hides the model from Python"
                advice = "hub pull of that branch writes it anew"
            case .damagedNames: text = "\(many("name")) in the cache \(does("is", "are")) no text"
            case .misplaced:
                (level, text) = (.bad, "\(many("entry", "entries")) where something else should be")
                advice = "hub knows nothing of \(does("it", "them")): look, and move \(does("it", "them")) away"
            case .unwritable:
                text = "in \(many("folder")) of the cache this user can make nothing"
                advice =
                    "a cache that several share wants a common group: chgrp -R GROUP, chmod -R g+rwX, and g+s on folders"
            case .ofOthers:
                (level, text) = (.note, "\(many("file or folder", "files and folders")) of other users")
            case .worldWritable:
                text = "everybody may write \(many("file or folder", "files and folders")) of the cache"
                advice = "chmod -R o-w, for a model that anybody can change is nobody's to trust"
            case .orphans:
                (level, text, hasBytes) = (.note, "\(many("blob")) that no snapshot links to, \(bytes)", true)
                advice = "hub gc --orphans deletes \(does("it", "them"))"
            case .unusedPayloads:
                (level, text, hasBytes) = (
                    .note, "\(many("payload")) of the shared store without a user, \(bytes)", true
                )
                advice = "hub gc --orphans deletes \(does("it", "them"))"
            case .detached:
                (level, hasBytes) = (.note, true)
                text =
                    "\(many("revision")) that no branch or tag names; deleting \(does("it", "them")) frees \(bytes)"
                advice =
                    "hub gc --detached deletes \(does("it", "them")); a commit that was asked for by itself has no name either"
            case .stalePartials:
                (level, text, hasBytes, hasPlaces) = (.note, "\(many("unfinished file")), \(bytes)", true, false)
                advice = "hub pull goes on with its own; hub gc --partials deletes all"
            case .lonelyPartials:
                (level, hasBytes) = (.note, true)
                text = "\(many("partial")) of hub's that cannot be gone on with, \(bytes)"
                advice = "hub doctor --fix deletes \(does("it", "them"))"
            case .linkedFolders:
                (level, text) = (.note, "\(many("folder")) that \(does("is a link", "are links")) to another place")
                advice = "hub lists what is there and deletes none of it"
            case .foreignNames:
                (level, text) = (.note, "\(many("folder")) of a name that no repository can have")
            case .strangers:
                (level, text) = (
                    .note,
                    "\(many("entry", "entries")) that \(does("belongs", "belong")) to no Hugging Face library"
                )
                advice = "hf cache ls warns of \(does("it", "each")): move \(does("it", "them")) out of the cache"
            case .plainFiles:
                (level, text, hasBytes) = (
                    .note, "\(many("file")) in snapshots that \(does("is", "are")) no link, \(bytes)", true
                )
                advice = "so it is where links cannot be made; revisions share no content there"
            case .missing:
                (level, text, hasPlaces) = (
                    .note, "\(many("note")) of files that a repository does not have", false
                )
            case .trees:
                (level, text, hasBytes) = (
                    .note, "\(many("list")) of files of revisions that are gone, \(bytes)", true
                )
                advice = "hub doctor --fix deletes \(does("it", "them"))"
            case .temporaries:
                (level, text) = (
                    .note,
                    "\(many("temporary file or folder", "temporary files and folders")) left by Python's client"
                )
            case .probes:
                (level, text) = (.note, "\(many("link")) that hub made to see whether it can")
                advice = "hub doctor --fix deletes \(does("it", "them"))"
            case .locks:
                (level, text, hasPlaces) = (
                    .good, "\(many("lock file")) of what is gone; empty, and nobody ever deletes them", false
                )
            case .xet:
                (level, hasBytes) = (.note, true)
                text = "\(bytes) in \(many("file")) kept by Xet transfers"
                advice =
                    finding.mend == nil
                    ? "something was written there within the hour; later hub doctor --fix deletes what can be fetched again"
                    : "hub doctor --fix deletes what can be fetched again"
            case .noAccessTimes:
                (level, text) = (.note, "the cache's disk does not note when files are read (noatime or read-only)")
                advice =
                    "what other programs use looks unused to hub gc --older-than; hub path and hub try note their own uses"
            case .network:
                (level, text) = (.note, "the cache lies on a network file system")
                advice = "locks may not hold between machines there; contents are proven all the same"
            }
        }
    }
}
