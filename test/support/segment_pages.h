/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment_pages.h - for tests of segments: sizes, and the pages that a segment has.
 */
#ifndef MRMA_TEST_SEGMENT_PAGES_H
#define MRMA_TEST_SEGMENT_PAGES_H

#include "shm_helper.h"

#include <sys/stat.h>

#include "base/err.h"
#include "shm/segment.h"

#define MIB ((size_t)1 << 20)

static const struct log quiet = {.fd = -1};
static size_t page; /* bytes of one; set by main */

static inline size_t pages_in_use(const struct seg *seg)
{
    struct stat st;
    assert_int_equal(fstat(seg->fd, &st), 0);
    return (size_t)st.st_blocks * 512 / page;
}

#endif
