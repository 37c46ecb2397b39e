import HubCore
import HubMedia
import Support
import Testing

@testable import InferenceKit

/// Vectors of pictures that are kept in a file: what is computed, what is known, and what is no index.
@Suite struct PictureIndexTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder("index") }

    private func open(_ name: String = "clip", isExact: Bool = true) async throws -> PictureModel {
        try await PictureModel.open(
            folder: Fixtures.path("micro/\(name)"), options: ModelOptions(isExact: isExact))
    }

    private func picture(_ name: String, width: Int) throws -> String {
        try place.write(name, TowerGoldenTests.picture(width: width, height: 32).png())
        return place(name)
    }

    private func three() throws -> [String] {
        try [("a.png", 32), ("b.png", 40), ("c.png", 48)].map { try picture($0.0, width: $0.1) }
    }

    @Test func onlyWhatIsNewOrChangedIsComputed() async throws {
        let (model, files) = (try await open(), try three())
        var index = try await PictureIndex.open(place("index"), for: model)
        let first = try await index.add(files)
        #expect(first.computed == 3 && first.kept == 0 && index.fault == nil)
        for file in files {
            let own = try await model.embed([PictureFile.read(file)])[0]
            #expect(index.vector(of: file) == own)
        }

        index = try await PictureIndex.open(place("index"), for: model)
        // The same by a link to its folder, with another time, and under another name.
        try FileSystem.createSymlink(place.path, at: place("link"))
        try FileSystem.setTimes(files[1], accessed: 1e9, modified: 1e9)
        try FileSystem.rename(files[2], to: place("d.png"))
        let again = try await index.add([place("link/a.png"), files[1], place("d.png")])
        #expect(again.computed == 0 && again.kept == 3 && index.count == 4)

        // Another content with the same time.
        let status = try #require(try FileSystem.status(files[0]))
        try FileSystem.replace(files[0], with: PictureFile.read(files[0]).mirrored.png())
        try FileSystem.setTimes(files[0], accessed: status.accessed, modified: status.modified)
        let changed = try await index.refresh()
        #expect(changed.computed == 1)
        #expect(changed.kept == 2)
        #expect(changed.gone == [files[2]].map(resolved))
        let own = try await model.embed([PictureFile.read(files[0])])[0]
        #expect(index.vector(of: files[0]) == own)
        #expect(index.count == 3)
    }

    private func resolved(_ path: String) -> String {
        Path.join(FileSystem.resolved(Path.parent(path)) ?? "", Path.name(path))
    }

    @Test func picturesOfAMissingFolderStay() async throws {
        let model = try await open()
        try FileSystem.createDirectories(place("disk"))
        let (here, away) = (try picture("a.png", width: 32), try picture("disk/b.png", width: 40))
        var index = try await PictureIndex.open(place("index"), for: model)
        try await index.add([here, away])
        try FileSystem.rename(place("disk"), to: place("elsewhere"))
        let changes = try await index.refresh()
        #expect(changes.gone.map(Path.name) == ["b.png"] && index.count == 2)
        try FileSystem.rename(place("elsewhere"), to: place("disk"))
        let back = try await index.refresh()
        #expect(back.gone.isEmpty)
    }

    @Test func theNearestAreThoseOfTheCosine() async throws {
        let (model, files) = (try await open(), try three())
        var index = try await PictureIndex.open(place("index"), for: model)
        try await index.add(files)
        let text = try await model.embed(texts: ["a king"])[0]
        let cosines = files.map { index.vector(of: $0)?.cosineSimilarity(to: text) ?? .nan }
        let found = try index.nearest(to: text, count: 2)
        let best = cosines.indices.sorted { cosines[$0] > cosines[$1] }.prefix(2)
        #expect(found.map { Path.name($0.path) } == best.map { Path.name(files[$0]) })
        for (match, place) in zip(found, best) { #expect(abs(match.cosine - cosines[place]) < 1e-6) }
        // So many numbers are compared as the vector has.
        #expect(try index.nearest(to: text.shortened(to: 3), count: 9).count == 3)
        let long = EmbeddingResult(vector: [Float](repeating: 1, count: 1000))
        #expect(try await thrown { try index.nearest(to: long, count: 1) }.code == .invalidInput)
    }

    @Test func whatCannotBeReadIsNotSkippedInSilence() async throws {
        let model = try await open()
        let good = try picture("a.png", width: 32)
        try place.write("b.png", Array("no picture".utf8))
        var index = try await PictureIndex.open(place("index"), for: model)
        let error = try await thrown { try await index.add([good, place("b.png")]) }
        #expect(error.code == .unreadableFile)
        // What was computed before is kept.
        index = try await PictureIndex.open(place("index"), for: model)
        let changes = try await index.add([good, place("b.png")], skipsUnreadable: true)
        #expect(changes.computed == 0 && changes.kept == 1 && changes.unreadable.count == 1)
        #expect(try await thrown { try await index.add([place("none.png")]) }.code == .fileNotFound)
        // A picture that is damaged later has no vector any more.
        try place.write("a.png", Array("no picture".utf8))
        let damaged = try await index.refresh()
        #expect(damaged.unreadable.count == 1 && index.count == 0)
    }

    @Test func everyDamageIsSeen() async throws {
        let (model, files) = (try await open(), try three())
        var index = try await PictureIndex.open(place("index"), for: model)
        try await index.add(files)
        let whole = try #require(try FileSystem.contents(place("index")))
        let read = try PictureIndexFile(whole)
        #expect(read.entries.count == 3 && read.dimensions == index.vector(of: files[0])?.dimensions)
        for at in whole.indices {
            var bytes = whole
            bytes[at] ^= 0x10
            #expect(throws: PictureIndexFile.Fault.self) { try PictureIndexFile(bytes) }
            #expect(throws: PictureIndexFile.Fault.self) { try PictureIndexFile(Array(whole[..<at])) }
        }
        // Also with a digest that fits, nothing is read beyond the end.
        for number in 0..<500 {
            var random = SeededRandom(number: number)
            var bytes = Array(whole.dropLast(32))
            for _ in 0..<1 + random.below(4) { bytes[8 + random.below(bytes.count - 8)] = UInt8(random.below(256)) }
            if random.below(3) == 0 { bytes.removeLast(random.below(bytes.count)) }
            let digest = ContentHasher.digest(of: bytes, like: .sha256("")).hex
            let digits = Array(digest.utf8)
            for place in stride(from: 0, to: 64, by: 2) {
                bytes.append(UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) ?? 0)
            }
            _ = try? PictureIndexFile(bytes)
        }

        var bytes = whole
        bytes[whole.count / 2] ^= 1
        try place.write("index", bytes)
        index = try await PictureIndex.open(place("index"), for: model)
        #expect(index.fault == "its bytes have another digest" && index.count == 0)
        let mended = try await index.add(files)
        #expect(mended.computed == 3)
        index = try await PictureIndex.open(place("index"), for: model)
        #expect(index.fault == nil && index.count == 3)
    }

    @Test func otherFilesAndOtherModelsAreRefused() async throws {
        let (model, files) = (try await open(), try three())
        var index = try await PictureIndex.open(place("index"), for: model, named: "org/clip")
        try await index.add(files)
        let other = try await open("clip-gelu")
        let error = try await thrown { try await PictureIndex.open(place("index"), for: other, named: "org/other") }
        #expect(error.code == .invalidInput && error.message.contains("was made with org/clip, not with org/other"))
        let fast = try await open(isExact: false)
        let mode = try await thrown { try await PictureIndex.open(place("index"), for: fast, named: "org/clip") }
        #expect(mode.code == .invalidInput && mode.message.contains("other files of org/clip"))
        let photo = try await thrown { try await PictureIndex.open(files[0], for: model) }
        #expect(photo.code == .unreadableFile && photo.message.contains("it is no index of pictures"))
        #expect(
            try FileSystem.contents(files[0])?.count == TowerGoldenTests.picture(width: 32, height: 32).png().count)

        var later = try #require(try FileSystem.contents(place("index")))
        later[8] = 9
        try place.write("later", later)
        let form = try await thrown { try await PictureIndex.open(place("later"), for: model) }
        #expect(form.code == .unreadableFile && form.message.contains("it has the form 9"))
        // As `mktemp` makes one.
        try place.write("empty", [])
        #expect(try await PictureIndex.open(place("empty"), for: model).count == 0)
    }

    @Test func severalWritersLoseNothing() async throws {
        let model = try await open()
        let files = try (0..<8).map { try picture("\($0).png", width: 32 + $0) }
        let path = place("index")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for file in files {
                group.addTask {
                    var index = try await PictureIndex.open(path, for: model)
                    try await index.add([file])
                }
            }
            try await group.waitForAll()
        }
        var index = try await PictureIndex.open(place("index"), for: model)
        let all = try await index.add(files)
        #expect(all.kept == 8)
        // Nothing else was left beside it.
        #expect(try FileSystem.entries(place.path)?.filter { $0.hasPrefix("index") } == ["index"])
    }
}

extension Picture {
    /// From right to left.
    fileprivate var mirrored: Picture {
        var mirrored: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let start = 3 * (y * width + width - 1 - x)
                mirrored += pixels[start..<start + 3]
            }
        }
        return Picture(width: width, height: height, pixels: mirrored)
    }
}

/// Models of pictures among those that are open.
@Suite struct PictureContainerTests {
    @Test func theSideForPicturesComesWhenItIsNeeded() async throws {
        let (both, seeing, reading) = (
            try Fixtures.path("micro/clip"), try Fixtures.path("micro/vit"), try Fixtures.path("micro/llama")
        )
        let container = try ModelContainer()
        let texts = try await container.model(both)
        let needed = await container.memoryBytes
        #expect(try await container.opened(both, seeing: false).pictures == nil)
        let pictures = try await container.pictureModel(both)
        #expect(pictures.texts === texts && pictures.engine.team === texts.model.team)
        #expect(try await container.model(both) === texts)
        #expect(await container.memoryBytes == needed)
        #expect(await container.entries.map(\.folder) == [both])

        #expect(try await container.pictureModel(seeing).texts == nil)
        let blind = try await thrown { try await container.model(seeing) }
        #expect(blind.code == .unsupportedModel && blind.message.contains("reads pictures and no text"))
        let deaf = try await thrown { try await container.pictureModel(reading) }
        #expect(deaf.code == .unsupportedModel && deaf.message.contains("reads no pictures"))
    }

    /// One team of threads admits one caller at a time.
    @Test func bothSidesAtOnceGiveWhatTheyGiveAlone() async throws {
        let model = try await PictureModel.open(folder: Fixtures.path("micro/clip"))
        #expect(model.engine.team === model.texts?.model.team)
        let picture = TowerGoldenTests.picture(width: 40, height: 32)
        let (seen, read) = (try await model.embed([picture]), try await model.embed(texts: ["a king"]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let found =
                        if number % 2 == 0 { try await model.embed([picture]) } else {
                            try await model.embed(texts: ["a king"])
                        }
                    #expect(found == (number % 2 == 0 ? seen : read))
                }
            }
            try await group.waitForAll()
        }
    }
}
