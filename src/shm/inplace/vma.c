/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vma.c - reads /proc/self/maps and smaps; what is known to be ordinary memory is accepted.
 *
 * Of the flags of a mapping (man 5 proc, VmFlags) those are listed that ordinary memory may have;
 * one that is not, also one of a kernel to come, is refused. That a mapping of no file is a
 * thread's stack cannot be seen but for the first thread's and the calling one's. Static variables
 * without initial value lie in mappings of no file, too: the loaded objects tell where.
 * No state, no locks.
 */
#define _GNU_SOURCE 1 /* dl_iterate_phdr, pthread_getattr_np */
#include "shm/inplace/vma.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { LINE = 4608 }; /* a path is at most 4096 */

/* The first line of an entry; false: another one. */
static bool parse_head(const char *line, struct vma *v)
{
    unsigned long long start, end, offset, inode;
    unsigned major, minor;
    int at = 0;
    *v = (struct vma){.start = 0};
    if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, v->perms, &offset, &major,
               &minor, &inode, &at) != 7)
        return false;
    v->start = (uintptr_t)start;
    v->end = (uintptr_t)end;
    v->offset = offset;
    v->device = makedev(major, minor);
    v->inode = inode;
    snprintf(v->name, sizeof v->name, "%.*s", (int)strcspn(line + at, "\n"), line + at);
    return true;
}

static bool within(struct vma *v, uintptr_t start, uintptr_t end)
{
    if (v->end <= start || v->start >= end)
        return false;
    if (v->start < start) {
        v->offset += v->inode ? start - v->start : 0;
        v->start = start;
    }
    if (v->end > end)
        v->end = end;
    return true;
}

enum vma_seen vma_each(uintptr_t start, uintptr_t end, bool flags,
                       bool (*fn)(void *arg, const struct vma *vma), void *arg)
{
    FILE *f = fopen(flags ? "/proc/self/smaps" : "/proc/self/maps", "re");
    char line[LINE];
    struct vma next, v = {.start = 0};
    bool inside = false, go_on = true;
    if (!f)
        return VMA_UNREADABLE;
    while (go_on && fgets(line, sizeof line, f)) {
        if (flags && inside && !strncmp(line, "VmFlags: ", 9)) {
            snprintf(v.flags, sizeof v.flags, "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
            inside = false;
            go_on = fn(arg, &v);
        } else if (parse_head(line, &next)) {
            v = next;
            if (v.start >= end)
                break;
            inside = within(&v, start, end);
            if (inside && !flags)
                go_on = fn(arg, &v);
        }
    }
    if (ferror(f) && go_on) {
        fclose(f);
        return VMA_UNREADABLE;
    }
    fclose(f);
    return go_on ? VMA_ALL : VMA_STOPPED;
}

/* ---- what is acceptable ---- */

struct check {
    uintptr_t upto; /* everything below is */
    char *text;
    size_t len;
};

/* rd wr mr mw me: may be read and written, now and later; ac nr: accounting; hg nh mg: advice on
 * huge and equal pages; sd: changed lately. */
static const char ordinary[] = "rd wr mr mw me ac nr hg nh mg sd ";

/* The first flag that is none of these, or NULL. */
static const char *unusual_flag(const char *flags)
{
    for (; flags[0] && flags[1]; flags += flags[2] ? 3 : 2) {
        const char word[4] = {flags[0], flags[1], ' ', 0};
        if (!strstr(ordinary, word))
            return flags;
    }
    return NULL;
}

static const char *flag_meaning(const char *flag)
{
    static const struct {
        char flag[3];
        const char *meaning;
    } known[] = {{"lo", "locked in memory"},       {"io", "memory of a device"},
                 {"pf", "memory of a device"},     {"gd", "a stack"},
                 {"ht", "of huge pages"},          {"ex", "executable"},
                 {"um", "watched by userfaultfd"}, {"uw", "watched by userfaultfd"},
                 {"ui", "watched by userfaultfd"}, {"dc", "not given to children"},
                 {"wf", "wiped in children"},      {"dd", "not dumped with a core"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(flag, known[i].flag, 2))
            return known[i].meaning;
    return "of a kind that is not known here";
}

static bool anonymous(const struct vma *v)
{
    return !v->inode &&
           (!v->name[0] || !strcmp(v->name, "[heap]") || !strncmp(v->name, "[anon:", 6));
}

static bool check_one(void *arg, const struct vma *v)
{
    struct check *c = arg;
    const char *flag;
    if (v->start != c->upto) /* said at the end */
        return false;
    if (v->perms[3] != 'p')
        snprintf(c->text, c->len, "it is shared memory (%s)", v->name[0] ? v->name : "no file");
    else if (!anonymous(v))
        snprintf(c->text, c->len, "it is not anonymous memory but %s",
                 v->name[0] ? v->name : "a file's");
    else if (strncmp(v->perms, "rw", 2) != 0)
        snprintf(c->text, c->len, "it cannot be read and written");
    else if (!v->flags[0])
        snprintf(c->text, c->len, "/proc/self/smaps has no VmFlags");
    else if ((flag = unusual_flag(v->flags)) != NULL)
        snprintf(c->text, c->len, "it is %s (VmFlags %.2s)", flag_meaning(flag), flag);
    else
        c->upto = v->end;
    return c->upto == v->end;
}

struct range {
    uintptr_t start, end;
    char *text;
    size_t len;
};

static int find_static(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct range *r = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = (uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        if (info->dlpi_phdr[i].p_type != PT_LOAD || start >= r->end ||
            start + info->dlpi_phdr[i].p_memsz <= r->start)
            continue;
        snprintf(r->text, r->len, "it is static memory of %s",
                 info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "the program");
        return 1;
    }
    return 0;
}

static bool is_own_stack(uintptr_t start, uintptr_t end)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return false;
    (void)pthread_attr_getstack(&attr, &at, &size);
    pthread_attr_destroy(&attr);
    return start < (uintptr_t)at + size && end > (uintptr_t)at;
}

bool vma_replaceable(uintptr_t start, uintptr_t end, char *text, size_t len)
{
    struct check c = {.upto = start, .text = text, .len = len};
    struct range r = {start, end, text, len};
    text[0] = '\0';
    if (dl_iterate_phdr(find_static, &r) != 0)
        return false;
    if (is_own_stack(start, end)) {
        snprintf(text, len, "it is a stack");
        return false;
    }
    const enum vma_seen seen = vma_each(start, end, true, check_one, &c);
    if (seen == VMA_ALL && c.upto >= end)
        return true;
    if (!text[0])
        snprintf(text, len, "%s",
                 seen == VMA_UNREADABLE ? "/proc/self/smaps cannot be read"
                                        : "it is not mapped from end to end");
    return false;
}
