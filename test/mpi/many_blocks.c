/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_blocks.c - datatypes of millions of blocks, and the memory that they take.
 *
 * Usage: many_blocks [blocks]      (200,000; of two processes, rank 0 is the origin)
 *
 * Irregular blocks of doubles by each constructor that takes a list of them, and a smaller list
 * that is repeated, at the origin and at the target, in put, get and accumulate; every double of
 * the window and of the origin's buffer is looked at, so gaps must be untouched. From the first use
 * of a type on no process may grow by more than the arguments that the type was made with, and no
 * more than a few bytes a block may stay (the hosts' own share is there after the commit).
 */
#include "mtest.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

enum { MARGIN = 3 << 10, KEPT = 4, REPEATS = 1000 }; /* KiB; bytes a block */

enum kind { INDEXED_BLOCK, HINDEXED_BLOCK, INDEXED, HINDEXED, STRUCT, REPEATED, KINDS };

static const char *const names[] = {"indexed_block", "hindexed_block", "indexed",
                                    "hindexed",      "struct",         "repeated"};

static size_t blocks, doubles; /* doubles: of the window and of the buffer */

/* Block i of a kind: its first double, and how many they are. */
static size_t block_at(size_t i)
{
    return 4 * i + (i * 2654435761u >> 9) % 2;
}

static size_t block_length(enum kind kind, size_t i)
{
    return kind == INDEXED_BLOCK || kind == HINDEXED_BLOCK ? 1 : 1 + i % 5 % 2;
}

/* A double of the type after another: block and place in it, and so its index. */
struct place {
    size_t copy, block, in;
};

static size_t list_length(enum kind kind)
{
    return kind == REPEATED ? blocks / REPEATS : blocks;
}

static size_t place_index(enum kind kind, const struct place *p)
{
    return p->copy * 4 * list_length(kind) + block_at(p->block) + p->in;
}

static void place_next(enum kind kind, struct place *p)
{
    if (++p->in < block_length(kind, p->block))
        return;
    p->in = 0;
    if (++p->block < list_length(kind))
        return;
    p->block = 0;
    p->copy++;
}

static size_t type_length(enum kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < list_length(kind); i++)
        n += block_length(kind, i);
    return n * (kind == REPEATED ? REPEATS : 1);
}

/* KiB of the arguments that the host hands out. */
static size_t arguments_kib(enum kind kind)
{
    static const size_t each[] = {
        [INDEXED_BLOCK] = sizeof(int),
        [HINDEXED_BLOCK] = sizeof(MPI_Aint),
        [INDEXED] = 2 * sizeof(int),
        [HINDEXED] = sizeof(int) + sizeof(MPI_Aint),
        [STRUCT] = sizeof(int) + sizeof(MPI_Aint) + sizeof(MPI_Datatype),
        [REPEATED] = 2 * sizeof(int),
    };
    return list_length(kind) * each[kind] / 1024;
}

static void *need(void *p)
{
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static MPI_Datatype make_type(enum kind kind)
{
    const size_t n = list_length(kind);
    int *lengths = need(malloc(n * sizeof *lengths)), *disps = need(malloc(n * sizeof *disps));
    MPI_Aint *addrs = need(malloc(n * sizeof *addrs));
    MPI_Datatype *types = need(malloc(n * sizeof *types)), type, list;

    for (size_t i = 0; i < n; i++) {
        lengths[i] = (int)block_length(kind, i);
        disps[i] = (int)block_at(i);
        addrs[i] = (MPI_Aint)(block_at(i) * sizeof(double));
        types[i] = MPI_DOUBLE;
    }
    switch (kind) {
    case INDEXED_BLOCK:
        MT_OK(MPI_Type_create_indexed_block((int)n, 1, disps, MPI_DOUBLE, &type));
        break;
    case HINDEXED_BLOCK:
        MT_OK(MPI_Type_create_hindexed_block((int)n, 1, addrs, MPI_DOUBLE, &type));
        break;
    case HINDEXED:
        MT_OK(MPI_Type_create_hindexed((int)n, lengths, addrs, MPI_DOUBLE, &type));
        break;
    case STRUCT:
        MT_OK(MPI_Type_create_struct((int)n, lengths, addrs, types, &type));
        break;
    case INDEXED:
    default:
        MT_OK(MPI_Type_indexed((int)n, lengths, disps, MPI_DOUBLE, &type));
    }
    if (kind == REPEATED) {
        list = type;
        MT_OK(MPI_Type_create_hvector(REPEATS, 1, (MPI_Aint)(4 * n * sizeof(double)), list, &type));
        MT_OK(MPI_Type_free(&list));
    }
    MT_OK(MPI_Type_commit(&type));
    free(lengths);
    free(disps);
    free(addrs);
    free(types);
    return type;
}

/* ---- memory ---- */

static size_t status_kib(const char *field)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    size_t kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoul(line + strlen(field), NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

/* The largest size is counted from now on. Memory that was freed before does not hide what is
 * taken. */
static size_t memory_begin(void)
{
    malloc_trim(0);
    const int fd = open("/proc/self/clear_refs", O_WRONLY);

    if (fd < 0 || write(fd, "5", 1) != 1)
        mt_fail(__FILE__, __LINE__, "the largest size cannot be set back");
    if (fd >= 0)
        close(fd);
    return status_kib("VmRSS:");
}

static void memory_check(const char *what, size_t before, size_t most, size_t stay)
{
    if (MT_FREED_IS_KEPT)
        return;
    malloc_trim(0);
    const size_t peak = status_kib("VmHWM:"), now = status_kib("VmRSS:");

    CHECK(peak <= before + most + MARGIN, "%s: the process grew by %zu KiB, expected at most %zu",
          what, peak - before, most + MARGIN);
    CHECK(now <= before + stay + MARGIN, "%s: %zu KiB stay, expected at most %zu", what,
          now - before, stay + MARGIN);
    if (getenv("MANY_BLOCKS_SHOW"))
        printf("%s, rank %d: %ld KiB at most, %ld stay\n", what, mt_rank, (long)(peak - before),
               (long)(now - before));
}

/* ---- data ---- */

static void fill(double *at, double sign)
{
    for (size_t i = 0; i < doubles; i++)
        at[i] = sign * (double)i;
}

/* A double is sign times its index i, but where the type puts one: there it is expect(i, n), the
 * nth of the type. */
static void check_typed(const char *name, enum kind kind, const double *at, double sign,
                        double (*expect)(size_t i, size_t n))
{
    const size_t length = type_length(kind);
    struct place p = {0};
    size_t bad = 0, next = 0;

    for (size_t n = 0; n <= length; n++) {
        const size_t i = n < length ? place_index(kind, &p) : doubles;
        for (; next < i; next++)
            bad += at[next] != sign * (double)next;
        if (n < length)
            bad += at[next++] != expect(i, n);
        place_next(kind, &p);
    }
    CHECK(bad == 0, "%s, %s: %zu doubles are wrong", names[kind], name, bad);
}

static double put_value(size_t i, size_t n)
{
    (void)i;
    return (double)n + 0.5;
}

static double sum_value(size_t i, size_t n)
{
    return (double)n + 0.5 + (double)i;
}

static double get_value(size_t i, size_t n)
{
    (void)i;
    return (double)n;
}

static void check_row(const char *name, enum kind kind, const double *row, const double *values)
{
    const size_t length = type_length(kind);
    struct place p = {0};
    size_t bad = 0;

    for (size_t n = 0; n < length; n++) {
        bad += row[n] != values[place_index(kind, &p)];
        place_next(kind, &p);
    }
    CHECK(bad == 0, "%s, %s: %zu doubles are wrong", names[kind], name, bad);
}

/* ---- rounds ---- */

struct round {
    MPI_Win win;
    double *mem, *buffer, *row; /* the window, the origin's data in blocks and in a row */
    enum kind kind;
    MPI_Datatype type;
    int length; /* doubles of the type */
};

/* The window is filled; what did not come by RMA is in it when both go on. */
static void prepare(struct round *r)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt_rank, 0, r->win);
    fill(r->mem, 1);
    MPI_Win_unlock(mt_rank, r->win);
    fill(r->buffer, -1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What rank 0 does to rank 1's window; then both may look. */
static void transfer(struct round *r, const char *op, bool at_target)
{
    const int ocount = at_target ? r->length : 1, tcount = at_target ? 1 : r->length;
    const MPI_Datatype otype = at_target ? MPI_DOUBLE : r->type;
    const MPI_Datatype ttype = at_target ? r->type : MPI_DOUBLE;
    double *const from = at_target ? r->row : r->buffer;

    if (mt_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, r->win);
        if (op[0] == 'p')
            MT_OK(MPI_Put(from, ocount, otype, 1, 0, tcount, ttype, r->win));
        else if (op[0] == 'g')
            MT_OK(MPI_Get(from, ocount, otype, 1, 0, tcount, ttype, r->win));
        else
            MT_OK(MPI_Accumulate(from, ocount, otype, 1, 0, tcount, ttype, MPI_SUM, r->win));
        MT_OK(MPI_Win_unlock(1, r->win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, mt_rank, 0, r->win);
}

static void check_at_target(struct round *r)
{
    prepare(r);
    for (int n = 0; n < r->length; n++)
        r->row[n] = n + 0.5;
    transfer(r, "put", true);
    if (mt_rank == 1)
        check_typed("put", r->kind, r->mem, 1, put_value);
    MPI_Win_unlock(mt_rank, r->win);
    prepare(r);
    transfer(r, "accumulate", true);
    if (mt_rank == 1)
        check_typed("accumulate", r->kind, r->mem, 1, sum_value);
    MPI_Win_unlock(mt_rank, r->win);
    prepare(r);
    transfer(r, "get", true);
    if (mt_rank == 0)
        check_row("get", r->kind, r->row, r->mem);
    MPI_Win_unlock(mt_rank, r->win);
}

static void check_at_origin(struct round *r)
{
    prepare(r);
    transfer(r, "put", false);
    if (mt_rank == 1)
        check_row("put, at the origin", r->kind, r->mem, r->buffer);
    MPI_Win_unlock(mt_rank, r->win);
    prepare(r);
    for (size_t i = 0; i < doubles; i++)
        r->buffer[i] = 2 * (double)i; /* a sum tells what was added to what */
    transfer(r, "accumulate", false);
    for (size_t i = 0; i < (size_t)r->length; i++)
        r->row[i] = mt_rank == 1 ? r->mem[i] - (double)i : 0;
    if (mt_rank == 1)
        check_row("accumulate, at the origin", r->kind, r->row, r->buffer);
    MPI_Win_unlock(mt_rank, r->win);
    prepare(r);
    transfer(r, "get", false);
    if (mt_rank == 0)
        check_typed("get, at the origin", r->kind, r->buffer, -1, get_value);
    MPI_Win_unlock(mt_rank, r->win);
}

static void check_kind(struct round *r)
{
    mt_section("%s", names[r->kind]);
    r->type = make_type(r->kind);
    r->length = (int)type_length(r->kind);
    prepare(r);
    const size_t arguments = arguments_kib(r->kind), kept = KEPT * list_length(r->kind) / 1024;
    const size_t before = memory_begin();
    check_at_target(r);
    check_at_origin(r);
    memory_check(names[r->kind], before, arguments > kept ? arguments : kept, kept);
    MT_OK(MPI_Type_free(&r->type));
}

/* What is made at the first use, of the library and of the host, is there before, and all of the
 * other window is mapped. */
static void warm_up(struct round *r)
{
    const size_t all = blocks;

    MPI_Win_lock(MPI_LOCK_SHARED, 1 - mt_rank, 0, r->win);
    MPI_Get(r->buffer, (int)doubles, MPI_DOUBLE, 1 - mt_rank, 0, (int)doubles, MPI_DOUBLE, r->win);
    MPI_Win_unlock(1 - mt_rank, r->win);
    blocks = REPEATS;
    r->kind = STRUCT;
    r->type = make_type(r->kind);
    r->length = (int)type_length(r->kind);
    check_at_target(r);
    check_at_origin(r);
    MT_OK(MPI_Type_free(&r->type));
    blocks = all;
}

int main(int argc, char **argv)
{
    struct round r;

    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* large pieces go back to the system when freed */
    MT_INIT(argc, argv);
    blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000;
    blocks = blocks / REPEATS * REPEATS;
    doubles = 4 * blocks + 4;
    if (blocks == 0 || mt_size != 2) {
        mt_fail(__FILE__, __LINE__, "two processes and at least %d blocks are needed", REPEATS);
        return MT_FINISH();
    }
    mt_timeout(60 + (unsigned)(blocks / 50000));
    r.buffer = need(malloc(doubles * sizeof(double)));
    r.row = need(malloc(doubles * sizeof(double)));
    memset(r.row, 0, doubles * sizeof(double));
    MPI_Win_allocate((MPI_Aint)(doubles * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &r.mem, &r.win);
    MPI_Win_set_errhandler(r.win, MPI_ERRORS_RETURN);
    prepare(&r);
    warm_up(&r);
    for (r.kind = 0; r.kind < KINDS; r.kind++)
        check_kind(&r);
    MPI_Win_free(&r.win);
    free(r.buffer);
    free(r.row);
    return MT_FINISH();
}
