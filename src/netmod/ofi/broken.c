/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broken.c - notes that a connection has broken, at once, where this is found out.
 *
 * Nothing is sent over such a connection any more. It may be found to be broken while the layers
 * above are in the middle of sending, so they hear of it from poll (nm_link_report_broken in
 * link.c). This file calls no other file of the netmod but addr.c, for the message.
 *
 * Locks: as nmofi.h says.
 */
#include <stdarg.h>
#include <stdio.h>

#include "ch3/channel.h"
#include "netmod/ofi/ofi.h"

void nm_link_break(struct nmofi_link *link, const char *fmt, ...)
{
    struct nmofi *nm = link->nm;
    char why[160], at[NMOFI_TEXT] = "";
    va_list ap;
    if (link->lost)
        return;
    link->lost = true;
    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    list_push_back(&nm->broken, &link->broken);
    ch3_channel_unsent(&nm->channel, 1); /* somebody must poll */
    if (!link->peer)                     /* it had been closed here already */
        return;
    nm->stats.lost++;
    nm_addr_text(nm, &link->peer->name, at, sizeof at);
    log_msg(nm->opts.log, LOG_LEVEL_ERROR, "connection to process %016llx at %s (%s) is lost: %s",
            (unsigned long long)link->uid, at, nm->info->fabric_attr->prov_name, why);
}
