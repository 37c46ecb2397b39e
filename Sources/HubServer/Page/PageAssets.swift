import HubCore

/// The files of the web page, in the program itself.
package enum PageAssets {
    private struct Asset: Sendable {
        var type: String
        var bytes: [UInt8]
    }

    // A browser runs a module only if its type says JavaScript.
    private static let all: [String: Asset] = [
        "page.css": Asset(type: "text/css", bytes: PackageResources.page_css),
        "theme.js": Asset(type: "text/javascript", bytes: PackageResources.theme_js),
        "page.js": Asset(type: "text/javascript", bytes: PackageResources.page_js),
        "markdown.js": Asset(type: "text/javascript", bytes: PackageResources.markdown_js),
        "highlight.js": Asset(type: "text/javascript", bytes: PackageResources.highlight_js),
        "storage.js": Asset(type: "text/javascript", bytes: PackageResources.storage_js),
        "downloads.js": Asset(type: "text/javascript", bytes: PackageResources.downloads_js),
        "chat.js": Asset(type: "text/javascript", bytes: PackageResources.chat_js),
        "turns.js": Asset(type: "text/javascript", bytes: PackageResources.turns_js),
        "machine.js": Asset(type: "text/javascript", bytes: PackageResources.machine_js),
        "pictures.js": Asset(type: "text/javascript", bytes: PackageResources.pictures_js),
        "overlay.js": Asset(type: "text/javascript", bytes: PackageResources.overlay_js),
        "pictures.css": Asset(type: "text/css", bytes: PackageResources.pictures_css),
        "icon.svg": Asset(type: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]

    /// Changes with any of the files: in their address it lets browsers keep them for ever.
    private static let version: String = {
        let names = all.keys.sorted()
        let text = names.flatMap { Array($0.utf8) + (all[$0]?.bytes ?? []) }
        return String(ContentHasher.digest(of: text, like: .sha256("")).hex.prefix(12))
    }()

    /// The address of a file.
    package static func path(_ name: String) -> String { "/-/assets/\(version)/\(name)" }

    /// The file at `VERSION/NAME`; nil for any other.
    package static func response(_ parts: [String]) -> HTTPResponse? {
        guard parts.count == 2, parts[0] == version, let asset = all[parts[1]] else { return nil }
        return HTTPResponse(
            200,
            headers: [
                "Content-Type": "\(asset.type); charset=utf-8",
                "Cache-Control": "public, max-age=31536000, immutable",
            ], body: .bytes(asset.bytes))
    }
}
