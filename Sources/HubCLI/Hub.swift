import CPlatform
import HubCore
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The process.
@main
enum Hub {
    /// Not an async main: that parks the main thread in libdispatch, which waits there with no signal blocked, so that
    /// SIGINT would end the process. The price is that nothing can run on the main actor, and nothing does.
    static func main() {
        let interruption = Interruption()
        let suspension = Suspension()
        var fault: AIError?
        do throws(AIError) {
            try Shortage.prepare()
            try Signals.watch(interruption, suspension) {
                hub_secret_end()
                hub_terminal_guard_give_back()
                // The bar is left as it stands; the cursor rests behind it.
                _ = Sink.standardError.write(Array("\n".utf8))
                _exit(ErrorCode.cancelled.facts.exitStatus)
            }
        } catch { fault = error }
        TaskThreads.shared.join {
            Task.detached(executorPreference: TaskThreads.shared) { [fault] in
                exit(
                    await Program.run(
                        Array(CommandLine.arguments.dropFirst()), fault: fault, interruption: interruption,
                        suspension: suspension))
            }
        }
        // This thread had to end; others go on.
        while true { pause() }
    }
}
