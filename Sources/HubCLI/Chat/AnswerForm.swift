import HubCore
import HubGrammar
import InferenceKit

/// The form that an answer must have: `--schema`, `--grammar` or `--regex`.
struct AnswerForm: Sendable {
    static let schema = Option.text(
        "schema", "FILE", kind: .file, "answer with JSON that fits the JSON Schema of this file",
        detail: """
            JSON Schema 2020-12: type, properties, required, additionalProperties, items, prefixItems, minItems, \
            maxItems, uniqueItems, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, \
            maxLength, pattern, format, anyOf, oneOf, allOf and $ref; also additionalItems, nullable, and propertyNames as an \
            enum, a const or a pattern. Another keyword is refused by name. A remote model is asked only if its provider supports it.
            """)
    static let grammar = Option.text(
        "grammar", "FILE", kind: .file, "answer with a text of the grammar (GBNF) of this file; on this machine")
    static let regex = Option.text(
        "regex", "R", "answer with a text that is this regular expression; on this machine",
        detail: "As in JavaScript, without lookaround and back-references; the whole answer must match.")
    static let exclusive = [
        ["schema", "grammar", "regex"], ["schema", "tool"], ["grammar", "tool"], ["regex", "tool"],
    ]

    /// What was given on the command line; files are not read yet.
    enum Choice: Sendable {
        case schema(String)
        case grammar(String)
        case regex(String)

        init?(_ arguments: ParsedArguments) {
            if let file = arguments[AnswerForm.schema] {
                self = .schema(file)
            } else if let file = arguments[AnswerForm.grammar] {
                self = .grammar(file)
            } else if let source = arguments[AnswerForm.regex] {
                self = .regex(source)
            } else {
                return nil
            }
        }

        /// Reads and checks the form, before a model is opened or asked.
        ///
        /// - Throws: ``ErrorCode/invalidInput`` for what is not supported or not right, ``ErrorCode/fileNotFound``.
        func read(_ context: Context) async throws -> AnswerForm {
            switch self {
            case .regex(let source): return try AnswerForm(.regularExpression(source), in: nil)
            case .grammar(let file):
                let (bytes, path) = try await context.input(file, limit: AnswerForm.limit)
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw AIError(.invalidInput, "\(file.printable) is not UTF-8", context: .init(path: path))
                }
                return try AnswerForm(.gbnf(text), in: file)
            case .schema(let file):
                let (bytes, path) = try await context.input(file, limit: AnswerForm.limit)
                let schema: JSON
                do throws(JSONError) {
                    schema = try JSON.parse(bytes)
                } catch {
                    throw AIError(.invalidInput, "\(file.printable) is \(error)", context: .init(path: path))
                }
                return try AnswerForm(.jsonSchema(name: "answer", schema: schema), in: file)
            }
        }
    }

    /// Bytes of a file with a schema or a grammar.
    private static let limit = 4 << 20

    let format: ResponseFormat
    private let grammar: OutputGrammar?

    private init(_ format: ResponseFormat, in file: String?) throws(AIError) {
        self.format = format
        do throws(AIError) { grammar = try format.grammar() } catch {
            throw AIError(error.code, (file.map { "\($0.printable): " } ?? "") + error.message)
        }
    }

    /// The answer as JSON, if it is to be JSON and is; what was cut may be by chance.
    func value(of result: GenerationResult) -> JSON? {
        guard let grammar, grammar.isJSON, result.finishReason != .length else { return nil }
        guard let value = try? JSON.parse(result.text), grammar.fits(value) else { return nil }
        return value
    }

    /// - Throws: ``ErrorCode/generationFailed`` for an answer that is not complete, or does not have the form.
    func check(_ result: GenerationResult) throws(AIError) {
        guard result.finishReason != .length else {
            throw AIError(
                .generationFailed, "the answer was cut before it was complete",
                advice: "allow more with --max-tokens, or limit strings and lists with maxLength and maxItems")
        }
        let isRight = grammar.map { $0.isJSON ? value(of: result) != nil : $0.allows(result.text) } ?? true
        guard isRight else {
            throw AIError(.generationFailed, "the answer does not have the form that was asked for")
        }
    }
}
