/*
 * channel.h - the contract between CH3 and a channel: all a channel author reads.
 *
 * A channel carries whole packets (at most CH3_PACKET_MAX bytes) between this process
 * and its peers, reliably and in order for each peer. CH3 calls it with the
 * engine's lock held, from one thread at a time; no call blocks. A channel never
 * calls into a layer above except through the deliver function it was given, and
 * that only from poll.
 *
 * Sending is two steps so that packets are built where they leave from:
 * reserve gives room for one packet, commit sends it. When there is no room,
 * reserve returns NULL; CH3 queues and tries again on later polls (back-pressure
 * is a status, never a spin). Between reserve and commit no other call is made
 * for that peer; commit may shorten the packet, also to 0 (nothing is sent).
 *
 * A delivered packet belongs to the channel and is valid until deliver returns.
 */
#ifndef MRMA_CH3_CHANNEL_H
#define MRMA_CH3_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest packet; every channel carries it in one piece. */
#define CH3_PACKET_MAX 16384u

struct ch3_vc;
struct ch3_channel;

struct ch3_channel_ops {
    const char *name;

    /* Room for a packet of len bytes (8-byte aligned) to vc, or NULL. */
    void *(*reserve)(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

    /* Send the packet built in the reserved room; len at most what was reserved. */
    void (*commit)(struct ch3_channel *ch, struct ch3_vc *vc, size_t len);

    /* Deliver what has arrived (a bounded amount a call). Returns how many
     * packets were delivered. */
    unsigned (*poll)(struct ch3_channel *ch);

    /* Is anything waiting to be polled? Called without the engine's lock, before
     * a thread sleeps; must not miss a packet committed before the sleeper
     * announced itself (base/event.h). */
    bool (*pending)(struct ch3_channel *ch);

    /* The peer of vc will not be used any more. */
    void (*disconnect)(struct ch3_channel *ch, struct ch3_vc *vc);
};

/* The channel's own per-peer state, as given to ch3_vc_init. */
void *ch3_vc_channel_data(const struct ch3_vc *vc);

/* The connection has broken, seen by the channel. Everything queued fails. */
void ch3_vc_lost(struct ch3_vc *vc);

/* How arrived packets reach CH3. from is the peer's vc. */
typedef void (*ch3_deliver_fn)(struct ch3_vc *from, const void *packet, size_t len);

struct ch3_channel {
    const struct ch3_channel_ops *ops;
    ch3_deliver_fn deliver;
};

#endif
