/*
 * completion.h - between the files of the origin's side: asking a target for an acknowledgement and
 * waiting for it.
 */
#ifndef MRMA_RMA_ORIGIN_COMPLETION_H
#define MRMA_RMA_ORIGIN_COMPLETION_H

#include "rma/origin/pair.h"

/* Send what is needed to flush (PKT_F_FLUSH), to unlock (PKT_F_UNLOCK), or only to get the replies
 * that are waited for (0); these prove that their operation is done at the target, and all before
 * it. Under the engine's lock, which is given up while it waits to send. */
int pkt_request_flush(struct pkt_target *pt, uint8_t flag);

/* Wait until that is answered by the target of pt, or by all that the epoch has used (NULL); local:
 * only until buffers may be used again. Takes the lock. Returns also what targets have refused. */
int pkt_wait_flushed(struct win *w, struct pkt_target *pt, bool local);

#endif
