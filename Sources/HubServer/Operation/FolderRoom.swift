/// A Hub whose source is on this machine, as the only room of a server.
package struct FolderRoom: ServerRoom {
    private let service: HubService

    package init(_ service: HubService) { self.service = service }

    package func claims(_ parts: [String]) -> Bool { true }
    package func route(_ parts: [String]) -> String { HubRoute.name(parts) }
    package func respond(to request: HTTPRequest) -> HTTPResponse { service.respond(to: request) }
}

extension HubRoute {
    /// The name of a route in metrics.
    package static func name(_ parts: [String]) -> String {
        switch readings(parts).first {
        case .resolve, .resolveCache: "resolve"
        case .tree: "tree"
        case .info: "info"
        case .refs: "refs"
        case .pathsInfo: "paths-info"
        case .list: "list"
        case .whoami, .agentHarnesses, nil: "other"
        }
    }
}
