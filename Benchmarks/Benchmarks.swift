import HubCore
import Libc

/// Measures hub beside its peers in one run. The figures do not affect the exit status, because a slow machine is not a
/// failure; failed measurements and faults of hub do.
@main
enum Benchmarks {
    static func main() async {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            if try await EngineTask.run(words) { return }
            if try CatalogTasks.run(words) || FormatTasks.run(words) || TokenizerTask.run(words)
                || GrammarTask.run(words) || VectorTask.run(words) || ServerLoad.run(words)
                || ChatLoad.run(words)
            {
                return
            }
            // Swift's pool blocks signals on its threads, and children would inherit that: none could be terminated.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            let suite = try Suite(Options(words))
            let report = suite.report()
            print(report.text())
            if let path = suite.options.jsonPath {
                try FileSystem.replace(path, with: Array((report.json.text(.pretty) + "\n").utf8))
            }
            exit(report.failures.isEmpty && report.faults.isEmpty ? 0 : 1)
        } catch {
            let error = AIError.wrapping(error)
            let text = "Benchmarks: \(error.message)\n" + (error.specificAdvice.map { $0 + "\n" } ?? "")
            _ = write(2, text, text.utf8.count)
            exit(error.exitStatus)
        }
    }
}

extension Suite {
    /// Runs all requested benchmarks; a failed one does not stop the others.
    fileprivate func report() -> Report {
        let progress = Progress()
        defer { progress.end() }
        var report = Report()
        let before = Report.load
        for work in Self.works where options.only.isEmpty || options.only.contains(work.name) {
            progress.begin("Measuring: \(work.name)")
            do {
                for measurement in try work.measurements(self) { report.add(measurement, self, progress) }
            } catch {
                report.failures.append((work.name, AIError.wrapping(error).message))
            }
        }
        report.facts = facts(loadBefore: before)
        return report
    }

    private func facts(loadBefore: String) -> [(name: String, value: String)] {
        func version(_ tool: Tools.Tool, _ arguments: [String]) -> String {
            switch tool {
            case .at: Tools.version(tool, arguments, runner) ?? "no version"
            case .missing(let reason): "missing: \(reason)"
            }
        }
        return [
            ("hub", "\(options.revision), \(version(.at(tools.hub), ["version"]))"),
            (
                "huggingface_hub",
                version(tools.clientPython, ["-c", "import huggingface_hub as h; print(h.__version__)"])
            ),
            ("curl", version(tools.curl, ["--version"])),
            ("aria2c", version(tools.aria2, ["--version"])),
            ("nginx", version(tools.nginx, ["-v"]).replacing("nginx version: ", with: "")),
            ("openssl", version(tools.openssl, ["version"])),
            ("machine", options.machine),
            ("written to", [options.scratch, options.memory].compactMap { $0 }.joined(separator: " and ")),
            (
                "load average",
                "\(loadBefore) before, \(Report.load) after; what others run at the same time is in the figures"
            ),
            ("figures", "medians of \(options.runs) runs (least to most), the sides taking turns, all on loopback"),
            ("peak memory below this may be the measuring program's own", residentFloor()),
        ]
    }

    /// A program that posix_spawn starts inherits the peak of the one that started it, on Linux.
    private func residentFloor() -> String {
        let command = Command("/bin/sh", ["-c", ":"], in: [:])
        guard let ending = try? runner.run(command).ending else { return "unknown" }
        return "\(ByteCount(ending.peakBytes))"
    }
}

extension Report {
    /// Runs a measurement and stores its result.
    fileprivate mutating func add(_ measurement: any Measurement, _ suite: Suite, _ progress: Progress) {
        do {
            let outcome = try measurement.measure(
                runs: suite.options.runs, runner: suite.runner, progress: progress)
            rows += outcome.rows
            faults += outcome.faults.map { (measurement.work, $0) }
            if let reason = outcome.notYet { notYet.append((measurement.work, reason)) }
        } catch {
            failures.append((measurement.work, AIError.wrapping(error).message))
        }
    }
}
