import HubCore
import Testing

@testable import HubChatTemplates

/// Work whose size the template chooses is paid for, and texts are before they are made.
@Suite struct ChatPriceTests {
    private func render(_ source: String, limits: Jinja.Limits) throws -> String {
        try ChatTemplate(source, path: "t.jinja").render(variables: [:], limits: limits, clock: .now).text
    }

    private func message(_ source: String, limits: Jinja.Limits) throws -> String {
        try #require(throws: AIError.self, performing: { _ = try render(source, limits: limits) }).message
    }

    /// Templates that are cheap for a small `N` are rejected for a large one.
    @Test(arguments: [
        "{% macro NAME() %}{% endmacro %}{{ ([NAME] * 100)|string|length }}",
        "{% macro NAME() %}{% endmacro %}{% for i in range(100) %}{% if NAME.name %}{% endif %}{% endfor %}",
        "{% macro m(NAME) %}{% endmacro %}{% for i in range(100) %}{% if m.arguments %}{% endif %}{% endfor %}",
        "{{ ([-9223372036854775807] * N)|string|length }}", "{{ ([-9223372036854775807] * N)|tojson|length }}",
        "{{ ([1.2345678901234567e-300] * N)|string|length }}",
        "{{ ([1.2345678901234567e-300] * N)|tojson|length }}",
        "{{ ([none] * 3 * N)|string|length }}", "{{ ([true] * 3 * N)|tojson|length }}",
        "{{ ([range(99999)] * N)|string|length }}", "{{ ([range] * N)|string|length }}",
        "{{ ('\\x01' * 4 * N)|tojson|length }}", "{{ ('🦙' * 2 * N)|tojson(ensure_ascii=true)|length }}",
        "{{ ('\\\"' * 6 * N)|tojson|length }}", "{{ ([[]] * 9 * N)|tojson(separators=('', ''))|length }}",
    ])
    func textsArePaidFor(source: String) throws {
        let limits = Jinja.Limits(steps: 400_000, characters: 1 << 16, cells: 1 << 18).untimed
        func text(_ count: Int) -> String {
            source.replacing("NAME", with: String(repeating: "n", count: count / 4)).replacing(
                "N", with: "\(count)")
        }
        _ = try render(text(4), limits: limits)
        #expect(
            try message(text(4000), limits: limits).hasSuffix("it makes texts of more than 65536 characters"))
    }

    /// A hundred turns of a loop, or a thousand, cost what their long texts do.
    @Test(arguments: [
        "{% set p = 'a.' * N %}{% for i in range(100) %}{% if ''|join('', p) %}{% endif %}{% endfor %}",
        "{% set p = 'a,' * N %}{% for i in range(100) %}{% if ''|sort(attribute=p) %}{% endif %}{% endfor %}",
        "{% set p = 'a' * N %}{% for i in range(100) %}{% if [1]|map(attribute=p)|list %}{% endif %}{% endfor %}",
        "{% set f = '{' ~ 'a' * N ~ '}' %}{% set d = {'a' * N: ''} %}"
            + "{% for i in range(100) %}{{ f.format(**d) }}{% endfor %}",
        "{% set d = {'a' * N: 1} %}{% for i in range(1000) %}{{ ''.format(**d) }}{% endfor %}",
        "{% set d = {'a' * N: 1} %}{% for i in range(1000) %}{{ ''.format_map(d) }}{% endfor %}",
        "{% set d = {'a' * N: 1} %}{% for i in range(1000) %}{% if dict(**d) %}{% endif %}{% endfor %}",
        "{% set f = '%(' ~ 'a' * N ~ ')s' %}{% set d = {'a' * N: ''} %}"
            + "{% for i in range(100) %}{{ f % d }}{% endfor %}",
        "{% set f = '%' ~ '-' * N ~ 's' %}{% for i in range(100) %}{{ f % '' }}{% endfor %}",
        "{% set f = '%' ~ 'h' * N ~ 's' %}{% for i in range(100) %}{{ f % '' }}{% endfor %}",
        "{% set f = '%.' ~ '0' * N ~ 's' %}{% for i in range(100) %}{{ f % '' }}{% endfor %}",
        "{% set s = 'ab' * N %}{% for i in range(100) %}{{ ''.strip(s) }}{{ ''|trim(s) }}{% endfor %}",
        "{% set s = 'ab' * N %}{% for i in range(1000) %}{{ s.removeprefix(s) }}{{ s.removesuffix(s) }}{% endfor %}",
        "{% set l = [0] * N %}{% for i in range(100) %}{{ l|select|first }}{% endfor %}",
        "{% set l = [0.1] * (N // 100) %}{% for i in range(400) %}{% if l|string %}{% endif %}{% endfor %}",
    ])
    func longTextsAreNotFree(source: String) throws {
        let limits = Jinja.Limits(steps: 300_000, cells: 1 << 18).untimed
        _ = try render(source.replacing("N", with: "2"), limits: limits)
        #expect(
            try message(source.replacing("N", with: "10000"), limits: limits)
                .hasSuffix("it takes more than 300000 steps"))
    }

    @Test(arguments: [
        "{% set ns = namespace() %}{% for i in range(1000) %}{% set ns.NAME = 1 %}{% endfor %}",
        "{% macro m(NAME) %}{% endmacro %}{% for i in range(1000) %}{{ m(NAME=1) }}{% endfor %}",
    ])
    func longNamesAreNotFree(source: String) throws {
        let limits = Jinja.Limits(steps: 100_000).untimed
        _ = try render(source.replacing("NAME", with: "n"), limits: limits)
        let long = source.replacing("NAME", with: String(repeating: "n", count: Jinja.longestName))
        #expect(try message(long, limits: limits).hasSuffix("it takes more than 100000 steps"))
    }

    @Test func namesHaveAnEnd() throws {
        let name = String(repeating: "name", count: 251)
        for source in ["{{ NAME }}", "{{ x.NAME }}", "{% macro m(NAME) %}{% endmacro %}", "{{ f(NAME=1) }}"] {
            #expect(
                try message("\n" + source.replacing("NAME", with: name), limits: Jinja.Limits())
                    == "t.jinja: chat template, line 2: the name namenamenamenamename... has more than 1000 characters"
            )
        }
        let longest = String(repeating: "n", count: 1000)
        #expect(try render("{% set \(longest) = 1 %}{{ \(longest) }}", limits: Jinja.Limits()) == "1")
    }

    /// What C takes long for costs more than other steps.
    @Test(arguments: [
        "1.5e-300|round(320)", "1e308 % 3e-308", "1e308 // 3e308", "'%f' % 1e308", "1e308|filesizeformat",
    ])
    func hardArithmeticIsNotFree(expression: String) throws {
        let source = "{% for i in range(1000) %}{% if EXPRESSION %}{% endif %}{% endfor %}"
        let limits = Jinja.Limits(steps: 25_000).untimed
        _ = try render(source.replacing("EXPRESSION", with: "1.5 + 2.5"), limits: limits)
        #expect(
            try message(source.replacing("EXPRESSION", with: expression), limits: limits)
                .hasSuffix("it takes more than 25000 steps"))
    }

    // MARK: Time

    private static let endless = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"

    /// A clock that advances by a second on every read.
    private func ticking(seconds: Int) -> Jinja.Limits {
        let time = Lock(0.0)
        return Jinja.Limits(
            seconds: seconds,
            now: {
                time.withLock { time in
                    time += 1
                    return time
                }
            })
    }

    @Test func aRenderingEndsWhenItsTimeIsUp() throws {
        #expect(
            try message(Self.endless, limits: ticking(seconds: 3))
                == "t.jinja: chat template, line 1: it takes longer than 3 seconds")
        #expect(try message(Self.endless, limits: ticking(seconds: 1)).hasSuffix("it takes longer than 1 second"))
        // What takes few steps is done before anybody looks.
        #expect(
            try render("{% for a in range(9) %}{{ a }}{% endfor %}", limits: ticking(seconds: 0)) == "012345678")
        let limits = Jinja.Limits(steps: 100_000).untimed
        #expect(try message(Self.endless, limits: limits).hasSuffix("it takes more than 100000 steps"))
    }

    @Test func aRenderingThatNobodyWantsEnds() async throws {
        let asked = Lock(0)
        let limits = Jinja.Limits(isCancelled: {
            asked.withLock { asked in
                asked += 1
                return asked == 3
            }
        }).untimed
        let error = try #require(
            throws: AIError.self, performing: { _ = try render(Self.endless, limits: limits) })
        #expect(error.code == .cancelled)
        #expect(asked.withLock { $0 } == 3)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try ChatTemplate(Self.endless, path: "t.jinja").render([]).text
        }
        let result = await task.result
        #expect(try #require(throws: AIError.self, performing: { try result.get() }).code == .cancelled)
    }

    // MARK: Streams

    /// Nested streams are as deep as nested lists may be.
    @Test func streamsOfStreams() throws {
        func chain(_ count: Int) -> String {
            "{% set ns = namespace(g=[1, 2]) %}{% for i in range(\(count)) %}{% set ns.g = ns.g|map('abs') %}{% endfor %}"
                + "{{ ns.g|list }}"
        }
        let limits = Jinja.Limits().untimed
        #expect(try render(chain(120), limits: limits) == "[1, 2]")
        #expect(
            try message(chain(200), limits: limits)
                .hasSuffix("lists or dictionaries lie more than 128 levels within each other"))
    }

    /// What a stream has taken may hold other streams without end, and the stream itself.
    @Test(arguments: ["batch(1)", "slice(2)"])
    func streamsThatHoldStreams(filter: String) throws {
        let chain = """
            {% set ns = namespace() %}{% for i in range(3000) %}\
            {% set g = [ns, ns]|map(attribute='x')|\(filter) %}{% if g|first %}{% endif %}{% set ns.x = g %}\
            {% endfor %}{% set ns.x = [ns, ns]|map(attribute='x')|\(filter) %}{{ ns.x|first|length }}
            """
        #expect(try render(chain, limits: Jinja.Limits().untimed) == "1")
    }
}

extension Jinja.Limits {
    /// The same on a clock that stands still: what is tested must not hang on how busy the machine is.
    var untimed: Jinja.Limits {
        var limits = self
        limits.now = { 0 }
        return limits
    }
}
