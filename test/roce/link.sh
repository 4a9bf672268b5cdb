#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# link.sh node2 down - switch the second machine of scripts/fabric.sh off, at once and for good, as if its current were cut.

test "$*" = "node2 down" || {
    echo "link.sh: only 'node2 down', not '$*'" >&2
    exit 1
}
sh "${0%/*}/launch.sh" node2 "echo b >/proc/sysrq-trigger" &
sleep 1
