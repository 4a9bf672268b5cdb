/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_info.c - hints of windows: what is reported, what is set, what is refused.
 *
 * Every hint of MPI 4.1, 12.2 that this library supports is reported by
 * MPI_Win_get_info with the value in use, defaults included (10, "hints that the
 * implementation supports"). Keys that are not known are ignored and not
 * reported. Values that are not understood are ignored, and those that the standard
 * wants equal on all processes and that are not become what serves all. With
 * MPIRMA_STRICT=1 either is MPI_ERR_INFO_VALUE on every process, and no window.
 */
#include "mtest.h"

#define NO_VALUE "(no such key)"

static bool strict(void)
{
    const char *value = getenv("MPIRMA_STRICT");
    return value != NULL && strcmp(value, "1") == 0;
}

static const struct hint {
    const char *key;
    const char *initial; /* NULL: any value */
    const char *other;   /* another value to set, NULL: none */
} hints[] = {
    {"no_locks", "false", "true"},
    {"accumulate_ordering", "rar,raw,war,waw", "none"},
    {"accumulate_ordering", "rar,raw,war,waw", "rar,waw"},
    {"accumulate_ops", "same_op_no_op", "same_op"},
    {"same_size", "false", "true"},
    {"same_disp_unit", "false", "true"},
    {"mpi_accumulate_granularity", "0", "8"}, /* not used, and so reported */
    {"alloc_shm", NULL, "false"},
    {"mpirma_weak_unlock", "false", "true"},
    {"which_accumulate_ops", NULL, "sum"},
    {"mpirma_notifications", "0", "64"},
};
enum { HINTS = sizeof hints / sizeof hints[0] };

static const char *value_of(MPI_Win win, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int flag = 0;

    strcpy(value, NO_VALUE);
    if (MT_OK(MPI_Win_get_info(win, &info))) {
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        MPI_Info_free(&info);
    }
    return flag ? value : NO_VALUE;
}

/* Equal as sets of comma separated words. */
static bool same_words(const char *a, const char *b)
{
    char copy[256];

    if (strlen(a) != strlen(b) || strlen(a) >= sizeof copy) {
        return false;
    }
    strcpy(copy, a);
    for (char *rest = copy, *word; (word = strsep(&rest, ", ")) != NULL;) {
        const char *found = strstr(b, word);
        if (found == NULL || (found[strlen(word)] != ',' && found[strlen(word)] != '\0')) {
            return false;
        }
    }
    return true;
}

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void defaults(enum mt_kind kind)
{
    struct mt_win w;

    mt_section("%s, defaults", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    for (int i = 0; i < HINTS; i++) {
        const char *v = value_of(w.win, hints[i].key);
        CHECK(strcmp(v, NO_VALUE) != 0, "%s must be reported", hints[i].key);
        if (hints[i].initial != NULL) {
            CHECK(same_words(v, hints[i].initial), "%s: expected %s, saw %s", hints[i].key,
                  hints[i].initial, v);
        }
    }
    if (kind == MT_ALLOCATE_SHARED) {
        const char *v = value_of(w.win, "alloc_shared_noncontig");
        CHECK(strcmp(v, "false") == 0, "alloc_shared_noncontig: expected false, saw %s", v);
    }
    if (kind == MT_ALLOCATE || kind == MT_ALLOCATE_SHARED) {
        const char *v = value_of(w.win, "mpi_minimum_memory_alignment");
        CHECK(atoi(v) > 0, "mpi_minimum_memory_alignment: expected a number, saw %s", v);
    }
    mt_win_free(&w);
}

/* Memory that is not to be mapped, where only the mapped path is allowed: refused,
 * unless all is the process's own. */
static void not_to_be_mapped(void)
{
    MPI_Info info = info_of("alloc_shm", "false");
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    mt_section("alloc_shm=false on the mapped path");
    int err = MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
    CHECK_ERR(err, mt_size == 1 ? MPI_SUCCESS : MPI_ERR_RMA_FLAVOR);
    if (err == MPI_SUCCESS) {
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
}

/* The hint at creation, the same everywhere, is in use and reported; the window works. */
static void set_at_creation(enum mt_kind kind, const struct hint *h)
{
    if (strcmp(h->key, "alloc_shm") == 0 && mt_path_is("mapped")) {
        not_to_be_mapped();
        return;
    }
    struct mt_win w;
    MPI_Info info = info_of(h->key, h->other);

    MPI_Info_set(info, "no_such_hint_anywhere", "17");
    mt_section("%s, %s=%s", mt_kind_name(kind), h->key, h->other);
    if (mt_win_make_info(&w, kind, 64, 1, info, MPI_COMM_WORLD)) {
        const char *v = value_of(w.win, h->key);
        bool fixed = strcmp(h->key, "alloc_shm") == 0 && kind != MT_ALLOCATE;
        const char *want = strcmp(h->key, "mpi_accumulate_granularity") == 0 ? "0" : h->other;
        CHECK(fixed || same_words(v, want), "%s: expected %s, saw %s", h->key, want, v);
        v = value_of(w.win, "no_such_hint_anywhere");
        CHECK(strcmp(v, NO_VALUE) == 0, "an unknown key is reported with %s", v);
        int one = 1, sum = 0;
        MT_OK(MPI_Win_fence(0, w.win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, mt_disp(&w, 0, 0), 1, MPI_INT, MPI_SUM, w.win));
        MT_OK(MPI_Win_fence(0, w.win));
        memcpy(&sum, w.base, sizeof sum);
        CHECK(mt_rank != 0 || sum == mt_size, "expected %d, saw %d", mt_size, sum);
        mt_win_free(&w);
    }
    MPI_Info_free(&info);
}

static void set_later(void)
{
    struct mt_win w;

    mt_section("MPI_Win_set_info");
    if (!mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD)) {
        return;
    }
    for (int i = 0; i < HINTS; i++) {
        char before[MPI_MAX_INFO_VAL + 1];
        MPI_Info info = info_of(hints[i].key, hints[i].other);
        strcpy(before, value_of(w.win, hints[i].key));
        MT_OK(MPI_Win_set_info(w.win, info));
        const char *after = value_of(w.win, hints[i].key);
        CHECK(same_words(after, before) || same_words(after, hints[i].other),
              "%s: expected %s or %s, saw %s", hints[i].key, before, hints[i].other, after);
        MPI_Info_free(&info);
    }
    MPI_Info info = info_of("no_such_hint_anywhere", "yes");
    MT_OK(MPI_Win_set_info(w.win, info));
    CHECK(strcmp(value_of(w.win, "no_such_hint_anywhere"), NO_VALUE) == 0,
          "an unknown key is reported");
    MPI_Info_free(&info);
    MT_OK(MPI_Win_set_info(w.win, MPI_INFO_NULL));
    mt_win_free(&w);
}

/* MPI_Win_get_info gives a new object each time: changing it does not change the window. */
static void info_is_a_copy(void)
{
    struct mt_win w;
    MPI_Info info;

    mt_section("the info object is a copy");
    if (mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD)) {
        MT_OK(MPI_Win_get_info(w.win, &info));
        MPI_Info_set(info, "no_locks", "true");
        MPI_Info_free(&info);
        CHECK(strcmp(value_of(w.win, "no_locks"), "false") == 0, "no_locks changed with the copy");
        CHECK_PUT_WORKS(w.win, 0, mt_rank * 4, mt_rank);
        mt_win_free(&w);
    }
}

/* Nonsense is ignored and not reported as in use, or refused on all ranks. */
static void nonsense_values(void)
{
    static const char *const bad[][2] = {
        {"no_locks", "yes"},
        {"accumulate_ordering", "rar,up"},
        {"accumulate_ops", "all"},
        {"same_size", "17"},
        {"same_disp_unit", "no!"},
        {"mpi_accumulate_granularity", "-3"},
        {"alloc_shm", "auto"},
        {"mpirma_notifications", "65"},
        {"mpirma_notifications", "-1"},
        {"which_accumulate_ops", "sum,gcd"},
        {"mpi_minimum_memory_alignment", "many"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        MPI_Info info = info_of(bad[i][0], bad[i][1]);
        MPI_Win win = MPI_WIN_NULL;
        void *base;
        mt_section("nonsense: %s=%s", bad[i][0], bad[i][1]);
        int err = MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
        if (strict()) {
            CHECK_ERR(err, MPI_ERR_INFO_VALUE);
            CHECK(win == MPI_WIN_NULL, "a refused creation must not touch the handle");
        } else if (MT_OK(err)) {
            const char *v = value_of(win, bad[i][0]);
            CHECK(strcmp(v, bad[i][1]) != 0, "%s: nonsense \"%s\" is reported as in use", bad[i][0],
                  v);
            CHECK_PUT_WORKS(win, 0, 4 * mt_rank, 3);
            MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
            MT_OK(MPI_Win_set_info(win, info));
            MT_OK(MPI_Win_free(&win));
        }
        if (strcmp(bad[i][0], "mpi_minimum_memory_alignment") == 0) {
            err = MPI_Alloc_mem(64, info, &base);
            CHECK_ERR(err, strict() ? MPI_ERR_INFO_VALUE : MPI_SUCCESS);
            if (err == MPI_SUCCESS)
                MPI_Free_mem(base);
        }
        MPI_Info_free(&info);
    }
}

/* Different values per rank: what serves all is in use on every rank, or an error on every rank,
 * and the communicator still works. */
static void differing(const char *key, const char *here, const char *there, const char *used)
{
    MPI_Info info = info_of(key, mt_rank == 0 ? here : there);
    MPI_Win win = MPI_WIN_NULL;
    int *base, one = 1;

    mt_section("%s=%s on rank 0, %s on others", key, here, there);
    int err = MPI_Win_allocate(2 * sizeof(int), 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (strict()) {
        CHECK_ERR(err, MPI_ERR_INFO_VALUE);
        CHECK(win == MPI_WIN_NULL, "a refused creation must not touch the handle");
    } else if (MT_OK(err)) {
        const char *v = value_of(win, key);
        CHECK(same_words(v, used), "%s: expected %s, saw %s", key, used, v);
        *base = 0;
        MT_OK(MPI_Win_fence(0, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
        MT_OK(MPI_Win_fence(0, win));
        CHECK(*base == (mt_rank == 0 ? mt_size : 0), "expected %d, saw %d",
              mt_rank == 0 ? mt_size : 0, *base);
        CHECK_PUT_WORKS(win, mt_size - 1, sizeof(int),
                        5); /* a lock, whatever no_locks says on some */
        MT_OK(MPI_Win_free(&win));
    }
}

/* Contiguous unless all allow otherwise. */
static void differing_noncontig(void)
{
    if (mt_several_nodes(MPI_COMM_WORLD)) {
        mt_skip("shared windows are not available over several nodes");
        return;
    }
    MPI_Info info = info_of("alloc_shared_noncontig", mt_rank == 0 ? "true" : "false");
    MPI_Win win = MPI_WIN_NULL;
    char *base, *first;
    MPI_Aint bytes;
    int unit;

    mt_section("alloc_shared_noncontig on rank 0 only");
    int err = MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (strict()) {
        CHECK_ERR(err, MPI_ERR_INFO_VALUE);
    } else if (MT_OK(err)) {
        MT_OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &first));
        CHECK(base == first + 64 * mt_rank, "part %d is at %p, the first at %p", mt_rank,
              (void *)base, (void *)first);
        MT_OK(MPI_Win_free(&win));
    }
}

/* Each process's own: who says false is reached by other ways. */
static void differing_alloc_shm(void)
{
    MPI_Info info = info_of("alloc_shm", mt_rank == 0 ? "false" : "true");
    const char *own = mt_rank == 0 ? "false" : "true", *v;
    MPI_Win win = MPI_WIN_NULL;
    int *base;

    mt_section("alloc_shm=false on rank 0 only");
    int err = MPI_Win_allocate(sizeof(int), 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (mt_path_is("mapped")) {
        CHECK_ERR(err, MPI_ERR_RMA_FLAVOR);
    } else if (MT_OK(err)) {
        v = value_of(win, "alloc_shm");
        CHECK(strcmp(v, own) == 0, "alloc_shm: expected %s, saw %s", own, v);
        CHECK_PUT_WORKS(win, 0, 0, 6);
        CHECK_PUT_WORKS(win, mt_size - 1, 0, 7);
        MT_OK(MPI_Win_free(&win));
    }
}

/* The promise of same_size or same_disp_unit is broken by the arguments themselves. */
static void broken_promise(void)
{
    static const char *const keys[] = {"same_size", "same_disp_unit"};

    for (int i = 0; i < 2; i++) {
        MPI_Info info = info_of(keys[i], "true");
        MPI_Aint bytes = i == 0 ? 64 * (mt_rank + 1) : 64;
        int unit = i == 1 ? 1 + mt_rank : 1;
        MPI_Win win = MPI_WIN_NULL;
        void *base;
        mt_section("%s=true and it is not so", keys[i]);
        int err = MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, &base, &win);
        if (strict()) {
            CHECK_ERR(err, MPI_ERR_INFO_VALUE);
        } else if (MT_OK(err)) {
            CHECK(strcmp(value_of(win, keys[i]), "true") != 0, "%s is reported as in use", keys[i]);
            CHECK_PUT_WORKS(win, mt_size - 1, 0, mt_rank);
            MT_OK(MPI_Win_free(&win));
        }
        MPI_Info_free(&info);
    }
}

/* MPI 4.1, 11.4.3: memory kinds that the window supports, and those asserted by the user, which has
 * no default; an assertion that is not understood is not reported. */
static void memory_kinds(void)
{
    struct mt_win w;
    MPI_Info info = info_of("mpi_assert_memory_alloc_kinds", "system,mpi");

    mt_section("mpi_assert_memory_alloc_kinds");
    if (mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD)) {
        const char *v = value_of(w.win, "mpi_assert_memory_alloc_kinds");
        CHECK(strcmp(v, NO_VALUE) == 0, "nothing was asserted, saw %s", v);
        mt_win_free(&w);
    }
    if (mt_win_make_info(&w, MT_ALLOCATE, 64, 1, info, MPI_COMM_WORLD)) {
        const char *v = value_of(w.win, "mpi_assert_memory_alloc_kinds");
        CHECK(same_words(v, "system,mpi"), "expected system,mpi, saw %s", v);
        v = value_of(w.win, "mpi_memory_alloc_kinds");
        CHECK(same_words(v, "system,mpi"), "supported: expected system,mpi, saw %s", v);
        mt_win_free(&w);
    }
    MPI_Info_free(&info);
}

static void alignment(void)
{
    static const char *const values[] = {"64", "4096", "65536"};

    for (int i = 0; i < 6; i++) {
        struct mt_win w;
        enum mt_kind kind = i < 3 ? MT_ALLOCATE : MT_ALLOCATE_SHARED;
        MPI_Info info = info_of("mpi_minimum_memory_alignment", values[i % 3]);
        uintptr_t want = (uintptr_t)atoi(values[i % 3]);
        mt_section("%s, mpi_minimum_memory_alignment=%s", mt_kind_name(kind), values[i % 3]);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        if (mt_win_make_info(&w, kind, 100, 1, info, MPI_COMM_WORLD)) {
            CHECK((uintptr_t)w.base % want == 0, "%p is not aligned to %zu", (void *)w.base,
                  (size_t)want);
            CHECK((uintptr_t)atoi(value_of(w.win, "mpi_minimum_memory_alignment")) >= want,
                  "reported: %s", value_of(w.win, "mpi_minimum_memory_alignment"));
            mt_win_free(&w);
        }
        MPI_Info_free(&info);
    }
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    defaults(MT_ALLOCATE);
    defaults(MT_ALLOCATE_SHARED);
    defaults(MT_CREATE_ALLOC_MEM);
    defaults(MT_DYNAMIC);
    for (int i = 0; i < HINTS; i++) {
        set_at_creation(i % 2 == 0 ? MT_ALLOCATE : MT_CREATE_ALLOC_MEM, &hints[i]);
    }
    set_at_creation(MT_ALLOCATE_SHARED, &(struct hint){"alloc_shared_noncontig", NULL, "true"});
    set_later();
    info_is_a_copy();
    memory_kinds();
    alignment();
    if (mt_host_only("values that are not understood, or differ between ranks")) {
        return MT_FINISH();
    }
    nonsense_values();
    if (mt_size > 1) {
        broken_promise();
        differing("same_size", "true", "false", "false");
        differing("same_disp_unit", "true", "false", "false");
        differing("mpi_accumulate_granularity", "8", "16", "0");
        differing("mpirma_notifications", "4", "8", "0");
        differing("no_locks", "true", "false", "false");
        differing("accumulate_ops", "same_op", "same_op_no_op", "same_op_no_op");
        differing("accumulate_ordering", "none", "rar,waw", "rar,waw");
        differing("which_accumulate_ops", "sum", "sum,max", "sum,max");
        differing_noncontig();
        differing_alloc_shm();
    }
    return MT_FINISH();
}
