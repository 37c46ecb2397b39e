import Fetcher
import HubCore
import HubServer

extension Upstream {
    /// Asks upstream whether a client may have a file, by the file's head.
    ///
    /// Only an answer with this commit and digest is a grant. A redirect may lead from a former name of the repository to
    /// where access is refused, or to a page for signing in, and a proxy answers with pages of its own.
    ///
    /// - Throws: ``HubFault`` with upstream's refusal, or 502 if its answer is about something else.
    func grant(_ file: RepositoryFile, of repository: Repository, at commit: Commit, _ credential: Credential)
        async throws
    {
        let client = try await client(credential)
        var request = Fetcher.HTTPRequest(
            .head, client.fileAddress(repository, revision: commit.hash, path: file.path))
        request.fields["Accept-Encoding"] = "identity"
        for _ in 0...10 {
            let response = try await send(request, by: client, followsRedirects: false)
            guard response.status < 400 else { throw Answer(response, isOfAPI: false).fault }
            if Self.isAbout(file, commit, response) { return }
            guard response.head.isRedirect else { break }
            let next = try response.head.redirectTarget()
            // Another server does not know who may have what.
            guard Origin(next) == endpoint.origin else { break }
            request.address = next
        }
        throw HubFault(status: 502, message: "upstream does not confirm access to \(file.path) of \(repository)")
    }

    private static func isAbout(_ file: RepositoryFile, _ commit: Commit, _ response: Fetcher.HTTPResponse) -> Bool
    {
        guard response.fields["X-Repo-Commit"] == commit.hash,
            let etag = response.fields["X-Linked-Etag"] ?? response.fields["ETag"]
        else { return false }
        return ContentDigest.normalized(etag: etag) == file.digest.hex
    }
}
