import HubCore
import Libc
import Support
import Testing

@Suite struct FileSystemTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func text(_ name: String) throws -> String? { try FileSystem.text(folder(name)) }

    @Test func replacingChangesTheNameToANewFileAndLeavesNothingBeside() throws {
        let path = try folder.write("file", "old")
        let old = try MappedFile(path)
        let before = try #require(try FileSystem.status(path))
        for durable in [false, true] {
            try FileSystem.replace(path, with: Array("new and longer".utf8), durable: durable)
            #expect(try text("file") == "new and longer")
        }
        // A reader of the old file keeps the old bytes: nothing was written into it.
        #expect(try FileSystem.status(path)?.inode != before.inode)
        #expect(Array(old.bytes) == Array("old".utf8))
        #expect(try FileSystem.entries(folder.path) == ["file"])
    }

    /// Files from 4 MiB on are read in halves.
    @Test(arguments: [(4 << 20) - 1, 4 << 20, (4 << 20) + 3]) func aFileOfAnySizeIsReadAsItIs(size: Int) throws {
        let chunk = ModelRepository.randomBytes(65_537, seed: UInt64(size))
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += chunk.prefix(size - bytes.count) }
        let path = try folder.write("file", bytes)
        // Not compared by #expect, which would print them.
        let isSame = try FileSystem.contents(path) == bytes
        #expect(isSame)
        let error = #expect(throws: AIError.self) { try FileSystem.contents(path, limit: size - 1) }
        #expect(error?.message == "\(path) has \(size) bytes, more than \(size - 1)")
    }

    @Test func aNewFilesModeIs0666LessTheUmask() throws {
        // umask(2) returns the mask only by setting another, for all threads.
        close(open(folder("probe"), O_CREAT | O_WRONLY, 0o666))
        let usual = try #require(try FileSystem.status(folder("probe"))?.mode)
        try FileSystem.replace(folder("file"), with: [])
        #expect(try FileSystem.status(folder("file"))?.mode == usual)
        try FileSystem.replace(folder("file"), with: [], mode: 0o600)
        #expect(try FileSystem.status(folder("file"))?.mode == 0o600 & usual)
    }

    @Test func aReplacementThatFailsLeavesTheOldFileAndNoTemporary() throws {
        try folder.write("file", "old")
        try FileSystem.createDirectories(folder("folder/inside"))
        let error = #expect(throws: AIError.self) { try FileSystem.replace(folder("folder"), with: [1]) }
        #expect(error?.context.path == folder("folder"))
        #expect(throws: AIError.self) { try FileSystem.replace(folder("absent/file"), with: [1]) }
        #expect(try FileSystem.entries(folder.path) == ["file", "folder"])
    }

    @Test func removingATreeFollowsNoLink() throws {
        try folder.write("outside/kept", "x")
        try folder.write("tree/a/b/c", "x")
        try FileSystem.createSymlink(folder("outside"), at: folder("tree/link"))
        try FileSystem.createSymlink("../../outside/kept", at: folder("tree/a/file"))
        try FileSystem.createSymlink("nowhere", at: folder("tree/broken"))
        try FileSystem.createSymlink(folder("outside"), at: folder("top"))
        try FileSystem.removeTree(folder("tree"))
        try FileSystem.removeTree(folder("top"))
        try FileSystem.removeTree(folder("absent"))
        #expect(try FileSystem.entries(folder.path) == ["outside"])
        #expect(try text("outside/kept") == "x")
    }

    @Test func removingATreeTakesNamesThatAreNoText() throws {
        try FileSystem.createDirectories(folder("tree/sub"))
        var name = Array(folder("tree/sub").utf8CString.dropLast()) + [0x2F, 0x61]
        name.append(CChar(bitPattern: 0xFF))
        name.append(0)
        let made = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        // Some file systems take only UTF-8 for a name.
        if made >= 0 { close(made) }
        try FileSystem.removeTree(folder("tree"))
        #expect(try FileSystem.entries(folder.path) == [])
    }

    /// From an open folder no link and no `..` leads anywhere else.
    @Test func anOpenFolderReachesOnlyWhatIsBelowIt() throws {
        try folder.write("top/sub/file", "x")
        try folder.write("outside/sub/file", "kept")
        try FileSystem.createSymlink(folder("outside"), at: folder("top/link"))
        try FileSystem.createSymlink("nowhere", at: folder("top/broken"))
        let top = try OpenFolder.open(existing: folder("top"))
        for path in ["link", "link/sub", "broken"] {
            #expect(throws: AIError.self, "\(path)") { try top.ownFolder(path) }
        }
        for path in ["sub/file", "sub/file/x", "absent/sub"] { #expect(try top.ownFolder(path) == nil, "\(path)") }
        for path in ["..", "sub/..", "../outside/sub/file", "sub/../../outside/x", "", "."] {
            #expect(throws: AIError.self, "\(path)") { try top.place(of: path) }
        }
        #expect(try top.place(of: "absent/sub/x") == nil && top.place(of: "sub/file/x") == nil)
        #expect(throws: AIError.self) { try top.makeFolder(.init("link")) }
        #expect(throws: AIError.self) { try top.place(of: "sub/file/x", making: true) }
        #expect(throws: AIError.self) { try top.place(of: "link/new/x", making: true) }
        let (made, name) = try #require(try top.place(of: "new/er/x", making: true))
        try made.replace(name, with: Array("1".utf8), durable: true)
        #expect(try text("top/new/er/x") == "1")
        #expect(try !top.removeEmptyFolder("link") && !top.removeEmptyFolder("sub"))
        try top.removeEmptyFolders(above: "sub/file")
        // The folder stays the one that was opened.
        let sub = try #require(try top.ownFolder("sub"))
        try FileSystem.rename(folder("top/sub"), to: folder("moved"))
        try FileSystem.createSymlink(folder("outside/sub"), at: folder("top/sub"))
        #expect(try sub.remove("file"))
        #expect(throws: AIError.self) { try top.place(of: "sub/file") }
        for name in try top.entries().map(\.name) { try top.removeTree(name) }
        #expect(try top.entries().isEmpty && FileSystem.entries(folder("moved")) == [])
        #expect(try text("outside/sub/file") == "kept")
    }

    @Test func entriesAreSortedByBytesAndLackTheDots() throws {
        for name in ["b", "a", ".hidden", "Z", "\u{E9}", "e\u{301}", "a.b"] { try folder.write(name, "") }
        #expect(
            try FileSystem.entries(folder.path)?.map { Array($0.utf8) }
                == [".hidden", "Z", "a", "a.b", "b", "e\u{301}", "\u{E9}"].map { Array($0.utf8) })
        #expect(try FileSystem.entries(folder("absent")) == nil)
        #expect(try FileSystem.entries(folder("a")) == nil)
    }

    @Test func aLongNameIsListedWhole() throws {
        let name = String(repeating: "é", count: 127)
        try folder.write(name, "")
        #expect(try FileSystem.entries(folder.path) == [name])
    }

    @Test func statusFollowsALinkAndLinkStatusDoesNot() throws {
        try folder.write("file", "12345")
        try FileSystem.createSymlink("file", at: folder("link"))
        try FileSystem.createSymlink("nowhere", at: folder("broken"))
        try FileSystem.createSymlink("loop", at: folder("loop"))
        #expect(try FileSystem.status(folder("link"))?.kind == .file)
        #expect(try FileSystem.status(folder("link"))?.size == 5)
        #expect(try FileSystem.linkStatus(folder("link"))?.kind == .symlink)
        #expect(try FileSystem.status(folder("broken")) == nil)
        #expect(try FileSystem.status(folder("loop")) == nil)
        #expect(try FileSystem.linkStatus(folder("broken"))?.kind == .symlink)
        #expect(try FileSystem.status(folder("file/below")) == nil)
        #expect(FileSystem.linkText(folder("link")) == "file" && FileSystem.linkText(folder("file")) == nil)
        #expect(FileSystem.resolved(folder("link")) == folder("file"))
        #expect(FileSystem.resolved(folder("broken")) == nil)
    }

    @Test func contentsAreNilForWhatIsNoFileAndRefusedBeyondTheLimit() throws {
        let path = try folder.write("file", [1, 2, 3])
        #expect(try FileSystem.contents(path) == [1, 2, 3])
        #expect(try FileSystem.contents(path, limit: 3) == [1, 2, 3])
        let error = #expect(throws: AIError.self) { try FileSystem.contents(path, limit: 2) }
        #expect(error?.context.path == path)
        #expect(try FileSystem.contents(folder.path) == nil)
        #expect(try FileSystem.contents(folder("absent")) == nil)
        try folder.write("empty", [])
        #expect(try FileSystem.contents(folder("empty")) == [])
    }

    @Test func foldersAreMadeWithThoseAbove() throws {
        for _ in 0..<2 { try FileSystem.createDirectories(folder("a/b/c")) }
        try FileSystem.createDirectories(folder("a/b/d/"))
        #expect(try FileSystem.entries(folder("a/b")) == ["c", "d"])
        try folder.write("file", "")
        for place in ["file", "file/below"] {
            let error = #expect(throws: AIError.self) { try FileSystem.createDirectories(folder(place)) }
            #expect(error?.context.path == folder(place))
        }
        try FileSystem.createSymlink("a", at: folder("link"))
        try FileSystem.createDirectories(folder("link/e"))
        #expect(FileSystem.exists(folder("a/e")))
    }

    /// As when one process cleans a cache into which another begins to write.
    @Test func foldersAreMadeWhileAnotherRemovesOrReplacesEmptyOnes() async throws {
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<4000 {
                    try FileSystem.createDirectories(folder("aside"))
                    do { try FileSystem.rename(folder("aside"), to: folder("shared")) } catch {
                        try FileSystem.removeEmptyDirectory(folder("shared"))
                    }
                }
            }
            group.addTask {
                for _ in 0..<4000 {
                    try FileSystem.createDirectories(folder("shared/own"))
                    try FileSystem.removeEmptyDirectory(folder("shared/own"))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func removingSaysWhetherThereWasSomething() throws {
        try folder.write("file", "")
        #expect(try FileSystem.remove(folder("file")))
        #expect(try !FileSystem.remove(folder("file")))
        try folder.write("full/file", "")
        #expect(try !FileSystem.removeEmptyDirectory(folder("full")))
        try FileSystem.remove(folder("full/file"))
        #expect(try FileSystem.removeEmptyDirectory(folder("full")))
        #expect(try !FileSystem.removeEmptyDirectory(folder("full")))
    }

    @Test func aHardLinkIsASecondNameForOneFile() throws {
        try folder.write("file", "x")
        try FileSystem.createHardLink(folder("file"), at: folder("other"))
        let (one, two) = (try FileSystem.status(folder("file")), try FileSystem.status(folder("other")))
        #expect(one?.inode == two?.inode && one?.links == 2)
    }

    @Test func timesCanBeSetAndRead() throws {
        let path = try folder.write("file", "")
        try FileSystem.setTimes(path, accessed: 1_000_000_000.5, modified: 1_100_000_000.25)
        let status = try #require(try FileSystem.status(path))
        #expect(status.accessed == 1_000_000_000.5 && status.modified == 1_100_000_000.25)
        #expect(status.modifiedNanoseconds == 1_100_000_000_250_000_000)
    }

    @Test func freeSpaceIsMeasuredAtTheNearestFolderThatExists() throws {
        let here = try FileSystem.diskSpace(folder.path)
        let below = try FileSystem.diskSpace(folder("absent/deep"))
        #expect(here.total > 0 && here.total == below.total && here.available <= here.total)
    }

    @Test func randomNamesAreHexadecimalAndDiffer() {
        let names = Set((0..<100).map { _ in FileSystem.randomHex(8) })
        #expect(names.count == 100)
        #expect(names.allSatisfy { $0.utf8.count == 16 && $0.utf8.allSatisfy(\.isLowercaseHex) })
    }
}

@Suite struct FileDescriptorTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test func writesAndReadsAtAnyPlace() throws {
        let file = try FileDescriptor(folder("file"), [.write, .create])
        try [4, 5, 6].withUnsafeBytes { try file.write($0, at: 3) }
        #expect(try file.status().size == Int64(3 + 3 * MemoryLayout<Int>.size))
        var buffer = [UInt8](repeating: 9, count: 5)
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        #expect(count == 5 && buffer == [0, 0, 0, 4, 0])
        #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 25) } == 2)
        #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 1000) } == 0)
    }

    @Test func aReservedFileHasItsSizeAndReadsAsZeros() throws {
        let file = try FileDescriptor(folder("file"), [.write, .create])
        try file.preallocate(100_000)
        #expect(try file.status().size == 100_000)
        try file.truncate(to: 10)
        #expect(try file.status().size == 10)
        try file.synchronizeData()
    }

    @Test func aLockExcludesAnotherDescriptorUntilItIsGivenBack() throws {
        let one = try FileDescriptor(folder("lock"), [.write, .create])
        let two = try FileDescriptor(folder("lock"))
        #expect(try one.tryLock() == true)
        #expect(try two.tryLock() == false)
        one.unlock()
        #expect(try two.tryLock(shared: true) == true)
        #expect(try one.tryLock(shared: true) == true)
        #expect(try one.tryLock() == false)
    }

    @Test func whatCannotBeOpenedIsNamed() throws {
        try FileSystem.createSymlink("file", at: folder("link"))
        try folder.write("file", "")
        let attempts: [(String, FileDescriptor.Options)] = [
            ("absent", []), ("link", [.noFollow]), ("file", [.write, .create, .exclusive]), ("file", [.directory]),
        ]
        for (name, options) in attempts {
            let error = #expect(throws: AIError.self) { _ = try FileDescriptor(folder(name), options) }
            #expect(error?.context.path == folder(name) && error?.errno != nil)
        }
    }
}

@Suite struct MappedFileTests {
    @Test func theBytesAreThoseOfTheFileEvenOnceItsNameIsGone() throws {
        let folder = try TemporaryFolder()
        let bytes = ModelRepository.randomBytes(100_000, seed: 5)
        let file = try MappedFile(try folder.write("file", bytes))
        try FileSystem.remove(folder("file"))
        #expect(Array(file.bytes) == bytes)
    }

    #if os(Linux)
    /// "hg" among the flags: https://docs.kernel.org/filesystems/proc.html
    @Test(.enabled(if: FileSystem.exists("/sys/kernel/mm/transparent_hugepage")))
    func largePagesAreRequested() throws {
        let folder = try TemporaryFolder()
        let file = try MappedFile(try folder.write("file", ModelRepository.randomBytes(100_000, seed: 5)))
        // Its size is 0 to those who ask.
        let list = try FileDescriptor("/proc/self/smaps")
        var bytes = [UInt8](repeating: 0, count: 32 << 20)
        let count = try bytes.withUnsafeMutableBytes { try list.read(into: $0, at: 0) }
        let maps = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
        let place = try #require(maps.firstIndex { $0.hasSuffix(file.path) })
        let flags = try #require(maps[place...].first { $0.hasPrefix("VmFlags:") })
        #expect(flags.split(separator: " ").contains("hg"))
    }
    #endif

    /// Reading behind the end of a file raises SIGBUS, which would end the process.
    @Test func aFileThatIsCutIsZerosAndAnError() throws {
        let folder = try TemporaryFolder()
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let bytes = ModelRepository.randomBytes(3 * page + 100, seed: 5)
        // More than a block of the table.
        var files: [MappedFile] = []
        for number in 0..<300 { files.append(try MappedFile(try folder.write("\(number)", bytes))) }
        #expect(truncate(folder("7"), off_t(page + 10)) == 0 && truncate(folder("299"), 0) == 0)
        try files[7].checkIntact()
        #expect(
            Array(files[7].bytes) == Array(bytes[..<(page + 10)]) + [UInt8](repeating: 0, count: 2 * page + 90))
        #expect(files[299].bytes.allSatisfy { $0 == 0 })
        for number in [7, 299] {
            let error = #expect(throws: AIError.self) { try files[number].checkIntact() }
            #expect(
                error?.code == .fileChanged && error?.exitStatus == 7 && error?.context.path == folder("\(number)"))
        }
        for number in [0, 6, 8, 298] {
            #expect(Array(files[number].bytes) == bytes)
            try files[number].checkIntact()
        }
        // A place in the table that is used again knows nothing of before.
        files.remove(at: 7)
        let next = try MappedFile(folder("8"))
        #expect(Array(next.bytes) == bytes)
        try next.checkIntact()
    }

    /// Threads that read the same part, each from the end of what it has.
    @Test func manyThreadsMayReadAFileThatIsCut() throws {
        let folder = try TemporaryFolder()
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        for round in 0..<20 {
            let file = try MappedFile(try folder.write("\(round)", [UInt8](repeating: 7, count: 64 * page)))
            #expect(truncate(folder("\(round)"), off_t(8 * page)) == 0)
            let sums = Lock<[Int]>([])
            Parallel.perform(8) { number in
                let sum = (number..<64).reduce(0) { $0 + Int(file.bytes[$1 * page]) }
                sums.withLock { $0.append(sum) }
            }
            #expect(sums.withLock { $0.sorted() } == (0..<8).map { 7 * (8 - $0) }.sorted())
            #expect(throws: AIError.self) { try file.checkIntact() }
        }
    }

    @Test func anEmptyFileHasNoBytesAndAnAbsentOneIsAnError() throws {
        let folder = try TemporaryFolder()
        #expect(try MappedFile(try folder.write("empty", [])).bytes.isEmpty)
        for path in [folder("absent"), folder.path] {
            let error = #expect(throws: AIError.self) { try MappedFile(path) }
            #expect(error?.context.path == path)
        }
    }
}
