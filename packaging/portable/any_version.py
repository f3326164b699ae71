#!/usr/bin/env python3
"""Lets a shared library load where the C library has its functions under older versions: any_version.py LIBRARY VERSION

Symbols that are needed with VERSION (GLIBC_2.34) are then taken with any, and the version itself is not asked for. For
functions that only moved from one library of glibc to another, as pthread_once did in 2.34. Changes the file in place.
"""
import struct
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

ANY = 1  # VER_NDX_GLOBAL
AUXILIARY = struct.Struct("<IHHII")  # Elf64_Vernaux: hash, flags, index, name, next
NEED = struct.Struct("<HHIII")  # Elf64_Verneed: version, count, file, auxiliary, next


def drop(content, begin, name_at, version):
    """Takes the version off the lists of the section that begins there; returns its indices."""
    at, dropped = begin, []
    while True:
        revision, count, file, first, following = NEED.unpack_from(content, at)
        link = at + 8  # where the offset of the next auxiliary entry stands: of the first one in the list's head
        base, place = at, at + first
        for _ in range(count):
            fields = AUXILIARY.unpack_from(content, place)
            if name_at(fields[3]) == version:
                dropped.append(fields[2])
                struct.pack_into("<I", content, link, place + fields[4] - base if fields[4] else 0)
                NEED.pack_into(content, at, revision, NEED.unpack_from(content, at)[1] - 1, file,
                               NEED.unpack_from(content, at)[3], following)
            else:
                link, base = place + 12, place
            place += fields[4]
        if not following:
            return dropped
        at += following


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, version = Path(sys.argv[1]), sys.argv[2]
    content = bytearray(path.read_bytes())
    with path.open("rb") as file:
        elf = ELFFile(file)
        names = elf.get_section_by_name(".dynstr").get_string
        dropped = drop(content, elf.get_section_by_name(".gnu.version_r")["sh_offset"], names, version)
        if not dropped:
            sys.exit(f"{path} needs nothing of {version}")
        versions = elf.get_section_by_name(".gnu.version")
        for at in range(versions["sh_offset"], versions["sh_offset"] + versions["sh_size"], 2):
            if struct.unpack_from("<H", content, at)[0] in dropped:
                struct.pack_into("<H", content, at, ANY)
    path.write_bytes(content)


if __name__ == "__main__":
    main()
