#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the manual pages from the texts that --help prints, from the configuration and from headers.

    pages.py --programs DIR --project DIR --version VERSION --date DATE OUTPUT

The texts have one form. A line without indentation between an empty line and indented ones is a heading. A line whose
words are followed by two blanks, or by lines of deeper indentation, is an entry of a list. Other lines are paragraphs.
"""
import argparse
import pathlib
import re
import subprocess
import textwrap

SUMMARIES = {"dynamicsd": "rigid-body dynamics as a network service",
             "dynamics-rosbridge": "rosbridge protocol for dynamicsd: browsers and ROS",
             "dynamicsctl": "command line of dynamicsd",
             "dynamics-compile": "C code for the dynamics of one robot"}
SECTIONS = {"dynamicsd": 8, "dynamics-rosbridge": 8, "dynamicsctl": 1, "dynamics-compile": 1}
ENTRY = re.compile(r"^( *)(\S.*?) {2,}(\S.*)$")
HEADING = re.compile(r"[A-Z][\w ,]{0,40}:?")
SYMBOLS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq"}


def escaped(text):
    """Text for roff."""
    return "".join(SYMBOLS.get(letter, letter) for letter in text)


def filled(words):
    """Lines of a paragraph. None begins with a control character."""
    lines = textwrap.wrap(escaped(" ".join(words)), 100, break_long_words=False, break_on_hyphens=False)
    return [r"\&" + line if line.startswith((".", "'")) else line for line in lines]


def as_typed(lines):
    """Lines that keep their form."""
    body = [r"\&" + escaped(line) for line in textwrap.dedent("\n".join(lines)).splitlines()]
    return [".PP", ".RS 4", ".nf", *body, ".fi", ".RE"]


def indent_of(line):
    """Number of blanks before the text."""
    return len(line) - len(line.lstrip())


class Body:
    """Lines of a text under one heading, and what they become."""

    def __init__(self, lines):
        self.lines = lines
        self.at = 0
        self.made = []

    def deeper(self, indent):
        """Takes the next lines as long as their indentation is deeper."""
        taken = []
        while (self.at < len(self.lines) and self.lines[self.at] and indent_of(self.lines[self.at]) > indent
               and not re.match(r" +--\w", self.lines[self.at])):
            taken.append(self.lines[self.at].strip())
            self.at += 1
        return taken

    def is_entry(self, at):
        """Returns whether a line is an entry of a list."""
        line = self.lines[at]
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return bool(ENTRY.match(line)) or line.lstrip().startswith("-") or (
            bool(following) and indent_of(following) > indent_of(line) > 0)

    def entry(self):
        """Takes an entry of a list."""
        line = self.lines[self.at]
        self.at += 1
        found = ENTRY.match(line)
        term, text = (found.group(2), [found.group(3)]) if found else (line.strip(), [])
        self.made += [".TP", rf"\fB{escaped(term)}\fR", *(filled(text + self.deeper(indent_of(line))) or [r"\&"])]

    def paragraph(self):
        """Takes a paragraph."""
        taken = [self.lines[self.at].strip()]
        indent = indent_of(self.lines[self.at])
        self.at += 1
        while (self.at < len(self.lines) and self.lines[self.at] and indent_of(self.lines[self.at]) == indent
               and not (indent > 0 and self.is_entry(self.at))):
            taken.append(self.lines[self.at].strip())
            self.at += 1
        self.made += [".PP", *filled(taken)]

    def convert(self):
        """Lines of roff."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.at += 1
            elif re.fullmatch(r" *\[[\w ]+\]", line):
                self.made.append(f".SS {escaped(line.strip())}")
                self.at += 1
            elif self.is_entry(self.at) and indent_of(line) > 0:
                self.entry()
            else:
                self.paragraph()
        return self.made


def sections(text):
    """Headings and the lines below each. The first heading is empty."""
    lines = text.splitlines()
    found = [("", [])]
    for i, line in enumerate(lines):
        before, after = lines[i - 1] if i else "", lines[i + 1] if i + 1 < len(lines) else ""
        labelled = re.match(r"(Signals|Exit status|Exit codes): +(.*)", line)
        if labelled:
            found.append((labelled.group(1), [labelled.group(2)]))
        elif i > 0 and not before and after.startswith("  ") and HEADING.fullmatch(line):
            found.append((line.rstrip(":"), []))
        else:
            found[-1][1].append(line)
    return found


def converted(title, lines):
    """Roff of the lines below a heading."""
    if title.startswith(("Example", "First steps")):
        return as_typed([line for line in lines if line.startswith(" ")]) + Body(
            [line for line in lines if line and not line.startswith(" ")]).convert()
    return Body(lines).convert()


class Writer:
    """Writes pages of one version to a directory."""

    def __init__(self, options):
        self.options = options

    def page(self, name, section, summary, body, see):
        """Writes one page."""
        others = ",\n".join(rf".BR {escaped(other[:-3])} {other[-3:]}" for other in see).replace(",\n", " ,\n")
        head = f'.TH "{escaped(name.upper())}" "{section}" "{self.options.date}" "dynamicsd {self.options.version}"'
        lines = [r'.\" Generated from the texts of --help, headers and configuration.', head, ".SH NAME",
                 rf"{escaped(name)} \- {escaped(summary)}", *body, ".SH SEE ALSO", others]
        # A paragraph needs no macro after a heading.
        kept = [line for before, line in zip([""] + lines, lines)
                if line != ".PP" or not before.startswith((".SH", ".SS"))]
        directory = self.options.output / f"man{section}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.{section}").write_text("\n".join(kept) + "\n", encoding="utf-8")

    def help(self, program, *arguments):
        """Text that a program prints."""
        return subprocess.run([self.options.programs / program, *arguments, "--help"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def program(self, name, see):
        """Writes the page of a program."""
        body = []
        for title, lines in sections(self.help(name)):
            if title:
                body.append(f'.SH "{escaped(title.upper())}"')
                body += converted(title, lines)
                continue
            usage = next(line for line in lines if line.startswith("Usage: "))
            lines = [line for line in lines if line != usage and not line.startswith(f"{name}: ")]
            body += [".SH SYNOPSIS", rf"\fB{name}\fR {escaped(usage.split(name, 1)[1].strip())}"]
            rest = Body(lines).convert()
            body += [".SH DESCRIPTION", *rest] if rest else []
        self.page(name, SECTIONS[name], SUMMARIES[name], body, see)

    def groups(self):
        """Groups of commands: headings of dynamicsctl --help, and the commands below each."""
        found = {}
        for title, lines in sections(self.help("dynamicsctl")):
            names = [match.group(1) for line in lines if (match := re.match(r"  ([a-z][a-z-]*)", line))]
            if title.startswith("Options"):
                return found
            if title and names:
                found[title] = names
        return found

    def group(self, title, names):
        """Writes the page of a group of commands."""
        body = [".SH DESCRIPTION", "Options of every command, the daemon's address and exit codes are in",
                r".BR dynamicsctl (1).", ".SH COMMANDS"]
        for name in names:
            for heading, lines in sections(self.help("dynamicsctl", name)):
                if not heading:
                    usage = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
                    synopsis = escaped(lines[usage].removeprefix("Usage: "))
                    summary = " ".join(line.strip() for line in lines[:usage]).split(": ", 1)[1].strip()
                    body += [f'.SS "{synopsis}"', escaped(summary[0].upper() + summary[1:]) + ".",
                             *Body(lines[usage + 1:]).convert()]
                elif heading != "Options of every command":
                    lines = [line for line in lines if not heading.startswith("Example") or line.startswith(" ")]
                    body += [".PP", rf"\fI{escaped(heading)}\fR", *converted(heading, lines)]
        self.page(f"dynamicsctl-{title.lower()}", 1, f"commands of dynamicsctl: {', '.join(names)}", body,
                  ["dynamicsctl(1)", "dynamicsd(8)", "dynamics(7)"])

    def configuration(self):
        """Writes the page of the configuration from its example, whose comments precede the keys."""
        text = (self.options.project / "deploy/dynamicsd.conf").read_text(encoding="utf-8")
        body, comment, keys = [".SH DESCRIPTION"], [], []

        def flush():
            if keys:
                for i, key in enumerate(keys):
                    body.extend([".TP" if i == 0 else ".TQ", rf"\fB{escaped(key)}\fR"])
                body.extend([".RS", *Body(comment).convert(), ".RE"] if comment else [])
            elif comment:
                body.extend(Body(comment).convert())
            comment.clear()
            keys.clear()
        for line in text.splitlines():
            if re.match(r"#?\w+ =", line):
                keys.append(line.lstrip("#").rstrip())
            elif line.startswith("#"):
                if keys:
                    flush()
                comment.append(line[1:].removeprefix(" "))
            elif line.startswith(" ") and keys:
                keys[-1] += " " + line.strip()
            else:
                flush()
                body += [f'.SH "{escaped(line)}"'] if line else []
        flush()
        body += [".SH FILES", ".TP", r"\fB/etc/dynamicsd/dynamicsd.conf\fR", "The configuration of the service."]
        self.page("dynamicsd.conf", 5, "configuration of dynamicsd", body, ["dynamicsd(8)", "dynamicsctl(1)"])

    def conventions(self):
        """Writes the page of conventions from the contract and the header of the C client."""
        contract = (self.options.project / "proto/dynamics/v1/dynamics.proto").read_text(encoding="utf-8")
        comment = [line[2:].removeprefix(" ") for line in contract.split("syntax =")[0].splitlines()[1:]]
        header = (self.options.project / "clients/c/include/dynamics_client.h").read_text(encoding="utf-8")
        rules = re.search(r"\n \* Conventions\n(.*?)\n \*/", header, re.S).group(1)
        body = [".SH DESCRIPTION"]
        for part in "\n".join(comment).strip().split("\n\n"):
            body += as_typed(part.splitlines()) if part.startswith("  ") else Body(part.splitlines()).convert()
        body += [".SH CONVENTIONS", *Body([line[3:] for line in rules.splitlines()]).convert()]
        self.page("dynamics", 7, "equation of motion and conventions of dynamicsd and its libraries", body,
                  ["dynamicsd(8)", "dynamicsctl(1)", "dynamics-compile(1)"])


def main():
    parser = argparse.ArgumentParser(description="Writes the manual pages.")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--project", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("output", type=pathlib.Path)
    writer = Writer(parser.parse_args())
    groups = writer.groups()
    pages = [f"dynamicsctl-{title.lower()}(1)" for title in groups]
    writer.program("dynamicsctl", [*pages, "dynamicsd(8)", "dynamicsd.conf(5)", "dynamics(7)"])
    for title, names in groups.items():
        writer.group(title, names)
    writer.program("dynamicsd", ["dynamicsctl(1)", "dynamics-rosbridge(8)", "dynamicsd.conf(5)", "dynamics(7)"])
    writer.program("dynamics-rosbridge", ["dynamicsd(8)", "dynamicsctl(1)"])
    if (writer.options.programs / "dynamics-compile").exists():
        writer.program("dynamics-compile", ["dynamicsd(8)", "dynamics(7)"])
    writer.configuration()
    writer.conventions()


if __name__ == "__main__":
    main()
