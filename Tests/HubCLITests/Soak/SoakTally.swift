import Support

/// What happened in many rounds: by this one sees that a soak has soaked.
struct SoakTally: Sendable, CustomStringConvertible {
    var rounds = 0
    var failed = 0
    /// How the programs that were disturbed ended.
    var killed = 0
    var interrupted = 0
    var gaveUp = 0
    var done = 0
    /// Partials and maps that were damaged.
    var damaged = 0

    /// Counts a program's end.
    mutating func count(_ result: ProcessResult) {
        if result.wasKilled {
            killed += 1
        } else if result.status == 130 {
            interrupted += 1
        } else if result.status == 0 {
            done += 1
        } else {
            gaveUp += 1
        }
    }

    mutating func add(_ other: SoakTally) {
        rounds += other.rounds
        failed += other.failed
        killed += other.killed
        interrupted += other.interrupted
        gaveUp += other.gaveUp
        done += other.done
        damaged += other.damaged
    }

    var description: String {
        "\(rounds) rounds, \(failed) failed; disturbed pulls: \(killed) killed, \(interrupted) interrupted, "
            + "\(gaveUp) gave up, \(done) came through; \(damaged) partials and maps damaged"
    }
}
