/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_choice.h - whether origin and target make a copy together (joint.h): one function of the
 * facts of the operation and of the target, and of limits that the user may set (base/conf.h). It
 * looks at nothing else and changes nothing.
 */
#ifndef MRMA_RMA_PATH_JOINT_CHOICE_H
#define MRMA_RMA_PATH_JOINT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct conf;

/* The most bytes of a copy, so that its chunks can be counted. */
#define JOINT_MOST ((size_t)1 << 32)

/* An operation and its target. */
struct joint_facts {
    size_t len;          /* bytes */
    bool copy;           /* a put or a get */
    bool contig;         /* one piece on both sides */
    bool awaited;        /* its request, or its notification, may be awaited without another call of
                            the origin */
    bool self;           /* the target is this process */
    bool oversubscribed; /* more processes than processors */
    bool helped;         /* a thread of the target is in a wait */
    bool fence;          /* in a fence epoch: that may be the wait in which the epoch begins */
    bool mapped;         /* the target's memory is mapped here; else the kernel reaches it */
    bool shared;         /* the target can map the origin's buffer */
    bool kernel;         /* the kernel lets the target reach that buffer */
};

/* joint_choose returns whether the operation is published for its target. */
bool joint_choose(const struct joint_facts *op, const struct conf *conf);

/* joint_chunk_bytes returns how many bytes a chunk of a copy of len bytes has, so that there are
 * two chunks at least. A chunk holds up whoever copies it for as long as a wake-up takes. */
size_t joint_chunk_bytes(size_t len);

#endif
