@testable import Fetcher
@testable import HubCLI
import HubCore
import Support
import Testing

/// Keys and what they make of the list, without a terminal.
@Suite struct ScreenModelTests {
    static let now = 1_800_000_000.0

    /// `count` models of which the first was used longest ago and is the smallest; each revision of the last shares a
    /// blob with the other one.
    static func inventory(_ count: Int, free: Int64 = 0) throws -> CacheInventory {
        let folder = try TemporaryFolder("list")
        let layout = CacheLayout(folder.path)
        var state = CacheState(layout: layout, repositories: [], unusedPayloads: [], foreign: [])
        var inode: UInt64 = 0
        func blob(_ name: String, _ size: Int64) -> CachedBlob {
            inode += 1
            return CachedBlob(
                name: name,
                file: PhysicalFile(
                    size: size, allocated: size, device: 1, inode: inode, links: 1, modified: now, accessed: now))
        }
        for number in 1...count {
            let digits = String(repeating: "0", count: 4 - "\(number)".utf8.count) + "\(number)"
            let id = try RepositoryID("org/m\(digits)")
            let repository = Repository(.model, id)
            let isLast = number == count
            var blobs = [blob("own", Int64(number) * 1000)]
            if isLast { blobs += [blob("shared", 500_000), blob("other", 7000)] }
            func revision(_ first: String, _ names: [String], refs: [String]) -> CachedRevision {
                CachedRevision(
                    commit: Commit(first + String(repeating: digits, count: 9) + "000")!, refs: refs,
                    files: names.map { CachedFile(path: "\($0).bin", blob: $0, isBroken: false) }, isComplete: nil,
                    downloadedAt: now - Double(number) * 86_400,
                    lastUsedAt: now - Double(count - number + (first == "a" ? 1 : 0)) * 86_400)
            }
            var revisions = [revision("a", isLast ? ["own", "shared"] : ["own"], refs: ["main"])]
            if isLast { revisions.append(revision("b", ["other", "shared"], refs: [])) }
            state.repositories.append(
                CachedRepository(
                    folder: layout.repository(repository), repository: repository, revisions: revisions,
                    blobs: Dictionary(uniqueKeysWithValues: blobs.map { ($0.name, $0) }), partials: [],
                    danglingRefs: []))
        }
        var inventory = try CacheInventory(
            state, now: now)
        inventory.diskFree = free
        return inventory
    }

    static func model(_ count: Int, goal: Int64? = nil, free: Int64 = 0, columns: Int = 80, lines: Int = 12) throws
        -> ScreenModel
    {
        ScreenModel(try inventory(count, free: free), goal: goal, columns: columns, lines: lines, now: now)
    }

    private func names(_ model: ScreenModel) -> [String] { model.shown.map { model.rows[$0].name } }

    private func press(_ model: inout ScreenModel, _ keys: [ScreenKey]) -> [ScreenEffect] {
        keys.map { model.press($0) }
    }

    private func text(_ model: ScreenModel, isUnicode: Bool = true) -> [String] {
        ScreenRenderer(model, isUnicode: isUnicode).page(model).lines.map(\.text)
    }

    @Test func theCursorMovesAndStopsAtTheEnds() throws {
        var model = try Self.model(20)
        let height = model.layout.bodyHeight
        #expect(height == 7 && model.shown.count == 21)
        for (key, expected) in [
            (ScreenKey.up, 0), (.down, 1), (.character("j"), 2), (.character("k"), 1), (.pageDown, 7), (.pageUp, 1),
            (.end, 20), (.down, 20), (.pageDown, 20), (.pageUp, 14), (.home, 0), (.pageUp, 0),
        ] {
            #expect(model.press(key) == .none)
            #expect(model.cursor == expected, "\(key)")
            #expect((model.top..<(model.top + height)).contains(model.cursor))
        }
        #expect(model.press(.character("x")) == .beep && model.press(.redraw) == .redraw)
        #expect(model.press(.character("q")) == .quit && model.press(.escape) == .none)
    }

    /// The two revisions of the last model share half a megabyte, which goes with both and with neither alone.
    @Test func marksFreeTogetherWhatNoneFreesAlone() throws {
        var model = try Self.model(3)
        #expect(model.inventory.items.map(\.freedAlone) == [1000, 2000, 3000, 7000])
        _ = press(&model, [.end, .character(" ")])
        #expect(model.ledger.freedBytes == 7000 || model.ledger.freedBytes == 3000)
        #expect(text(model)[1].hasPrefix("1 marked: frees ") && !text(model)[1].contains("together"))
        _ = press(&model, [.up, .character(" ")])
        #expect(model.ledger.freedBytes == 510_000 && model.freedTogether == 500_000)
        #expect(text(model)[1] == "2 marked: frees 510 kB (500 kB only together), then 510 kB free")
        _ = press(&model, [.character(" ")])
        #expect(model.markedCount == 1 && model.ledger.freedBytes < 8000)
    }

    @Test func everyMarkCanBeTakenBack() throws {
        var model = try Self.model(5)
        _ = press(&model, [.character(" "), .down, .character(" "), .character("a")])
        #expect(model.markedCount == 6)
        _ = press(&model, [.character("n")])
        #expect(model.markedCount == 0 && model.ledger.freedBytes == 0 && model.freedTogether == 0)
        for expected in [6, 2, 1, 0] {
            _ = press(&model, [.character("u")])
            #expect(model.markedCount == expected)
        }
        _ = press(&model, [.character("u")])
        #expect(model.message == "nothing to undo" && model.ledger.freedBytes == 0)
    }

    @Test func aPinKeepsARowFromBeingMarked() throws {
        var model = try Self.model(3)
        _ = press(&model, [.character("a")])
        let item = try #require(model.current)
        #expect(model.press(.character("p")) == .pin(item: item, true))
        model.setPinned(item, true)
        #expect(model.markedCount == 3 && !model.isMarked(item))
        _ = press(&model, [.character(" ")])
        #expect(model.message == "pinned; p unpins it" && model.markedCount == 3)
        _ = press(&model, [.character("a")])
        #expect(model.message == "1 row pinned or in use: not marked")
        // Undoing what marked it does not bring the mark back.
        _ = press(&model, [.character("u"), .character("u")])
        #expect(!model.isMarked(item))
        #expect(model.press(.character("p")) == .pin(item: item, false))
    }

    @Test func theOrdersKeepModelsTogether() throws {
        var model = try Self.model(4)
        #expect(names(model) == ["org/m0001", "org/m0002", "org/m0003", "org/m0004", "org/m0004"])
        _ = press(&model, [.down, .down, .character("s")])
        #expect(model.order == .size && names(model).first == "org/m0004" && names(model).last == "org/m0001")
        #expect(names(model)[model.cursor] == "org/m0003", "the cursor stays on its row")
        _ = press(&model, [.character("s")])
        #expect(model.order == .name && names(model).first == "org/m0001")
        _ = press(&model, [.character("s")])
        #expect(model.order == .age && names(model).first == "org/m0004")
        _ = press(&model, [.character("s")])
        #expect(model.order == .used && names(model)[model.cursor] == "org/m0003")
    }

    @Test func theFilterNarrowsAsOneTypes() throws {
        var model = try Self.model(30)
        #expect(press(&model, [.character("/"), .character("0"), .character("2")]) == [.none, .none, .none])
        #expect(model.shown.count == 11)
        _ = press(&model, [.character(" "), .character("M")])
        #expect(model.filter == "02 M" && model.shown.count == 11)
        _ = press(&model, [.backspace, .backspace, .character("9")])
        #expect(names(model) == ["org/m0029"])
        _ = press(&model, [.enter, .character("a")])
        #expect(!model.isFiltering && model.markedCount == 1, "what is not shown is not marked")
        _ = press(&model, [.escape])
        #expect(model.filter.isEmpty && model.shown.count == 31 && model.markedCount == 1)
        #expect(names(model)[model.cursor] == "org/m0029")
        _ = press(&model, [.character("/"), .character("z"), .character("z")])
        #expect(model.shown.isEmpty && model.current == nil)
        _ = press(&model, [.enter, .character(" "), .character("i"), .character("p"), .end])
        #expect(model.page == nil && model.markedCount == 1)
        #expect(text(model)[10] == "no row matches \"zz\"")
        _ = press(&model, [.character("/"), .escape])
        #expect(model.shown.count == 31)
    }

    @Test func theSuggestedLineStandsWhereTheMarksReachTheGoal() throws {
        // 1, 2, 3 kB, … : 1 + 2 + 3 + 4 reach 10 kB.
        var model = try Self.model(12, goal: 110_000, free: 100_000)
        #expect(model.suggestion == 4)
        let line = try #require(text(model).firstIndex { $0.hasPrefix("── delete all above for 110 kB free ─") })
        #expect(line == model.layout.bodyTop + 4 && text(model)[line].count == 80)
        #expect(text(model, isUnicode: false)[line].hasPrefix("-- delete all above for 110 kB free --"))
        // Marks on all above it reach it, and not one fewer.
        for _ in 0..<4 { _ = press(&model, [.character(" "), .down]) }
        #expect(model.freeAfterwards == 110_000)
        // A pinned row is passed over.
        model.setPinned(model.shown[3], true)
        #expect(model.suggestion == 5)
        // No row is hidden by it.
        _ = press(&model, [.end])
        #expect(text(model).contains { $0.hasPrefix("> [ ]") })
        _ = press(&model, [.character("s")])
        #expect(model.suggestion == nil && !text(model).contains { $0.contains("with all above") })
        #expect(try Self.model(3, goal: 5, free: 10).suggestion == nil)
        let far = try Self.model(3, goal: .max / 2, free: 10)
        #expect(far.suggestion == nil && !far.isGoalWithinReach)
    }

    @Test func onlyWhatWasReviewedIsDeleted() throws {
        var model = try Self.model(3)
        #expect(model.press(.enter) == .none)
        #expect(model.message == "nothing is marked: space marks the row under the cursor")
        #expect(press(&model, [.character("y"), .character(" "), .enter]) == [.beep, .none, .review])
        var plan = DeletionPlan()
        plan.rows = (1...30).map { _ in
            .init(subject: .remains, refs: [], reason: "chosen", freedBytes: 1)
        }
        model.page = model.reviewText(plan)
        #expect(press(&model, [.down, .character("j"), .pageDown, .end, .home, .up]).allSatisfy { $0 == .none })
        #expect(model.page?.top == 0)
        _ = press(&model, [.end])
        #expect(model.page?.top == 23 && text(model)[10] == "lines 24-30 of 30")
        #expect(press(&model, [.enter]) == [.none])
        #expect(model.page == nil && model.markedCount == 1, "Enter is no yes")
        _ = press(&model, [.enter])
        model.page = model.reviewText(plan)
        #expect(model.press(.character("y")) == .delete(isTrash: false))
        #expect(model.press(.character("t")) == .delete(isTrash: true))
    }

    @Test func theFilesOfARowSayWithWhomTheyAreShared() throws {
        var model = try Self.model(2)
        _ = press(&model, [.end, .character("i")])
        let lines = try #require(model.page?.lines.map(\.text))
        #expect(lines.count == 2)
        #expect(lines.filter { $0.contains("  shared with ") }.count == 1)
        #expect(lines.contains { $0.hasPrefix("shared.bin  shared with org/m0002@") })
        _ = press(&model, [.character("i")])
        #expect(model.page == nil)
        _ = press(&model, [.character("?")])
        #expect(text(model)[0] == "hub gc: keys" && text(model)[3] == ScreenText.help(columns: 80).lines[0].text)
        let usual = ScreenText.help(columns: 80).lines.count
        #expect(usual <= ScreenLayout(lines: 24).bodyHeight, "a usual terminal shows all of it")
        // A narrow one breaks lines between words, also where it gets narrow meanwhile.
        model.resize(columns: 40, lines: 24)
        let narrow = try #require(model.page?.lines.map(\.text))
        #expect(narrow.count > usual && narrow.allSatisfy { $0.count <= 40 })
        #expect(text(model).allSatisfy { !$0.contains("…") })
    }

    @Test func aDryRunSaysSo() throws {
        let model = ScreenModel(
            try Self.inventory(2), isDryRun: true, columns: 80, lines: 12, now: Self.now)
        #expect(text(model)[0].hasPrefix("dry run: cache "))
        #expect(text(try Self.model(2))[0].hasPrefix("cache "))
    }

    /// No line is wider than the screen, no screen higher, and the cursor is in sight, whatever the size and the page.
    @Test(arguments: [1, 2, 3, 5, 7, 8, 24], [1, 5, 12, 20, 40, 60, 79, 80, 81, 200])
    func everySizeFits(lines: Int, columns: Int) throws {
        var model = try Self.model(9, goal: 3000)
        model.resize(columns: columns, lines: lines)
        for keys: [ScreenKey] in [
            [], [.end], [.character("a")], [.character("i")], [.escape, .character("?")],
            [.escape, .character("/")],
            [.character("0")],
        ] {
            _ = press(&model, keys)
            for isUnicode in [true, false] {
                let page = ScreenRenderer(model, isUnicode: isUnicode).page(model)
                #expect(page.lines.count <= lines)
                for line in page.lines {
                    #expect(DisplayWidth.of(line.text) <= columns, "\(line.text)")
                    #expect(isUnicode || line.text.utf8.allSatisfy { $0 < 0x80 })
                }
                #expect((0..<lines).contains(page.cursor.line) && (0..<columns).contains(page.cursor.column))
            }
        }
    }

    @Test func narrowScreensLoseColumnsFromTheLeastTellingOn() throws {
        let model = try Self.model(3)
        func header(_ width: Int) -> String {
            var narrow = model
            narrow.resize(columns: width, lines: 24)
            return text(narrow)[2].split(separator: " ").joined(separator: " ")
        }
        #expect(header(100) == "NAME REFS SIZE FREES USED ADDED")
        #expect(header(80) == "NAME REFS SIZE FREES USED")
        #expect(header(60) == "NAME SIZE USED")
        #expect(header(28) == "NAME SIZE")
    }

    /// Two cells wide and no cell wide: columns stay where they are.
    @Test func wideCharactersKeepTheColumns() throws {
        var inventory = try Self.inventory(3)
        inventory.items[0].refs = ["日本語の枝"]
        inventory.items[1].refs = ["e\u{301}te\u{301}"]
        inventory.items[2].refs = ["\u{1B}[2Jesc"]
        let model = ScreenModel(inventory, columns: 80, lines: 24, now: Self.now)
        let page = ScreenRenderer(model, isUnicode: true).page(model)
        let sizes = page.lines[3..<6].map { line in
            line.spans.first { $0.text.hasSuffix("kB") || $0.text.hasSuffix(" B") }!.column
        }
        #expect(Set(sizes).count <= 2)
        #expect(page.lines[3].text.contains("日本語の枝") && page.lines[5].text.contains("␛[2Jesc"))
        let plain = ScreenRenderer(model, isUnicode: false).page(model)
        #expect(plain.lines[3].text.contains("?????") && !plain.lines[3].text.contains("日"))
    }

    /// A mark costs what its row has, not what the cache has: 5,000 rows, each marked and drawn.
    @Test func fiveThousandRows() throws {
        var model = try Self.model(4999, lines: 50)
        #expect(model.shown.count == 5000)
        let renderer = ScreenRenderer(model, isUnicode: true)
        for _ in 0..<500 {
            _ = press(&model, [.character(" "), .down])
            #expect(renderer.page(model).lines.count == 50)
        }
        #expect(model.markedCount == 500 && model.ledger.freedBytes == 500 * 501 / 2 * 1000)
        _ = press(&model, [.character("a"), .end])
        #expect(model.ledger.freedBytes == Int64(4999 * 5000 / 2 * 1000 + 507_000))
        #expect(renderer.page(model).lines[48].text == "row 5000 of 5000")
    }

    @Test(arguments: [
        ("1", [0]), (" 1 3-5 ", [0, 2, 3, 4]), ("2,2 1-2", [1, 0]), ("7-7", [6]),
    ]) func rowsTyped(text: String, expected: [Int]) throws {
        #expect(try PlainList.rows(text, count: 7) == expected)
    }

    @Test(arguments: ["0", "8", "3-1", "x", "1-", "-1", "1-9", "99999999999999999999", "1--2"])
    func rowsThatThereAreNot(text: String) throws {
        #expect(throws: AIError.self) { try PlainList.rows(text, count: 7) }
    }
}
