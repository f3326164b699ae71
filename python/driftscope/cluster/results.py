"""The results of jobs, in the folder that the program named: KEY.json, whole or not there. Client: controller."""
import os
import tempfile


def write_result(folder, key, content):
    """The path. Raises OSError."""
    path = os.path.join(folder, f"{key}.json")
    handle, new = tempfile.mkstemp(prefix=f".{key[:16]}-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise
    return path
