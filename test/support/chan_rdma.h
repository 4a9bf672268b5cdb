/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chan_rdma.h - what the conformance test (test_shm_channel.c) asks of a channel that has put and
 * get of its own (CH3_CAP_RDMA): tests of cmocka whose state is the kind of channel, a struct
 * chan_kind. A channel without put and get passes them.
 */
#ifndef MRMA_TEST_CHAN_RDMA_H
#define MRMA_TEST_CHAN_RDMA_H

/* rdma_put_get: there and back, whole, any length. */
void rdma_put_get(void **state);

/* rdma_ordered: where the channel says so, a packet behind a put finds its data in place. */
void rdma_ordered(void **state);

/* rdma_words: where the channel says so, the word of a put comes once, behind its data. */
void rdma_words(void **state);

/* rdma_lost: an operation whose target ends is done with an error. */
void rdma_lost(void **state);

#endif
