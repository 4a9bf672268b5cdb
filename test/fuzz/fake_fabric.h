/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_fabric.h - a libfabric provider that leads nowhere, in place of libfabric: what the
 * netmod sends is looked at and forgotten, what arrives is said by the test.
 *
 * One endpoint at a time. Receive buffers are poisoned but for the messages that have
 * arrived in them, so that reading beyond one is found.
 */
#ifndef MRMA_TEST_FUZZ_FAKE_FABRIC_H
#define MRMA_TEST_FUZZ_FAKE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>

struct fake_fabric {
    bool busy;                                   /* nothing is taken now */
    bool prompt;                                 /* what is taken ends at once */
    bool failing;                                /* what is under way ends with an error */
    size_t sent;                                 /* messages taken */
    void (*look)(const void *bytes, size_t len); /* at each */
};
extern struct fake_fabric fake_fabric;

/* A message for the endpoint; false: there is no room for one more. */
bool fake_fabric_arrive(const void *bytes, size_t len);
/* So many of the sends under way end. */
void fake_fabric_complete(size_t n);

#endif
