/*
 * stage_room.c - see stage_room.h. No state, no locks.
 */
#include "rma/win/stage_room.h"

#include <string.h>

struct lines {
    uint32_t stage, phase; /* of each */
};

/* So many lines each, or fewer, if all together would take more than so many KiB. */
static uint32_t lines_that_fit(uint32_t most, size_t stages, size_t kib)
{
    const size_t fit = stages ? (kib << 10) / (stages * MRMA_CACHE_LINE) : most;
    return fit > most ? most : fit < STAGE_LINES_MIN ? STAGE_LINES_MIN : (uint32_t)fit;
}

static struct lines choose(int nslots, enum stage_use use)
{
    const size_t stages = (size_t)nslots * STAGE_DEPTH;
    if (use == STAGE_MAPPED || nslots == 1) /* its own memory is mapped */
        return (struct lines){lines_that_fit(STAGE_LINES_MAPPED, stages, 64), 0};
    const uint32_t n = lines_that_fit(STAGE_LINES_ASSISTED, 2 * stages, 512);
    return (struct lines){n, n};
}

static size_t slots_end(int nslots)
{
    return sizeof(struct win_ctl) + (size_t)nslots * sizeof(struct win_slot);
}

size_t stage_room_ctl_bytes(int nslots, enum stage_use use)
{
    const struct lines n = choose(nslots, use);
    return slots_end(nslots) + (size_t)nslots * STAGE_DEPTH * (n.stage + n.phase) * MRMA_CACHE_LINE;
}

static char *stages_of(struct win_ctl *ctl, int nslots, int i)
{
    return (char *)ctl + slots_end(nslots) +
           (size_t)i * STAGE_DEPTH * (ctl->stage_bytes + ctl->phase_bytes);
}

struct stage_row stage_room_epochs(struct win_ctl *ctl, int nslots, int i)
{
    return (struct stage_row){(void *)stages_of(ctl, nslots, i), ctl->stage_bytes};
}

struct stage_row stage_room_phases(struct win_ctl *ctl, int nslots, int i)
{
    char *at = stages_of(ctl, nslots, i) + (size_t)STAGE_DEPTH * ctl->stage_bytes;
    return (struct stage_row){(void *)at, ctl->phase_bytes};
}

/* Their heads alone: what lies behind counts only once they say so. */
static void clear(struct stage_row row)
{
    for (uint32_t i = 0; row.bytes && i < STAGE_DEPTH; i++)
        memset((char *)row.first + (size_t)i * row.bytes, 0, sizeof(struct win_stage));
}

void stage_room_init(struct win_ctl *ctl, int nslots, enum stage_use use)
{
    const struct lines n = choose(nslots, use);
    ctl->stage_bytes = n.stage * MRMA_CACHE_LINE;
    ctl->phase_bytes = n.phase * MRMA_CACHE_LINE;
    memset(ctl->slots, 0, (size_t)nslots * sizeof *ctl->slots);
    for (int i = 0; i < nslots; i++) {
        clear(stage_room_epochs(ctl, nslots, i));
        clear(stage_room_phases(ctl, nslots, i));
    }
}
