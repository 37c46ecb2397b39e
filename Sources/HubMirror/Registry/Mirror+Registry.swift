import Fetcher
import HubCore
import HubServer

/// Ollama's registry protocol: `ollama pull HOST[:PORT]/org/name:QUANT` asks for a manifest, then for the blobs it names by
/// ranges, without a token. https://huggingface.co/docs/hub/ollama
extension Mirror {
    enum RegistryRoute {
        /// What clients ask to learn whether there is a registry.
        case probe
        case manifest(Repository, tag: String)
        /// The digest is 64 lower-case hexadecimal digits.
        case blob(Repository, digest: String)

        init?(_ parts: [String]) {
            guard parts.first == "v2" else { return nil }
            if parts.count == 1 {
                self = .probe
                return
            }
            guard parts.count == 5, let id = try? RepositoryID("\(parts[1])/\(parts[2])") else { return nil }
            let digest = parts[4].hasPrefix("sha256:") ? String(parts[4].dropFirst(7)) : ""
            switch parts[3] {
            case "manifests": self = .manifest(Repository(.model, id), tag: parts[4])
            case "blobs" where digest.utf8.count == 64 && digest.utf8.allSatisfy(\.isLowercaseHex):
                self = .blob(Repository(.model, id), digest: digest)
            default: return nil
            }
        }
    }

    func registry(_ route: RegistryRoute, _ exchange: Exchange) throws(HubFault) -> ServedResponse {
        guard ["GET", "HEAD"].contains(exchange.request.method) else { throw .method(allowed: "GET, HEAD") }
        switch route {
        case .probe: return .json(.object([:]))
        case .manifest(let repository, let tag):
            return try wait(exchange) { try await self.manifest(repository, tag, exchange) }
        case .blob(let repository, let digest):
            if let file = try wait(exchange, { try await self.layer(repository, digest, exchange) }) {
                return try content(repository, file.commit.hash, path: file.path, exchange, isLayer: true)
            }
            let bytes = try wait(exchange) { try await self.text(repository, digest, exchange) }
            let file = ServedFile(
                path: digest, digest: .sha256(digest), location: "",
                identity: FileIdentity(size: Int64(bytes.count)))
            let asked = FileRequest(repository: repository, commit: "", file: file, request: exchange.request)
            return asked.ranged([
                "Content-Type": asked.contentType, "Accept-Ranges": "bytes", "Location": exchange.here,
            ]) {
                range, _ in .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
        }
    }

    /// The main branch, for a client who may have its files.
    private func model(_ repository: Repository, _ exchange: Exchange) async throws -> KnownTree {
        try await access.admit(repository, exchange)
        let commit = try await commit(of: repository, "main", exchange)
        let known = try await trees.tree(of: repository, at: commit, exchange)
        if let file = known.tree.files.first(where: { $0.path.lowercased().hasSuffix(".gguf") }) {
            try await access.admit(repository, exchange, file: (commit, file))
        }
        return known
    }

    /// Upstream's manifest, or one of the files here if there is none.
    private func manifest(_ repository: Repository, _ tag: String, _ exchange: Exchange) async throws
        -> ServedResponse
    {
        let known = try await model(repository, exchange)
        do {
            let answer = try await answers.answer(.init(target: exchange.request.rawPath), exchange)
            guard answer.json?["layers"]?.array != nil else {
                throw HubFault(status: 502, message: "upstream's manifest of \(repository) has no layers")
            }
            return pass(answer, exchange)
        } catch let fault as HubFault where fault.status != 404 {
            throw fault
        } catch {
            // It has no registry, or is away.
            if let error = error as? AIError, ![.offline, .unreachable, .timedOut].contains(error.code) {
                throw error
            }
        }
        let info = answers.known(.init(infoOf: repository, "main"))?.json
        let manifest: RegistryManifest
        do {
            manifest = try await RegistryManifest(
                known, tag: tag, architecture: info?["gguf"]?["architecture"]?.string
            ) { try await self.smallFile($0, of: known, exchange) }
        } catch let error as AIError where [.nothingMatches, .invalidInput].contains(error.code) {
            throw HubFault(status: error.code == .nothingMatches ? 404 : 400, message: error.message)
        }
        for (digest, bytes) in manifest.texts { answers.keepText(bytes, digest, of: repository) }
        return ServedResponse(
            200, headers: ["Content-Type": "application/vnd.docker.distribution.manifest.v2+json"],
            body: .bytes(manifest.bytes))
    }

    /// The file of a repository's main branch that is a blob.
    private func layer(_ repository: Repository, _ digest: String, _ exchange: Exchange) async throws
        -> (commit: Commit, path: String)?
    {
        let known = try await model(repository, exchange)
        if let file = known.tree.files.first(where: { $0.sha256 == digest }) {
            return (known.tree.commit, file.path)
        }
        // The branch may have moved since the manifest was sent.
        return trees.place(of: digest, in: repository)
    }

    /// A blob that is a file of no repository: it came with a manifest, or is upstream's.
    private func text(_ repository: Repository, _ digest: String, _ exchange: Exchange) async throws -> [UInt8] {
        if let known = answers.text(digest, of: repository) { return known }
        let question = Answers.Question(target: exchange.request.rawPath, of: .sha256(digest))
        let answer = try await answers.fresh(question, exchange.credential)
        guard answer.isSuccess else { throw answer.fault }
        answers.keepText(answer.body, digest, of: repository)
        return answer.body
    }

    /// A file of at most 1 MiB, checked.
    private func smallFile(_ file: RepositoryFile, of known: KnownTree, _ exchange: Exchange) async throws
        -> [UInt8]
    {
        let (repository, commit) = (known.repository, known.tree.commit)
        let folder = upstream.workspace.layout.repository(repository)
        let here = try await Blocking.run { () throws(AIError) -> [UInt8]? in
            guard try SnapshotFile.state(file, commit: commit, in: folder) == .present else { return nil }
            return try FileSystem.contents(Path.join(folder.snapshot(commit), file.path))
        }
        if let here { return here }
        var question = Answers.Question(
            target: "/\(repository)/resolve/\(commit)/\(PercentEncoding.encode(file.path, keeping: "/"))",
            of: file.digest)
        question.byCommit = true
        return try await answers.answer(question, exchange).body
    }
}
