# SPDX-License-Identifier: BSD-2-Clause
"""Builds the package for pip, against an installed libdynamicsclient (pkg-config) or the build of this checkout."""
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import setup

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from build_client import builder  # noqa: E402  the module is beside this file

PROJECT = HERE.parents[1]
BUILD = PROJECT / "build" / "release"
# Directory of what this script makes, so that nothing is written among the sources.
WORK = PROJECT / "build" / "python_package"


def installed():
    """Header and options of an installed library, or None."""
    if shutil.which("pkg-config") is None:
        return None
    asked = {name: subprocess.run(["pkg-config", f"--variable={name}", "dynamicsclient"], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
             for name in ("includedir", "libdir")}
    header = pathlib.Path(asked["includedir"], "dynamics_client.h")
    return (header, [asked["includedir"]], asked["libdir"]) if asked["libdir"] and header.exists() else None


def of_checkout():
    """Header and options of the library that this checkout has built, or None."""
    include, generated = PROJECT / "clients/c/include", BUILD / "clients/c/include"
    library = BUILD / "lib"
    is_there = (library / "libdynamicsclient.so").exists() and (generated / "dynamics_client_version.h").exists()
    return (include / "dynamics_client.h", [str(include), str(generated)], str(library)) if is_there else None


def extension():
    """Extension module, or an error that says what to do."""
    found = installed() or of_checkout()
    if found is None:
        sys.exit("libdynamicsclient is neither installed (pkg-config dynamicsclient) nor built in this checkout. Build "
                 f"it: cmake --preset release && cmake --build --preset release --target dynamicsclient, in {PROJECT}")
    header, include, library = found
    return builder(header, libraries=["dynamicsclient"], library_dirs=[library], runtime_library_dirs=[library],
                   include_dirs=[*include, str(HERE)], sources=["interrupts.c", "values.c"],
                   extra_compile_args=["-std=gnu17"]).distutils_extension(tmpdir=str(WORK))


def version():
    """Version of the project."""
    text = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(dynamicsd VERSION ([\d.]+)", text).group(1)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    setup(version=version(), ext_modules=[extension()],
          options={"build": {"build_base": str(WORK)}, "egg_info": {"egg_base": str(WORK)}})
