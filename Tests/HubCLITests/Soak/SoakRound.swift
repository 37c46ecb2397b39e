import HubCore
import Libc
import Support

/// One round: pulls that are disturbed, one after another, then one that is not, and a look at everything it leaves.
struct SoakRound {
    let settings: SoakSettings
    let repository: SoakRepository
    let plan: SoakPlan
    /// The cache, the catalog and what the programs wrote.
    let folder: String
    let hub: LoopbackHub
    /// The events so far, for failure reports.
    private(set) var story: [String] = []
    /// What should not have happened.
    private(set) var faults: [String] = []
    private(set) var tally = SoakTally()

    /// A round of a few seconds; nothing that must end takes longer than this.
    private static let patience = 180.0

    init(_ number: Int, _ settings: SoakSettings, _ repositories: [SoakRepository]) throws {
        self.settings = settings
        plan = SoakPlan(seed: settings.seed, round: number, repositories: repositories.count)
        repository = repositories[plan.repository]
        folder = Path.join(settings.folder, "hub-soak-\(settings.seed)-\(number)")
        try FileSystem.removeTree(folder)
        try FileSystem.createDirectories(Path.join(folder, "home"))
        hub = try repository.serve()
    }

    /// Runs a round. The folder of one that failed stays, with its story in it.
    static func run(_ number: Int, _ settings: SoakSettings, _ repositories: [SoakRepository]) async throws
        -> SoakRound
    {
        var round = try SoakRound(number, settings, repositories)
        do {
            try await round.run()
        } catch {
            round.faults.append("\(error)")
        }
        round.tally.rounds = 1
        guard !round.faults.isEmpty else {
            try FileSystem.removeTree(round.folder)
            return round
        }
        round.tally.failed = 1
        round.story.insert(
            contentsOf: [
                "round \(number) failed; again: \(settings.command(round: number))",
                "what is left: \(round.folder)",
            ] + round.faults.map { "WRONG: \($0)" }, at: 0)
        try FileSystem.replace(Path.join(round.folder, "story"), with: Array((round.text + "\n").utf8))
        return round
    }

    /// The story as people read it.
    var text: String { story.joined(separator: "\n  ") }

    private mutating func run() async throws {
        for (index, attempt) in plan.attempts.enumerated() {
            try await disturb(attempt, "attempt \(index + 1)")
            note(try SoakInspection(cache, repository).faults(), after: "attempt \(index + 1)")
            try spoil(attempt)
        }
        hub.clearFaults()
        try await finish()
    }

    private var cache: String { Path.join(folder, "hf/hub") }
    private var blobs: String { Path.join(cache, "models--org--mixed/blobs") }

    private mutating func note(_ found: [String], after when: String) {
        faults += found.map { "after \(when): \($0)" }
    }

    // MARK: Programs

    /// - Parameter stall: seconds after which a silent connection is given up.
    private func start(_ words: [String], stall: Int) throws -> RunningProcess {
        let environment = [
            "PATH": "/usr/bin:/bin", "HOME": Path.join(folder, "home"), "HF_HOME": Path.join(folder, "hf"),
            "HUB_HOME": Path.join(folder, "state"), "HF_ENDPOINT": hub.endpoint, "LC_ALL": "C.UTF-8",
            "HF_HUB_DOWNLOAD_TIMEOUT": "\(stall)", "HF_HUB_ETAG_TIMEOUT": "\(stall)",
        ]
        return try RunningProcess(settings.hub, words, environment: environment)
    }

    private mutating func disturb(_ attempt: SoakPlan.Attempt, _ name: String) async throws {
        story.append("\(name): \(attempt.faults.count) faults")
        story += attempt.faults.map { "    \($0)" }
        if let moment = attempt.prune { story.append("    all partials are deleted \(moment)") }
        if let moment = attempt.expiry { story.append("    all signed addresses expire \(moment)") }
        hub.clearFaults()
        attempt.faults.forEach(hub.add)
        let (before, began) = (hub.traffic, Clock.seconds)
        let processes = try attempt.programs.map { try start($0.words, stall: 1) }
        var pending: [(moment: SoakPlan.Moment, act: () throws -> Void)] = []
        for (program, process) in zip(attempt.programs, processes) {
            if let (number, moment) = program.signal { pending.append((moment, { process.send(number) })) }
        }
        if let moment = attempt.prune { pending.append((moment, { [blobs] in try Self.prune(blobs) })) }
        if let moment = attempt.expiry { pending.append((moment, hub.expireSignedAddresses)) }
        let running = Monitor(processes.count)
        let endings = processes.map { process in
            Task {
                defer { running.update { $0 -= 1 } }
                return try await process.wait(seconds: Self.patience)
            }
        }
        while running.update({ $0 }) > 0 {
            let now = hub.traffic
            func hasCome(_ moment: SoakPlan.Moment) -> Bool {
                switch moment {
                case .requests(let count): now.requests - before.requests >= count
                case .contentBytes(let count): now.contentBytes - before.contentBytes >= count
                case .seconds(let seconds): Clock.seconds - began >= seconds
                }
            }
            for event in pending where hasCome(event.moment) { try event.act() }
            pending.removeAll { hasCome($0.moment) }
            try await Task.sleep(nanoseconds: 1_000_000)
        }
        for (index, program) in attempt.programs.enumerated() {
            let result = try await endings[index].value
            try keep(
                result, program.words, "\(name), program \(index + 1)",
                signal: program.signal.map { "\($0.number) \($0.moment)" })
            tally.count(result)
            if let fault = Self.fault(of: result, program) { faults.append("\(name): \(fault)") }
        }
    }

    /// A program that is disturbed may fail, but not in every way.
    private static func fault(of result: ProcessResult, _ program: SoakPlan.Program) -> String? {
        let number = program.signal?.number
        if result.wasKilled {
            // A signal before the program handles it ends it by default.
            return result.status - 128 == number ? nil : "a program crashed with signal \(result.status - 128)"
        }
        var allowed: Set<Int32> = [0, 5, 7]
        if number == SIGINT || number == SIGTERM { allowed.insert(130) }
        return allowed.contains(result.status) ? nil : "exit status \(result.status): \(lastLines(result.error))"
    }

    private mutating func keep(_ result: ProcessResult, _ words: [String], _ name: String, signal: String? = nil)
        throws
    {
        let file = name.replacing(", ", with: "-").replacing(" ", with: "")
        try FileSystem.replace(Path.join(folder, file + ".log"), with: result.errorBytes)
        story.append(
            "\(name): hub \(words.joined(separator: " "))" + (signal.map { ", signal \($0)" } ?? "")
                + ": exit status \(result.status): \(Self.lastLines(result.error, 1))")
    }

    private static func lastLines(_ text: String, _ count: Int = 3) -> String {
        text.split(separator: "\n").suffix(count).joined(separator: " / ")
    }

    // MARK: Damage

    private static func partials(_ blobs: String) throws -> [String] {
        (try FileSystem.entries(blobs) ?? []).filter { $0.hasSuffix(".incomplete") }.sorted()
    }

    private static func prune(_ blobs: String) throws {
        for name in try partials(blobs) { try FileSystem.remove(Path.join(blobs, name)) }
    }

    private mutating func spoil(_ attempt: SoakPlan.Attempt) throws {
        var random = SeededRandom(state: attempt.seed)
        for damage in attempt.damage {
            let isMap = damage == .cutMap
            let names = try Self.partials(blobs).filter { $0.hasSuffix(".map.incomplete") == isMap }
            guard let name = names.randomElement(using: &random) else { continue }
            let path = Path.join(blobs, name)
            tally.damaged += 1
            let file = try FileDescriptor(path, .write)
            let size = try file.status().size
            switch damage {
            case .pruned: try FileSystem.remove(path)
            case .cutPartial, .cutMap: try file.truncate(to: Int64.random(in: 0...size, using: &random))
            case .flippedBit:
                guard size > 0 else { continue }
                let place = Int64.random(in: 0..<size, using: &random)
                var byte: [UInt8] = [0]
                _ = try byte.withUnsafeMutableBytes { try file.read(into: $0, at: place) }
                byte[0] ^= 1
                try byte.withUnsafeBytes { try file.write($0, at: place) }
            }
            story.append("then \(name), of \(size) bytes: \(damage)")
        }
    }

    // MARK: The end

    /// An undisturbed pull must fetch everything, `hub ls` must show it, and another pull has nothing to do.
    private mutating func finish() async throws {
        // Earlier pulls may have chosen some of the files.
        let words = ["pull", "--json", "--progress", "json", "--format", "all", SoakRepository.id]
        let result = try await start(words, stall: 60).wait(seconds: Self.patience)
        try keep(result, words, "the last pull")
        guard result.status == 0 else {
            faults.append("the last pull ended with exit status \(result.status): \(Self.lastLines(result.error))")
            return
        }
        let retries = result.error.split(separator: "\n").filter {
            (try? JSON.parse(String($0)))?["event"]?.string == "retry"
        }
        if let first = retries.first, !plan.spoils { faults.append("the last pull tried again: \(first)") }
        note(try SoakInspection(cache, repository).faults(isWhole: true), after: "the last pull")

        let list = try await start(["ls", "--json"], stall: 60).wait(seconds: Self.patience)
        try keep(list, ["ls", "--json"], "the list")
        let document = try list.document()
        let model = document.objects("models").first
        if document.objects("models").count != 1 || model?["complete"]?.bool != true
            || model?["size_bytes"]?.int != repository.size || document["partial_bytes"]?.int != 0
            || document["other_bytes"]?.int != 0
        {
            faults.append("hub ls --json says \(list.output)")
        }

        let before = hub.requests.count
        let again = try await start(["pull", SoakRepository.id], stall: 60).wait(seconds: Self.patience)
        try keep(again, ["pull"], "a pull with nothing to do")
        let asked = hub.requests.dropFirst(before).map(\.line).filter { !$0.hasPrefix("GET /api/") }
        if again.status != 0 || !asked.isEmpty { faults.append("a pull with nothing to do asked for \(asked)") }
    }
}
