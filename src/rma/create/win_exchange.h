/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_exchange.h - what the processes of a new window tell each other through the bootstrap, byte
 * by byte, and what follows from it.
 *
 *   digest    with many processes, where all that the summaries say is the same at all and each is
 *             at its rank in one table: then that is all. boot.h says how it is compared
 *   summary   of each process, else; 32 bytes. It says of all that is mostly the same everywhere
 *             only a hash, and by what number of a table the process knows others (proc_table.h)
 *   details   where the hashes are not the same: all that they stand for
 *   full      the details, and what the process tells of itself: where somebody knows nobody, as
 *             the parts say, or does not know somebody, as the details say
 *
 * Which of them come follows from what all have seen, so all take part in the same exchanges. What
 * only the processes of a node need of each other is not here: they read it in memory, in the
 * notice that a part names (env.h).
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
    SUMMARY_UNIT_OTHER = 0x1f, /* that of all who have the same hash; or in the details */
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
    uint64_t announced; /* number of a table, and whether it has addresses; 0: knows nobody */
    uint32_t disp_unit, flavor;
    uint32_t conf;    /* MPIRMA_PATH and MPIRMA_RANKS_PER_NODE */
    uint32_t strict;  /* checks of MPIRMA_STRICT are on */
    uint32_t unknown; /* it does not know some process of the window */
    uint32_t zero;
};
static_assert(sizeof(struct win_detail) == 88, "no padding: it is hashed and sent");

struct win_full {
    struct win_detail detail;
    struct rma_proc_record proc;
};

/* Bytes for each process that exchanges after the first may take: had before it, so that none can
 * fail alone. */
enum { WIN_EXCHANGE_ROOM = sizeof(struct win_full) };

/* win_exchange tells the other processes of this one and learns of them: w->records, and in plan
 * the details, the processes and whether their table is new. plan->mine, plan->notice and plan->err
 * are ready. Collective; waits for the others. If *gone_on is false no process has gone on, and
 * the error is that of one of them; else an error is one that all come to, or the host's. */
int win_exchange(struct win *w, struct win_plan *plan, bool *gone_on);

/* win_copy_table gives w a table of its own, with copies of the records that it has, which may be
 * completed then; nothing if its table is new. No process can fail alone. */
void win_copy_table(struct win *w, struct win_plan *plan);

/* win_detail_of returns what rank has said of itself in details, or would have. */
const struct win_detail *win_detail_of(const struct win_plan *plan, int rank);

/* win_untouched returns how many bytes of its window memory rank has reserved and not touched,
 * rounded up by less than a third of that memory. */
uint64_t win_untouched(const struct win *w, int rank);

#endif
