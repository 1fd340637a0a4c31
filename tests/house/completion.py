#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the completion of command lines in each shell that is installed, with the daemon of with_daemon.

    completion.py STAGE

Bash and zsh run on a terminal: a line and a tab are typed, and the rest of the word must appear. Fish prints its
candidates. Exits with 77 if none of the shells is installed.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# Lines, and the rest of the word that a tab adds.
LINES = [("dynamicsctl desc", "ribe"), ("dynamicsctl gravity qua", "druped"), ("dynamicsctl fk ur5 --fra", "me"),
         ("dynamicsctl fk ur5 --frame world,to", "ol0"), ("dynamicsctl fk ur5 --frame=to", "ol0"),
         ("dynamicsctl rollout ur5 --integrator r", "k4"), ("dynamicsctl id ur5 --q el", "bow_joint="),
         ("dynamicsctl id ur5 --payload to", "ol0:"), ("dynamicsctl id ur5 --states unusual", "_motion.csv"),
         ("dynamicsctl derive two_link att", "ach:"),
         ("dynamicsctl evaluate ur5 --quantity mass_matrix,coriolis_m", "atrix"), ("dynamicsd --check", "-config"),
         ("dynamics-compile --instr", "uction-set")]
PATIENCE = 20


class Terminal:
    """Shell on a terminal of its own."""

    def __init__(self, *command):
        self.text = ""
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="dumb", PS1="ready> ", HOME=os.getcwd(), HISTFILE="/dev/null")
            os.execvp(command[0], command)

    def expect(self, pattern):
        """Reads until the pattern has appeared, and forgets what was read."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.text):
            if time.monotonic() > end:
                raise AssertionError(f"{pattern!r} does not appear in {self.text!r}")
            if select.select([self.descriptor], [], [], 0.1)[0]:
                self.text += os.read(self.descriptor, 4096).decode("utf-8", "replace")
        self.text = ""

    def type(self, keys):
        """Types keys."""
        os.write(self.descriptor, keys.encode())

    def close(self):
        """Ends the shell."""
        os.close(self.descriptor)
        os.waitpid(self.process, 0)


def check(terminal):
    """Completes all lines on a terminal."""
    for line, rest in LINES:
        terminal.type(line)
        terminal.expect(re.escape(line))
        terminal.type("\t")
        terminal.expect(re.escape(rest))
        terminal.type("\x15\r")
        terminal.expect("ready> ")


def bash(share):
    """Checks the file of bash."""
    terminal = Terminal("bash", "--noprofile", "--norc", "-i")
    terminal.type("bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; complete -r\r")
    for program in ("dynamicsctl", "dynamicsd", "dynamics-compile"):
        terminal.type(f". {share}/bash-completion/completions/{program}\r")
    terminal.type("PS1='re''ady> '\r")
    terminal.expect("PS1.*\r\nready> ")
    check(terminal)
    terminal.close()


def zsh(share):
    """Checks the file of zsh."""
    terminal = Terminal("zsh", "-f", "-i")
    terminal.type(f"unsetopt zle_bracketed_paste prompt_sp; fpath=({share}/zsh/vendor-completions $fpath)\r")
    terminal.type("autoload -U compinit; compinit -u -D; unset zle_bracketed_paste; PROMPT='re''ady> '\r")
    terminal.expect("PROMPT=.*\r\n.*ready> ")
    check(terminal)
    terminal.close()


def fish(share):
    """Checks the files of fish."""
    directory = f"{share}/fish/vendor_completions.d"
    for line, rest in LINES:
        done = subprocess.run(["fish", "--no-config", "-c", f"source {directory}/{line.split()[0]}.fish; "
                               f"complete --do-complete '{line}'"], check=True, text=True, stdout=subprocess.PIPE)
        word = line.split()[-1] + rest
        found = [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]
        if found != [word]:
            raise AssertionError(f"fish completes {line!r} to {found}, not to {word!r}")


def main():
    share = pathlib.Path(sys.argv[1]).resolve() / "usr/share"
    shells = [shell for shell in (bash, zsh, fish) if shutil.which(shell.__name__)]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        pathlib.Path("unusual_motion.csv").touch()
        for shell in shells:
            shell(share)
            print(f"{shell.__name__}: {len(LINES)} lines")
        os.chdir("/")
    return 0 if shells else 77


if __name__ == "__main__":
    sys.exit(main())
