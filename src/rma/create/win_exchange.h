/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_exchange.h - what the processes of a new window tell each other through the bootstrap, byte
 * by byte, and how the creation goes on from that.
 *
 *   digest    where there are many processes: if the summaries of all would say the same, and each
 *             process is at its rank in one table, nothing else is exchanged. boot.h says how
 *             digests are compared
 *   summary   of each process, otherwise; 32 bytes. For all that is mostly the same everywhere it
 *             has only a hash, and it names the table by which the process knows others
 *             (proc_table.h)
 *   details   where the hashes differ: everything for which they stand
 *   full      the details, and what each process tells of itself: where some process knows no other
 *             one (the parts say so), or does not know some other one (the details say so)
 *
 * Which of these exchanges come follows from what all processes have seen, so all take part in the
 * same ones. What only the processes of a node need of each other is not exchanged: they read it in
 * memory, in the notice that a part names (env.h).
 */
#ifndef MRMA_RMA_CREATE_WIN_EXCHANGE_H
#define MRMA_RMA_CREATE_WIN_EXCHANGE_H

#include <assert.h>
#include <stdint.h>

#include "boot/boot.h"
#include "rma/env.h"
#include "rma/rma.h"

struct win;
struct win_plan;

/* In win_summary.bits. */
enum {
    SUMMARY_UNIT = 0x1f,       /* the displacement unit is 2 to this power; */
    SUMMARY_UNIT_OTHER = 0x1f, /* the unit is that of all processes with the same hash, or is in the
                                  details */
    SUMMARY_KNOWS_NOBODY = 0x20,
    SUMMARY_UNTOUCHED_SHIFT = 6, /* thirds of the memory, rounded up */
};

/* Fixed width, little endian: the processes may run different builds. */
struct win_summary {
    uint8_t err; /* enum mrma_err of the preparation; first, as boot.h wants it */
    uint8_t bits;
    uint8_t slot;
    uint8_t size[6]; /* WIN_SUMMARY_SIZE_MAX: in the details */
    uint8_t index[3];
    uint32_t gen;
    uint64_t uid;
    uint64_t hash;
};
static_assert(sizeof(struct win_summary) == BOOT_FIRST_BYTES, "all of the first exchange");

#define WIN_SUMMARY_SIZE_MAX ((UINT64_C(1) << 48) - 1)
#define WIN_INDEX_MAX ((UINT32_C(1) << 24) - 1)

struct win_detail {
    struct win_hints hints;
    uint64_t size;
    uint64_t announced; /* number of a table, and whether the table has addresses; 0: the process
                           knows nobody */
    uint32_t disp_unit, flavor;
    uint32_t conf;    /* MPIRMA_PATH and MPIRMA_RANKS_PER_NODE */
    uint32_t strict;  /* checks of MPIRMA_STRICT are on */
    uint32_t unknown; /* the process does not know some process of the window */
    uint32_t zero;
};
static_assert(sizeof(struct win_detail) == 88, "no padding: it is hashed and sent");

struct win_full {
    struct win_detail detail;
    struct rma_proc_record proc;
};

/* How many bytes for each process the exchanges after the first may take. A process gets this
 * memory before the first exchange, so that it cannot fail alone later. */
enum { WIN_EXCHANGE_ROOM = sizeof(struct win_full) };

/* win_exchange tells the other processes of this one and learns of them. It sets w->records and, in
 * plan, the details, the processes and whether their table is new. plan->mine, plan->notice and
 * plan->err are ready before. Collective; waits for the others. If *gone_on is false no process has
 * gone on, and the error is that of one of them; otherwise an error is one that all processes get,
 * or one of the host. */
int win_exchange(struct win *w, struct win_plan *plan, bool *gone_on);

/* win_copy_table gives w a table of its own, with copies of the records that it has, so that these
 * may be completed. If its table is new it does nothing. No process can fail alone. */
void win_copy_table(struct win *w, struct win_plan *plan);

/* win_detail_of returns the details that rank has sent, or would have sent. */
const struct win_detail *win_detail_of(const struct win_plan *plan, int rank);

/* win_untouched returns how many bytes of its window memory rank has reserved and not touched,
 * rounded up by less than a third of that memory. */
uint64_t win_untouched(const struct win *w, int rank);

#endif
