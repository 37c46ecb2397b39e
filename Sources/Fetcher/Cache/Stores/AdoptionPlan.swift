package import HubCore

/// How copies in several stores become one. Programs' own manifests and settings are never touched; of files only
/// names are replaced, by a link to proven content, or blocks are shared without changing a file.
package struct AdoptionPlan: Sendable {
    package enum Action: String, Sendable, Hashable {
        /// Both files stay and share their blocks: neither changes when the other is written.
        case reflink
        /// Both names are of one file.
        case hardlink
        /// Nothing changes on the disk: a pull takes the bytes from there, after proving them.
        case register
    }

    /// One copy.
    package struct Row: Sendable, Hashable {
        /// The file of the other program.
        package var path: String
        package var tool: StoreTool
        /// SHA-256: proven before anything is linked.
        package var sha256: String
        package var size: Int64
        /// What it is a file of, if a known commit has it.
        package var repository: Repository?
        package var commit: Commit?
        package var file: String?
        package var action: Action
        package var saves: Int64
        /// The file whose name or blocks are replaced: a blob of the cache, or a second copy; nil if the cache has none.
        package var target: String?

        /// What carrying it out reads: for a hard link both files, for a reflink nothing, because the kernel compares.
        package var readBytes: Int64 {
            switch action {
            case .reflink: 0
            case .hardlink: 2 * size
            case .register: size
            }
        }
    }

    package internal(set) var rows: [Row] = []
    package var savedBytes: Int64 { rows.reduce(0) { $0 + $1.saves } }

    /// Finds what can become one. Reads nothing but states; ``StoreSurvey/prove(_:progress:)`` comes first.
    ///
    /// - Parameters:
    ///   - stores: takes only files of these stores; nil for all.
    ///   - registered: files that pulls take already, by SHA-256.
    ///   - names: what known commits have files of a digest.
    package init(
        _ survey: StoreSurvey, in layout: CacheLayout, from stores: Set<Store>? = nil,
        registered: [String: String] = [:],
        names: (String) -> (repository: Repository, commit: Commit, path: String)? = { _ in nil }
    ) {
        let mayTake: (StoreSurvey.Place) -> Bool = { place in
            let store = survey.stores[place.store].store
            return store.tool != .huggingface && (stores?.contains(store) ?? true)
        }
        var byDigest: [String: (own: [StoreSurvey.Place], foreign: [StoreSurvey.Place])] = [:]
        for place in survey.places {
            guard let digest = survey.digests[survey[place].identity] else { continue }
            if mayTake(place) {
                byDigest[digest, default: ([], [])].foreign.append(place)
            } else if survey.stores[place.store].store == Store(.huggingface, layout.root),
                survey.stores[place.store].claims[place.file] == digest
            {
                byDigest[digest, default: ([], [])].own.append(place)
            }
        }
        for (digest, found) in byDigest.sorted(by: { $0.key < $1.key }) where !found.foreign.isEmpty {
            add(digest, found.own, Self.ranked(found.foreign, survey), survey, registered[digest], names(digest))
        }
    }

    /// The copies, the one first that all others can share best: proven, of a program that never writes into it, and
    /// with the most names, because a file with several of them is never replaced.
    private static func ranked(_ copies: [StoreSurvey.Place], _ survey: StoreSurvey) -> [StoreSurvey.Place] {
        func rank(_ place: StoreSurvey.Place) -> (Int, Int, Int64) {
            let file = survey[place]
            return (
                survey.proven.contains(file.identity) ? 0 : 1,
                survey.stores[place.store].store.tool.keepsFilesUnchanged ? 0 : 1, -Int64(file.file.links)
            )
        }
        return copies.enumerated().sorted { one, other in
            let (left, right) = (rank(one.element), rank(other.element))
            return left == right ? one.offset < other.offset : left < right
        }.map(\.element)
    }

    private mutating func add(
        _ digest: String, _ own: [StoreSurvey.Place], _ foreign: [StoreSurvey.Place], _ survey: StoreSurvey,
        _ registered: String?, _ name: (repository: Repository, commit: Commit, path: String)?
    ) {
        // The first copy of another program is the one that all share.
        let first = foreign[0]
        var joined: [StoreSurvey.Place] = [first]
        func row(_ place: StoreSurvey.Place, _ action: Action, saves: Int64, target: StoreSurvey.Place?) -> Row {
            Row(
                path: survey.path(place), tool: survey.stores[place.store].store.tool, sha256: digest,
                size: survey[place].file.size, repository: name?.repository, commit: name?.commit, file: name?.path,
                action: action, saves: saves, target: target.map(survey.path))
        }
        for target in own + foreign.dropFirst() {
            guard survey[target].file.size == survey[first].file.size,
                !joined.contains(where: { survey[$0].identity == survey[target].identity })
            else { continue }
            joined.append(target)
            let link = Self.action(survey, first, target)
            guard let link else { continue }
            rows.append(row(first, link, saves: survey[target].bytes, target: target))
        }
        // A cache without the content gets a name for it, or remembers where it is.
        if own.isEmpty, registered != survey.path(first) {
            rows.append(row(first, .register, saves: 0, target: nil))
        }
    }

    /// Leaves out files that a program has open: their space would stay in use.
    ///
    /// - Returns: a sentence for each.
    package mutating func leaveOpen(_ files: OpenFiles) -> [String] {
        var told: [String] = []
        rows.removeAll { row in
            guard let target = row.target, let status = (try? FileSystem.linkStatus(target)) ?? nil,
                let user = files.users[PhysicalFile(status).identity]
            else { return false }
            told.append("\(target) is left out: \(user) has it open")
            return true
        }
        return told
    }

    /// Only what was done of it.
    package mutating func keep(_ done: [Row]) { rows = done }

    /// How a second copy can share the content of the first; nil if it cannot, or does already.
    private static func action(_ survey: StoreSurvey, _ first: StoreSurvey.Place, _ second: StoreSurvey.Place)
        -> Action?
    {
        let (source, target) = (survey.path(first), survey.path(second))
        guard !FileDigest.areClones(source, target) else { return nil }
        if SharedContent.canShareBlocks(source, target) { return .reflink }
        let tools = [first, second].map { survey.stores[$0.store].store.tool }
        guard tools.allSatisfy(\.keepsFilesUnchanged), SharedContent.canLink(source, over: target) else {
            return nil
        }
        return .hardlink
    }
}
