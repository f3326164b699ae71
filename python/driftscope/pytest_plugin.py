"""For pytest: the fixture `agrees_with`, which comes with the package.

    def test_the_browsers_compute_what_the_pc_computes(agrees_with):
        agrees_with("model.onnx", right=["chrome/ort", "firefox/ort"], fail_on="fault,top1")

Skips where a browser or a runtime is missing here, unless DRIFTSCOPE_REQUIRED is set: in a pipeline that must not be
taken for a pass.
"""
import os

import pytest

from .program import call_json, existing_file, reference_target

MISSING = 3  # the program's exit code where something is not on the machine


def check(model, right, left=None, fail_on="fault,top1", inputs=(), report=None, timeout=None, arguments=()):
    """Compares MODEL on LEFT and RIGHT (targets, or a list); raises AssertionError with every check that failed.

    inputs: as --input takes them (`seed:42`, `x=file.npy`), one or a list. arguments: more of `driftscope compare`.
    Returns the object of `driftscope compare --json`.
    """
    __tracebackhide__ = True

    def several(value):
        return [value] if isinstance(value, str) else list(value)

    command = ["compare", existing_file(model, "the ONNX model"), "--left", left or reference_target(),
               "--right", ",".join(several(right)), "--fail-on", ",".join(several(fail_on)), "--quiet", *arguments]
    for one in several(inputs):
        command += ["--input", one]
    if report:
        command += ["--report", os.fspath(report)]
    result = call_json(command, "driftscope-compare-1", timeout)
    gate = result["gate"]
    bad = [*gate["failures"], *gate["errors"]]
    if bad:
        lines = [f"  {one['target']}  {one['name']}: {one['message']}" for one in bad[:20]]
        more = f"\n  … and {len(bad) - 20} more" if len(bad) > 20 else ""
        raise AssertionError(f"{result['headline']}\n" + "\n".join(lines) + more)
    return result


@pytest.fixture
def agrees_with():
    """A function: check() of this module."""
    from .errors import ProgramFailed

    def agrees(model, right, **options):
        __tracebackhide__ = True
        try:
            return check(model, right, **options)
        except ProgramFailed as error:
            if error.status == MISSING and not os.environ.get("DRIFTSCOPE_REQUIRED"):
                pytest.skip(str(error))
            raise
    return agrees
