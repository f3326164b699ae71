#!/usr/bin/env python3
"""Makes C++ of the schemas of documents: documents.py FOLDER METRICS_TABLE OUT writes OUT/NAME.hpp for each schema
FOLDER/NAME.json that has "cpp". Files are only written when they change. A mistake in a schema ends it with a message.
What else is made of them: tools/documents."""

import pathlib
import sys

sys.dont_write_bytecode = True

from documents_cpp import Cpp  # noqa: E402
from documents_schema import Documents  # noqa: E402


def main():
    folder, metrics_table, out = map(pathlib.Path, sys.argv[1:])
    try:
        headers = Cpp(Documents(folder, metrics_table)).headers()
    except (ValueError, KeyError) as error:
        sys.exit(f"{folder}: {error}")
    out.mkdir(parents=True, exist_ok=True)
    for name, text in headers.items():
        path = out / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


main()
