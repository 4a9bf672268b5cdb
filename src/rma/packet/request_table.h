/*
 * request_table.h - the numbers by which replies find what they answer (replies.c), with its
 * memory.
 *
 * A number is the place in a table and how often that place was used (wrapping): so a reply is
 * found by an index, and one to a request that has ended is not taken for another's. The first
 * places keep their memory when they are given back: most programs have few requests at a time, and
 * many after each other. No locks: the owner's.
 */
#ifndef MRMA_RMA_PACKET_REQUEST_TABLE_H
#define MRMA_RMA_PACKET_REQUEST_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { REQUEST_TABLE_MAX = 1 << 20 };

struct request_slot;

struct request_table {
    struct request_slot *slots;
    uint32_t nslots, count; /* places, and those in use */
    uint32_t free;          /* 1 + the first free place; 0: none */
    size_t size;            /* of a request, bytes */
};

/* Empty; owns no memory. size: bytes of what is taken. */
void request_table_init(struct request_table *t, size_t size);
/* Frees all, also what was not given back. */
void request_table_fini(struct request_table *t);

/* size bytes, uninitialised, and their number, never 0. NULL: no memory, or REQUEST_TABLE_MAX are
 * in use. */
void *request_table_take(struct request_table *t, uint32_t *number);
/* NULL: nothing in use has this number. */
void *request_table_find(const struct request_table *t, uint32_t number);
/* number is in use; what was found by it is gone. */
void request_table_give(struct request_table *t, uint32_t number);

static inline uint32_t request_table_count(const struct request_table *t)
{
    return t->count;
}

#endif
