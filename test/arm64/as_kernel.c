/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * as_kernel.c - where qemu-user does not do as the kernel does, for the programs that
 * test/arm64/run.sh runs under it, which preloads this.
 *
 * It lacks process_vm_readv and process_vm_writev. The bytes go through /proc/PID/mem, which asks
 * for the same permission; an address of the emulated program is one of the emulator's process.
 *
 * It makes a stat file of its own for the process that asks for its own, in which the time of the
 * start is wrong, so that a process seems to be another one than its peers see. It knows the file
 * by the beginning of its name, and leaves "//proc/self/stat" to the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                               const struct iovec *remote, unsigned long nremote,
                               unsigned long flags);
SHOWN ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long nlocal,
                                const struct iovec *remote, unsigned long nremote,
                                unsigned long flags);
SHOWN int open(const char *path, int flags, ...);

struct walk {
    const struct iovec *at;
    unsigned long left; /* pieces */
    size_t done;        /* bytes of the first of them */
};

static size_t rest_of_piece(struct walk *w)
{
    while (w->left && w->done == w->at->iov_len) {
        w->at++, w->left--;
        w->done = 0;
    }
    return w->left ? w->at->iov_len - w->done : 0;
}

static ssize_t copy(int fd, struct walk local, struct walk remote, bool store)
{
    ssize_t sum = 0;
    size_t nl, nr;

    while ((nl = rest_of_piece(&local)) && (nr = rest_of_piece(&remote))) {
        char *here = (char *)local.at->iov_base + local.done;
        const off_t there = (off_t)((char *)remote.at->iov_base + remote.done);
        const size_t len = nl < nr ? nl : nr;
        const ssize_t n = store ? pwrite(fd, here, len, there) : pread(fd, here, len, there);
        if (n <= 0) {
            errno = EFAULT;
            return sum ? sum : -1;
        }
        local.done += (size_t)n, remote.done += (size_t)n;
        sum += n;
    }
    return sum;
}

static ssize_t open_and_copy(pid_t pid, struct walk local, struct walk remote, bool store)
{
    char name[32];

    snprintf(name, sizeof name, "/proc/%d/mem", (int)pid);
    const int fd = open(name, O_CLOEXEC | (store ? O_WRONLY : O_RDONLY));
    if (fd < 0) {
        errno = errno == ENOENT ? ESRCH : errno == EACCES ? EPERM : errno;
        return -1;
    }
    const ssize_t n = copy(fd, local, remote, store);
    const int err = errno;
    close(fd);
    errno = err;
    return n;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
                         const struct iovec *remote, unsigned long nremote, unsigned long flags)
{
    (void)flags;
    return open_and_copy(pid, (struct walk){local, nlocal, 0}, (struct walk){remote, nremote, 0},
                         false);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long nlocal,
                          const struct iovec *remote, unsigned long nremote, unsigned long flags)
{
    (void)flags;
    return open_and_copy(pid, (struct walk){local, nlocal, 0}, (struct walk){remote, nremote, 0},
                         true);
}

static bool is_own_stat(const char *path)
{
    char own[32];

    snprintf(own, sizeof own, "/proc/%d/stat", (int)getpid());
    return strcmp(path, "/proc/self/stat") == 0 || strcmp(path, own) == 0;
}

int open(const char *path, int flags, ...)
{
    va_list args;

    va_start(args, flags);
    const bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    const int mode = has_mode ? va_arg(args, int) : 0;
    va_end(args);
    if (is_own_stat(path))
        path = "//proc/self/stat";
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
