#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""library_headers.py refuses declarations that break a rule of the library's headers, and accepts the others."""
import unittest

import library_headers

ORDERLY = """
/* Computes tau. dyn_error *error comes last, and not first. */
DYN_API dyn_status dyn_f(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                         const dyn_options *options, dyn_report *report, double *tau, dyn_error *error);
DYN_API dyn_status dyn_g(const dyn_model *model, const char *link, const dyn_model *added, dyn_model **result,
                         dyn_error *error);
DYN_API dyn_status dyn_h(const char *text, size_t length, dyn_event *events, size_t capacity, dyn_error *error);
typedef enum dyn_joint_type { DYN_JOINT_TYPE_FIXED, DYN_JOINT_TYPE_COUNT = DYN_OTHER } dyn_joint_type;
typedef enum dyn_status { DYN_OK = 0, DYN_CANCELLED = 1 } dyn_status;
"""
DISORDERLY = [
    "DYN_API dyn_status dyn_f(const dyn_model *model, size_t n, const double *q, dyn_error *error, double *tau);",
    "DYN_API dyn_status dyn_f(size_t n, const dyn_model *model, dyn_error *error);",
    "DYN_API dyn_status dyn_f(const dyn_model *model, double *tau, const double *q, dyn_error *error);",
    "DYN_API dyn_status dyn_f(const dyn_model *model, double gravity[3], const double *q, dyn_error *error);",
    "typedef enum dyn_joint_type { DYN_JOINT_FIXED } dyn_joint_type;",
]


class Rules(unittest.TestCase):
    def test_accepts_what_follows_the_rules(self):
        self.assertEqual(list(library_headers.faults(ORDERLY)), [])

    def test_refuses_what_breaks_a_rule(self):
        for text in DISORDERLY:
            self.assertEqual(len(list(library_headers.faults(text))), 1, text)


if __name__ == "__main__":
    unittest.main()
