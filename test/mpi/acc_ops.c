/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acc_ops.c - every predefined operation on every predefined type (MPI 4.1, 12.3.4, 6.9.2).
 *
 * MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap
 * against the reference of acc_ref.c, and what the standard does not allow must
 * give MPI_ERR_OP and leave the window alone. Then large and strided targets.
 */
#include "acc_ref.h"

#define N 5 /* elements per operation */
#define CELL 256

/* Host memory of a window region of the target, read back inside the epoch. */
static void read_back(const struct mt_win *w, int target, MPI_Aint at, void *buf, int bytes)
{
    MT_OK(MPI_Get(buf, bytes, MPI_BYTE, target, mt_disp(w, target, at), bytes, MPI_BYTE, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
}

static bool same_all(const struct acc_type *t, const char *a, const char *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (!acc_ref_same(t, a + i * t->extent, b + i * t->extent)) {
            return false;
        }
    }
    return true;
}

/* One allowed combination through the three calls; the cell belongs to this origin. */
static void one_op(const struct mt_win *w, int target, MPI_Aint at, const struct acc_type *t,
                   const struct acc_oper *op, struct mt_rng *rng)
{
    char origin[CELL], model[CELL], seen[CELL], result[CELL], before[CELL];
    MPI_Aint disp = mt_disp(w, target, at);
    int bytes = N * t->extent;

    memset(model, 0, sizeof model);
    memset(result, 0, sizeof result);
    for (int i = 0; i < N; i++) {
        acc_ref_draw(rng, t, origin + i * t->extent);
        acc_ref_draw(rng, t, model + i * t->extent);
    }
    MT_OK(MPI_Put(model, bytes, MPI_BYTE, target, disp, bytes, MPI_BYTE, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    if (op->op == MPI_NO_OP) { /* "cannot be used in MPI_ACCUMULATE" (12.3.4) */
        CHECK_ERR(MPI_Accumulate(origin, N, t->type, target, disp, N, t->type, op->op, w->win),
                  MPI_ERR_OP);
    } else {
        MT_OK(MPI_Accumulate(origin, N, t->type, target, disp, N, t->type, op->op, w->win));
    }
    MT_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < N; i++) {
        acc_ref_apply(op->op, t, model + i * t->extent, origin + i * t->extent);
    }
    read_back(w, target, at, seen, bytes);
    CHECK(same_all(t, seen, model, N), "accumulate %s on %s, rank %d", op->name, t->name, target);
    memcpy(before, model, sizeof model);

    /* Logical and bit operations stay small; SUM and PROD would leave small types, so stop at two.
     */
    MT_OK(MPI_Get_accumulate(origin, N, t->type, result, N, t->type, target, disp, N, t->type,
                             op->op, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < N; i++) {
        acc_ref_apply(op->op, t, model + i * t->extent, origin + i * t->extent);
    }
    read_back(w, target, at, seen, bytes);
    CHECK(same_all(t, seen, model, N), "get_accumulate %s on %s, rank %d", op->name, t->name,
          target);
    CHECK(same_all(t, result, before, N), "get_accumulate's result, %s on %s, rank %d", op->name,
          t->name, target);
    memcpy(before, model, sizeof model);

    MT_OK(MPI_Fetch_and_op(origin, result, t->type, target, disp, op->op, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    acc_ref_apply(op->op, t, model, origin);
    read_back(w, target, at, seen, bytes);
    CHECK(same_all(t, seen, model, N), "fetch_and_op %s on %s, rank %d", op->name, t->name, target);
    CHECK(same_all(t, result, before, 1), "fetch_and_op's result, %s on %s, rank %d", op->name,
          t->name, target);
}

static void refused(const struct mt_win *w, int target, MPI_Aint at, const struct acc_type *t,
                    MPI_Op op)
{
    char origin[CELL] = {0}, result[CELL] = {0}, seen[CELL], before[CELL];
    MPI_Aint disp = mt_disp(w, target, at);

    read_back(w, target, at, before, N * t->extent);
    CHECK_ERR(MPI_Accumulate(origin, N, t->type, target, disp, N, t->type, op, w->win), MPI_ERR_OP);
    CHECK_ERR(MPI_Get_accumulate(origin, N, t->type, result, N, t->type, target, disp, N, t->type,
                                 op, w->win),
              MPI_ERR_OP);
    CHECK_ERR(MPI_Fetch_and_op(origin, result, t->type, target, disp, op, w->win), MPI_ERR_OP);
    MT_OK(MPI_Win_flush(target, w->win));
    read_back(w, target, at, seen, N * t->extent);
    CHECK_EQUAL(seen, before, (size_t)(N * t->extent));
}

static void compare_and_swap(const struct mt_win *w, int target, MPI_Aint at,
                             const struct acc_type *t, struct mt_rng *rng)
{
    char old[16], next[16], wrong[16], result[16] = {0}, seen[16];
    MPI_Aint disp = mt_disp(w, target, at);

    acc_ref_draw(rng, t, old);
    memcpy(next, old, sizeof next);
    next[0] ^= 1; /* stays a truth value */
    memcpy(wrong, next, sizeof wrong);
    MT_OK(MPI_Put(old, t->size, MPI_BYTE, target, disp, t->size, MPI_BYTE, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    MT_OK(MPI_Compare_and_swap(next, wrong, result, t->type, target, disp, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    read_back(w, target, at, seen, t->size);
    CHECK(memcmp(result, old, (size_t)t->size) == 0 && memcmp(seen, old, (size_t)t->size) == 0,
          "%s, unequal: must stay", t->name);
    MT_OK(MPI_Compare_and_swap(next, old, result, t->type, target, disp, w->win));
    MT_OK(MPI_Win_flush(target, w->win));
    read_back(w, target, at, seen, t->size);
    CHECK(memcmp(result, old, (size_t)t->size) == 0 && memcmp(seen, next, (size_t)t->size) == 0,
          "%s, equal: must be swapped", t->name);
}

static void all_combinations(enum mt_kind kind)
{
    struct mt_win w;
    const struct acc_oper *ops = acc_opers();
    int ntypes;
    const struct acc_type *types = acc_types(&ntypes);
    struct mt_rng rng = mt_rng((uint64_t)mt_rank + 1);

    mt_section("operations and types, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, (MPI_Aint)mt_size * CELL, 1, MPI_COMM_WORLD)) {
        return;
    }
    int target = (w.rank + 1) % w.size;
    mt_sync(&w);
    MT_OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < ntypes; i++) {
        MPI_Aint at = (MPI_Aint)w.rank * CELL;
        for (int o = 0; o < ACC_OPERS; o++) {
            enum acc_allowed allowed = acc_ref_allowed(ops[o].op, &types[i]);
            mt_section("%s on %s, %s", ops[o].name, types[i].name, mt_kind_name(kind));
            if (allowed == ACC_YES) {
                one_op(&w, target, at, &types[i], &ops[o], &rng);
            } else if (allowed == ACC_NO) {
                refused(&w, target, at, &types[i], ops[o].op);
            }
        }
        if (acc_ref_cas(&types[i])) {
            compare_and_swap(&w, target, at, &types[i], &rng);
        }
        target = (target + 1) % w.size;
    }
    char dummy[64] = {0};
    CHECK_ERR(MPI_Compare_and_swap(dummy, dummy, dummy + 32, MPI_DOUBLE, target,
                                   mt_disp(&w, target, 0), w.win),
              MPI_ERR_TYPE);
    MT_OK(MPI_Win_unlock_all(w.win));
    mt_sync(&w);
    mt_win_free(&w);
}

static void user_op(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

/* Operations that are not predefined, and types that are not of one predefined type. */
static void refused_others(enum mt_kind kind)
{
    struct mt_win w;
    MPI_Op mine;
    MPI_Datatype mixed;
    double buf[4] = {0}, result[4];
    int lens[2] = {1, 1};
    MPI_Aint disps[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};

    mt_section("user operation, mixed type, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_OK(MPI_Op_create(user_op, 1, &mine));
    MT_OK(MPI_Type_create_struct(2, lens, disps, types, &mixed));
    MT_OK(MPI_Type_commit(&mixed));
    mt_sync(&w);
    MPI_Aint disp = mt_disp(&w, w.rank, 0);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, w.rank, 0, w.win));
    CHECK_ERR(MPI_Accumulate(buf, 1, MPI_DOUBLE, w.rank, disp, 1, MPI_DOUBLE, mine, w.win),
              MPI_ERR_OP);
    CHECK_ERR(MPI_Get_accumulate(buf, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, w.rank, disp, 1,
                                 MPI_DOUBLE, mine, w.win),
              MPI_ERR_OP);
    CHECK_ERR(MPI_Fetch_and_op(buf, result, MPI_DOUBLE, w.rank, disp, mine, w.win), MPI_ERR_OP);
    CHECK_ERR(MPI_Accumulate(buf, 1, MPI_DOUBLE, w.rank, disp, 1, MPI_DOUBLE, MPI_OP_NULL, w.win),
              MPI_ERR_OP);
    int err = MPI_Accumulate(buf, 1, mixed, w.rank, disp, 1, mixed, MPI_SUM, w.win),
        errclass = MPI_SUCCESS;
    if (err != MPI_SUCCESS) {
        MPI_Error_class(err, &errclass);
    }
    CHECK(errclass == MPI_ERR_TYPE || errclass == MPI_ERR_OP, "SUM on a mixed type gave %s",
          mt_class_name(errclass));
    MT_OK(MPI_Win_unlock(w.rank, w.win));
    mt_sync(&w);
    CHECK_BYTES(w.base, 64, 0);
    MT_OK(MPI_Op_free(&mine));
    MT_OK(MPI_Type_free(&mixed));
    mt_win_free(&w);
}

/* 1 MiB, contiguous or every other element of the target, all origins onto the next rank. */
static void large(enum mt_kind kind, const struct acc_type *t, MPI_Op op, bool strided)
{
    struct mt_win w;
    int n = (1 << 20) / t->extent / (strided ? 2 : 1), step = strided ? 2 : 1;
    size_t bytes = (size_t)n * (size_t)t->extent, span = bytes * (size_t)step;
    struct mt_rng rng = mt_rng(7);
    char *first = mt_alloc(span), *origin = mt_alloc(bytes), *result = mt_alloc(bytes);
    MPI_Datatype target_type;

    mt_section("large, %s, %s%s", mt_kind_name(kind), t->name, strided ? ", strided" : "");
    for (int i = 0; i < n * step; i++) {
        acc_ref_draw(&rng, t, first + (size_t)i * (size_t)t->extent);
    }
    for (int i = 0; i < n; i++) {
        acc_ref_draw(&rng, t, origin + (size_t)i * (size_t)t->extent);
    }
    MT_OK(MPI_Type_vector(n, 1, step, t->type, &target_type));
    MT_OK(MPI_Type_commit(&target_type));
    if (mt_win_make(&w, kind, (MPI_Aint)span, 1, MPI_COMM_WORLD)) {
        int target = (w.rank + 1) % w.size;
        memcpy(w.base, first, span);
        mt_sync(&w);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
        MT_OK(MPI_Accumulate(origin, n, t->type, target, mt_disp(&w, target, 0), 1, target_type, op,
                             w.win));
        MT_OK(MPI_Get_accumulate(NULL, 0, t->type, result, n, t->type, target,
                                 mt_disp(&w, target, 0), 1, target_type, MPI_NO_OP, w.win));
        MT_OK(MPI_Win_unlock(target, w.win));
        mt_sync(&w);
        int bad = 0;
        for (int i = 0; i < n * step; i++) {
            char *model = first + (size_t)i * (size_t)t->extent;
            if (i % step == 0) {
                acc_ref_apply(op, t, model, origin + (size_t)(i / step) * (size_t)t->extent);
                bad += !acc_ref_same(t, result + (size_t)(i / step) * (size_t)t->extent, model);
            }
            bad += !acc_ref_same(t, w.base + (size_t)i * (size_t)t->extent, model);
        }
        CHECK(bad == 0, "%d of %d elements wrong", bad, n * step + n);
        mt_win_free(&w);
    }
    MT_OK(MPI_Type_free(&target_type));
    free(first);
    free(origin);
    free(result);
}

/* Pair types by their parts (MPI 4.1, 6.9.4): those with a name, and none that the library does not
 * know. */
static void value_index(void)
{
    mt_section("MPI_Type_get_value_index");
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
    const MPI_Datatype known[][3] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_DOUBLE, MPI_INT64_T, MPI_DATATYPE_NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        MPI_Datatype pair = MPI_BYTE;
        MT_OK(MPI_Type_get_value_index(known[i][0], known[i][1], &pair));
        CHECK(pair == known[i][2], "pair %zu is another type", i);
    }
#else
    mt_skip("this mpi.h is of an MPI before 4.1");
#endif
}

static const struct acc_type *find(const char *name)
{
    int n;
    const struct acc_type *types = acc_types(&n);

    for (int i = 0; i < n; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    mt_fail(__FILE__, __LINE__, "no type %s", name);
    return &types[0];
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    value_index();
    MT_FOR_KINDS(kind)
    {
        all_combinations(kind);
        refused_others(kind);
        large(kind, find("MPI_DOUBLE"), MPI_SUM, false);
        large(kind, find("MPI_INT"), MPI_SUM, true);
        large(kind, find("MPI_LONG_DOUBLE_INT"), MPI_MAXLOC, false);
        large(kind, find("MPI_SHORT"), MPI_BXOR, true);
    }
    return MT_FINISH();
}
