#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refuses comments that are no whole sentences.

    comments.py ROOT

reads the sources of lib, server, clients, proto, tests and deploy in C, C++, protobuf, JavaScript, Python, shell and
CMake, prints each comment that breaks a rule as file:line: rule: text, and exits with 1 if there is one. The rules hold
for comments on lines of their own, and for docstrings of Python:

- A comment begins with a noun or a verb, so its first word is none of CLAUSES.
- Its first letter is a capital. Exceptions are a formula, a name that is spelled in lower case (NAMES, or one that
  holds more than letters), and an identifier that the code of the file uses.
- It ends with a full stop. Exceptions are a formula, a comment without a word of four letters (such as a unit), an
  indented last line (a formula, a table or an example), an example of Python (from ">>> " on, after an empty line), a
  quotation in brackets or quotation marks, a line that ends with a colon before an enumeration, and a divider between
  parts of a file.
"""
import ast
import pathlib
import re
import sys

TOP = ["lib", "server", "clients", "proto", "tests", "deploy"]
KINDS = {".c", ".h", ".cpp", ".inc", ".proto", ".js", ".mjs"}
HASH_KINDS = {".py", ".cmake", ".conf", ".service"}
GENERATED = {"node_modules"}
CLAUSES = re.compile(r"(What|Who|Whose|Whether|That|The same|Same|And|Also)\b")
NAMES = {"nng", "valgrind", "libuv", "libwebsockets", "protobuf", "gcc", "clang", "glibc", "expat", "inih", "rosapi",
         "libdynamics", "libdynamicsclient", "dynamicsd", "dynamicsctl", "nq", "nv"}
# Words of English that are also names of variables.
WORDS = {"an", "and", "as", "at", "by", "for", "from", "if", "in", "is", "it", "no", "of", "on", "or", "same", "that",
         "the", "to", "what", "who", "with"}
DIRECTIVES = ("clang-format ", "NOLINT", "SPDX-License-Identifier", "fall through", "shellcheck ")
FORMULA = re.compile(r"\S{1,10}( \S)? [-+*/]?= ")
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|R\"\((?:.|\n)*?\)\"", re.S)


def comments(source):
    """Line, and lines of text without the marks, of each comment that stands on lines of its own."""
    last_end, pending = None, None
    for token in TOKEN.finditer(source):
        text, start = token.group(), token.start()
        if text[0] != "/":
            continue
        after = source.find("\n", token.end())
        rest = source[token.end():after if after >= 0 else len(source)]
        own_line = not source[source.rfind("\n", 0, start) + 1:start].strip() and not rest.strip(" \\")
        line = source.count("\n", 0, start) + 1
        if text.startswith("//"):
            is_next = pending is not None and own_line and source[last_end:start].count("\n") == 1
            if is_next and not source[last_end:start].strip():
                pending[1].append(re.sub(r"^/+ ?", "", text))
                last_end = token.end()
                continue
        if pending is not None:
            yield pending
            pending = None
        if not own_line:
            continue
        if text.startswith("//"):
            pending, last_end = (line, [re.sub(r"^/+ ?", "", text)]), token.end()
        else:
            body = text[2:-2].lstrip("*").split("\n")
            yield line, [body[0].strip()] + [re.sub(r"^\s*\*? ?", "", each) for each in body[1:]]
    if pending is not None:
        yield pending


def hash_comments(source):
    """Line, and lines of text without the marks, of each comment after # that stands on lines of its own."""
    first, block = 0, []
    for number, line in enumerate(source.split("\n") + [""], 1):
        match = re.match(r"[ \t]*#(?: (.*))?$", line)
        if match:
            first = first if block else number
            block.append(match.group(1) or "")
        elif block:
            yield first, block
            block = []


def docstrings(source):
    """Line, and lines of text, of each docstring of Python."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = node.body[0]
            text = re.sub(f"^ {{{first.col_offset}}}", "", first.value.value, flags=re.M)
            yield first.lineno, re.sub(r"\n\n>>> (?:(?!\n\n).)*\s*$", "", text, flags=re.S).split("\n")


def begins_low(text, code_words):
    """Returns whether the first word should have a capital letter."""
    match = re.match(r"[a-z]+(?=\s|$)", text)
    if not match:
        return False
    word, rest = match.group(), text[match.end():].lstrip()
    is_name = word in NAMES or len(word) == 1 or (word in code_words and word not in WORDS)
    return not is_name and not FORMULA.match(text) and not re.match(r"[-+*/^.~] ", rest)


def lacks_stop(lines):
    """Returns whether the comment should end with a full stop."""
    last = lines[-1]
    text = " ".join(lines).strip()
    if re.search(r"[.!?:][\"')\]`]*$", text) or re.search(r"[\"\])}>]$", text) and re.match(r"[\"\[({<]", text):
        return False
    is_formula = FORMULA.match(text) or not re.search(r"[A-Za-z]{4}", text)
    is_formula = is_formula or FORMULA.match(last) and not lines[-2].strip()
    return not is_formula and not (len(lines) > 1 and re.match(r"\s{2}", last))


def read(source, kind):
    """Words of the code, and all comments. `kind`: suffix of a file's name, or "#" for a script without one."""
    if kind in KINDS:
        return set(re.findall(r"[A-Za-z_]\w*", TOKEN.sub(" ", source))), comments(source)
    code = re.sub(r"^[ \t]*#.*$", "", source, flags=re.M)
    found = list(hash_comments(source)) + (list(docstrings(source)) if kind == ".py" else [])
    return set(re.findall(r"[A-Za-z_]\w*", code)), found


def faults(source, kind=".c"):
    """Line, rule and text of each fault."""
    code_words, found = read(source, kind)
    for line, lines in found:
        lines = [each.rstrip() for each in lines if not each.lstrip().startswith(DIRECTIVES)]
        while lines and not lines[0].strip():
            lines.pop(0)
        while lines and not lines[-1].strip():
            lines.pop()
        text = "\n".join(lines).strip()
        if not text or re.match(r"-{4}|={4}", text):
            continue
        shown = text.split("\n", maxsplit=1)[0]
        if CLAUSES.match(text):
            yield line, "begins with a clause", shown
        if begins_low(text, code_words):
            yield line, "begins in lower case", shown
        if lacks_stop(lines):
            yield line, "ends without a full stop", text.rsplit("\n", maxsplit=1)[-1]


def kind_of(path):
    """Suffix that decides how comments are read, "#" for a script without one, or None for another file."""
    if path.suffix in KINDS or path.suffix in HASH_KINDS:
        return path.suffix
    if path.name == "CMakeLists.txt":
        return "#"
    with path.open("rb") as file:
        return "#" if path.suffix == "" and file.read(2) == b"#!" else None


def check(root):
    for top in TOP:
        for path in sorted((root / top).rglob("*")):
            kind = kind_of(path) if path.is_file() and not GENERATED.intersection(path.parts) else None
            if kind:
                for line, rule, text in faults(path.read_text(encoding="utf-8"), kind):
                    yield f"{path.relative_to(root)}:{line}: {rule}: {text}"


def main():
    found = list(check(pathlib.Path(sys.argv[1])))
    print("\n".join(found + [f"{len(found)} comments that are no whole sentences"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
