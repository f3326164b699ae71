"""The tables of docs/museum.md. Client: tools/museum."""


def code(target: str) -> str:
    return f"`{target}`"


def wrong_text(exhibit: dict, side: dict) -> str:
    if "layer" not in side:
        return side.get("error") or side["verdict"]
    return f"{side['layer_verdict']} at {side['layer']} ({side['op']})"


def cause_text(side: dict) -> str:
    if side.get("cause"):
        cause = side["cause"]
        return f"`{cause['id']}`: {cause['text']}"
    pattern = (side.get("pattern") or {}).get("text")
    return f"not in the catalogue; wrong: {pattern}" if pattern else "not in the catalogue"


def shown(exhibit: dict) -> bool:
    return exhibit.get("reproduced", True)


def lines(exhibits: dict[str, dict], results: dict[str, dict]) -> list[str]:
    good = {name for name, result in results.items() if not (result.get("failed") or result["problem"])}
    reproduced = [name for name in results if shown(exhibits[name])]
    out = [f"{sum(name in good for name in reproduced)} of {len(reproduced)} exhibits show what they say.", "",
           "| exhibit | fault | wrong on | right on | verdict | why |", "| --- | --- | --- | --- | --- | --- |"]
    for name in reproduced:
        exhibit, result = exhibits[name], results[name]
        title = exhibit["title"] + (f" ({exhibit['report']})" if "report" in exhibit else "")
        if name in good:
            verdict, why = wrong_text(exhibit, result["wrong"]), cause_text(result["wrong"])
        else:
            verdict, why = "**not shown**", result.get("failed") or result["problem"]
        out.append(f"| `{name}` | {title} | {code(exhibit['wrong'])} | {code(exhibit['right'])} | {verdict} | {why} |")
    others = [name for name in results if not shown(exhibits[name])]
    if others:
        out += ["", "Not reproduced here:", ""]
    for name in others:
        exhibit, result = exhibits[name], results[name]
        report = f" ({exhibit['report']})" if "report" in exhibit else ""
        ran = result.get("failed") or result["problem"] or f"{code(exhibit['wrong'])} is right here"
        out.append(f"- {exhibit['title']}{report}: {exhibit.get('note', '')} {ran}.")
    return out
