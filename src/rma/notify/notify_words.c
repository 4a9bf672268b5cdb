/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notify_words.c - see notify_words.h.
 */
#include "rma/notify/notify_words.h"

#include <assert.h>

#include "base/err.h"
#include "rma/notify/notify.h"
#include "rma/win/bad_packet.h"
#include "rma/win/win.h"

#define WHO_END (UINT32_C(1) << NOTIFY_WHO_BITS)
#define NUMBER_MASK ((UINT32_C(1) << NOTIFY_NUMBER_BITS) - 1)

static_assert(NOTIFY_MAX <= 1 << NOTIFY_NUMBER_BITS, "a number of each notification");
static_assert(NOTIFY_WHO_BITS + NOTIFY_NUMBER_BITS == 32, "all of a word");

uint32_t notify_words_begin(struct win *w)
{
    struct rma *r = w->rma;
    if (!w->hints.notifications)
        return 0;
    rma_enter(r);
    const uint32_t first = 1 + r->words_given, left = WHO_END - first;
    if ((uint32_t)w->nproc <= left) {
        r->words_given += (uint32_t)w->nproc;
        w->notify.words = first;
        list_push_front(&r->with_words, &w->notify.with_words);
    }
    rma_leave(r);
    return w->notify.words;
}

void notify_words_end(struct win *w)
{
    if (w->notify.words)
        list_remove(&w->notify.with_words);
    w->notify.words = 0;
}

uint32_t notify_word_to(const struct win *w, const struct rma_target *t, uint32_t mark)
{
    const uint32_t first = t->net_key.words;
    return first ? (first + (uint32_t)w->rank) << NOTIFY_NUMBER_BITS | (mark - 1) : 0;
}

/* find returns the window that has the number who. The window that was found last is looked at
 * first. */
static struct win *find(struct rma *r, uint32_t who)
{
    LIST_EACH (it, &r->with_words) {
        struct win *w = LIST_ENTRY(it, struct win, notify.with_words);
        if (who - w->notify.words >= (uint32_t)w->nproc)
            continue;
        list_remove(it);
        list_push_front(&r->with_words, it);
        return w;
    }
    return NULL;
}

static void refuse(struct rma *r, uint32_t word, const char *why)
{
    rma_bad_packet(r, "the notification 0x%08x that came with a put is refused: %s", word, why);
}

/* origin_of returns the origin of a word; NULL: the window has no such number, or its process is no
 * target that the network reaches. */
static struct rma_target *origin_of(struct win *w, uint32_t who, uint32_t number)
{
    struct rma_target *t = NULL;
    if (number >= w->notify.n || win_target_locked(w, (int)(who - w->notify.words), &t))
        return NULL;
    return t->ctl ? NULL : t;
}

void notify_word_came(struct rma *r, uint32_t word)
{
    const uint32_t who = word >> NOTIFY_NUMBER_BITS, number = word & NUMBER_MASK;
    struct win *w = find(r, who);
    if (!w && who && who <= r->words_given) {
        r->stats.late++;
        return;
    }
    struct rma_target *t = w ? origin_of(w, who, number) : NULL;
    if (!t)
        refuse(r, word, w ? "no such number, or no such origin" : "nobody was given it");
    else if (notify_expect(w, t))
        (void)ch3_vc_event(&t->peer->vc, CH3_VC_LOST); /* somebody may wait for what is lost */
    else
        notify_arrived(w, t, number + 1);
}
