/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gap.c - messages that are missing.
 *
 * If the provider has spoilt the bytes of a message, its token belongs to nobody, so nobody knows
 * whose it was: it is a stray. A stray may also come from somebody outside the job, who must not be
 * able to break connections. The two differ in this: behind a spoilt message the numbers of a peer
 * have a gap. A gap alone proves nothing, since long messages may complete later than short ones
 * behind them. So for NM_STRAY_FOR after a stray all gaps are watched, and a gap that stays for
 * NM_GAP_PATIENCE ends its connection. A process that waits for an answer sends a PROBE (ofi_vc.c),
 * so that the last message of all has one behind it, too.
 *
 * Locks: as nmofi.h says. Neighbours: recv.c, which sorts by number and meets strays; cq.c, whose
 * poll looks for gaps.
 */
#include "base/clock.h"
#include "netmod/ofi/ofi.h"

#define NM_STRAY_FOR UINT64_C(60000000000)
#define NM_GAP_PATIENCE UINT64_C(3000000000)
#define NM_GAP_LOOK UINT64_C(100000000) /* between two looks */

void nm_gap_stray(struct nmofi *nm)
{
    nm->stray_at = clock_monotonic_ns();
}

/* note_gaps tells the channel whether there are gaps: while there are any, somebody must poll. */
static void note_gaps(struct nmofi *nm, bool any)
{
    if (any != nm->gaps)
        ch3_channel_unsent(&nm->channel, any ? 1 : -1);
    nm->gaps = any;
}

void nm_gap_end(struct nmofi *nm)
{
    note_gaps(nm, false);
    nm->stray_at = 0;
}

/* look returns whether a message of this peer is missing. If one is missing for long, look ends the
 * connection. */
static bool look(struct nm_from *from, uint64_t now)
{
    struct nmofi_link *link = from->link;
    if (!link || link->lost || list_empty(&from->early)) {
        from->gap_since = 0;
        return false;
    }
    if (!from->gap_since || from->gap_seq != from->seq) {
        from->gap_since = now;
        from->gap_seq = from->seq;
    }
    if (now - from->gap_since < NM_GAP_PATIENCE)
        return true;
    (void)nm_send_bare(link, NM_RESET);
    nm_link_break(link, "a message of it is missing, and one of nobody's has come: the provider "
                        "has lost or spoilt what it should deliver");
    return false;
}

void nm_gap_watch(struct nmofi *nm)
{
    const uint64_t now = clock_monotonic_ns();
    size_t cursor = 0;
    void *value;
    bool any = false;
    if (now < nm->watch_at)
        return;
    nm->watch_at = now + NM_GAP_LOOK;
    while (map_next(&nm->from, &cursor, NULL, &value))
        any |= look(value, now);
    note_gaps(nm, any);
    if (!any && now - nm->stray_at > NM_STRAY_FOR)
        nm->stray_at = 0;
}
