/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standstill.c - a helper process that shares the memory stops the threads by ptrace.
 *
 * A process cannot trace its own threads. So the caller makes a helper by clone with the address
 * space in common (CLONE_VM), and waits in the kernel until that is gone (CLONE_VFORK), as
 * posix_spawn does; meanwhile the helper uses the caller's thread-local storage. The helper stops
 * all threads but the caller, looks for threads until it finds no new one (one that was not stopped
 * yet may have made another), runs the function and lets them go. If it dies, the kernel lets them
 * go.
 *
 * Between the stops and the release the helper must not wait for anything that a stopped
 * thread could hold: no allocation, no stdio, no directory streams. A signal that a thread was
 * about to get when it stopped is given to it with the release.
 * No state, no locks. Linux only.
 */
#define _GNU_SOURCE 1 /* clone, PTRACE_SEIZE */
#include "standstill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#define HELPER_STACK ((size_t)256 << 10)
/* How long to wait for a stop: so many looks, after which come naps, which with the timer's slack
 * take longer than they say: about a second. By the clock it would be over for who is itself
 * stopped meanwhile. */
enum { MAX_THREADS = 4096, YIELDS = 200, NAPS = 14000, NAP_NS = 20000 };

struct thread {
    pid_t tid;
    bool stopped;
    int signal; /* to be delivered when it goes on */
};

struct standstill {
    void (*fn)(void *);
    void *arg;
    int dir;      /* /proc/self/task of the caller */
    pid_t caller; /* its thread id */
    bool done;    /* fn has run */
    const char *step;
    int error; /* of step, an errno */
    int naps;
    int nthreads;
    struct thread threads[MAX_THREADS];
};

/* As the kernel gives them (getdents64). */
struct entry {
    uint64_t ino;
    int64_t off;
    unsigned short len;
    unsigned char type;
    char name[];
};

static bool fail(struct standstill *s, const char *step, int error)
{
    s->step = step;
    s->error = error;
    return false;
}

static bool known(const struct standstill *s, pid_t tid)
{
    for (int i = 0; i < s->nthreads; i++)
        if (s->threads[i].tid == tid)
            return true;
    return tid == s->caller;
}

/* One that has ended, but is still listed, cannot be traced any more. name: its number. */
static bool has_ended(const struct standstill *s, const char *name)
{
    char path[32] = "", text[256];
    strncat(path, name, 20);
    strcat(path, "/stat");
    const int fd = openat(s->dir, path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')'); /* behind the command's name: the state */
    return !at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X';
}

/* Trace one more thread and ask it to stop; one that has just ended does not count. */
static bool seize(struct standstill *s, const char *name)
{
    const pid_t tid = (pid_t)strtol(name, NULL, 10);
    if (tid <= 0 || known(s, tid))
        return true;
    if (s->nthreads == MAX_THREADS)
        return fail(s, "too many threads", E2BIG);
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
        const int error = errno;
        return error == ESRCH || (error == EPERM && has_ended(s, name)) || fail(s, "ptrace", error);
    }
    s->threads[s->nthreads++] = (struct thread){.tid = tid};
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 && errno != ESRCH)
        return fail(s, "ptrace", errno);
    return true;
}

/* Seize those that are not yet; how many in *found. */
static bool seize_new(struct standstill *s, int *found)
{
    _Alignas(struct entry) char buf[2048];
    const int before = s->nthreads;
    long n;
    if (lseek(s->dir, 0, SEEK_SET) < 0)
        return fail(s, "/proc/self/task", errno);
    while ((n = syscall(SYS_getdents64, s->dir, buf, sizeof buf)) > 0)
        for (long at = 0; at < n;) {
            const struct entry *e = (const void *)(buf + at);
            at += e->len;
            if (!seize(s, e->name))
                return false;
        }
    *found = s->nthreads - before;
    return n == 0 || fail(s, "/proc/self/task", errno);
}

static void take_status(struct thread *t, int status)
{
    if (!WIFSTOPPED(status)) {
        t->tid = 0; /* it has ended */
        return;
    }
    t->stopped = true;
    if (status >> 16 == 0) /* about to get a signal; else the stop that was asked for */
        t->signal = WSTOPSIG(status);
}

static bool await_stop(struct standstill *s, struct thread *t)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (int looks = 0; t->tid && !t->stopped; looks++) {
        int status;
        const pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);
        if (got == t->tid)
            take_status(t, status);
        else if (got < 0 && errno != EINTR)
            return fail(s, "waitpid", errno);
        else if (looks < YIELDS)
            (void)sched_yield();
        else if (s->naps++ < NAPS)
            (void)nanosleep(&nap, NULL);
        else
            return fail(s, "a thread does not stop", ETIMEDOUT);
    }
    return true;
}

static bool stop_all(struct standstill *s)
{
    int found = 1;
    for (int stopped = 0; found;) {
        if (!seize_new(s, &found))
            return false;
        for (; stopped < s->nthreads; stopped++)
            if (!await_stop(s, &s->threads[stopped]))
                return false;
    }
    return true;
}

/* Those that are not stopped are let go when the helper ends. */
static void release_all(struct standstill *s)
{
    for (int i = 0; i < s->nthreads; i++)
        if (s->threads[i].tid && s->threads[i].stopped)
            (void)ptrace(PTRACE_DETACH, s->threads[i].tid, NULL,
                         (void *)(intptr_t)s->threads[i].signal);
}

static int helper_main(void *arg)
{
    struct standstill *s = arg;
    if (stop_all(s)) {
        s->fn(s->arg);
        s->done = true;
    }
    release_all(s);
    return 0;
}

/* The helper inherits the blocked signals: no handler runs in it. */
static void run_helper(struct standstill *s, char *stack)
{
    sigset_t all, old;
    int cancel, status;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    const pid_t helper =
        clone(helper_main, stack + HELPER_STACK, CLONE_VM | CLONE_VFORK | CLONE_UNTRACED, s);
    if (helper < 0)
        (void)fail(s, "clone", errno);
    else
        while (waitpid(helper, &status, __WALL) < 0 && errno == EINTR)
            ;
    pthread_setcancelstate(cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void explain(const struct standstill *s, char *text, size_t len)
{
    if (!s->step)
        snprintf(text, len,
                 "the other threads cannot be stopped: the helper process did not get to it");
    else
        snprintf(text, len, "the other threads cannot be stopped: %s: %s", s->step,
                 strerror(s->error));
}

/* Who is alone stays so: nobody else could make a thread. */
static bool is_alone(int dir)
{
    _Alignas(struct entry) char buf[512];
    int tasks = 0;
    long n;
    while ((n = syscall(SYS_getdents64, dir, buf, sizeof buf)) > 0)
        for (long at = 0; at < n; at += ((const struct entry *)(const void *)(buf + at))->len)
            tasks += ((const struct entry *)(const void *)(buf + at))->name[0] != '.';
    return n == 0 && tasks == 1;
}

int standstill_run(void (*fn)(void *arg), void *arg, char *text, size_t len)
{
    const int dir = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0 && is_alone(dir)) {
        close(dir);
        fn(arg);
        return MRMA_SUCCESS;
    }
    struct standstill *s = dir >= 0 ? calloc(1, sizeof *s) : NULL;
    char *stack = mmap(NULL, HELPER_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    bool done = false;
    if (s && stack != MAP_FAILED) {
        *s = (struct standstill){
            .fn = fn, .arg = arg, .dir = dir, .caller = (pid_t)syscall(SYS_gettid)};
        run_helper(s, stack);
        done = s->done;
        if (!done)
            explain(s, text, len);
    } else {
        snprintf(text, len, "the other threads cannot be stopped: %s", strerror(errno));
    }
    if (stack != MAP_FAILED)
        munmap(stack, HELPER_STACK);
    free(s);
    if (dir >= 0)
        close(dir);
    return done ? MRMA_SUCCESS : MRMA_ERR_OTHER;
}
