/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.h - what the parts of requests share.
 */
#ifndef MRMA_TEST_REQUESTS_H
#define MRMA_TEST_REQUESTS_H

#include "mtcomm.h"

/* The functions that complete requests, or look at them. */
enum how {
    WAIT,
    WAITALL,
    WAITANY,
    WAITSOME,
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    GET_STATUS,
    GET_STATUS_MANY,
    HOWS
};
extern const char *const how_names[HOWS];

/* Calls that are erroneous on a request of a window of that kind. */
void erroneous(enum mt_kind kind);

/* Requests of the host that come after failed ones. */
void after_failed(void);

/* Operations that their targets refuse, completed in every way. */
void refused(void);

#endif
