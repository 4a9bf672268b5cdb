/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_memory.c - see own_memory.h.
 *
 * The table of segments lies before the pages in the memfd. A page that has moved there is mapped
 * shared where it was; /proc/self/maps tells which have.
 */
#define _GNU_SOURCE 1 /* memfd_create, MREMAP_FIXED */
#include "own_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "standstill.h"

#define DATA ((uint64_t)1 << 32) /* where pages begin in the memfd; the table is before them */

enum { RANGES = 4096 }; /* of the process's own memory that are in the memfd */

pthread_mutex_t own_memory_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int file = -1; /* the memfd */
static dev_t device;
static ino_t inode;
static struct table *table; /* at its beginning */
static uint64_t next_offset = DATA;
static struct piece forked_ranges[RANGES];
static size_t nforked;
static uint32_t forks;
static size_t page;

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

bool own_memory_open(void)
{
    pthread_once(&once, open_file);
    return table != NULL;
}

struct table *own_memory_table(void)
{
    return table;
}

int own_memory_file(void)
{
    return file;
}

size_t own_memory_page(void)
{
    return page;
}

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

int own_memory_pieces(struct segment *s, uintptr_t lo, uintptr_t hi)
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

/* ---- fork: the child gets copies of what is the process's own ---- */

static void before_fork(void)
{
    FILE *maps;
    struct line l;
    pthread_mutex_lock(&own_memory_mutex);
    nforked = 0;
    maps = fopen("/proc/self/maps", "re");
    while (maps && nforked < RANGES && read_line(maps, &l))
        if (l.ours && l.offset >= DATA && !xpmem_is_attached(l.start))
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
    pthread_mutex_unlock(&own_memory_mutex);
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
    pthread_mutex_unlock(&own_memory_mutex);
}
