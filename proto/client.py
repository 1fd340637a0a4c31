# SPDX-License-Identifier: BSD-2-Clause
"""Generates code of the C client: one typed function for each method, and checks of the enumerations."""
import re

from methods import NOTE, PROPERTIES

PACKAGE = "dynamics.v1."


def c_type(name):
    return "Dynamics__V1__" + name.removeprefix(PACKAGE).replace(".", "__")


def capitals(name):
    """JOINT_TYPE of JointType."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def requests_header(methods):
    """requests.h: a function for each method, so that request and reply are those of one method."""
    parts = [NOTE + "#ifndef CLIENT_REQUESTS_H\n#define CLIENT_REQUESTS_H\n\n"
             '#include "call.h"\n\n'
             "/* Each function sends a request and receives its result. The caller frees the result with\n"
             " * protobuf_c_message_free_unpacked(&answer->base, NULL). */\n"]
    for method in methods:
        number = f"DYNAMICS__V1__REQUEST__METHOD_{method.name.upper()}"
        parts.append(
            f"\nstatic inline dyn_client_status request_{method.name}(\n"
            f"    dyn_client *client, {c_type(method.request)} *body, call_terms terms,\n"
            f"    {c_type(method.reply)} **answer, dyn_client_error *error) {{\n"
            f"    return call_method(client, {number}, &body->base, terms, answer, error);\n}}\n")
    return "".join(parts) + "\n#endif\n"


def method_properties_header(methods):
    """method_properties.h: what a client of several daemons has to know of each method."""
    rows = [f"    [{method.number}] = {{{', '.join(members)}}},\n" for method in methods
            if (members := [f".{PROPERTIES[word]} = true" for word in method.properties
                            if word in ("changes state", "at one daemon")])]
    return (NOTE + "#ifndef CLIENT_METHOD_PROPERTIES_H\n#define CLIENT_METHOD_PROPERTIES_H\n\n#include <stdbool.h>\n\n"
            "/* Properties of a method, as the comments of the contract define them. */\n"
            "typedef struct method_properties {\n    bool changes_state;\n    bool is_at_one_daemon;\n"
            "} method_properties;\n\n"
            "/* The properties of the methods by their numbers in Request. */\n"
            f"enum {{ METHOD_NUMBERS = {max(method.number for method in methods) + 1} }};\n"
            "static const method_properties methods[METHOD_NUMBERS] = {\n" + "".join(rows) + "};\n\n"
            "/* Returns the properties of a request's method. A request without a known method asks one daemon, which\n"
            " * refuses it. */\n"
            "static inline method_properties method_properties_of(unsigned method) {\n"
            "    return method > 0 && method < METHOD_NUMBERS ? methods[method]\n"
            "                                                 : (method_properties){.is_at_one_daemon = true};\n"
            "}\n\n#endif\n")


def read_mirrors(path):
    """The rows of mirrors.txt: name of an enumeration -> prefix, and its values with another name."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words and not line.startswith("#"):
            rows[words[0]] = (words[1], dict(word.split("=") for word in words[2:]))
    return rows


def mirror_checks(enums, rows):
    """mirrors.c, and a sentence for each enumeration that mirrors.txt lacks or that does not exist."""
    checks, wrong = [], []
    named = {name.removeprefix(PACKAGE): enum for name, enum in enums.items()}
    wrong += [f"clients/c/mirrors.txt: {name} has no row" for name in named if name not in rows]
    wrong += [f"clients/c/mirrors.txt: there is no enumeration {name}" for name in rows if name not in named]
    for name, (prefix, others) in rows.items():
        for value in named[name].values if prefix != "-" and name in named else []:
            own = value.name.removeprefix(capitals(name.split(".")[-1]) + "_")
            own = others.get(own, own)
            if own:
                wire = f"{capitals_of_type(name)}__{value.name}"
                checks.append(f"_Static_assert((int){prefix}_{own} == (int){wire}, \"{value.name}\");\n")
    text = (NOTE + '#include "dynamics_client.h"\n\n#include <dynamics/v1/envelope.pb-c.h>\n'
            "#include <dynamics/v1/event.pb-c.h>\n\n/* The numbers of the client are those of the wire. */\n" +
            "".join(checks))
    return text, wrong


def capitals_of_type(name):
    return "DYNAMICS__V1__" + "__".join(capitals(part) for part in name.split("."))
