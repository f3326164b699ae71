#!/usr/bin/env python3
"""Writes scipy_cases.txt beside it: random samples with what SciPy makes of them, for tests/unit/statistics. It needs
numpy and scipy; the file says which versions wrote it. A line is a case:

    wilcoxon ALTERNATIVE ZEROS exact|approximate P W+ | A… | B…
    mann-whitney ALTERNATIVE exact|approximate P U | A… | B…
    mcnemar ALTERNATIVE exact|approximate P STATISTIC | ONLY_A ONLY_B
    rate wilson|exact CONFIDENCE LOW HIGH | K N
    holm | P… | ADJUSTED…
    bootstrap percentile|bca mean|median LOW HIGH | A… | B…        (of the difference; by 200,000 resamples)

Where SciPy has no exact p (ties, zeros), all permutations are enumerated here.
"""
import itertools
from pathlib import Path

import numpy
import scipy
from scipy import stats

SEED = 20261126
rng = numpy.random.default_rng(SEED)
lines = []


def numbers(values):
    return " ".join(repr(float(v)).removesuffix(".0") for v in values)


def add(head, *lists):
    lines.append(" | ".join([head] + [numbers(values) for values in lists]))


def tails(alternative, sums, observed):
    at_most, at_least = numpy.mean(sums <= observed + 1e-9), numpy.mean(sums >= observed - 1e-9)
    return {"less": at_most, "greater": at_least, "two-sided": min(1, 2 * min(at_most, at_least))}[alternative]


def samples(n, m, kind):
    """continuous: no ties; coarse: ties and zeros."""
    if kind == "continuous":
        return rng.normal(0, 1, n).round(6), rng.normal(0.4, 1.2, m).round(6)
    return rng.integers(0, 6, n).astype(float), rng.integers(0, 7, m).astype(float)


def wilcoxon(a, b, alternative, zeros, exact):
    d = a - b
    kept = d if zeros == "pratt" else d[d != 0]
    ranks = stats.rankdata(abs(kept))
    ranks, signs = ranks[kept != 0], numpy.sign(kept[kept != 0])
    w_plus = ranks[signs > 0].sum()
    if len(ranks) == 0:
        return
    plain = len(set(abs(d))) == len(d) and (d != 0).all()
    if exact and plain:
        p = stats.wilcoxon(a, b, alternative=alternative, method="exact").pvalue
    elif exact:
        sums = numpy.zeros(1)
        for rank in ranks:
            sums = numpy.concatenate([sums, sums + rank])
        p = tails(alternative, sums, w_plus)
    else:
        # Half a rank around the mean SciPy turns the correction's sign round; we say 1.
        if abs(w_plus - ranks.sum() / 2) < 0.5:
            return
        p = stats.wilcoxon(a, b, zero_method=zeros, alternative=alternative, method="asymptotic",
                           correction=True).pvalue
    add(f"wilcoxon {alternative} {zeros} {'exact' if exact else 'approximate'} {p!r} {w_plus!r}".replace(
        "np.float64(", "").replace(")", ""), a, b)


def mann_whitney(a, b, alternative, exact):
    both = numpy.concatenate([a, b])
    ranks = stats.rankdata(both)
    u = ranks[:len(a)].sum() - len(a) * (len(a) + 1) / 2
    if exact and len(set(both)) < len(both):
        sums = numpy.array([sum(choice) for choice in itertools.combinations(ranks, len(a))])
        p = tails(alternative, sums, ranks[:len(a)].sum())
    else:
        p = stats.mannwhitneyu(a, b, alternative=alternative, method="exact" if exact else "asymptotic").pvalue
    add(f"mann-whitney {alternative} {'exact' if exact else 'approximate'} {float(p)!r} {float(u)!r}", a, b)


ALTERNATIVES = ["two-sided", "less", "greater"]
for i in range(150):
    alternative, zeros = ALTERNATIVES[i % 3], ["wilcox", "pratt"][i // 3 % 2]
    kind, exact = ["continuous", "coarse"][i // 6 % 2], i % 5 != 0
    n = int(rng.integers(1, 15 if kind == "coarse" else 46)) if exact else int(rng.integers(12, 90))
    wilcoxon(*samples(n, n, kind), alternative, zeros, exact)
for i in range(150):
    alternative = ALTERNATIVES[i % 3]
    kind, exact = ["continuous", "coarse"][i // 3 % 2], i % 5 != 0
    largest = 9 if exact and kind == "coarse" else 30 if exact else 70
    mann_whitney(*samples(int(rng.integers(1, largest)), int(rng.integers(1, largest)), kind), alternative, exact)
for i in range(45):
    alternative, exact = ALTERNATIVES[i % 3], i % 2 == 0
    a, b = (int(x) for x in rng.integers(0, 60 if exact else 3000, 2))
    if a + b == 0 or a == b:
        continue
    if exact:
        p, statistic = stats.binomtest(a, a + b, 0.5, alternative=alternative).pvalue, min(a, b)
    else:
        statistic = (abs(a - b) - 1) ** 2 / (a + b)
        p = stats.chi2.sf(statistic, 1)
        if alternative != "two-sided":
            z = (a - b + (1 if alternative == "less" else -1)) / numpy.sqrt(a + b)
            p = stats.norm.cdf(z) if alternative == "less" else stats.norm.sf(z)
    add(f"mcnemar {alternative} {'exact' if exact else 'approximate'} {float(p)!r} {float(statistic)!r}", [a, b])
for i in range(40):
    method, confidence = ["wilson", "exact"][i % 2], [0.9, 0.95, 0.99][i % 3]
    n = int(rng.integers(1, 20 if i < 20 else 50000))
    k = {0: 0, 1: n}.get(i % 10, int(rng.integers(0, n + 1)))
    interval = stats.binomtest(k, n).proportion_ci(confidence, method)
    add(f"rate {method} {confidence} {float(interval.low)!r} {float(interval.high)!r}", [k, n])
for i in range(20):
    p = rng.uniform(0, 0.3, int(rng.integers(1, 12))).round(2 if i % 2 else 6)
    order, adjusted = numpy.argsort(p, kind="stable"), numpy.zeros(len(p))
    for place, at in enumerate(order):
        adjusted[at] = min(1, max((len(p) - j) * p[order[j]] for j in range(place + 1)))
    add("holm", p, adjusted)
for i in range(8):
    method, center = ["percentile", "bca"][i % 2], ["mean", "median"][i // 2 % 2]
    a, b = rng.exponential(1, int(rng.integers(12, 30))).round(4), rng.normal(0.5, 1, int(rng.integers(12, 30))).round(4)
    of = getattr(numpy, center)
    result = stats.bootstrap((a, b), lambda x, y, axis: of(x, axis=axis) - of(y, axis=axis), n_resamples=200000,
                             batch=10000, method="BCa" if method == "bca" else method, rng=rng)
    interval = result.confidence_interval
    add(f"bootstrap {method} {center} {float(interval.low)!r} {float(interval.high)!r}", a, b)

path = Path(__file__).with_name("scipy_cases.txt")
path.write_text(f"# By make_scipy_cases.py: SciPy {scipy.__version__}, NumPy {numpy.__version__}, seed {SEED}.\n" +
                "\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} cases, {path.stat().st_size} bytes")
