"""The schemas of documents as C++: for each with "cpp" a header with the structs that have none in C++, and encode and
read_json for its objects. Client: documents.py."""

from documents_schema import base_of, split_type
from messages_schema import pascal, quoted

SCALARS = {"text": "std::string", "whole": "std::int64_t", "number": "double", "real": "double", "flag": "bool",
           "facts": "nlohmann::ordered_json", "any": "nlohmann::ordered_json"}


class Cpp:
    def __init__(self, documents):
        self.documents = documents

    def struct_of(self, name):
        """What it is in C++: a struct of its own, a generated one, or JSON where it is open."""
        made = self.documents.objects.get(name)
        if made is None:
            return self.documents.documents[name].get("struct")
        return made.get("cpp") or ("nlohmann::ordered_json" if made.get("open") else f"documents::{pascal(name)}")

    def type_of(self, field):
        name, suffixes = split_type(field["type"])
        around = ["std::vector<" if suffix == "[]" else "std::map<std::string, " for suffix in reversed(suffixes)]
        enum = self.documents.enums.get(name)
        made = (enum["cpp"]["type"] if "cpp" in enum else "std::string") if enum else (
            SCALARS.get(name) or self.struct_of(name))
        made = "".join(around) + made + ">" * len(around)
        # A list says by being empty that it is absent, a text and a flag as well.
        empty = around or name in ("text", "flag") or enum and "cpp" not in enum
        valued = (field.get("nullable") or field.get("valued") or
                  field.get("optional") and not field.get("always") and not empty)
        return f"std::optional<{made}>" if valued else made

    def struct(self, name):
        made = self.documents.objects[name]
        members = "".join(f"  {self.type_of(field)} {field['name']}{{}};  ///< {field['doc']}\n"
                          for field in made["fields"] if "metrics" not in field and not field.get("by_hand"))
        return f"/// {made['doc']}\nstruct {pascal(name)} {{\n{members}}};\n\n"

    def member(self, field):
        return field.get("member", field.get("name"))

    def enum_of(self, field):
        """An enumeration of C++; others are texts."""
        enum = self.documents.enums.get(field["type"])
        return enum if enum and "cpp" in enum else None

    def put(self, field):
        if "metrics" in field:
            source = f"MetricSource::{field['metrics']}"
            if "member" not in field:
                return f"  add_metrics(value, {source}, from);\n"
            return f"  if (from.{field['member']}) add_metrics(value, {source}, *from.{field['member']});\n"
        name = quoted(field["name"])
        what = f"from.{self.member(field)}"
        if "derived" in field:
            method = field["derived"].startswith(".")
            what = f"from{field['derived']}" if method else f"{field['derived']}(from)"
        if self.enum_of(field):
            text = self.enum_of(field)["cpp"]["name"]
            if field.get("optional"):
                return f"  if ({what}) put(value, {name}, {text}(*{what}));\n"
            return f"  put(value, {name}, {text}({what}));\n"
        if field.get("optional") and not field.get("always") and not field.get("nullable"):
            return f"  put_unless_empty(value, {name}, {what});\n"
        return f"  put(value, {name}, {what});\n"

    def take(self, field):
        if "metrics" in field:
            source = f"MetricSource::{field['metrics']}"
            if "member" not in field:
                return f"  read_metrics(fields, {source}, to);\n"
            present = quoted(field["present"])
            return f"  if (fields.has({present})) read_metrics(fields, {source}, to.{field['member']}.emplace());\n"
        if "derived" in field:
            return ""
        name, member = quoted(field["name"]), f"to.{self.member(field)}"
        how = "optional" if field.get("optional") else "required"
        enum = self.enum_of(field)
        text = (f"  fields.{how}_name({name}, {member}, {enum['cpp']['named']});\n" if enum
                else f"  fields.{how}({name}, {member});\n")
        if field["type"] == "number" and "min" not in field:
            text += f"  fields.finite({name}, {member});\n"
        elif field["type"] == "number":
            text += f"  fields.at_least({name}, {member}, {field['min']});\n"
        elif "min" in field or "max" in field:
            low = field.get("min", 0)
            text += f"  fields.within({name}, {member}, {low}, {field.get('max', 2**63 - 1)});\n"
        if field.get("printable"):
            text += f"  fields.printable({name}, {member});\n"
        return text

    def written(self, fields):
        return [field for field in fields if not field.get("by_hand") and not field.get("streamed")]

    def codec(self, name):
        struct, fields = self.struct_of(name), self.written(self.documents.objects[name]["fields"])
        return self.writer(struct, fields) + self.reader(name, struct, fields)

    def writer(self, struct, fields, start=""):
        return (f"[[nodiscard]] inline nlohmann::ordered_json encode(const {struct}& from) {{\n"
                f"  nlohmann::ordered_json value = nlohmann::ordered_json::object();\n"
                f"{start}{''.join(map(self.put, fields))}  return value;\n}}\n\n")

    def reader(self, name, struct, fields):
        if self.documents.only_written(name):
            return ""
        return ("[[nodiscard]] inline Status read_json(const nlohmann::ordered_json& from, const JsonPath& path,\n"
                f"                                      {struct}& to) {{\n  JsonFields fields(from, path);\n"
                f"{''.join(map(self.take, fields))}  return std::move(fields).status();\n}}\n\n")

    def whole_document(self, name):
        """`streamed(out)` writes the value of the streamed field."""
        document = self.documents.documents[name]
        struct = document["struct"]
        if not any(field.get("streamed") for field in document["fields"]):
            start = f'  put(value, "format", std::string_view({quoted(document["format"])}));\n'
            return self.writer(struct, self.written(document["fields"]), start) + self.reader(
                name, struct, self.written(document["fields"]))
        text = (f"template <class Streamed>\nvoid write_document(JsonWriter& out, const {struct}& from, "
                f"const Streamed& streamed) {{\n  out.begin_object();\n"
                f"  out.member(\"format\", {quoted(document['format'])});\n")
        pending = []

        def flush():
            nonlocal text
            if pending:
                text += ("  {\n    nlohmann::ordered_json value = nlohmann::ordered_json::object();\n" +
                         "".join("  " + self.put(field) for field in pending) + "    out.members(value);\n  }\n")
                pending.clear()
        for field in document["fields"]:
            if field.get("streamed"):
                flush()
                text += f"  out.key({quoted(field['name'])});\n  streamed(out);\n"
            elif not field.get("by_hand"):
                pending.append(field)
        flush()
        return text + "  out.end();\n}\n\n" + self.reader(name, struct, self.written(document["fields"]))

    def own_document(self, name):
        """With a struct that is generated as well."""
        document = self.documents.documents[name]
        struct = f"documents::{pascal(name)}"
        members = "".join(f"  {self.type_of(field)} {field['name']}{{}};  ///< {field['doc']}\n"
                          for field in document["fields"])
        start = f'  put(value, "format", std::string_view({quoted(document["format"])}));\n'
        fields = self.written(document["fields"])
        return (f"namespace documents {{\n\n/// {document['doc']}\nstruct {pascal(name)} {{\n{members}}};\n\n" +
                self.writer(struct, fields, start) + self.reader(name, struct, fields) + "}  // namespace documents\n\n")

    def innermost_first(self, objects):
        """The same, each behind those inside it, also where one is inside several."""
        placed = []

        def place(one):
            if one in placed or one not in objects:
                return
            for field in self.documents.objects[one]["fields"]:
                if "type" in field:
                    place(base_of(field["type"]))
            placed.append(one)
        for one in objects:
            place(one)
        return placed

    def header(self, name):
        document = self.documents.documents.get(name) or self.documents.parts[name]
        made = [one for one in reversed(self.documents.used_by(name))
                if self.documents.home[one] == name and not self.documents.objects[one].get("by_hand")
                and self.struct_of(one) != "nlohmann::ordered_json"]
        made = self.innermost_first(made)
        own = [one for one in made if "cpp" not in self.documents.objects[one]]
        includes = "".join(f"#include {quoted(one)}\n" for one in
                           sorted({"core/base/json_fields.hpp", "core/base/json_put.hpp", "core/base/json_writer.hpp",
                                   *document["cpp"]["includes"]}))
        text = (f"// Generated by cmake/documents.py from core/protocol/documents/{name}.json; not edited.\n"
                f"#pragma once\n\n#include <map>\n#include <optional>\n#include <string>\n#include <vector>\n\n{includes}\n"
                "namespace driftscope {\n\n")
        for one, enum in document.get("enums", {}).items():
            if "count" in enum.get("cpp", {}):
                text += f"static_assert({enum['cpp']['count']} == {len(enum['values'])}, \"{name}.json: {one}\");\n\n"
        if own:
            text += "namespace documents {\n\n" + "".join(map(self.struct, own)) + "}  // namespace documents\n\n"
        for one in made:
            codec = self.codec(one)
            # Beside the struct, where a template finds it.
            text += codec if one not in own else f"namespace documents {{\n\n{codec}}}  // namespace documents\n\n"
        if "struct" in document:
            text += self.whole_document(name)
        elif document["cpp"].get("document"):
            text += self.own_document(name)
        return text + "}  // namespace driftscope\n"

    def headers(self):
        return {f"{name}.hpp": self.header(name)
                for name, document in {**self.documents.documents, **self.documents.parts}.items()
                if "cpp" in document}


