import Catalog
import Fetcher
import HubCore
import Libc

/// The full-screen list on a terminal, on a thread of its own: keys go to the model, pages to the terminal.
final class ScreenSession: Sendable {
    /// What the review showed is to go, or to be moved into the trash; nil for nothing.
    typealias Ending = (plan: DeletionPlan, isTrash: Bool)?

    /// What other threads have to say to the loop.
    private struct Mail {
        var isInterrupted = false
        /// To be called once the terminal is given back for a stop (^Z).
        var stopping: (@Sendable () -> Void)?
        var isContinued = false
    }

    private let model: ScreenModel
    private let context: Context
    private let workspace: Workspace
    private let mail = Lock(Mail())
    /// What wakes the loop: reading and writing end.
    private let pipe: (reading: Int32, writing: Int32)

    init(_ model: ScreenModel, _ context: Context, _ workspace: Workspace) throws(AIError) {
        (self.model, self.context, self.workspace) = (model, context, workspace)
        var ends: [Int32] = [0, 0]
        guard makePipe(&ends) == 0 else { throw .system("cannot make", path: "a pipe", errno: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        pipe = (ends[0], ends[1])
    }

    deinit {
        close(pipe.reading)
        close(pipe.writing)
    }

    /// Runs until the person is done.
    ///
    /// - Throws: cancellation, where the process was asked to stop or the terminal has gone.
    func run() async throws -> Ending {
        context.output.flush()
        let stop = context.interruption.onRequest { self.tell { $0.isInterrupted = true } }
        let suspension = context.suspension.onSuspend { done in
            self.tell { $0.stopping = done }
        } force: {
            // The loop is at a long step.
            ScreenTerminal.giveBack()
        } resume: {
            self.tell { $0.isContinued = true }
        }
        defer {
            context.interruption.remove(stop)
            context.suspension.remove(suspension)
        }
        return try await withCheckedThrowingContinuation { continuation in
            do throws(AIError) {
                try BackgroundThread.start { continuation.resume(with: Result { try self.loop() }) }
            } catch { continuation.resume(throwing: error) }
        }
    }

    private func tell(_ change: (inout Mail) -> Void) {
        mail.withLock { change(&$0) }
        _ = write(pipe.writing, "m", 1)
    }

    // MARK: The loop

    private func loop() throws -> Ending {
        let terminal = try ScreenTerminal(
            wake: pipe.writing, colors: context.output.settings.colorsOutput, isUnicode: context.isUnicode)
        // A thread waiting for the terminal to stop the process must not wait forever.
        defer { mail.withLock { $0.stopping.take() }?() }
        defer { terminal.leave() }
        var model = model
        if let size = terminal.size() { model.resize(columns: size.columns, lines: size.rows) }
        let renderer = ScreenRenderer(model, isUnicode: context.isUnicode)
        while true {
            // After a long step the terminal may be the shell's.
            try hearMail(terminal, &model)
            terminal.draw(renderer.page(model), columns: model.columns)
            guard try waitForSomething() else { continue }
            try hearMail(terminal, &model)
            while let key = terminal.key() {
                let effect = model.press(key)
                if effect == .quit { return nil }
                if case .delete(let isTrash) = effect, let plan = model.page?.plan { return (plan, isTrash) }
                do throws(AIError) { try perform(effect, terminal, &model) } catch { model.message = error.message }
            }
        }
    }

    /// Whether keys were typed; false if only another thread, or the terminal's size, had something to say.
    private func waitForSomething() throws -> Bool {
        var sources = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
            pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&sources, 2, -1) < 0 {
            guard errno == EINTR else { throw AIError.system("cannot read", path: "the terminal", errno: errno) }
        }
        // The terminal is gone: no question is possible.
        if sources[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { throw CancellationError() }
        return sources[0].revents & Int16(POLLIN) != 0
    }

    private func hearMail(_ terminal: ScreenTerminal, _ model: inout ScreenModel) throws {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(pipe.reading, &bytes, bytes.count) > 0 {}
        let news = mail.withLock { mail in
            defer { mail = Mail() }
            return mail
        }
        if news.isInterrupted { throw CancellationError() }
        if let stopping = news.stopping {
            terminal.pause()
            stopping()
            // During a long step both can have arrived: then the process has already continued.
            if !news.isContinued { try waitUntilContinued() }
            terminal.takeAgain()
        }
        if let size = terminal.size(), (size.columns, size.rows) != (model.columns, model.lines) {
            terminal.resize(columns: size.columns, rows: size.rows)
            model.resize(columns: size.columns, lines: size.rows)
        }
    }

    /// The terminal is the shell's now: nothing may be drawn until the process continues.
    private func waitUntilContinued() throws {
        var source = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
        while true {
            let news = mail.withLock { mail in (mail.isContinued, mail.isInterrupted) }
            if news.1 { throw CancellationError() }
            if news.0 { break }
            _ = poll(&source, 1, -1)
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(pipe.reading, &bytes, bytes.count) > 0 {}
        }
        mail.withLock { $0.isContinued = false }
    }

    private func perform(_ effect: ScreenEffect, _ terminal: ScreenTerminal, _ model: inout ScreenModel)
        throws(AIError)
    {
        switch effect {
        case .none, .quit, .delete: break
        case .beep: terminal.beep()
        case .redraw: terminal.forget()
        case .pin(let item, let isPinned):
            try pin(model.inventory, item, isPinned)
            model.setPinned(item, isPinned)
        case .review:
            let protection = try workspace.readProtection(for: model.inventory.state.files)
            let plan = try model.inventory.plan(model.marked, protection: protection, now: Timestamp.now)
            guard !plan.isEmpty else {
                let first = plan.protected.first
                model.message = first.map { "\($0.name): \($0.reason)" } ?? "nothing of it can be deleted"
                return
            }
            model.page = model.reviewText(plan)
            // A y typed ahead has not seen what it says yes to.
            terminal.dropInput()
        }
    }

    private func pin(_ inventory: CacheInventory, _ place: Int, _ isPinned: Bool) throws(AIError) {
        let item = inventory.items[place]
        guard let commit = item.commit, let folder = inventory.repository(of: item)?.folder.name else { return }
        guard let catalog = workspace.catalog else {
            throw AIError(.catalogUnusable, "cannot change the pin: the catalog is unusable")
        }
        let record = CacheRecord(workspace.layout, in: catalog)
        if isPinned {
            try record.pin(folder, commit, note: nil)
        } else {
            try record.unpin(folder, commit)
        }
    }
}

/// `pipe` of the C library; inside the class the name means its own property.
private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
