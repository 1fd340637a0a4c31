#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses changes of the wire contract that break programs which were built with an earlier state of it.

    contract.py SET SNAPSHOT             compares the descriptor set SET with the snapshot, tests/data/contract.txt
    contract.py SET SNAPSHOT --record    records additions in the snapshot; refuses breaking changes
    contract.py SET SNAPSHOT --freeze    writes the snapshot again, with all changes

SET is build/PRESET/proto/contract.descriptors. The snapshot has one line for each message, field, enumeration and
value, for each range of reserved numbers, and for the options of languages. A line that is there must stay true:

    - a message, a field, an enumeration or a value is neither removed nor renamed nor renumbered,
    - a field keeps its type, its label and its oneof,
    - a reserved number stays reserved or becomes a field,
    - the options of languages stay.

Additions are allowed, and are then recorded. Prints a line for each finding, and exits with 1 if there is one.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "proto"))
import descriptors  # noqa: E402

HEAD = "# The wire contract as it is promised. Written by tests/house/contract.py; see there.\n"


def facts(files):
    """Promises of the contract: key -> value, both tuples of words."""
    found = {}
    for file in files:
        for name, value in file.options.items():
            found["option", name] = (str(value),)
        for message in file.messages:
            found["message", message.name] = ()
            for first, last in message.reserved:
                found["reserved", message.name, str(first), str(last)] = ()
            for field in message.fields:
                found["field", message.name, str(field.number)] = (
                    field.name, field.label, field.type, f"oneof:{field.oneof}" if field.oneof else "-")
        for enum in file.enums:
            found["enum", enum.name] = ()
            for value in enum.values:
                found["value", enum.name, str(value.number)] = (value.name,)
    return found


# Words that belong to the key of a line of each kind.
KEY_WORDS = {"option": 2, "message": 2, "reserved": 4, "field": 3, "enum": 2, "value": 3}


def sort_key(item):
    key, _ = item
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in key[1:]], key[0]


def write(path, found):
    lines = [" ".join(key + value) + "\n" for key, value in sorted(found.items(), key=sort_key)]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")


def read(path):
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = tuple(line.split())
        if words and not line.startswith("#"):
            count = KEY_WORDS[words[0]]
            found[words[:count]] = words[count:]
    return found


def renumbered(key, value, now):
    """The number that a field or value of this name has now, or None."""
    for other, content in now.items():
        if other[:2] == key[:2] and content[:1] == value[:1]:
            return other[2]
    return None


def compare_field(key, old, new):
    place = f"{key[1]}, field {key[2]}"
    if new[0] != old[0]:
        yield f"{place}: was {old[0]} and is {new[0]} now"
    for word, what in ((1, "label"), (2, "type"), (3, "oneof")):
        if new[word] != old[word]:
            yield f"{place}, {old[0]}: its {what} was {old[word]} and is {new[word]} now"


def broken(before, now):
    """A sentence for each line of the snapshot that is not true any more."""
    kept_numbers = {(key[1], int(key[2])) for key in now if key[0] == "field"}
    ranges = [(key[1], int(key[2]), int(key[3])) for key in now if key[0] == "reserved"]
    for key, old in before.items():
        kind, place = key[0], key[1]
        if kind == "reserved":
            for number in range(int(key[2]), int(key[3]) + 1):
                if (place, number) not in kept_numbers and not any(
                        name == place and first <= number <= last for name, first, last in ranges):
                    yield f"{place}: number {number} is neither reserved nor a field"
        elif key not in now:
            moved = renumbered(key, old, now) if kind in ("field", "value") else None
            name = f"{kind} {old[0]} = {key[2]} of {place}" if kind in ("field", "value") else " ".join(key)
            yield f"{name}: " + (f"has the number {moved} now" if moved else "is removed")
        elif kind == "field":
            yield from compare_field(key, old, now[key])
        elif now[key] != old:
            yield f"{' '.join(key)}: was {' '.join(old)} and is {' '.join(now[key])} now"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=pathlib.Path)
    parser.add_argument("snapshot", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    given = parser.parse_args()
    now = facts(descriptors.read(given.set))
    before = read(given.snapshot) if given.snapshot.exists() and not given.freeze else {}
    wrong = list(broken(before, now))
    print("".join(f"{line}\n" for line in wrong), end="")
    added = [key for key in now if key not in before]
    if given.freeze or (given.record and not wrong):
        write(given.snapshot, now)
        print(f"{given.snapshot}: {len(now)} lines, {len(added)} of them new")
        sys.exit(0)
    if added:
        print("".join(f"not recorded: {' '.join(key + now[key])}\n" for key in added[:10]), end="")
        print(f"{len(added)} additions are not recorded: contract.py {given.set} {given.snapshot} --record")
    print(f"{len(before)} promises, {len(wrong)} broken")
    sys.exit(1 if wrong or added else 0)


if __name__ == "__main__":
    main()
