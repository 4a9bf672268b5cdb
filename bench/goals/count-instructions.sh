#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# count-instructions.sh - instructions per MPI_Put and MPIRMA_Put_notify of 8 bytes and per empty
# MPI_Win_flush, on a window of MPI_Win_allocate in a lock_all epoch, and per lock,
# put and unlock, each with its limit; and MPI_Accumulate there, without one. MPI_Put again
# where it goes into a packet that is open (MPIRMA_PATH=shm-packets), and MPI_Rput with its MPI_Waitall there. Put and flush again where a trace is taken and
# MPI_Pcontrol has stopped the recording.
#
# Runs bench/rma/rma under callgrind (rank 0 only) with two numbers of calls, counts
# only inside the function that makes them, and divides the difference.
# Environment: RMA (the benchmark, default ./bench/rma/rma), MPIRMA_LIB (libmpi-rma.so; without it the host's own calls are
# counted), MPIEXEC (default that of the build), MPIEXEC_FLAGS. Exit code 1 when a goal is
# not met.

top_srcdir=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
rma=${RMA:-./bench/rma/rma}
lib=${MPIRMA_LIB:-}
. "$top_srcdir/scripts/options.sh"
answer_first "$@"
case ${1:-} in -*) unknown_option "$1" ;; esac
for need in valgrind awk; do
    if ! command -v $need >/dev/null 2>&1; then
        echo "count-instructions.sh: needs $need" >&2
        exit 2
    fi
done
if [ ! -x "$rma" ]; then
    echo "count-instructions.sh: no program '$rma' (use RMA)" >&2
    exit 2
fi
if [ -n "$lib" ] && [ ! -r "$lib" ]; then
    echo "count-instructions.sh: cannot read '$lib' (MPIRMA_LIB)" >&2
    exit 2
fi
case $lib in
"" | /*) ;;
*) lib=$PWD/$lib ;;
esac

benchmark=$rma
. "$top_srcdir/bench/common/launch.sh"

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# The program run by each rank: rank 0 under callgrind, the others plain.
cat >"$tmp/rank" <<'EOF'
#!/bin/sh
function=$1
out=$2
shift 2
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-}}}
if [ "$rank" = 0 ]; then
    exec valgrind -q --tool=callgrind --collect-atstart=no --toggle-collect="$function*" \
        --callgrind-out-file="$out" "$@"
fi
exec "$@"
EOF
chmod +x "$tmp/rank"

# count FUNCTION OPTION N: instructions inside the function.
count() {
    rm -f "$tmp/out"
    if ! launch 2 env ${lib:+LD_PRELOAD="$lib"} "$tmp/rank" "$1" "$tmp/out" "$rma" "$2=$3" \
        >"$tmp/log" 2>&1; then
        cat "$tmp/log" >&2
        return 1
    fi
    awk '/^(summary|totals):/ { n = $2 } END { if (n == "") exit 1; print n }' "$tmp/out"
}

# per_call FUNCTION OPTION WHAT [LIMIT]: of the calls behind the first LEAST of MOST.
LEAST=1000
MOST=3000
per_call() {
    few=$(count "$1" "$2" $LEAST) && many=$(count "$1" "$2" $MOST) || {
        echo "count-instructions.sh: no count for $3" >&2
        exit 2
    }
    awk -v few="$few" -v many="$many" -v calls=$((MOST - LEAST)) -v what="$3" -v limit="${4:-}" 'BEGIN {
        n = (many - few) / calls
        printf "%-36s %8.1f instructions", what, n
        if (limit == "")
            print ""
        else
            printf "   limit %d   %s\n", limit, n <= limit ? "met" : "NOT met"
        exit limit != "" && n > limit + 0
    }' || missed=1
}

missed=0
echo "$launcher, one-sided calls by ${lib:-the host}"
per_call callgrind_puts --callgrind-put "MPI_Put of 8 bytes, mapped" 110
test -z "$lib" || per_call callgrind_notified --callgrind-notified "MPIRMA_Put_notify of 8 bytes, mapped" 130
per_call callgrind_flushes --callgrind-flush "empty MPI_Win_flush" 35
per_call callgrind_locks --callgrind-lock "lock, put of 8 bytes, unlock, mapped" 260
per_call callgrind_acc_one --callgrind-acc "MPI_Accumulate of a double, mapped"
per_call callgrind_acc_eight --callgrind-acc "MPI_Accumulate of 8 doubles, mapped"
if test -n "$lib"; then
    # Where a trace is taken and the recording is stopped, which the benchmark does, a call looks whether a trace is taken.
    MPIRMA_TRACE=$tmp/trace
    export MPIRMA_TRACE
    per_call callgrind_puts --callgrind-put "MPI_Put of 8 bytes, not recorded" 110
    per_call callgrind_flushes --callgrind-flush "empty MPI_Win_flush, not recorded" 35
    unset MPIRMA_TRACE
    # So many that all of them fit into one packet.
    LEAST=500
    MOST=1500
    MPIRMA_PATH=shm-packets
    export MPIRMA_PATH
    per_call callgrind_puts --callgrind-put "MPI_Put of 8 bytes, by packet" 250
    per_call callgrind_rputs --callgrind-rput "MPI_Rput of 8 bytes, waited for, by packet" 310
fi
exit $missed
