/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * absent.c - inplace.h in a build that cannot share memory where it is (--disable-share-create):
 * nothing is ever shared, and each request is refused. There is no state.
 */
#include <stdio.h>

#include "base/err.h"
#include "shm/inplace/inplace.h"

const char *inplace_missing(void)
{
    return "this library was configured with --disable-share-create";
}

int inplace_create(const char *dir, const struct log *log, struct inplace **out)
{
    (void)dir, (void)log;
    *out = NULL;
    return MRMA_SUCCESS;
}

void inplace_destroy(struct inplace *ip)
{
    (void)ip;
}

int inplace_take(struct inplace *ip, const void *base, size_t len, bool held, char *text,
                 size_t text_len)
{
    (void)ip, (void)base, (void)len, (void)held;
    snprintf(text, text_len, "%s", inplace_missing());
    return MRMA_ERR_OTHER;
}

int inplace_hold(struct inplace *ip, const void *base, size_t len, bool *some)
{
    (void)ip, (void)base, (void)len;
    *some = false;
    return MRMA_SUCCESS;
}

void inplace_drop(struct inplace *ip, const void *base, size_t len)
{
    (void)ip, (void)base, (void)len;
}

bool inplace_find(struct inplace *ip, const void *base, size_t len, struct heap_loc *loc)
{
    (void)ip, (void)base, (void)len, (void)loc;
    return false;
}

void inplace_fork_prepare(struct inplace *ip)
{
    (void)ip;
}

void inplace_fork_parent(struct inplace *ip)
{
    (void)ip;
}

void inplace_fork_child(struct inplace *ip)
{
    (void)ip;
}
