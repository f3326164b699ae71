"""The schemas of documents, core/protocol/documents/*.json, read and checked. Clients: documents.py, documents_cpp.py,
documents_text.py.

A file without a format is a part of others, with objects alone. Objects and enumerations are known to all files.
Beside the types of messages (messages_schema.py) there are

real      a number that may be infinite, written as ±1.7976931348623157e308, or NaN, written as null
TYPE[]    a list, TYPE{} an object of such values by any names; suffixes may follow each other
facts     an object of texts, numbers, flags and nulls by any names, as in messages

and in place of a field {"metrics": "verify"}: the keys that the layers of this source have
(core/results/metrics_table.hpp). Those of an optional "member" are all absent or not, as "present" is, a counted one
that documents of all versions have. Keys of a field beside name, type and doc:

optional  it may be absent; C++ leaves it out where it is empty, false, 0 or has no value. Readers take null as absent,
          and of a number or real as NaN
always    of an optional one: it is always written, and only documents of earlier versions lack it
nullable  it may be null
valued    of an optional one: C++ tells false and empty from absent
member    the member of the C++ struct, where that has another name
derived   a C++ function of the struct, or .METHOD(), whose result is written; nothing reads it
by_hand   C++ writes and reads it beside the generated code
min, max  limits of a whole number or, min alone, of a finite one, where generated code reads it
printable a text without control characters, or a list of them: it is shown as it is
streamed  a list too long to be held as JSON: the generated code leaves it to its client

An enumeration has "values", or "values_of", a C++ header whose rows {Enum::value, "name", …} have them.
An object with "open" may have keys that nobody knows; all others may have them in documents of later versions only.
"cpp" of an object is the struct that it is in C++, else one is generated; "struct" is that of a document, or "document"
in its "cpp" generates one; "written" there says that C++ only writes it. Without "cpp" a file describes and checks, and
C++ is written by hand."""

import json
import re

SCALARS = {"text", "whole", "number", "real", "flag", "facts", "any"}
FIELD_KEYS = {"name", "type", "doc", "optional", "nullable", "always", "member", "derived", "by_hand", "streamed",
              "valued", "min", "max", "printable"}
METRIC_KEYS = {"metrics", "member", "optional", "present"}
OBJECT_KEYS = {"doc", "fields", "cpp", "open", "by_hand"}
ENUM_KEYS = {"values", "values_of", "cpp"}
ENUM_CPP_KEYS = {"type", "name", "named", "count"}
PART_KEYS = {"doc", "cpp", "enums", "objects"}
DOCUMENT_KEYS = {*PART_KEYS, "format", "where", "struct", "fields"}
CPP_KEYS = {"includes", "document", "written"}
UNREAD = {"derived", "by_hand", "streamed"}  # of these nothing is generated that reads a value
SUFFIX = re.compile(r"(\[\]|\{\})$")


def split_type(type_name):
    """The type without its suffixes, and these from the innermost on: ("text", ["[]", "{}"]) of "text[]{}"."""
    suffixes = []
    while SUFFIX.search(type_name):
        suffixes.insert(0, type_name[-2:])
        type_name = type_name[:-2]
    return type_name, suffixes


def base_of(type_name):
    return split_type(type_name)[0]


def metrics_in(header):
    """Of the table of metrics: for each source [(key, type, title, optional)]."""
    found = {"verify": [], "compare": []}
    rows = header[header.index("metrics_table = std::to_array"):]
    for row in re.split(r'\{\.key = "', rows)[1:]:
        key = row[:row.index('"')]
        title = re.search(r'\.title = "([^"]*)"', row)[1]
        whole = re.search(r"\.format = MetricFormat::count", row) is not None
        optional = re.search(r"\.optional = true", row) is not None
        for source, member in [("verify", "verified"), ("compare", "compared")]:
            if re.search(rf"\.{member} = \{{\.json = true", row):
                found[source].append((key, "whole" if whole else "real", title, optional))
    return found


def check_keys(where, made, known, needed=frozenset()):
    unknown, missing = sorted(set(made) - known), sorted(needed - set(made))
    if unknown or missing:
        raise ValueError(f"{where}: unknown keys {unknown}, missing {missing}; known are {sorted(known)}")


def check_file(where, document):
    """The keys of all but fields."""
    if "format" in document:
        check_keys(where, document, DOCUMENT_KEYS, {"where", "doc", "fields"})
    else:
        check_keys(where, document, PART_KEYS, {"doc", "objects"})
    if "cpp" in document:
        check_keys(f"{where}: cpp", document["cpp"], CPP_KEYS, {"includes"})
    for name, made in document.get("objects", {}).items():
        check_keys(f"{where}: {name}", made, OBJECT_KEYS, {"doc", "fields"})
    for name, enum in document.get("enums", {}).items():
        check_keys(f"{where}: {name}", enum, ENUM_KEYS)
        if ("values" in enum) == ("values_of" in enum):
            raise ValueError(f"{where}: {name}: expected either values or values_of")
        if "cpp" in enum:
            check_keys(f"{where}: {name}: cpp", enum["cpp"], ENUM_CPP_KEYS, {"type", "name", "named"})


def names_in(header):
    """The texts of a table of rows {Enum::value, "name", …}."""
    return re.findall(r'^\s*\{\w+::\w+, "([^"]+)"', header.read_text(encoding="utf-8"), re.MULTILINE)


class Documents:
    def __init__(self, folder, metrics_table):
        self.metrics = metrics_in(metrics_table.read_text(encoding="utf-8"))
        self.documents = {}
        self.parts = {}
        self.objects = {}
        self.enums = {}
        self.home = {}  # of an object or an enumeration: the document whose file has it
        for file in sorted(folder.glob("*.json")):
            document = json.loads(file.read_text(encoding="utf-8"))
            check_file(file.name, document)
            (self.documents if "format" in document else self.parts)[file.stem] = document
            for kind in ("objects", "enums"):
                for name, made in document.get(kind, {}).items():
                    if name in self.home:
                        raise ValueError(f"{file.name}: {name} is also in {self.home[name]}.json")
                    self.home[name] = file.stem
                    getattr(self, kind)[name] = made
        for enum in self.enums.values():
            if "values_of" in enum:
                enum["values"] = names_in(folder.parents[2] / enum.pop("values_of"))
        for name in self.objects:
            if name in self.documents:
                raise ValueError(f"{self.home[name]}.json: the object {name} has the name of a document")
        for name, made in {**self.objects, **self.documents}.items():
            self.check(name, made["fields"])

    def check(self, where, fields):
        names = set()
        for field in fields:
            known = METRIC_KEYS if "metrics" in field else FIELD_KEYS
            needed = {"metrics"} if "metrics" in field else {"name", "type", "doc"}
            check_keys(f"{where}: field {field}", field, known, needed)
            if "metrics" in field:
                self.check_metrics(where, field)
                continue
            if field["name"] in names:
                raise ValueError(f"{where}: {field['name']} occurs twice")
            names.add(field["name"])
            if base_of(field["type"]) not in {*SCALARS, *self.enums, *self.objects, *self.documents}:
                raise ValueError(f"{where}: {field['name']}: there is no type {field['type']}")
            self.check_limits(where, field)

    def check_metrics(self, where, field):
        if field["metrics"] not in self.metrics:
            raise ValueError(f"{where}: there are no metrics {field['metrics']}")
        if len({"member", "optional", "present"} & set(field)) not in (0, 3):
            raise ValueError(f"{where}: field {field}: expected member, optional and present, or none of them")
        # Not a real one: null says of it that it was not measured, and of a whole number that it is absent.
        counted = [key for key, kind, _, _ in self.metrics[field["metrics"]] if kind == "whole"]
        if "present" in field and field["present"] not in counted:
            raise ValueError(f"{where}: metrics {field['metrics']}: expected present to be one of {counted}, "
                             f"got {field['present']}")

    def only_written(self, name):
        """Whether no reader is generated of an object or a document."""
        home = self.home.get(name, name)
        return {**self.documents, **self.parts}[home].get("cpp", {}).get("written", False)

    def check_limits(self, name, field):
        """Those that generated code would not check."""
        where = f"{name}: {field['name']}"
        for key, types in [("min", {"whole", "number"}), ("max", {"whole"}), ("printable", {"text", "text[]"})]:
            if key not in field:
                continue
            if field["type"] not in types:
                raise ValueError(f"{where}: expected {key} of {' or '.join(sorted(types))} alone, "
                                 f"it is {field['type']}")
            unread = UNREAD & set(field) | ({"written"} if self.only_written(name) else set())
            if unread:
                raise ValueError(f"{where}: expected no {key} of what is {', '.join(sorted(unread))}: "
                                 "no generated code reads it")
        if "min" in field and "max" in field and field["min"] > field["max"]:
            raise ValueError(f"{where}: expected min ≤ max, got {field['min']} and {field['max']}")
        for key in ("always", "valued"):
            if key in field and "optional" not in field:
                raise ValueError(f"{where}: {key} is of an optional one alone")

    def fields_of(self, name):
        """With the format of a document, and each metric as a field."""
        made = self.objects.get(name) or self.documents[name]
        fields = []
        if name in self.documents:
            fields.append({"name": "format", "type": "format", "literal": made["format"],
                           "doc": "What this document is."})
        for field in made["fields"]:
            if "metrics" not in field:
                always = field.get("always", False)
                fields.append({**field, "optional": False} if always else field)
                continue
            absent = field.get("optional", False)
            fields += [{"name": key, "type": kind, "optional": absent or rare, "metric": True, "doc": title}
                       for key, kind, title, rare in self.metrics[field["metrics"]]]
        return fields

    def used_by(self, document):
        """The objects that a document is made of, in the order in which they occur, each before those inside it; of a
        part those that it has."""
        if document in self.parts:
            return list(self.parts[document]["objects"])
        found = []

        def visit(fields):
            for field in fields:
                name = base_of(field["type"]) if "type" in field else None
                if name in self.objects and name not in found:
                    found.append(name)
                    visit(self.objects[name]["fields"])
        visit(self.documents[document]["fields"])
        return found
