# SPDX-License-Identifier: BSD-2-Clause
"""Messages of ROS 1 as the values that the rosbridge protocol carries, and back."""
import base64
import math

import genpy
from roslib.message import get_message_class


def values_of(message):
    """Converts a message, or a field of one, to JSON; NaN and infinity become null."""
    if isinstance(message, genpy.Message):
        return {name: values_of(getattr(message, name)) for name in message.__slots__}
    if isinstance(message, genpy.TVal):
        return {"secs": message.secs, "nsecs": message.nsecs}
    if isinstance(message, bytes):
        return base64.b64encode(message).decode()
    if isinstance(message, float):
        return message if math.isfinite(message) else None
    if isinstance(message, (list, tuple)):
        return [values_of(each) for each in message]
    return message


def message_of(kind, values):
    """Creates a message of a class from its values; absent fields have their defaults."""
    message = kind()
    for name, field_type in zip(message.__slots__, message._slot_types):
        if name in values:
            setattr(message, name, field_of(field_type, values[name]))
    return message


def field_of(field_type, value):
    """A field of a type from its value: NaN travels as null, 64-bit integers as text."""
    if field_type.endswith("]"):
        item = field_type[: field_type.rindex("[")]
        return base64.b64decode(value) if item == "uint8" else [field_of(item, each) for each in value]
    if field_type in ("time", "duration"):
        kind = genpy.Time if field_type == "time" else genpy.Duration
        return kind(*(value.get(long, value.get(short, 0)) for long, short in (("secs", "sec"), ("nsecs", "nanosec"))))
    if "/" in field_type:
        return message_of(get_message_class(field_type), value)
    if field_type.startswith("float"):
        return float("nan") if value is None else float(value)
    return int(value) if "int" in field_type else value
