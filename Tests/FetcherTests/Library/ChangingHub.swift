import HubCore
import Support

/// A Hub whose models change while it is asked. Its cursors name a place in the order and not a number of entries, as the
/// real one's do: what moves does not shift the rest.
final class ChangingHub: Sendable {
    /// A model as the Hub knows it.
    struct Model: Sendable, Hashable {
        var number: Int
        var owner: String
        /// Milliseconds since 1970.
        var createdAt: Int
        var changedAt: Int
        /// What a change with a date brings; a tag says it.
        var revision = 0
        /// What moves without a date.
        var downloads = 0
        var id: String { "\(owner)/m\(number)" }
    }

    /// What happens to a request instead of an answer, or before it.
    enum Cut: Sendable {
        case status(Int)
        case garbage
        /// The answer comes, and so does what the closure does.
        case after(@Sendable () -> Void)
    }

    struct State: Sendable {
        var models: [Int: Model] = [:]
        var hidden: [Int: Model] = [:]
        var clock = 1_700_000_000_000
        var made = 0
        var pageSize: Int
        /// Of each request since the last ``ChangingHub/calm()``.
        var cuts: [Int: Cut] = [:]
        /// Changes the models at each request; nil while all is calm.
        var unrest: SeededRandom?
        var asked = 0
    }

    private let state: Monitor<State>
    private let server: ScriptedServer
    var address: String { server.address }
    var requests: [ScriptedServer.Asked] { server.requests }

    init(models: Int, pageSize: Int) throws {
        let state = Monitor(State(pageSize: pageSize))
        self.state = state
        server = try ScriptedServer { asked in
            let (cut, answer) = state.update { state -> (Cut?, ScriptedServer.Answer) in
                let cut = state.cuts[state.asked]
                state.asked += 1
                if var random = state.unrest {
                    for _ in 0..<random.next() % 4 { state.change(&random) }
                    state.unrest = random
                }
                return (cut, state.page(asked.target))
            }
            switch cut {
            case .status(let status): return .status(status)
            case .garbage: return .json("[{\"id\": unfinished")
            case .after(let body): body()
            case nil: break
            }
            return answer
        }
        update { for _ in 0..<models { $0.add() } }
    }

    @discardableResult
    func update<Value>(_ body: (inout State) -> Value) -> Value { state.update(body) }

    /// From now on models change with every request, and some requests fail.
    func disturb(_ random: SeededRandom, cuts: [Int: Cut]) {
        update {
            ($0.unrest, $0.cuts, $0.asked) = (random, cuts, 0)
        }
    }

    func calm() { update { ($0.unrest, $0.cuts) = (nil, [:]) } }

    /// Every model, by its id.
    var models: [String: Model] {
        update { Dictionary(uniqueKeysWithValues: $0.models.values.map { ($0.id, $0) }) }
    }
}

extension ChangingHub.State {
    /// Changes often have the same date.
    private mutating func tick(_ milliseconds: Int = 1) -> Int {
        clock += milliseconds
        return clock
    }

    mutating func add() {
        made += 1
        let now = tick(made % 3)
        models[made] = .init(number: made, owner: made % 2 == 0 ? "even" : "odd", createdAt: now, changedAt: now)
    }

    mutating func touch(_ number: Int) {
        let now = tick(number % 2)
        models[number]?.changedAt = now
        models[number]?.revision += 1
    }

    mutating func remove(_ number: Int) { hidden[number] = models.removeValue(forKey: number) }

    mutating func change(_ random: inout SeededRandom) {
        let numbers = models.keys.sorted()
        guard let number = numbers.randomElement(using: &random) else { return add() }
        switch random.next() % 8 {
        case 0, 1: add()
        case 2, 3, 4: touch(number)
        case 5: models[number]?.downloads += 1
        case 6: remove(number)
        default:
            guard let back = hidden.keys.sorted().randomElement(using: &random) else { return }
            models[back] = hidden.removeValue(forKey: back)
            touch(back)
        }
    }

    /// `/api/models?sort=lastModified&limit=5&cursor=KEY_NUMBER`
    func page(_ target: String) -> ScriptedServer.Answer {
        let parts = target.split(separator: "?", maxSplits: 1)
        guard parts[0] == "/api/models", parts.count == 2 else { return .status(404) }
        var query: [String: String] = [:]
        for item in parts[1].split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1)
            if pair[0] != "expand" { query[String(pair[0])] = String(pair[1]) }
        }
        guard query["sort"] == "lastModified" || query["sort"] == "createdAt" else { return .status(400) }
        let key: KeyPath<ChangingHub.Model, Int> = query["sort"] == "createdAt" ? \.createdAt : \.changedAt
        func place(_ model: ChangingHub.Model) -> (Int, Int) { (model[keyPath: key], model.number) }
        var listed = models.values.filter { model in query["author"].map { $0 == model.owner } ?? true }
        listed.sort { place($0) > place($1) }
        if let cursor = query["cursor"] {
            let numbers = cursor.split(separator: "_").compactMap { Int($0) }
            listed.removeAll { place($0) >= (numbers[0], numbers[1]) }
        }
        let limit = min(Int(query["limit"] ?? "") ?? pageSize, pageSize)
        let page = listed.prefix(limit)
        var headers: [(String, String)] = []
        if listed.count > page.count, let last = page.last {
            let kept = parts[1].split(separator: "&").filter { !$0.hasPrefix("cursor=") }.joined(separator: "&")
            headers = [("Link", "</api/models?\(kept)&cursor=\(place(last).0)_\(place(last).1)>; rel=\"next\"")]
        }
        return .json("[\(page.map(\.json).joined(separator: ","))]", headers: headers)
    }
}

extension ChangingHub.Model {
    var json: String {
        """
        {"id":"\(id)","author":"\(owner)","createdAt":"\(Self.date(createdAt))","lastModified":"\(Self.date(changedAt))",\
        "downloads":\(downloads),"likes":0,"tags":["r\(revision)"]}
        """
    }

    private static func date(_ milliseconds: Int) -> String {
        let fraction = String(1000 + milliseconds % 1000).dropFirst()
        return Timestamp.iso8601(Double(milliseconds / 1000)).dropLast() + ".\(fraction)Z"
    }
}
