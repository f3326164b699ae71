#!/usr/bin/python3
"""Writes tests/data/pictures: small PNG and JPEG files, and what Pillow makes of them.

The picture is drawn here; no photograph is in it. Pillow's own decoding of the JPEG files is stored
as PNG beside them (decoders may differ by a few levels), and the resized ones are Pillow's, which
Driftscope reproduces to the last bit.
"""
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

FOLDER = Path(__file__).resolve().parents[2] / "tests/data/pictures"


def drawing(height, width):
    """Soft colours, an edge and some noise, seeded."""
    row, column = np.indices((height, width))
    planes = [120 + 90 * np.sin(column / 5), 40 + 5 * row, 200 - 3 * column - 2 * row]
    picture = np.stack(planes, 2) + np.random.default_rng(7).normal(scale=6, size=(height, width, 3))
    picture[8:20, 10:25] = (250, 20, 60)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows):
    """A PNG of raw rows, each with its filter byte, for what Pillow does not write."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    colour = Image.fromarray(drawing(29, 37))
    gray = colour.convert("L")
    colour.save(FOLDER / "colour.png")
    gray.save(FOLDER / "gray.png")
    colour.quantize(40).save(FOLDER / "palette.png")
    colour.quantize(40).convert("RGB").save(FOLDER / "palette-decoded.png")
    colour.convert("RGBA").save(FOLDER / "opaque.png")
    see_through = colour.convert("RGBA")
    see_through.putpixel((3, 2), (1, 2, 3, 254))
    see_through.save(FOLDER / "transparent.png")
    (FOLDER / "gray16.png").write_bytes(png(2, 1, 16, 0, b"\0\0\1\0\2"))
    for name, picture, options in [("baseline", colour, {"subsampling": 0}),
                                   ("subsampled", colour, {"subsampling": 2}),
                                   ("progressive", colour, {"progressive": True}),
                                   ("gray", gray, {}), ("cmyk", colour.convert("CMYK"), {})]:
        picture.save(FOLDER / f"{name}.jpg", quality=90, **options)
        if name != "cmyk":
            Image.open(FOLDER / f"{name}.jpg").save(FOLDER / f"{name}-jpg-decoded.png")
    for width, height in [(17, 13), (61, 50), (37, 11), (8, 29)]:
        colour.resize((width, height), Image.BILINEAR).save(FOLDER / f"colour-{height}x{width}.png")
    gray.resize((5, 40), Image.BILINEAR).save(FOLDER / "gray-40x5.png")


if __name__ == "__main__":
    main()
