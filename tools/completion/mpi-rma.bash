# SPDX-License-Identifier: BSD-3-Clause
# Completion of bash for mpi-rma-run, mpi-rma-info, mpi-rma-halo and mpi-rma-trace: the options that --help of the command names,
# the hosts, and behind them commands and files.

_mpi_rma()
{
    local command=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

    # bash takes "=" for a word of its own.
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $before == --host ]]; then
        mapfile -t COMPREPLY < <(compgen -W "mpich openmpi abi" -- "$word")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
    elif [[ ${command##*/} == mpi-rma-run ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _mpi_rma mpi-rma-run mpi-rma-info mpi-rma-halo mpi-rma-trace
