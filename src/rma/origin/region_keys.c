/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_keys.c - see region_keys.h. The head of target/attach.c says why no key is used after the
 * end of its registration.
 */
#include "rma/origin/region_keys.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/progress/progress.h"
#include "rma/win/send_header.h"

static struct region_key *key_of(struct span *span)
{
    return (struct region_key *)(void *)span;
}

struct region_key *region_key_at(const struct pkt_target *pt, uint64_t addr, uint64_t len)
{
    struct span *span = span_list_find(&pt->regions, addr);
    return span && len <= span->len - (addr - span->addr) ? key_of(span) : NULL;
}

void region_key_ask(struct pkt_target *pt, uint64_t addr)
{
    struct win *w = pt->win;
    if (!rma_has_agent(w->rma))
        return;
    if (pt->asking || span_list_find(&pt->regions, addr))
        return;
    pt->asking = win_send_header(w, pt->target, PKT_REGION_ASK, 0, 0, 0, addr) == MRMA_SUCCESS;
    w->rma->stats.regions_asked += pt->asking;
}

void region_key_use(struct region_key *key)
{
    if (key)
        key->users++;
}

/* leave frees a key that nobody uses and that no look-up finds. */
static void leave(struct pkt_target *pt, struct region_key *key, bool failed)
{
    if (!failed)
        (void)win_send_header(pt->win, pt->target, PKT_REGION_LEFT, key->number, 0, 0, 0);
    free(key);
}

void region_key_done(struct pkt_target *pt, struct region_key *key, bool failed)
{
    if (key && --key->users == 0 && key->gone)
        leave(pt, key, failed);
}

static bool is_sound(const struct pkt_hdr *hdr)
{
    return hdr->len == sizeof *hdr + (hdr->seq ? sizeof(struct pkt_region) : 0);
}

bool region_key_got(struct rma_target *t, const struct pkt_hdr *hdr, const void *body)
{
    struct pkt_target *pt = t->pkt;
    struct pkt_region region;
    if (!pt || !pt->asking || !is_sound(hdr))
        return false;
    pt->asking = false;
    if (!hdr->seq)
        return true;
    copy_once(&region, body, sizeof region);
    struct region_key *key = calloc(1, sizeof *key);
    /* the target believes that the region is known here, and must be told that it is not */
    if (!key)
        return true;
    *key = (struct region_key){.span = {region.addr, region.len},
                               .number = hdr->seq,
                               .registered = hdr->count != 0,
                               .mem = {region.key, region.base - region.addr}};
    const int err = span_list_add(&pt->regions, &key->span);
    if (err)
        free(key);
    return err != MRMA_ERR_RMA_ATTACH;
}

void region_key_gone(struct win *w, struct rma_target *t, uint32_t number, uint64_t addr)
{
    struct pkt_target *pt = t->pkt;
    struct span *span = pt ? span_list_find(&pt->regions, addr) : NULL;
    if (!span || key_of(span)->number != number) { /* there was no memory for the key */
        (void)win_send_header(w, t, PKT_REGION_LEFT, number, 0, 0, 0);
        return;
    }
    span_list_remove(&pt->regions, span);
    key_of(span)->gone = true;
    if (!key_of(span)->users)
        leave(pt, key_of(span), false);
}

static void forget(void *arg, struct span *span)
{
    (void)arg;
    free(span);
}

void region_keys_free(struct pkt_target *pt)
{
    span_list_end(&pt->regions, forget, NULL);
}
