"""The tables of docs/wild.md from the results of tools/wild."""
import re

SIGNS = {"identical": "=", "rounding": "~", "suspect": "?", "fault": "✗", "unjudged": "·"}
# Refusals that say which operator or type is missing.
MISSING = re.compile(r"is not known|is not supported|not supported|has no|cannot express|unsupported|no way to", re.I)


def row(cells) -> str:
    return f"| {' | '.join(cells)} |"


def table(head, rows):
    return [row(head), row(["---"] + [":-:"] * (len(head) - 1)), *rows]


def sign(result) -> str:
    if result is None:
        return "–"
    return "✓" if result["status"] in (0, 1) and "error" not in result else "**no**"


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f}".replace(",", " ")


def verdicts(result, target) -> str:
    side = result.get("targets", {}).get(target)
    if side is None or "error" in side:
        return "–"
    bad = {verdict: count for verdict, count in side["layers"].items() if verdict in ("fault", "suspect", "unjudged")}
    return " ".join([SIGNS[side["verdict"]], *(f"{count} {verdict}" for verdict, count in sorted(bad.items()))])


def lines(results) -> list[str]:
    """Markdown."""
    engines = sorted({name for result in results.values() for name in result if name.startswith("run ")},
                     key=lambda name: (not name.startswith("run pc"), name))
    out = ["### Loads and runs as it is", "", *table(
        ["model", "loads", *(f"`{name[4:]}`" for name in engines), "strict with `--input`", "ort with `--input`"],
        [row([name, sign(result.get("load")), *(sign(result.get(engine)) for engine in engines),
              sign(result.get("input pc/strict")), sign(result.get("input pc/ort"))])
         for name, result in results.items()])]
    comparisons = {name: result["compare"] for name, result in results.items() if "compare" in result}
    targets = list(dict.fromkeys(target for one in comparisons.values() for target in one.get("targets", {})))
    out += ["", "### Compared on five targets", "", *table(
        ["model", "seconds", "our memory, MB", "browsers', MB", *(f"`{target}`" for target in targets)],
        [row([name, f"{one['seconds']:.0f}", megabytes(one["own_bytes"]), megabytes(one["browser_bytes"]),
              *(verdicts(one, target) for target in targets)]) for name, one in comparisons.items()])]
    out += ["", "### Exported", "", *table(
        ["model", "TensorFlow.js", "TFLite"],
        [row([name, sign(result.get("export tfjs")), sign(result.get("export tflite"))])
         for name, result in results.items() if "export tfjs" in result])]
    out += ["", "### Why not", ""]
    reasons = {}
    for name, result in results.items():
        for command, one in result.items():
            if isinstance(one, dict) and "error" in one and (command != "compare" or not one.get("targets")):
                reasons.setdefault(one["error"].replace(name, "…"), []).append(f"{name} ({command})")
            for target, side in one.get("targets", {}).items() if isinstance(one, dict) else ():
                if "error" in side:
                    reasons.setdefault(str(side["error"]), []).append(f"{name} (compare, {target})")
    out += [f"- {', '.join(dict.fromkeys(where))}: {reason}" for reason, where in reasons.items()]
    layers = {}
    for name, one in comparisons.items():
        for target, side in one.get("targets", {}).items():
            for bad in side.get("bad", []):
                layers.setdefault((bad["verdict"], bad["op"], bad["reason"]), []).append(
                    f"{name} {bad['node']} on {target}")
    if layers:
        out += ["", "### Layers that are not right within rounding", ""]
        out += [f"- {verdict}, {op}: {reason or 'beyond its budget'} ({len(where)}: {where[0]}"
                f"{', …' if len(where) > 1 else ''})" for (verdict, op, reason), where in sorted(layers.items())]
    return out


def unexplained(results) -> list[str]:
    """Models that do not load or run, and nothing is named that is missing."""
    return [f"{name}: {command}" for name, result in results.items() for command, one in result.items()
            if isinstance(one, dict) and "error" in one and not MISSING.search(str(one["error"]))
            and (command == "load" or command.startswith("run pc"))]
