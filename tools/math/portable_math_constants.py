#!/usr/bin/python3
"""Prints the constants of core/numerics/portable_*.cpp, each exact number
as a double and a second one for what the first leaves over. Needs python3-mpmath.
"""
from mpmath import atan, erf, exp, floor, log, mp, mpf, pi, sqrt

mp.prec = 1400


def wide(x):
    high = float(x)
    return f"{{{high.hex()}, {float(x - mpf(high)).hex()}}}"


def rows(name, kind, values, count=None):
    print(f"constexpr {kind} {name}[{count or len(values)}] = {{")
    for value in values:
        print(f"    {value},")
    print("};")



print(f"constexpr Wide ln_2 = {wide(log(2))};")
print("// ln 2 as a number of 32 bits, so that n·ln_2_short is exact for n of 11 bits, and the rest.")
short = mpf(floor(log(2) * 2**32)) / 2**32
print(f"constexpr double ln_2_short = {float(short).hex()};")
print(f"constexpr double ln_2_rest = {float(log(2) - short).hex()};")
print(f"constexpr double log2_e = {float(1 / log(2)).hex()};")
print(f"constexpr Wide half_pi = {wide(pi / 2)};")
print(f"constexpr Wide two_over_root_pi = {wide(2 / sqrt(pi))};")
print("// atan(k/8).")
rows("atan_eighths", "Wide", [wide(atan(mpf(k) / 8)) for k in range(9)])
print("// erf(k/4) and its slope there, 2/√π·e^(−k²/16).")
rows("erf_quarters", "ErfPoint",
     [f"{{{wide(erf(mpf(k) / 4))}, {wide(2 / sqrt(pi) * exp(-(mpf(k) / 4) ** 2))}}}"
      for k in range(25)])
print("// The bits of 2/π behind the point, 32 at a time.")
words = [int(floor(2 / pi * mpf(2) ** (32 * (i + 1)))) & 0xFFFFFFFF for i in range(38)]
lines = [", ".join(f"0x{w:08x}" for w in words[i:i + 8]) for i in range(0, 38, 8)]
rows("two_over_pi", "std::uint32_t", lines, len(words))
