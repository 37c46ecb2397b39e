import CPlatform
import HubCore
import Libc

/// The process, with the words of its command line as C's main has them; see `HubMain/main.c`.
///
/// Not an async main: that parks the main thread in libdispatch, which waits there with no signal blocked, so that SIGINT
/// would end the process. The price is that nothing can run on the main actor, and nothing does.
@_cdecl("hub_main")
public func hubMain(_ count: Int32, _ words: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Never {
    hub_remember_arguments(words)
    let words = UnsafeBufferPointer(start: words, count: Int(count)).compactMap { $0 }.map { String(cString: $0) }
    let interruption = Interruption()
    let suspension = Suspension()
    var fault: AIError?
    do throws(AIError) {
        try ServerRevival.goOn()
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
                    Array(words.dropFirst()), fault: fault, interruption: interruption, suspension: suspension))
        }
    }
    // join returns only where this thread had to end its work; the others continue.
    while true { pause() }
}
