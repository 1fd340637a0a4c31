#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""includes.py refuses each kind of arrow that runs up, and accepts those that run down."""
import pathlib
import tempfile
import unittest

import includes

HEADERS = {
    "lib/include/dynamics/model.h": "",
    "lib/src/spatial/spatial.h": "",
    "lib/src/kernels/kernels.h": "",
    "lib/src/urdf/urdf.h": "",
    "server/transport/transport.h": "",
    "server/transport/listener.h": "",
    "server/models/store.h": "",
    "clients/c/include/dynamics_client.h": "",
}


class Includes(unittest.TestCase):
    def violations(self, path, text, others={}):
        """Findings of a tree with the headers above and more files."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, content in {**HEADERS, **others, path: text}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return includes.check(root)[0]

    def refused(self, path, text, reason):
        found = self.violations(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"{path}:1: ", found[0])
        self.assertIn(reason, found[0])

    def test_refuses_an_arrow_up(self):
        self.refused("lib/src/spatial/a.c", '#include "kernels/kernels.h"', "may not include lib/src/kernels")
        self.refused("lib/src/kernels/a.c", '#include "../urdf/urdf.h"', "may not include lib/src/urdf")
        self.refused("server/models/a.c", "#include <dynamics/v1/model.pb-c.h>", "may not include proto")
        self.refused("server/methods/a.c", '#include "transport/listener.h"', "may not include server/transport")

    def test_refuses_a_client_or_server_that_looks_into_the_library(self):
        self.refused("clients/cli/a.c", "#include <dynamics/model.h>", "may not include lib/include")
        self.refused("clients/c/src/a.c", "#include <dynamics/model.h>", "may not include lib/include")
        self.refused("server/methods/a.c", '#include "../../lib/src/kernels/kernels.h"', "lib/src/kernels")

    def test_refuses_the_carrier_outside_of_its_room(self):
        self.refused("server/methods/a.c", "#include <nng/nng.h>", "<nng/nng.h>")
        self.refused("server/main.c", "#  include <nng/nng.h>", "<nng/nng.h>")
        self.refused("lib/src/model/a.c", "#include <nng/nng.h>", "<nng/nng.h>")

    def test_refuses_a_library_that_acts_on_the_process(self):
        self.refused("lib/src/model/a.c", "#include <pthread.h>", "<pthread.h>")
        self.refused("lib/src/model/a.c", 'void f(void) { printf("x"); }', "may not use printf")
        self.refused("lib/src/model/a.c", 'void f(void) { fprintf(stderr, "x"); }', "may not use stderr")
        self.refused("lib/src/model/a.c", "void f(void) { exit(1); }", "may not use exit")

    def test_refuses_circles_of_files(self):
        others = {"server/models/list.h": '\n#include "entry.h"', "server/models/entry.h": '#include "models/store.h"'}
        entry, models, store = "server/models/entry", "server/models/list", "server/models/store"
        self.assertEqual(
            self.violations("server/models/store.c", '#include "store.h"\n#include "models/list.h"', others),
            [f"server/models/list.h:2: closes the circle {entry} -> {store} -> {models} -> {entry}"])
        self.assertEqual(self.violations("server/models/store.c", '#include "store.h"\n', others), [])

    def test_refuses_a_file_in_no_room(self):
        self.assertEqual(self.violations("lib/src/a.c", ""), ["lib/src/a.c: is in no room"])

    def test_accepts_arrows_down(self):
        for path, text in [
            ("lib/src/kernels/a.c", '#include "kernels.h"\n#include "spatial/spatial.h"\n#include <dynamics/model.h>'),
            ("lib/src/model/a.c", "/* printf(is a word here) */ void dyn_print(void) { snprintf(0, 0, 0); }"),
            ("server/transport/a.c", "#include <nng/nng.h>\n#include <dynamics/v1/model.pb-c.h>"),
            ("server/main.c", '#include "transport/transport.h"\n#include <uv.h>'),
            ("clients/cli/a.c", "#include <dynamics_client.h>\n#include <dynamics/v1/model.pb-c.h>"),
        ]:
            with self.subTest(path=path):
                self.assertEqual(self.violations(path, text), [])


if __name__ == "__main__":
    unittest.main()
