/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change.h - a second thread that changes a packet while it is read, as a hostile peer may in
 * memory that is shared.
 *
 * One byte at a time is another one for a moment, so that a packet is now this one and now that.
 */
#ifndef MRMA_TEST_FUZZ_CHANGE_H
#define MRMA_TEST_FUZZ_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

/* Is it asked for? FUZZ_CHANGE in the environment. */
bool change_wanted(void);
/* From now on, until change_end has returned. */
void change_begin(unsigned char *packet, size_t len);
void change_end(void);

#endif
