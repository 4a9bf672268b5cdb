/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route.c - see route.h.
 */
#include "rma/create/route.h"

#include <assert.h>
#include <stdio.h>

#include "rma/create/win_create.h"
#include "rma/path/joint.h"
#include "rma/path/path.h"
#include "rma/strict/strict.h"
#include "rma/traced/traced_path.h"
#include "rma/win/win.h"

enum { NUMBER_STAGES = 4, NUMBER_STRICT = 8, NUMBER_TRACED = 16, NUMBERS = 32 };
/* Packets have no stages: with them the same bit says that they take the network. */
enum { NUMBER_NET = NUMBER_STAGES };
static_assert((int)PATH_COUNT <= (int)NUMBER_STAGES, "the path is in the lowest bits");

/* has_stages returns whether the targets have stages that anybody uses, and copies are published
 * for them. In strict mode neither is so, since that checks at once what the target allows. */
static bool has_stages(const struct route_facts *facts)
{
    return (facts->path == PATH_MAPPED || facts->path == PATH_ASSISTED) && !facts->dynamic &&
           !facts->strict;
}

static void add(struct route *r, const struct path_ops *ops)
{
    assert(r->n < ROUTE_MAX);
    r->ops[r->n++] = ops;
}

void route_build(struct route *r, const struct route_facts *facts)
{
    static const struct path_ops *const ways[PATH_COUNT] = {[PATH_MAPPED] = &path_mapped,
                                                            [PATH_ASSISTED] = &path_assisted,
                                                            [PATH_PACKETS] = &path_packets,
                                                            [PATH_RDMA] = &path_rdma};
    const bool stages = has_stages(facts), net = facts->path == PATH_PACKETS && facts->net;
    *r = (struct route){.number =
                            (uint8_t)(facts->path | (stages ? NUMBER_STAGES : 0) |
                                      (net ? NUMBER_NET : 0) | (facts->strict ? NUMBER_STRICT : 0) |
                                      (facts->traced ? NUMBER_TRACED : 0))};
    if (stages)
        add(r, &path_stage);
    add(r, &path_ready);
    /* A stage costs less than the kernel at any time, and more than mapped memory. */
    r->known = stages && facts->path == PATH_ASSISTED ? 0 : r->n;
    if (facts->strict)
        add(r, &strict_path);
    if (facts->traced)
        add(r, &traced_path);
    if (stages)
        add(r, &path_joint);
    add(r, net ? &path_net_packets : ways[facts->path]);
}

void route_text(const struct route *r, char *buf, size_t len)
{
    size_t at = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < r->n && at < len; i++)
        at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? " > " : "", r->ops[i]->name);
}

void route_list(uint32_t numbers, char *buf, size_t len)
{
    size_t at = 0;
    buf[0] = '\0';
    for (unsigned i = 0; i < NUMBERS; i++) {
        char text[ROUTE_TEXT];
        struct route r;
        if (!(numbers >> i & 1))
            continue;
        route_build(&r, &(struct route_facts){.path = (enum rma_path)(i % NUMBER_STAGES),
                                              .net = (i & NUMBER_NET) != 0,
                                              .dynamic = !(i & NUMBER_STAGES),
                                              .strict = (i & NUMBER_STRICT) != 0,
                                              .traced = (i & NUMBER_TRACED) != 0});
        route_text(&r, text, sizeof text);
        if (at < len)
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at ? "; " : "", text);
    }
}

void win_make_routes(struct win *w)
{
    const int joint = w->rma->conf->tune.joint_copy;
    w->joint_min = joint && !w->dynamic && !w->strict ? (size_t)joint : SIZE_MAX;
    for (int i = 0; i < ROUTES; i++) {
        const bool net = i == ROUTE_NET_PACKETS;
        route_build(&w->routes[i],
                    &(struct route_facts){.path = net ? PATH_PACKETS : (enum rma_path)i,
                                          .net = net,
                                          .dynamic = w->dynamic,
                                          .strict = w->strict != NULL,
                                          .traced = w->rma->env->trace != NULL});
    }
}
