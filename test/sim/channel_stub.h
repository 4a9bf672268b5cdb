/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel_stub.h - what a channel (ch3/channel.h) must have and a stand-in for one has no use for:
 * the tests' channels that lead nowhere put these into their tables.
 */
#ifndef MRMA_TEST_CHANNEL_STUB_H
#define MRMA_TEST_CHANNEL_STUB_H

#include "ch3/channel.h"

/* stub_pending says that nothing comes but what poll makes up. */
static inline bool stub_pending(struct ch3_channel *ch)
{
    (void)ch;
    return false;
}

/* stub_disconnect does nothing: connections have nothing to give back. */
static inline void stub_disconnect(struct ch3_channel *ch, struct ch3_vc *vc)
{
    (void)ch, (void)vc;
}

#endif
