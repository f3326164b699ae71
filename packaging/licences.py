#!/usr/bin/env python3
"""Writes the notices of everything that Driftscope ships, and the SPDX bill of materials.

  licences.py program|page|node NOTICES.txt [SBOM.spdx.json]

What there is stands in components.txt. A text that is not there is an error: nothing is shipped without its
notice. Environment: DRIFTSCOPE_XNNPACK, DRIFTSCOPE_IMGUI, DRIFTSCOPE_ZLIB,
DRIFTSCOPE_NODE_LIBRARIES (tools/setup writes them)."""
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLONE = HERE.parent
RULE = "=" * 78


def components(shipped_in):
    for line in (HERE / "components.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, licence, where, version, text = (part.strip() for part in line.split("|"))
        if shipped_in in where.split(", "):
            yield {"name": name, "licence": licence, "version": version_of(version), "text": text_of(name, text)}


def version_of(source):
    kind, _, name = source.partition(":")
    if kind == "text":
        return name
    if kind == "npm":
        lock = json.loads((CLONE / "package-lock.json").read_text(encoding="utf-8"))
        return lock["packages"][f"node_modules/{name}"]["version"]
    if kind == "deb":
        query = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
        return query.stdout if query.returncode == 0 else "unknown"
    pins = (CLONE / "tools/setup.d/pins").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(name)}\s+(\S+)", pins, re.MULTILINE)
    if not found:
        sys.exit(f"licences.py: {name} is not in tools/setup.d/pins")
    return found[1]


def text_of(name, source):
    folders = {"XNNPACK": os.environ.get("DRIFTSCOPE_XNNPACK", ""), "IMGUI": os.environ.get("DRIFTSCOPE_IMGUI", ""),
               "ZLIB": os.environ.get("DRIFTSCOPE_ZLIB", ""),
               "NODE_LIBRARIES": os.environ.get("DRIFTSCOPE_NODE_LIBRARIES", ""),
               "DOC": "/usr/share/doc"}
    path = re.sub(r"\$([A-Z_]+)", lambda match: folders[match[1]], source)
    try:
        return (CLONE / path).read_text(encoding="utf-8").strip()
    except OSError as error:
        sys.exit(f"licences.py: the licence of {name} is missing: {error}; run tools/setup")


def notices(found):
    text = ["Driftscope is licensed under the Apache License 2.0. It is shipped with parts of other projects, whose",
            "licences follow:", ""]
    text += [f"  {one['name']} {one['version']}: {one['licence']}" for one in found]
    for one in found:
        text += ["", RULE, f"{one['name']} {one['version']} ({one['licence']})", RULE, "", one["text"]]
    return "\n".join(text) + "\n"


def bill(found, version):
    names = "".join(one["name"] + one["version"] for one in found)
    packages = [{"SPDXID": "SPDXRef-Driftscope", "name": "driftscope", "versionInfo": version,
                 "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
                 "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-Driftscope"}]
    for one in found:
        key = "SPDXRef-" + re.sub(r"[^A-Za-z0-9]+", "-", one["name"]).strip("-")
        packages.append({"SPDXID": key, "name": one["name"], "versionInfo": one["version"],
                         "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                         "licenseConcluded": one["licence"], "licenseDeclared": one["licence"],
                         "copyrightText": "NOASSERTION"})
        relations.append({"spdxElementId": "SPDXRef-Driftscope", "relationshipType": "CONTAINS",
                          "relatedSpdxElement": key})
    # The same input gives the same file; SOURCE_DATE_EPOCH is the usual name of the time.
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = subprocess.run(["date", "-u", "-d", f"@{seconds}", "+%Y-%m-%dT%H:%M:%SZ"], capture_output=True,
                             text=True, check=True).stdout.strip()
    digest = hashlib.sha256((version + names).encode()).hexdigest()[:32]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"driftscope-{version}", "documentNamespace": f"urn:driftscope:spdx:{version}:{digest}",
            "creationInfo": {"created": created, "creators": ["Tool: driftscope packaging/licences.py"]},
            "packages": packages, "relationships": relations}


def write(path, text):
    beside = Path(f"{path}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("program", "page", "node"):
        sys.exit(__doc__)
    found = list(components(sys.argv[1]))
    write(sys.argv[2], notices(found))
    if len(sys.argv) == 4:
        version = re.search(r"VERSION (\d+\.\d+\.\d+)", (CLONE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        write(sys.argv[3], json.dumps(bill(found, version), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
