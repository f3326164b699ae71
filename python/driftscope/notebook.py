"""What a notebook shows beside tables: the drift chart of a report, and a link to it. Client: api."""
import html
import os
import re
import sys
from pathlib import Path

CHART_HEIGHT = 470  # CSS pixels: the figure with its caption and legend


def in_notebook():
    """Whether results are shown in a notebook: IPython runs with a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None


def report_view(path):
    """HTML of the report's first chart of drift, and of a link to the report; of the link alone where it has none."""
    try:
        page = Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
    return _chart(page) + _link(path)


def _chart(page):
    figure = re.search(r'<section[^>]* aria-labelledby="drift".*?(<figure>.*?</figure>)', page, re.DOTALL)
    if not figure:
        return ""
    style = "".join(re.findall(r"<style>.*?</style>", page, re.DOTALL))
    document = f"<!doctype html><meta charset=utf-8>{style}<style>body{{margin:0;padding:4px}}</style>{figure[1]}"
    # In a frame its style stays its own; without scripts.
    return (f'<iframe srcdoc="{html.escape(document)}" sandbox title="drift by layer"'
            f' style="width:100%;height:{CHART_HEIGHT}px;border:0"></iframe>')


def _link(path):
    # A notebook's page reaches files below its own folder only.
    shown = os.path.relpath(path)
    return f'<p><a href="{html.escape(shown)}" target="_blank">the report</a> ({html.escape(shown)})</p>'
