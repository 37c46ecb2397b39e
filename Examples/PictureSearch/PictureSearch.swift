import HubCore
import InferenceKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds one's own pictures by a text, with a model that has vectors of both, such as CLIP or SigLIP.
///
///     swift run PictureSearch MODEL-FOLDER INDEX 'a red car' [PICTURE]...
///
/// Vectors are kept in the file INDEX: a second search computes none but those of new and changed pictures.
@main
struct PictureSearch {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3 else { return end("PictureSearch MODEL-FOLDER INDEX TEXT [PICTURE]...", 2) }
        do throws(AIError) {
            let model = try await PictureModel.open(folder: words[0])
            var index = try await PictureIndex.open(words[1], for: model)
            if let fault = index.fault { print("the index is made anew: \(fault)") }
            // All pictures of the index are looked at again, then new ones are added.
            var changes = try await index.refresh()
            let added = try await index.add(Array(words.dropFirst(3)))
            changes.computed += added.computed
            print("\(index.count) pictures, \(changes.computed) of them computed")
            let text = try await model.embed(texts: [words[2]])[0]
            for match in try index.nearest(to: text, count: 5) {
                // The name of a file may contain control characters for the terminal.
                let name = match.path.filter { !$0.unicodeScalars.contains { $0.value < 32 } }
                print("\((match.cosine * 1000).rounded() / 1000)  \(name)")
            }
        } catch {
            // Every error of the library is of this type: it says what happened and what to do.
            end("\(error.message)\(error.recoverySuggestion.map { "\n\($0)" } ?? "")", 1)
        }
    }

    private static func end(_ text: String, _ status: Int32) {
        _ = write(2, text + "\n", text.utf8.count + 1)
        exit(status)
    }
}
