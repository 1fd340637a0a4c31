# SPDX-License-Identifier: BSD-2-Clause
"""deploy/doc/wire.md: every message, field, unit, default and error of the contract, from the comments of its files.

A comment is plain text. These rules find the columns of the table in it. Missing parts are reported:

    comment   every field has one. It applies to the fields on the lines right below it, too, and that of a oneof
              to its only member. A field of FIELDS needs none: its name means the same in all messages. Nor does a
              field of a message or an enumeration that is commented where it is defined.
    unit      a number that is no integer has one. The comment begins with it ("s, from 0.1 to 86400"), has it behind a
              comma ("Viscous damping, N m s/rad or N s/m."), or says "Unit: 1."; or FIELDS or the message does.
    default   of what a client sends: the words behind "0:", "empty:", "absent:" or "default:"; FIELDS; or the type
              (false; the value of an enumeration with number 0). What has none says "must", "required" or "refused".
    error     the sentences that name a CODE.
"""
import re

# Units as they stand in comments: at the beginning, behind a comma, or in a sentence "Unit: ...".
WORDS = {"Seconds": "s", "seconds": "s", "Bytes": "bytes", "bytes": "bytes", "Nanoseconds": "ns", "nanoseconds": "ns"}
SYMBOL = (r"(?:kg/m\^3|kg m\^2|kg m|kg|N m s/rad|N s/m|N m/rad|N/m|N m|N|J|W|Hz|rad/s\^2|rad/s|rad|m/s\^3|m/s\^2|"
          r"m/s|m\^3|m|ns|s|1/s)")
LIST = rf"{SYMBOL}(?:(?:,| or|, or| and|, and) {SYMBOL})*(?=[,.;:)]|$)"
UNIT_SENTENCE = re.compile(r"Unit: ([^.;]+)[.;]")
UNIT_PLACES = [re.compile(rf"^({LIST})"), re.compile(rf"^({'|'.join(WORDS)})\b"),
               re.compile(rf"(?:,|, in) ({LIST}|seconds|bytes)(?=[,.;]|$)")]
COORDINATES = "rad, m, 1"
VELOCITIES = "rad/s, m/s"
ACCELERATIONS = "rad/s^2, m/s^2"
FORCES = "N m, N"
ROWS = "Rows in the order of the joints"
# Fields that mean the same wherever they are: unit, default, and meaning.
FIELDS = {
    "query": ("", "required", "Model, gravity, payloads and external forces."),
    "model": ("", "required", "Name or digest of a model."),
    "link": ("", "required", "Name of a link."),
    "joint": ("", "required", "Name of a joint."),
    "joint_names": ("", "the model's order", "Order of the joints in all rows."),
    "simulation": ("", "required", "Name of a simulation."),
    "stream": ("", "required", "Name of a stream."),
    "recording": ("", "required", "Name of a recording."),
    "job": ("", "required", "Name of a job."),
    "token": ("", "required", "Right to command the simulation, of CreateSimulation or ClaimSimulation."),
    "key": ("", "required", "Right to command the stream, of OpenStream."),
    "name": ("", "required", "Name."),
    "message": ("", "empty", "Text for people."),
    "samples": ("", "required", "Number of states, n."),
    "rows": ("", "required", "Number of rows."),
    "nq": ("", "required", "Coordinates in a row of q."),
    "nv": ("", "required", "Coordinates in a row of v."),
    "q": (COORDINATES, "required", f"Configurations. {ROWS}."),
    "v": (VELOCITIES, "zeros", f"Velocities. {ROWS}."),
    "a": (ACCELERATIONS, "zeros", f"Accelerations. {ROWS}."),
    "tau": (FORCES, "zeros", f"Joint forces. {ROWS}."),
    "dq": (COORDINATES, "zeros", "Direction of a derivative."),
    "dv": (VELOCITIES, "zeros", "Direction of a derivative."),
    "da": (ACCELERATIONS, "zeros", "Direction of a derivative."),
    "dtau": (FORCES, "zeros", "Direction of a derivative."),
    "g": (FORCES, "", f"Forces of gravity. {ROWS}."),
    "h": (FORCES, "", f"Bias forces. {ROWS}."),
    "q_ref": (COORDINATES, "zeros", f"Reference of the controller. {ROWS}."),
    "v_ref": (VELOCITIES, "zeros", f"Reference of the controller. {ROWS}."),
    "a_ref": (ACCELERATIONS, "zeros", f"Reference of the controller. {ROWS}."),
    "x": ("", "", "Coordinate."),
    "y": ("", "", "Coordinate."),
    "z": ("", "", "Coordinate."),
    "w": ("", "", "Coordinate."),
    "state": ("", "", "State of the simulation after the method."),
    "first": ("", "the start", "Number of the first row (envelope.proto, \"rows\")."),
    "stride": ("", "1", "Every stride'th row (envelope.proto, \"rows\")."),
    "count": ("", "all", "At most so many rows (envelope.proto, \"rows\")."),
    "step": ("", "required", "Number of a step."),
    "time": ("s", "required", "Time."),
    "step_length": ("s", "required", "Length of a step."),
    "stamp_ns": ("ns", "0", "Wall time since 1970-01-01 UTC."),
    "mass": ("kg", "0", "Mass."),
    "force": ("N", "zeros", "Force."),
    "torque": ("N m", "zeros", "Torque."),
    "kinetic_energy": ("J", "", "Kinetic energy."),
    "potential_energy": ("J", "", "Potential energy."),
    "position": ("m", "the origin", "Position."),
    "quaternion": ("1", "", "Quaternion x, y, z, w."),
    "gravity": ("m/s^2", "the model's own", "Acceleration of gravity in world axes."),
    "digest": ("", "", "SHA-256 of the canonical description."),
    "version": ("", "", "Semantic version."),
    "watchers": ("", "", "Connected subscribers."),
    "owner": ("", "", "The client that commands it."),
    "computed_with": ("", "", "Code that computed the numbers (simulation.proto)."),
    "credit": ("", "", "Number of the last point that may be sent."),
    "addresses": ("", "", "Addresses to subscribe to, one for each carrier."),
    "torques_topic": ("", "", "Topic of Event.stream_torques."),
    "state_topic": ("", "", "Topic of Event.simulation_state or Event.group_state."),
    "events_topic": ("", "", "Topic of the other events."),
    "is_under_way": ("", "", "It is still being written."),
    "durable": ("", "", "It outlives a crash of the daemon."),
}
DEFAULT = re.compile(r"(?:^|(?<=[\s(;,.]))(?:0|[Ee]mpty|[Aa]bsent|[Nn]one|[Dd]efault(?: of each)?|false): ?"
                     r"([^.;]*(?:\.\w[^.;]*)*)")
NO_DEFAULT = re.compile(r"\b(must|required|refused|[Aa]t least one|[Ee]xactly one|Not stated)\b")
FLOATING = {"double", "float"}
SENTENCE = re.compile(r"(?<=[.])\s+(?=[A-Z\"0-9])")


# Stands for the line break before a row of a table in a comment, and before a paragraph.
BREAK = "\0"


def one_line(comment):
    return re.sub(r"\s+", " ", re.sub(r"\n(\n|  (?=\S))", f" {BREAK}", comment)).strip()


def sentences(comment):
    return SENTENCE.split(one_line(comment)) if comment else []


def inherit(message):
    """Copies to a field without comment that of the oneof of which it is the only member, or of the line above."""
    before = None
    for field in message.fields:
        if field.oneof and [one.oneof for one in message.fields].count(field.oneof) == 1:
            field.comment = field.comment or message.oneofs[field.oneof]
        shares = before and not field.comment and field.line == before.line + 1 and field.name not in FIELDS
        field.shared = before.shared or before.comment if shares else ""
        field.leader = before.leader if shares and before.shared else before.name if field.shared else ""
        before = field


def comment_of(field):
    return field.comment or field.shared


def rule_of(field):
    """Unit, default and meaning by the name of a field."""
    if field.kind in FLOATING and field.name.endswith("_time"):
        return "s", "", ""
    return FIELDS.get(field.name, ("", "", ""))


def unit_in(comment):
    found = UNIT_SENTENCE.search(comment)
    for place in UNIT_PLACES:
        found = found or place.search(comment)
    return WORDS.get(found.group(1), found.group(1)) if found else ""


def unit_of(field, message):
    """The unit of a field that is a number, or "" if the comment states none."""
    if field.kind in ("message", "enum", "bool", "string", "bytes"):
        return ""
    found = unit_in(one_line(field.comment)) or rule_of(field)[0]
    if not found and field.kind in FLOATING:
        found = unit_in(one_line(field.shared)) or unit_in(one_line(message.comment))
    return found


def default_of(field, message, types):
    """Value of an absent field, or "" if the comment states none."""
    found = DEFAULT.search(one_line(comment_of(field)))
    if found:
        return found.group(1).strip()
    if field.oneof:
        return "one of " + field.oneof
    if NO_DEFAULT.search(comment_of(field)):
        return "required"
    if rule_of(field)[1]:
        return rule_of(field)[1]
    found = re.search(r"Default of each: ([^.;]+)", one_line(message.comment))
    if found:
        return found.group(1)
    if field.kind == "bool":
        return "false"
    if field.kind == "enum":
        first = types[field.type].values[0]
        return "required" if first.name.endswith("_UNSPECIFIED") else first.name
    if field.kind == "message":
        return "absent"
    return "none" if field.label == "repeated" else ""


def description_of(field):
    """Row of the table about a field."""
    if field.shared:
        return f"See `{field.leader}`."
    return meaning_of(field.comment) or rule_of(field)[2]


def errors_of(comment):
    return " ".join(one for one in sentences(comment) if "CODE_" in one)


def meaning_of(comment):
    return " ".join(one for one in sentences(comment) if "CODE_" not in one and
                    not one.startswith(("Unit: ", "Default: ", "Default of each: ")))


def sent_by_clients(messages):
    """The names of all messages that are in requests or are pushed."""
    found, pending = set(), ["dynamics.v1.Request", "dynamics.v1.StreamChunk"]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [field.type for field in messages[name].fields if field.kind == "message"]
    return found


def types_comment(field, types):
    """The comment of a field's type, or one of a value of its enumeration."""
    if field.type not in types:
        return ""
    return types[field.type].comment or next((value.comment for value in getattr(types[field.type], "values", [])
                                              if value.comment), "")


def findings(files, messages, enums):
    """A sentence for each field whose comment lacks what the table needs."""
    sent = sent_by_clients(messages)
    types = {**messages, **enums}
    for file in files:
        for message in file.messages:
            inherit(message)
            for field in message.fields:
                place = f"{message.name}.{field.name}"
                is_method = field.oneof in ("method", "result")
                if field.kind in FLOATING and not unit_of(field, message):
                    yield f"{place}: the comment names no unit"
                if not (description_of(field) or errors_of(field.comment) or is_method or types_comment(field, types)):
                    yield f"{place}: there is no comment"
                if message.name in sent and not default_of(field, message, enums):
                    yield f"{place}: the comment states neither a default nor that the field is required"


def short(name):
    return name.removeprefix("dynamics.v1.")


def link(name):
    return f"[{short(name)}](#{short(name).lower().replace('.', '')})"


def cell(text):
    return text.replace("|", "\\|").replace("<", "\\<").replace(BREAK, "<br>") or "-"


def type_cell(field):
    name = link(field.type) if field.kind in ("message", "enum") else field.type
    return f"repeated {name}" if field.label == "repeated" else name


def prose(comment):
    """A comment as text; with its own lines where it has a table."""
    comment = comment.replace("SPDX-License-Identifier: BSD-2-Clause", "").strip("\n")
    if re.search(r"^  ", comment, re.MULTILINE):
        return f"```text\n{comment}\n```\n"
    return "\n\n".join(one_line(part) for part in comment.split("\n\n")) + "\n"


def message_text(message, is_sent, enums):
    yield f"\n### {short(message.name)}\n\n"
    if re.search(r"^  ", message.comment, re.MULTILINE):
        yield prose(message.comment) + "\n"
    elif meaning_of(message.comment):
        yield meaning_of(message.comment) + "\n\n"
    if errors_of(message.comment):
        yield f"Errors: {errors_of(message.comment).removeprefix('Errors: ')}\n\n"
    if not message.fields:
        yield "It has no fields.\n"
        return
    yield "| number | field | type | unit | " + ("default | " if is_sent else "") + "meaning | errors |\n"
    yield "|---|---|---|---|" + ("---|" if is_sent else "") + "---|---|\n"
    for field in message.fields:
        cells = [str(field.number), f"`{field.name}`", type_cell(field), cell(unit_of(field, message))]
        if is_sent:
            cells.append(cell(default_of(field, message, enums)))
        yield "| " + " | ".join(cells + [cell(description_of(field)), cell(errors_of(field.comment))]) + " |\n"


def enum_text(enum):
    yield f"\n### {short(enum.name)}\n\n"
    if enum.comment:
        yield one_line(enum.comment) + "\n\n"
    yield "| number | value | meaning |\n|---|---|---|\n"
    for value in enum.values:
        yield f"| {value.number} | `{value.name}` | {cell(one_line(value.comment))} |\n"


def head(methods):
    yield ("# The wire contract\n\n"
           "Written by `proto/generate.py` from the comments in [proto/dynamics/v1](../../proto/dynamics/v1/); "
           "change those, and write it again:\n\n"
           "    cmake --build --preset release --target wire_doc\n\n"
           "Numbers are SI. Where several units stand, the joint's kind decides: a coordinate is an angle, a "
           "displacement or a part of a quaternion, which has no unit (DescribeModel). A default is the meaning of a "
           "field that the client leaves out; protobuf does not send zeros, so zero has the same meaning. Every method "
           "may also answer the codes of [Code](#code) that speak of the limits, the deadline and the end of the "
           "daemon. Messages as JSON: [Browsers and ROS](ros.md).\n\n"
           "## Methods\n\n| number | method | request | reply | role | properties |\n|---|---|---|---|---|---|\n")
    for method in methods:
        yield (f"| {method.number} | `{method.name}` | {link(method.request)} | {link(method.reply)} | {method.role} | "
               f"{', '.join(method.properties) or '-'} |\n")


def file_text(file, sent, enums):
    yield f"\n## {file.name.rsplit('/', 1)[1]}\n\n{prose(file.comment)}"
    for message in file.messages:
        yield from message_text(message, message.name in sent, enums)
    for enum in file.enums:
        yield from enum_text(enum)


def text(files, methods, messages, enums):
    sent = sent_by_clients(messages)
    parts = list(head(methods))
    for file in files:
        parts += file_text(file, sent, enums)
    return "".join(parts).replace(BREAK, "")
