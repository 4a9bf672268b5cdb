#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# launch.sh [SWITCHES] HOST COMMAND... - in place of ssh for MPI's launchers: run COMMAND on one of the two machines of
# scripts/fabric.sh, in the same directory and with the same environment. The second machine has a shell that reads
# from a connection (init).

while :; do
    case $1 in
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
test "$host" != "$(uname -n)" || exec sh -c "$*"
{
    export -p
    echo "exec </dev/null; cd '$PWD' && $*"
} | busybox nc "$host" 7000
