import HubCore

/// Flags that several commands share, so that they read alike everywhere.
enum SharedFlags {
    static let dryRun = Switch("dry-run", short: "n", "show what would happen and why; change nothing")
    static let yes = Switch("yes", short: "y", "do not ask")
    static let force = Switch("force", short: "f", "replace what is there")
    static let keep = Option.text(
        "keep", "REF|GLOB", kind: .model, repeats: true, "never delete this model or revision",
        detail: "A glob matches names, such as 'org/*'.")
    static let unusedFor = Option.age(
        "unused-for", "only what was not used for this long",
        detail: "A number and s, min, h, d, w, mo (months) or y, such as 30d or 6mo; 0d is everything.")
    static let olderThan = Option.age(
        "older-than", "only what happened this long ago or more",
        detail: "A number and s, min, h, d, w, mo (months) or y, such as 30d or 6mo.")
    static let open = Switch("open", "open the page in the browser of this machine")
    static let trash = Switch(
        "trash", "move to the trash instead of deleting",
        detail: "hub trash restore brings it back; hub trash empty frees the disk.")
}
