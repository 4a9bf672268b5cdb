/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.c - see stage.h.
 *
 * An origin writes a stage again only when its last contents, those of epoch n - STAGE_DEPTH, were
 * copied: when the post of epoch n - STAGE_DEPTH + 1 has come. It looks at the posts only when, as
 * far as it knows, all stages are in use; so in a row of epochs each of the two cache lines travels
 * in one direction, and neither side waits for the other. With MPI_MODE_NOCHECK the post has been
 * called already (MPI 4.1, 12.5.2), so the stage is free; but such epochs count no posts, so a pair
 * that has used this assert does not stage any more. In fence phases the barrier takes the place of
 * complete, and the word exposed that of post.
 *
 * A record is one word, the displacement in bytes and 16 bits of length, and the data padded to 8
 * bytes.
 *
 * Order of stores and loads in PSCW epochs, with STAGE_DEPTH 4:
 *
 *   origin, access epoch n                target, exposure n
 *   E: posts >= n - 3 (acquire)           F: posts = n - 3 (release), after wait n - 4
 *   put; records into stage[n % 4]        D: stage[n % 4].seq >= n (acquire)
 *   C: stage[n % 4].seq = n (release)     records copied; loads of its memory see the puts
 *
 * C pairs with D, E with F: a stage is written again only when the target has called the post that
 * comes after it copied the last contents.
 *
 * In fence phases the target copies behind the barrier of its fence, which orders the records
 * before that. After the fence a third process may access the target by another way before the
 * target has copied them:
 *
 *   origin                      target                    third process
 *   records into the stage
 *   E: staged_phase = phase     barrier                   barrier
 *   barrier                     D: copies the stages      F: has staged_phase reached this phase?
 *                               G: exposed = phase        H: wait for exposed == phase (acquire)
 *                                  (release)                 access
 *
 * The barrier orders E before F, so a third process that has to wait sees this. G pairs with H. In
 * a window with packet peers every access of a new phase, and the first access of a lock epoch,
 * waits in H: the barrier orders the memory peers' puts, but not those that a process of another
 * node has sent to the target; these are in place only when the target's fence ends (then it has
 * all markers, and stores G).
 *
 * A process of the new phase may store the next staged_phase before F looks; that must also make F
 * wait. Puts into a stage of the new phase need not wait for H. A stage is written again four
 * phases later, when the target has copied it:
 *
 *   origin, phase p                           target
 *   K: exposed >= p - 3 (acquire)             D: copies phase stage p % 4 of phase p - 4
 *   records into phase stage p % 4            G: exposed = p - 3 (release)
 *
 * G pairs with K. Where every phase ends with a barrier, K always finds the value. After phases
 * that end by MPI_MODE_NOPRECEDE an origin may come to K before the target has done D; then the put
 * goes by the kernel, behind H. Several threads of an origin (MPI_THREAD_MULTIPLE) write a stage
 * under the engine's lock.
 */
#include "rma/path/stage.h"

#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/path/fence_stage.h"
#include "rma/path/path.h"
#include "rma/traced/traced_path.h"
#include "rma/win/bad_packet.h"
#include "rma/win/win.h"

enum { RECORD_WORD = sizeof(uint64_t), LEN_BITS = 16 };

/* ---- where the stages are, and how large ---- */

struct lines {
    uint32_t stage, phase; /* of each */
};

/* lines_that_fit returns how many cache lines a stage gets: as many as so many bytes need, or fewer
 * if all stages together would take more than kib KiB. */
static uint32_t lines_that_fit(int bytes, size_t stages, size_t kib)
{
    const uint32_t most = 1 + ((uint32_t)bytes + MRMA_CACHE_LINE - 1) / MRMA_CACHE_LINE;
    const size_t fit = stages ? (kib << 10) / (stages * MRMA_CACHE_LINE) : most;
    return fit > most ? most : fit < STAGE_LINES_MIN ? STAGE_LINES_MIN : (uint32_t)fit;
}

static struct lines choose(const struct conf *conf, int nslots, enum stage_use use)
{
    const size_t stages = (size_t)nslots * STAGE_DEPTH;
    if (use == STAGE_MAPPED || nslots == 1) /* its own memory is mapped */
        return (struct lines){lines_that_fit(conf->tune.stage, stages, 64), 0};
    const uint32_t n = lines_that_fit(conf->tune.assisted_stage, 2 * stages, 512);
    return (struct lines){n, n};
}

static size_t slots_end(int nslots)
{
    return sizeof(struct win_ctl) + (size_t)nslots * sizeof(struct win_slot);
}

size_t stage_ctl_bytes(const struct conf *conf, int nslots, enum stage_use use)
{
    const struct lines n = choose(conf, nslots, use);
    return slots_end(nslots) + (size_t)nslots * STAGE_DEPTH * (n.stage + n.phase) * MRMA_CACHE_LINE;
}

/* rows finds the stages of slot i. */
static void rows(struct win_ctl *ctl, int nslots, int i, struct stage_row *epochs,
                 struct stage_row *phases)
{
    char *at = (char *)ctl + slots_end(nslots) +
               (size_t)i * STAGE_DEPTH * (ctl->stage_bytes + ctl->phase_bytes);
    *epochs = (struct stage_row){(void *)at, ctl->stage_bytes};
    *phases =
        (struct stage_row){(void *)(at + (size_t)STAGE_DEPTH * ctl->stage_bytes), ctl->phase_bytes};
}

void stage_attach(struct rma_target *t, struct win_ctl *own, int nslots, int me, int its)
{
    rows(t->ctl, nslots, me, &t->stage.out, &t->stage.out_phase);
    rows(own, nslots, its, &t->stage.in, &t->stage.in_phase);
}

/* clear clears only the heads of the stages, since the room behind a head counts only when the head
 * says so. */
static void clear(struct stage_row row, uint32_t first)
{
    for (uint32_t i = 0; row.bytes && i < STAGE_DEPTH; i++) {
        struct win_stage *st = (void *)((char *)row.first + (size_t)i * row.bytes);
        memset(st, 0, sizeof *st);
        atomic_init(&st->seq, first);
    }
}

void stage_init(struct win_ctl *ctl, const struct conf *conf, int nslots, enum stage_use use,
                uint32_t first)
{
    const struct lines n = choose(conf, nslots, use);
    ctl->stage_bytes = n.stage * MRMA_CACHE_LINE;
    ctl->phase_bytes = n.phase * MRMA_CACHE_LINE;
    memset(ctl->slots, 0, (size_t)nslots * sizeof *ctl->slots);
    for (int i = 0; i < nslots; i++) {
        struct stage_row epochs, phases;
        rows(ctl, nslots, i, &epochs, &phases);
        clear(epochs, first);
        clear(phases, first);
    }
}

/* ---- their use ---- */

static struct win_stage *stage_of(const struct stage_row *row, uint32_t number)
{
    return (void *)((char *)row->first + (size_t)(number % STAGE_DEPTH) * row->bytes);
}

/* room_of returns the room of one stage; 0: there are no stages. */
static size_t room_of(const struct stage_row *row)
{
    return row->bytes ? row->bytes - offsetof(struct win_stage, room) : 0;
}

/* row_full returns whether all stages are in use, as far as this process knows. The counts of
 * posts, and of posts that are due, only grow. */
static bool row_full(const struct rma_target *t)
{
    return seq_reached(t->posts_due, t->stage.posts_seen + STAGE_DEPTH);
}

bool stage_seek_room(struct rma_target *t)
{
    if (unlikely(row_full(t)))
        t->stage.posts_seen =
            atomic_load_explicit(&t->in->posts, memory_order_acquire); /* pairs with memory_post */
    return !row_full(t);
}

static uint32_t record_bytes(size_t len)
{
    return (uint32_t)(RECORD_WORD + (len + 7) / 8 * 8);
}

/* is_plain returns whether the put is contiguous at both ends, of the same size, and inside the
 * window, and sets its place there. */
static bool is_plain(const struct rma_target *t, const struct rma_op *op, size_t room,
                     uint64_t *offset)
{
    const size_t len = op->ocount * op->otype->size;
    if (!len || len > room || op->ocount > room || op->tcount > room || !op->otype->contig ||
        !op->ttype->contig || op->tcount * op->ttype->size != len ||
        (uint64_t)op->disp > UINT32_MAX)
        return false;
    *offset = (uint64_t)op->disp * t->disp_unit;
    return !(*offset >> (64 - LEN_BITS)) && *offset <= t->size && len <= t->size - *offset;
}

/* add_record adds a record behind what is in the stage already, if there is room. */
static bool add_record(struct win_stage *st, size_t room, uint32_t *used, const void *data,
                       uint64_t offset, size_t len)
{
    const uint64_t word = offset << LEN_BITS | len;
    char *at = st->room + *used;
    if (record_bytes(len) > room - *used)
        return false;
    memcpy(at, &word, sizeof word);
    copy_whole(at + sizeof word, data, len);
    *used += record_bytes(len);
    return true;
}

static bool put_epoch(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const size_t len = op->ocount * op->otype->size, room = room_of(&t->stage.out);
    uint64_t offset;
    if (t->started_in != w->start_count || t->starts != t->posts_due ||
        !is_plain(t, op, room, &offset) || !stage_seek_room(t))
        return false;
    return add_record(stage_of(&t->stage.out, t->starts), room, &t->stage.used, op->oaddr, offset,
                      len);
}

/* phase_stage_free returns whether t has copied what this stage held before. */
static bool phase_stage_free(const struct win *w, const struct rma_target *t)
{
    const uint32_t exposed = atomic_load_explicit(
        &t->ctl->exposed, memory_order_acquire); /* pairs with expose in fence.c */
    return seq_reached(exposed, w->phase - STAGE_DEPTH + 1);
}

static bool put_phase(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const size_t len = op->ocount * op->otype->size, room = room_of(&t->stage.out_phase);
    struct win_stage *st = stage_of(&t->stage.out_phase, w->phase);
    uint64_t offset;
    if (!is_plain(t, op, room, &offset))
        return false;
    if (atomic_load_explicit(&st->seq, memory_order_relaxed) != w->phase + 1) {
        if (!phase_stage_free(w, t))
            return false;
        st->used = 0;
        atomic_store_explicit(&st->seq, w->phase + 1, memory_order_relaxed);
    }
    if (!add_record(st, room, &st->used, op->oaddr, offset, len))
        return false;
    atomic_store_explicit(&t->ctl->staged_phase, w->phase + 1,
                          memory_order_relaxed); /* before the barrier: fence.c */
    return true;
}

/* put_mapped_phase is for a mapped target, which needs no stage once it has begun the phase. */
static bool put_mapped_phase(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const size_t len = op->ocount * op->otype->size;
    uint64_t offset;
    return w->counts_arrivals && is_plain(t, op, FENCE_STAGE_ROOM, &offset) &&
           fence_stage_put(w, t, op->oaddr, offset, len);
}

/* put_locked takes the engine's lock: several threads may put in the same epoch, but a stage has
 * one writer at a time. */
static bool put_locked(struct win *w, struct rma_target *t, const struct rma_op *op,
                       bool (*put)(struct win *w, struct rma_target *t, const struct rma_op *op))
{
    struct rma *r = w->rma;
    if (unlikely(r->threads))
        elock_lock(&r->lock);
    const bool done = put(w, t, op);
    r->stats.staged += done;
    if (unlikely(r->threads))
        elock_unlock(&r->lock);
    return done;
}

bool stage_put(struct win *w, struct rma_target *t, const struct rma_op *op)
{
    const enum epoch_state now = epoch_now(&w->epoch);
    if (!t->stage.out.bytes || op->req)
        return false;
    if (now == EPOCH_PSCW)
        return put_locked(w, t, op, put_epoch);
    if (now != EPOCH_FENCE && now != EPOCH_FENCE_USED)
        return false;
    if (t->path != PATH_ASSISTED)
        return put_locked(w, t, op, put_mapped_phase);
    return t->stage.out_phase.bytes && put_locked(w, t, op, put_phase);
}

void stage_complete(struct rma_target *t)
{
    struct win_stage *st = stage_of(&t->stage.out, t->starts);
    st->used = t->stage.used;
    t->stage.used = 0;
    atomic_store_explicit(&st->seq, t->starts,
                          memory_order_release); /* pairs with stage_completed */
}

bool stage_completed(const struct rma_target *t)
{
    const struct win_stage *st = stage_of(&t->stage.in, t->exposures);
    return seq_reached(atomic_load_explicit(&st->seq, memory_order_acquire), t->exposures);
}

static void apply_records(struct win *w, const struct rma_target *t, const struct win_stage *st,
                          size_t room)
{
    uint32_t used;
    copy_once(&used, &st->used, sizeof used);
    for (uint32_t at = 0; at + RECORD_WORD <= used && used <= room;) {
        const uint64_t word = copy_once_8(st->room + at);
        const uint64_t offset = word >> LEN_BITS, len = word & ((1u << LEN_BITS) - 1);
        if (len > used - at - RECORD_WORD || offset > w->size || len > w->size - offset) {
            rma_bad_packet(w->rma, "staged put of rank %d refused in window %u: out of range",
                           t->rank, w->index);
            return;
        }
        copy_whole((char *)w->base + offset, st->room + at + RECORD_WORD, len);
        at += record_bytes(len);
    }
}

void stage_apply(struct win *w, struct rma_target *t)
{
    const struct win_stage *st = stage_of(&t->stage.in, t->exposures);
    if (unlikely(st->used) && atomic_load_explicit(&st->seq, memory_order_relaxed) == t->exposures)
        apply_records(w, t, st, room_of(&t->stage.in));
}

void stage_phase_apply(struct win *w)
{
    for (int i = 0; i < w->nmemory; i++) {
        const struct rma_target *t = win_peek(w, w->memory_ranks[i]);
        const struct win_stage *st = stage_of(&t->stage.in_phase, w->phase);
        if (t->stage.in_phase.bytes &&
            atomic_load_explicit(&st->seq, memory_order_relaxed) == w->phase + 1)
            apply_records(w, t, st, room_of(&t->stage.in_phase));
    }
}

/* ---- the filter ---- */

static int stage_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                         const struct rma_op *op, int64_t offset, size_t len)
{
    if (kind != PKT_OP_PUT || op->notify || !stage_put(w, t, op))
        return route_next(t, &path_stage)->operate(w, t, kind, op, offset, len);
    traced_elsewhere(w, t, kind, op, len);
    return MRMA_SUCCESS;
}

static int stage_flush(struct win *w, struct rma_target *t, bool local)
{
    return route_next(t, &path_stage)->flush(w, t, local);
}

static int stage_unlock(struct win *w, struct rma_target *t)
{
    return route_next(t, &path_stage)->unlock(w, t);
}

const struct path_ops path_stage = {
    .name = "stage",
    .operate = stage_operate,
    .flush = stage_flush,
    .unlock = stage_unlock,
};
