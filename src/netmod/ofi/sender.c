/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.c - see sender.h.
 */
#include "netmod/ofi/sender.h"

#include <stdlib.h>
#include <string.h>

struct nm_from *nm_from_new(struct nmofi *nm, const struct nm_hello *hello)
{
    struct nm_from *from = calloc(1, sizeof *from);
    if (!from || map_put(&nm->from, hello->hdr.token, from, NULL)) {
        free(from);
        return NULL;
    }
    from->token = hello->hdr.token;
    from->uid = hello->uid;
    list_init(&from->early);
    nm->stats.link_bytes += sizeof *from;
    return from;
}

void nm_from_known(struct nmofi *nm, struct nm_from *from)
{
    if (!list_node_queued(&from->unknown))
        return;
    list_remove(&from->unknown);
    ch3_channel_unsent(&nm->channel, -1);
}

void nm_from_free(struct nmofi *nm, struct nm_from *from)
{
    struct list_node *node;
    while ((node = list_pop_front(&from->early)) != NULL)
        free(LIST_ENTRY(node, struct nm_early, node));
    nm_from_known(nm, from);
    (void)map_del(&nm->from, from->token);
    nm->stats.link_bytes -= sizeof *from;
    free(from);
}

bool nm_from_keep(struct nm_from *from, const struct nm_hdr *hdr, size_t len)
{
    const uint32_t cost = nm_cost(hdr->len);
    struct nm_early *early = NULL;
    if (from->early_units + cost > 2 * NM_WINDOW || !(early = malloc(sizeof *early + len)))
        return false;
    early->seq = hdr->seq;
    memcpy(early->bytes, hdr, len);
    from->early_units += cost;
    struct list_node *before = &from->early.head;
    LIST_EACH (it, &from->early) {
        if ((int16_t)(LIST_ENTRY(it, struct nm_early, node)->seq - hdr->seq) > 0)
            break;
        before = it;
    }
    list_insert_after(before, &early->node);
    return true;
}
