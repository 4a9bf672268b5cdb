/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large_count.c - more than 2 GiB in one call, and the functions with MPI_Count.
 *
 * Where the host declares the large-count forms (HAVE_MPI_LARGE_COUNT), every _c
 * function of the chapter on small data: same results as the int forms. Then with
 * two processes one put and one get of 2.2 GiB, by a derived type (small count,
 * large type) and by MPI_Put_c; marks at both ends, around 2 GiB, where signed
 * 32-bit lengths end, and at random places are checked. Needs about 5 GiB of
 * memory: with less available the large part says so.
 */
#include "mtcomm.h"

#include <stdint.h>

static const MPI_Aint LARGE = ((MPI_Aint)22 << 30) / 10; /* 2.2 GiB, a multiple of 8 made below */

#ifdef HAVE_MPI_LARGE_COUNT
static void small_data_large_forms(void)
{
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    MPI_Aint size = -1, unit = -1;
    MPI_Request req;
    MPI_Win win;
    int *base = NULL, x = 100 + mt_rank, y = -1;
    void *p;

    mt_section("_c forms, allocate");
    if (!MT_OK(MPI_Win_allocate_c(8 * sizeof(int), (MPI_Aint)sizeof(int), MPI_INFO_NULL,
                                  MPI_COMM_WORLD, &base, &win))) {
        return;
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    memset(base, 0, 8 * sizeof(int));
    MT_OK(MPI_Win_shared_query_c(win, mt_rank, &size, &unit, &p));
    CHECK(size == 8 * sizeof(int) && unit == sizeof(int) && p == base, "size %ld, unit %ld",
          (long)size, (long)unit);
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put_c(&x, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    MT_OK(MPI_Accumulate_c(&x, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(base[0] == 100 + prev && base[1] == 100 + prev, "saw %d, %d", base[0], base[1]);
    MT_OK(MPI_Get_c(&y, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    MT_OK(MPI_Win_fence(0, win));
    CHECK(y == x, "expected %d, saw %d", x, y);
    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Get_accumulate_c(&x, 1, MPI_INT, &y, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Win_flush(next, win));
    CHECK(y == x, "expected %d, saw %d", x, y);
    MT_OK(MPI_Rput_c(&x, 1, MPI_INT, next, 2, 1, MPI_INT, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Win_flush(next, win));
    MT_OK(MPI_Rget_c(&y, 1, MPI_INT, next, 2, 1, MPI_INT, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK(y == x, "expected %d, saw %d", x, y);
    MT_OK(MPI_Raccumulate_c(&x, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, win, &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Rget_accumulate_c(&x, 1, MPI_INT, &y, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, win,
                                &req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK(y == 2 * x, "expected %d, saw %d", 2 * x, y);
    CHECK_ERR(MPI_Put_c(&x, -1, MPI_INT, next, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Put_c(&x, (MPI_Count)1 << 61, MPI_INT, next, 0, (MPI_Count)1 << 61, MPI_INT, win),
              MPI_ERR_RMA_RANGE);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
}

/* A displacement unit that an int can't hold: refused everywhere with MPI_ERR_DISP (the attribute
 * MPI_WIN_DISP_UNIT is an int), or it works. */
static void create_with_unit(MPI_Aint disp_unit, bool may_be_refused)
{
    int next = (mt_rank + 1) % mt_size, prev = (mt_rank + mt_size - 1) % mt_size;
    int x = 5 + mt_rank, *mem = NULL;
    MPI_Win win = MPI_WIN_NULL;

    mt_section("MPI_Win_create_c, unit %ld", (long)disp_unit);
    MT_OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &mem));
    int err = MPI_Win_create_c(mem, 64, disp_unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (err != MPI_SUCCESS && may_be_refused) {
        CHECK_ERR(err, MPI_ERR_DISP);
    } else if (MT_OK(err)) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        mem[0] = -1;
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Put_c(&x, 1, MPI_INT, next, 0, 1, MPI_INT, win));
        MT_OK(MPI_Win_fence(0, win));
        CHECK(mem[0] == 5 + prev, "expected %d, saw %d", 5 + prev, mem[0]);
        CHECK_ERR(MPI_Put_c(&x, 1, MPI_INT, next, 1, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Win_free(&win));
    }
    MT_OK(MPI_Free_mem(mem));
}

static void allocate_shared_large_form(void)
{
    MPI_Aint size = -1, unit = -1;
    MPI_Win win;
    void *p, *mem;

    mt_section("MPI_Win_allocate_shared_c");
    if (MT_OK(MPI_Win_allocate_shared_c(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win))) {
        MT_OK(MPI_Win_shared_query_c(win, MPI_PROC_NULL, &size, &unit, &p));
        CHECK(size == 64 && unit == 8, "size %ld, unit %ld", (long)size, (long)unit);
        MT_OK(MPI_Win_free(&win));
    }
}
#endif

static unsigned char mark(MPI_Aint i, int salt)
{
    return (unsigned char)(((uint64_t)i * 0x9e3779b97f4a7c15u >> 56) + (unsigned)salt);
}

/* Both ends, both sides of 2^31, and random places. */
static MPI_Aint place(int k, MPI_Aint bytes, struct mt_rng *rng)
{
    const MPI_Aint two_gib = (MPI_Aint)1 << 31;
    const MPI_Aint fixed[] = {0,           bytes - 1, two_gib - 1, two_gib,
                              two_gib + 1, bytes / 2, 4095,        4096};
    return k < 8 ? fixed[k] : (MPI_Aint)mt_rng_below(rng, (uint64_t)bytes);
}

static void set_marks(unsigned char *p, MPI_Aint bytes, int salt)
{
    struct mt_rng rng = mt_rng(99);

    for (int k = 0; k < 2000; k++) {
        MPI_Aint i = place(k, bytes, &rng);
        p[i] = mark(i, salt);
    }
}

static void check_marks(const unsigned char *p, MPI_Aint bytes, int salt, const char *what)
{
    struct mt_rng rng = mt_rng(99);

    for (int k = 0; k < 2000; k++) {
        MPI_Aint i = place(k, bytes, &rng);
        if (!CHECK(p[i] == mark(i, salt), "%s, byte %ld: expected %d, saw %d", what, (long)i,
                   mark(i, salt), p[i])) {
            return;
        }
    }
}

static void large_put_and_get(MPI_Win win, unsigned char *mem, MPI_Aint bytes)
{
    unsigned char *buf = mt_rank == 0 ? malloc((size_t)bytes) : NULL;
    MPI_Datatype mib, all;
    int parts = (int)(bytes >> 20);

    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib);
    MPI_Type_contiguous(parts, mib, &all);
    MPI_Type_commit(&all);
    mt_section("put of %ld bytes by one derived type", (long)bytes);
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 0 && CHECK(buf != NULL, "malloc")) {
        set_marks(buf, bytes, 3);
        MT_OK(MPI_Put(buf, 1, all, 1, 0, 1, all, win));
    }
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 1) {
        check_marks(mem, bytes, 3, "put");
        set_marks(mem, bytes, 4);
    }
    mt_section("get of %ld bytes", (long)bytes);
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 0 && buf != NULL) {
#ifdef HAVE_MPI_LARGE_COUNT
        MT_OK(MPI_Get_c(buf, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win));
#else
        MT_OK(MPI_Get(buf, 1, all, 1, 0, 1, all, win));
#endif
    }
    MT_OK(MPI_Win_fence(0, win));
    if (mt_rank == 0 && buf != NULL) {
        check_marks(buf, bytes, 4, "get");
#ifdef HAVE_MPI_LARGE_COUNT
        set_marks(buf, bytes, 5);
        mt_section("put_c of %ld bytes", (long)bytes);
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        MT_OK(MPI_Put_c(buf, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win));
        MT_OK(MPI_Win_unlock(1, win));
#endif
    }
    MT_OK(MPI_Win_fence(0, win));
#ifdef HAVE_MPI_LARGE_COUNT
    if (mt_rank == 1) {
        check_marks(mem, bytes, 5, "put_c");
    }
#endif
    MPI_Type_free(&all);
    MPI_Type_free(&mib);
    free(buf);
}

static void large(void)
{
    MPI_Aint bytes = LARGE & ~(((MPI_Aint)1 << 20) - 1);
    unsigned char *mem = NULL;
    MPI_Win win = MPI_WIN_NULL;

    mt_section("large window");
    if (mt_size != 2 || !mt_enough_memory("2.2 GiB in one call", 6) ||
        !mt_make_second_ranks(bytes, &mem, &win)) {
        return;
    }
    large_put_and_get(win, mem, bytes);
    mt_free_second_ranks(mem, &win);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    mt_timeout(110);
#ifdef HAVE_MPI_LARGE_COUNT
    small_data_large_forms();
    create_with_unit(1 << 20, false);
    create_with_unit((MPI_Aint)1 << 33, true);
    allocate_shared_large_form();
#else
    if (mt_rank == 0) {
        mt_skip("the large-count functions: this host does not declare them");
    }
#endif
    large();
    return MT_FINISH();
}
