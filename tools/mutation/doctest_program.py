"""What is asked of a doctest program, and what it answers. Clients: baseline.py, trial.py."""
import os
import re
import xml.etree.ElementTree
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    file: str  # from the root of the tree
    seconds: float
    passed: bool


def cases_of_report(text, root, folder):
    """All cases of an XML report (-r=xml) that ran. `folder`: where the program was built, from which paths may count."""
    found = []
    for element in xml.etree.ElementTree.fromstring(text).iter("TestCase"):
        result = element.find("OverallResultsAsserts")
        if result is not None and element.get("skipped") != "true":
            file = os.path.relpath(os.path.join(folder, element.get("filename")), root)
            passed = result.get("test_case_success") == "true"
            found.append(Case(element.get("name"), file, float(result.get("duration", 0)), passed))
    return found


def arguments(files=(), without=(), names=()):
    """The options for the cases of these files (all, if none), without some, or for cases by their names."""
    options = ["--no-intro", "--no-colors", "--abort-after=1"]
    if files:
        options.append("--source-file=" + ",".join("*" + _pattern(file) for file in files))
    if names:
        options.append("--test-case=" + ",".join(map(_pattern, names)))
    if without:
        options.append("--test-case-exclude=" + ",".join(map(_pattern, without)))
    return options


def _pattern(text):
    """A filter that text matches: commas separate filters; backslashes, which escape them, match as any character."""
    return text.replace("\\", "?").replace(",", "\\,")


def failed_case(output):
    """The name of the first case that failed, as the console reporter tells it."""
    match = re.search(r"^TEST CASE:  (.*)$", output, re.M)
    return match[1] if match else None
