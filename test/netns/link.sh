#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# link.sh HOST down|up - take a machine of netns.sh off the network, or back.

read -r pid <"$NETNS_DIR/$1" && exec nsenter -t "$pid" --net ip link set eth0 "$2"
