/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * double.c - a libxpmem.so.0 that needs no kernel module, for tests on machines without it.
 *
 * What the library sees is what XPMEM does: a segment is a range of pages of its maker, whatever
 * memory that was; who gets a permit for it attaches it at an address of his own, and both then
 * have the same pages. Errors are returned as the module returns them. Here xpmem_make copies
 * the pages into a memfd and maps that over them (own_memory.h), and xpmem_attach maps that memfd
 * in the other process, which opens it through /proc.
 *
 * What differs: special and large memory, shared memory whose file is not open in its process, and
 * the calling thread's stack, are refused by xpmem_make, where the module takes them; the whole
 * address space, too. An attachment does not follow an owner who maps other memory at the place;
 * so it shows a library that goes on using an old attachment. Attached memory stays readable when
 * the owner has removed it or has ended. Children of fork get copies.
 *
 * XPMEM_DOUBLE_REFUSE=CALL or CALL:N lets xpmem_CALL fail, or fail after N calls;
 * XPMEM_DOUBLE_RANK=R does so in that process of MPI_COMM_WORLD alone. XPMEM_DOUBLE_LOG=FILE
 * has a line appended for each call that went well.
 *
 * A segment's number is the maker's process id, the number of its memfd there, and a counter.
 * Locks: one mutex around all calls and forks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "own_memory.h"

#define PUBLIC __attribute__((visibility("default")))
#define LARGE ((size_t)256 << 20)

enum {
    PERMIT_MODE = 1,
    READ_ONLY = 1,
    READ_WRITE = 2,
    PERMITS = 16384 /* of a process at a time */
};

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

struct permit {
    int64_t segment; /* 0: free */
    int64_t number;
};

struct attachment {
    void *at; /* NULL: free */
    size_t len;
    int64_t permit;
};

static uint32_t last_number;
static struct permit permits[PERMITS];
static int64_t last_permit;
static struct attachment attachments[PERMITS];

/* ---- refusals ---- */

static bool is_rank(const char *wanted)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return strcmp(rank, wanted) == 0;
    }
    return false;
}

/* Shall this call fail? *calls counts those of its kind. */
static bool refused(const char *call, unsigned *calls)
{
    const char *what = getenv("XPMEM_DOUBLE_REFUSE"), *rank = getenv("XPMEM_DOUBLE_RANK");
    const size_t len = strlen(call);
    if (!what || strncmp(what, call, len) != 0 || (what[len] && what[len] != ':') ||
        (rank && !is_rank(rank)))
        return false;
    return (*calls)++ >= (what[len] ? strtoul(what + len + 1, NULL, 10) : 0);
}

static void note(const char *call)
{
    const char *name = getenv("XPMEM_DOUBLE_LOG");
    const int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    char line[64];
    if (fd < 0)
        return;
    const int n = snprintf(line, sizeof line, "%s\n", call);
    (void)!write(fd, line, (size_t)n);
    close(fd);
}

static int64_t fail(int error)
{
    errno = error;
    return -1;
}

/* ---- own memory ---- */

static struct segment *free_segment(void)
{
    for (uint32_t tries = 0; tries < SEGMENTS; tries++) {
        struct segment *s = &own_memory_table()->segment[++last_number % SEGMENTS];
        if (!atomic_load_explicit(&s->number, memory_order_relaxed))
            return s;
    }
    return NULL;
}

static int64_t segment_id(pid_t pid, int fd, uint32_t number)
{
    return (int64_t)pid << 40 | (int64_t)fd << 28 | (number & 0xfffffff);
}

static int64_t make(uintptr_t lo, size_t size)
{
    struct segment *s = free_segment();
    if (!s || own_memory_file() > 4095)
        return fail(ENOMEM);
    const int error = own_memory_pieces(s, lo, lo + size);
    if (error)
        return fail(error);
    atomic_store_explicit(&s->number, last_number, memory_order_release);
    return segment_id(getpid(), own_memory_file(), last_number);
}

PUBLIC int64_t xpmem_make(void *vaddr, size_t size, int permit_type, void *permit_value)
{
    static unsigned calls;
    if (!own_memory_open())
        return fail(ENOENT);
    if (refused("make", &calls))
        return fail(EPERM);
    if (permit_type != PERMIT_MODE || ((uintptr_t)permit_value & ~(uintptr_t)0777) || !size ||
        (uintptr_t)vaddr % own_memory_page() || size % own_memory_page())
        return fail(EINVAL);
    if (size > LARGE)
        return fail(ENOMEM);
    pthread_mutex_lock(&own_memory_mutex);
    const int64_t id = make((uintptr_t)vaddr, size);
    pthread_mutex_unlock(&own_memory_mutex);
    if (id > 0)
        note("make");
    return id;
}

PUBLIC int xpmem_remove(int64_t segid)
{
    static unsigned calls;
    const uint32_t number = (uint32_t)segid & 0xfffffff;
    if (refused("remove", &calls) || segid <= 0 || !own_memory_open())
        return (int)fail(EINVAL);
    if (segid >> 40 != getpid())
        return (int)fail(EACCES);
    struct segment *s = &own_memory_table()->segment[number % SEGMENTS];
    if ((atomic_load_explicit(&s->number, memory_order_relaxed) & 0xfffffff) != number)
        return (int)fail(ENOENT);
    atomic_store_explicit(&s->number, 0, memory_order_release);
    note("remove");
    return 0;
}

/* ---- others' memory ---- */

/* Copy what the maker's table has of a segment, and open its memfd; -1: there is none. */
static int open_segment(int64_t segid, struct segment *copy)
{
    const uint32_t number = (uint32_t)segid & 0xfffffff;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)(segid >> 40), (int)(segid >> 28 & 0xfff));
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const off_t at = (off_t)(offsetof(struct table, segment) + number % SEGMENTS * sizeof *copy);
    if (pread(fd, copy, sizeof *copy, at) != sizeof *copy || (copy->number & 0xfffffff) != number ||
        copy->npieces > PIECES) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

PUBLIC int64_t xpmem_get(int64_t segid, int flags, int permit_type, void *permit_value)
{
    static unsigned calls;
    struct segment *copy = malloc(sizeof *copy);
    int64_t id = 0;
    if (refused("get", &calls)) {
        free(copy);
        return fail(EACCES);
    }
    const bool right = copy && segid > 0 && (flags == READ_ONLY || flags == READ_WRITE) &&
                       permit_type == PERMIT_MODE && !permit_value && own_memory_open();
    const int fd = right ? open_segment(segid, copy) : -1;
    free(copy);
    if (!right)
        return fail(EINVAL);
    if (fd < 0)
        return -1;
    close(fd);
    pthread_mutex_lock(&own_memory_mutex);
    for (int i = 0; i < PERMITS && !id; i++)
        if (!permits[i].segment) {
            id = ++last_permit * PERMITS + i;
            permits[i] = (struct permit){segid, id};
        }
    pthread_mutex_unlock(&own_memory_mutex);
    if (!id)
        return fail(ENOMEM);
    note("get");
    return id;
}

static struct permit *find_permit(int64_t apid)
{
    struct permit *p = apid > 0 ? &permits[apid % PERMITS] : NULL;
    return p && p->segment && p->number == apid ? p : NULL;
}

/* fd: the maker's memfd; other files are opened through that process. */
static bool map_piece(const struct piece *p, pid_t maker, int fd, uintptr_t from, uintptr_t to,
                      char *at)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)maker, p->fd);
    const int other = fd >= 0 ? fd : open(path, O_RDWR | O_CLOEXEC);
    const void *got = mmap(at, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, other,
                           (off_t)(p->offset + (from - p->at)));
    if (fd < 0)
        close(other);
    return got != MAP_FAILED;
}

static bool map_pieces(const struct segment *s, int64_t segid, int fd, off_t offset, size_t size,
                       char *at)
{
    const int memfd = (int)(segid >> 28 & 0xfff);
    const uintptr_t lo = s->at + (uintptr_t)offset, hi = lo + size;
    for (uint32_t i = 0; i < s->npieces; i++) {
        const struct piece *p = &s->piece[i];
        const uintptr_t from = p->at > lo ? p->at : lo;
        const uintptr_t to = p->at + p->len < hi ? p->at + p->len : hi;
        if (from < to && !map_piece(p, (pid_t)(segid >> 40), p->fd == memfd ? fd : -1, from, to,
                                    at + (from - lo)))
            return false;
    }
    return true;
}

static void *map_segment(const struct segment *s, int64_t segid, int fd, off_t offset, size_t size)
{
    char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (!map_pieces(s, segid, fd, offset, size, at) || madvise(at, size, MADV_DONTFORK) != 0) {
        munmap(at, size);
        return NULL;
    }
    return at;
}

static void *attach(struct xpmem_addr addr, size_t size)
{
    const struct permit *p = find_permit(addr.apid);
    struct attachment *a = NULL;
    for (int i = 0; i < PERMITS && !a; i++)
        if (!attachments[i].at)
            a = &attachments[i];
    struct segment *copy = a ? malloc(sizeof *copy) : NULL;
    const int fd = p && copy ? open_segment(p->segment, copy) : -1;
    void *at = NULL;
    int error = !p || fd < 0 ? ENOENT : ENOMEM;
    if (fd >= 0 && ((size_t)addr.offset > copy->len || size > copy->len - (size_t)addr.offset))
        error = EINVAL;
    else if (fd >= 0)
        at = map_segment(copy, p->segment, fd, addr.offset, size);
    if (at)
        *a = (struct attachment){at, size, addr.apid};
    if (fd >= 0)
        close(fd);
    free(copy);
    errno = at ? errno : error;
    return at ? at : MAP_FAILED;
}

PUBLIC void *xpmem_attach(struct xpmem_addr addr, size_t size, void *vaddr)
{
    static unsigned calls;
    if (refused("attach", &calls)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (vaddr || addr.offset < 0 || !own_memory_open() || (size_t)addr.offset % own_memory_page()) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    pthread_mutex_lock(&own_memory_mutex);
    void *at = attach(addr, (size + own_memory_page() - 1) / own_memory_page() * own_memory_page());
    pthread_mutex_unlock(&own_memory_mutex);
    if (at != MAP_FAILED)
        note("attach");
    return at;
}

static bool drop(struct attachment *a)
{
    munmap(a->at, a->len);
    a->at = NULL;
    return true;
}

PUBLIC int xpmem_detach(void *vaddr)
{
    static unsigned calls;
    bool found = false;
    if (refused("detach", &calls))
        return (int)fail(EINTR);
    pthread_mutex_lock(&own_memory_mutex);
    for (int i = 0; i < PERMITS && !found; i++)
        if (attachments[i].at == vaddr && vaddr)
            found = drop(&attachments[i]);
    pthread_mutex_unlock(&own_memory_mutex);
    if (!found)
        return (int)fail(EINVAL);
    note("detach");
    return 0;
}

PUBLIC int xpmem_release(int64_t apid)
{
    static unsigned calls;
    if (refused("release", &calls))
        return (int)fail(EINVAL);
    pthread_mutex_lock(&own_memory_mutex);
    struct permit *p = find_permit(apid);
    for (int i = 0; i < PERMITS && p; i++)
        if (attachments[i].at && attachments[i].permit == apid)
            (void)drop(&attachments[i]);
    if (p)
        p->segment = 0;
    pthread_mutex_unlock(&own_memory_mutex);
    if (!p)
        return (int)fail(EINVAL);
    note("release");
    return 0;
}

PUBLIC int xpmem_version(void)
{
    static unsigned calls;
    return refused("version", &calls) || !own_memory_open() ? (int)fail(ENOENT) : 0x26005;
}

bool xpmem_is_attached(uintptr_t at)
{
    bool found = false;
    for (int i = 0; i < PERMITS; i++)
        found |= attachments[i].at && at - (uintptr_t)attachments[i].at < attachments[i].len;
    return found;
}
