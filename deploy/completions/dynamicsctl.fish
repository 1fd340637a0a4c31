# SPDX-License-Identifier: BSD-2-Clause
# Completion of fish for the programs of dynamicsd.

function __dynamicsctl_candidates
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l program $words[1]
    set -e words[1]
    set -l word (commandline --current-token --cut-at-cursor)
    for line in ($program complete $words "$word" 2>/dev/null)
        if test "$line" = "<file>"
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end

# Options of a program that has no commands.
function __dynamics_options
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    $words[1] --help | string replace --regex --filter '^ +(-[a-z], )?(--[a-z-]+)( [A-Z.,=]+)? *(.*)' '$2\t$4'
end

complete --command dynamicsctl --no-files --arguments '(__dynamicsctl_candidates)'
for program in dynamicsd dynamics-rosbridge dynamics-compile
    complete --command $program --arguments '(__dynamics_options)'
end
