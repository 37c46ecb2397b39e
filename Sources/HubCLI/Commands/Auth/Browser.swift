import CPlatform
import HubCore
import Libc

/// The browser of this machine.
enum Browser {
    /// Opens an address, if there is a screen and a program for it; whether one was started. It gets no secret of the
    /// environment, and nothing that it writes shows.
    static func open(_ address: String, _ environment: HubEnvironment) -> Bool {
        guard let program = program(environment) else { return false }
        let secrets = (EnvironmentVariable.all + EnvironmentVariable.others).filter { $0.content == .secret }
        let variables = environment.variables(without: Set(secrets.flatMap(\.names)))
        return withStrings([program, address]) { arguments in
            withStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
                hub_start_apart(program, arguments, variables) == 0
            }
        }
    }

    private static func program(_ environment: HubEnvironment) -> String? {
        #if os(macOS)
        let name = "open"
        #else
        // Without a screen it would start a browser in this terminal, if anything.
        guard environment.first("DISPLAY", "WAYLAND_DISPLAY", "BROWSER") != nil else { return nil }
        let name = "xdg-open"
        #endif
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { Path.join(String($0), name) }.first { access($0, X_OK) == 0 }
    }

    private static func withStrings<Value>(
        _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { strdup($0) } + [nil]
        defer { copies.forEach { free($0) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
