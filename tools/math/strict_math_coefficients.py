#!/usr/bin/python3
"""Prints the polynomial coefficients of core/numerics/strict_math_formulas.inc.

Each polynomial is fitted to a minimax error (Lawson's reweighted least squares on Chebyshev nodes).
Its coefficients are rounded to binary32 one by one, lowest first, and the rest fitted again, so that
the later ones make up for the rounding of the earlier ones. Needs python3-numpy.
"""
import math

import numpy as np


def exp_tail(r):
    """(exp(r) - 1 - r) / r^2, by its series: no cancellation near 0."""
    return sum(r**i / float(math.factorial(i + 2)) for i in range(20))


def tanh_tail(z):
    """(tanh(x)/x - 1) / x^2 as a function of z = x^2."""
    x = np.sqrt(np.maximum(z, 1e-30))
    series = -1 / 3 + z * (2 / 15 + z * (-17 / 315 + z * (62 / 2835 - z * 1382 / 155925)))
    direct = (np.tanh(x) / x - 1) / np.maximum(z, 1e-30)
    return np.where(z < 1e-2, series, direct)


def erf_tail(z):
    """erf(x)/x - 1 as a function of z = x^2, by its series."""
    terms = ((-z) ** n / (float(math.factorial(n)) * (2 * n + 1)) for n in range(25))
    return 2 / math.sqrt(math.pi) * sum(terms) - 1


def erfc(t):
    return np.array([math.erfc(x) for x in t])


def erfc_exponent(t):
    """-ln(1 - erf(t))/t."""
    return -np.log(erfc(t)) / t


def fit(function, low, high, degree, weight):
    nodes = np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    x = (low + high) / 2 + (high - low) / 2 * nodes
    wanted, scale = function(x), weight(x)
    rounded = []
    for first in range(degree + 1):
        known = sum(c * x**i for i, c in enumerate(rounded))
        powers = np.stack([x**i for i in range(first, degree + 1)], axis=1)
        lawson = np.ones_like(x)
        for _ in range(60):
            root = np.sqrt(lawson) * scale
            solution = np.linalg.lstsq(powers * root[:, None], (wanted - known) * root, rcond=None)[0]
            error = np.abs((powers @ solution + known - wanted) * scale)
            lawson *= error / error.max() + 1e-6
            lawson /= lawson.sum()
        rounded.append(float(np.float32(solution[0])))
    error = np.abs(sum(c * x**i for i, c in enumerate(rounded)) - wanted) * scale
    print(f"  largest weighted error 2^{math.log2(error.max()):.2f}")
    for i, c in enumerate(rounded):
        print(f"  c{i} = {c.hex()}")


print("exp: (e^r - 1 - r)/r^2, |r| <= 0.3475; error weighted as part of e^r")
fit(exp_tail, -0.3475, 0.3475, 5, lambda r: r**2 / np.exp(r))
print("tanh: (tanh x / x - 1)/x^2 in z = x^2, |x| <= 0.625; error weighted relative to tanh x")
fit(tanh_tail, 0.0, 0.625**2, 5, lambda z: z)
print("erf: erf(x)/x - 1 in z = x^2, |x| <= 1; error weighted relative to erf x")
fit(erf_tail, 0.0, 1.0, 6, lambda z: 1 / (1 + erf_tail(z)))
print("erf: -ln(1 - erf x)/x, 1 <= x <= 3.9375; error weighted relative to erf x")
fit(erfc_exponent, 1.0, 3.9375, 6, lambda t: t * erfc(t) / (1 - erfc(t)))
ln2 = 0.693147180559945309417232121458
high = math.floor(ln2 * 2**16) / 2**16
print("ln 2 =", high.hex(), "+", float(np.float32(ln2 - high)).hex())
print("log2 e =", float(np.float32(1 / ln2)).hex())
