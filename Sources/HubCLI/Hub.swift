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
    static func main() async {
        let interruption = Interruption()
        Signals.watch(interruption) {
            // The bar is left as it stands; the cursor rests behind it.
            _ = Sink.standardError.write(Array("\n".utf8))
            _exit(ErrorCode.cancelled.facts.exitStatus)
        }
        let status = await Program.run(Array(CommandLine.arguments.dropFirst()), interruption: interruption)
        exit(status)
    }
}
