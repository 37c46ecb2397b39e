import HubCore
import Testing

@testable import Fetcher
@testable import HubCLI

/// A clock that stands until it is moved.
final class ManualClock: Sendable {
    private let time = Lock(0.0)
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
    @Sendable func seconds() -> Double { time.withLock { $0 } }
}

@Suite struct RateEstimatorTests {
    let clock = ManualClock()

    @Test func steadyRate() {
        var rate = RateEstimator(clock: clock.seconds)
        #expect(rate.bytesPerSecond == nil)
        for step in 0...200 {
            rate.record(Int64(step) * 1000)
            clock.advance(0.1)
        }
        #expect(abs((rate.bytesPerSecond ?? 0) - 9800) < 250)
        #expect(abs((rate.secondsLeft(to: 300_000) ?? 0) - 100_000 / 9800) < 0.5)
    }

    @Test func onlyTheWindowCounts() throws {
        var rate = RateEstimator(window: 5, clock: clock.seconds)
        rate.record(0)
        clock.advance(1)
        rate.record(1_000_000_000)
        for step in 1...10 {
            clock.advance(1)
            rate.record(1_000_000_000 + Int64(step) * 100)
        }
        #expect(try #require(rate.bytesPerSecond) == 100)
    }

    @Test func aStallShows() throws {
        var rate = RateEstimator(clock: clock.seconds)
        rate.record(0)
        clock.advance(1)
        rate.record(1000)
        #expect(rate.bytesPerSecond == 1000)
        clock.advance(3)
        #expect(try #require(rate.bytesPerSecond) == 250)
        clock.advance(10)
        #expect(try #require(rate.bytesPerSecond) == 0)
        #expect(rate.secondsLeft(to: 5000) == nil)
    }

    @Test func tooEarlyToTell() {
        var rate = RateEstimator(clock: clock.seconds)
        rate.record(0)
        clock.advance(0.1)
        rate.record(5000)
        #expect(rate.bytesPerSecond == nil)
    }

    @Test func goingBackStartsAfresh() {
        var rate = RateEstimator(clock: clock.seconds)
        rate.record(5000)
        clock.advance(1)
        rate.record(1000)
        clock.advance(1)
        rate.record(2000)
        #expect(rate.bytesPerSecond == 1000)
    }
}

@Suite struct ProgressLayoutTests {
    static let snapshot = {
        var snapshot = ProgressSnapshot(title: "openai/gpt-oss-20b", phase: nil)
        snapshot.doneBytes = 3_100_000_000
        snapshot.totalBytes = 7_200_000_000
        snapshot.bytesPerSecond = 118_000_000
        snapshot.secondsLeft = 35
        snapshot.filesDone = 12
        snapshot.filesTotal = 27
        snapshot.active = [
            .init("model-00001-of-00002.safetensors", done: 500_000_000, total: 2_000_000_000),
            .init("tokenizer.json", done: 1000, total: nil),
        ]
        return snapshot
    }()

    @Test(arguments: [
        (20, ["openai/gpt…   43%", "  mode…sors   25%", "  toke…json"]),
        (
            40,
            [
                "openai/…  ━━╌╌╌╌   43%  35 s left",
                "  mod…rs  ━╌╌╌╌╌   25%  500 MB/2.0 GB",
                "  tok…on                1.0 kB",
            ]
        ),
        (
            80,
            [
                "openai/gpt-oss-20b      ━━━━╌╌╌╌╌╌╌   43%  3.1 GB/7.2 GB  118 MB/s  35 s left",
                "  model-0000…fetensors  ━━╌╌╌╌╌╌╌╌╌   25%  500 MB/2.0 GB",
                "  tokenizer.json                           1.0 kB",
            ]
        ),
        (
            120,
            [
                "openai/gpt-oss-20b                  ━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌   43%  3.1 GB/7.2 GB"
                    + "  118 MB/s  35 s left  12/27 files",
                "  model-00001-of-00002.safetensors  ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌   25%  500 MB/2.0 GB",
                "  tokenizer.json                                                      1.0 kB",
            ]
        ),
    ])
    func exactRows(_ width: Int, _ expected: [String]) {
        let rows = ProgressLayout().rows(Self.snapshot, width: width, height: 24)
        #expect(rows == expected)
    }

    /// Names that would be cut to the same text are cut where they agree.
    @Test(arguments: [22, 14, 9]) func shardsStayApart(_ width: Int) {
        let shards = ["model-00001-of-00030.safetensors", "model-00002-of-00030.safetensors", "config.json"]
        let fitted = FileLabels.fit(shards, width, ellipsis: "…")
        #expect(Set(fitted).count == 3, "\(fitted)")
        #expect(fitted[0].contains("1") && fitted[1].contains("2"), "\(fitted)")
        #expect(fitted.allSatisfy { DisplayWidth.of($0) <= width }, "\(fitted)")
    }

    @Test func namesOfAnyKindStayApart() {
        for names in [
            ["tokenizer.json", "tokenizer_config.json"], ["a/README.md", "b/README.md"],
            (0..<40).map { "part-\($0 + 100)-of-140.bin" }, ["same", "same"],
        ] {
            for width in 1...40 {
                let fitted = FileLabels.fit(names, width, ellipsis: "…")
                #expect(fitted.allSatisfy { DisplayWidth.of($0) <= width }, "\(width): \(fitted)")
                if width >= 11 { #expect(Set(fitted).count == Set(names).count, "\(width): \(fitted)") }
            }
        }
    }

    /// The files of two models have the name of theirs before their own, and of its organisation only where it must be.
    @Test func rowsSayWhoseFileItIs() {
        var snapshot = ProgressSnapshot(title: "2 models")
        func file(_ name: String, of model: String) -> ProgressSnapshot.File {
            .init(name, of: model, done: 0, total: nil)
        }
        func titles() -> [String] {
            ProgressLayout().rows(snapshot, width: 80, height: 24).dropFirst().map {
                String($0.prefix { $0 != "0" }).trimmingSpaces
            }
        }
        snapshot.active = [file("README.md", of: "org/a"), file("README.md", of: "org/b")]
        #expect(titles() == ["a: README.md", "b: README.md"])
        snapshot.active = [file("README.md", of: "one/a"), file("README.md", of: "two/a")]
        #expect(titles() == ["one/a: README.md", "two/a: README.md"])
        #expect(snapshot.json["active"]?.array?.first?["id"]?.string == "one/a")
        snapshot.active = [.init("README.md", done: 0, total: nil)]
        #expect(titles() == ["README.md"])
    }

    @Test func neverTooWide() {
        for width in 1...200 {
            for row in ProgressLayout().rows(Self.snapshot, width: width, height: 24) {
                #expect(DisplayWidth.of(row) <= max(width - 3, 1), "\(width): \(row)")
            }
        }
    }

    @Test func neverTooHigh() {
        var snapshot = Self.snapshot
        snapshot.active = (1...40).map { .init("file\($0)", done: 0, total: 1) }
        let rows = ProgressLayout().rows(snapshot, width: 80, height: 10)
        #expect(rows.count == 8)
        #expect(rows.last == "  and 34 more")
        #expect(ProgressLayout().rows(snapshot, width: 80, height: 2).count == 1)
    }

    @Test func asciiWhereTheLocaleAsksForIt() {
        for row in ProgressLayout(isUnicode: false).rows(Self.snapshot, width: 60, height: 24) {
            #expect(row.utf8.allSatisfy { $0 < 0x80 }, "\(row)")
        }
    }

    @Test func plainLines() {
        let layout = ProgressLayout()
        #expect(
            layout.plain(Self.snapshot)
                == "openai/gpt-oss-20b: 43% of 7.2 GB, 12/27 files, 118 MB/s, 35 s left")
        var unknown = ProgressSnapshot(title: "x", phase: "verifying")
        unknown.doneBytes = 5_300_000
        #expect(layout.plain(unknown) == "x: 5.3 MB, verifying")
    }

    @Test func modelsAreCountedAsBytesAre() throws {
        var snapshot = ProgressSnapshot(title: "sync")
        snapshot.unit = .models
        snapshot.doneBytes = 12_000
        snapshot.bytesPerSecond = 3400.7
        snapshot.counts = [.init(name: "new", value: 5), .init(name: "pages", value: 12)]
        let layout = ProgressLayout()
        #expect(layout.plain(snapshot) == "sync: 12.0k models, 5 new, 12 pages, 3.4k models/s")
        #expect(
            layout.rows(snapshot, width: 80, height: 24) == ["sync  12.0k models  5 new  12 pages  3.4k models/s"])
        snapshot.totalBytes = 24_000
        #expect(layout.plain(snapshot).hasPrefix("sync: 50% of 24.0k models, "))
        let json = snapshot.json
        #expect(json.keys == ["title", "done_models", "total_models", "models_per_second", "new", "pages"])
        #expect(json["done_models"]?.int == 12_000 && json["pages"]?.int == 12)
    }

    @Test func nothingToDoIsComplete() {
        var snapshot = ProgressSnapshot(title: "x")
        snapshot.totalBytes = 0
        #expect(snapshot.fraction == 1)
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        while text.first == " " { text.removeFirst() }
        return String(text)
    }
}

@Suite struct PullPhaseTests {
    @Test func whatAPullWaitsForIsSaid() {
        var progress = PullProgress(
            totalBytes: 100, completedBytes: 10, filesDone: 0, filesTotal: 1,
            active: [.init(plan: 0, path: "a", received: 10, size: 100, isVerifying: false)])
        #expect(PullWatcher.phase(progress) == nil)
        progress.silence = 2
        #expect(PullWatcher.phase(progress) == nil)
        progress.silence = 12
        #expect(PullWatcher.phase(progress) == "no data for 12 s")
        progress.isPaused = true
        #expect(PullWatcher.phase(progress) == "paused")
        (progress.isPaused, progress.silence) = (false, 0)
        progress.waiting = .init(process: 1234)
        #expect(PullWatcher.phase(progress) == "waiting for process 1234")
        progress.waiting = .init(process: nil)
        #expect(PullWatcher.phase(progress) == "waiting for another process")
    }
}

@Suite struct ProgressRendererTests {
    let clock = ManualClock()
    let error = Recorder()

    func renderer(_ mode: ProgressRenderer.Mode) -> (ProgressRenderer, Output) {
        let output = Output(
            .init(writesEvents: mode == .json, errorIsTerminal: mode == .bar), output: Recorder().sink,
            error: error.sink)
        return (
            ProgressRenderer(mode, output: output, clock: clock.seconds, terminalSize: { (30, 24) }), output
        )
    }

    func snapshot(_ done: Int64) -> ProgressSnapshot {
        var snapshot = ProgressSnapshot(title: "m")
        snapshot.doneBytes = done
        snapshot.totalBytes = 100
        return snapshot
    }

    @Test func tenFramesASecondAtMost() {
        let (renderer, _) = renderer(.bar)
        for step in 0..<100 {
            renderer.update(snapshot(Int64(step)))
            clock.advance(0.01)
        }
        let frames = error.text.split(separator: "\u{1B}[J").count
        #expect((10...11).contains(frames))
    }

    @Test func aMessageStandsAboveTheBar() {
        let (renderer, output) = renderer(.bar)
        renderer.update(snapshot(50))
        let drawn = error.text
        let row = "m  ━━━╌╌╌   50%  50 B/100 B"
        #expect(drawn == row + "\u{1B}[K\u{1B}[J")
        output.note("hello")
        #expect(error.text == drawn + "\r\u{1B}[Jhub: hello\n" + row)
        renderer.finish()
        #expect(error.text.hasSuffix(row + "\r\u{1B}[J"))
        renderer.update(snapshot(60))
        #expect(error.text.hasSuffix(row + "\r\u{1B}[J"))
    }

    @Test func severalRowsAreGoneBackOver() {
        let (renderer, _) = renderer(.bar)
        var two = snapshot(50)
        two.active = [.init("f", done: 1, total: 2)]
        renderer.update(two)
        clock.advance(1)
        renderer.update(two)
        #expect(error.text.contains("\r\u{1B}[1A"))
        #expect(!error.text.contains("\u{1B}[?25"))
    }

    @Test func plainIsALineASecond() {
        let (renderer, _) = renderer(.plain)
        for step in 0..<30 {
            renderer.update(snapshot(Int64(step)))
            clock.advance(0.1)
        }
        renderer.finish()
        // The first line after a second: what takes no longer needs none.
        #expect(error.text == "m: 10% of 100 B\nm: 20% of 100 B\n")
    }

    @Test func eventsAreJSONLines() throws {
        let (renderer, output) = renderer(.json)
        renderer.event(.plan(id: "a/b", commit: nil, files: 2, totalBytes: 10, downloadBytes: 5))
        renderer.update(snapshot(50))
        renderer.event(.retry(path: "x", attempt: 1, reason: "reset", waitSeconds: 0.5))
        output.warning("careful", advice: "look")
        output.failure(AIError(.gated, "no"))
        renderer.event(.done(id: "a/b", path: "/p", downloadedBytes: 5, elapsedSeconds: 1.5))
        let objects = try error.lines.dropLast().map { try JSON.parse($0) }
        #expect(objects.map { $0["event"]?.string } == ["plan", "progress", "retry", "warning", "error", "done"])
        #expect(objects[0]["download_bytes"]?.int == 5 && objects[0]["commit"] == nil)
        #expect(objects[1]["done_bytes"]?.int == 50)
        #expect(objects[4]["code"]?.string == "gated")
        #expect(error.lines.last == "")
    }

    @Test func noneIsSilent() {
        let (renderer, _) = renderer(.none)
        renderer.update(snapshot(1))
        renderer.event(.verified(path: "x", digest: "y"))
        renderer.finish()
        #expect(error.text.isEmpty)
    }
}
