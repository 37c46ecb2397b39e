"""Answers of a tiny random model to random JSON Schemas, at temperature 1.5, against Python's jsonschema: whatever ends by
itself must parse and be valid. HUB_SCHEMAS says how many schemas (300), HUB_SCHEMAS_SEED what they are drawn from."""

import json
import os
import random
import subprocess
import unittest
from pathlib import Path

from peers import FIXTURES, HUB

try:
    import jsonschema
except ImportError:
    jsonschema = None

COUNT = int(os.environ.get("HUB_SCHEMAS", "300"))
SEED = int(os.environ.get("HUB_SCHEMAS_SEED", "20"))
PATTERNS = ["^[a-z]{1,8}$", "^\\d{3}-\\d{4}$", "a", "^(red|green|blue)$", "^[A-Z][a-z]*( [A-Z][a-z]*)?$", "[aeiou]{2}",
            "^[^\"]{0,5}$", "^\\w+@\\w+$", "x$", "^\\S"]
FORMATS = ["date", "time", "date-time", "email", "uuid", "uri"]
NAMES = ["id", "name", "type", "a", "b", "value", "\u00fc", "two words", "quote\"d", "back\\slash", "$ref", "items"]
NUMBERS = [-1e6, -273.15, -1, -0.5, 0, 1e-3, 0.5, 1, 7, 9.99, 10, 99, 100, 101.25, 65535, 1e9]


# What is refused by name although something fits: branches that may fit the same value, and elements that must differ
# where the schema leads back to itself or each element has a schema of its own.
REFUSALS = ["may both fit the same", "different elements that leads back to itself",
            "\"uniqueItems\" is not supported beside schemas of single elements"]


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.draft = self.random.choice(["2020-12", "2020-12", "draft-07"])

    def chance(self, share):
        return self.random.random() < share

    def value(self, depth=1):
        kinds = [None, True, False, self.random.randint(-999, 999), self.random.choice(NUMBERS),
                 self.random.choice(NAMES), "\u0001\n\u2028\U0001f600"]
        if depth:
            kinds += [[self.value(0) for _ in range(self.random.randint(0, 2))],
                      {name: self.value(0) for name in self.random.sample(NAMES, self.random.randint(0, 2))}]
        return self.random.choice(kinds)

    def number(self, kind):
        schema = {"type": kind}
        low, high = sorted(self.random.sample(NUMBERS, 2))
        if self.chance(.5):
            schema[self.random.choice(["minimum", "exclusiveMinimum"])] = low
        if self.chance(.5):
            schema[self.random.choice(["maximum", "exclusiveMaximum"])] = high
        return schema

    def string(self):
        schema = {"type": "string"}
        low = self.random.randint(0, 5)
        if self.chance(.4):
            schema["minLength"] = low
        if self.chance(.5):
            schema["maxLength"] = low + self.random.randint(0, 30)
        if self.chance(.25):
            schema["pattern"] = self.random.choice(PATTERNS)
        elif self.chance(.25):
            return {"type": "string", "format": self.random.choice(FORMATS)}
        return schema

    def tuple(self, depth):
        """A list whose first elements have schemas of their own, in the words of either draft."""
        parts = [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]
        old = self.draft == "draft-07"
        schema = {"type": "array", "items" if old else "prefixItems": parts}
        if self.chance(.6):
            schema["additionalItems" if old else "items"] = self.random.choice([False, True, self.schema(0)])
        if self.chance(.4):
            schema["minItems"] = self.random.randint(0, 4)
        if self.chance(.4):
            schema["maxItems"] = self.random.randint(schema.get("minItems", 0), 5)
        return schema

    def one_of(self, depth):
        """Branches that a type, a property or a bound tells apart, or that nothing does."""
        kind = self.random.choice(["tag", "tag", "types", "required", "bounds", "lists", "any"])
        count = self.random.randint(1, 3)
        if kind == "tag":
            tag, branches = self.random.choice(NAMES), []
            for number in range(count):
                branch = self.object(depth - 1)
                branch["properties"] = {tag: {"const": f"kind {number}"}} | branch["properties"]
                branch["properties"][tag] = {"const": f"kind {number}"}
                if self.chance(.7):
                    branch["required"] = list({tag, *branch.get("required", [])})
                branches.append(branch)
            return {"oneOf": branches, "discriminator": {"propertyName": tag}}
        if kind == "types":
            return {"oneOf": [self.random.choice([{"type": "null"}, self.string(), self.number("integer"),
                                                  {"type": "array", "items": {"type": "boolean"}},
                                                  {"type": "object", "additionalProperties": {"type": "null"}},
                                                  {"const": self.value()}, {"enum": [self.value(), self.value()]}])
                              for _ in range(count)]}
        if kind == "required":
            names = self.random.sample(NAMES, 3)
            return {"type": "object", "properties": {name: self.schema(0) for name in names},
                    "oneOf": [{"required": [name]} for name in names[:2]]}
        if kind == "bounds":
            low, middle, high = sorted(self.random.sample(NUMBERS, 3))
            return {"type": "number", "oneOf": [{"minimum": low, "exclusiveMaximum": middle},
                                                {"minimum": middle, "maximum": high}]}
        if kind == "lists":
            return {"oneOf": [{"type": "array", "items": {"type": "boolean"}, "minItems": self.random.randint(0, 2)},
                              {"type": "array", "items": {"type": "null"}, "maxItems": 3}]}
        return {"oneOf": [self.schema(depth - 1) for _ in range(count)]}

    def array(self, depth):
        schema = {"type": "array", "items": self.schema(depth - 1)}
        low = self.random.randint(0, 3)
        if self.chance(.4):
            schema["minItems"] = low
        if self.chance(.6):
            schema["maxItems"] = low + self.random.randint(0, 4)
        if self.chance(.35):
            schema["uniqueItems"] = True
        return schema

    def object(self, depth):
        names = self.random.sample(NAMES, self.random.randint(0, 5))
        schema = {"type": "object", "properties": {name: self.schema(depth - 1) for name in names}}
        if self.chance(.7):
            schema["required"] = [name for name in names if self.chance(.6)]
        if self.chance(.5):
            schema["additionalProperties"] = self.random.choice([False, True, self.schema(0)])
        return schema

    def schema(self, depth):
        kinds = ["string", "integer", "number", "boolean", "null", "enum", "const", "types"]
        if depth > 0:
            kinds += ["object"] * 4 + ["array"] * 2 + ["anyOf", "ref", "ref", "both", "tuple", "allOf", "allOf", "nullable"]
            kinds += ["oneOf"] * 3
        kind = self.random.choice(kinds)
        if kind in ("integer", "number"):
            return self.number(kind)
        if kind in ("boolean", "null"):
            return {"type": kind, "description": "ignored"}
        if kind == "enum":
            return {"enum": [self.value() for _ in range(self.random.randint(1, 5))]}
        if kind == "const":
            return {"const": self.value()}
        if kind == "types":
            return {"type": self.random.sample(["string", "integer", "null", "boolean", "number"], 2), "maxLength": 9,
                    "minimum": 0}
        if kind == "string":
            return self.string()
        if kind == "array":
            return self.array(depth)
        if kind == "object":
            return self.object(depth)
        if kind == "tuple":
            return self.tuple(depth)
        if kind == "oneOf":
            return self.one_of(depth)
        if kind == "nullable":
            return self.random.choice([self.string(), self.number("integer"), self.array(depth)]) | {"nullable": True}
        if kind == "allOf":
            parts = [self.random.choice([self.object(depth - 1), {"$ref": "#/$defs/leaf"}, {"title": "any"},
                                         {"type": ["object", "string"]}]) for _ in range(self.random.randint(1, 3))]
            # In draft 7 what stands beside a $ref counts for nothing: a field with a default is written as below.
            return self.random.choice([self.object(depth - 1), {"default": 1}]) | {"allOf": parts}
        if kind == "anyOf":
            return {"anyOf": [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]}
        if kind == "both":
            # Keywords beside anyOf and $ref hold too.
            return self.object(depth) | {"anyOf": [self.object(depth - 1), {"type": ["object", "string"]}]}
        return self.random.choice([{"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/leaf"},
                                   {"$ref": "#/$defs/leaf", "enum": [self.value() for _ in range(6)]}])

    def document(self):
        schema = self.schema(3)
        old = self.draft == "draft-07"
        schema["$schema"] = ("http://json-schema.org/draft-07/schema#" if old
                             else "https://json-schema.org/draft/2020-12/schema")
        schema["$defs"] = {
            "leaf": self.schema(0),
            "tree": {"type": "object", "required": ["v"], "additionalProperties": False, "properties": {
                "v": {"$ref": "#/$defs/leaf"}, "kids": {"type": "array", "maxItems": 2,
                                                       "items": {"$ref": "#/$defs/tree"}}}},
        }
        return schema


def in_json_schema(schema):
    """Without OpenAPI's `nullable`, which JSON Schema does not know."""
    if isinstance(schema, list):
        return [in_json_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: value if key in ("enum", "const") else in_json_schema(value) for key, value in schema.items()}
    if plain.pop("nullable", False) is True:
        plain["type"] = [plain["type"], "null"]
    return plain


@unittest.skipIf(jsonschema is None, "the package jsonschema is not installed")
class RandomSchemas(unittest.TestCase):
    def test_what_ends_by_itself_is_valid(self):
        schemas = [Draw(SEED * 1_000_003 + number).document() for number in range(COUNT)]
        done = subprocess.run([str(Path(HUB).with_name("SchemaRuns")), str(FIXTURES / "tiny-shakespeare")],
                              input="".join(json.dumps(schema) + "\n" for schema in schemas), capture_output=True,
                              text=True, check=True)
        answers = [json.loads(line) for line in done.stdout.split("\n") if line]
        self.assertEqual(len(answers), COUNT, done.stderr)
        whole = cut = empty = alike = tokens = 0
        for schema, answer in zip(schemas, answers):
            if "error" in answer:
                # Some schemas are satisfied by nothing, or by nothing that these keywords' forms can write.
                if any(words in answer["error"] for words in REFUSALS):
                    alike += 1
                    continue
                self.assertIn("no text fits", answer["error"], json.dumps(schema))
                empty += 1
                continue
            tokens += answer["tokens"]
            if answer["finish_reason"] != "stop":
                self.assertEqual(answer["finish_reason"], "length")
                cut += 1
                continue
            whole += 1
            value = json.loads(answer["text"])
            validator = jsonschema.validators.validator_for(schema)
            errors = list(validator(in_json_schema(schema), format_checker=validator.FORMAT_CHECKER).iter_errors(value))
            self.assertFalse(errors, f"{answer['text']} under {json.dumps(schema)}")
            # Many readers look at no formats.
            self.assertTrue(validator(in_json_schema(schema)).is_valid(value), f"{answer['text']} under {schema}")
        print(f"{COUNT} schemas: {whole} answers ended by themselves and are valid, {cut} were cut, "
              f"{empty} schemas allow no text, {alike} are refused for oneOf or uniqueItems; {tokens} tokens", flush=True)
        self.assertGreater(whole, COUNT // 2)
        self.assertLess(alike, COUNT // 20)


if __name__ == "__main__":
    unittest.main()
