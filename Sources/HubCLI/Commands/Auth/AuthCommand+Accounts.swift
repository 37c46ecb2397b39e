import Fetcher
import HubCore
import RemoteKit

extension AuthCommand {
    // MARK: list

    static func list(_ context: Context) async throws {
        let accounts = context.accounts
        let all = try await Blocking.run { try accounts.all() }
        let environment = context.environment
        let keys = try await Blocking.run { try ProviderKeys(environment).all().sorted { $0.key < $1.key } }
        var agreed: [(key: String, value: Double)] = []
        // The tokens are worth showing without them.
        do {
            agreed = try await Blocking.run { try SendingAgreements(environment).all().sorted { $0.key < $1.key } }
        } catch let error as AIError {
            context.output.warning(error.message, advice: error.specificAdvice)
        }
        let rows = all.map { account in
            JSON.object([
                "name": .string(account.name), "active": .bool(account.isActive),
                "token": account.token.map { .string(masked($0)) },
                "expires_at": account.expiresAt.map { .string(Timestamp.iso8601($0)) },
                "renewed": .bool(account.isRenewed),
            ])
        }
        let document: JSONObject = [
            "tokens": .array(rows), "environment_variable": context.environment.tokenVariable.map(JSON.string),
            "providers": keys.isEmpty
                ? nil
                : .array(keys.map { .object(["provider": .string($0.key), "key": .string(masked($0.value))]) }),
            "agreements": agreed.isEmpty
                ? nil
                : .array(
                    agreed.map {
                        .object(["provider": .string($0.key), "agreed_at": .string(Timestamp.iso8601($0.value))])
                    }),
        ]
        context.output.render(json: document, quiet: all.map(\.name)) {
            var table = Table([
                .init(""), .init("NAME", least: 12), .init("TOKEN"), .init("EXPIRES", optional: true),
            ])
            for account in all {
                table.add([
                    account.isActive ? "*" : "", Styled(account.name.printable, .name),
                    Styled(account.token.map(masked) ?? ""), Styled(expiry(account, context.now)),
                ])
            }
            for (origin, key) in keys { table.add(["", Styled(origin, .name), Styled(masked(key)), ""]) }
            context.output.table(table)
            let router = try? environment.inferenceEndpoint().origin.description
            for (origin, date) in agreed {
                let provider = origin == router ? "hf" : origin
                context.output.line(
                    "Texts may go to \(origin) since \(Timestamp.iso8601(date)); hub auth logout --provider \(provider) ends that"
                )
            }
        }
        if all.isEmpty {
            context.output.note("no token is saved; hub auth login saves one")
        } else if !all.contains(where: \.isActive), context.environment.tokenVariable == nil {
            context.output.note("none of them is in use; hub auth switch NAME uses one")
        }
        warnOfVariables(context)
    }

    private static func expiry(_ account: Accounts.Account, _ now: Double) -> String {
        guard let end = account.expiresAt else { return "" }
        let time = Timestamp.iso8601(end)
        return end <= now && !account.isRenewed ? "\(time) (over)" : account.isRenewed ? "\(time) (renewed)" : time
    }

    /// As Python's client masks it: `hf_****abcd`. Of a short one the end would say too much.
    private static func masked(_ token: AccessToken) -> String {
        token.secret.count < 16
            ? "\(token.secret.prefix(3))****" : "\(token.secret.prefix(3))****\(token.secret.suffix(4))"
    }

    // MARK: switch

    static func choose(_ context: Context, _ name: String) async throws {
        let accounts = context.accounts
        guard try await accounts.choose(name) != nil else { throw unknown }
        let path = accounts.file.path
        context.output.render(json: ["name": .string(name), "token_path": .string(path)], quiet: [name]) {
            context.output.line("Using " + Styled(name.printable, .name) + "; the token is in \(path)")
        }
        warnOfVariables(context)
    }

    /// The word may be a token: it is not repeated.
    private static var unknown: AIError {
        AIError(.nothingMatches, "no saved token has that name", advice: "hub auth ls shows the names")
    }

    // MARK: logout

    static func logout(_ context: Context, _ request: Request) async throws {
        let accounts = context.accounts
        let choice: Accounts.Choice = request.all ? .all : request.name.map { .named($0) } ?? .active
        let removal = try await accounts.forget(choice)
        if request.name != nil, removal.names.isEmpty { throw unknown }
        let isNothing = removal.file == .nothing && removal.names.isEmpty
        let document: JSONObject = [
            "removed": .bool(!isNothing), "names": .array(removal.names.map(JSON.string)),
            "token_path": .string(accounts.file.path),
            "environment_variable": context.environment.tokenVariable.map(JSON.string),
        ]
        context.output.render(json: document, quiet: []) {
            context.output.line(Styled(sentence(removal, accounts.file.path, isNothing)))
        }
        if case .link(let target) = removal.file {
            context.output.warning(
                "\(accounts.file.path) was a link; the token is still in \(target)",
                advice: "delete that file if it should go")
        }
        if removal.hadSignIn {
            context.output.note(
                "\(try context.hubEndpoint())/settings/connected-applications ends the sign-in at the Hub, too")
        }
        warnOfVariables(context)
        if let fault = removal.fault { throw fault }
    }

    private static func sentence(_ removal: Accounts.Removal, _ path: String, _ isNothing: Bool) -> String {
        if isNothing { return "not signed in: there is no token in \(path)" }
        let names = removal.names.map { "\"\($0.printable)\"" }.joined(separator: ", ")
        if removal.file == .nothing { return "removed \(names) from the saved tokens" }
        return "signed out: \(path) is deleted" + (names.isEmpty ? "" : ", and \(names) is no longer saved")
    }
}
