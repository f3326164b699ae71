"""The schemas of documents as tables for docs/formats.md, as TypeScript's declarations and as types of Python.
Client: tools/documents."""

import keyword
import textwrap

from documents_schema import split_type
from messages_schema import pascal, quoted

MARK = "made by tools/documents from core/protocol/documents; not edited"


class Text:
    def __init__(self, documents):
        self.documents = documents

    # docs/formats.md

    def type_in_words(self, field):
        if field["type"] == "format":
            return f"`\"{field['literal']}\"`"
        name, suffixes = split_type(field["type"])
        made = {"text": "text", "whole": "whole", "number": "number", "real": "number", "flag": "flag",
                "facts": "texts, numbers, flags, null by name", "any": "any"}.get(name)
        if name in self.documents.enums:
            made = ", ".join(f"`{value}`" if value else "empty" for value in self.documents.enums[name]["values"])
        elif name in self.documents.documents:
            made = f"[{self.documents.documents[name]['format']}](#{self.documents.documents[name]['format']})"
        elif made is None:
            made = f"*{name}*"
        for suffix in suffixes:
            made = f"list of {made}" if suffix == "[]" else f"{made}, by name"
        return made + (" or null" if field.get("nullable") else "")

    def rows(self, name):
        text = "| key | type | what |\n|---|---|---|\n"
        for field in self.documents.fields_of(name):
            if field.get("metric"):
                continue
            absent = "?" if field.get("optional") else ""
            text += f"| `{field['name']}`{absent} | {self.type_in_words(field)} | {field['doc']} |\n"
        for field in (self.documents.objects.get(name) or self.documents.documents[name])["fields"]:
            if "metrics" in field:
                kinds = {"whole": "whole", "real": "number"}
                listed = ", ".join(f"`{key}`{'?' if rare else ''} ({kinds[kind]})"
                                   for key, kind, _, rare in self.documents.metrics[field["metrics"]])
                absent = "?" if field.get("optional") else ""
                text += f"| metrics{absent} | | {listed} |\n"
        return text

    def markdown(self):
        """For each document its keys, and those of its objects; an object that several have stands in the first."""
        parts = ", ".join(f"`core/protocol/documents/{name}.json`" for name in self.documents.parts)
        text = ("A key with a question mark may be absent. *Italics* are objects, which have a table where they occur "
                f"first. Facts of a run have schemas of their own: {parts}.\n")
        seen = set()
        for name, document in self.documents.documents.items():
            where = document["where"][0].upper() + document["where"][1:]
            text += (f"\n### {document['format']}\n{where}. {document['doc']} Schema: "
                     f"`core/protocol/documents/{name}.json`.\n\n{self.rows(name)}")
            for used in self.documents.used_by(name):
                if used in seen:
                    continue
                seen.add(used)
                open_keys = " It may have other keys." if self.documents.objects[used].get("open") else ""
                text += f"\n*{used}*: {self.documents.objects[used]['doc']}{open_keys}\n\n{self.rows(used)}"
        return text

    # index.d.ts

    def script_type(self, field):
        if field["type"] == "format":
            return quoted(field["literal"])
        name, suffixes = split_type(field["type"])
        made = {"text": "string", "whole": "number", "number": "number", "real": "number | null", "flag": "boolean",
                "facts": "Record<string, string | number | boolean | null>", "any": "unknown"}.get(name)
        made = made or self.type_name(name)
        for suffix in suffixes:
            inside = f"({made})" if "|" in made else made
            made = f"{inside}[]" if suffix == "[]" else f"Record<string, {made}>"
        return made + (" | null" if field.get("nullable") else "")

    def type_name(self, name):
        return pascal(name) + ("Document" if name in self.documents.documents else "")

    def declarations(self):
        text = (f"// The documents that the program writes, {MARK}.\n"
                "// A number that may be infinite is then ±1.7976931348623157e308; NaN is null.\n\n")
        for name, made in self.documents.enums.items():
            text += f"export type {pascal(name)} = {' | '.join(map(quoted, made['values']))};\n"
        for name in [*self.documents.objects, *self.documents.documents]:
            made = self.documents.objects.get(name) or self.documents.documents[name]
            where = f"{made['where']}: " if name in self.documents.documents else ""
            text += f"\n/** {where}{made['doc']} */\nexport interface {self.type_name(name)} {{\n"
            for field in self.documents.fields_of(name):
                absent = "?" if field.get("optional") else ""
                text += f"  /** {field['doc']} */\n  {field['name']}{absent}: {self.script_type(field)};\n"
            if made.get("open"):
                text += "  [other: string]: unknown;\n"
            text += "}\n"
        return text

    # python/driftscope/documents.py

    def python_type(self, field):
        if field["type"] == "format":
            return f"Literal[{quoted(field['literal'])}]"
        name, suffixes = split_type(field["type"])
        made = {"text": "str", "whole": "int", "number": "float", "real": "Optional[float]", "flag": "bool",
                "facts": "dict[str, Union[str, float, bool, None]]", "any": "Any"}.get(name) or f"\"{self.type_name(name)}\""
        if name in self.documents.enums:
            made = self.type_name(name)
        for suffix in suffixes:
            made = f"list[{made}]" if suffix == "[]" else f"dict[str, {made}]"
        if field.get("nullable"):
            made = f"Optional[{made}]"
        return made

    def python(self):
        text = (f'"""The documents that the program writes, {MARK}.\n\n'
                "A number that may be infinite is then ±1.7976931348623157e308; NaN is None. An object that is open may\n"
                'have other keys, too."""\n\n'
                "from typing import Any, Literal, Optional, TypedDict, Union\n\n")
        for name, made in self.documents.enums.items():
            text += f"{pascal(name)} = Literal[{', '.join(map(quoted, made['values']))}]\n"
        for name in [*self.documents.objects, *self.documents.documents]:
            text += self.python_class(name)
        return text

    def python_class(self, name):
        made = self.documents.objects.get(name) or self.documents.documents[name]
        where = f"{made['where']}: " if name in self.documents.documents else ""
        doc = "\n    ".join(textwrap.wrap(f"{where}{made['doc']}", 110))
        fields = self.documents.fields_of(name)
        needed = [field for field in fields if not field.get("optional")]
        absent = [field for field in fields if field.get("optional")]
        class_name, base, text = self.type_name(name), "TypedDict", ""
        if any(keyword.iskeyword(field["name"]) for field in fields):
            # Such a key can only stand in a call, whose keys are all needed or none.
            if absent:
                raise ValueError(f"{name}: {absent[0]['name']} may be absent, while another key is a keyword of "
                                 "Python: expected none of its keys to be optional")
            rows = "".join(f"    {quoted(field['name'])}: {self.python_type(field)},\n" for field in fields)
            return f"\n\n# {made['doc']}\n{class_name} = TypedDict({quoted(class_name)}, {{\n{rows}}})\n"
        if needed and absent:
            base = f"_{class_name}"
            text = f"\n\nclass {base}(TypedDict):\n" + self.python_fields(needed)
            needed = []
        total = ", total=False" if absent else ""
        return (f"{text}\n\nclass {class_name}({base}{total}):\n    \"\"\"{doc}\"\"\"\n\n" +
                self.python_fields(needed + absent))

    def python_fields(self, fields):
        return "".join(f"    {field['name']}: {self.python_type(field)}\n" for field in fields)
