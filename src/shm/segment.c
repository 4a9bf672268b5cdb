/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.c - unnamed shared files: creates and commits them, and finds those of peers.
 *
 * Invariants: a file's length is fixed from creation on (a memfd is sealed, an unnamed file cannot
 * be opened by name), so a mapping never reaches beyond the end of its file; and pages are touched
 * only after seg_commit, so an access never waits for an allocation that may fail with a signal. A
 * memfd and a file on tmpfs are memory: before much is committed there, the request is compared
 * with what the system can give, since a lack of memory later means the OOM killer.
 *
 * No locks: a segment is used by one thread at a time. Neighbours: heap.c, whose chunks are
 * segments; mem_avail.c; the engine, which makes and opens others.
 */
#define _GNU_SOURCE 1 /* memfd_create, O_TMPFILE, fallocate */
#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/err.h"
#include "shm/mem_avail.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define CHECK_FROM ((size_t)16 << 20) /* smaller commits do not ask for available memory */
#define STEP ((size_t)64 << 20)    /* bytes per fallocate; a signal costs at most this much work */
#define MIN_STEP ((size_t)1 << 20) /* how small signals may make it */
#define TMPFS_TYPE 0x01021994      /* statfs(2) */
#define NOEXEC_SEAL 0x0008U        /* memfd_create(2), Linux 6.3; newer than many headers */
#define POPULATE_WRITE 23          /* madvise(2), Linux 5.14; likewise */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* file_size_allowed returns whether the process's file size limit allows the size; beyond the limit
 * the system sends a signal (SIGXFSZ) instead of returning an error. */
static bool file_size_allowed(size_t size)
{
    struct rlimit lim;
    return getrlimit(RLIMIT_FSIZE, &lim) != 0 || lim.rlim_cur == RLIM_INFINITY ||
           size <= lim.rlim_cur;
}

/* open_failed is called when a descriptor could not be opened, with errno e; what names the
 * attempt. The message tells how many descriptors a window needs: the others' memory, a ring to
 * each, and a pidfd. */
static int open_failed(const struct log *log, int e, const char *what)
{
    struct rlimit lim;

    if (e == EMFILE && getrlimit(RLIMIT_NOFILE, &lim) == 0)
        return log_fail(
            log, MRMA_ERR_OTHER,
            "too few file descriptors: %s: the limit is %llu (ulimit -n) "
            "and all are in use, a window needs up to 3 for each of its processes on the node",
            what, (unsigned long long)lim.rlim_cur);
    if (e == ENFILE)
        return log_fail(
            log, MRMA_ERR_OTHER,
            "too few file descriptors: %s: all of the system's are in use "
            "(sysctl fs.file-max), a window needs up to 3 for each of its processes on the node",
            what);
    if (e == ENOMEM || e == ENOSPC || e == EDQUOT)
        return log_fail(log, MRMA_ERR_NO_MEM, "%s: %s", what, strerror(e));
    return log_fail(log, MRMA_ERR_OTHER, "%s: %s", what, strerror(e));
}

/* The memfd is not executable where the kernel knows the flag, since some systems refuse memfds
 * without it. */
static int open_memfd(const struct log *log, int *fd)
{
    *fd = memfd_create("mpi-rma", MFD_CLOEXEC | NOEXEC_SEAL);
    if (*fd < 0 && errno == EINVAL)
        *fd = memfd_create("mpi-rma", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return *fd >= 0 ? MRMA_SUCCESS
                    : open_failed(log, errno, "cannot create a shared segment (memfd_create)");
}

static int open_unnamed(const char *dir, size_t size, const struct log *log, int *fd)
{
    struct statfs fs;
    char what[320];

    do
        *fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0) {
        int e = errno;
        if (e == EOPNOTSUPP || e == EISDIR)
            return log_fail(log, MRMA_ERR_OTHER,
                            "the file system of %s has no unnamed files (O_TMPFILE); "
                            "choose another MPIRMA_SEGMENT_DIR or leave it unset",
                            dir);
        snprintf(what, sizeof what, "MPIRMA_SEGMENT_DIR: cannot create a shared segment in %s",
                 dir);
        return open_failed(log, e, what);
    }
    if (fstatfs(*fd, &fs) != 0 || fs.f_blocks == 0) /* a tmpfs without a limit reports 0 blocks */
        return MRMA_SUCCESS;
    unsigned long long total = (unsigned long long)fs.f_blocks * (unsigned long long)fs.f_bsize;
    if (size > total)
        return log_fail(log, MRMA_ERR_NO_MEM,
                        "MPIRMA_SEGMENT_DIR: a shared segment of %zu bytes cannot fit in %s, which "
                        "has %llu bytes in all",
                        size, dir, total);
    return MRMA_SUCCESS;
}

/* map_file_at maps the first size bytes of the file shared at that address. Huge pages are only a
 * wish, which is refused where there are none. */
static void *map_file_at(int fd, size_t size, void *at)
{
    const int how = MAP_SHARED | MAP_FIXED;

    if (mmap(at, size, PROT_READ | PROT_WRITE, how, fd, 0) == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_HUGEPAGE);
    return at;
}

/* map_file maps the first size bytes of the file shared, at any address. A mapping of at least a
 * huge page begins at a multiple of the huge page size, since otherwise the kernel could not use
 * huge pages. NULL and errno on failure. */
static void *map_file(int fd, size_t size)
{
    if (size < HUGE_PAGE || size > SIZE_MAX - HUGE_PAGE) {
        void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        return base == MAP_FAILED ? NULL : base;
    }
    char *room =
        mmap(NULL, size + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    size_t skip = -(uintptr_t)room & (HUGE_PAGE - 1);
    if (map_file_at(fd, size, room + skip) == NULL) {
        int e = errno;
        munmap(room, size + HUGE_PAGE);
        errno = e;
        return NULL;
    }
    if (skip > 0)
        munmap(room, skip);
    munmap(room + skip + size, HUGE_PAGE - skip);
    return room + skip;
}

/* counts_every_page returns whether the kernel counts every page against a commit limit, so that a
 * touch can fail with a signal.
 */
static bool counts_every_page(void)
{
    char mode = '2'; /* where that cannot be read, it is better to be sure */
    const int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return true;
    if (read(fd, &mode, 1) != 1)
        mode = '2';
    close(fd);
    return mode == '2';
}

/* touch_cannot_fail returns whether the file is memory without a limit of its own, so that a touch
 * waits for a page as any touch of memory does. */
static bool touch_cannot_fail(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_TYPE && fs.f_blocks == 0 &&
           !counts_every_page();
}

/* set_length gives the new file its length, and fills *seg except for the mapping. */
static int set_length(int fd, size_t size, bool sealable, const struct log *log, struct seg *seg)
{
    struct stat st;
    int rc;

    do
        rc = ftruncate(fd, (off_t)size);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 ||
        (sealable && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) ||
        fstat(fd, &st) != 0) {
        int e = errno;
        return log_fail(log,
                        e == EFBIG || e == EINVAL || e == ENOSPC ? MRMA_ERR_NO_MEM : MRMA_ERR_OTHER,
                        "cannot make a shared segment of %zu bytes: %s", size, strerror(e));
    }
    *seg = (struct seg){.fd = fd,
                        .size = size,
                        .inode = st.st_ino,
                        .device = st.st_dev,
                        .first_touch = touch_cannot_fail(fd)};
    return MRMA_SUCCESS;
}

/* set_base maps the segment's file, at that address unless it is NULL. */
static int set_base(struct seg *seg, void *at, const struct log *log)
{
    seg->base = at != NULL ? map_file_at(seg->fd, seg->size, at) : map_file(seg->fd, seg->size);
    return seg->base != NULL ? MRMA_SUCCESS
                             : log_fail(log, MRMA_ERR_NO_MEM,
                                        "no address space for a shared segment of %zu bytes: %s",
                                        seg->size, strerror(errno));
}

int seg_create_at(const char *dir, size_t size, void *at, const struct log *log, struct seg *out)
{
    size_t page = page_size();
    bool memory = dir[0] == '\0';
    int fd = -1;

    if (size > (size_t)PTRDIFF_MAX - HUGE_PAGE)
        return log_fail(log, MRMA_ERR_NO_MEM,
                        "a shared segment of %zu bytes exceeds the address space", size);
    size = size == 0 ? page : (size + page - 1) & ~(page - 1);
    if (!file_size_allowed(size))
        return log_fail(log, MRMA_ERR_NO_MEM,
                        "a shared segment of %zu bytes exceeds this process's file "
                        "size limit (ulimit -f)",
                        size);
    int err = memory ? open_memfd(log, &fd) : open_unnamed(dir, size, log, &fd);
    struct seg made = {.fd = fd};
    if (err == MRMA_SUCCESS)
        err = set_length(fd, size, memory, log, &made);
    if (err == MRMA_SUCCESS)
        err = set_base(&made, at, log);
    if (err != MRMA_SUCCESS && fd >= 0)
        close(fd);
    else if (err == MRMA_SUCCESS)
        *out = made;
    return err;
}

int seg_create(const char *dir, size_t size, const struct log *log, struct seg *out)
{
    return seg_create_at(dir, size, NULL, log, out);
}

/* check_memory returns an error if len more bytes of memory exceed what there is. A little is left
 * over, for page tables and for other processes. */
static int check_memory(const struct seg *seg, uint64_t len, const struct log *log)
{
    struct statfs fs;
    struct mem_avail avail;

    if (fstatfs(seg->fd, &fs) != 0 || fs.f_type != TMPFS_TYPE)
        return MRMA_SUCCESS;
    mem_avail_read("", &avail);
    if (avail.bytes == UINT64_MAX || len <= avail.bytes - avail.bytes / 64)
        return MRMA_SUCCESS;
    return log_fail(log, MRMA_ERR_NO_MEM,
                    "%llu bytes of shared memory were asked for, %llu are available "
                    "(%s)",
                    (unsigned long long)len, (unsigned long long)avail.bytes, avail.limited_by);
}

static int commit_failed(const struct seg *seg, size_t len, int e, const struct log *log)
{
    struct statfs fs;
    unsigned long long room;

    if (e == EOPNOTSUPP)
        return log_fail(log, MRMA_ERR_OTHER,
                        "the segment directory's file system cannot reserve space "
                        "(fallocate); choose another MPIRMA_SEGMENT_DIR or leave it unset");
    if (e != ENOSPC && e != ENOMEM && e != EDQUOT && e != EFBIG)
        return log_fail(log, MRMA_ERR_OTHER, "cannot allocate %zu bytes of a shared segment: %s",
                        len, strerror(e));
    if (e == ENOSPC && fstatfs(seg->fd, &fs) == 0 && fs.f_blocks != 0) {
        room = (unsigned long long)fs.f_bavail * (unsigned long long)fs.f_bsize;
        return log_fail(log, MRMA_ERR_NO_MEM,
                        "MPIRMA_SEGMENT_DIR: %zu bytes do not fit in the directory's file system, "
                        "%llu are free",
                        len, room);
    }
    return log_fail(log, MRMA_ERR_NO_MEM, "cannot allocate %zu bytes of a shared segment: %s", len,
                    strerror(e));
}

/* Huge pages come only through a fault on the mapping, never through fallocate; so populate asks
 * for the faults first. If this is refused nothing is lost, since fallocate follows. */
static void populate(const struct seg *seg, size_t offset, size_t len)
{
    if (len >= HUGE_PAGE)
        madvise((char *)seg->base + offset, len, POPULATE_WRITE);
}

/* When a signal comes fallocate undoes its work and returns EINTR, so under a profiler's timer a
 * large call would never end: allocate halves the step each time. */
static int allocate(struct seg *seg, size_t offset, size_t len, const struct log *log)
{
    size_t step = STEP, end = offset + len;

    while (offset < end) {
        size_t left = end - offset;
        size_t now = left < step ? left : step;
        if (left >= CHECK_FROM) {
            int err = check_memory(seg, left, log);
            if (err != MRMA_SUCCESS)
                return err;
        }
        populate(seg, offset, now);
        if (fallocate(seg->fd, 0, (off_t)offset, (off_t)now) == 0)
            offset += now;
        else if (errno != EINTR)
            return commit_failed(seg, len, errno, log);
        else if (step > MIN_STEP)
            step /= 2;
    }
    return MRMA_SUCCESS;
}

int seg_commit(struct seg *seg, size_t offset, size_t len, const struct log *log)
{
    size_t page = page_size();

    if (offset > seg->size || len > seg->size - offset)
        return log_fail(log, MRMA_ERR_INTERN, "commit of %zu bytes at %zu of a segment of %zu", len,
                        offset, seg->size);
    if (len == 0)
        return MRMA_SUCCESS;
    size_t end = (offset + len + page - 1) & ~(page - 1);
    offset &= ~(page - 1);
    len = end - offset;
    if (!file_size_allowed(end))
        return commit_failed(seg, len, EFBIG, log);
    if (seg->first_touch || touch_cannot_fail(seg->fd))
        return len < CHECK_FROM ? MRMA_SUCCESS : check_memory(seg, len, log);
    return allocate(seg, offset, len, log);
}

int seg_fits(const struct seg *seg, uint64_t len, const struct log *log)
{
    return len < CHECK_FROM || !seg->first_touch ? MRMA_SUCCESS : check_memory(seg, len, log);
}

void seg_decommit(struct seg *seg, size_t offset, size_t len)
{
    size_t page = page_size();
    int rc;

    if (offset > seg->size || len > seg->size - offset)
        return;
    size_t start = (offset + page - 1) & ~(page - 1);
    size_t end = (offset + len) & ~(page - 1);
    if (start >= end)
        return;
    do
        rc = fallocate(seg->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)start,
                       (off_t)(end - start));
    while (rc != 0 && errno == EINTR);
}

size_t seg_pages(const struct seg *seg)
{
    struct stat st;

    return fstat(seg->fd, &st) == 0 ? (size_t)st.st_blocks * 512 : seg->size;
}

void seg_forget(struct seg *seg)
{
    if (seg->fd >= 0)
        close(seg->fd);
    seg->fd = -1;
    seg->first_touch = true;
}

/* The file's pages keep what was stored through the shared mapping, and one call replaces the
 * mapping, so nothing is lost. */
void seg_leave(struct seg *seg)
{
    const int prot = PROT_READ | PROT_WRITE, how = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;

    if (mmap(seg->base, seg->size, prot, how, seg->fd, 0) == MAP_FAILED)
        (void)mmap(seg->base, seg->size, prot, MAP_SHARED | MAP_FIXED, seg->fd, 0);
    seg->base = NULL;
    seg_close(seg);
}

/* check_identity returns an error if the open file is not the one that the name describes. */
static int check_identity(int fd, const struct seg_name *name, const struct log *log)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return log_fail(log, MRMA_ERR_OTHER, "segment of process %d: fstat: %s", (int)name->pid,
                        strerror(errno));
    if (st.st_ino != name->inode || st.st_dev != name->device || (uint64_t)st.st_size != name->size)
        return log_fail(log, MRMA_ERR_OTHER,
                        "descriptor %d of process %d is not the segment it announced "
                        "(another PID namespace, or the process is gone)",
                        (int)name->fd, (int)name->pid);
    return MRMA_SUCCESS;
}

/* open_peers opens the file of that name, and fills *seg except for the mapping. */
static int open_peers(const struct seg_name *name, const struct log *log, struct seg *seg)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name->pid, (int)name->fd);
    do
        fd = open(path, O_RDWR | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        char what[128];
        int e = errno;
        snprintf(what, sizeof what, "cannot open the segment of process %d (%s)", (int)name->pid,
                 path);
        return open_failed(log, e, what);
    }
    int err = check_identity(fd, name, log);
    if (err != MRMA_SUCCESS)
        close(fd);
    else
        *seg = (struct seg){
            .fd = fd, .size = (size_t)name->size, .inode = name->inode, .device = name->device};
    return err;
}

int seg_open(const struct seg_name *name, const struct log *log, struct seg *out)
{
    struct seg opened;

    if (name->size == 0 || name->size > (uint64_t)PTRDIFF_MAX - HUGE_PAGE ||
        name->size % page_size() != 0)
        return log_fail(log, MRMA_ERR_OTHER, "process %d announced a segment of %llu bytes",
                        (int)name->pid, (unsigned long long)name->size);
    int err = open_peers(name, log, &opened);
    if (err != MRMA_SUCCESS)
        return err;
    err = set_base(&opened, NULL, log);
    if (err != MRMA_SUCCESS)
        close(opened.fd);
    else
        *out = opened;
    return err;
}

void seg_only_mapped(struct seg *seg)
{
    close(seg->fd);
    seg->fd = -1;
}

void seg_close(struct seg *seg)
{
    if (seg->base != NULL)
        munmap(seg->base, seg->size);
    if (seg->fd >= 0)
        close(seg->fd);
    *seg = (struct seg){.fd = -1};
}

struct seg_name seg_name_of(const struct seg *seg)
{
    return (struct seg_name){.inode = seg->inode,
                             .device = seg->device,
                             .size = seg->size,
                             .pid = (int32_t)getpid(),
                             .fd = (int32_t)seg->fd};
}
