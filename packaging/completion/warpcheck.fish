# SPDX-License-Identifier: BSD-2-Clause
#
# Completion of warpcheck and iwarp-peer for fish: what `warpcheck complete` finds.

function __warpcheck_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r 'iwarp-peer$' warpcheck -- $words[1])
    for line in ($program complete -- $words "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end

complete -c warpcheck -f -a '(__warpcheck_candidates)'
complete -c iwarp-peer -f -a '(__warpcheck_candidates)'
