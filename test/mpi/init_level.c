/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init_level.c - windows after MPI_Init and after MPI_Init_thread of every level,
 * and two libraries in one application, each with windows of its own.
 *
 * init_level [init|single|funneled|serialized|multiple]: the level asked for. The
 * level that the host gives must not change by our presence: it is what
 * MPI_Query_thread says, and MPI_Is_thread_main holds for the main thread.
 */
#include "mtcomm.h"

/* A library in the sense of the standard's advice: own communicator, own windows, own attributes;
 * it sets itself up at its first call and cleans up from a delete callback of MPI_COMM_SELF. */
struct library {
    const char *name;
    MPI_Comm comm;
    struct mt_win w[MT_KINDS];
    bool have[MT_KINDS];
    int keyval;
    int cleaned;
};

static int clean_up(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    struct library *lib = attribute;

    (void)comm, (void)keyval, (void)extra;
    MT_FOR_KINDS(kind)
    {
        if (lib->have[kind]) {
            mt_win_free(&lib->w[kind]);
        }
    }
    MT_OK(MPI_Comm_free(&lib->comm));
    lib->cleaned++;
    return MPI_SUCCESS;
}

static void library_init(struct library *lib, const char *name)
{
    int ready = 0;

    MT_OK(MPI_Initialized(&ready));
    CHECK(ready, "MPI is initialized");
    *lib = (struct library){.name = name};
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &lib->comm));
    MPI_Comm_set_errhandler(lib->comm, MPI_ERRORS_RETURN);
    MT_FOR_KINDS(kind)
    {
        lib->have[kind] = mt_win_make(&lib->w[kind], kind, mt_size * 8, 1, lib->comm);
        if (lib->have[kind]) {
            MT_OK(MPI_Win_set_name(lib->w[kind].win, name));
            mt_sync(&lib->w[kind]);
        }
    }
    MT_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, clean_up, &lib->keyval, NULL));
    MT_OK(MPI_Comm_set_attr(MPI_COMM_SELF, lib->keyval, lib));
    MT_OK(MPI_Comm_free_keyval(&lib->keyval));
}

static void library_begin(struct library *lib, int64_t *values)
{
    MT_FOR_KINDS(kind)
    {
        if (lib->have[kind]) {
            struct mt_win *w = &lib->w[kind];
            int right = (w->rank + 1) % w->size;
            MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win));
            MT_OK(MPI_Put(&values[kind], 1, MPI_INT64_T, right, mt_disp(w, right, w->rank * 8), 1,
                          MPI_INT64_T, w->win));
        }
    }
}

static void library_end(struct library *lib, int64_t base)
{
    MT_FOR_KINDS(kind)
    {
        if (lib->have[kind]) {
            struct mt_win *w = &lib->w[kind];
            int right = (w->rank + 1) % w->size, left = (w->rank - 1 + w->size) % w->size;
            char name[MPI_MAX_OBJECT_NAME] = "";
            int64_t v;
            int len = 0;
            MT_OK(MPI_Win_unlock(right, w->win));
            mt_sync(w);
            memcpy(&v, w->base + left * 8, sizeof v);
            CHECK(v == base + left * 10 + (int)kind, "%s, %s: %ld", lib->name, mt_kind_name(kind),
                  (long)v);
            MT_OK(MPI_Win_get_name(w->win, name, &len));
            CHECK(strcmp(name, lib->name) == 0, "the window is named %s, not %s", name, lib->name);
            mt_sync(w);
        }
    }
}

/* The two libraries' epochs overlap in time, each unaware of the other. */
static void two_libraries(struct library *a, struct library *b)
{
    int64_t va[MT_KINDS], vb[MT_KINDS];

    mt_section("two libraries");
    library_init(a, "first library");
    library_init(b, "second library");
    for (int round = 0; round < 5; round++) {
        MT_FOR_KINDS(kind)
        {
            va[kind] = round * 1000 + mt_rank * 10 + (int)kind;
            vb[kind] = va[kind] + 1000000;
        }
        library_begin(a, va);
        library_begin(b, vb);
        library_end(a, round * 1000);
        library_end(b, round * 1000 + 1000000);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"init", MPI_THREAD_SINGLE},
                  {"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    static struct library a, b;
    const char *asked = argc > 1 ? argv[1] : "init";
    int i = 0, got = -1, seen = -2, main_thread = 0;

    while (i < 4 && strcmp(asked, levels[i].name) != 0) {
        i++;
    }
    if (i == 0) {
        MT_INIT(argc, argv);
    } else {
        got = MT_INIT_THREAD(argc, argv, levels[i].level);
    }
    mt_section("level %s", levels[i].name);
    CHECK(strcmp(asked, levels[i].name) == 0,
          "level %s, expected init, single, funneled, serialized or multiple", asked);
    MT_OK(MPI_Query_thread(&seen));
    if (i > 0 && levels[i].level > MPI_THREAD_SINGLE) {
        CHECK(seen == got, "MPI_Init_thread gave %d, MPI_Query_thread %d", got, seen);
    }
    two_libraries(&a, &b);
    int level_after = -1;
    MT_OK(MPI_Query_thread(&level_after));
    MT_OK(MPI_Is_thread_main(&main_thread));
    CHECK(level_after == seen && main_thread, "level %d became %d, main thread %d", seen,
          level_after, main_thread);
    int failed =
        MT_FINISH(); /* MPI_Finalize deletes the attributes of MPI_COMM_SELF first (11.10.4) */
    if (a.cleaned != 1 || b.cleaned != 1 || mt_failures() > 0) {
        fprintf(stderr,
                "init_level: rank %d: clean-up at MPI_Finalize ran %d and %d times, %d failures\n",
                mt_rank, a.cleaned, b.cleaned, mt_failures());
        failed = 1;
    }
    return failed;
}
