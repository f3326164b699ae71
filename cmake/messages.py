#!/usr/bin/env python3
"""Makes code of the protocol's schema, core/protocol/messages.json: messages.py SCHEMA FOLDER writes there

messages.hpp   structs, encoders, decoders and the tables that messages are checked by (schema.hpp)
round_trips.hpp  every message decoded and encoded again, for tests
messages.mjs   the same tables for web/worker/client.mjs
messages.d.ts  types of both

Files are only written when they change. A mistake in the schema ends it with a message."""

import json
import pathlib
import sys

sys.dont_write_bytecode = True

from messages_cpp import Cpp  # noqa: E402
from messages_js import Declarations  # noqa: E402


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    source, folder = map(pathlib.Path, sys.argv[1:])
    try:
        schema = json.loads(source.read_text(encoding="utf-8"))
        cpp, script = Cpp(schema), Declarations(schema)
        made = {"messages.hpp": cpp.generate(), "round_trips.hpp": cpp.round_trips(),
                "messages.mjs": script.script(), "messages.d.ts": script.declarations()}
    except (ValueError, KeyError) as error:
        sys.exit(f"{source}: {error}")
    for name, text in made.items():
        write_if_changed(folder / name, text)


main()
