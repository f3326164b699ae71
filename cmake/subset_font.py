#!/usr/bin/env python3
"""Keeps of a TrueType font what the GUI draws: subset_font.py FONT OUT RANGE… with ranges such as 0x20-0x17f writes a font
with the outlines and widths of these characters. Its tables for layout (GPOS, GSUB) are left out: Dear ImGui reads none of
them. Every visitor of the page fetches the font with the GUI. Client: cmake/imgui.cmake."""

import pathlib
import struct
import sys

KEPT_AS_THEY_ARE = (b"OS/2", b"name")  # the name and the owner of the font
COMPONENT_WORDS, COMPONENT_SCALE, COMPONENT_MORE = 0x0001, 0x0008, 0x0020
COMPONENT_TWO_SCALES, COMPONENT_MATRIX, COMPONENT_INSTRUCTIONS = 0x0040, 0x0080, 0x0100


def tables_of(font):
    if font[:4] not in (b"\0\1\0\0", b"true"):
        raise ValueError(f"expected a TrueType font, found {font[:4]!r}")
    tables = {}
    for i in range(struct.unpack_from(">H", font, 4)[0]):
        tag, _, offset, length = struct.unpack_from(">4sIII", font, 12 + 16 * i)
        if offset + length > len(font):
            raise ValueError(f"table {tag!r} ends at {offset + length} of {len(font)} bytes")
        tables[tag] = font[offset : offset + length]
    missing = {b"cmap", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp"} - set(tables)
    if missing:
        raise ValueError(f"without the tables {sorted(missing)}")
    return tables


def characters_of(cmap):
    """Character → glyph, of the table in format 4 for Unicode's first plane."""
    for i in range(struct.unpack_from(">H", cmap, 2)[0]):
        platform, encoding, at = struct.unpack_from(">HHI", cmap, 4 + 8 * i)
        if (platform, encoding) in ((3, 1), (0, 3)) and struct.unpack_from(">H", cmap, at)[0] == 4:
            break
    else:
        raise ValueError("no character map in format 4")
    count = struct.unpack_from(">H", cmap, at + 6)[0] // 2
    glyphs = {}
    for i in range(count):
        end, first, delta, offset = (
            struct.unpack_from(">H", cmap, at + start + 2 * i)[0]
            for start in (14, 16 + 2 * count, 16 + 4 * count, 16 + 6 * count)
        )
        for character in range(first, min(end, 0xFFFE) + 1):
            glyph = character
            if offset:
                place = at + 16 + 6 * count + 2 * i + offset + 2 * (character - first)
                glyph = struct.unpack_from(">H", cmap, place)[0]
                if glyph == 0:
                    continue
            glyphs[character] = (glyph + delta) & 0xFFFF
    return glyphs


def components_of(outline):
    """Where the numbers of its parts are, of a glyph that is composed of others."""
    if len(outline) < 10 or struct.unpack_from(">h", outline)[0] >= 0:
        return
    at = 10
    while True:
        flags = struct.unpack_from(">H", outline, at)[0]
        yield at + 2
        at += 8 if flags & COMPONENT_WORDS else 6
        at += 2 * bool(flags & COMPONENT_SCALE) + 4 * bool(flags & COMPONENT_TWO_SCALES)
        at += 8 * bool(flags & COMPONENT_MATRIX)
        if not flags & COMPONENT_MORE:
            return


def character_map(characters, numbers):
    """A table cmap in format 12."""
    groups = []
    for character in sorted(characters):
        glyph = numbers[characters[character]]
        if groups and groups[-1][1] + 1 == character and groups[-1][2] + character - groups[-1][0] == glyph:
            groups[-1][1] = character
        else:
            groups.append([character, character, glyph])
    body = b"".join(struct.pack(">III", *group) for group in groups)
    head = struct.pack(">HHHHI", 0, 1, 3, 10, 12)
    return head + struct.pack(">HHIII", 12, 0, 16 + len(body), 0, len(groups)) + body


def subset(font, wanted):
    tables = tables_of(font)
    long_places = struct.unpack_from(">h", tables[b"head"], 50)[0] == 1
    count = struct.unpack_from(">H", tables[b"maxp"], 4)[0]
    places = [p if long_places else 2 * p for p in
              struct.unpack_from(f">{count + 1}{'I' if long_places else 'H'}", tables[b"loca"])]
    outline = lambda glyph: tables[b"glyf"][places[glyph] : places[glyph + 1]]  # noqa: E731
    widths = struct.unpack_from(">H", tables[b"hhea"], 34)[0]

    def measures(glyph):
        width = struct.unpack_from(">H", tables[b"hmtx"], 4 * min(glyph, widths - 1))[0]
        bearing = 4 * glyph + 2 if glyph < widths else 4 * widths + 2 * (glyph - widths)
        return struct.pack(">H", width) + tables[b"hmtx"][bearing : bearing + 2]

    characters = {c: g for c, g in characters_of(tables[b"cmap"]).items() if c in wanted}
    kept = [0]  # what is drawn where the font has no glyph
    numbers = {0: 0}

    def keep(glyph):
        if glyph not in numbers:
            numbers[glyph] = len(kept)
            kept.append(glyph)

    for character in sorted(characters):
        keep(characters[character])
    for glyph in kept:  # grows: parts of parts
        for at in components_of(outline(glyph)):
            keep(struct.unpack_from(">H", outline(glyph), at)[0])

    outlines = b""
    new_places = [0]
    for glyph in kept:
        one = bytearray(outline(glyph))
        for at in components_of(bytes(one)):
            struct.pack_into(">H", one, at, numbers[struct.unpack_from(">H", one, at)[0]])
        outlines += bytes(one) + b"\0" * (-len(one) % 4)
        new_places.append(len(outlines))
    head = bytearray(tables[b"head"])
    struct.pack_into(">I", head, 8, 0)  # a checksum of the whole, which readers like ours ignore
    struct.pack_into(">h", head, 50, 1)
    made = {
        b"cmap": character_map(characters, numbers),
        b"glyf": outlines,
        b"head": bytes(head),
        b"hhea": tables[b"hhea"][:34] + struct.pack(">H", len(kept)),
        b"hmtx": b"".join(map(measures, kept)),
        b"loca": struct.pack(f">{len(new_places)}I", *new_places),
        b"maxp": tables[b"maxp"][:4] + struct.pack(">H", len(kept)) + tables[b"maxp"][6:],
    }
    made.update({tag: tables[tag] for tag in KEPT_AS_THEY_ARE if tag in tables})
    return joined(made)


def joined(tables):
    top = 1 << (len(tables).bit_length() - 1)
    head = struct.pack(">IHHHH", 0x00010000, len(tables), 16 * top, top.bit_length() - 1, 16 * (len(tables) - top))
    body = b""
    for tag in sorted(tables):
        table = tables[tag]
        padded = table + b"\0" * (-len(table) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        head += struct.pack(">4sIII", tag, checksum, 12 + 16 * len(tables) + len(body), len(table))
        body += padded
    return head + body


def main():
    source, out, *ranges = sys.argv[1:]
    wanted = set()
    for one in ranges:
        first, last = (int(end, 16) for end in one.split("-"))
        wanted.update(range(first, last + 1))
    try:
        font = subset(pathlib.Path(source).read_bytes(), wanted)
    except (ValueError, struct.error, IndexError) as error:
        sys.exit(f"{source}: {error}")
    pathlib.Path(out).write_bytes(font)


main()
