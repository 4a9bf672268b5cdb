/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strict_path.c - the filter in front of a target's path by which MPIRMA_STRICT=1 checks operations
 * (win/path_ops.h, strict.h). It checks and remembers each operation, then hands it on along the
 * route; a call that completes operations makes it forget them, and is then handed on, too. Locks:
 * those of strict.c.
 */
#include "base/err.h"
#include "rma/strict/strict_impl.h"

/* check returns whether the operation may be done, and remembers it if so. */
static int check(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                 const struct rma_op *op, int64_t offset)
{
    const enum strict_kind access = kind == PKT_OP_PUT   ? STRICT_PUT
                                    : kind == PKT_OP_GET ? STRICT_GET
                                                         : STRICT_ACC;
    const int err =
        strict_check_noput(w, t, access, access == STRICT_ACC ? op->op : (unsigned)ACC_OP_NONE);
    return err ? err : strict_op(w, t, access, op, offset);
}

static int strict_operate(struct win *w, struct rma_target *t, enum pkt_op_kind kind,
                          const struct rma_op *op, int64_t offset, size_t len)
{
    /* A notification alone touches no byte. */
    const int err = len ? check(w, t, kind, op, offset) : MRMA_SUCCESS;
    return err ? err : route_next(t, &strict_path)->operate(w, t, kind, op, offset, len);
}

static int strict_flush(struct win *w, struct rma_target *t, bool local)
{
    strict_completed(w, t, local);
    return route_next(t, &strict_path)->flush(w, t, local);
}

static int strict_unlock(struct win *w, struct rma_target *t)
{
    strict_completed(w, t, false);
    const int broken = strict_check_unlock(w, t);
    const int err = route_next(t, &strict_path)->unlock(w, t);
    return err ? err : broken;
}

const struct path_ops strict_path = {
    .name = "strict",
    .operate = strict_operate,
    .flush = strict_flush,
    .unlock = strict_unlock,
};
