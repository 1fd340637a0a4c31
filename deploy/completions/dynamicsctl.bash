# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Completion of bash for the programs of dynamicsd.

_dynamicsctl() {
    local words word candidate head line=${COMP_LINE:0:COMP_POINT}
    COMPREPLY=()
    # Bash splits words at = and : too, which the program takes as parts of them.
    read -ra words <<<"$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    word=${COMP_WORDS[COMP_CWORD]}
    head=${words[-1]%"$word"}
    while IFS=$'\t' read -r candidate _; do
        if [[ $candidate == "<file>" ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
            printf -v candidate %q "${candidate#"$head"}"
            COMPREPLY+=("$candidate")
        fi
    done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
    # A value follows an equals sign or a colon.
    [[ ${COMPREPLY[0]-} != *[=:] ]] || compopt -o nospace
}

# Options of a program that has no commands.
_dynamics_options() {
    local word=${COMP_WORDS[COMP_CWORD]}
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help | sed -nE 's/^ +(-[a-z], )?(--[a-z-]+).*/\2/p')" -- "$word")
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _dynamicsctl dynamicsctl
complete -F _dynamics_options dynamicsd dynamics-rosbridge dynamics-compile
