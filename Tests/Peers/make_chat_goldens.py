#!/usr/bin/env python3
"""Writes Tests/Fixtures/goldens/chat-expressions.json and chat-families.json: what transformers makes of templates.

    python3 -m venv venv && venv/bin/pip install transformers==5.23.0 jinja2==3.1.6
    venv/bin/python Tests/Peers/make_chat_goldens.py

Every template goes through transformers' own set-up of Jinja. Where it fails, the golden has the error's words; hub
must fail too, in words of its own.
"""

import datetime
import json
import pathlib
import re

import jinja2
import transformers
from transformers.utils import chat_template_utils

ROOT = pathlib.Path(__file__).resolve().parents[1] / "Fixtures"
NOW = datetime.datetime(2026, 3, 4, 5, 6, 7, 89)


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = FixedTime

VARIABLES = {
    "n": 3, "m": -7, "f": 2.5, "zero": 0, "big": 1e16, "tiny": 1e-7, "yes": True, "no": False, "nothing": None,
    "s": "Hello World", "empty": "", "pad": "  two words \n", "quote": "it's \"so\"", "uni": "héllo ß ΣΊΣΥΦΟΣ 你好 👋🏽",
    "lines": "one\ntwo\r\nthree\n\nfive", "csv": "a,b,,c", "html": "<a href='x'>T & \"U\"</a>",
    "xs": [3, 1, 2], "nested": [[1, 2], [3, [4, 5]]], "words": ["pear", "Apple", "fig", "apple"], "none_list": [],
    "mixed": [1, 2.0, "three", None, True, [4], {"k": 5}],
    "d": {"b": 1, "a": [1, 2], "c": None, "items": "own", "Z": {"deep": {"er": "x"}}},
    "users": [
        {"name": "Ann", "age": 31, "tags": ["x"], "on": True},
        {"name": "bob", "age": 25, "tags": [], "on": False},
        {"name": "Cy", "age": 31, "on": True, "boss": {"name": "Ann"}},
    ],
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"x": 1.0, "é": "ü"}}}]},
    ],
}

# One template a line; `⏎` is a line break.
EXPRESSIONS = r"""
# numbers
{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 7 / 2 }} {{ 6 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }}
{{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }}
{{ 1 / 3 }} {{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e15 }} {{ 123456789.123 }} {{ 1e-4 }} {{ 1e-5 }} {{ 1.5e300 * 1e10 }}
{{ 1.0 }} {{ 100.0 }} {{ 1e100 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }} {{ -0.0 }} {{ 3.0 * 2 }}
{{ 7.5 // 2 }} {{ -7.5 // 2 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }} {{ 7.5 % -2 }} {{ 1.0 // 0.1 }} {{ 1 % 0.1 }}
{{ 0x1F }} {{ 0b101 }} {{ 0o17 }} {{ 1_000_000 }} {{ 1_0.5_0 }} {{ 0 }} {{ 00 }}
{{ 1e3 }} {{ 1E-2 }} {{ 12.5e+2 }}
{{ 1.real }}
{{ true + true }} {{ true * 3 }} {{ -true }} {{ +false }} {{ 1 == true }} {{ 0 == false }} {{ 1.0 == 1 }}
{{ 1 / 0 }}
{{ 1 // 0 }}
{{ 1 % 0 }}
{{ 1.0 / 0 }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ [1] + (2,) }}
{{ none + 1 }}
{{ 'a' - 'b' }}
{{ -'a' }}
{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }}
{{ n + f }} {{ n * m }} {{ m // n }} {{ big }} {{ tiny }} {{ big + 1 }}
{{ 5 is odd }} {{ 5 is even }} {{ -3 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }} {{ 4.0 is even }}
{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 3 > 2 >= 2 }} {{ 1 == 1 != 2 }} {{ 1 < 2 in [2] }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ [1, 2] < [1, 3] }} {{ [1] < [1, 0] }} {{ (1, 'a') < (1, 'b') }} {{ 'abc' < 'abd' }} {{ 'Z' < 'a' }} {{ 'a' <= 'a' }}
{{ [1] < (1,) }}
{{ {} < {} }}
{{ 1 is lessthan 2 }} {{ 1 is ge 1 }} {{ 2 is gt(1) }} {{ 1 is ne 2 }} {{ 'a' is eq 'a' }} {{ 1 is sameas 1 }} {{ true is sameas true }} {{ 1 is sameas true }}
{{ 42|abs }} {{ -42|abs }} {{ -4.5|abs }} {{ 'x'|abs }}
{{ 2.5|round }} {{ 3.5|round }} {{ 2.675|round(2) }} {{ 42.55|round(1, 'floor') }} {{ 42.51|round(1, 'ceil') }} {{ 7|round }} {{ 15|round(-1) }} {{ 25|round(-1) }} {{ 1234.5|round(-2) }} {{ -2.5|round }}
{{ '3'|int }} {{ ' 42 '|int }} {{ '3.9'|int }} {{ 'x'|int }} {{ 'x'|int(7) }} {{ '0x1f'|int(0, 16) }} {{ '101'|int(base=2) }} {{ 3.99|int }} {{ -3.99|int }} {{ none|int }} {{ true|int }} {{ '1_0'|int }} {{ '1__0'|int }} {{ '+5'|int }} {{ '--5'|int }}
{{ '3.5'|float }} {{ 'x'|float }} {{ 'x'|float(1.5) }} {{ 7|float }} {{ '1e3'|float }} {{ '.5'|float }} {{ '5.'|float }} {{ ' 1.5 '|float }} {{ 'inf'|float }} {{ 'nan'|float }} {{ '-Infinity'|float }} {{ none|float }} {{ [1]|float }}
{{ 1000|filesizeformat }} {{ 1|filesizeformat }} {{ 0|filesizeformat }} {{ 123456789|filesizeformat }} {{ 123456789|filesizeformat(true) }} {{ 999|filesizeformat }} {{ 1e27|filesizeformat }}
{{ [1, 2, 3]|sum }} {{ [1.5, 2]|sum }} {{ []|sum }} {{ [1, 2]|sum(start=10) }} {{ users|sum('age') }} {{ users|sum(attribute='age', start=1) }}
{{ ['a', 'b']|sum }}
{{ [[1], [2]]|sum(start=[]) }}
{{ 5 .bit_length() }} {{ 2.0.is_integer() }}
{{ 9223372036854775804|round(-1) }} {{ 5000000000000000000|round(-19) }} {{ 4999999999999999999|round(-19) }} {{ 9223372036854775807|round(-20) }} {{ -25|round(-1) }} {{ -35|round(-1) }} {{ 9223372036854775807|round(-18) }}
{{ 5.5|round(2, 'ceil') }} {{ 5|round(400, 'ceil') }} {{ 1234|round(-2, 'ceil') }} {{ 1234.5|round(-2, 'floor') }} {{ 7|round(0, 'floor') }} {{ 9007199254740993|round(1, 'floor') }} {{ 0.1|round(25, 'ceil') }}
{{ 5.5|round(400, 'ceil') }}
{{ 5.5|round(308, 'ceil') }}
{{ 5|round(-400, 'ceil') }}
{{ '１２'|int }} {{ '１.５'|float }} {{ '１_２'|int }} {{ '-１'|int }} {{ '１ｆ'|int(0, 16) }} {{ '٣'|int }} {{ '²'|int }} {{ 'ｅ'|float(9) }}
{{ ('nan'|float)|filesizeformat }} {{ ('inf'|float)|filesizeformat }} {{ '%f %F %g' % ('nan'|float, 'nan'|float, 'nan'|float) }}
{{ 1.2345678901234567e308|round(323) }} {{ 5e-324|round(323) }} {{ 1e-320|round(322) }} {{ 2.5e-310|round(310) }} {{ 0.1|round(17) }} {{ 0.1|round(16) }} {{ 0.3|round(15) }} {{ 4503599627370497.5|round }} {{ 4503599627370496.5|round(1) }} {{ 2251799813685249.25|round(1) }} {{ 1e22|round(2) }} {{ 123.456|round(13) }} {{ 123.456|round(14) }} {{ 9007199254740993.0|round(1) }} {{ 1e300|round(-5) }} {{ 1.7e308|round(-308) }} {{ 18014398509481984.0|round }}
# strings
{{ 'a' 'b' "c" }} {{ 'a' ~ 1 ~ none ~ true ~ 1.0 ~ [1, 'x'] }} {{ 'ab' * 3 }} {{ 3 * 'ab' }} {{ 'x' * 0 }} {{ 'x' * -1 }}
{{ 'a\nb\tc\\d\'e\"f\x41\u00e9\U0001F44B\101\0end' }}
{{ '\d \w \. \z \é' }}
{{ 'line\⏎continued' }}
{{ "\x4" }}
{{ "tab	inside" }} {{ "new⏎line" }}
{{ s[0] }} {{ s[-1] }} {{ s[2:5] }} {{ s[:3] }} {{ s[-3:] }} {{ s[::-1] }} {{ s[::2] }} {{ s[10:2:-2] }} {{ s[100:] }} {{ s[:-100] }} {{ s[99] }} {{ s[5:1] }}
{{ s[::0] }}
{{ s['x'] }} {{ s[1.0] }} {{ s[true] }}
{{ uni|length }} {{ uni[-2:] }} {{ uni|upper }} {{ uni|lower }} {{ uni|title }} {{ uni|capitalize }} {{ uni[::-1] }}
{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ 'hELLO wORLD'.capitalize() }} {{ s.swapcase() }} {{ 'straße'.upper() }} {{ 'straße'.casefold() }} {{ "they're bill's".title() }} {{ "they're bill's"|title }} {{ 'a-b (c) [d] {e} <f'|title }}
{{ pad.strip() }}| {{ pad.lstrip() }}| {{ pad.rstrip() }}| {{ 'xxaxx'.strip('x') }} {{ 'abcba'.strip('ab') }} {{ 'abc'.lstrip('cba') }}| {{ '\u00a0\u2003x\u3000'.strip() }}|{{ '\u200bx'.strip()|length }}
{{ csv.split(',') }} {{ csv.split(',', 1) }} {{ csv.rsplit(',', 1) }} {{ pad.split() }} {{ ' a  b c '.split(none, 1) }} {{ ' a  b c '.rsplit(none, 1) }} {{ 'abc'.split('') }}
{{ 'a,b,c'.split(sep=',', maxsplit=1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'aXbXc'.rsplit('X') }}
{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ 'a\x0bb\x0cc\x1cd\u2028e'.splitlines() }} {{ ''.splitlines() }}
{{ 'aaa'.replace('a', 'b') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'abc'.replace('', '-') }} {{ 'aaa'|replace('a', 'bb', 2) }} {{ 'aaa'|replace('aa', 'b') }} {{ 123|replace(2, 'x') }} {{ 'x'.replace('x') }}
{{ ', '.join(['a', 'b']) }} {{ ''.join([]) }} {{ '-'.join('abc') }} {{ '-'.join(d) }}
{{ ', '.join([1]) }}
{{ [1, 'a', none, 2.0]|join('-') }} {{ users|join(', ', attribute='name') }} {{ 'abc'|join('.') }} {{ []|join }} {{ [[1], {'a': 2}]|join(' ') }}
{{ s.startswith('Hell') }} {{ s.startswith(('x', 'He')) }} {{ s.endswith('ld') }} {{ s.startswith('ello', 1) }} {{ s.endswith('lo', 0, 5) }} {{ s.startswith('') }} {{ ''.startswith('', 1) }}
{{ s.startswith(1) }}
{{ s.find('o') }} {{ s.find('o', 5) }} {{ s.rfind('o') }} {{ s.find('zz') }} {{ s.find('o', -4) }} {{ s.index('W') }} {{ s.find('') }} {{ s.rfind('') }} {{ s.count('l') }} {{ 'aaaa'.count('aa') }} {{ 'abc'.count('') }} {{ s.find('World', 3, 8) }}
{{ s.index('zz') }}
{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaab'.find('aaaaaaaaaaaaaaaaaab') }} {{ 'abababababababababababababab'.count('abababababababababab') }} {{ 'xyxyxyxyxyxyxyxyxyxyxyxyxyzxyxyxyxyxyxyxyxyxyxy'.split('xyxyxyxyxyxyxyxyxyxy') }} {{ 'abcabcabcabcabcabcabcabcabcabd'.rfind('abcabcabcabcabcabcabc') }}
{{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('=') }} {{ 'abc'.rpartition('=') }} {{ 'TestCase'.removeprefix('Test') }} {{ 'TestCase'.removesuffix('Case') }} {{ 'abc'.removeprefix('x') }}
{{ 'ab'.center(5) }}| {{ 'abc'.center(6, '*') }} {{ 'ab'|center(7) }}| {{ 'ab'.ljust(4, '.') }} {{ 'ab'.rjust(4) }} {{ '42'.zfill(5) }} {{ '-42'.zfill(5) }} {{ 'abc'.zfill(2) }} {{ 'a\tb'.expandtabs(4) }} {{ 'abc\td'.expandtabs() }}
{{ 'abc'.isalpha() }} {{ 'ab1'.isalnum() }} {{ '12'.isdigit() }} {{ '²'.isdigit() }} {{ '½'.isnumeric() }} {{ '½'.isdigit() }} {{ '٣'.isdecimal() }} {{ ' \n'.isspace() }} {{ ''.isspace() }} {{ 'Ab'.istitle() }} {{ 'AB'.isupper() }} {{ 'ab1'.islower() }} {{ '1'.islower() }} {{ 'é'.isascii() }} {{ 'a_1'.isidentifier() }} {{ '1a'.isidentifier() }} {{ 'a\n'.isprintable() }}
{{ 'ABC' is upper }} {{ 'ABC' is lower }} {{ 'abc' is lower }} {{ '' is lower }}
{{ 'x' in 'xyz' }} {{ '' in 'xyz' }} {{ 'xz' not in 'xyz' }} {{ 1 in 'x' }}
{{ s|length }} {{ s|count }} {{ s|first }} {{ s|last }} {{ s|reverse }} {{ ''|first is defined }} {{ s|list }} {{ s|unique|list }}
{{ s|trim }} {{ pad|trim }}| {{ 'xxaxx'|trim('x') }} {{ 5|trim }} {{ nope|trim }}|
{{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }} {{ 'foo bar baz qux'|truncate(11) }} {{ 'foo bar baz qux'|truncate(11, false, '...', 0) }} {{ 'foobarbazqux'|truncate(6, end='') }}
{{ 'abc'|truncate(2) }}
{{ lines|indent }}# {{ lines|indent(2, true) }}# {{ lines|indent('>', first=true, blank=true) }} {{ ''|indent(2, true) }}|
{{ 5|indent }}
{{ 'one two  three'|wordcount }} {{ ''|wordcount }} {{ "it's"|wordcount }}
{{ html|e }} {{ html|escape }} {{ html|forceescape }} {{ html|safe }} {{ 5|e }}
{{ 'a b/c?d=é&'|urlencode }} {{ {'a b': 'c/d', 'e': 1}|urlencode }} {{ [('x', 'y z')]|urlencode }}
{{ {'class': 'x', 'id': none, 'title': 'a"b'}|xmlattr }}| {{ {}|xmlattr }}| {{ {'a': 1}|xmlattr(false) }}
{{ 'Use '|safe + html }} {{ html + 'Use '|safe }} {{ html + ('<i>'|safe) }} {{ ('<'|safe)|e }} {{ (html|e)|escape }} {{ (html|e)|forceescape }} {{ ('<'|safe) ~ html }} {{ (('<'|safe) ~ '<') is escaped }} {{ (('<'|safe) + '<') is escaped }}
{{ ('<%s>'|safe) % html }} {{ ('<%s %s %d>'|safe) % ('<', '<'|safe, n) }} {{ ('<%(a)s>'|safe) % {'a': html} }} {{ '%s' % ('<'|safe) }} {{ ('<%r>'|safe) % html }} {{ ('<%5s|%.1f>'|safe) % ('<', f) }} {{ ('<%s>'|safe)|format(html) }} {{ ('%(a)s'|safe)|format(a=html) }} {{ (('%s'|safe) % 'x') is escaped }}
{{ ('<{}>'|safe).format(html) }} {{ ('<{a}>'|safe).format(a=html) }} {{ '{}'.format('<'|safe) }} {{ ('<{}>'|safe).format('<'|safe) }} {{ ('<{:5}>'|safe).format('<') }} {{ ('<{!r}>'|safe).format('<'|safe) }} {{ ('<{a}>'|safe).format_map({'a': '<'}) }}
{{ ('<{:5}>'|safe).format('<'|safe) }}
{{ ('<'|safe).join([html, '>'|safe]) }} {{ ['<', '>']|join('&'|safe) }} {{ '<'.join(['>'|safe]) }} {{ ('a<b'|safe).replace('a', '<') }} {{ 'a<b'|safe|replace('a', '<') }} {{ ('a<b'|safe).replace('<', '>') }}
{{ ('a'|safe).upper() is escaped }} {{ 'a'|safe|upper is escaped }} {{ 'a'|safe|string is escaped }} {{ 'a'|e is escaped }} {{ 'a'|safe|trim is escaped }} {{ ('a'|safe)[0] is escaped }} {{ ('a'|safe)[0:] is escaped }} {{ ('a'|safe)|first is escaped }} {{ ('a'|safe)|last is escaped }} {{ ('ab'|safe)|reverse is escaped }} {{ (2 * ('a'|safe)) is escaped }}
{{ ['<'|safe, '<'] }} {{ {'a'|safe: 'b'|safe} }} {{ ('<'|safe)|tojson }} {{ ['<'|safe]|tojson }} {{ ('a b'|safe).split() }} {{ ('a-b'|safe).partition('-') }} {{ ('a\nb'|safe).splitlines() }} {{ ('a<b'|safe).split('<') }} {{ ('a'|safe, 1) }} {{ ('a'|safe)|list }}
{{ ('ab<'|safe).strip('<') }} {{ ('<ab'|safe).removeprefix('<') }} {{ ('a<b'|safe).find('<') }} {{ ('a<b'|safe).startswith('a<') }} {{ ('a<b'|safe).count('<') }} {{ ('a<'|safe).translate({97: '<'}) }} {{ ('ab'|safe).ljust(4, '.') is escaped }} {{ ('a'|safe).escape('<') }}
{{ ('ab'|safe).center(6, '<') }}
{{ ('a b c d e f g'|safe)|truncate(5, true, '<') }} {{ ('a\nb'|safe)|indent('<') }} {{ ('a\nb'|safe)|indent(2) is escaped }} {{ 'a\nb'|indent('<'|safe) }}
{{ 'a'|center(5) is escaped }} {{ 'a'|safe|center(5) is escaped }} {{ 'a'|safe|title is escaped }} {{ 'a'|safe|capitalize is escaped }} {{ 'a'|safe|replace('a', 'b') is escaped }} {{ 'a'|safe|lower is escaped }} {{ 'a'|safe|urlencode is escaped }} {{ {'a': '<'|safe, 'b': '<'}|xmlattr }} {{ ('a'|safe)|default('b') is escaped }} {{ nope|default('b'|safe) is escaped }} {{ 1|e is escaped }} {{ none|safe is escaped }} {{ nope|e is escaped }}
{% set x %}{{ '<'|safe }}{% endset %}{{ x is escaped }} {% macro m() %}<{% endmacro %}{{ m() is escaped }} {% for c in 'ab'|safe %}{{ c is escaped }}{% endfor %}
{{ ('a'|safe) == 'a' }} {{ ('a'|safe) in ['a'] }} {{ {'a': 1}['a'|safe] }} {{ ('b'|safe) < 'c' }} {{ ('a'|safe).isalpha() }} {{ 'a'|safe is string }} {{ ('<'|safe) is sameas '<' }} {{ ['b', 'a'|safe]|sort }} {{ ['a'|safe, 'A']|unique|list }} {{ ['a'|safe]|map('upper')|list }}
{{ ('a'|safe) + 1 }}
{{ {'a b': 1}|xmlattr }}
{{ '%s is %d years, %.2f, %5s|%-5s|%05d %x %X %o %e %g %r %%'|format('Ann', 31, 2.5, 'a', 'b', 42, 255, 255, 8, 12345.678, 0.0001, 'q') }}
{{ '%(a)s-%(b)03d'|format(a='x', b=7) }} {{ '%s' % 'x' }} {{ '%s %s' % (1, [2]) }} {{ '%(b)s' % d }} {{ '%+d % d' % (5, 5) }} {{ '%#x %#o' % (255, 8) }} {{ '%c%c' % (65, 'b') }} {{ '%.3s' % 'abcdef' }} {{ '%*d' % (6, 42) }} {{ '%i' % 3.9 }} {{ '%5.1f|%-8.3e|%G' % (3.14159, 12345.6789, 1e-10) }} {{ '%s' % none }}
{{ '%d' % 'x' }}
{{ '%s %s' % 'x' }}
{{ '%s' % (1, 2) }}
{{ 'x' % 1 }}
{{ '%z' % 1 }}
{{ '%' % 1 }}
{{ '{} {}'.format(1, 'b') }} {{ '{0} {1} {0}'.format('a', 'b') }} {{ '{a} {b.name} {c[0]} {d[k]}'.format(a=1, b=users[0], c=[5], d={'k': 6}) }} {{ '{{}}'.format() }} {{ '{!r} {!s}'.format('q', 'q') }}
{{ '{:>6}|{:<6}|{:^6}|{:*^7}|{:06.2f}|{:+d}|{:,}|{:_}|{:x}|{:#x}|{:b}|{:e}|{:.3f}|{:%}|{:.1%}'.format('a', 'b', 'c', 'd', 3.14159, 5, 1234567, 1234567, 255, 255, 5, 12345.678, 2.0, 0.25, 0.256) }}
{{ '{:10}|{:10}|{:<10}|{:08}|{:=+8}|{:08,}|{:,.2f}|{:g}|{:.3}|{:.2}|{:5}|{:c}'.format('s', 42, 42, -42, 42, 1234, 1234567.891, 1e20, 'abcdef', 1.0, true, 65) }}
{{ '{:{}}|{:{w}.{p}f}'.format('a', 5, 3.14159, w=8, p=2) }}
{{ '{}'.format() }}
{{ '{'.format(1) }}
{{ '{0}{}'.format(1, 2) }}
{{ '{:d}'.format('x') }}
{{ '{a}'.format_map({'a': 1}) }} {{ '{0.__class__}'.format('x') }}
{{ '{!a}'.format('é') }} {{ '{!a}'.format(['é', 'a']) }} {{ '%a' % 'é' }} {{ '{0[-1]}|{0[0]}|{0[１]}'.format([1, 2]) }} {{ '{１}'.format(1, 2) }}
{{ '{-1}'.format(1) }}
{{ '{99999999999999999999}'.format(1) }}
{{ '{0[99999999999999999999]}'.format([1]) }}
{{ '%s' % messages[0].zz }}| {{ 'x' % nope }} {{ 'x' % [1] }} {{ '%s' % [1] }} {{ '%r' % nope }} {{ '%s%s' % (nope, 1) }} {{ 'x' % {} }} {{ 'x' % () }} {{ 'x' % range(2) }}
{{ '%d' % nope }}
{{ '%(a)s' % nope }}
{{ 'x' % d.keys() }}
{{ 'abc'.maketrans('ab', 'xy') }} {{ 'abc'.translate('x'.maketrans('ab', 'xy')) }} {{ 'abc'.maketrans('ab', 'xy', 'c') }} {{ 'abc'.translate('x'.maketrans('ab', 'xy', 'c')) }} {{ 'abc'.maketrans({'a': 'zz', 98: none}) }} {{ 'abc'.translate({97: 'zz', 98: none, 'c': 'q'}) }} {{ 'abc'.translate(['x']) }} {{ '\x00\x01'.translate('xy') }} {{ '\x00\x01'.translate(['x', none]) }}
{{ 'abc'.maketrans('ab', 'x') }}
{{ 'abc'.maketrans('ab') }}
{{ 'abc'.maketrans({'ab': 1}) }}
{{ 'abc'.translate({97: 1.5}) }}
{{ 'abc'.translate({97: -1}) }}
{{ 'abc'.translate(1) }}
{{ 'abc'.nope }} {{ 'abc'.nope is defined }} {{ 'abc'['upper']() }} {{ 'abc'|attr('upper') is callable }}
{{ 'abc'.upper }}{# only that it is no error #}{{ 1 + 'x' if false else '' }}
{{ 'a' is string }} {{ 1 is string }} {{ 'a' is iterable }} {{ 'a' is sequence }} {{ 'a' is mapping }} {{ 1 is number }} {{ true is number }} {{ 1.5 is float }} {{ 1 is integer }} {{ true is integer }} {{ true is boolean }} {{ none is none }} {{ nope is none }} {{ 1 is iterable }} {{ {} is sequence }} {{ range(3) is sequence }} {{ d.keys() is sequence }} {{ d.keys() is iterable }} {{ range is callable }} {{ 'x' is escaped }} {{ 'upper' is filter }} {{ 'nope' is filter }} {{ 'odd' is test }} {{ true is true }} {{ 1 is true }} {{ false is false }}
# lists
{{ xs }} {{ xs[0] }} {{ xs[-1] }} {{ xs[5] }} {{ xs[1:] }} {{ xs[::-1] }} {{ xs[:-1] }} {{ xs[::2] }} {{ xs[-2:] }} {{ xs + [4] }} {{ xs * 2 }} {{ 2 * [none] }} {{ xs|length }}
{{ (1, 2) }} {{ (1,) }} {{ () }} {{ 1, 2 }} {{ (1, 2)[0] }} {{ (1, 2) + (3,) }} {{ (1, 2)[::-1] }} {{ (1, 2)|list }} {{ 1, }}
{{ [1, 'a', none, true, 1.5, [2], (3,), {'k': 'v'}] }} {{ [] }} {{ ['it\'s', 'say "x"', 'both \' "', 'tab\t', 'é', '\x00', '\u200b', '\U0001F44B', '\xa0'] }}
{{ 2 in xs }} {{ 9 in xs }} {{ 2 not in xs }} {{ [1] in [[1]] }} {{ 1.0 in xs }} {{ none in mixed }} {{ true in [1] }} {{ 'a' in none }}
{{ xs.index(1) }} {{ xs.count(1) }} {{ xs.copy() }} {{ (1, 2).index(2) }}
{{ xs.index(9) }}
{{ xs.append(4) }}
{{ xs.append is defined }} {{ xs.pop is defined }} {{ d.update is defined }} {{ xs.append }}|
{{ d.update({}) }}
{{ d.pop('b') }}
{{ xs|sort }} {{ xs|sort(reverse=true) }} {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ users|sort(attribute='age')|map(attribute='name')|list }} {{ users|sort(attribute='age,name', reverse=true)|map(attribute='name')|join(',') }} {{ d|sort }} {{ 'cab'|sort }}
{{ [1, 'a']|sort }}
{{ words|unique|list }} {{ words|unique(case_sensitive=true)|list }} {{ [1, 1.0, true, 2]|unique|list }} {{ users|unique(attribute='age')|map(attribute='name')|list }}
{{ xs|min }} {{ xs|max }} {{ words|min }} {{ words|max }} {{ users|max(attribute='age') }} {{ []|max is defined }} {{ words|max(case_sensitive=true) }}
{{ xs|first }} {{ xs|last }} {{ []|first is defined }} {{ [[]]|first }} {{ d|first }} {{ d|last }} {{ range(3)|last }}
{{ xs|reverse|list }} {{ xs|list }} {{ d|list }} {{ range(4)|list }} {{ nope|list }} {{ (xs|map('string')|list) }}
{{ xs|map('abs')|list }} {{ words|map('upper')|join(' ') }} {{ users|map(attribute='name')|list }} {{ users|map(attribute='boss.name')|list }} {{ users|map(attribute='boss.name', default='-')|list }} {{ users|map(attribute='tags.0', default='?')|list }} {{ words|map('replace', 'p', 'P')|list }} {{ nested|map('first')|list }} {{ nested|map(attribute=0)|list }} {{ []|map('nope')|list }}
{{ xs|map('nope')|list }}
{{ xs|map|list }}
{{ xs|select|list }} {{ mixed|select('string')|list }} {{ xs|select('odd')|list }} {{ xs|reject('odd')|list }} {{ xs|select('gt', 1)|list }} {{ xs|select('>', 1)|list }} {{ xs|select('in', [1, 2])|list }} {{ mixed|reject('none')|list|length }} {{ [0, '', 1]|select|list }}
{{ users|selectattr('on')|map(attribute='name')|list }} {{ users|rejectattr('on')|map(attribute='name')|list }} {{ users|selectattr('age', 'equalto', 31)|list|length }} {{ users|selectattr('age', '==', 25)|map(attribute='name')|first }} {{ users|selectattr('boss', 'defined')|list|length }} {{ users|selectattr('boss.name', 'eq', 'Ann')|list|length }} {{ users|rejectattr('tags', 'undefined')|list|length }}
{{ xs|select('nope')|list }}
{{ users|selectattr|list }}
{{ [1, 2, 3, 4, 5]|batch(2)|list }} {{ [1, 2, 3, 4, 5]|batch(2, 'x')|list }} {{ [1, 2, 3, 4, 5]|slice(2)|list }} {{ [1, 2, 3, 4, 5]|slice(3, 'x')|list }} {{ []|batch(3)|list }} {{ []|slice(2)|list }}
{{ users|groupby('age') }}
{% for g in users|groupby('age') %}{{ g.grouper }}:{{ g.list|map(attribute='name')|join(',') }}/{{ g[0] }} {% endfor %}{% for age, list in users|groupby('age') %}{{ age }}{{ list|length }} {% endfor %}
{% for name, list in users|groupby('boss.name', default='-') %}{{ name }}={{ list|length }} {% endfor %}
{{ range(0, 10, 3)[::2] }} {{ range(0, 10, 3)[::-1] }} {{ range(0, 10, 3)[1:] }} {{ range(0, 10, 3)[5:] }} {{ range(0, 10, 3)[-2:1:-1] }} {{ range(9, 0, -2)[1:3] }} {{ range(9, 0, -2)[::-2]|list }} {{ range(0, 9223372036854775807, 9223372036854775806)[::-1] }} {{ xs[::9223372036854775807] }} {{ xs[::-9223372036854775807] }}
{{ range(9223372036854775800, 9223372036854775806, 3)[::-1]|list }} {{ range(0, 9223372036854775807, 4611686018427387904)|list }} {{ range(0, 9223372036854775807, 9223372036854775806)|list }} {{ 5 in range(-9223372036854775807 - 1, 10, 9223372036854775807) }} {{ -1 in range(-9223372036854775807 - 1, 9223372036854775807, 9223372036854775807) }} {{ range(-9223372036854775807 - 1, 9223372036854775807, 9223372036854775807)|list }}
{{ [1, 2] == [1, 2] }} {{ [1] == (1,) }} {{ [1, 2.0] == [1.0, 2] }} {{ {'a': 1} == {'a': 1.0} }} {{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }} {{ [1] != [2] }} {{ none == nope }} {{ nope == nope2 }} {{ 'a' == 1 }}
{{ range(5) }} {{ range(2, 5)|list }} {{ range(5, 0, -2)|list }} {{ range(3)|length }} {{ range(10)[2:8:2] }} {{ range(10)[-1] }} {{ 3 in range(5) }} {{ range(0)|list }} {{ range(1, 10, 3)[1] }} {{ 2.0 in range(3) }} {{ range(3) == range(3) }} {{ range(0, 3, 2) == range(0, 4, 2) }}
{{ range(1, 2, 0) }}
{{ range('a') }}
{{ range(100001) }}
{{ range(10 ** 9)|list }}
{{ xs['a'] }}| {{ xs.nope }}| {{ xs[1.5] }}| {{ xs[none] }}| {{ xs.0 }} {{ nested.1.0 }} {{ nested[1][1][0] }}
{{ xs[nope] }}
{{ nested|string }} {{ xs ~ '' }} {{ [nope] }}
{{ [1, 2,] }} {{ {'a': 1,} }} {{ (1, 2,) }} {{ [[], {}, ()] }}
{{ ['a'] * 3 == ['a', 'a', 'a'] }} {{ [] or 'empty' }} {{ [0] and 'full' }}
# dictionaries
{{ d }} {{ d.b }} {{ d['b'] }} {{ d['a'][1] }} {{ d.Z.deep.er }} {{ d['Z']['deep'] }} {{ d.nope }}| {{ d['nope'] }}| {{ d.get('b') }} {{ d.get('nope') }} {{ d.get('nope', 5) }} {{ d.get('c', 5) }}
{{ d['items'] }} {{ d.keys()|list }} {{ d.values()|list }} {{ {'x': 1}.items() }} {{ {'x': 1}.keys() }} {{ {'x': 1}.values() }} {{ {'x': 1}.items()|list }} {{ d|items|list|length }} {{ {'x': 1}['items'] is callable }}
{{ d.items is callable }} {{ {'get': 1}.get is callable }} {{ {'get': 1}['get'] }} {{ {'keys': [1]}['keys'] }}
{{ 'b' in d }} {{ 'nope' in d }} {{ 'b' in d.keys() }} {{ 1 in d.values() }} {{ ('b', 1) in {'b': 1}.items() }} {{ d|length }}
{{ {'b': 1, 'a': 2}|dictsort }} {{ {'b': 1, 'A': 2}|dictsort }} {{ {'b': 1, 'A': 2}|dictsort(true) }} {{ {'b': 1, 'a': 2}|dictsort(by='value') }} {{ {'b': 1, 'a': 2}|dictsort(reverse=true) }} {{ {'b': 1}|dictsort(by='x') }}
{{ {1: 'a', 1.0: 'b', true: 'c'} }} {{ {1: 'a'}[1.0] }} {{ {(1, 2): 'x'}[(1, 2)] }} {{ {none: 1}[none] }} {{ {'a': 1, 'a': 2} }}
{{ {[1]: 2} }}
{{ d[xs] is defined }} {{ d[nope] is defined }} {{ d[none] is defined }}
{{ dict(a=1, b=2) }} {{ dict({'a': 1}, b=2) }} {{ dict([('a', 1), ['b', 2]]) }} {{ dict() }} {{ dict.fromkeys(['a', 'b'], 0) }} {{ dict(**{'x': 1}) }}
{{ dict([1]) }}
{{ {'a': 1}.copy() }} {% for k in d %}{{ k }},{% endfor %} {% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %} {% for k, v in d|items %}{{ loop.index }}{{ k }} {% endfor %}
{{ nope|items|list }}
{{ 5|items|list }}
{{ d|string }} {{ {'a': {'b': [1, {'c': none}]}} }} {{ {"it's": 'x"y'} }}
{{ d.keys() == {'b': 0, 'a': 0, 'c': 0, 'items': 0, 'Z': 0}.keys() }} {{ d.get([]) }}
# tojson
{{ d|tojson }} {{ users|tojson }} {{ mixed|tojson }} {{ uni|tojson }} {{ html|tojson }} {{ quote|tojson }} {{ none|tojson }} {{ true|tojson }} {{ 1.0|tojson }} {{ 1e20|tojson }} {{ 1e-7|tojson }} {{ (1, 2)|tojson }} {{ []|tojson }} {{ {}|tojson }} {{ ''|tojson }}
{{ d|tojson(indent=2) }} {{ users|tojson(indent=4) }} {{ []|tojson(indent=2) }} {{ {}|tojson(indent=2) }} {{ [[]]|tojson(indent=1) }} {{ [1, [2, {}]]|tojson(indent=0) }}
{{ d|tojson(separators=(',', ':')) }} {{ d|tojson(sort_keys=true) }} {{ uni|tojson(ensure_ascii=true) }} {{ d|tojson(indent='--') }} {{ d|tojson(true) }} {{ [1, {'a': 2}]|tojson(indent=2, separators=(' ;', ' = ')) }} {{ [1, 2]|tojson(false, none, (',', ': ')) }}
{{ '\x00\x1f\x7f\u2028\b\f\r\t\\/"'|tojson }} {{ {1: 2, none: 3, true: 4, 1.5: 5}|tojson }} {{ 'inf'|float|tojson }} {{ 'nan'|float|tojson }} {{ -5|tojson }}
{{ nope|tojson }}
{{ range(3)|tojson }}
{{ d.items()|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ xs|map('string')|tojson }}
{{ [nope]|tojson }}
{{ {1: 1, 'a': 2}|tojson(sort_keys=true) }}
# undefined
{{ nope }}| {{ nope is defined }} {{ nope is undefined }} {{ nope|default('x') }} {{ nope|d }}| {{ ''|default('x') }}| {{ ''|default('x', true) }} {{ none|default('x') }} {{ none|default('x', boolean=true) }} {{ nope or 'y' }} {{ not nope }} {{ nope ~ 'z' }} {{ [nope, 1] }} {{ nope == none }} {{ nope|length }} {{ nope|string }}| {{ nope|upper }}| {{ nope|join }}| {{ nope|list }} {{ nope in [1] }} {{ 1 in nope }} {{ 'x' if nope else 'y' }}
{{ nope.attr }}
{{ nope['x'] }}
{{ nope() }}
{{ nope + 1 }}
{{ 'a' + nope }}
{{ nope < 1 }}
{{ -nope }}
{{ d.nope.more }}
{{ d.nope.more is defined }}
{{ nope|int }}
{{ nope|abs }}
{{ nope|first is defined }} {{ nope|last is defined }} {{ nope|sort }} {{ nope|sum }} {{ nope|replace('a', 'b') }}| {{ nope|map('upper')|list }} {{ nope|selectattr('x')|list }} {{ nope|tojson is defined if false else 1 }}
{{ nope|round }}
{{ 'a' in nope.x }}
{{ nope[1:] }}
{{ 'x' if false }}| {{ ('x' if false) is defined }}
{{ ('x' if false) + 'y' }}
{% for x in nope %}{{ x }}{% else %}none{% endfor %} {% if nope %}a{% else %}b{% endif %} {{ nope is iterable }} {{ nope is sequence }} {{ nope is mapping }} {{ nope is string }} {{ nope is callable }}
{{ messages[5] }}| {{ messages[5] is defined }} {{ messages[0].nope is defined }} {{ messages[-1].content is none }}
{{ messages[5].role }}
{{ s.__class__ }}| {{ s.__class__ is defined }} {{ d.__class__ }}| {{ xs['__len__'] }}|
{{ s.__class__.__mro__ }}
{{ s.__class__() }}
{{ none.x }}| {{ none['x'] }}| {{ 5 .x }}| {{ none.x is defined }}
{{ none() }}
{{ 5() }}
# logic
{{ true and 'a' }} {{ false and 'a' }} {{ '' or 0 or 'c' }} {{ 1 and 2 and 3 }} {{ not true }} {{ not '' }} {{ not not 1 }} {{ true or undefined_function() }} {{ 'a' if true else 'b' }} {{ 'a' if false else 'b' if false else 'c' }} {{ 1 if 0 else 2 }} {{ (1 or 2) and 3 }} {{ not 1 == 2 }} {{ not 1 in [1] }}
{{ True }} {{ False }} {{ None }} {{ true == True }} {{ none is not none }} {{ 1 is not odd }} {{ 'a' is not defined }} {{ not 'a' is defined }} {{ 1 is odd and 2 is even }} {{ 3 is odd == true }}
{{ 1 is odd is even }}
{{ 2 is in [1, 2] }} {{ 3 is not in [1, 2] }} {{ 'a' is in 'abc' }} {{ 1 in [1] and 2 not in [1] }} {{ none in [none] }} {{ xs is divisibleby 2 if false else 'skip' }}
{{ -1|abs }} {{ (-1)|abs }} {{ 1 + 2|abs }} {{ '1' ~ 2|string ~ 3 }} {{ 1 ~ 2 + 3 }} {{ 2 * 3 ~ 4 }} {{ -n|abs }} {{ - - 3 }} {{ not n|abs == 3 }}
{{ 'a' ~ 'b' == 'ab' }} {{ 1 + 1 == 2 and 2 * 2 == 4 }} {{ xs|length > 2 }} {{ xs|length == 3 and s is string }} {{ (xs|length) - 1 }} {{ xs|length - 1 }}
{{ xs|first + 1 }} {{ xs[0]|string + 'a' }} {{ s|upper|lower|title }} {{ (s|upper)[0] }} {{ s.upper().lower()[0] }} {{ xs|join('-')|upper|length }}
{{ {'a': [1, {'b': 'c'}]}['a'][1].b }} {{ [d][0].b }} {{ (d).b }} {{ [x for x in xs] }}
# for
{% for x in xs %}{{ x }}{% endfor %} {% for x in [] %}x{% else %}empty{% endfor %} {% for x in xs if x > 1 %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %} {% for x in xs if x > 9 %}{% else %}none{% endfor %}
{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}
{% for x in xs %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %} {% for x in xs %}{{ loop.previtem is defined }}{{ loop.nextitem is undefined }}{% endfor %}
{% for x in xs %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }} {% endfor %}{% for x in [1, 1, 2] %}{% if loop.changed(x) %}{{ x }}{% endif %}{% endfor %}
{% for x in xs %}{% for y in xs %}{{ loop.index }}{% endfor %}{{ loop.index }} {% endfor %} {% for row in nested %}{% set outer = loop %}{% for x in row %}{{ outer.index }}.{{ loop.index }} {% endfor %}{% endfor %}
{% for a, b in [(1, 2), [3, 4]] %}{{ a }}-{{ b }} {% endfor %} {% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %} {% for k, v in {'x': 1}.items() %}{{ k }}{{ v }}{% endfor %}
{% for a, in [(1,)] %}{{ a }}{% endfor %}
{% for a, b in [(1,)] %}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{% endfor %}
{% for a, b in [1] %}{% endfor %}
{% for x in 5 %}{% endfor %}
{% for x in none %}{% endfor %}
{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% endfor %} {% for x in xs %}{% break %}{% else %}else{% endfor %}|{% for x in xs %}{% if loop.first %}{% continue %}{% endif %}{{ x }}{% else %}E{% endfor %}
{% for x in xs %}{% for y in xs %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% break %}
{% for item in [{'n': 'a', 'c': [{'n': 'b', 'c': []}, {'n': 'c', 'c': [{'n': 'd', 'c': []}]}]}] recursive %}{{ item.n }}{{ loop.depth }}({{ loop(item.c) }}){% endfor %}
{% for x in [[1, [2]], [3]] recursive %}{% if x is iterable %}[{{ loop(x) }}]{% else %}{{ x }}{% endif %}{% else %}-{% endfor %}
{% for x in xs %}{{ loop(x) }}{% endfor %}
{% set x = 'out' %}{% for x in xs %}{{ x }}{% endfor %}{{ x }} {% for i in xs %}{% set x = i %}{% endfor %}{{ x }} {% for i in xs %}{{ x }}{% set x = i %}{{ x }} {% endfor %}
{% for i in xs %}{% if loop.first %}{% set y = i %}{% endif %}{{ y }}|{% endfor %} {% for i in xs %}{% set i = i * 2 %}{{ i }}{% endfor %}
{% set ns = namespace(stop=false) %}{% for x in xs if not ns.stop %}{{ x }}{% if x == 1 %}{% set ns.stop = true %}{% endif %}{% endfor %}
{% set ns = namespace(t=0) %}{% for x in xs if x > ns.t %}{{ x }}{{ loop.last }}{% set ns.t = 2 %}{% endfor %}
{% for c in 'abc' %}{{ c }}.{% endfor %} {% for i in range(3) %}{{ i }}{% endfor %} {% for x in xs|sort %}{{ x }}{% endfor %} {% for x in xs[::-1] %}{{ x }}{% endfor %} {% for x in (1, 2) %}{{ x }}{% endfor %} {% for x in 1, 2 %}{{ x }}{% endfor %}
{{ loop is defined }} {% for x in [1] %}{{ loop is defined }}{% endfor %} {{ x is defined }}
{% for loop in xs %}{% endfor %}
{% for x in xs %}{% set loop = 1 %}{% endfor %}
{% for x in xs %}{{ loop }} {% endfor %}
{% for x in xs %}{{ loop.nope is defined }}{{ loop['index'] }}{{ loop|length }}{% endfor %}
{% set gen = xs|map('string') %}{{ gen|join }}{{ gen|join }}| {% set g = xs|select('odd') %}{% for x in g %}{{ x }}{{ loop.length }}{% endfor %}{% for x in g %}again{% else %}gone{% endfor %}
{{ (xs|map('string'))|length }}
{{ (xs|map('string'))[0] is defined }} {{ (xs|map('string')).x is defined }} {{ xs|map('string') is iterable }} {{ xs|map('string')|first }}
# generators
{% set g = ['a', 'b']|map('upper') %}{{ 'A' in g }}{{ g|list }}
{% set g = [3, 1, 2]|select('odd') %}{{ 1 in g }}{{ g|list }}{{ 5 in g }}
{% set x = [1]|map('nope') %}ok
{% set x = [1]|map %}ok
{% set x = [1]|map(attribute='a', nope=1) %}ok
{% set x = [1]|select('nope') %}ok{% set x = [1]|rejectattr('a', 'nope') %}ok
{% set x = [1]|selectattr %}ok
{% set x = 5|map('abs') %}ok{% set x = 5|select %}ok{% set x = 5|unique %}ok{% set x = 5|batch(2) %}ok{% set x = 5|slice(2) %}ok{% set x = 5|items %}ok
{% set x = 5|map('abs') %}{{ x|first }}
{% set x = 5|items %}{% for k, v in x %}{% endfor %}
{% set x = 5|slice(2) %}{{ x|list }}
{% set x = 5|batch(2) %}{{ x|first }}
{% set x = 5|unique(1, 2, 3) %}ok
{% set x = [1]|slice(0) %}ok
{% set x = [1]|slice %}ok
{% set x = [1]|batch('x') %}ok{{ [1, 2]|batch('x')|list }}
{% set x = 5|reverse %}ok
{{ [[1], 2]|map('first')|first }} {{ [[1], [], 2]|map('first')|select|first }} {{ ['x', 1]|map('length')|first }} {{ 1 in ([[1], 2]|map('first')) }}
{{ [[1], 2]|map('first')|list }}
{{ 2 in ([[1], 2]|map('first')) }}
{% for x in [[1], 2]|map('first') %}{{ x }}{% break %}{% endfor %}
{% for x in [[1], [3], 2]|map('first') %}{{ x }}{{ loop.previtem }}{% if loop.index == 2 %}{% break %}{% endif %}{% endfor %}
{% for x in [[1], 2]|map('first') %}{{ x }}{{ loop.last }}{% break %}{% endfor %}
{% for x in [[1], 2]|map('first') %}{{ loop.length }}{% break %}{% endfor %}
{% set g = xs|map('string') %}{% for x in g %}{{ x }}{{ g|list }}{{ loop.last }}{% endfor %}
{% set g = xs|map('string') %}{% for x in g %}{{ x }}{{ g|first }}{% endfor %}
{% set g = xs|map('string') %}{% for x in g %}{{ x }}{{ loop.nextitem }}{{ g|first is defined }}{{ loop.revindex }}{% endfor %}
{% set g = [1, 2, 3, 4, 5]|map('string') %}{{ g|batch(2)|first }}{{ g|list }}
{% set g = [1, 2, 3, 4, 5]|map('string') %}{% set b = g|batch(2) %}{{ b|first }}{{ g|first }}{{ b|list }}
{% set g = [1, 2, 3, 4, 5]|map('string') %}{% set b = g|batch(0) %}{{ b|first }}{{ g|first }}{{ b|list }}
{% set g = words|map('lower') %}{% set u = g|unique %}{{ u|first }}{{ g|first }}{{ u|list }}
{% set g = xs|map('string') %}{{ g|slice(2)|first }}{{ g|list }}
{% set ns = namespace(n=1) %}{% set g = xs|select('gt', ns.n) %}{% set ns.n = 100 %}{{ g|list }}
{% set ns = namespace(n=1) %}{% set g = [ns, ns, ns]|map(attribute='n') %}{{ g|first }}{% set ns.n = 2 %}{{ g|list }}
{% set ns = namespace() %}{% set ns.g = [ns]|map(attribute='g') %}{{ ns.g|first is iterable }}
{% set ns = namespace() %}{% set ns.g = [ns]|map(attribute='g')|map('list') %}{{ ns.g|list }}
{% set ns = namespace() %}{% for x in [ns, ns, ns]|map(attribute='a') %}{% set ns.a = loop.index %}{{ x }}{% endfor %}
{% set ns = namespace() %}{% set g = [ns, ns, ns]|map(attribute='l.length') %}{% for x in g %}{% set ns.l = loop %}{{ x }}{% endfor %}
{% set ns = namespace() %}{% set g = [ns, ns, ns]|map(attribute='l', default=[])|map('length') %}{% for x in g %}{% set ns.l = loop %}{{ x }}{% endfor %}
{{ [1, 2, 3]|batch(2.0)|list }} {{ [1, 2, 3]|batch(2.0, 'x')|list }} {{ [1]|batch('x', 0)|list }} {{ [1, 2]|batch(none)|list }}
{% set g = d|items %}{{ g|first }}{{ g|list|length }}
{% set a, b = xs|map('string')|batch(2) %}{{ a }}{{ b }}
{% set a, b = xs|map('string') %}
{{ dict([['a', 1]]|map('list')) }} {{ ','.join(xs|map('string')) }} {{ xs|map('string')|map('int')|select('odd')|map('string')|join }} {{ xs|map('string')|sort }} {{ users|selectattr('on')|map(attribute='name')|reverse }}
{% for x in xs|map('string') %}{{ loop|length }}{% if loop %}y{% endif %}{{ x }}{% endfor %}
{% for x in [1, 2, 3]|select('odd') if x > 1 %}{{ x }}{{ loop.index }}{{ loop.length }}{% endfor %}
{% for x in xs|map('string') recursive %}{{ x }}{% if loop.depth == 1 %}{{ loop(xs|map('abs')) }}{% endif %}{% endfor %}
{% for x in xs|map('string') %}{% else %}none{% endfor %}{% for x in []|map('string') %}{% else %}none{% endfor %}
{% set g = [1, 2]|unique %}{{ g|first }}{{ g|first }}{{ g|first is defined }}
{% macro m() %}{{ varargs|length }}{% endmacro %}{{ m(*xs|map('string')) }}
{% set g = xs|map('string') %}{{ g == g }}{{ g != xs|map('string') }}{{ {g: 1}[g] }}{{ g is sequence }}{{ g is mapping }}{{ g|last }}
{% set g = xs|map('string') %}{{ g + ['x'] }}
{% set g = xs|map('string') %}{{ g|tojson }}
{{ messages|map(attribute='content')|map('first')|first }} {{ messages|map(attribute='content')|select('string')|list|length }} {{ messages|map(attribute='tool_calls')|map('first')|first is defined }}
# set, namespace, with
{% set a = 1 %}{{ a }} {% set a, b = 2, 3 %}{{ a }}{{ b }} {% set (a, b) = [4, 5] %}{{ a }}{{ b }} {% set a = b, 6 %}{{ a }} {% set x %}block {{ a[0] }}{% endset %}{{ x }} {% set x | upper | replace('B', '8') %}block{% endset %}{{ x }} {{ x is string }}
{% set ns = namespace(a=1, b='x') %}{% set ns.a = ns.a + 1 %}{% set ns.c = [] %}{{ ns.a }}{{ ns.b }}{{ ns.c }}{{ ns.d is defined }} {{ ns['a'] }} {{ ns }} {% for i in xs %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }} {% set ns2 = namespace({'q': 1}, r=2) %}{{ ns2.q }}{{ ns2.r }} {% set ns.e, f = 1, 2 %}{{ ns.e }}{{ f }}
{% set d.x = 1 %}
{% set nope.x = 1 %}
{% set ns = namespace(_x=1) %}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x.x.x is sameas ns }} {% set ns.k %}cap{% endset %}{{ ns.k }} {{ ns is mapping }} {{ ns is iterable }}
{% if true %}{% set a = 1 %}{% endif %}{{ a }} {% if false %}{% set b = 1 %}{% endif %}{{ b is defined }} {% if n == 1 %}1{% elif n == 2 %}2{% elif n == 3 %}3{% else %}4{% endif %} {% if not n %}x{% else %}y{% endif %} {% if '' %}{% elif 0 %}{% endif %}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% set c = 3 %}{{ c }}{% endwith %}{{ a is defined }}{{ c is defined }} {% set a = 'o' %}{% with a = 'i', b = a %}{{ a }}{{ b }}{% endwith %}{{ a }} {% with %}{% set a = 'w' %}{{ a }}{% endwith %}{{ a }}
{% set messages = messages[1:] %}{{ messages|length }} {% set s = s|upper %}{{ s }} {% set none_ = none %}{{ none_ }}
{% set true = 1 %}
{% set 1 = 2 %}
{% set a b = 2 %}
{% set a = %}
{% set x = 1 %}{% set f %}{{ x }}{% set x = 2 %}{{ x }}{% endset %}{{ f }}{{ x }}
{% print 'a', 1, [2] %} {% print n %}
{% filter upper %}abc {{ s }}{% set z = 1 %}{% endfilter %}{{ z is defined }} {% filter replace('a', 'b')|upper %}banana{% endfilter %} {% filter trim %}  x  {% endfilter %}|
# macros
{% macro m(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c='y') }}{{ m(b=5, a=4) }}{{ m() }}{{ m(*[7, 8]) }}{{ m(**{'a': 9}) }} {{ m.name }} {{ m.arguments }} {{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.caller }} {{ m }} {{ m is callable }}
{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}{{ m.catch_kwargs }}{{ m.catch_varargs }}
{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{% endmacro %}{{ m(b=1) }}
{% macro m(a) %}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a=1, b) %}{% endmacro %}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }} {% macro q(x) %}{{ x is defined }}{% endmacro %}{{ q() }}{{ q(none) }} {% macro r(x) %}{{ x + 1 }}{% endmacro %}{{ r(1) }}
{% macro r(x) %}{{ x + 1 }}{% endmacro %}{{ r() }}
{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * fact(n - 1)|int }}{% endif %}{% endmacro %}{{ fact(10) }}
{% macro wrap(t) %}<{{ t }}>{{ caller() }}</{{ t }}>{% endmacro %}{% call wrap('b') %}in {{ s }}{% endcall %} {% macro each(xs) %}{% for x in xs %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(x, i=0) each(xs) %}({{ i }}:{{ x }}){% endcall %}
{% macro opt() %}{% if caller %}{{ caller() }}{% else %}none{% endif %}{% endmacro %}{{ opt() }} {% call opt() %}some{% endcall %} {% macro pass() %}{% call opt() %}{{ caller() }}!{% endcall %}{% endmacro %}{% call pass() %}deep{% endcall %}
{% for m in [1, 2] %}{{ s }}{% endfor %}{% set s = '' %}
{% macro m() %}{{ n }}{% endmacro %}{{ m() }}{% set n = 1 %}{{ m() }}
{% set s %}{{ s }}!{% endset %}{{ s }}
{% set a %}{{ n }}{% endset %}{% set n = 1 %}[{{ a }}]
{% set a = n %}{% set n = 1 %}{{ a }}{{ n }}
{% generation %}{{ n }}{% endgeneration %}{% set n = 1 %}{{ n }}
{% for b in [1] if n %}{{ b }}{% endfor %}{% set n = 3 %}
{% for b in [] %}{{ b }}{% else %}[{{ n }}]{% endfor %}{% set n = 3 %}
{% for b in [n] %}{{ b }}{{ n }}{% else %}{{ n }}{% endfor %}{% set n = 4 %}
{% with q = 1 %}[{{ n }}]{% endwith %}{% set n = 2 %} {% with m = m %}{{ m }}{% endwith %}{% set m = 2 %}
{% filter upper %}[{{ s }}]{% endfilter %}{% set s = 2 %}
{% filter replace(n, 'x') %}333{% endfilter %}{% set n = 2 %}
{{ n }}{% for b in 'a' %}{{ n }}{% endfor %}{% set n = 1 %}{{ n }}
{% if yes %}{{ n }}{% endif %}{% set n = 1 %}{{ n }}
{% for b in 'ab' %}{{ n }}{% endfor %}{% if no %}{% set n = 1 %}{% endif %}{{ n }}
{% if no %}{% set n = 1 %}{% endif %}{% for q in [1] %}{{ n }}{% endfor %}{% set n = 2 %}
{% if yes %}{% for q in [1] %}[{{ n }}]{% endfor %}{% endif %}{% set n = 1 %}
{% if yes %}{% for b in 'a' %}{{ n }}{% endfor %}{% else %}{% set n = 9 %}{% endif %}{{ n }}
{% for b in 'a' %}{% for c in 'a' %}[{{ n }}]{% endfor %}{% set n = 1 %}{{ n }}{% endfor %}
{% for b in 'a' %}{% for c in 'a' %}[{{ n }}]{% endfor %}{% set n = 1 %}{{ n }}{% endfor %}{{ n }}
{% for b in 'ab' %}{{ n }}{% set n = 1 %}{{ n }}{% endfor %}
{% for q in [1, 2] %}{% if q == 2 %}{% set n = 1 %}{% endif %}{{ n }}{% endfor %}
{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}[{{ n }}]{% endcall %}{% set n = 1 %}
{% macro m(a=n) %}[{{ a }}]{% endmacro %}{{ m() }}{% set n = 1 %}{{ m() }}
{% macro m(a=n) %}{% for x in xs %}{{ a }}{{ n }}{% endfor %}{% set n = 5 %}{% endmacro %}{{ m() }}
{% macro m() %}{% for x in xs %}[{{ n }}]{% endfor %}{% set n = 5 %}{{ n }}{% endmacro %}{{ m() }}{{ m() }}
{% set ns = namespace() %}{% for x in [1] %}{% set ns.v = n %}{% endfor %}{% set n = 1 %}[{{ ns.v }}]
{% for x in [1] %}{{ range(2)|list }}{% endfor %}{% set range = 3 %}
{% for x in [1] %}{{ f }}{% endfor %}{% set (f, s) = (1, 2) %}{% for x in [1] %}{{ f }}{{ s }}{% endfor %}
{% for x in [1] %}[{{ m }}]{% endfor %}{% macro m() %}{% endmacro %}
{% for i in [1, 2] %}{% block b scoped %}{{ i }}{{ loop.index }}{{ loop.last }}{% endblock %}{% endfor %}
{% for i in [1, 2] %}{% block b %}{{ i }}{{ n }}{% endblock %}{% endfor %}
{% block b %}x{% endblock %}{% block b %}y{% endblock %}
{% set q = 1 %}{% block b %}{{ q }}{% set q = 2 %}{{ q }}{% endblock %}{{ q }}{{ self.b() }}
{% for x in [1, 2] %}{% block b scoped %}{{ s }}{{ x }}{% endblock %}{% endfor %}{% set s = '' %}{{ self.b() }}
{% for x in [1, 2] %}{% block b %}{{ s }}{% endblock %}{% endfor %}{% set s = '' %}{{ self.b() }}
{% block b required %} {# nothing #}{% endblock %}
{% block b required %}x{% endblock %}
{{ self.nope is defined }} {{ self.b is defined }}{{ self.b()|upper }}{% block b %}b{{ s }}{% endblock %}
{% macro m() %}{{ self.b() }}{% endmacro %}{% block b %}B{{ s }}{% endblock %}{{ m() }}
{% block b %}{{ self.b() }}{% endblock %}
{% set self = 3 %}{{ self }}
{% block a %}{% block b %}{{ n }}{% endblock %}{% endblock %}{{ self.b() }}{{ self.b().upper() }}
{% if yes %}{% set q = 5 %}{% endif %}{% block b %}{{ q }}{% endblock %}{% with w = 1 %}{% block c %}{{ w }}{% endblock %}{% block e scoped %}{{ w }}{% endblock %}{% endwith %}
{% macro m(a) %}{% block b scoped %}{{ a }}{% endblock %}{% endmacro %}{{ m(4) }}
{% block b %}{% for x in xs %}[{{ n }}]{% endfor %}{% set n = 1 %}{{ n }}{% endblock %}{{ n }}
{% block b %}{{ super() }}{% endblock %}
{% macro no() %}{% endmacro %}{% call no() %}x{% endcall %}
{% macro c() %}{{ caller() }}{% endmacro %}{{ c() }}
{% call 5 %}x{% endcall %}
{% set v = 'outer' %}{% macro m() %}{{ v }}{% set v = 'inner' %}{{ v }}{% endmacro %}{{ m() }}{{ v }} {% set v = 'later' %}{{ m() }} {% macro uses() %}{{ defined_later }}{% endmacro %}{% set defined_later = 'yes' %}{{ uses() }}
{% for x in xs %}{% macro inner() %}{{ x }}{% endmacro %}{{ inner() }}{% endfor %} {{ inner is defined }} {% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }} {{ a()|lower }} {{ a() ~ a() }} {{ (a() + 'x')|length }}
{% macro m(x) -%}⏎  {{ x }}⏎{%- endmacro %}[{{ m('a') }}]{{ m('a')|length }} {% macro outer(f) %}{{ f('q') }}{% endmacro %}{{ outer(m) }} {% set alias = m %}{{ alias('z') }} {{ {'f': m}.f('w') }} {{ [m][0]('l') }}
{{ m() }}{% macro m() %}{% endmacro %}
{% macro m(loop_var) %}{% for x in [1] %}{{ loop.index }}{% endfor %}{% endmacro %}{% for y in xs %}{{ m(1) }}{{ loop.index }}{% endfor %}
{% macro m() %}{{ loop is defined }}{% endmacro %}{% for y in [1] %}{{ m() }}{% endfor %}
{% macro m(a, a) %}{% endmacro %}
{% macro tree(n) %}{{ n.name }}{% if n.kids %}({% for k in n.kids %}{{ tree(k) }}{{ ',' if not loop.last }}{% endfor %}){% endif %}{% endmacro %}{{ tree({'name': 'r', 'kids': [{'name': 'a'}, {'name': 'b', 'kids': [{'name': 'c'}]}]}) }}
{% macro many(a, b, c) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ many('1', *['2'], **{'c': '3'}) }} {{ many(*'xyz') }}
# white space
a⏎  {% if true %}⏎  b⏎  {% endif %}⏎c
a⏎  {%- if true -%}⏎  b⏎  {%- endif -%}⏎c
a⏎  {%+ if true +%}⏎  b⏎  {%+ endif +%}⏎c
a {% if true %} b {% endif %} c⏎{% if true %}⏎d{% endif %}⏎⏎e
x⏎  {# comment #}⏎y {# c #} z⏎{#- c -#}⏎w⏎  {#+ c +#}⏎v
  {{ 1 }}⏎  {{- 2 }}⏎  {{ 3 -}}⏎  4⏎{{+ 5 }}
{% raw %}{{ not }} {% this %} {# c #}{% endraw %} {%- raw -%}  {{ x }}  {%- endraw -%}  end⏎  {% raw %}⏎  r⏎  {% endraw %}⏎z
a⏎	{% set x = 1 %}	⏎b {% set y = 2 %} ⏎c⏎{% set z = 3 %}⏎⏎d
{%- set x = 1 %}⏎⏎{%- if x -%}⏎⏎  y  ⏎{%- endif %}⏎
{{- 'a' -}}    {{- 'b' -}}⏎⏎
line⏎
line⏎⏎
⏎⏎x
{%if true%}tight{%endif%}{{s}}{#tight#}{%-if true-%} t {%-endif-%}
{% if true: %}colon{% endif %}{% for x in [1]: %}{{ x }}{% endfor %}
{{ {'a': {'b': 1}}}} {{ {'a': 1}['a']}} {{ '}}' }} {{ "{% x %}" }} {% if '%}' %}y{% endif %} {{ '{{' }} {{'{#'}}
a{{ '' }}⏎{{ '' }}b⏎{% if false %}⏎{% endif %}⏎c⏎ {# x #} {% if true %}d{% endif %}⏎e
{% if true %}⏎⏎a⏎⏎{% endif %}⏎b
{%⏎if⏎true⏎%}multi{%⏎endif⏎%}{{⏎ s⏎ }}
a\r\nb
 {#- a #}  {#- b -#}  x
# syntax
{{ }}
{{ 1 + }}
{{ (1 }}
{{ 1) }}
{{ [1 }}
{{ {'a' 1} }}
{{ 'abc }}
{% if %}{% endif %}
{% if true %}
{% endif %}
{% for x in xs %}{% endif %}
{% for x xs %}{% endfor %}
{% nope %}
{% do xs %}
{{ 1 2 }}
{{ a b }}
{{ x|nope }}
{{ x is nope }}
{% if false %}{{ x|nope }}{% endif %}
{% if true %}{{ x|nope }}{% endif %}
{{ x|upper( }}
{{ f(a=1, 2) }}
{{ x. }}
{{ x.'a' }}
{{ 1 ! 2 }}
{{ $x }}
{{ x @ y }}
{# unclosed
{% raw %}unclosed
{{ unclosed
{% unclosed
{% set x %}unclosed
{% macro m %}{% endmacro %}
{% macro m(1) %}{% endmacro %}
{% else %}
{% elif x %}
{% if true %}{% else %}{% else %}{% endif %}
{{ 'a' if }}
{{ if }}
{{ not }}
{{ a.b.c.d }}
{% include 'x' %}
{% extends 'x' %}
{% import 'x' as y %}
{% block b %}in a block {{ s }}{% endblock %} {% block c %}x{% endblock c %}
{% if false %}{% include 'x' %}{% endif %}fine
text only } } %} #} }} { {
{{ 'a'|upper|lower }}}}
# calls
{{ raise_exception('stop here') }}
{% if messages[0].role == 'x' %}{{ raise_exception('no') }}{% endif %}ok
{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S') }} {{ strftime_now('%A, %B %-d') }} {{ strftime_now('%j %U %w %y %I %p %%') }} {{ strftime_now('') }}| {{ strftime_now('%f') }} {{ strftime_now('%z') }}| {{ strftime_now is defined }}
{{ strftime_now() }}
{{ strftime_now('\x00%Y') }}| {{ strftime_now('%Y\x00%m') }} {{ strftime_now('a\x00%m') }}
{% for x in xs %}{% generation %}{% break %}{% endgeneration %}{% endfor %}
{% for x in xs %}{% generation %}{% for y in xs %}{{ y }}{% break %}{% endfor %}{% endgeneration %}{% endfor %}
{% macro m() %}{{ varargs }}{% generation %}{{ caller is defined }}{{ varargs }}{{ kwargs }}{% endgeneration %}{% endmacro %}{{ m(1) }}
{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.next() }} {% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}c {% set k = joiner() %}{{ k() }}{{ k() }}
{{ cycler() }}
{{ range(3)|sum }} {{ range(n)|join(',') }} {{ range(messages|length)|list }} {{ range(0, 10, 4)|list }}
{{ s.upper(1) }}
{{ s.replace() }}
{{ s|replace('a') }}
{{ s|upper(1) }}
{{ s|default(nope='x') }}
{{ xs|join(sep=',') }}
{{ d.get() }}
{{ s.split(1) }}
{{ messages|tojson }} {{ messages[2].tool_calls[0].function.arguments|tojson }} {% for c in messages[2].tool_calls %}{{ c.function.name }}{{ c['function']['arguments'].items()|list }}{% endfor %} {{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|first }} {{ messages|map(attribute='role')|unique|join(',') }} {{ messages[-1]['tool_calls'] is defined and messages[-1].tool_calls }} {{ (messages|last).role }} {{ (messages|rejectattr('role', 'eq', 'system')|list)|length }} {{ messages[0]['content'][:2] + '…' }} {{ messages[1:]|length }} {{ messages|length - 1 }}
{% generation %}learned {{ s }}{% endgeneration %} {% for m in messages %}{% generation %}{{ m.role }}{% set q = 1 %}{% endgeneration %}{{ q is defined }}{% endfor %}
{{ none|string }} {{ true|string }} {{ 1.0|string }} {{ xs|string }} {{ 'x'|string }} {{ none|upper }} {{ 5|upper }} {{ true|lower }} {{ xs|upper }} {{ none|length }}
{{ '<' ~ 'a'|e ~ '>' }} {{ ('x' ~ 1)|upper }} {{ 'a'.join(['1', '2'])|upper }} {{ s.split(' ')|map('lower')|join('_') }} {{ s.split()[-1].lower() }} {{ ('a b c'.split() | length) }} {{ '</think>' in 'a</think>b' }} {{ 'a</think>b'.split('</think>')[-1].lstrip('\n') }} {{ 'x\n\n'.rstrip('\n') }}| {{ 'a\n'.strip('\n').split('\n')|length }}
"""


def render(template, variables):
    return chat_template_utils._cached_compile_jinja_template(template).render(**variables)


# What filters of sequences make of what is none.
SEQUENCE_FILTERS = """
list first last length sum min max sort join reverse|list unique|list items|list select|list reject|list
map('upper')|list map(attribute='a')|list selectattr('a')|list rejectattr('a')|list select('odd')|list
selectattr('a','eq',1)|list batch(2)|list slice(2)|list groupby('a') dictsort
"""
NO_SEQUENCES = ["none", "0", "5", "1.5", "false", "true", "''", "'ab'", "nope", "{}", "{'a': 1}", "()", "(1, 2)"]


def case(template, variables, **more):
    try:
        return {"template": template, **more, "rendered": render(template, variables)}
    except Exception as error:  # whatever it was, it is what the reference does
        return {"template": template, **more, "error": f"{type(error).__name__}: {error}"}


def expressions():
    group = None
    for line in EXPRESSIONS.strip("\n").split("\n"):
        if re.fullmatch(r"# [a-z, ]+", line):
            group = line[2:]
        else:
            template = line.replace("⏎", "\n").replace("\\r\\n", "\r\n") if group == "white space" else line.replace("⏎", "\n")
            # Where a line is a row of prints, each is a golden of its own.
            single = re.fullmatch(r"(\{\{ (?:(?!\}\}|\{[{%#]).)* \}\}\|? ?)+", template)
            parts = re.findall(r"\{\{ (?:(?!\}\}).)* \}\}\|?", template) if single else [template]
            for part in parts:
                golden = case(part, VARIABLES, group=group)
                # An address is another one each time.
                if " at 0x" not in golden.get("rendered", ""):
                    yield golden
    for filters in SEQUENCE_FILTERS.split():
        for value in NO_SEQUENCES:
            yield case(f"{{{{ {value}|{filters} }}}}", VARIABLES, group="filters of sequences")


WEATHER = {"type": "function", "function": {
    "name": "weather", "description": "Tells the weather.", "parameters": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city & country, as \"Oslo, Norway\""},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
            "days": {"type": "integer", "description": "How many"},
        },
        "required": ["city"]}}}
NESTED = {"type": "function", "function": {
    "name": "book", "description": "Books a trip für zwei.", "parameters": {
        "type": "object",
        "properties": {
            "legs": {"type": "array", "items": {"type": "object", "properties": {
                "from": {"type": "string"}, "to": {"type": "string", "nullable": True}}, "required": ["from"]}},
            "when": {"type": ["string", "null"], "description": "ISO date"},
            "extras": {"type": "object", "properties": {"bags": {"type": "number"}, "pet": {"type": "boolean"}}},
            "names": {"type": "array", "items": {"type": "string"}},
            "any": {"oneOf": [{"type": "string", "default": "x"}, {"type": "number", "description": "or so"}]},
        },
        "required": ["legs", "when"]},
    "return": {"type": "object", "additionalProperties": {"type": "string"}}}}
EMPTY = {"type": "function", "function": {
    "name": "ping", "description": "Answers.", "parameters": {"type": "object", "properties": {}}}}


def call(name, arguments, id="abcdef123"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


CONVERSATIONS = {
    "one": [{"role": "user", "content": "Hello there"}],
    "system": [{"role": "system", "content": "  Be kind.\n"}, {"role": "user", "content": " Hi! "}],
    "turns": [
        {"role": "user", "content": "1 < 2 & \"3\"?"}, {"role": "assistant", "content": "Yes — ja, 是的 👍"},
        {"role": "user", "content": "Sure?\n\n"}],
    "thoughts": [
        {"role": "user", "content": "Think"},
        {"role": "assistant", "content": "<think>\nhm, well\n</think>\n\nDone."},
        {"role": "user", "content": "Again"}, {"role": "assistant", "content": "<think>more</think>End"}],
    "reasoning": [
        {"role": "user", "content": "Think"},
        {"role": "assistant", "content": "Done.", "reasoning_content": "I should.\n"}],
    "calls": [
        {"role": "system", "content": "Use tools."}, {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "content": None, "tool_calls": [call("weather", {"city": "Oslo", "days": 2})]},
        {"role": "tool", "tool_call_id": "abcdef123", "name": "weather", "content": "{\"sky\": \"grå\"}"},
        {"role": "assistant", "content": "Grey."}, {"role": "user", "content": "Thanks"}],
    "two calls": [
        {"role": "user", "content": "Both"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [
            call("weather", {"city": "Rome", "unit": "celsius"}, "aaaaaaaa1"),
            call("book", {"legs": [{"from": "A", "to": None}], "names": [], "ok": True, "price": 12.50}, "aaaaaaaa2")]},
        {"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "sun"},
        {"role": "tool", "tool_call_id": "aaaaaaaa2", "content": "booked"}],
    "parts": [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " What is it? "}]},
        {"role": "assistant", "content": [{"type": "text", "text": "A cat"}]}],
    "wrong order": [{"role": "assistant", "content": "I begin"}, {"role": "user", "content": "No"}],
    "strange role": [{"role": "user", "content": "Hi"}, {"role": "narrator", "content": "Meanwhile"}],
    "nobody": [],
}
SETTINGS = [
    {"add_generation_prompt": True},
    {"add_generation_prompt": False},
    {"add_generation_prompt": True, "tools": [WEATHER]},
    {"add_generation_prompt": False, "tools": [WEATHER, NESTED, EMPTY]},
    {"add_generation_prompt": True, "documents": [
        {"title": "On cats", "text": "Cats \"purr\"."}, {"title": "Über Hunde", "text": "Sie bellen.\nLaut."}]},
    {"add_generation_prompt": True, "enable_thinking": False, "thinking": True, "date_string": "12 Dec 2025",
     "add_vision_id": True, "reasoning_effort": "high", "builtin_tools": ["interpreter", "weather"]},
]


def families():
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    for path in sorted((ROOT / "chat-templates" / "families").glob("*.jinja")):
        template = path.read_text()
        for name, turns in CONVERSATIONS.items():
            # As apply_chat_template begins.
            messages = [{key: value for key, value in turn.items() if value is not None} for turn in turns]
            for number, setting in enumerate(SETTINGS):
                # Not everything with everything: what a conversation is about, and each setting with two.
                if number > 1 and name not in ("system", "two calls", "calls"):
                    continue
                golden = {"template": path.name, "conversation": name, "setting": number}
                given = {"tools": None, "documents": None, **setting, **tokens}
                add = given.pop("add_generation_prompt")
                try:
                    rendered, ranges = chat_template_utils.render_jinja_template(
                        [messages], chat_template=template, add_generation_prompt=add,
                        return_assistant_tokens_mask="generation" in path.name, **given)
                    golden["rendered"] = rendered[0]
                    if ranges:
                        golden["generated"] = ranges[0]
                except Exception as error:
                    golden["error"] = f"{type(error).__name__}: {error}"
                yield golden


def write(name, document, cases):
    path = ROOT / "goldens" / name
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    head = json.dumps(document, ensure_ascii=False)[1:-1]
    path.write_text(f'{{{head}, "cases": [\n{lines}\n]}}\n')
    failed = sum("error" in case for case in cases)
    print(f"{path.name}: {len(cases)} cases, {failed} of them errors")


if __name__ == "__main__":
    reference = f"transformers {transformers.__version__}, jinja2 {jinja2.__version__}"
    write("chat-expressions.json", {"reference": reference, "variables": VARIABLES}, list(expressions()))
    write(
        "chat-families.json", {"reference": reference, "conversations": CONVERSATIONS, "settings": SETTINGS},
        list(families()))
