/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cma_probe.c - tries whether process_vm_readv and _writev work, instead of guessing.
 *
 * The forked target holds a word at an address that all three processes know (they are copies). A
 * process that probes reads the word, writes another value and reads that back, so a wrong process
 * or a lost write is noticed. The target only waits on a pipe: it permits tracers when told to
 * (PR_SET_PTRACER), and ends when the parent closes its end. Bytes over pipes keep the order of the
 * steps; a process that dies closes its ends, so nobody waits for it. No locks, no state.
 *
 * Neighbours: engine_peer.c probes each peer on the node; mpi-rma-info probes processes that it
 * forks.
 */
#define _GNU_SOURCE 1 /* process_vm_readv */
#include "shm/cma_probe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD_AT_FORK UINT64_C(0x6d70692d726d6101)
#define WORD_IN_TARGET UINT64_C(0x6d70692d726d6102)

int cma_probe_peer(pid_t pid, uint64_t remote_addr, uint64_t expected_value)
{
    uint64_t value = ~expected_value;
    struct iovec local = {.iov_base = &value, .iov_len = sizeof value};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)remote_addr, .iov_len = sizeof value};
    ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

    if (n < 0)
        return errno;
    return n == (ssize_t)sizeof value && value == expected_value ? 0 : CMA_PROBE_MISMATCH;
}

/* probe_both reads old, writes new and reads that back. */
static int probe_both(pid_t pid, uint64_t *word, uint64_t old, uint64_t new)
{
    struct iovec local = {.iov_base = &new, .iov_len = sizeof new};
    struct iovec remote = {.iov_base = word, .iov_len = sizeof *word};
    int result = cma_probe_peer(pid, (uint64_t)(uintptr_t)word, old);

    if (result != 0)
        return result;
    ssize_t n = process_vm_writev(pid, &local, 1, &remote, 1, 0);
    if (n < 0)
        return errno;
    if (n != (ssize_t)sizeof new)
        return CMA_PROBE_MISMATCH;
    return cma_probe_peer(pid, (uint64_t)(uintptr_t)word, new);
}

int cma_permit_peers(void)
{
    return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0 ? 0 : errno;
}

/* send_int sends one int over a pipe; false if the other side is gone. */
static bool send_int(int fd, int value)
{
    ssize_t n;
    do
        n = write(fd, &value, sizeof value);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof value;
}

static bool recv_int(int fd, int *value)
{
    ssize_t n;
    do
        n = read(fd, value, sizeof *value);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *value;
}

/* A forked process that gets requests over one pipe and answers on another. */
struct helper {
    pid_t pid;
    int to, from; /* the parent's ends */
};

/* target_main is the target: every request but the first makes it permit all tracers. */
static void target_main(int in, int out, uint64_t *word)
{
    int request;

    *word = WORD_IN_TARGET;
    while (recv_int(in, &request)) {
        int result = request == 0 ? 0 : cma_permit_peers();
        if (!send_int(out, result))
            return;
    }
}

/* sibling_main is the sibling: each request is the value of the word that it has to find. */
static void sibling_main(int in, int out, pid_t target, uint64_t *word)
{
    int low;

    while (recv_int(in, &low)) {
        uint64_t old = (WORD_IN_TARGET & ~UINT64_C(0xff)) | (uint64_t)low;
        if (!send_int(out, probe_both(target, word, old, old + 1)))
            return;
    }
}

/* helper_start forks. If target is 0 the child becomes the target, else the sibling that probes the
 * target. Returns 0 or an errno. close_to is the target's request pipe, which the sibling closes,
 * since it must end when the parent closes it. */
static int helper_start(struct helper *helper, pid_t target, int close_to, uint64_t *word)
{
    int request[2], answer[2];

    if (pipe(request) != 0)
        return errno;
    if (pipe(answer) != 0) {
        int e = errno;
        close(request[0]), close(request[1]);
        return e;
    }
    helper->pid = fork();
    int e = errno;
    if (helper->pid == 0) {
        close(request[1]), close(answer[0]);
        if (close_to >= 0)
            close(close_to);
        if (target == 0)
            target_main(request[0], answer[1], word);
        else
            sibling_main(request[0], answer[1], target, word);
        _exit(0);
    }
    close(request[0]), close(answer[1]);
    if (helper->pid < 0) {
        close(request[1]), close(answer[0]);
        return e;
    }
    helper->to = request[1];
    helper->from = answer[0];
    return 0;
}

static void helper_end(struct helper *helper)
{
    close(helper->to);
    close(helper->from);
    while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* helper_ask sends a request and returns the answer; ESRCH if the helper is gone. */
static int helper_ask(const struct helper *helper, int request)
{
    int answer;
    if (!send_int(helper->to, request) || !recv_int(helper->from, &answer))
        return ESRCH;
    return answer;
}

/* yama_scope returns the number in /proc/sys/kernel/yama/ptrace_scope; -1: there is no Yama, or it
 * does not tell. */
static int yama_scope(void)
{
    int scope = -1;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");

    if (f == NULL)
        return -1;
    if (fscanf(f, "%d", &scope) != 1)
        scope = -1;
    fclose(f);
    return scope;
}

/* The word's low byte counts the writes that went through. */
static void probe_helpers(struct cma_probe *out, struct helper *target, struct helper *sibling,
                          uint64_t *word)
{
    uint64_t value = WORD_IN_TARGET;
    int ready = helper_ask(target, 0);

    out->child = ready != 0 ? ready : probe_both(target->pid, word, value, value + 1);
    value += out->child == 0;
    out->sibling = helper_ask(sibling, (int)(value & 0xff));
    value += out->sibling == 0;
    out->permitted = out->sibling;
    if (out->sibling != 0 && helper_ask(target, 1) == 0)
        out->permitted = helper_ask(sibling, (int)(value & 0xff));
}

int cma_probe_self(struct cma_probe *out)
{
    uint64_t word = WORD_AT_FORK;
    struct helper target, sibling;

    out->yama_scope = yama_scope();
    int e = helper_start(&target, 0, -1, &word);
    out->child = out->sibling = out->permitted = e;
    if (e != 0)
        return e;
    e = helper_start(&sibling, target.pid, target.to, &word);
    out->child = out->sibling = out->permitted = e;
    if (e == 0) {
        probe_helpers(out, &target, &sibling, &word);
        helper_end(&sibling);
    }
    helper_end(&target);
    return e;
}

static const char *explain_eperm(int yama_scope)
{
    switch (yama_scope) {
    case 1:
        return "Yama's ptrace scope 1 allows only descendants; the ranks of a job are siblings "
               "(sysctl kernel.yama.ptrace_scope=0, or the target permits it, as with "
               "MPIRMA_PTRACER=any)";
    case 2:
        return "Yama's ptrace scope 2 allows only processes with CAP_SYS_PTRACE "
               "(sysctl kernel.yama.ptrace_scope=0)";
    case 3:
        return "Yama's ptrace scope 3 allows nobody, and stays until the next boot";
    default:
        return "not permitted: a seccomp filter (container profile without CAP_SYS_PTRACE), "
               "another user, "
               "a process that is not dumpable, or a security module";
    }
}

const char *cma_probe_explain(int result, int yama_scope, char *buf, size_t len)
{
    switch (result) {
    case 0:
        snprintf(buf, len, "works");
        break;
    case CMA_PROBE_MISMATCH:
        snprintf(buf, len, "the process id means another process here (different PID namespaces)");
        break;
    case EPERM:
    case EACCES:
        snprintf(buf, len, "%s: %s", strerror(result), explain_eperm(yama_scope));
        break;
    case ENOSYS:
        snprintf(buf, len,
                 "%s: the kernel lacks CONFIG_CROSS_MEMORY_ATTACH, or a filter hides the call",
                 strerror(result));
        break;
    case ESRCH:
        snprintf(buf, len,
                 "%s: the process has ended, or its id is not visible here "
                 "(different PID namespaces)",
                 strerror(result));
        break;
    default:
        snprintf(buf, len, "%s", strerror(result));
    }
    return buf;
}
