import HubCore

/// The client of an unfinished file in `blobs/`, by its name.
package enum PartialOwner: String, Sendable, Hashable, CaseIterable {
    /// `<etag>.hub.incomplete` with its map and temporary files.
    case hub
    /// `<etag>.<8 digits>.incomplete`, since 1.18: a new name for each attempt, never reused.
    case python = "huggingface_hub"
    /// `<etag>.incomplete`: huggingface_hub before 1.18, hf-hub of Rust, swift-huggingface. They resume it.
    case olderClients = "older clients"
    /// A blob being replaced or shared: `.<etag>.<8 digits>.new`, `.old`, `.shared`; `tmp_<uuid>`.
    case replacement = "huggingface_hub, replacing a file"
    case unknown = "nobody known"

    package init(_ name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        func isDigits(_ text: Substring) -> Bool { text.utf8.count == 8 && text.utf8.allSatisfy(\.isLowercaseHex) }
        if name.hasSuffix(".incomplete"), parts.dropLast().contains("hub") {
            self = .hub
        } else if parts.count == 3, parts[2] == "incomplete", isDigits(parts[1]) {
            self = .python
        } else if parts.count == 2, parts[1] == "incomplete" {
            self = .olderClients
        } else if name.hasPrefix("tmp_") || (name.hasPrefix(".") && ["new", "old", "shared"].contains(parts.last)) {
            self = .replacement
        } else {
            self = .unknown
        }
    }
}
