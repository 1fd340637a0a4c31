#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes the extension module dynamicsd._client from the public header of libdynamicsclient.

    build_client.py HEADER OUTPUT

writes the C source of the module to OUTPUT. The declarations are those of the header, and the compiler reads the header
again, so that the two cannot differ. setup.py uses `builder` directly.
"""
import pathlib
import re
import sys

import cffi

HERE = pathlib.Path(__file__).resolve().parent
# Called by dynamicsd_watch_report. The module defines it in Python.
CALLBACK = 'extern "Python" bool dynamicsd_progress(void *context, double fraction);'


def declarations(header):
    """Declarations of a C header without what the preprocessor reads, C++ and visibility."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S).replace("\\\n", " ")
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif$", "", text, flags=re.S | re.M)
    return re.sub(r"^\s*#.*$", "", text, flags=re.M).replace("DYN_CLIENT_EXPORT", "")


# Function that calls the daemon, with its parameters after the client.
CALL = re.compile(r"dyn_client_status\s+(\w+)\(\s*dyn_client \*client\s*([^;]*)\)\s*;")


def guarded(text):
    """C source that replaces each function that calls the daemon by one that SIGINT ends."""
    lines = []
    for name, others in CALL.findall(text):
        declared = " ".join(others.split())
        names = [re.search(r"(\w+)\s*(\[\d*\])?$", each).group(1) for each in declared.split(",")[1:]]
        lines.append(f"static inline dyn_client_status guarded_{name}(dyn_client *client{declared}) {{\n"
                     "    bool own_guard = dynamicsd_guard_begin(client);\n"
                     f"    dyn_client_status own_status = {name}({', '.join(['client', *names])});\n"
                     "    dynamicsd_guard_end(own_guard);\n    return own_status;\n}\n"
                     f"#define {name} guarded_{name}\n")
    return "".join(lines)


def builder(header, **options):
    """Builder of the module. `options` are those of the extension, such as libraries."""
    ffi = cffi.FFI()
    public, *own = [declarations(path.read_text(encoding="utf-8"))
                    for path in (pathlib.Path(header), HERE / "interrupts.h", HERE / "values.h")]
    for text in (public, *own):
        ffi.cdef(text)
    ffi.cdef(CALLBACK)
    ffi.set_source("dynamicsd._client", '#include <dynamics_client.h>\n#include "interrupts.h"\n#include "values.h"\n'
                   + guarded("".join([public, *own])), **options)
    return ffi


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} HEADER OUTPUT")
    builder(sys.argv[1]).emit_c_code(sys.argv[2])
