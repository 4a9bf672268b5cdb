/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * double.c - a libxpmem.so.0 that needs no kernel module, for tests on machines without it.
 *
 * What the library sees is what XPMEM does: a segment is a range of pages of its maker, whatever
 * memory that was; who gets a permit for it attaches it at an address of his own, and both then
 * have the same pages. Errors are returned as the module returns them. Here xpmem_make copies
 * the pages into a memfd and maps that over them, while all other threads of the process stand
 * still (standstill.h), and xpmem_attach maps that memfd in the other process, which opens it
 * through /proc.
 *
 * What differs: special and large memory, shared memory whose file is not open in its process, and
 * the calling thread's stack, are refused by xpmem_make, where the module takes them; the whole
 * address space, too. An attachment does not
 * follow an owner who maps other memory at the place; so it shows a library that goes on using an
 * old attachment. Attached memory stays readable when the owner has removed it or has ended.
 * Children of fork get copies.
 *
 * XPMEM_DOUBLE_REFUSE=CALL or CALL:N lets xpmem_CALL fail, or fail after N calls;
 * XPMEM_DOUBLE_RANK=R does so in that process of MPI_COMM_WORLD alone. XPMEM_DOUBLE_LOG=FILE
 * has a line appended for each call that went well.
 *
 * A segment's number is the maker's process id, the number of its memfd there, and a counter.
 * Locks: one mutex around all calls and forks.
 */
#define _GNU_SOURCE 1 /* memfd_create, MREMAP_FIXED */
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "standstill.h"

#define PUBLIC __attribute__((visibility("default")))
#define LARGE ((size_t)256 << 20)
#define DATA ((uint64_t)1 << 32) /* where pages begin in the memfd; the table is before them */

enum {
    PERMIT_MODE = 1,
    READ_ONLY = 1,
    READ_WRITE = 2,
    SEGMENTS = 8192, /* of a process at a time */
    PIECES = 64,     /* of a segment: runs of pages that lie one behind the other in the memfd */
    PERMITS = 16384, /* of a process at a time */
    RANGES = 4096    /* of the process's own memory that are in the memfd */
};

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

struct piece {
    uintptr_t at; /* in the maker */
    size_t len;
    uint64_t offset; /* in the memfd, or in another file */
    int fd;          /* of that, in the maker */
};

/* In the memfd, for those who attach. */
struct segment {
    _Atomic uint32_t number; /* 0: there is none */
    uint32_t npieces;
    uintptr_t at;
    size_t len;
    struct piece piece[PIECES];
};

struct table {
    _Atomic uint32_t forked; /* children that have their copies */
    struct segment segment[SEGMENTS];
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

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int file = -1; /* the memfd */
static dev_t device;
static ino_t inode;
static struct table *table; /* at its beginning */
static uint64_t next_offset = DATA;
static uint32_t last_number;
static struct permit permits[PERMITS];
static int64_t last_permit;
static struct attachment attachments[PERMITS];
static struct piece forked_ranges[RANGES];
static size_t nforked;
static uint32_t forks;
static size_t page;

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

/* ---- the memfd ---- */

static void before_fork(void);
static void in_parent(void);
static void in_child(void);

static void open_file(void)
{
    struct stat st;
    page = (size_t)sysconf(_SC_PAGESIZE);
    file = memfd_create("xpmem-double", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)1 << 46) != 0 || fstat(file, &st) != 0)
        return;
    void *at = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return;
    table = at;
    device = st.st_dev;
    inode = st.st_ino;
    pthread_atfork(before_fork, in_parent, in_child);
}

static bool is_open(void)
{
    pthread_once(&once, open_file);
    return table != NULL;
}

/* ---- the process's own memory ---- */

struct line {
    uintptr_t start, end;
    char perms[8];
    uint64_t offset;
    bool ours; /* of the memfd */
    dev_t device;
    ino_t inode;
};

static bool read_line(FILE *maps, struct line *l)
{
    unsigned long long start, end, offset, node;
    unsigned major, minor;
    char text[4608];
    if (!fgets(text, sizeof text, maps) ||
        sscanf(text, "%llx-%llx %7s %llx %x:%x %llu", &start, &end, l->perms, &offset, &major,
               &minor, &node) != 7)
        return false;
    l->start = (uintptr_t)start;
    l->end = (uintptr_t)end;
    l->offset = offset;
    l->device = makedev(major, minor);
    l->inode = (ino_t)node;
    l->ours = l->inode == inode && l->device == device && l->perms[3] == 's';
    return true;
}

/* The mappings of [lo, hi), cut to it, at most most; -1: it is not mapped from end to end, or there
 * are more. */
static int read_maps(uintptr_t lo, uintptr_t hi, struct line *lines, int most)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    struct line l;
    int n = 0;
    while (maps && lo < hi && read_line(maps, &l)) {
        if (l.end <= lo)
            continue;
        if (l.start > lo || n == most)
            break;
        l.offset += lo - l.start;
        l.start = lo;
        l.end = l.end < hi ? l.end : hi;
        lines[n++] = l;
        lo = l.end;
    }
    if (maps)
        fclose(maps);
    return lo < hi ? -1 : n;
}

struct move {
    char *from; /* the memfd's pages, mapped elsewhere */
    char *to;
    size_t len;
    bool done;
};

/* Nothing else runs. The bare system call: hosts replace mremap. */
__attribute__((no_sanitize("address", "thread"))) static void copy_and_move(void *arg)
{
    struct move *m = arg;
    _Atomic uint64_t *to = (void *)m->from;
    const _Atomic uint64_t *from = (const void *)m->to;
    for (size_t i = 0; i < m->len / sizeof *to; i++) {
        const uint64_t word = atomic_load_explicit(&from[i], memory_order_relaxed);
        if (word) /* pages of nothing but zeros take no memory */
            atomic_store_explicit(&to[i], word, memory_order_relaxed);
    }
    m->done =
        syscall(SYS_mremap, m->from, m->len, m->len, MREMAP_MAYMOVE | MREMAP_FIXED, m->to) != -1;
}

/* Move [l->start, l->end) into the memfd, where l->offset says then. */
static bool move_into_file(struct line *l)
{
    struct move m = {.to = (char *)l->start, .len = l->end - l->start};
    char why[200];
    const char own = 0;
    if (l->perms[3] != 'p' || strncmp(l->perms, "rw", 2) != 0 ||
        ((uintptr_t)&own >= l->start - page && (uintptr_t)&own < l->end + page))
        return false;
    m.from = mmap(NULL, m.len, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)next_offset);
    if (m.from == MAP_FAILED)
        return false;
    if (standstill_run(copy_and_move, &m, why, sizeof why) != 0 || !m.done) {
        munmap(m.from, m.len);
        return false;
    }
    (void)madvise(m.to, m.len, MADV_DONTNEED); /* hosts watch it; a file's pages stay */
    l->offset = next_offset;
    next_offset += m.len;
    return true;
}

/* A descriptor of the file that is mapped shared there; -1: the process has closed it. */
static int find_file(const struct line *l)
{
    const int most = (int)sysconf(_SC_OPEN_MAX);
    struct stat st;
    for (int fd = 0; l->perms[3] == 's' && fd < most && fd < 4096; fd++)
        if (fstat(fd, &st) == 0 && st.st_ino == l->inode && st.st_dev == l->device)
            return fd;
    return -1;
}

static int make_pieces(struct segment *s, uintptr_t lo, uintptr_t hi)
{
    struct line lines[PIECES];
    const int n = read_maps(lo, hi, lines, PIECES);
    if (n < 0)
        return EFAULT;
    for (int i = 0; i < n; i++) {
        const int fd = lines[i].ours ? file : find_file(&lines[i]);
        if (fd < 0 && !move_into_file(&lines[i]))
            return ENOTSUP;
        s->piece[i] = (struct piece){lines[i].start, lines[i].end - lines[i].start, lines[i].offset,
                                     fd < 0 ? file : fd};
    }
    s->npieces = (uint32_t)n;
    s->at = lo;
    s->len = hi - lo;
    return 0;
}

static struct segment *free_segment(void)
{
    for (uint32_t tries = 0; tries < SEGMENTS; tries++) {
        struct segment *s = &table->segment[++last_number % SEGMENTS];
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
    if (!s || file > 4095)
        return fail(ENOMEM);
    const int error = make_pieces(s, lo, lo + size);
    if (error)
        return fail(error);
    atomic_store_explicit(&s->number, last_number, memory_order_release);
    return segment_id(getpid(), file, last_number);
}

PUBLIC int64_t xpmem_make(void *vaddr, size_t size, int permit_type, void *permit_value)
{
    static unsigned calls;
    if (!is_open())
        return fail(ENOENT);
    if (refused("make", &calls))
        return fail(EPERM);
    if (permit_type != PERMIT_MODE || ((uintptr_t)permit_value & ~(uintptr_t)0777) || !size ||
        (uintptr_t)vaddr % page || size % page)
        return fail(EINVAL);
    if (size > LARGE)
        return fail(ENOMEM);
    pthread_mutex_lock(&mutex);
    const int64_t id = make((uintptr_t)vaddr, size);
    pthread_mutex_unlock(&mutex);
    if (id > 0)
        note("make");
    return id;
}

PUBLIC int xpmem_remove(int64_t segid)
{
    static unsigned calls;
    const uint32_t number = (uint32_t)segid & 0xfffffff;
    if (refused("remove", &calls) || segid <= 0 || !is_open())
        return (int)fail(EINVAL);
    if (segid >> 40 != getpid())
        return (int)fail(EACCES);
    struct segment *s = &table->segment[number % SEGMENTS];
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
                       permit_type == PERMIT_MODE && !permit_value && is_open();
    const int fd = right ? open_segment(segid, copy) : -1;
    free(copy);
    if (!right)
        return fail(EINVAL);
    if (fd < 0)
        return -1;
    close(fd);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < PERMITS && !id; i++)
        if (!permits[i].segment) {
            id = ++last_permit * PERMITS + i;
            permits[i] = (struct permit){segid, id};
        }
    pthread_mutex_unlock(&mutex);
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
    if (vaddr || addr.offset < 0 || !is_open() || (size_t)addr.offset % page) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    pthread_mutex_lock(&mutex);
    void *at = attach(addr, (size + page - 1) / page * page);
    pthread_mutex_unlock(&mutex);
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
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < PERMITS && !found; i++)
        if (attachments[i].at == vaddr && vaddr)
            found = drop(&attachments[i]);
    pthread_mutex_unlock(&mutex);
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
    pthread_mutex_lock(&mutex);
    struct permit *p = find_permit(apid);
    for (int i = 0; i < PERMITS && p; i++)
        if (attachments[i].at && attachments[i].permit == apid)
            (void)drop(&attachments[i]);
    if (p)
        p->segment = 0;
    pthread_mutex_unlock(&mutex);
    if (!p)
        return (int)fail(EINVAL);
    note("release");
    return 0;
}

PUBLIC int xpmem_version(void)
{
    static unsigned calls;
    return refused("version", &calls) || !is_open() ? (int)fail(ENOENT) : 0x26005;
}

/* ---- fork: the child gets copies of what is the process's own ---- */

/* Of this process, attached by itself. */
static bool is_attached(uintptr_t at)
{
    bool found = false;
    for (int i = 0; i < PERMITS; i++)
        found |= attachments[i].at && at - (uintptr_t)attachments[i].at < attachments[i].len;
    return found;
}

static void before_fork(void)
{
    FILE *maps;
    struct line l;
    pthread_mutex_lock(&mutex);
    nforked = 0;
    maps = fopen("/proc/self/maps", "re");
    while (maps && nforked < RANGES && read_line(maps, &l))
        if (l.ours && l.offset >= DATA && !is_attached(l.start))
            forked_ranges[nforked++] = (struct piece){l.start, l.end - l.start, l.offset, file};
    if (maps)
        fclose(maps);
    forks = atomic_load(&table->forked);
}

/* The parent may change its memory when the child has its copies. */
static void in_parent(void)
{
    const struct timespec nap = {.tv_nsec = 50000};
    for (int i = 0; i < 100000 && atomic_load(&table->forked) == forks; i++)
        (void)nanosleep(&nap, NULL);
    pthread_mutex_unlock(&mutex);
}

static void in_child(void)
{
    for (size_t i = 0; i < nforked; i++) {
        const struct piece *p = &forked_ranges[i];
        void *copy = mmap(NULL, p->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct move m = {.from = copy, .to = (char *)p->at, .len = p->len};
        if (copy != MAP_FAILED)
            copy_and_move(&m);
    }
    atomic_fetch_add(&table->forked, 1);
    pthread_mutex_unlock(&mutex);
}
