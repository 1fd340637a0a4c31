# SPDX-License-Identifier: BSD-2-Clause
"""The methods of the service, read from Request.method and Reply.result of envelope.proto.

The comment behind a member of Request.method says its role and, after a semicolon, its properties.
"""
import dataclasses

ROLES = ["reader", "user", "administrator"]
PROPERTIES = {"slow": "is_slow", "changes state": "changes_state", "local": "is_local", "prepared": "is_prepared",
              "works in drain": "works_in_drain", "as job": "can_be_job", "at one daemon": "is_at_one_daemon"}
SERVER_PROPERTIES = set(PROPERTIES) - {"at one daemon"}


@dataclasses.dataclass
class Method:
    name: str         # "load_model"
    number: int
    role: str
    properties: list  # of PROPERTIES
    request: str      # full name of its message
    reply: str
    comment: str


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def read_method(field, results, messages):
    """One method, and what is wrong with it."""
    wrong = []
    role, _, rest = field.trailing.partition(";")
    properties = [word.strip() for word in rest.split(",") if word.strip()]
    if role.strip() not in ROLES:
        wrong.append(f'the comment behind it must begin with one of {", ".join(ROLES)}, not "{role.strip()}"')
    wrong += [f'"{word}" is no property; there are {", ".join(PROPERTIES)}' for word in properties
              if word not in PROPERTIES]
    result = results.get(field.name)
    if not result or result.number != field.number:
        wrong.append(f"Reply.result needs {field.name} = {field.number}")
    expected = f"dynamics.v1.{camel(field.name)}"
    if field.type != expected + "Request" or (result and result.type != expected + "Reply"):
        wrong.append(f"its messages must be {expected}Request and {expected}Reply")
    request = messages[field.type]
    method = Method(field.name, field.number, role.strip(), properties, field.type, result.type if result else "",
                    request.comment)
    return method, [f"Request.{field.name}: {reason}" for reason in wrong]


def differences(name, oneof, methods, messages, type_of):
    """Findings where the members of a oneof are not those methods, with their numbers and types in the envelope."""
    found = {field.name: (field.number, field.type) for field in messages[f"dynamics.v1.{name}"].fields
             if field.oneof == oneof}
    expected = {method.name: (method.number, type_of(method)) for method in methods if "as job" in method.properties}
    for member in sorted(found.keys() | expected.keys()):
        if found.get(member) != expected.get(member):
            needs = "{1} under the number {0}".format(*expected[member]) if member in expected else "no such member"
            yield f"{name}.{oneof} {member}: it needs {needs}, by the properties of Request.method"


def read_methods(messages):
    """The methods in the order of their numbers, and what is wrong with the envelope, as sentences."""
    request, reply = messages["dynamics.v1.Request"], messages["dynamics.v1.Reply"]
    members = sorted((field for field in request.fields if field.oneof == "method"), key=lambda field: field.number)
    results = {field.name: field for field in reply.fields if field.oneof == "result"}
    methods, wrong = [], []
    for field in members:
        method, reasons = read_method(field, results, messages)
        methods.append(method)
        wrong += reasons
    names = {field.name for field in members}
    wrong += [f"Reply.{name}: Request.method has no such member" for name in results if name not in names]
    wrong += differences("StartJobRequest", "method", methods, messages, lambda method: method.request)
    wrong += differences("GetJobResultReply", "result", methods, messages, lambda method: method.reply)
    return methods, wrong


NOTE = "/* Written by proto/generate.py from proto/dynamics/v1/envelope.proto. */\n"


def create_reply(method):
    """The prototype of the function that creates the reply of a method."""
    return f"Dynamics__V1__{camel(method.name)}Reply *create_{method.name}_reply(call *c)"


def server_header(methods):
    """methods/methods.h of the server: the prototypes of the functions that it has to define, and those that create
    their replies."""
    prototypes = []
    for method in methods:
        if "prepared" in method.properties:
            prototypes.append(f"void method_prepare_{method.name}(call *c);\n")
        prototypes.append(f"void method_{method.name}(call *c);\n")
    return (NOTE + "#ifndef SERVER_METHODS_METHODS_H\n#define SERVER_METHODS_METHODS_H\n\n"
            '#include "methods/call.h"\n\n'
            "/* One function for each method; it answers that member of Request.method. */\n" + "".join(prototypes) +
            "\n/* Create the reply of a method in the call's memory and make it the result of the call. Return NULL,\n"
            " * and the call has ended, when out of memory. A call that ends with an error sends no result. */\n" +
            "".join(f"{create_reply(method)};\n" for method in methods) +
            "\n/* The methods by their number; one without `run` does not exist. */\n"
            f"enum {{ METHOD_NUMBERS = {max(method.number for method in methods) + 1} }};\n"
            "extern const method methods[METHOD_NUMBERS];\n\n#endif\n")


def server_table(methods):
    """methods/methods.c of the server: the table by which requests find their functions, and the functions that create
    replies."""
    rows, functions = [], []
    for method in methods:
        functions.append(f"\n{create_reply(method)} {{\n"
                         f"    Dynamics__V1__{camel(method.name)}Reply *reply = call_allocate(c, 1, sizeof *reply);\n"
                         "    if (reply) {\n"
                         f"        dynamics__v1__{method.name}_reply__init(reply);\n"
                         f"        c->reply.result_case = DYNAMICS__V1__REPLY__RESULT_{method.name.upper()};\n"
                         f"        c->reply.{method.name} = reply;\n"
                         "    }\n    return reply;\n}\n")
        members = [f'.name = "{method.name}"',
                   f".role = ACCESS_{method.role.upper()}",
                   f".run = method_{method.name}"]
        members += [f".prepare = method_prepare_{method.name}" if word == "prepared"
                    else f".{PROPERTIES[word]} = true" for word in method.properties if word in SERVER_PROPERTIES]
        rows.append(f"    [{method.number}] = {{{', '.join(members)}}},\n")
    return (NOTE + '#include "methods/methods.h"\n\nconst method methods[METHOD_NUMBERS] = {\n' + "".join(rows) +
            "};\n" + "".join(functions))
