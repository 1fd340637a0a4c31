#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""client_header.py refuses arguments in another order and enumerators without their type's name, and nothing else."""
import unittest

import client_header

ORDERLY = """
DYN_CLIENT_EXPORT dyn_client_status f(dyn_client *client, const double *q, double timeout, double *tau,
                                      dyn_client_error *error);
DYN_CLIENT_EXPORT dyn_client_status g(const char *url, size_t count, const char *const *names, dyn_client **client,
                                      dyn_client_error *error);
"""
DISORDERLY = [
    "(dyn_client *client, const double *q, dyn_client_error *error, double *tau)",
    "(dyn_client *client, double *tau, double timeout, dyn_client_error *error)",
    "(const char *name, dyn_client *client, dyn_client_error *error)",
    "(dyn_client *client, double timeout, const char *name, dyn_client_error *error)",
    "(dyn_client *client, double timeout, double *tau)",
]


class Order(unittest.TestCase):
    def test_accepts_the_order_of_the_header(self):
        self.assertEqual(list(client_header.faults(ORDERLY)), [])

    def test_refuses_each_other_order(self):
        for arguments in DISORDERLY:
            text = f"DYN_CLIENT_EXPORT dyn_client_status f{arguments};"
            self.assertEqual(len(list(client_header.faults(text))), 1, arguments)

    def test_refuses_enumerators_without_the_name_of_their_type(self):
        text = "typedef enum dyn_client_fruit {{\n    {} = 1, /* DYN_CLIENT_PIP */\n}} dyn_client_fruit;"
        self.assertEqual(list(client_header.faults(text.format("DYN_CLIENT_FRUIT_PEAR"))), [])
        self.assertEqual(len(list(client_header.faults(text.format("DYN_CLIENT_PEAR")))), 1)

    def test_refuses_integers_of_other_types(self):
        for declaration in ["size_t nq, nv;", "uint64_t steps;", "const size_t *columns;", "uint32_t revision;"]:
            self.assertEqual(list(client_header.faults(f"    {declaration}")), [], declaration)
        for declaration in ["uint32_t nq;", "unsigned flags;", "int count;", "const uint32_t *columns;"]:
            self.assertEqual(len(list(client_header.faults(f"    {declaration}"))), 1, declaration)

    def test_refuses_booleans_that_are_neither_predicates_nor_of_the_protocol(self):
        self.assertEqual(list(client_header.faults("    bool keep, is_paused;", {"keep"})), [])
        self.assertEqual(len(list(client_header.faults("    bool keep, is_paused;"))), 1)
        self.assertEqual(len(list(client_header.faults("    bool paused;", {"keep"}))), 1)


if __name__ == "__main__":
    unittest.main()
