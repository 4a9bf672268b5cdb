/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma_probe.h - finds out whether the kernel lets processes copy to and from each other.
 *
 * process_vm_readv and process_vm_writev (cross memory attach) may be missing,
 * filtered by a container's seccomp profile, or refused by the ptrace rules. The
 * engine asks a real peer (cma_probe_peer); mpi-rma-info has no peers and asks
 * processes that it forks (cma_probe_self), siblings among them: Yama's scope 1
 * permits a process to reach its descendants and refuses it its siblings, and the
 * ranks of a job are siblings. No state, no locks.
 */
#ifndef MRMA_SHM_CMA_PROBE_H
#define MRMA_SHM_CMA_PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CMA_PROBE_MISMATCH (-1) /* something was read, but not from the process that was meant */

/* cma_probe_peer reads the 8 bytes at address remote_addr of process pid and compares them with
 * expected_value. Returns 0 if it works; CMA_PROBE_MISMATCH if another value was there, since pid
 * names another process here (another PID namespace); else the errno of process_vm_readv. */
int cma_probe_peer(pid_t pid, uint64_t remote_addr, uint64_t expected_value);

/* Each result is 0, CMA_PROBE_MISMATCH or an errno, for read and then write. */
struct cma_probe {
    int child;      /* against a descendant */
    int sibling;    /* from one child to another, as between the ranks of a job */
    int permitted;  /* the same after the target said prctl(PR_SET_PTRACER_ANY) */
    int yama_scope; /* /proc/sys/kernel/yama/ptrace_scope, -1: no Yama */
};

/* cma_probe_self fills *out by forking two processes, for which it waits. Only for programs with
 * one thread. Returns 0; or, if nothing could be tried (no more processes or descriptors), the
 * errno, which all three results then have, too. */
int cma_probe_self(struct cma_probe *out);

/* cma_probe_explain writes one sentence about a result to buf (len bytes): why it is refused and
 * what would help. yama_scope is that of struct cma_probe. Returns buf. */
const char *cma_probe_explain(int result, int yama_scope, char *buf, size_t len);

/* cma_permit_peers lets every process of this user reach this one, where Yama's scope 1 would
 * refuse it (prctl PR_SET_PTRACER; elsewhere no effect). A process calls it if peers are to reach
 * its memory, before they probe. Returns 0, or an errno: EINVAL without Yama, where no permission
 * is needed. */
int cma_permit_peers(void);

#endif
