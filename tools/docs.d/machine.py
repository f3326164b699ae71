"""This machine in words for a stamp: processors, their widest instructions, GPU, and the browsers it has."""
import os
import pathlib
import re

import targets

WIDEST = (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON"))


def processors(cpuinfo: str, count: int) -> str:
    """From /proc/cpuinfo: "2 × AMD EPYC, AVX-512"."""
    model = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    words = re.sub(r"\((R|TM)\)|\bCPU\b|\bProcessor\b|@.*", "", model[1]) if model else "processor"
    flags = re.search(r"^(?:flags|Features)\s*: (.*)$", cpuinfo, re.MULTILINE)
    known = set(flags[1].split()) if flags else set()
    widest = [title for flag, title in WIDEST if flag in known][:1]
    return ", ".join([f"{count} × {' '.join(words.split())}", *widest])


def has_gpu() -> bool:
    return any(pathlib.Path(path).exists() for path in ("/dev/dri/renderD128", "/dev/nvidia0"))


def browsers() -> list[str]:
    """Their names and versions, as `driftscope doctor` has them."""
    found = targets.findings()
    names = [found[what].split(" (")[0] for what in targets.BROWSERS if what in found]
    special = {what.rpartition(" ")[2]: detail for what, detail in found.items() if " with " in what}
    return names + [f"{detail.split(' (')[0]} for {feature}" for feature, detail in special.items()]


def in_words(with_browsers: bool) -> str:
    text = processors(pathlib.Path("/proc/cpuinfo").read_text(), len(os.sched_getaffinity(0)))
    parts = [text, "a GPU" if has_gpu() else "no GPU", *(browsers() if with_browsers else [])]
    return ", ".join(parts).replace('"', "'")
