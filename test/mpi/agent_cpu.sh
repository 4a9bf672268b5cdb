#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# agent_cpu.sh - MPIRMA_AGENT_CPU binds the agent thread (agent_cpu.c), and a processor that the machine does not
# have is told by each process and does no harm.

. "$abs_top_srcdir/test/mpi/mtest.sh"
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
last=${cpus##*[,-]}
test "$last" != "$cpus" || skip_all "with one processor a thread that is bound to it cannot be told from others"
test "$last" -lt 1023 || skip_all "this machine has the processor that is to be missing"

mpirun "$np" env MPIRMA_AGENT_CPU="$last" "$bin/agent_cpu" "$last" bound
test "$rc" = 0 || bad "bound to processor $last: exit code $rc"
seen 'MPIRMA_AGENT_CPU' && bad "a warning though nothing was refused:"

mpirun "$np" env MPIRMA_AGENT_CPU=1023 "$bin/agent_cpu" 1023 refused
test "$rc" = 0 || bad "a processor that is not there: exit code $rc"
seen 'warning: MPIRMA_AGENT_CPU=1023: the agent thread cannot be bound' || bad "no warning:"
finish
