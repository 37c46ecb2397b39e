import HubCore
import Support
import Testing

@testable import HubChatTemplates

/// What a hostile template can do: end with one error.
@Suite(.largeStack) struct ChatLimitTests {
    // A tenth of what a rendering may use up elsewhere: the tests are to cost little.
    private static let limits = Jinja.Limits(steps: 200_000, characters: 1 << 20, cells: 1 << 16, depth: 400)
        .untimed

    private func render(
        _ source: String, _ variables: JSONObject = [:], limits: Jinja.Limits = limits
    ) throws -> String {
        try ChatTemplate(source, path: "t.jinja").render(variables: variables, limits: limits, clock: .now).text
    }

    private func fault(_ source: String) throws -> AIError {
        do {
            let text = try render(source)
            Issue.record("\(source.prefix(80)) gives \(text.utf8.count) bytes")
            throw AIError(.invalidInput, "it was rendered")
        } catch let error as AIError {
            return error
        }
    }

    private static let tooLong = "it takes more than 200000 steps"
    private static let tooWide = "it makes texts of more than 1048576 characters"
    private static let tooMany = "it makes more than 65536 values"
    private static let tooDeep = "it goes more than 400 levels deep"

    @Test(arguments: [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", tooMany),
        ("{% for a in 'xx' * 1000 %}{% for b in 'xx' * 1000 %}{% endfor %}{% endfor %}", tooMany),
        ("{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}", tooDeep),
        (
            "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(20) }}", tooLong
        ),
        ("{% set x = range(40000) | list %}{{ x | sort | unique | list | length }}", tooMany),
        ("{% for a in [[1]] recursive %}{{ loop([a]) }}{% endfor %}", tooDeep),
        (
            "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}"
                + "{{ g() }}", tooDeep
        ),
    ])
    func endlessWork(source: String, message: String) throws {
        let error = try fault(source)
        #expect(error.message.hasSuffix(message), "\(error.message)")
        #expect(error.code == .malformedModel)
        #expect(error.exitStatus == 7)
    }

    @Test(arguments: [
        "{{ 'a' * 10 ** 12 }}", "{{ 'a' * 9223372036854775807 }}", "{{ (['a' * 1000] * 2000) | string }}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s|replace('a', ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = ns.s.join(ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = '%s%s' % (ns.s, ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = '{0}{0}'.format(ns.s) %}{% endfor %}",
        "{% set ns = namespace(s='a') %}{% for i in range(60) %}{% set ns.s = ns.s|string|tojson|tojson %}{% endfor %}",
        "{% set s %}{{ 'x' * 600000 }}{% endset %}{{ s }}",
        "{{ ('a\n' * 1000) | indent('b' * 2000) }}", "{{ 'a' | replace('', 'b' * 600000) }}",
        "{{ ['x' * 999] | tojson(indent='y' * 1000000) }}",
    ])
    func textsWithoutEnd(source: String) throws {
        let error = try fault(source)
        let endings = [Self.tooWide, Self.tooLong, Self.tooMany]
        #expect(endings.contains { error.message.hasSuffix($0) }, "\(error.message)")
    }

    @Test(arguments: [
        ("{{ range(10 ** 9) | list }}", "ranges larger than MAX_RANGE (100000)."),
        ("{{ [0] * 10 ** 12 }}", "steps"), ("{{ [[0] * 60000, [0] * 60000] }}", "values"),
        ("{% for a in range(99999) %}{% endfor %}", "values"), ("{{ [] | slice(10 ** 9) | list }}", "steps"),
        ("{{ [1] | batch(10 ** 9, 0) | list }}", "steps"), ("{{ 'x'.center(10 ** 9) }}", "wider than 10000"),
        ("{{ '%1000000000d' % 1 }}", "wider than 10000"), ("{{ '%.*f' % (10 ** 9, 1.5) }}", "wider than 10000"),
        ("{{ '{:1000000000}'.format(1) }}", "wider than 10000"), ("{{ 1.5 | round(10 ** 18) }}", ""),
        ("{{ strftime_now('%999999999Y') }}", "such a format"), ("{{ 2 ** 64 }}", "more than 64 bits (2 ** 64)"),
        ("{{ 'x'.zfill(10 ** 9) }}", "wider than 10000"), ("{{ '\\t'.expandtabs(10 ** 9) }}", "wider than 10000"),
    ])
    func sizesWithoutBound(source: String, message: String) throws {
        if message.isEmpty {
            #expect(try render(source) == "1.5")
        } else {
            let found = try fault(source).message
            #expect(found.contains(message), "\(found)")
        }
    }

    /// What Python can count, and 64 bits cannot, is refused and ends nothing.
    @Test(arguments: [
        ("{{ 9223372036854775807 | round(-1) }}", "a number of more than 64 bits"),
        ("{{ (-9223372036854775807 - 1) | round(-19) }}", "a number of more than 64 bits"),
        ("{{ range(9223372036854775800, 9223372036854775807, 3)[::2] }}", "a range beyond 64 bits"),
        ("{{ range(0, 9223372036854775807, 9223372036854775806)[1:] }}", "a range beyond 64 bits"),
        ("{{ range(0, 9223372036854775807, 4611686018427387904)[2:] }}", "a range beyond 64 bits"),
        ("{{ range(0, 10, 3)[::-9223372036854775807] }}", "a range whose step has more than 64 bits"),
        ("{{ [1] | slice(9223372036854775807) | list }}", tooLong),
        ("{{ 1234 | round(-9223372036854775807 - 1) }}{{ nope.x }}", "'nope' is undefined"),
        ("{{ '-1'.zfill(-9223372036854775807 - 1) }}{{ nope.x }}", "'nope' is undefined"),
        ("{{ 1" + String(repeating: " if 1", count: 150_000) + " }}", "levels of brackets and blocks"),
    ])
    func numbersAtTheirEnds(source: String, message: String) throws {
        let found = try fault(source).message
        #expect(found.hasSuffix(message), "\(found)")
    }

    /// Names are found by their number, however many there are.
    @Test func manyNames() throws {
        let count = 5000
        let names = (0..<count).map { "a\($0)" }
        let limits = Jinja.Limits().untimed
        let set = names.map { "{% set \($0) = '\($0)' %}" }.joined()
        #expect(try render(set + "{{ a0 }} {{ a17 }} {{ a4999 }}", limits: limits) == "a0 a17 a4999")
        let parameters = "{% macro m(\(names.joined(separator: ", "))) %}{{ a0 }}{{ a4999 }}{% endmacro %}"
        let arguments = names.reversed().map { "\($0)=1" }.joined(separator: ", ")
        #expect(try render(parameters + "{{ m(\(arguments)) }}", limits: limits) == "11")
        #expect(try render("{{ dict(\(arguments)) | length }}", limits: limits) == "5000")
        let spread = "{{ dict(a0=1, **d) | length }}"
        let members = JSONObject(names.dropFirst().map { ($0, 1) })
        #expect(try render(spread, ["d": .object(members)], limits: limits) == "5000")
        let fields = names.map { "{\($0)}" }.joined()
        #expect(
            try render("{{ '\(fields)'.format(\(arguments)) }}", limits: limits)
                == String(repeating: "1", count: count))
    }

    /// What is compared and searched is paid for, so that it ends soon.
    @Test(arguments: [
        "{% set a = 'a' * 100000 %}{% for i in range(30000) %}{% if 'aaab' in a %}{% endif %}{% endfor %}",
        "{% set a = 'a' * 100000 %}{% for i in range(30000) %}{% if a is lower %}{% endif %}{% endfor %}",
        "{% set a = '1' * 100000 %}{% for i in range(30000) %}{% if a | float %}{% endif %}{% endfor %}",
        "{% for i in range(30000) %}{% if strftime_now('') %}{% endif %}{% endfor %}",
        "{% set a = 'a' * 100000 %}{% for i in range(30000) %}{% if a | wordcount %}{% endif %}{% endfor %}",
        "{% set a = 'é' * 100000 %}{% for i in range(3) %}{% if a.isalnum() %}{% endif %}{% endfor %}",
        "{% set a = 'é' * 100000 %}{% for i in range(3) %}{% if a | upper %}{% endif %}{% endfor %}",
        "{% set a = '１' * 100000 ~ 'x' %}{% if a | int %}{% endif %}",
        "{% set a = 'é' * 100000 %}{% for i in range(3) %}{% if a is filter or a is test %}{% endif %}{% endfor %}",
        "{% set a = 'é' * 100000 %}{% for i in range(3) %}{% if {}[a] or 1[a] %}{% endif %}{% endfor %}",
        "{% set a = 'é' * 100000 %}{% for i in range(3) %}{% if namespace() | attr(a) %}{% endif %}{% endfor %}",
        "{% set a = '__' * 50000 %}{% for i in range(30) %}{% if {}[a] %}{% endif %}{% endfor %}",
    ])
    func searchesAreNotFree(source: String) throws {
        #expect(try fault(source).message.hasSuffix(Self.tooLong))
    }

    /// A name is searched in all enclosing scopes, which is charged too.
    @Test func deepNamesAreNotFree() throws {
        func nested(_ levels: Int) -> String {
            "{% set n = 1 %}" + String(repeating: "{% for a in [1] %}", count: levels)
                + "{% for i in range(4000) %}{{ n }}{% endfor %}" + String(repeating: "{% endfor %}", count: levels)
        }
        #expect(try render(nested(2)) == String(repeating: "1", count: 4000))
        #expect(try fault(nested(60)).message.hasSuffix(Self.tooLong))
    }

    /// What a text is escaped to is paid for before it is made: up to twelve times as long.
    @Test(arguments: [
        "{{ ('🦙' * 100000) | urlencode }}", "{{ {'x': '🦙' * 100000} | urlencode }}", "{{ ('<' * 250000) | e }}",
        "{{ {'x': '<' * 250000} | xmlattr }}", "{{ ['\\U000e0080' * 100000] }}", "{{ '%a' % ('🦙' * 100000) }}",
        "{{ '{!a}'.format('🦙' * 100000) }}",
    ])
    func escapesAreNotFree(source: String) throws {
        #expect(try fault(source).message.hasSuffix(Self.tooWide))
    }

    /// Lists within lists, and what holds what holds it, are taken apart without recursion running away.
    @Test(arguments: [
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x] %}{% endfor %}",
        "{% set ns = namespace(x={}) %}{% for i in range(500) %}{% set ns.x = {'x': ns.x} %}{% endfor %}",
        "{% set ns = namespace(x=()) %}{% for i in range(500) %}{% set ns.x = (ns.x, 1) %}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x]|map('list') %}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = joiner([ns.x]) %}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x].count %}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = cycler(ns.x).next %}{% endfor %}",
        "{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = {'x': ns.x}.items() %}"
            + "{% set ns.x = [ns.x] %}{% endfor %}",
    ])
    func deepValues(source: String) throws {
        #expect(
            try fault(source).message.hasSuffix("lists or dictionaries lie more than 128 levels within each other"))
    }

    @Test func longChainsThroughNamespacesLoopsAndMacros() throws {
        let namespaces = "{% set ns = namespace() %}{% for i in range(5000) %}{% set ns.x = namespace(x=ns.x) %}"
        #expect(try render(namespaces + "{% endfor %}ok", limits: Jinja.Limits().untimed) == "ok")
        let loops = """
            {% set ns = namespace() %}{% macro f(before) %}{% for x in [1] %}{% set ns.l = [loop, loop.cycle] %}\
            {% endfor %}{% endmacro %}{% for i in range(3000) %}{{ f(ns.l) }}{% endfor %}ok
            """
        #expect(try render(loops, limits: Jinja.Limits().untimed) == "ok")
        let macros = """
            {% set ns = namespace() %}{% for i in range(3000) %}{% set before = ns.m %}\
            {% macro m() %}{{ before }}{% endmacro %}{% set ns.m = m %}{% endfor %}ok
            """
        #expect(try render(macros, limits: Jinja.Limits().untimed) == "ok")
        let ring = "{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}"
        #expect(try fault(ring).message.hasSuffix(Self.tooDeep))
    }

    /// Values that share their parts, two to the power of sixty of them when written out.
    @Test(arguments: [
        "{{ ns.x }}", "{{ ns.x|tojson }}", "{{ ns.x == ns.y }}", "{{ ns.x < ns.y }}", "{{ {ns.x: 1} }}",
        "{{ ns.x|string|length }}", "{{ '%s' % [ns.x] }}", "{{ ns.x in [ns.y] }}", "{{ [ns.x, ns.y]|unique|list }}",
    ])
    func sharedValues(use: String) throws {
        let make = """
            {% set ns = namespace(x=(), y=()) %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}\
            {% set ns.y = (ns.y, ns.y) %}{% endfor %}
            """
        let message = try fault(make + use).message
        #expect([Self.tooLong, Self.tooWide, Self.tooMany].contains { message.hasSuffix($0) }, "\(message)")
    }

    @Test(arguments: [
        String(repeating: "(", count: 5000), "{{ " + String(repeating: "(", count: 5000),
        "{{ " + String(repeating: "[", count: 5000), "{{ " + String(repeating: "{1:", count: 5000),
        "{{ " + String(repeating: "not ", count: 5000), "{{ " + String(repeating: "-", count: 5000),
        "{{ " + String(repeating: "x if y else ", count: 5000), "{{ " + String(repeating: "f(", count: 5000),
        "{{ " + String(repeating: "a[", count: 5000), String(repeating: "{% if x %}", count: 5000),
        String(repeating: "{% for x in y %}", count: 5000), String(repeating: "{% filter f(", count: 5000),
        "{% set " + String(repeating: "(", count: 5000), "{{ x is " + String(repeating: "in [", count: 5000),
        "{{ x|f(" + String(repeating: "x|f(", count: 5000), "{{ " + String(repeating: "a ** (", count: 5000),
        String(repeating: "{% macro m() %}", count: 5000), String(repeating: "{% call m() %}", count: 5000),
    ])
    func deepSyntax(source: String) throws {
        if source.hasPrefix("((") {
            #expect(try render(source) == source)
        } else {
            let error = try fault(source)
            #expect(error.code == .malformedModel)
            let isDeep = error.message.hasSuffix("more than 100 levels of brackets and blocks")
            #expect(isDeep || source.hasPrefix("{% filter"), "\(error.message)")
        }
    }

    /// Length without depth is fine.
    @Test func longRows() throws {
        let sum = "{{ " + Array(repeating: "1", count: 2000).joined(separator: " + ") + " }}"
        #expect(try render(sum) == "2000")
        let joined = "{{ " + Array(repeating: "'a'", count: 2000).joined(separator: " ~ ") + " }}"
        #expect(try render(joined) == String(repeating: "a", count: 2000))
        let filters = "{{ 'a'" + String(repeating: "|upper|lower", count: 1000) + " }}"
        #expect(try render(filters) == "a")
        let methods = "{{ 'a'" + String(repeating: ".upper().lower()", count: 1000) + " }}"
        #expect(try render(methods) == "a")
        let choices = "{% if x == 0 %}" + (1..<1000).map { "{% elif x == \($0) %}\($0)" }.joined() + "{% endif %}"
        #expect(try render(choices, ["x": 999]) == "999")
        let tests = "{{ 1 is " + Array(repeating: "odd and 1 is", count: 1000).joined(separator: " ") + " odd }}"
        #expect(try render(tests) == "True")
    }

    /// Every prefix of a template is refused or rendered, and none takes long.
    @Test func templatesCutOffAnywhere() throws {
        let source = try Fixtures.text("chat-templates/tools-style.jinja")
        let scalars = Array(source.unicodeScalars)
        var refused = 0
        for end in 0..<scalars.count {
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars[..<end])
            do {
                _ = try render(text, ["messages": .array([])])
            } catch let error as AIError {
                #expect(error.code == .malformedModel, "\(error.message)")
                refused += 1
            }
        }
        #expect(refused > scalars.count / 2)
    }

    @Test func deepJSONIsRefused() throws {
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let document = try JSON.parse(deep)
        let error = try #require(
            throws: AIError.self, performing: { _ = try render("{{ x }}", ["x": document]) })
        #expect(error.message.contains("more than 128 levels") || error.message.hasSuffix(Self.tooDeep))
        // Who sent it is told, as of any other request that is wrong: the template did nothing.
        #expect(error.code == .invalidInput)
    }

    /// What a template says in its errors is its own choice, and so is how much.
    @Test(arguments: [
        "{{ raise_exception('é' * 900000) }}", "{{ [].index('a' * 500000) }}",
        "{{ ('%(' ~ 'c' * 3000 ~ ')s') % {} }}", "{{ ('{' ~ 'e' * 3000 ~ '}').format() }}",
        "{{ raise_exception('f' * 1001) }}",
        "{{ raise_exception('g' ~ '\\u0301' * 500000) }}",
    ])
    func messagesAreShort(source: String) throws {
        let error = try fault(source)
        #expect(error.message.utf8.count < 2200, "\(error.message.utf8.count)")
    }
}
