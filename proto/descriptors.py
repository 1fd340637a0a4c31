# SPDX-License-Identifier: BSD-2-Clause
"""Reads the descriptor set that `protoc-c --descriptor_set_out --include_source_info` writes.

The set is a protobuf message of the type google.protobuf.FileDescriptorSet (descriptor.proto). Python's standard
library is all that reading it needs.
"""
import dataclasses

# FieldDescriptorProto.Type, without groups, which proto3 has not.
TYPES = {1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool",
         9: "string", 11: "message", 12: "bytes", 13: "uint32", 14: "enum", 15: "sfixed32", 16: "sfixed64",
         17: "sint32", 18: "sint64"}
LABELS = {1: "singular", 2: "required", 3: "repeated"}
OPTIONS = {1: "java_package", 10: "java_multiple_files", 11: "go_package", 37: "csharp_namespace"}


@dataclasses.dataclass
class Field:
    name: str
    number: int
    label: str
    type: str      # "double", or the full name of a message or an enumeration
    kind: str      # "message", "enum", or the same as type
    oneof: str     # name of the oneof that it is a member of; "" without
    comment: str
    trailing: str  # comment behind the field, on its line
    line: int      # of the file, from 0


@dataclasses.dataclass
class Message:
    name: str
    file: str
    comment: str
    fields: list
    oneofs: dict     # name of a oneof: its comment
    reserved: list   # first and last number of each range


@dataclasses.dataclass
class Value:
    name: str
    number: int
    comment: str


@dataclasses.dataclass
class Enum:
    name: str
    file: str
    comment: str
    values: list


@dataclasses.dataclass
class File:
    name: str
    comment: str
    options: dict
    messages: list
    enums: list


def varint(data, at):
    """A varint of the bytes from `at`, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def parse(data):
    """The fields of a serialized message: number -> list of integers or bytes, in their order."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire]
            value, at = data[at:at + size], at + size
        fields.setdefault(number, []).append(value)
    return fields


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return tuple(values)


def text(fields, number):
    return fields.get(number, [b""])[-1].decode()


def integer(fields, number):
    value = fields.get(number, [0])[-1]
    return value - (1 << 64) if value >= 1 << 63 else value


def lines(comment):
    """A comment without the blank that follows each //."""
    return "\n".join(line[1:] if line.startswith(" ") else line for line in comment.split("\n")).strip("\n")


class Comments:
    """The comments of a file by the path of what they stand at."""

    def __init__(self, source):
        self.leading, self.trailing, self.lines = {}, {}, {}
        for location in map(parse, parse(source).get(1, [])):
            path = packed(location.get(1, [b""])[-1])
            self.leading[path] = lines(text(location, 3))
            self.trailing[path] = lines(text(location, 4))
            self.lines[path] = packed(location.get(2, [b"\0"])[-1])[0]

    def __getitem__(self, path):
        return self.leading.get(path, "")


def read_field(data, oneofs, comments, path):
    fields = parse(data)
    kind = TYPES[integer(fields, 5)]
    name = text(fields, 6).lstrip(".")
    is_member = 9 in fields and not integer(fields, 17)
    label = "optional" if integer(fields, 17) else LABELS[integer(fields, 4)]
    return Field(text(fields, 1), integer(fields, 3), label, name or kind, kind,
                 oneofs[integer(fields, 9)] if is_member else "", comments[path], comments.trailing.get(path, ""),
                 comments.lines.get(path, 0))


def read_message(data, scope, file, comments, path):
    """A message with what is nested in it, as lists of messages and enumerations."""
    fields = parse(data)
    name = f"{scope}.{text(fields, 1)}"
    oneofs = [text(parse(one), 1) for one in fields.get(8, [])]
    ranges = [(integer(parse(one), 1), integer(parse(one), 2) - 1) for one in fields.get(9, [])]
    members = [read_field(one, oneofs, comments, path + (2, i)) for i, one in enumerate(fields.get(2, []))]
    message = Message(name, file, comments[path], members,
                      {one: comments[path + (8, i)] for i, one in enumerate(oneofs)
                       if any(field.oneof == one for field in members)}, ranges)
    messages, enums = [message], []
    for i, nested in enumerate(fields.get(3, [])):
        inner = read_message(nested, name, file, comments, path + (3, i))
        messages += inner[0]
        enums += inner[1]
    enums += [read_enum(one, name, file, comments, path + (4, i)) for i, one in enumerate(fields.get(4, []))]
    return messages, enums


def read_enum(data, scope, file, comments, path):
    fields = parse(data)
    values = [Value(text(parse(one), 1), integer(parse(one), 2), comments[path + (2, i)])
              for i, one in enumerate(fields.get(2, []))]
    return Enum(f"{scope}.{text(fields, 1)}", file, comments[path], values)


def read_file(data):
    fields = parse(data)
    name, package = text(fields, 1), text(fields, 2)
    comments = Comments(fields.get(9, [b""])[-1])
    options = parse(fields.get(8, [b""])[-1])
    named = {OPTIONS[number]: values[-1].decode() if isinstance(values[-1], bytes) else bool(values[-1])
             for number, values in options.items() if number in OPTIONS}
    result = File(name, comments[(12,)], named, [], [])
    for i, one in enumerate(fields.get(4, [])):
        messages, enums = read_message(one, package, name, comments, (4, i))
        result.messages += messages
        result.enums += enums
    result.enums += [read_enum(one, package, name, comments, (5, i)) for i, one in enumerate(fields.get(5, []))]
    return result


def read(path):
    """The files of a descriptor set, in the order of their names."""
    with open(path, "rb") as stream:
        return sorted((read_file(one) for one in parse(stream.read()).get(1, [])), key=lambda file: file.name)


def messages_of(files):
    return {message.name: message for file in files for message in file.messages}


def enums_of(files):
    return {enum.name: enum for file in files for enum in file.enums}
