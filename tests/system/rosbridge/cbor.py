# SPDX-License-Identifier: BSD-2-Clause
"""CBOR as the tests need it (another implementation than the gateway's), and text in PNG images."""
import base64
import struct
import zlib


def _head(major, value):
    for size, code, form in ((1, 24, "B"), (2, 25, ">H"), (4, 26, ">I"), (8, 27, ">Q")):
        if value < 24:
            return bytes([major << 5 | value])
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + struct.pack(form, value)
    raise ValueError(value)


def encode(value):
    if isinstance(value, bool) or value is None:
        return {True: b"\xf5", False: b"\xf4", None: b"\xf6"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(encode(key) + encode(item) for key, item in value.items())
    if value and all(isinstance(item, float) for item in value):
        return b"\xd8\x56" + _head(2, 8 * len(value)) + struct.pack(f"<{len(value)}d", *value)
    return _head(4, len(value)) + b"".join(map(encode, value))


def _decode(data, at):
    major, low = data[at] >> 5, data[at] & 31
    at += 1
    if major == 7 and low in (20, 21, 22):
        return {20: False, 21: True, 22: None}[low], at
    if major == 7:
        return struct.unpack_from(">d", data, at)[0], at + 8
    size = {24: 1, 25: 2, 26: 4, 27: 8}.get(low, 0)
    value = int.from_bytes(data[at:at + size], "big") if size else low
    at += size
    if major == 0:
        return value, at
    if major == 1:
        return -1 - value, at
    if major in (2, 3):
        taken = data[at:at + value]
        return (taken if major == 2 else taken.decode()), at + value
    if major == 6:
        item, at = _decode(data, at)
        assert value == 86, value
        return list(struct.unpack(f"<{len(item) // 8}d", item)), at
    items = []
    for _ in range(value * (2 if major == 5 else 1)):
        item, at = _decode(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if major == 5 else items), at


def decode(data):
    value, at = _decode(data, 0)
    assert at == len(data)
    return value


def base64_text(data):
    return base64.b64encode(data).decode()


def png_text(data):
    """The text in the base64 of an RGB image."""
    image, at, parts, width = base64.b64decode(data), 8, [], 0
    while at < len(image):
        size, kind = struct.unpack_from(">I4s", image, at)
        body = image[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width = struct.unpack_from(">I", body)[0]
        if kind == b"IDAT":
            parts.append(body)
        at += 12 + size
    rows, stride, before, text = zlib.decompress(b"".join(parts)), 3 * width, bytearray(3 * width), b""
    for start in range(0, len(rows), stride + 1):
        line, row = rows[start], bytearray(rows[start + 1:start + 1 + stride])
        for i in range(stride):
            left, up = (row[i - 3] if i > 2 else 0), before[i]
            corner = before[i - 3] if i > 2 else 0
            if line == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            else:
                near = (0, left, up, (left + up) // 2)[line]
            row[i] = (row[i] + near) & 255
        before, text = row, text + bytes(row)
    return text.decode()
