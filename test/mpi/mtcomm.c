/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mtcomm.c - epochs, patterns and groups for the communication tests; see mtcomm.h.
 */
#include "mtcomm.h"

#include <time.h>

const char *mt_epoch_name(enum mt_epoch ep)
{
    static const char *const names[MT_EPOCHS] = {
        [MT_EP_FENCE] = "fence",         [MT_EP_PSCW] = "pscw",
        [MT_EP_LOCK] = "lock exclusive", [MT_EP_LOCK_SHARED] = "lock shared",
        [MT_EP_LOCK_ALL] = "lock_all",
    };
    return names[ep];
}

void mt_sync(const struct mt_win *w)
{
    MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

MPI_Group mt_group(const struct mt_win *w, int n, const int *ranks)
{
    MPI_Group all, some;

    MT_OK(MPI_Win_get_group(w->win, &all));
    MT_OK(MPI_Group_incl(all, n, ranks, &some));
    MT_OK(MPI_Group_free(&all));
    return some;
}

MPI_Group mt_group_one(const struct mt_win *w, int rank)
{
    return mt_group(w, 1, &rank);
}

static void begin_pscw(const struct mt_win *w, int target, int origin)
{
    MPI_Group to = mt_group_one(w, target), from = mt_group_one(w, origin);

    MT_OK(MPI_Win_post(from, 0, w->win));
    MT_OK(MPI_Win_start(to, 0, w->win));
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

void mt_epoch_begin(const struct mt_win *w, enum mt_epoch ep, int target, int origin)
{
    switch (ep) {
    case MT_EP_FENCE:
        MT_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
        break;
    case MT_EP_PSCW:
        begin_pscw(w, target, origin);
        break;
    case MT_EP_LOCK:
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        break;
    case MT_EP_LOCK_SHARED:
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
        break;
    default:
        MT_OK(MPI_Win_lock_all(0, w->win));
        break;
    }
}

void mt_epoch_end(const struct mt_win *w, enum mt_epoch ep, int target)
{
    switch (ep) {
    case MT_EP_FENCE:
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
        break;
    case MT_EP_PSCW:
        MT_OK(MPI_Win_complete(w->win));
        MT_OK(MPI_Win_wait(w->win));
        mt_sync(w);
        break;
    case MT_EP_LOCK:
    case MT_EP_LOCK_SHARED:
        MT_OK(MPI_Win_unlock(target, w->win));
        mt_sync(w);
        break;
    default:
        MT_OK(MPI_Win_unlock_all(w->win));
        mt_sync(w);
        break;
    }
}

void mt_fill(void *buf, size_t n, uint32_t tag)
{
    uint8_t *p = buf;

    for (size_t i = 0; i < n; i++) {
        p[i] = mt_pat(tag, i);
    }
}

bool mt_check_fill(const char *file, int line, const void *buf, size_t n, uint32_t tag)
{
    const uint8_t *p = buf;
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++) {
        wrong |= p[i] ^ mt_pat(tag, i);
    }
    for (size_t i = 0; wrong != 0 && i < n; i++) {
        if (p[i] != mt_pat(tag, i)) {
            mt_fail(file, line, "byte %zu of %zu: expected 0x%02x (pattern %u), saw 0x%02x", i, n,
                    mt_pat(tag, i), tag, p[i]);
            return false;
        }
    }
    return true;
}

bool mt_check_equal(const char *file, int line, const void *buf, const void *expected, size_t n)
{
    const uint8_t *p = buf, *e = expected;

    if (n == 0 || memcmp(buf, expected, n) == 0) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i] != e[i]) {
            mt_fail(file, line, "byte %zu of %zu: expected 0x%02x, saw 0x%02x", i, n, e[i], p[i]);
            break;
        }
    }
    return false;
}

void *mt_alloc(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);

    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        abort();
    }
    return p;
}

double mt_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

long mt_env(const char *name, long otherwise)
{
    const char *text = getenv(name);
    long value = text != NULL ? strtol(text, NULL, 10) : 0;

    return value > 0 ? value : otherwise;
}

long mt_rounds(long full)
{
    const long shorter = full > 3 ? full / 3 : 1;
    return mt_env("MTEST_ROUNDS", getenv("MTEST_FULL") != NULL ? full : shorter);
}

bool mt_enough_memory(const char *what, long gib)
{
    long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/meminfo", "r");

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "MemAvailable: %ld kB", &kib) == 1) {
            break;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    int ok = kib > gib << 20;
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ok) {
        mt_skip("%s: %ld MiB of memory available, %ld needed", what, kib >> 10, gib << 10);
    }
    return ok;
}

bool mt_make_second_ranks(MPI_Aint bytes, unsigned char **mem, MPI_Win *win)
{
    const MPI_Aint mine = mt_rank == 1 ? bytes : 0;

    if (mt_path_is("cma")) { /* the kernel-assisted path is for private memory */
        *mem = mine > 0 ? malloc((size_t)mine) : NULL;
        MT_OK(MPI_Win_create(*mem, mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win));
    } else {
        MT_OK(MPI_Win_allocate(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, mem, win));
    }
    return *win != MPI_WIN_NULL && MT_OK(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
}

void mt_free_second_ranks(unsigned char *mem, MPI_Win *win)
{
    MT_OK(MPI_Win_free(win));
    if (mt_path_is("cma")) {
        free(mem);
    }
}
