"""The schema of the protocol, read and checked. Clients: messages.py, messages_cpp.py, messages_js.py."""

import json

SCALARS = {"text": "std::string", "flag": "bool", "number": "double", "facts": "nlohmann::json",
           "any": "nlohmann::json", "bytes": None}
INT64_MAX = 2**63 - 1
FIELD_KEYS = {"name", "type", "doc", "optional", "default", "min", "max", "nullable"}


def identifier(choice):
    return choice.replace("-", "_")


def pascal(name):
    return name.title().replace("_", "")


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


class Schema:
    def __init__(self, schema):
        self.enums = schema["enums"]
        self.objects = schema["objects"]
        self.schema = schema
        self.parts = {}  # by name of a message: the fields of its own, and the objects whose fields it also has
        for message in [*schema["requests"], *schema["documents"]]:
            self.flatten(message)

    def flatten(self, message):
        """The fields of the objects that a message is made "with" are its fields, too."""
        bases = message.pop("with", [])
        self.parts[message["name"]] = (message["fields"], bases)
        message["fields"] = [*message["fields"], *(field for name in bases for field in self.objects[name]["fields"])]

    def base(self, field):
        return field["type"].removesuffix("[]")

    def check(self, where, fields):
        names = [field.get("name") for field in fields]
        if len(set(names)) != len(names):
            raise ValueError(f"{where}: a field occurs twice")
        for field in fields:
            unknown = set(field) - FIELD_KEYS
            missing = {"name", "type", "doc"} - set(field)
            if unknown or missing:
                raise ValueError(f"{where}: field {field}: unknown {unknown}, missing {missing}")
            base = self.base(field)
            if base not in {*SCALARS, "whole", *self.enums, *self.objects}:
                raise ValueError(f"{where}: {field['name']}: there is no type {base}")
