/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_counts.c - see fence_counts.h.
 *
 * Every process has for some targets a number of bytes; every process must learn the sum over all
 * origins for itself. In round k (distance 2^k, k < ceil(log2 P)) process i sends one message to i
 * + 2^k: the pairs (target, bytes) that it holds whose remaining distance has bit k set. A process
 * that gets pairs adds them to those that it holds. After round k the low k + 1 bits of all
 * remaining distances are 0, so after the last round all pairs have arrived.
 *
 *   P = 4, rank 0 has put 8 bytes to 3 and rank 1 has put 16 to 3
 *   round 0   0 -> 1: (3, 8)    1 -> 2: nothing   2 -> 3: nothing   3 -> 0: nothing
 *   round 1   0 -> 2: nothing   1 -> 3: (3, 24)   2 -> 0: nothing   3 -> 1: nothing
 *
 * The rounds are those of a dissemination barrier: a process that has received the messages of all
 * rounds knows that all processes have entered this fence. So a message belongs to this closing
 * fence or to the next one, and is kept by the fence's parity. Fences with MPI_MODE_NOPRECEDE do
 * not count as closing. A message that is longer than a packet comes in parts. Every part says how
 * many pairs follow, so nothing is accepted that was not announced; and accepted pairs have ranks
 * that exist and that the round may bring here, in the order of their distance.
 *
 * Invariants: held is sorted by distance from this process, without duplicates. While a closing is
 * entered, rounds below round have been received and added, round itself and those before have been
 * sent.
 *
 * Neighbours: fence.c, origin/active_epoch.h; handlers.c and target_apply.c feed it. Locks: the
 * engine's.
 */
#include "rma/sync/fence_counts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/copy.h"
#include "base/err.h"
#include "boot/boot.h"
#include "rma/origin/active_epoch.h"
#include "rma/win/send_header.h"
#include "rma/win/win.h"

enum { PAIRS_MAX = (PKT_MAX - sizeof(struct pkt_hdr)) / sizeof(struct pkt_count) };

/* The processes agree at creation on the most packet peers of any process, or on one of these. */
enum { WISH_NO_MEM = INT_MAX, WISH_COUNTS = INT_MAX - 1, WISH_MARKERS = INT_MAX - 2 };

/* A packet that is being made, or the copy of one that has come. It belongs to the engine, since a
 * thread may have little stack; the holder of the engine's lock may use it, and keeps nothing in
 * it. The first window that may close its fences by counts makes it, and it is freed with the
 * layer. */
struct counts_packet {
    struct pkt_hdr hdr;
    struct pkt_count pairs[PAIRS_MAX];
};

/* The message of a round, as far as it has come. */
struct arrival {
    struct pkt_count *pairs;
    uint32_t n, missing; /* pairs that have come, and that have been announced */
    bool begun;
    bool broken; /* the sender has lost some pairs */
};

struct fence_counts {
    uint32_t closing; /* fences closed so far */
    bool connected;   /* connected to all that get this process's rounds */
    bool entered;     /* a fence is being closed */
    bool broken;      /* pairs were lost for want of memory: no sum can be trusted */
    int err;          /* enum mrma_err of a message that could not be sent */
    unsigned nrounds, round;
    struct pkt_count *held;
    uint32_t nheld, room;
    uint64_t expected;   /* bytes for this process, as far as known */
    struct arrival in[]; /* by parity of the closing, then by round */
};

static unsigned rounds_of(int nproc)
{
    unsigned n = 0;
    while (n < 31 && (1 << n) < nproc)
        n++;
    return n;
}

/* distance returns the distance from this process to that rank, in the order of ranks round the
 * window. */
static uint32_t distance(const struct win *w, uint32_t rank)
{
    const uint32_t n = (uint32_t)w->nproc;
    return (rank + n - (uint32_t)w->rank) % n;
}

/* round_target returns the rank to which this process sends in round k; the other function returns
 * the rank whose message it gets. */
static int round_target(const struct win *w, unsigned k)
{
    return (int)(((uint32_t)w->rank + (UINT32_C(1) << k)) % (uint32_t)w->nproc);
}

static int round_origin(const struct win *w, unsigned k)
{
    const uint32_t n = (uint32_t)w->nproc;
    return (int)(((uint32_t)w->rank + n - (UINT32_C(1) << k)) % n);
}

static struct arrival *arrival_of(struct fence_counts *c, uint32_t closing, unsigned k)
{
    return &c->in[(closing & 1) * c->nrounds + k];
}

static void forget(struct arrival *a)
{
    free(a->pairs);
    *a = (struct arrival){.pairs = NULL};
}

/* ---- the choice ---- */

int fence_counts_choose(struct win *w, struct boot *boot)
{
    const enum conf_fence conf = w->rma->conf->fence;
    const unsigned nrounds = rounds_of(w->nproc);
    if (!w->npackets) /* then nobody has any */
        return MRMA_SUCCESS;
    struct fence_counts *c = calloc(1, sizeof *c + 2 * nrounds * sizeof c->in[0]);
    if (c) {
        c->nrounds = nrounds;
        c->closing = w->first_number;
    }
    rma_enter(w->rma); /* a process that has finished the exchange may send counts at once */
    w->sync.fence_counts = c;
    if (!w->rma->counts_packet)
        w->rma->counts_packet = malloc(sizeof *w->rma->counts_packet);
    const bool no_mem = !c || !w->rma->counts_packet;
    rma_leave(w->rma);
    int wish = no_mem                       ? WISH_NO_MEM
               : conf == CONF_FENCE_COUNTS  ? WISH_COUNTS
               : conf == CONF_FENCE_MARKERS ? WISH_MARKERS
                                            : w->npackets;
    int most = wish;
    int err = boot->allmax(boot, wish, &most);
    if (!err && most == WISH_NO_MEM)
        err = MRMA_ERR_NO_MEM;
    if (err || (most != WISH_COUNTS && (most == WISH_MARKERS || most <= FENCE_MARKERS_MAX))) {
        rma_enter(w->rma);
        fence_counts_free(w);
        rma_leave(w->rma);
    }
    return err;
}

void fence_counts_free(struct win *w)
{
    struct fence_counts *c = w->sync.fence_counts;
    if (!c)
        return;
    for (unsigned i = 0; i < 2 * c->nrounds; i++)
        forget(&c->in[i]);
    free(c->held);
    free(c);
    w->sync.fence_counts = NULL;
}

bool fence_counts_used(const struct win *w)
{
    return w->sync.fence_counts != NULL;
}

int fence_counts_connect(struct win *w)
{
    struct fence_counts *c = w->sync.fence_counts;
    struct rma_target *t;
    int err = MRMA_SUCCESS;
    rma_enter(w->rma);
    for (unsigned k = 0; !err && !c->connected && k < c->nrounds; k++) {
        err = win_target_locked(w, round_target(w, k), &t);
        if (!err) /* memory peers are not connected otherwise */
            err = w->rma->env->peer_connect(w->rma->env->ctx, t->peer);
    }
    c->connected = c->connected || !err;
    rma_leave(w->rma);
    return err;
}

/* ---- sending ---- */

static int send_part(struct win *w, unsigned k, struct pkt_hdr *hdr, uint32_t n, uint32_t left)
{
    struct rma_target *t = win_peek(w, round_target(w, k));
    const struct fence_counts *c = w->sync.fence_counts;
    *hdr = win_header(w, t, PKT_COUNTS);
    hdr->seq = c->closing;
    hdr->count = n;
    hdr->total = k | (c->broken ? PKT_COUNTS_BROKEN : 0);
    hdr->offset = left;
    hdr->len = (uint32_t)(sizeof *hdr + n * sizeof(struct pkt_count));
    return ch3_send(&t->peer->vc, hdr, hdr->len, &w->queued, false);
}

static bool goes_in_round(const struct win *w, const struct pkt_count *pair, unsigned k)
{
    return distance(w, pair->rank) >> k & 1;
}

/* send_round sends one message, also when no pair goes in this round; a long message takes several
 * packets. */
static int send_round(struct win *w, unsigned k)
{
    struct fence_counts *c = w->sync.fence_counts;
    struct counts_packet *out = w->rma->counts_packet;
    uint32_t left = 0, kept = 0, n = 0;
    int err = MRMA_SUCCESS;
    for (uint32_t i = 0; i < c->nheld; i++)
        left += goes_in_round(w, &c->held[i], k);
    for (uint32_t i = 0; i < c->nheld; i++) {
        if (!goes_in_round(w, &c->held[i], k)) {
            c->held[kept++] = c->held[i];
            continue;
        }
        out->pairs[n++] = c->held[i];
        left--;
        if (n == PAIRS_MAX && left) {
            if (!err)
                err = send_part(w, k, &out->hdr, n, left);
            n = 0;
        }
    }
    c->nheld = kept;
    return err ? err : send_part(w, k, &out->hdr, n, 0);
}

/* ---- adding ---- */

/* add adds so many bytes for that rank. False: there is no memory. */
static bool add(struct win *w, uint32_t rank, uint64_t bytes)
{
    struct fence_counts *c = w->sync.fence_counts;
    const uint32_t d = distance(w, rank);
    uint32_t at = 0, end = c->nheld;
    if (!d) {
        c->expected += bytes;
        return true;
    }
    while (at < end) { /* the first pair that is at least as far */
        const uint32_t mid = at + (end - at) / 2;
        if (distance(w, c->held[mid].rank) < d)
            at = mid + 1;
        else
            end = mid;
    }
    if (at < c->nheld && c->held[at].rank == rank) {
        c->held[at].bytes += bytes;
        return true;
    }
    if (c->nheld == c->room) {
        const uint32_t room = c->room ? 2 * c->room : 16;
        struct pkt_count *more = realloc(c->held, room * sizeof *more);
        if (!more)
            return false;
        c->held = more;
        c->room = room;
    }
    memmove(&c->held[at + 1], &c->held[at], (c->nheld++ - at) * sizeof *c->held);
    c->held[at] = (struct pkt_count){.rank = rank, .bytes = bytes};
    return true;
}

/* step goes on with the rounds as far as messages have come. */
static void step(struct win *w)
{
    struct fence_counts *c = w->sync.fence_counts;
    while (c->round < c->nrounds) {
        struct arrival *a = arrival_of(c, c->closing, c->round);
        if (!a->begun || a->missing)
            return;
        c->broken |= a->broken;
        for (uint32_t i = 0; i < a->n; i++)
            c->broken |= !add(w, a->pairs[i].rank, a->pairs[i].bytes);
        forget(a);
        if (++c->round < c->nrounds) {
            int err = send_round(w, c->round);
            if (!c->err)
                c->err = err;
        }
    }
}

/* gather enters what this process has sent in the phase into held. */
static int gather(struct win *w)
{
    struct origin_pair *at = NULL;
    uint64_t bytes;
    bool room = true;
    int rank;
    while (origin_phase_next(w, &at, &rank, &bytes))
        room &= add(w, (uint32_t)rank, bytes);
    return room ? MRMA_SUCCESS : MRMA_ERR_NO_MEM;
}

/* ---- a fence ---- */

int fence_counts_enter(struct win *w)
{
    struct fence_counts *c = w->sync.fence_counts;
    int err = gather(w);
    if (err) /* the others must learn that they cannot wait for what this process has sent */
        c->broken = true;
    c->entered = true;
    int sent = send_round(w, 0);
    if (!sent)
        step(w);
    return err ? err : sent;
}

bool fence_counts_done(const struct win *w)
{
    const struct fence_counts *c = w->sync.fence_counts;
    if (c->err)
        return true;
    return c->round == c->nrounds &&
           (w->phase_arrived == c->expected || w->fence_lost || c->broken);
}

int fence_counts_missing(const struct win *w)
{
    const struct fence_counts *c = w->sync.fence_counts;
    return c->entered && c->round < c->nrounds ? round_origin(w, c->round) : -1;
}

uint64_t fence_counts_expected(const struct win *w)
{
    return w->sync.fence_counts->expected;
}

int fence_counts_leave(struct win *w)
{
    struct fence_counts *c = w->sync.fence_counts;
    const int err = c->err          ? c->err
                    : c->broken     ? MRMA_ERR_NO_MEM
                    : w->fence_lost ? MRMA_ERR_INTERN
                                    : MRMA_SUCCESS;
    for (unsigned k = 0; k < c->nrounds; k++)
        forget(arrival_of(c, c->closing, k));
    free(c->held);
    c->held = NULL;
    c->nheld = c->room = 0;
    c->expected = 0;
    c->round = 0;
    c->err = MRMA_SUCCESS;
    c->entered = false;
    c->closing++;
    return err;
}

/* ---- arriving ---- */

/* continues returns whether this is the next part of what has been announced, or the first part if
 * nothing has. */
static bool continues(const struct arrival *a, const struct pkt_hdr *hdr, uint32_t nproc)
{
    const uint64_t n = hdr->count, left = hdr->offset;
    if (hdr->len != sizeof *hdr + n * sizeof(struct pkt_count) || left > nproc ||
        n + left > nproc || (!n && left))
        return false;
    return a->begun ? a->missing && a->missing == n + left : true;
}

static bool well_routed(const struct win *w, const struct arrival *a, const struct pkt_count *pairs,
                        uint32_t n, unsigned k)
{
    const uint32_t low = (UINT32_C(2) << k) - 1;
    int64_t before = -1;
    if (a->n)
        before = distance(w, a->pairs[a->n - 1].rank);
    for (uint32_t i = 0; i < n; i++) {
        if (pairs[i].rank >= (uint32_t)w->nproc)
            return false;
        const uint32_t d = distance(w, pairs[i].rank);
        if (d & low || d <= before)
            return false;
        before = d;
    }
    return true;
}

/* keep keeps the pairs; without memory for them the message is broken. */
static void keep(struct arrival *a, const struct pkt_count *pairs, uint32_t n, uint32_t left)
{
    if (!a->begun && n) {
        a->pairs = malloc((n + (size_t)left) * sizeof *a->pairs);
        a->broken |= !a->pairs;
    }
    if (a->pairs) {
        memcpy(a->pairs + a->n, pairs, n * sizeof *pairs);
        a->n += n;
    }
    a->begun = true;
    a->missing = left;
}

bool fence_counts_got(struct win *w, const struct rma_target *t, const struct pkt_hdr *hdr,
                      const void *body)
{
    struct fence_counts *c = w->sync.fence_counts;
    const unsigned k = hdr->total & ~PKT_COUNTS_BROKEN;
    if (!c || hdr->seq - c->closing > 1 || k >= c->nrounds || t->rank != round_origin(w, k) ||
        (hdr->seq == c->closing && k < c->round))
        return false;
    struct arrival *a = arrival_of(c, hdr->seq, k);
    struct pkt_count *pairs = w->rma->counts_packet->pairs;
    if (!continues(a, hdr, (uint32_t)w->nproc))
        return false;
    copy_once(pairs, body, hdr->len - sizeof *hdr);
    if (!well_routed(w, a, pairs, hdr->count, k))
        return false;
    a->broken |= (hdr->total & PKT_COUNTS_BROKEN) != 0;
    keep(a, pairs, hdr->count, (uint32_t)hdr->offset);
    if (c->entered && hdr->seq == c->closing)
        step(w);
    return true;
}
