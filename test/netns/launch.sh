#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# launch.sh [SWITCHES] HOST COMMAND... - in place of ssh for MPI's launchers: run COMMAND
# on a machine of netns.sh. The environment goes along, which ssh would not do.

while :; do
    case $1 in
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
pid=
test -z "$NETNS_DIR" || read -r pid <"$NETNS_DIR/$host"
test -n "$pid" || {
    echo "launch.sh: no machine '$host'" >&2
    exit 1
}
exec nsenter -t "$pid" --net --uts --mount --root sh -c "cd '$PWD' && $*"
