import HubCore
import Libc

@testable import Fetcher

/// The disk as a process that ends now would leave it.
enum FileCopies {
    static func sleep(microseconds: Int) { usleep(UInt32(microseconds)) }

    /// Copies the cache and the kept answers of a mirror that is at work.
    ///
    /// Links are copied before what they lead to, and maps before partials, so that the copy is a state that there could have
    /// been: a link is made last, and a map lists what is in the partial already.
    static func copyState(_ home: String, to other: String, isPowerCut: Bool) throws {
        try copyTree(Path.join(home, "answers"), to: Path.join(other, "answers"))
        let (from, to) = (Path.join(home, "hf/hub"), Path.join(other, "hf/hub"))
        for name in try FileSystem.entries(from) ?? [] where name.hasPrefix("models--") {
            for part in ["refs", "trees", "snapshots", "blobs"] {
                try copyTree(Path.join(Path.join(from, name), part), to: Path.join(Path.join(to, name), part))
            }
            // Python's client takes a folder without it for damage.
            try FileSystem.createDirectories(Path.join(Path.join(to, name), "snapshots"))
            if isPowerCut { try loseUnflushed(Path.join(Path.join(to, name), "blobs")) }
        }
    }

    private static func copyTree(_ from: String, to: String) throws {
        guard let names = try FileSystem.entries(from) else { return }
        try FileSystem.createDirectories(to)
        let maps = names.filter { $0.hasSuffix(".map.incomplete") }
        for name in maps + names.filter({ !$0.hasSuffix(".map.incomplete") }) {
            let (source, target) = (Path.join(from, name), Path.join(to, name))
            guard let status = try FileSystem.linkStatus(source) else { continue }
            switch status.kind {
            case .directory: try copyTree(source, to: target)
            case .symlink:
                if let text = FileSystem.linkText(source) { try FileSystem.createSymlink(text, at: target) }
            default:
                // It may get another name at any moment.
                guard let bytes = try? FileSystem.contents(source) else { continue }
                try FileSystem.replace(target, with: bytes)
            }
        }
    }

    private static func loseUnflushed(_ blobs: String) throws {
        for name in try FileSystem.entries(blobs) ?? [] where name.hasSuffix(".hub.incomplete") {
            let path = Path.join(blobs, name)
            let map = RangeMap.read(
                Path.join(blobs, name.dropping(suffix: ".hub.incomplete") + ".hub.map.incomplete"))
            guard var bytes = try FileSystem.contents(path) else { continue }
            for gap in (map?.safe ?? IntervalSet()).gaps(in: 0..<Int64(bytes.count)) {
                for index in gap { bytes[Int(index)] = 0xEE }
            }
            try FileSystem.replace(path, with: bytes)
        }
    }
}

extension String {
    fileprivate func dropping(suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
