import Fetcher
import HubCore
import ModelFormats

/// The downloads that pages have started. They run in the server, so a page that is closed or loaded again loses none.
final class PageDownloads: Sendable {
    /// Those that are over and still shown.
    private static let mostOver = 50

    private let all = Lock<[PageDownload]>([])

    var active: Int { all.withLock { $0.count { !$0.isOver } } }

    /// Starts what a request asks for; the same once more is the one that runs.
    func start(_ request: PageRequest, _ place: PagePlace) async throws -> JSON {
        let model = try request.text("model")
        if place.workspace.isOffline { throw AIError.offline(try place.context.reference(model)) }
        let reference = try place.context.reference(model)
        let format: WeightChoice.Format? = try request.body?["format"]?.string.map { text throws(AIError) in
            guard let format = WeightChoice.Format(rawValue: text) else {
                throw AIError(.invalidInput, "there is no format \(text.printable)")
            }
            return format
        }
        let order = PageDownload.Order(
            model: model, format: format, quantization: request.body?["quant"]?.string)
        let name = "\(reference.repository)" + (order.quantization.map { ":\($0)" } ?? "")
        let new = PageDownload(
            order, page: PageAddress.repository(reference),
            chat: place.hasAPI ? PageAddress.chat(model: name) : nil)
        let known = all.withLock { all -> PageDownload? in
            if let known = all.first(where: { $0.order == order && !$0.isOver }) { return known }
            all.removeAll { $0.order == order }
            all.insert(new, at: 0)
            let over = all.filter(\.isOver).dropFirst(Self.mostOver).map(\.id)
            all.removeAll { over.contains($0.id) }
            return nil
        }
        if let known { return known.json }
        new.start(place.context.recording().context, place.workspace) {
            Task.detached {
                // The next list is quick, and knows it.
                _ = try? await place.workspace.state()
            }
        }
        return new.json
    }

    /// Pauses, resumes, cancels, repeats or forgets one.
    func change(_ id: String, verb: String, _ place: PagePlace) async throws -> JSON {
        guard let download = all.withLock({ $0.first { $0.id == id } }) else {
            throw AIError(.nothingMatches, "there is no such download any more")
        }
        switch verb {
        case "pause": download.pause()
        case "resume": download.resume()
        case "cancel":
            download.cancel()
            await download.settle()
        case "forget":
            guard download.isOver else { throw AIError(.invalidInput, "this download is not over") }
            all.withLock { $0.removeAll { $0 === download } }
        default: throw AIError(.invalidInput, "a download cannot \(verb.printable)")
        }
        return json
    }

    /// All of them, the newest first.
    var json: JSON { .object(["downloads": .array(all.withLock { $0 }.map(\.json))]) }

    /// Ends all of them; what was received is kept. Blocks.
    func stop() {
        let all = all.withLock { $0 }
        for download in all { download.cancel() }
        try? Blocking.wait { for download in all { await download.settle() } }
    }
}
