/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_environment.c - sys/environment: variables come and go, what was there stays, and threads
 * that read the environment meanwhile find all that does not change.
 */
#define _GNU_SOURCE 1
#include "test/support/base_helper.h"

#include <pthread.h>
#include <unistd.h>

#include "sys/environment.h"

enum { READERS = 3, ROUNDS = 20000, FILLERS = 64 };

static const char *const both[] = {"ENVIRONMENT_FIRST=1", "ENVIRONMENT_SECOND=two"};

/* Changes that are not restored, which are part of the environment to the end. */
static struct environment lasting[2];

static void add(struct environment *e)
{
    *e = (struct environment){0};
    assert_true(environment_add(e, both, 2));
}

static void come_and_go(void **state)
{
    (void)state;
    char **const before = environ;
    struct environment e;
    add(&e);
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "1");
    assert_string_equal(getenv("ENVIRONMENT_SECOND"), "two");
    environment_restore(&e);
    assert_null(getenv("ENVIRONMENT_FIRST"));
    assert_null(getenv("ENVIRONMENT_SECOND"));
    assert_ptr_equal(environ, before);
    environment_free(&e);
}

static void what_is_there_stays(void **state)
{
    (void)state;
    struct environment e;
    setenv("ENVIRONMENT_FIRST", "mine", 1);
    setenv("ENVIRONMENT_SECOND_AND_MORE", "another", 1);
    add(&e);
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "mine");
    assert_string_equal(getenv("ENVIRONMENT_SECOND"), "two");
    environment_restore(&e);
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "mine");
    assert_null(getenv("ENVIRONMENT_SECOND"));
    environment_free(&e);

    setenv("ENVIRONMENT_SECOND", "", 1); /* set, though to nothing */
    char **const before = environ;
    add(&e);
    assert_ptr_equal(environ, before);
    environment_restore(&e);
    environment_free(&e);
    unsetenv("ENVIRONMENT_FIRST");
    unsetenv("ENVIRONMENT_SECOND");
    unsetenv("ENVIRONMENT_SECOND_AND_MORE");
}

static void no_environment(void **state)
{
    (void)state;
    char **const before = environ;
    environ = NULL;
    struct environment e;
    add(&e);
    assert_string_equal(getenv("ENVIRONMENT_SECOND"), "two");
    environment_restore(&e);
    assert_null(environ);
    environment_free(&e);
    environ = before;
}

/* The program sets a variable of its own between: it is kept, and so are those added. */
static void the_program_sets_one(void **state)
{
    (void)state;
    add(&lasting[0]);
    setenv("ENVIRONMENT_OWN", "kept", 1);
    environment_restore(&lasting[0]);
    environment_free(&lasting[0]);
    assert_string_equal(getenv("ENVIRONMENT_OWN"), "kept");
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "1");
    unsetenv("ENVIRONMENT_OWN");
    unsetenv("ENVIRONMENT_FIRST");
    unsetenv("ENVIRONMENT_SECOND");
}

static void two_changes(void **state)
{
    (void)state;
    static const char *const other[] = {"ENVIRONMENT_OTHER=3"};
    struct environment *const first = &lasting[1], second = {0};
    add(first);
    assert_true(environment_add(&second, other, 1));
    environment_restore(first); /* is what the second was copied from */
    environment_free(first);
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "1");
    assert_string_equal(getenv("ENVIRONMENT_OTHER"), "3");
    environment_restore(&second);
    environment_free(&second);
    assert_string_equal(getenv("ENVIRONMENT_FIRST"), "1");
    assert_null(getenv("ENVIRONMENT_OTHER"));
    unsetenv("ENVIRONMENT_FIRST");
    unsetenv("ENVIRONMENT_SECOND");
}

static _Atomic bool ended;
static _Atomic unsigned reading;

static void *read_on(void *missed)
{
    reading++;
    while (!ended) {
        const char *last = getenv("ENVIRONMENT_LAST");
        if (!last || strcmp(last, "here") != 0)
            *(bool *)missed = true;
    }
    return NULL;
}

/* The readers may be in any of these, so all are kept until they have ended. */
static void threads_read_meanwhile(void **state)
{
    (void)state;
    static struct environment changes[ROUNDS];
    bool missed[READERS] = {false};
    pthread_t readers[READERS];
    char name[32];
    for (int i = 0; i < FILLERS; i++) {
        snprintf(name, sizeof name, "ENVIRONMENT_FILLER_%d", i);
        setenv(name, "x", 1);
    }
    setenv("ENVIRONMENT_LAST", "here", 1);
    ended = false;
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &missed[i]), 0);
    while (reading < READERS)
        usleep(100);
    for (int i = 0; i < ROUNDS; i++) {
        add(&changes[i]);
        environment_restore(&changes[i]);
        assert_true(changes[i].restored);
    }
    ended = true;
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        assert_false(missed[i]);
    }
    for (int i = 0; i < ROUNDS; i++)
        environment_free(&changes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_and_go),    cmocka_unit_test(what_is_there_stays),
        cmocka_unit_test(no_environment), cmocka_unit_test(the_program_sets_one),
        cmocka_unit_test(two_changes),    cmocka_unit_test(threads_read_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
