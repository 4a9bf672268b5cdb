#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# netns.sh N COMMAND [ARGS] - run COMMAND on the first of N pretended machines: network
# namespaces with a host name each (node1, node2, ...), an interface eth0 with an
# address of 10.99.0.0/24, and an Ethernet bridge between them that leads nowhere else.
#
# COMMAND finds in its environment
#   NETNS_HOSTS  node1,node2,...
#   NETNS_DIR    for netns/launch.sh (MPI's launchers start their daemons with it) and
#                netns/link.sh (takes a machine's link down)
#
# The machines are held by processes of this script's own and are gone when it is,
# whatever ended it; nothing of the real network is touched, no name is left behind.
# The file system and the process numbers are those of the real machine. Needs root, or
# a kernel that allows user namespaces; else, or where ip is missing: "SKIP: reason" and
# exit code 77.

skip() {
    echo "SKIP: network namespaces: $*"
    exit 77
}

# The bridge is in a namespace of its own: start again in it.
if test "$1" != --inside; then
    for tool in ip unshare nsenter setpriv; do
        command -v "$tool" >/dev/null || skip "$tool is missing (Debian: iproute2, util-linux)"
    done
    user=
    test "$(id -u)" = 0 || user=--map-root-user
    # shellcheck disable=SC2086 # a word or none
    why=$(unshare $user --net --uts --mount true 2>&1) || skip "not permitted here: $why"
    # shellcheck disable=SC2086
    why=$(unshare $user --net sh -c 'ip link add bridge type bridge && ip link add port1 type veth peer name port2' 2>&1) ||
        skip "no bridge or no veth: $why"
    # shellcheck disable=SC2086
    exec unshare $user --net --mount sh "$0" --inside "$@"
fi

nodes=$2
shift 2
NETNS_DIR=$(mktemp -d "${TMPDIR:-/tmp}/mpi-rma-netns.XXXXXX") || exit 1
holders=
finish() {
    for pid in $holders; do
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$NETNS_DIR"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
die() {
    echo "netns.sh: $*" >&2
    exit 1
}

hosts=$NETNS_DIR/hosts
echo "127.0.0.1 localhost" >"$hosts"
NETNS_HOSTS=
i=0
while test $i -lt "$nodes"; do
    i=$((i + 1))
    echo "10.99.0.$i node$i" >>"$hosts"
    NETNS_HOSTS=$NETNS_HOSTS${NETNS_HOSTS:+,}node$i
done
export NETNS_DIR NETNS_HOSTS

# nsenter --root: in a chroot a process that enters a mount namespace would find itself outside.
# A machine: held by a process that dies with this script.
machine() { # number
    setpriv --pdeathsig KILL unshare --net --uts --mount sleep 1000000 </dev/null >/dev/null 2>&1 &
    pid=$!
    holders="$holders $pid"
    tries=0
    while test "$(cat "/proc/$pid/comm")" != sleep; do
        tries=$((tries + 1))
        test $tries -lt 200 || die "node$1 does not start"
        sleep 0.05
    done
    ip link add "port$1" type veth peer name eth0 netns "$pid" && ip link set "port$1" master bridge up &&
        nsenter -t "$pid" --net --uts --mount --root sh -c "
            hostname node$1 && ip link set lo up && ip address add 10.99.0.$1/24 dev eth0 &&
            ip link set eth0 up && mount --bind '$hosts' /etc/hosts" ||
        die "can't set up node$1"
    echo "$pid" >"$NETNS_DIR/node$1"
}

ip link add bridge type bridge && ip link set bridge up || die "can't make a bridge"
i=0
while test $i -lt "$nodes"; do
    i=$((i + 1))
    machine $i
done
read -r first <"$NETNS_DIR/node1"
# Another mount namespace, so another working directory.
# shellcheck disable=SC2016 # for the inner shell
nsenter -t "$first" --net --uts --mount --root sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
