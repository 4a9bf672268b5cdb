/*
 * request_table.c - see request_table.h.
 *
 * Free places are a list; the one given back last is used first, for its memory is in the caches.
 */
#include "rma/packet/request_table.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST = 64, KEPT = FIRST, USES = UINT32_MAX / REQUEST_TABLE_MAX };

struct request_slot {
    void *req;     /* in use, or kept; else NULL */
    uint32_t uses; /* 1 to USES: the present one, or the next */
    uint32_t next; /* 1 + the next free place, 0: none */
    bool used;
};

void request_table_init(struct request_table *t, size_t size)
{
    *t = (struct request_table){.size = size};
}

void request_table_fini(struct request_table *t)
{
    for (uint32_t i = 0; i < t->nslots; i++)
        free(t->slots[i].req);
    free(t->slots);
    request_table_init(t, t->size);
}

static bool grow(struct request_table *t)
{
    const uint32_t n = t->nslots ? 2 * t->nslots : FIRST;
    struct request_slot *slots =
        n <= REQUEST_TABLE_MAX ? realloc(t->slots, n * sizeof *slots) : NULL;
    if (!slots)
        return false;
    for (uint32_t i = t->nslots; i < n; i++)
        slots[i] = (struct request_slot){.uses = 1, .next = i + 1 < n ? i + 2 : 0};
    t->free = t->nslots + 1;
    t->slots = slots;
    t->nslots = n;
    return true;
}

void *request_table_take(struct request_table *t, uint32_t *number)
{
    if (!t->free && !grow(t))
        return NULL;
    const uint32_t place = t->free - 1;
    struct request_slot *slot = &t->slots[place];
    if (!slot->req && !(slot->req = malloc(t->size)))
        return NULL;
    t->free = slot->next;
    slot->used = true;
    t->count++;
    *number = slot->uses * REQUEST_TABLE_MAX + place;
    return slot->req;
}

static struct request_slot *slot_of(const struct request_table *t, uint32_t number)
{
    const uint32_t place = number % REQUEST_TABLE_MAX;
    struct request_slot *slot = place < t->nslots ? &t->slots[place] : NULL;
    return slot && slot->used && slot->uses == number / REQUEST_TABLE_MAX ? slot : NULL;
}

void *request_table_find(const struct request_table *t, uint32_t number)
{
    const struct request_slot *slot = slot_of(t, number);
    return slot ? slot->req : NULL;
}

void request_table_give(struct request_table *t, uint32_t number)
{
    struct request_slot *slot = slot_of(t, number);
    const uint32_t place = number % REQUEST_TABLE_MAX;
    if (place >= KEPT) {
        free(slot->req);
        slot->req = NULL;
    }
    slot->used = false;
    slot->uses = slot->uses < USES ? slot->uses + 1 : 1;
    slot->next = t->free;
    t->free = place + 1;
    t->count--;
}
