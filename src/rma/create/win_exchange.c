/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_exchange.c - see win_exchange.h.
 *
 * Locks: the engine's, where the tables of processes are read. Results that must be the same at all
 * processes are computed only from what all have been told.
 */
#include "rma/create/win_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/siphash.h"
#include "rma/create/win_create.h"
#include "rma/win/proc_table.h"

static uint64_t little(const uint8_t *bytes, int n)
{
    uint64_t value = 0;
    while (n-- > 0)
        value = value << 8 | bytes[n];
    return value;
}

static void set_little(uint8_t *bytes, int n, uint64_t value)
{
    for (int i = 0; i < n; i++, value >>= 8)
        bytes[i] = (uint8_t)value;
}

/* ---- this process's part ---- */

static unsigned unit_bits(uint32_t unit)
{
    return (unit & (unit - 1)) == 0 && unit ? (unsigned)__builtin_ctz(unit) : SUMMARY_UNIT_OTHER;
}

static uint64_t thirds(uint64_t part, uint64_t whole)
{
    const uint64_t third = whole / 3;
    if (!part)
        return 0;
    return part <= third ? 1 : part <= 2 * third ? 2 : 3;
}

/* digest_of returns a hash of the part without the process's own number (uid). It returns 0 unless
 * the process announces a table with as many processes as the window has, and stands in that table
 * at its rank in the window. The number of the table goes into the hash. So if all processes have
 * the same digest, all have the same table, each stands in it at its rank, and the table says which
 * process each rank is. */
static uint64_t digest_of(const struct win *w, const struct win_summary *part)
{
    static const unsigned char key[16] = "window summary";
    const struct proc_table *t = w->records.table;
    struct win_summary common = *part;
    if (part->err || !t || t->n != w->nproc || proc_table_at(t, w->rank)->uid != part->uid)
        return 0;
    common.uid = 0;
    return siphash(key, &common, sizeof common);
}

/* hash_of returns a hash of the details that are mostly the same everywhere. If a size does not fit
 * into the part, it returns a hash that no other process has. */
static uint64_t hash_of(const struct win_detail *mine, uint64_t uid)
{
    static const unsigned char key[16] = "window creation";
    struct win_detail common = *mine;
    common.size = mine->size < WIN_SUMMARY_SIZE_MAX ? 0 : uid;
    common.disp_unit = unit_bits(mine->disp_unit) == SUMMARY_UNIT_OTHER ? mine->disp_unit : 0;
    return siphash(key, &common, sizeof common);
}

static struct win_summary summary_of(const struct win *w, const struct win_plan *plan)
{
    const uint64_t size = w->size < WIN_SUMMARY_SIZE_MAX ? w->size : WIN_SUMMARY_SIZE_MAX;
    struct win_summary part = {
        .err = (uint8_t)plan->err,
        .bits = (uint8_t)(unit_bits(w->disp_unit) | thirds(plan->untouched, w->size)
                                                        << SUMMARY_UNTOUCHED_SHIFT),
        .slot = (uint8_t)plan->slot,
        .gen = w->index_gen,
        .uid = w->rma->env->record->uid,
        .hash = hash_of(&plan->mine, w->rma->env->record->uid)};
    if (!plan->mine.announced)
        part.bits |= SUMMARY_KNOWS_NOBODY;
    set_little(part.size, sizeof part.size, size);
    set_little(part.index, sizeof part.index, w->index);
    return part;
}

/* ---- what the others have said ---- */

const struct win_detail *win_detail_of(const struct win_plan *plan, int rank)
{
    return plan->details
               ? (const void *)((const char *)plan->details + (size_t)rank * plan->details_stride)
               : &plan->mine;
}

uint64_t win_untouched(const struct win *w, int rank)
{
    const struct win_record rec = record_of(w, rank);
    return rec.untouched == 3 ? rec.size : (rec.size / 3 + 1) * rec.untouched;
}

/* record_from returns the record of the rank whose part that is. */
static struct win_record record_from(const struct win_plan *plan, int rank,
                                     const struct win_summary *part)
{
    const struct win_detail *detail = win_detail_of(plan, rank);
    const bool details = plan->details != NULL;
    const unsigned unit = part->bits & SUMMARY_UNIT;
    return (struct win_record){
        .place = (uint32_t)(plan->procs.place ? plan->procs.place[rank] : rank),
        .size = details ? detail->size : little(part->size, sizeof part->size),
        .index = (uint32_t)little(part->index, sizeof part->index),
        .gen = part->gen,
        .disp_unit =
            details || unit == SUMMARY_UNIT_OTHER ? detail->disp_unit : UINT32_C(1) << unit,
        .slot = part->slot,
        .untouched = (uint8_t)(part->bits >> SUMMARY_UNTOUCHED_SHIFT)};
}

/* same_part returns whether two parts are the same, in the order of the table. The place of the
 * notice counts, too, since it is needed while the window is made. */
static bool same_part(const struct win_record *first, const struct win_record *rec, int rank,
                      bool making)
{
    return rec->place == (uint32_t)rank && rec->size == first->size && rec->index == first->index &&
           rec->gen == first->gen && rec->disp_unit == first->disp_unit &&
           (!making || (rec->slot == first->slot && rec->untouched == first->untouched));
}

static void free_parts(struct boot_records *recs)
{
    free(recs->handle);
}

/* make_records turns the parts into records, in the memory in which they came. Where all processes
 * of the node got one copy of the parts, the records go into memory of this process's own, unless
 * one record stands for all. */
static int make_records(struct win *w, const struct win_plan *plan)
{
    struct win_records *r = &w->records;
    const struct win_summary *parts = r->gathered.all;
    struct win_record *all = r->gathered.shared ? NULL : r->gathered.handle;
    bool same = true, quite = true;
    static_assert(sizeof *parts == sizeof *all, "in place");
    r->part = record_from(plan, 0, &parts[0]);
    for (int i = 0; i < w->nproc && same; i++) {
        const struct win_record rec = record_from(plan, i, &parts[i]);
        same = same_part(&r->part, &rec, i, false);
        quite = quite && same_part(&r->part, &rec, i, true);
    }
    if (!all && !(same && quite) && !(all = malloc((size_t)w->nproc * sizeof *all)))
        return MRMA_ERR_NO_MEM;
    r->same = same;
    if (!all)
        return MRMA_SUCCESS;
    for (int i = 0; i < w->nproc; i++) {
        const struct win_record rec = record_from(plan, i, &parts[i]);
        memcpy(&all[i], &rec, sizeof rec);
    }
    if (r->gathered.shared) {
        boot_release(&r->gathered);
        r->gathered = (struct boot_records){.all = all, .release = free_parts, .handle = all};
    }
    rma_enter(w->rma);
    r->all = all;
    rma_leave(w->rma);
    return MRMA_SUCCESS;
}

/* ---- who they are ---- */

static const struct win_summary *summaries_of(const struct win *w)
{
    return w->records.gathered.all;
}

static int index_table(const struct proc_table *t, struct map *map)
{
    int err = MRMA_SUCCESS;
    for (int i = 0; !err && i < t->n; i++) {
        union {
            const struct rma_proc_record *is;
            void *value;
        } rec = {proc_table_at(t, i)};
        if (!map_get(map, rec.is->uid)) /* the part that was told last counts */
            err = map_put(map, rec.is->uid, rec.value, NULL);
    }
    return err;
}

/* Finds a process in a table that is not at the place where it was looked for first. Without memory
 * for an index it looks at one entry after the other. */
struct finder {
    const struct proc_table *table;
    struct map map;
    bool tried, indexed;
};

static int find(struct finder *f, uint64_t uid)
{
    const struct proc_table *t = f->table;
    if (!f->tried)
        f->indexed = index_table(t, &f->map) == MRMA_SUCCESS;
    f->tried = true;
    if (f->indexed) {
        const char *at = map_get(&f->map, uid);
        return at ? (int)((size_t)(at - t->first) / t->stride) : -1;
    }
    for (int i = 0; i < t->n; i++)
        if (proc_table_at(t, i)->uid == uid)
            return i;
    return -1;
}

static bool is_at(const struct proc_table *t, int at, uint64_t uid)
{
    return at >= 0 && at < t->n && proc_table_at(t, at)->uid == uid;
}

static void use_table(const struct win *w, struct win_plan *plan, const struct proc_table *t,
                      const int *place)
{
    plan->procs = (struct rma_procs){t->first, t->stride, place, w->nproc};
}

/* make_alike is called when the digests were equal: this process's part then stands for those of
 * all ranks. */
static void make_alike(struct win *w, struct win_plan *plan, const struct win_summary *mine)
{
    boot_release(&w->records.gathered);
    use_table(w, plan, w->records.table, NULL);
    w->records.part = record_from(plan, w->rank, mine);
    w->records.same = true;
}

/* is_table returns whether the processes of the window are the first ones of the table, in its
 * order, and sets plan->procs if so. */
static bool is_table(const struct win *w, struct win_plan *plan, const struct proc_table *t)
{
    const struct win_summary *all = summaries_of(w);
    int i = 0;
    while (i < w->nproc && is_at(t, i, all[i].uid))
        i++;
    if (i == w->nproc)
        use_table(w, plan, t, NULL);
    return i == w->nproc;
}

/* in_table does the same for processes anywhere in the table. Most windows have them in the order
 * of the table, at equal distances. */
static bool in_table(const struct win *w, struct win_plan *plan, const struct proc_table *t)
{
    const struct win_summary *all = summaries_of(w);
    struct finder f = {.table = t};
    int at = -1, step = 1, i = 0;
    if (is_table(w, plan, t))
        return true;
    map_init(&f.map);
    for (; i < w->nproc; i++) {
        const int expected = at + step;
        const int found = is_at(t, expected, all[i].uid) ? expected : find(&f, all[i].uid);
        if (found < 0)
            break;
        step = i ? found - at : 1;
        at = plan->place[i] = found;
    }
    map_fini(&f.map);
    use_table(w, plan, t, plan->place);
    return i == w->nproc;
}

/* The latest tables first. */
static int index_tables(const struct rma *r, struct map *map)
{
    int err = MRMA_SUCCESS;
    LIST_EACH (node, &r->tables)
        if (!err)
            err = index_table(LIST_ENTRY(node, struct proc_table, link), map);
    return err;
}

/* collect copies the records of the window's processes, as far as any table has them, into the room
 * of the new table. Returns whether it has found all. */
static bool collect(const struct win *w, const struct win_plan *plan)
{
    struct rma *r = w->rma;
    const struct win_summary *parts = summaries_of(w);
    struct win_full *to = plan->room;
    struct map map;
    map_init(&map);
    rma_enter(r);
    bool all = index_tables(r, &map) == MRMA_SUCCESS;
    for (int i = 0; all && i < w->nproc; i++) {
        const struct rma_proc_record *rec = map_get(&map, parts[i].uid);
        all = rec != NULL;
        if (all)
            to[i].proc = *rec;
    }
    rma_leave(r);
    map_fini(&map);
    return all;
}

/* take_new_table makes a table that the window uses, and that takes over the memory of the room. */
static void take_new_table(struct win *w, struct win_plan *plan, struct boot_records *gathered)
{
    const struct rma_env *env = w->rma->env;
    struct proc_table *t = plan->spare;
    const struct win_full *all = gathered ? gathered->all : plan->room;
    *t = (struct proc_table){
        .n = w->nproc, .windows = 1, .first = (const char *)&all->proc, .stride = sizeof *all};
    if (gathered && gathered->release) {
        t->gathered = *gathered;
    } else {
        t->own = plan->room;
        plan->room = NULL;
    }
    t->addressed = env->record_addressed != NULL;
    for (int i = 0; t->addressed && i < w->nproc; i++)
        t->addressed = env->record_addressed(env->ctx, proc_table_at(t, i));
    use_table(w, plan, t, NULL);
    proc_table_set_number(t);
    plan->spare = NULL;
    plan->new_table = true;
    if (w->records.table) {
        rma_enter(w->rma);
        proc_table_leave(w->rma, w->records.table);
        rma_leave(w->rma);
    }
    w->records.table = t;
}

void win_copy_table(struct win *w, struct win_plan *plan)
{
    struct win_full *to = plan->room;
    if (plan->new_table || !w->records.table)
        return;
    for (int i = 0; i < w->nproc; i++)
        to[i].proc = *rma_proc_at(&plan->procs, i);
    take_new_table(w, plan, NULL);
}

/* ---- the exchanges ---- */

/* own_record copies the record under the lock, since it changes when the network is opened, maybe
 * by another thread's window. */
static struct rma_proc_record own_record(struct rma *r)
{
    rma_enter(r);
    const struct rma_proc_record proc = *r->env->record;
    rma_leave(r);
    return proc;
}

static int exchange_full(struct win *w, struct win_plan *plan)
{
    const struct win_full mine = {plan->mine, own_record(w->rma)};
    struct boot_records gathered;
    const int err = boot_gather_into(plan->boot, &mine, sizeof mine, plan->room, &gathered);
    if (err)
        return err;
    const struct win_full *all = gathered.all;
    plan->details = &all->detail;
    plan->details_stride = sizeof *all;
    take_new_table(w, plan, &gathered);
    return MRMA_SUCCESS;
}

static int exchange_details(struct win *w, struct win_plan *plan)
{
    bool unknown = false, differ = false;
    plan->mine.unknown = !collect(w, plan);
    const int err = boot_gather_into(plan->boot, &plan->mine, sizeof plan->mine, plan->details_room,
                                     &plan->gathered);
    if (err)
        return err;
    plan->details = plan->gathered.all;
    plan->details_stride = sizeof(struct win_detail);
    for (int i = 0; i < w->nproc; i++) {
        const struct win_detail *detail = win_detail_of(plan, i);
        unknown |= detail->unknown != 0;
        differ |= detail->announced != plan->mine.announced;
    }
    if (unknown)
        return exchange_full(w, plan);
    if (differ || !in_table(w, plan, w->records.table))
        take_new_table(w, plan, NULL);
    return MRMA_SUCCESS;
}

/* meet finds out who the processes are; the parts decide which exchanges this takes. */
static int meet(struct win *w, struct win_plan *plan)
{
    const struct win_summary *parts = summaries_of(w);
    bool nobody = false, differ = false;
    for (int i = 0; i < w->nproc; i++) {
        nobody |= (parts[i].bits & SUMMARY_KNOWS_NOBODY) != 0;
        differ |= parts[i].hash != parts[0].hash;
    }
    if (w->nproc == 1) {
        plan->procs = (struct rma_procs){.first = (const char *)w->rma->env->record, .n = 1};
        return MRMA_SUCCESS;
    }
    if (nobody)
        return exchange_full(w, plan);
    if (differ)
        return exchange_details(w, plan);
    return in_table(w, plan, w->records.table)
               ? MRMA_SUCCESS
               : log_fail(w->rma->log, MRMA_ERR_INTERN, "a process of the window is not known");
}

static int check_summaries(const struct win *w)
{
    const struct win_summary *parts = summaries_of(w);
    for (int i = 0; i < w->nproc; i++)
        if (parts[i].err)
            return i == w->rank
                       ? parts[i].err
                       : log_fail(w->rma->log, parts[i].err, "rank %d cannot create the window", i);
    return MRMA_SUCCESS;
}

/* announce announces a table, unless this process has failed: then nobody asks it. */
static void announce(struct win *w, struct win_plan *plan)
{
    struct proc_table *t =
        plan->err || w->nproc == 1 ? NULL : proc_tables_announce(w->rma, plan->boot->communicator);
    w->records.table = t;
    plan->mine.announced = t ? t->number ^ (t->addressed ? UINT64_C(1) << 63 : 0) : 0;
}

int win_exchange(struct win *w, struct win_plan *plan, bool *gone_on)
{
    *gone_on = false;
    announce(w, plan);
    const struct win_summary mine = summary_of(w, plan);
    struct boot *boot = plan->boot;
    boot->digest = digest_of(w, &mine);
    boot->alike = false;
    int err = boot_gather(boot, &mine, sizeof mine, &w->records.gathered);
    const bool alike = !err && boot->alike;
    boot->digest = 0;
    if (!err && !alike)
        err = check_summaries(w);
    if (err)
        return err;
    *gone_on = true;
    if (alike) {
        make_alike(w, plan, &mine);
        return MRMA_SUCCESS;
    }
    err = meet(w, plan);
    return err ? err : make_records(w, plan);
}
