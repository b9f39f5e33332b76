"""Exports the block of model.py to block.pt2, the package that perfgate.yaml measures.

An export takes a minute, so packages are kept under $PERFGATE_CACHE by the contents of this folder's
Python files and the version of torch: an unchanged model is exported once.
"""

import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

import torch

FOLDER = pathlib.Path(__file__).resolve().parent
PACKAGE = FOLDER / "block.pt2"


def kept_package():
    digest = hashlib.sha256(torch.__version__.encode())
    digest.update(torch.backends.cpu.get_cpu_capability().encode())
    for source in ("model.py", "export.py"):
        digest.update((FOLDER / source).read_bytes())
    cache = os.environ.get("PERFGATE_CACHE") or pathlib.Path.home() / ".cache" / "perfgate"
    return pathlib.Path(cache) / "packages" / f"demo-{digest.hexdigest()[:16]}.pt2"


def export(package):
    from model import Block

    torch.manual_seed(0)
    torch._inductor.config.cpp.enable_kernel_profile = True  # fused loops show in the trace, by name
    with torch.no_grad(), tempfile.TemporaryDirectory(dir=package.parent) as folder:
        exported = torch.export.export(Block().eval(), (torch.zeros(64, 256),))
        unfinished = pathlib.Path(folder) / "block.pt2"
        torch._inductor.aoti_compile_and_package(exported, package_path=str(unfinished))
        unfinished.rename(package)


def main():
    package = kept_package()
    if not package.exists():
        package.parent.mkdir(parents=True, exist_ok=True)
        print(f"exporting model.py with torch {torch.__version__}", file=sys.stderr)
        export(package)
    shutil.copyfile(package, PACKAGE)


if __name__ == "__main__":
    main()
