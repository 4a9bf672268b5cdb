/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_attr.c - what a window carries: attributes, names, group, Fortran handle.
 *
 * The five predefined attributes on every flavour (MPI 4.1, 12.2.6), user
 * attributes with their delete callbacks (7.7.3; nothing copies a window, so copy
 * callbacks are only registered), called at MPI_Win_free before the window goes,
 * names, the group, c2f/f2c.
 */
#include "mtest.h"

enum { MAX_CALLS = 16 };
static struct {
    MPI_Win win;
    int keyval;
    void *value, *extra;
} calls[MAX_CALLS];
static int ncalls;
static int delete_result = MPI_SUCCESS;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    if (delete_result != MPI_SUCCESS) {
        return delete_result;
    }
    if (ncalls < MAX_CALLS) {
        calls[ncalls].win = win;
        calls[ncalls].keyval = keyval;
        calls[ncalls].value = value;
        calls[ncalls].extra = extra;
    }
    ncalls++;
    return MPI_SUCCESS;
}

static void *attr(MPI_Win win, int keyval)
{
    void *value = NULL;
    int flag = 0;

    MT_OK(MPI_Win_get_attr(win, keyval, &value, &flag));
    return CHECK(flag, "attribute %d must be there", keyval) ? value : NULL;
}

static void predefined(struct mt_win *w)
{
    static const int flavor[MT_KINDS] = {
        [MT_CREATE_MALLOC] = MPI_WIN_FLAVOR_CREATE,   [MT_CREATE_ALLOC_MEM] = MPI_WIN_FLAVOR_CREATE,
        [MT_CREATE_ODD] = MPI_WIN_FLAVOR_CREATE,      [MT_ALLOCATE] = MPI_WIN_FLAVOR_ALLOCATE,
        [MT_ALLOCATE_SHARED] = MPI_WIN_FLAVOR_SHARED, [MT_DYNAMIC] = MPI_WIN_FLAVOR_DYNAMIC,
    };
    MPI_Aint *size = attr(w->win, MPI_WIN_SIZE);
    int *unit = attr(w->win, MPI_WIN_DISP_UNIT);
    int *fl = attr(w->win, MPI_WIN_CREATE_FLAVOR);
    int *model = attr(w->win, MPI_WIN_MODEL);
    void *base = NULL;
    int flag = 0;

    MT_OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag, "MPI_WIN_BASE must be there");
    if (w->kind == MT_DYNAMIC) {
        CHECK(base == MPI_BOTTOM, "dynamic: MPI_WIN_BASE expected MPI_BOTTOM, saw %p", base);
    } else if (w->bytes > 0) {
        CHECK(base == w->base, "MPI_WIN_BASE expected %p, saw %p", (void *)w->base, base);
    }
    if (size != NULL && unit != NULL && fl != NULL && model != NULL) {
        MPI_Aint expected = w->kind == MT_DYNAMIC ? 0 : w->bytes;
        CHECK(*size == expected, "MPI_WIN_SIZE expected %ld, saw %ld", (long)expected, (long)*size);
        CHECK(*unit == w->disp_unit, "MPI_WIN_DISP_UNIT expected %d, saw %d", w->disp_unit, *unit);
        CHECK(*fl == flavor[w->kind], "flavor expected %d, saw %d", flavor[w->kind], *fl);
        CHECK(*model == MPI_WIN_UNIFIED, "model expected MPI_WIN_UNIFIED, saw %d", *model);
    }
}

static void predefined_cannot_be_changed(MPI_Win win)
{
    static const int keys[] = {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR,
                               MPI_WIN_MODEL};
    MPI_Aint other = 77;

    mt_win_errors_return(win);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int key = keys[i];
        CHECK(MPI_Win_set_attr(win, key, &other) != MPI_SUCCESS, "predefined attribute %d was set",
              key);
        CHECK(MPI_Win_delete_attr(win, key) != MPI_SUCCESS, "predefined attribute %d was deleted",
              key);
        CHECK(MPI_Win_free_keyval(&key) != MPI_SUCCESS, "predefined keyval %d was freed", keys[i]);
    }
}

static void names(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME + 1], longest[MPI_MAX_OBJECT_NAME];
    int len = -1;

    MT_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 0 && name[0] == '\0', "a new window has no name, saw \"%s\"", name);
    MT_OK(MPI_Win_set_name(win, "halo rows"));
    MT_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 9 && strcmp(name, "halo rows") == 0, "expected \"halo rows\", saw \"%s\" (%d)",
          name, len);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    MT_OK(MPI_Win_set_name(win, longest));
    MT_OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == MPI_MAX_OBJECT_NAME - 1 && strcmp(name, longest) == 0, "the longest name: %d",
          len);
}

/* The standard ABI has numbers for handles in place of Fortran's. */
#ifdef HOST_ABI
typedef int MPI_Fint;
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint
#endif

static void fortran_handle(struct mt_win *w)
{
    MPI_Fint f = MPI_Win_c2f(w->win);
    MPI_Win back = MPI_Win_f2c(f);

    CHECK(back == w->win, "f2c(c2f(win)) is another window");
    CHECK_PUT_WORKS(back, w->rank, mt_disp(w, w->rank, 0), 4321);
    f = MPI_Win_c2f(MPI_WIN_NULL);
    back = MPI_Win_f2c(f);
    CHECK(back == MPI_WIN_NULL, "MPI_WIN_NULL through Fortran");
}

static void group_of(MPI_Win win)
{
    MPI_Group g, world;
    int same = -1;

    MT_OK(MPI_Win_get_group(win, &g));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(g, world, &same);
    CHECK(same == MPI_IDENT, "the group differs: %d", same);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
}

static void user_attributes(MPI_Win win)
{
    int key = MPI_KEYVAL_INVALID, a = 1, b = 2, flag = -1;
    void *got = NULL;

    ncalls = 0;
    MT_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &a));
    MT_OK(MPI_Win_get_attr(win, key, &got, &flag));
    CHECK(!flag, "an attribute that was never set");
    MT_OK(MPI_Win_set_attr(win, key, &a));
    CHECK(attr(win, key) == &a, "the value that was set");
    MT_OK(MPI_Win_set_attr(win, key, &b)); /* calls delete with the old value */
    CHECK(ncalls == 1 && calls[0].value == &a, "set over an old value: %d calls", ncalls);
    MT_OK(MPI_Win_delete_attr(win, key));
    CHECK(ncalls == 2 && calls[1].value == &b && calls[1].win == win && calls[1].extra == &a &&
              calls[1].keyval == key,
          "delete: %d calls with the wrong arguments", ncalls);
    MT_OK(MPI_Win_get_attr(win, key, &got, &flag));
    CHECK(!flag, "the attribute is still there after delete");
    MT_OK(MPI_Win_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID, "keyval after free: %d", key);
}

/* The keyvals are freed first: attributes live on. MPI_Win_free calls each callback once, in any
 * order, with the handle that the user knows. */
static void callbacks_at_free(struct mt_win *w)
{
    int key[4], value[4];
    MPI_Win win = w->win;

    for (int i = 0; i < 4; i++) {
        MT_OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, on_delete, &key[i], &value[i]));
    }
    for (int i = 0; i < 4; i++) {
        value[i] = key[i];
        MT_OK(MPI_Win_set_attr(win, key[i], &value[i]));
    }
    for (int i = 0; i < 4; i++) {
        MT_OK(MPI_Win_free_keyval(&key[i]));
    }
    CHECK_PUT_WORKS(win, w->rank, mt_disp(w, w->rank, 0), 99);
    ncalls = 0;
    mt_win_free(w);
    CHECK(ncalls == 4, "delete callbacks at MPI_Win_free: expected 4, saw %d", ncalls);
    for (int i = 0; i < 4 && ncalls == 4; i++) {
        int times = 0;
        for (int k = 0; k < 4; k++) {
            times += calls[k].keyval == value[i] && calls[k].value == &value[i];
        }
        CHECK(times == 1, "keyval %d: expected 1 callback, saw %d", value[i], times);
        CHECK(calls[i].win == win, "callback %d got another window", i);
    }
}

/* A delete callback that fails keeps attribute and window (MPI 4.1, 7.7.3). */
static void failing_delete(struct mt_win *w)
{
    int key, value = 5;

    MT_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL));
    MT_OK(MPI_Win_set_attr(w->win, key, &value));
    delete_result = MPI_ERR_OTHER;
    CHECK(MPI_Win_delete_attr(w->win, key) != MPI_SUCCESS, "the callback refused");
    CHECK(attr(w->win, key) == &value, "a refused delete must leave the attribute");
    delete_result = MPI_SUCCESS;
    MT_OK(MPI_Win_delete_attr(w->win, key));
    MT_OK(MPI_Win_free_keyval(&key));
}

/* The window's memory and handle are still whole while MPI_Win_free calls the callbacks. */
static struct mt_win *freeing;
static int on_delete_looks(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)extra;
    int *size_is_there = value;
    MPI_Aint *size = NULL;
    int flag = 0;

    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    *size_is_there =
        flag && size != NULL && *size == (freeing->kind == MT_DYNAMIC ? 0 : freeing->bytes);
    return MPI_SUCCESS;
}

static void callback_sees_window(enum mt_kind kind)
{
    struct mt_win w;
    int key, seen = 0;

    mt_section("%s, callback looks at the window", mt_kind_name(kind));
    if (!mt_win_make(&w, kind, 32, 4, MPI_COMM_WORLD)) {
        return;
    }
    freeing = &w;
    MT_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete_looks, &key, NULL));
    MT_OK(MPI_Win_set_attr(w.win, key, &seen));
    MT_OK(MPI_Win_free_keyval(&key));
    mt_win_free(&w);
    CHECK(seen, "MPI_WIN_SIZE was gone or wrong inside the delete callback");
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        mt_section("%s", mt_kind_name(kind));
        if (!mt_win_make(&w, kind, 8 * (mt_rank + 1), 1 + mt_rank % 2, MPI_COMM_WORLD)) {
            continue;
        }
        predefined(&w);
        predefined_cannot_be_changed(w.win);
        predefined(&w);
        names(w.win);
        fortran_handle(&w);
        group_of(w.win);
        user_attributes(w.win);
        failing_delete(&w);
        callbacks_at_free(&w);
    }
    callback_sees_window(MT_ALLOCATE);
    callback_sees_window(MT_CREATE_ALLOC_MEM);
    return MT_FINISH();
}
