/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * put_get.c - MPI_Put and MPI_Get (MPI 4.1, 12.3.1 and 12.3.2).
 *
 * Every window flavour, every kind of epoch, sizes from 0 to 1 MiB incl. odd
 * ones, every target incl. self and MPI_PROC_NULL, displacement units that
 * differ between ranks, both directions at once, thousands outstanding, origin
 * buffers reused as soon as the standard allows. Windows are compared whole with
 * a model, so that a stray byte is seen.
 */
#include "mtcomm.h"

#define BIG (1 << 20)

static const int small[] = {0,    1,    2,    3,    5,    7,    8,    9,    15,   16,  17,  24,
                            31,   33,   63,   64,   65,   100,  127,  129,  255,  257, 511, 513,
                            1000, 1023, 1025, 2047, 2049, 4095, 4096, 4097, 8191, 8193};
#define NSMALL ((int)(sizeof small / sizeof small[0]))
static const int large[] = {16383,  16385,  32767,  32768,  32769,  65535,  65536,   65537,
                            100003, 131071, 131073, 262143, 262145, 524287, 1048575, 1048576};
#define NLARGE ((int)(sizeof large / sizeof large[0]))

static uint32_t tag_of(int from, int item, int salt)
{
    return (uint32_t)(from * 1000 + item + salt * 100000 + 1);
}

/* Offset of each small block: an odd gap of 1 to 7 bytes between them. */
static int layout(int *offset)
{
    int at = 3;
    for (int i = 0; i < NSMALL; i++) {
        offset[i] = at;
        at += small[i] + 1 + i % 7;
    }
    return at;
}

/* All small sizes in one epoch: put, then read back by get, by all ranks at once. */
static void mixed_sizes(const struct mt_win *w, enum mt_epoch ep, int shift, int salt)
{
    int offset[NSMALL], total = layout(offset);
    int target = (w->rank + shift) % w->size, origin = (w->rank - shift + w->size) % w->size;
    char *src = mt_alloc((size_t)total), *dst = mt_alloc((size_t)total),
         *model = mt_alloc((size_t)total);

    memset(w->base, 0x5a, (size_t)total);
    memset(model, 0x5a, (size_t)total);
    memset(dst, 0x33, (size_t)total);
    for (int i = 0; i < NSMALL; i++) {
        mt_fill(src + offset[i], (size_t)small[i], tag_of(w->rank, i, salt));
        mt_fill(model + offset[i], (size_t)small[i], tag_of(origin, i, salt));
    }
    mt_sync(w);
    mt_epoch_begin(w, ep, target, origin);
    for (int i = 0; i < NSMALL; i++) {
        MT_OK(MPI_Put(src + offset[i], small[i], MPI_BYTE, target, mt_disp(w, target, offset[i]),
                      small[i], MPI_BYTE, w->win));
    }
    mt_epoch_end(w, ep, target);
    CHECK_EQUAL(w->base, model, (size_t)total);
    mt_epoch_begin(w, ep, target, origin);
    for (int i = NSMALL - 1; i >= 0; i--) {
        MT_OK(MPI_Get(dst + offset[i], small[i], MPI_BYTE, target, mt_disp(w, target, offset[i]),
                      small[i], MPI_BYTE, w->win));
    }
    mt_epoch_end(w, ep, target);
    for (int i = 0; i < NSMALL; i++) {
        CHECK_EQUAL(dst + offset[i], src + offset[i], (size_t)small[i]);
        CHECK_BYTES(dst + offset[i] + small[i], (size_t)(1 + i % 7), 0x33);
    }
    free(src);
    free(dst);
    free(model);
}

/* One large size: put, then get of the same bytes in another epoch of the same kind. */
static void large_size(const struct mt_win *w, enum mt_epoch ep, int shift, int bytes, int salt)
{
    int target = (w->rank + shift) % w->size, origin = (w->rank - shift + w->size) % w->size;
    char *src = mt_alloc((size_t)bytes), *dst = mt_alloc((size_t)bytes);

    mt_fill(src, (size_t)bytes, tag_of(w->rank, bytes % 977, salt));
    memset(dst, 0, (size_t)bytes);
    w->base[0] = w->base[bytes + 1] = 0x77;
    mt_sync(w);
    mt_epoch_begin(w, ep, target, origin);
    MT_OK(MPI_Put(src, bytes, MPI_CHAR, target, mt_disp(w, target, 1), bytes, MPI_CHAR, w->win));
    mt_epoch_end(w, ep, target);
    CHECK_FILL(w->base + 1, (size_t)bytes, tag_of(origin, bytes % 977, salt));
    CHECK_BYTES(w->base, 1, 0x77);
    CHECK_BYTES(w->base + bytes + 1, 1, 0x77);
    mt_epoch_begin(w, ep, target, origin);
    MT_OK(MPI_Get(dst, bytes, MPI_CHAR, target, mt_disp(w, target, 1), bytes, MPI_CHAR, w->win));
    mt_epoch_end(w, ep, target);
    CHECK_EQUAL(dst, src, (size_t)bytes);
    free(src);
    free(dst);
}

static void sizes(enum mt_kind kind)
{
    struct mt_win w;
    int salt = 0;

    mt_section("sizes, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, BIG + 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    MT_FOR_EPOCHS(ep)
    {
        mt_section("small sizes, %s, %s", mt_kind_name(kind), mt_epoch_name(ep));
        for (int shift = 0; shift < w.size; shift++) {
            mixed_sizes(&w, ep, shift, ++salt);
        }
        mt_section("large sizes, %s, %s", mt_kind_name(kind), mt_epoch_name(ep));
        for (int i = 0; i < 4; i++) {
            large_size(&w, ep, (int)mt_rand((uint64_t)w.size), large[mt_rand(NLARGE)], ++salt);
        }
    }
    mt_section("all large sizes, %s", mt_kind_name(kind));
    for (int i = 0; i < NLARGE; i++) {
        large_size(&w, (enum mt_epoch)(i % MT_EPOCHS), 1 % w.size, large[i], ++salt);
    }
    mt_win_free(&w);
}

/* Calls to MPI_PROC_NULL do nothing (12.3): buffers and window stay as they were. */
static void proc_null(enum mt_kind kind)
{
    struct mt_win w;
    long buf[4] = {11, 22, 33, 44}, result = 55;
    MPI_Request req[2];
    MPI_Status st[2];

    mt_section("MPI_PROC_NULL, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 64, 8, MPI_COMM_WORLD)) {
        return;
    }
    mt_sync(&w);
    MT_FOR_EPOCHS(ep)
    {
        mt_epoch_begin(&w, ep, w.rank, w.rank);
        MT_OK(MPI_Put(buf, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, w.win));
        MT_OK(MPI_Get(buf, 4, MPI_LONG, MPI_PROC_NULL, 1000000, 4, MPI_LONG, w.win));
        MT_OK(MPI_Accumulate(buf, 4, MPI_LONG, MPI_PROC_NULL, 0, 4, MPI_LONG, MPI_SUM, w.win));
        MT_OK(MPI_Get_accumulate(buf, 1, MPI_LONG, &result, 1, MPI_LONG, MPI_PROC_NULL, 0, 1,
                                 MPI_LONG, MPI_SUM, w.win));
        MT_OK(MPI_Fetch_and_op(buf, &result, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, w.win));
        MT_OK(MPI_Compare_and_swap(buf, buf, &result, MPI_LONG, MPI_PROC_NULL, 0, w.win));
        if (ep >= MT_EP_LOCK) {
            MT_OK(MPI_Rput(buf, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w.win, &req[0]));
            MT_OK(MPI_Rget(buf, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, w.win, &req[1]));
            MT_OK(MPI_Waitall(2, req, st));
        }
        mt_epoch_end(&w, ep, w.rank);
    }
    CHECK(buf[0] == 11 && buf[1] == 22 && buf[2] == 33 && buf[3] == 44,
          "origin buffer was written");
    CHECK_BYTES(w.base, 64, 0);
    mt_win_free(&w);
}

/* Each rank has its own unit and its own size; targets are addressed in theirs. */
static void disp_units(enum mt_kind kind)
{
    static const int unit[] = {1, 8, 3, 17, 4, 64, 2, 5};
    struct mt_win w;
    int mine = unit[mt_rank % 8], units = 40;

    mt_section("displacement units, %s", mt_kind_name(kind));
    if (kind == MT_DYNAMIC || !mt_win_make(&w, kind, mine * units, mine, MPI_COMM_WORLD)) {
        return; /* a dynamic window has unit 1 */
    }
    mt_sync(&w);
    MT_FOR_EPOCHS(ep)
    {
        for (int shift = 0; shift < w.size; shift++) {
            int target = (w.rank + shift) % w.size, origin = (w.rank - shift + w.size) % w.size;
            int theirs = unit[target % 8], at = 1 + ((int)ep * 7 + shift) % (units - 1);
            char src[64], dst[64];
            mt_fill(src, sizeof src, tag_of(w.rank, at, 7));
            memset(w.base, 0, (size_t)w.bytes);
            mt_sync(&w);
            mt_epoch_begin(&w, ep, target, origin);
            MT_OK(MPI_Put(src, theirs, MPI_BYTE, target, at, theirs, MPI_BYTE, w.win));
            mt_epoch_end(&w, ep, target);
            CHECK_FILL(w.base + at * mine, (size_t)mine, tag_of(origin, at, 7));
            CHECK_BYTES(w.base, (size_t)(at * mine), 0);
            CHECK_BYTES(w.base + (at + 1) * mine, (size_t)((units - at - 1) * mine), 0);
            mt_epoch_begin(&w, ep, target, origin);
            MT_OK(MPI_Get(dst, theirs, MPI_BYTE, target, at, theirs, MPI_BYTE, w.win));
            mt_epoch_end(&w, ep, target);
            CHECK_EQUAL(dst, src, (size_t)theirs);
        }
    }
    mt_win_free(&w);
}

/* Thousands of small operations to all ranks in one epoch, puts and gets at once. */
static void outstanding(enum mt_kind kind, enum mt_epoch ep)
{
    enum { N = 1500 };
    struct mt_win w;
    long *src = mt_alloc(N * sizeof *src), *dst = mt_alloc(N * sizeof *dst);

    mt_section("outstanding, %s, %s", mt_kind_name(kind), mt_epoch_name(ep));
    /* N longs to read, then N longs to be written by each rank's left neighbour in the shift. */
    if (!mt_win_make(&w, kind, 2 * N * (MPI_Aint)sizeof(long), sizeof(long), MPI_COMM_WORLD)) {
        free(src);
        free(dst);
        return;
    }
    long *mem = (long *)(void *)w.base;
    int target = (w.rank + 1) % w.size, origin = (w.rank - 1 + w.size) % w.size;
    long v;
    for (int i = 0; i < N; i++) {
        src[i] = w.rank * 1000003L + i;
        v = ~src[i];
        memcpy(&mem[i], &v, sizeof v); /* the odd window is not aligned */
        dst[i] = 0;
    }
    mt_sync(&w);
    mt_epoch_begin(&w, ep, target, origin);
    for (int i = 0; i < N; i++) {
        int at = (int)((long)i * 769 % N);
        MT_OK(MPI_Put(&src[at], 1, MPI_LONG, target, mt_disp(&w, target, (N + at) * 8L), 1,
                      MPI_LONG, w.win));
        MT_OK(MPI_Get(&dst[at], 1, MPI_LONG, target, mt_disp(&w, target, at * 8L), 1, MPI_LONG,
                      w.win));
    }
    mt_epoch_end(&w, ep, target);
    int bad = 0;
    for (int i = 0; i < N; i++) {
        memcpy(&v, &mem[N + i], sizeof v);
        bad += v != origin * 1000003L + i;
        bad += dst[i] != ~(target * 1000003L + i);
    }
    CHECK(bad == 0, "%d of %d wrong", bad, 2 * N);
    mt_win_free(&w);
    free(src);
    free(dst);
}

/* The origin buffer is the user's again after flush_local (passive), complete, fence. */
static void buffer_reuse(enum mt_kind kind, int bytes)
{
    enum { N = 12 };
    struct mt_win w;
    char *buf = mt_alloc((size_t)bytes);

    mt_section("buffer reuse, %s, %d bytes", mt_kind_name(kind), bytes);
    if (!mt_win_make(&w, kind, (MPI_Aint)N * bytes, 1, MPI_COMM_WORLD)) {
        free(buf);
        return;
    }
    int target = (w.rank + 1) % w.size, origin = (w.rank - 1 + w.size) % w.size;
    mt_sync(&w);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
    for (int i = 0; i < N; i++) {
        mt_fill(buf, (size_t)bytes, tag_of(w.rank, i, 1));
        MT_OK(MPI_Put(buf, bytes, MPI_BYTE, target, mt_disp(&w, target, (MPI_Aint)i * bytes), bytes,
                      MPI_BYTE, w.win));
        if (i % 2 == 0) {
            MT_OK(MPI_Win_flush_local(target, w.win));
        } else {
            MT_OK(MPI_Win_flush_local_all(w.win));
        }
    }
    memset(buf, 0, (size_t)bytes);
    MT_OK(MPI_Win_unlock(target, w.win));
    mt_sync(&w);
    for (int i = 0; i < N; i++) {
        CHECK_FILL(w.base + (size_t)i * (size_t)bytes, (size_t)bytes, tag_of(origin, i, 1));
    }
    MPI_Group to = mt_group_one(&w, target), from = mt_group_one(&w, origin);
    for (int i = 0; i < 4; i++) {
        MT_OK(MPI_Win_post(from, 0, w.win));
        mt_fill(buf, (size_t)bytes, tag_of(w.rank, i, 2));
        MT_OK(MPI_Win_start(to, 0, w.win));
        MT_OK(
            MPI_Put(buf, bytes, MPI_BYTE, target, mt_disp(&w, target, 0), bytes, MPI_BYTE, w.win));
        MT_OK(MPI_Win_complete(w.win));
        memset(buf, 0, (size_t)bytes);
        MT_OK(MPI_Win_wait(w.win));
        CHECK_FILL(w.base, (size_t)bytes, tag_of(origin, i, 2));
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    mt_win_free(&w);
    free(buf);
}

/* Large gets inside lock epochs are complete at flush and at unlock; the lock may be exclusive. */
static void large_get(enum mt_kind kind)
{
    enum { BYTES = 700001 };
    struct mt_win w;
    char *a = mt_alloc(BYTES), *b = mt_alloc(BYTES);

    mt_section("large get, %s", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, BYTES + 8, 1, MPI_COMM_WORLD)) {
        free(a);
        free(b);
        return;
    }
    mt_fill(w.base, BYTES, tag_of(w.rank, 0, 9));
    mt_sync(&w);
    for (int i = 0; i < w.size; i++) {
        int target = (w.rank + i) % w.size;
        MT_OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w.win));
        memset(a, 0, BYTES);
        memset(b, 0, BYTES);
        MT_OK(MPI_Get(a, BYTES, MPI_BYTE, target, mt_disp(&w, target, 0), BYTES, MPI_BYTE, w.win));
        MT_OK(MPI_Win_flush(target, w.win));
        CHECK_FILL(a, BYTES, tag_of(target, 0, 9));
        MT_OK(MPI_Get(b, BYTES, MPI_BYTE, target, mt_disp(&w, target, 0), BYTES, MPI_BYTE, w.win));
        MT_OK(MPI_Win_unlock(target, w.win));
        CHECK_FILL(b, BYTES, tag_of(target, 0, 9));
    }
    mt_sync(&w);
    mt_win_free(&w);
    free(a);
    free(b);
}

/* One origin buffer of many operations at once, whole and in parts that overlap: it is only read
 * (12.3). */
static void shared_origin(enum mt_kind kind, int bytes)
{
    const int half = bytes / 2 & ~7, third = bytes / 3 & ~7;
    struct mt_win w;
    char *src = mt_alloc((size_t)bytes), *model = mt_alloc((size_t)bytes);

    mt_section("one origin buffer, %s, %d bytes", mt_kind_name(kind), bytes);
    /* A part for each origin's put of all, its put of the second half, and the sum of all origins'
     * middle words. */
    if (!mt_win_make(&w, kind, (MPI_Aint)mt_size * 2 * bytes + 8, 1, MPI_COMM_WORLD)) {
        free(src);
        free(model);
        return;
    }
    MT_FOR_EPOCHS(ep)
    {
        int64_t word, sum = 0;
        mt_fill(src, (size_t)bytes, tag_of(w.rank, 1, (int)ep));
        memset(w.base, 0, (size_t)w.bytes);
        mt_sync(&w);
        for (int shift = 0; shift < w.size; shift++) {
            const int target = (w.rank + shift) % w.size,
                      origin = (w.rank - shift + w.size) % w.size;
            const MPI_Aint at = (MPI_Aint)w.rank * 2 * bytes;
            mt_epoch_begin(&w, ep, target, origin);
            MT_OK(MPI_Put(src, bytes, MPI_BYTE, target, mt_disp(&w, target, at), bytes, MPI_BYTE,
                          w.win));
            MT_OK(MPI_Put(src + third, bytes - third, MPI_BYTE, target,
                          mt_disp(&w, target, at + bytes), bytes - third, MPI_BYTE, w.win));
            MT_OK(MPI_Accumulate(src + half, 1, MPI_INT64_T, target,
                                 mt_disp(&w, target, (MPI_Aint)w.size * 2 * bytes), 1, MPI_INT64_T,
                                 MPI_BXOR, w.win));
            mt_epoch_end(&w, ep, target);
        }
        for (int o = 0; o < w.size; o++) {
            mt_fill(model, (size_t)bytes, tag_of(o, 1, (int)ep));
            CHECK_EQUAL(w.base + (size_t)o * 2 * (size_t)bytes, model, (size_t)bytes);
            CHECK_EQUAL(w.base + ((size_t)o * 2 + 1) * (size_t)bytes, model + third,
                        (size_t)(bytes - third));
            memcpy(&word, model + half, sizeof word);
            sum ^= word;
        }
        memcpy(&word, w.base + (size_t)w.size * 2 * (size_t)bytes, sizeof word);
        CHECK(word == sum, "%s: expected %lx, saw %lx", mt_epoch_name(ep), (long)sum, (long)word);
        mt_sync(&w);
    }
    mt_win_free(&w);
    free(src);
    free(model);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_FOR_KINDS(kind)
    {
        sizes(kind);
        proc_null(kind);
        disp_units(kind);
        MT_FOR_EPOCHS(ep)
        {
            outstanding(kind, ep);
        }
        buffer_reuse(kind, 40);
        buffer_reuse(kind, 200001);
        large_get(kind);
        shared_origin(kind, 72);
        shared_origin(kind, 100008);
    }
    return MT_FINISH();
}
