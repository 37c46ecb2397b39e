import Fetcher
import HubCore

extension DoctorCommand {
    /// What this program is made of, and the machine it runs on.
    @Sendable static func libraryFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        func fact(_ name: String, _ text: String, bytes: Int64? = nil) -> DoctorFinding {
            DoctorFinding(section: "libraries", name: name, level: .good, text: text, bytes: bytes)
        }
        let memory = try Machine.memory()
        return [fact("hub", "hub \(Version.number), built with Swift \(Version.swift)")]
            + Version.libraries.map { fact($0.name, "\($0.name) \($0.version)") }
            + [
                fact(
                    "memory", "\(ByteCount(memory.total)) of memory, \(ByteCount(memory.available)) of it free",
                    bytes: memory.total)
            ]
    }
}
