"""Which names of files a job may have: relative, and inside the folder where it runs. Clients: lines, execution."""

MOST_NAMES = 10_000


def why_bad_name(name):
    """What is wrong with NAME as a file of a job's folder, or None."""
    if not isinstance(name, str) or not name:
        return "it is empty or not a text"
    if "\0" in name:
        return "it holds a NUL"
    try:
        parts = [part.encode() for part in name.split("/")]
    except UnicodeEncodeError:
        return "it is not UTF-8"
    if not parts[0]:
        return "it is absolute"
    if any(part in (b"", b".", b"..") for part in parts):
        return "a part of it is empty, '.' or '..'"
    if max(map(len, parts)) > 255 or sum(map(len, parts)) + len(parts) > 2048:
        return "it is too long"
    return None


def why_bad_names(files, result):
    """What is wrong with the names of FILES, and RESULT among them, or None."""
    if len(files) > MOST_NAMES:
        return f"a job of {len(files)} files; at most {MOST_NAMES} are sent"
    names = {*files, result}
    for name in names:
        why = why_bad_name(name)
        if why:
            return f"{name[:200]!r} is no name for a file of a job: {why}; expected one inside the job's folder"
    if result in files:
        return f"the result {result!r} is also a file that is sent; give it another name"
    for name in names:
        parts = name.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in names:
                return f"{name!r} lies below another file of the job; a file is no folder"
    return None
