/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region_keys.c - see region_keys.h. The head of target/attach.c says why no key is used after the
 * end of its registration.
 */
#include "rma/origin/region_keys.h"

#include <stdlib.h>

#include "base/copy.h"
#include "base/err.h"
#include "rma/origin/origin_impl.h"
#include "rma/progress/progress.h"
#include "rma/win/send_header.h"

static struct origin_key *key_of(struct span *span)
{
    return (struct origin_key *)(void *)span;
}

struct origin_key *origin_key_at(const struct origin_pair *pair, uint64_t addr, uint64_t len)
{
    struct span *span = span_list_find(&pair->regions, addr);
    return span && len <= span->len - (addr - span->addr) ? key_of(span) : NULL;
}

void origin_key_ask(struct origin_pair *pair, uint64_t addr)
{
    struct win *w = pair->win;
    if (!rma_has_agent(w->rma))
        return;
    if (pair->asking || span_list_find(&pair->regions, addr))
        return;
    pair->asking = win_send_header(w, pair->target, PKT_REGION_ASK, 0, 0, 0, addr) == MRMA_SUCCESS;
    w->rma->stats.regions_asked += pair->asking;
}

void origin_key_use(struct origin_key *key)
{
    if (key)
        key->users++;
}

/* leave frees a key that nobody uses and that no look-up finds. */
static void leave(struct origin_pair *pair, struct origin_key *key, bool failed)
{
    if (!failed)
        (void)win_send_header(pair->win, pair->target, PKT_REGION_LEFT, key->number, 0, 0, 0);
    free(key);
}

void origin_key_done(struct origin_pair *pair, struct origin_key *key, bool failed)
{
    if (key && --key->users == 0 && key->gone)
        leave(pair, key, failed);
}

static bool is_sound(const struct pkt_hdr *hdr)
{
    return hdr->len == sizeof *hdr + (hdr->seq ? sizeof(struct pkt_region) : 0);
}

bool origin_key_got(struct rma_target *t, const struct pkt_hdr *hdr, const void *body)
{
    struct origin_pair *pair = t->pair;
    struct pkt_region region;
    if (!pair || !pair->asking || !is_sound(hdr))
        return false;
    pair->asking = false;
    if (!hdr->seq)
        return true;
    copy_once(&region, body, sizeof region);
    struct origin_key *key = calloc(1, sizeof *key);
    /* the target believes that the region is known here, and must be told that it is not */
    if (!key)
        return true;
    *key = (struct origin_key){.span = {region.addr, region.len},
                               .number = hdr->seq,
                               .registered = hdr->count != 0,
                               .mem = {region.key, region.base - region.addr}};
    const int err = span_list_add(&pair->regions, &key->span);
    if (err)
        free(key);
    return err != MRMA_ERR_RMA_ATTACH;
}

void origin_key_gone(struct win *w, struct rma_target *t, uint32_t number, uint64_t addr)
{
    struct origin_pair *pair = t->pair;
    struct span *span = pair ? span_list_find(&pair->regions, addr) : NULL;
    if (!span || key_of(span)->number != number) { /* there was no memory for the key */
        (void)win_send_header(w, t, PKT_REGION_LEFT, number, 0, 0, 0);
        return;
    }
    span_list_remove(&pair->regions, span);
    key_of(span)->gone = true;
    if (!key_of(span)->users)
        leave(pair, key_of(span), false);
}

static void forget(void *arg, struct span *span)
{
    (void)arg;
    free(span);
}

void origin_keys_free(struct origin_pair *pair)
{
    span_list_end(&pair->regions, forget, NULL);
}
