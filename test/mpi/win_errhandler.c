/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_errhandler.c - error handlers of windows (MPI 4.1, 9.3.2).
 *
 * The default is MPI_ERRORS_ARE_FATAL. A user handler gets the right window and
 * an error code of the class that the call returns, once per error, whether the
 * library or MPI_Win_call_errhandler raises it; it lives on after it was freed, is
 * given back by MPI_Win_get_errhandler, belongs to its window alone, and errors
 * at creation go to the communicator's handler instead. A handle that is no error handler
 * is refused (MPI_ERR_ERRHANDLER since MPI 4.1), and the window keeps the one that it has.
 */
#include "mtest.h"

static struct {
    MPI_Win win;
    MPI_Comm comm;
    int code, calls;
} seen;

static void on_win_error(MPI_Win *win, int *code, ...)
{
    seen.win = *win;
    seen.code = *code;
    seen.calls++;
}

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    seen.comm = *comm;
    seen.code = *code;
    seen.calls++;
}

static void forget(void)
{
    seen.win = MPI_WIN_NULL;
    seen.comm = MPI_COMM_NULL;
    seen.code = MPI_SUCCESS;
    seen.calls = 0;
}

static void expect(MPI_Win win, int code, int errclass)
{
    int saw = MPI_SUCCESS;

    MPI_Error_class(seen.code, &saw);
    CHECK(seen.calls == 1, "calls of the handler: expected 1, saw %d", seen.calls);
    CHECK(seen.win == win, "the handler got another window");
    CHECK(saw == errclass, "the handler got %s, expected %s", mt_class_name(saw),
          mt_class_name(errclass));
    CHECK_ERR(code, errclass);
    forget();
}

static void default_is_fatal(void)
{
    void *base;
    MPI_Errhandler eh = MPI_ERRHANDLER_NULL;

    for (int i = 0; i < 4; i++) {
        MPI_Win win = MPI_WIN_NULL;
        mt_section("default handler, %d", i);
        if (i == 3 && mt_path_is("mapped")) {
            mt_skip("dynamic windows are not available on the mapped path");
            break;
        }
        if (i == 0) {
            MT_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        } else if (i == 1) {
            MT_OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        } else if (i == 2) {
            MT_OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &base));
            MT_OK(MPI_Win_create(base, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        } else {
            MT_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        }
        MT_OK(MPI_Win_get_errhandler(win, &eh));
        CHECK(eh == MPI_ERRORS_ARE_FATAL, "a new window must have MPI_ERRORS_ARE_FATAL");
        MT_OK(MPI_Win_free(&win));
        if (i == 2) {
            MT_OK(MPI_Free_mem(base));
        }
    }
}

/* An error of each family of calls reaches the handler. */
static void library_calls_it(struct mt_win *w)
{
    MPI_Win win = w->win;
    int x = 0, flag;
    MPI_Aint at = mt_disp(w, 0, 0);

    mt_section("%s, errors reach the handler", mt_kind_name(w->kind));
    forget();
    expect(win, MPI_Put(&x, 1, MPI_INT, 0, at, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    expect(win, MPI_Win_lock(4711, 0, 0, win), MPI_ERR_LOCKTYPE);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    expect(win, MPI_Put(&x, -1, MPI_INT, 0, at, 1, MPI_INT, win), MPI_ERR_COUNT);
    expect(win, MPI_Get(&x, 1, MPI_DATATYPE_NULL, 0, at, 1, MPI_INT, win), MPI_ERR_TYPE);
    expect(win, MPI_Fetch_and_op(&x, &x, MPI_INT, 0, at, MPI_OP_NULL, win), MPI_ERR_OP);
    expect(win, MPI_Put(&x, 1, MPI_INT, w->size, at, 1, MPI_INT, win), MPI_ERR_RANK);
    if (w->kind != MT_DYNAMIC) {
        expect(win, MPI_Put(&x, 1, MPI_INT, 0, 64, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
        expect(win, MPI_Win_attach(win, &x, 4), MPI_ERR_RMA_FLAVOR);
    }
    MT_OK(MPI_Win_unlock(0, win));
    CHECK(seen.calls == 0, "the handler was called %d times without an error", seen.calls);
}

static void user_handler(struct mt_win *w)
{
    MPI_Errhandler mine, got = MPI_ERRHANDLER_NULL;

    mt_section("%s, user handler", mt_kind_name(w->kind));
    MT_OK(MPI_Win_create_errhandler(on_win_error, &mine));
    MT_OK(MPI_Win_set_errhandler(w->win, mine));
    MT_OK(MPI_Win_get_errhandler(w->win, &got));
    CHECK(got == mine, "MPI_Win_get_errhandler gives another handler");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine); /* the window keeps it */
    forget();
    MT_OK(MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER));
    CHECK(seen.calls == 1 && seen.win == w->win && seen.code == MPI_ERR_OTHER, "%d calls, code %d",
          seen.calls, seen.code);
    library_calls_it(w);
    MT_OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    CHECK_ERR(MPI_Win_unlock(0, w->win), MPI_ERR_RMA_SYNC);
    CHECK(seen.calls == 0, "the old handler was called");
    CHECK_PUT_WORKS(w->win, 0, mt_disp(w, 0, 4 * w->rank), 17);
}

/* Two windows, two handlers' data: the right window arrives. */
static void each_window_its_own(void)
{
    struct mt_win a, b;
    MPI_Errhandler mine;

    mt_section("two windows");
    MT_OK(MPI_Win_create_errhandler(on_win_error, &mine));
    if (mt_win_make(&a, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD)) {
        if (mt_win_make(&b, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD)) {
            MT_OK(MPI_Win_set_errhandler(a.win, mine));
            MT_OK(MPI_Win_set_errhandler(b.win, mine));
            forget();
            expect(a.win, MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC);
            expect(b.win, MPI_Win_unlock(0, b.win), MPI_ERR_RMA_SYNC);
            MT_OK(MPI_Win_set_errhandler(a.win, MPI_ERRORS_RETURN));
            CHECK_ERR(MPI_Win_unlock(0, a.win), MPI_ERR_RMA_SYNC);
            CHECK(seen.calls == 0, "an error on one window called the other's handler");
            mt_win_free(&b);
        }
        mt_win_free(&a);
    }
    MPI_Errhandler_free(&mine);
}

/* The class that MPI 4.1 has for it, or that of hosts before. */
static bool is_errhandler_class(int errclass)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    if (errclass == MPI_ERR_ERRHANDLER)
        return true;
#endif
    return errclass == MPI_ERR_ARG;
}

/* The error is the host's: it goes to the window's handler or is returned only, and may be
 * MPI_SUCCESS where the handler of the program has been called. */
static void wrong_handler(void)
{
    struct mt_win w;
    MPI_Errhandler mine, got = MPI_ERRHANDLER_NULL;
    int saw = MPI_SUCCESS;

    mt_section("no error handler");
    if (!mt_win_make(&w, MT_ALLOCATE, 64, 1, MPI_COMM_WORLD))
        return;
    MT_OK(MPI_Win_create_errhandler(on_win_error, &mine));
    MT_OK(MPI_Win_set_errhandler(w.win, mine));
    forget();
    int code = MPI_Win_set_errhandler(w.win, MPI_ERRHANDLER_NULL);
    MPI_Error_class(seen.calls > 0 ? seen.code : code, &saw);
    CHECK(is_errhandler_class(saw), "%d calls of the handler, %s", seen.calls, mt_class_name(saw));
    MT_OK(MPI_Win_get_errhandler(w.win, &got));
    CHECK(got == mine, "the window has lost its handler");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    forget();
    expect(w.win, MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC);
    mt_win_free(&w);
}

static void creation_uses_the_communicator(void)
{
    MPI_Errhandler mine;
    MPI_Comm comm;
    MPI_Win win = MPI_WIN_NULL;
    void *base;

    mt_section("errors at creation");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(on_comm_error, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    forget();
    CHECK_ERR(MPI_Win_allocate(64, -1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_DISP);
    CHECK(seen.calls == 1 && seen.comm == comm, "the communicator's handler: %d calls", seen.calls);
    forget();
    MT_OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &win));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK(seen.calls == 0, "an error on the window called the communicator's handler");
    MT_OK(MPI_Win_free(&win));
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MT_INIT(argc, argv);
    default_is_fatal();
    MT_FOR_KINDS(kind)
    {
        struct mt_win w;
        if (mt_win_make(&w, kind, 64, 1, MPI_COMM_WORLD)) {
            user_handler(&w);
            mt_win_free(&w);
        }
    }
    each_window_its_own();
    wrong_handler();
    creation_uses_the_communicator();
    return MT_FINISH();
}
