/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.c - the tables of attached memory, and looking it up. See region.h.
 *
 * There are two tables, and a version number whose last bit says which of them is valid. The owner
 * makes a change in the other one and moves the version; who looks something up does it again if
 * the version has moved meanwhile. So nobody waits for an owner that dies in the middle of a
 * change. Only the owner changes them, under the engine's lock if there are several threads.
 *
 * Order of stores and loads:
 *
 *   owner                                 reader
 *   A: fence (release)                    E: v = version (acquire)
 *   B: entries of the table that is       F: search table v & 1 (relaxed)
 *      not valid (relaxed)                   fence (acquire)
 *   C: version += 1 (release)             G: version is v? it is as found
 *
 * If E reads the number of a C, F sees all of the B before it. The table that it searches is
 * written to again only by the B after the next C. If F reads a value of that B, its release fence
 * A, which stands behind that C, and the reader's acquire fence make C visible to G, so G finds
 * another version and the search is done again. Who is killed between A and C has changed nothing
 * that is read: readers never wait for the owner.
 *
 * What the owner attaches before it begins an exposure is found by all that access it in that: its
 * C comes before the release store of the post, or of exposed, whose acquire load by the reader
 * comes before E. So a reader looks only behind that load, also for operations that were called
 * earlier (carry_out in path/deferred.c).
 */
#include "rma/win/region.h"

#include "base/err.h"
#include "rma/win/win.h"

/* One of the two tables. */
struct table {
    struct win_region *list;
    _Atomic uint32_t *n;
};

static struct table table_of(struct win_ctl *ctl, uint32_t version)
{
    const uint64_t offset = atomic_load_explicit(&ctl->regions_offset, memory_order_relaxed);
    struct win_region *first = (struct win_region *)(void *)((char *)ctl + offset);
    return (struct table){first + version % 2 * WIN_REGIONS_MAX, &ctl->nregions[version % 2]};
}

/* Of the owner's process, which alone changes it. */
static struct table own_table(struct win_ctl *ctl)
{
    return table_of(ctl, atomic_load_explicit(&ctl->regions_version, memory_order_relaxed));
}

static uint64_t addr_of(const struct win_region *e)
{
    return atomic_load_explicit(&e->addr, memory_order_relaxed);
}

static uint64_t len_of(const struct win_region *e)
{
    return atomic_load_explicit(&e->len, memory_order_relaxed);
}

static uint64_t segment_of(const struct win_region *e)
{
    return atomic_load_explicit(&e->segment, memory_order_relaxed);
}

/* The first region that ends behind addr. Anything if the table changes now. */
static uint32_t first_behind(const struct win_region *list, uint32_t n, uint64_t addr)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (addr_of(&list[mid]) + len_of(&list[mid]) > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Does one run of touching regions cover [addr, addr+len)? Anything if the table changes now. */
static bool covers(const struct win_region *list, uint32_t n, uint64_t addr, uint64_t len)
{
    for (uint32_t lo = first_behind(list, n, addr); lo < n && addr_of(&list[lo]) <= addr; lo++) {
        const uint64_t rest = addr_of(&list[lo]) + len_of(&list[lo]) - addr;
        if (len <= rest)
            return true;
        addr += rest;
        len -= rest;
    }
    return len == 0;
}

bool region_covers(struct win_ctl *ctl, uint64_t addr, uint64_t len)
{
    for (;;) {
        const uint32_t v = atomic_load_explicit(&ctl->regions_version, memory_order_acquire);
        const struct table t = table_of(ctl, v);
        const uint32_t n = atomic_load_explicit(t.n, memory_order_relaxed);
        const bool found = covers(t.list, n <= WIN_REGIONS_MAX ? n : 0, addr, len);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&ctl->regions_version, memory_order_relaxed) == v)
            return found;
    }
}

/* As region_covers goes about it. */
bool region_find(struct win_ctl *ctl, uint64_t addr, uint64_t len, struct rma_exported *mem)
{
    for (;;) {
        const uint32_t v = atomic_load_explicit(&ctl->regions_version, memory_order_acquire);
        const struct table t = table_of(ctl, v);
        uint32_t n = atomic_load_explicit(t.n, memory_order_relaxed);
        n = n <= WIN_REGIONS_MAX ? n : 0;
        const uint32_t at = first_behind(t.list, n, addr);
        if (at < n)
            *mem = (struct rma_exported){segment_of(&t.list[at]), addr_of(&t.list[at]),
                                         len_of(&t.list[at])};
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&ctl->regions_version, memory_order_relaxed) == v)
            return at < n && mem->segment && mem->vaddr <= addr &&
                   len <= mem->len - (addr - mem->vaddr);
    }
}

bool region_allows(const struct rma_target *t, const struct rma_op *op)
{
    struct dtype_cursor cur;
    ptrdiff_t disp, end;
    size_t n;
    if (!t->ctl || (dtype_span(op->ttype, op->tcount, &disp, &end) &&
                    region_covers(t->ctl, (uint64_t)(op->disp + disp), (uint64_t)(end - disp))))
        return true;
    dtype_cursor_init(&cur, op->ttype, op->tcount, DTYPE_BYTES);
    while ((n = dtype_cursor_next(&cur, SIZE_MAX, &disp)) != 0)
        if (!region_covers(t->ctl, (uint64_t)(op->disp + disp), n))
            return false;
    return true;
}

static void set_entry(struct win_region *e, uint64_t addr, uint64_t len, uint64_t segment)
{
    atomic_store_explicit(&e->addr, addr, memory_order_relaxed);
    atomic_store_explicit(&e->len, len, memory_order_relaxed);
    atomic_store_explicit(&e->segment, segment, memory_order_relaxed);
}

static void copy_entries(struct win_region *to, const struct win_region *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        set_entry(&to[i], addr_of(&from[i]), len_of(&from[i]), segment_of(&from[i]));
}

/* What is written to the other table from here on is seen by nobody before publish. */
static struct table write_begin(struct win_ctl *ctl)
{
    atomic_thread_fence(memory_order_release); /* pairs with region_covers */
    return table_of(ctl, atomic_load_explicit(&ctl->regions_version, memory_order_relaxed) + 1);
}

static void publish(struct win_ctl *ctl, struct table to, uint32_t n)
{
    const uint32_t v = atomic_load_explicit(&ctl->regions_version, memory_order_relaxed);
    atomic_store_explicit(to.n, n, memory_order_relaxed);
    atomic_store_explicit(&ctl->regions_version, v + 1, memory_order_release);
}

/* 0: others do not attach it. */
static uint64_t export_region(const struct win *w, uint64_t addr, uint64_t size)
{
    const struct rma_env *env = w->rma->env;
    return w->exports ? env->attach->make(env->ctx, (void *)(uintptr_t)addr, size) : 0;
}

static void end_export(const struct win *w, uint64_t segment)
{
    const struct rma_env *env = w->rma->env;
    if (segment)
        env->attach->remove(env->ctx, segment);
}

int region_attach(struct win *w, uint64_t addr, uint64_t size)
{
    const struct table old = own_table(w->ctl);
    const struct win_region *list = old.list;
    const uint32_t n = atomic_load_explicit(old.n, memory_order_relaxed);
    uint32_t at = 0;
    if (n == WIN_REGIONS_MAX)
        return log_fail(w->rma->log, MRMA_ERR_RMA_ATTACH,
                        "a process may attach %d regions to a window", WIN_REGIONS_MAX);
    while (at < n && addr_of(&list[at]) < addr)
        at++;
    if ((at > 0 && addr_of(&list[at - 1]) + len_of(&list[at - 1]) > addr) ||
        (at < n && addr + size > addr_of(&list[at])))
        return MRMA_ERR_RMA_ATTACH;
    const struct table new = write_begin(w->ctl);
    copy_entries(new.list, list, at);
    set_entry(&new.list[at], addr, size, export_region(w, addr, size));
    copy_entries(new.list + at + 1, list + at, n - at);
    publish(w->ctl, new, n + 1);
    return MRMA_SUCCESS;
}

void region_drop_all(struct win *w)
{
    if (!w->dynamic || !w->ctl)
        return;
    const struct table old = own_table(w->ctl);
    const uint32_t n = atomic_load_explicit(old.n, memory_order_relaxed);
    publish(w->ctl, write_begin(w->ctl), 0);
    for (uint32_t i = 0; i < n && !w->abandoned; i++)
        end_export(w, segment_of(&old.list[i]));
}

int region_detach(struct win *w, uint64_t addr)
{
    const struct table old = own_table(w->ctl);
    const struct win_region *list = old.list;
    const uint32_t n = atomic_load_explicit(old.n, memory_order_relaxed);
    uint32_t at = 0;
    while (at < n && addr_of(&list[at]) != addr)
        at++;
    if (at == n)
        return MRMA_ERR_RMA_ATTACH;
    const uint64_t segment = segment_of(&list[at]);
    const struct table new = write_begin(w->ctl);
    copy_entries(new.list, list, at);
    copy_entries(new.list + at, list + at + 1, n - at - 1);
    publish(w->ctl, new, n - 1);
    /* Behind the table: who sees the count (unmap_gone of path/attached.c, acquire) sees the table
     * without the region, too, and does not take it for one that is left. */
    atomic_fetch_add_explicit(&w->ctl->regions_gone, 1, memory_order_release);
    end_export(w, segment);
    return MRMA_SUCCESS;
}
