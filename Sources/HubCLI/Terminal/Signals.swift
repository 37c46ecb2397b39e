import CPlatform
import HubCore
import Libc

/// SIGINT, SIGTERM and SIGTSTP, received by a thread of their own.
///
/// The signals are blocked everywhere and waited for with sigwait(3): what happens then is ordinary code on an
/// ordinary thread, free to take locks and write, as nothing in a signal handler is.
enum Signals {
    /// Must be called on the main thread before there are others, for they inherit what is blocked.
    ///
    /// - Parameters:
    ///   - interruption: asked to stop at the first signal.
    ///   - suspension: asked to stop the process for a while (^Z).
    ///   - leave: called at the second interruption; it should not return.
    /// - Throws: where no thread can be started.
    static func watch(
        _ interruption: Interruption, _ suspension: Suspension, leave: @escaping @Sendable () -> Never
    ) throws(AIError) {
        // A reader that goes away is seen where we write.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that may not grow (ulimit -f): an error with a name, where the signal would end us without a word.
        signal(SIGXFSZ, SIG_IGN)
        var set = sigset_t()
        sigemptyset(&set)
        var isEmpty = true
        for number in [SIGINT, SIGTERM, SIGTSTP] where !isIgnored(number) {
            sigaddset(&set, number)
            isEmpty = false
        }
        guard !isEmpty else { return }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let watched = set
        try BackgroundThread.start {
            var set = watched
            while case let number = hub_wait_for_signal(&set), number != 0 {
                if number == SIGTSTP {
                    suspension.suspend(stop)
                    continue
                }
                if number == SIGINT, interruption.isDiverted() { continue }
                if interruption.isRequested { leave() }
                interruption.request()
            }
        }
    }

    /// Does what SIGTSTP does by default, and returns when the process is continued. Not SIGSTOP: where no shell is there
    /// to continue it, the system passes over the one and not over the other.
    private static func stop() {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), SIGTSTP)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Whether whoever started us had the signal ignored (nohup, a script's background job): then it stays so. Blocked,
    /// an ignored signal would be delivered to sigwait all the same.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if os(Linux)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        #else
        return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self) == 1
        #endif
    }
}
