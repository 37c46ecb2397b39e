import HubCore
import ModelFormats

/// What would run something when it is loaded.
extension CheckRun {
    /// Every pickle of the folder and of those in it: a part of the model that lies in one is loaded as well.
    mutating func checkPickles(isFolder: Bool, _ isCancelled: () -> Bool) throws(AIError) {
        var count = 0
        if isFolder {
            var open = [""]
            while let folder = open.popLast() {
                if isCancelled() { throw AIError(.cancelled, "interrupted") }
                count += try checkPickles(in: folder, &open)
            }
        } else if Self.isPickle(Path.name(path)) {
            try checkPickle(path, Path.name(path), besideOther: false)
            count = 1
        }
        close("pickles", count == 0 ? "none" : "\(count), which import nothing that is not harmless")
    }

    private static func isPickle(_ name: String) -> Bool {
        let lower = name.lowercased()
        return WeightFormat(fileName: name) == .pickle || WeightFormat.isTrainingState(name)
            || [".pkl", ".pickle"].contains { lower.hasSuffix($0) }
    }

    /// - Parameters:
    ///   - folder: counted from the model's own; empty for that.
    ///   - open: takes the folders in it; links are none, so that no circle is gone through.
    /// - Returns: how many pickles there are.
    private mutating func checkPickles(in folder: String, _ open: inout [String]) throws(AIError) -> Int {
        let place = folder.isEmpty ? path : Path.join(path, folder)
        let names = try FileSystem.entries(place)?.sorted() ?? []
        let hasOther = names.contains { WeightFormat(fileName: $0) == .safetensors }
        var count = 0
        var folders: [String] = []
        for name in names {
            let shown = Path.join(folder, name)
            if Self.isPickle(name) {
                try checkPickle(Path.join(place, name), shown, besideOther: hasOther)
                count += 1
            }
            if try FileSystem.linkStatus(Path.join(place, name))?.kind == .directory { folders.append(shown) }
        }
        open += folders.reversed()
        return count
    }

    private mutating func checkPickle(_ place: String, _ name: String, besideOther: Bool) throws(AIError) {
        do throws(AIError) { report(try TorchFile(place), name, besideOther) } catch {
            // What is no pickle runs nothing; of one that is damaged nobody can say that.
            guard [.malformedModel, .unsupportedModel].contains(error.code) else { throw error }
            let status: CheckResult.Status = error.code == .unsupportedModel ? .warn : .fail
            let detail = name + told(error).dropFirst(Path.name(place).count)
            add(.init("pickles", status, detail, file: name))
        }
    }

    private mutating func report(_ file: TorchFile, _ name: String, _ besideOther: Bool) {
        for found in file.imports where found.danger != .harmless {
            let isDangerous = found.danger == .dangerous
            add(
                .init(
                    "pickles", isDangerous ? .fail : .warn,
                    isDangerous
                        ? "\(name) runs \(found.description.printable) when it is loaded"
                        : "\(name) imports \(found.description.printable), which is not known to be harmless",
                    file: name, expected: "tensors and plain values", found: found.description))
        }
        if let fault = file.fault {
            let doubt = file.isReadToEnd ? "" : ", so that it cannot be said to be harmless"
            add(.init("pickles", .fail, "\(name): \(fault)\(doubt)", file: name))
        }
        if besideOther {
            add(
                .init(
                    "pickles", .pass, "\(name) is a pickle beside safetensors, which load without running anything",
                    file: name))
        }
    }
}
