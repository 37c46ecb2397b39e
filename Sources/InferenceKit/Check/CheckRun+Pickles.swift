import HubCore
import ModelFormats

/// Checks of pickles, which can run code when loaded.
extension CheckRun {
    /// Checks every pickle of the folder and its subfolders.
    mutating func checkPickles(_ isCancelled: () -> Bool) throws(AIError) {
        let pickles = (isFolder ? folder.files : [Path.name(path)]).filter(Self.isPickle)
        let others = Set(folder.files(of: .safetensors).map(Path.parent))
        for file in pickles {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let place = isFolder ? Path.join(path, file) : path
            try checkPickle(place, file, besideOther: others.contains(Path.parent(file)))
        }
        close("pickles", pickles.isEmpty ? "none" : "\(pickles.count), which \(Self.harmless(pickles.count))")
    }

    private static func harmless(_ count: Int) -> String {
        "\(count == 1 ? "imports" : "import") nothing that is not harmless"
    }

    private static func isPickle(_ file: String) -> Bool {
        let name = Path.name(file).lowercased()
        return CheckedFolder.format(file) == .pickle || WeightFormat.isTrainingState(name)
            || [".pkl", ".pickle"].contains { name.hasSuffix($0) }
    }

    private mutating func checkPickle(_ place: String, _ name: String, besideOther: Bool) throws(AIError) {
        do throws(AIError) { report(try TorchFile(place), name, besideOther) } catch {
            // A file that is not a pickle runs nothing; a damaged pickle might.
            guard [.malformedModel, .unsupportedModel].contains(error.code) else { throw error }
            // For the model's own weights the headers check has reported it.
            guard !broken.contains(name) else { return }
            add("pickles", error.code == .unsupportedModel ? .warn : .fail, error, file: name)
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
                        : "\(name) imports \(found.description.printable), which may not be harmless",
                    file: name, expected: "tensors and plain values", found: found.description))
        }
        if let fault = file.fault {
            let doubt = file.isReadToEnd ? "" : "; it may not be harmless"
            add(.init("pickles", .fail, "\(name): \(fault)\(doubt)", file: name))
        }
        if besideOther {
            add(
                .init(
                    "pickles", .pass, "\(name) is a pickle; the safetensors beside it load without running code",
                    file: name))
        }
    }
}
