/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_epoch.c - the epoch table, every state and event, written down here a
 * second time from MPI 4.1, 12.5 and not from the code.
 */
#include "base/err.h"
#include "test/support/base_helper.h"
#include "rma/win/epoch.h"

/* Expected next state as a letter; '-' refused. */
static const char letters[EPOCH_STATES] = {
    [EPOCH_NONE] = 'n', [EPOCH_FENCE] = 'f', [EPOCH_FENCE_USED] = 'u',
    [EPOCH_PSCW] = 'p', [EPOCH_LOCK] = 'l',  [EPOCH_LOCK_ALL] = 'a',
};

static const struct {
    enum epoch_event event;
    const char *name;
    char to[EPOCH_STATES + 1]; /* from n f u p l a */
} expected[EPOCH_EVENTS] = {
    /* A fence ends a fence epoch and starts the next; it may not cut into others. */
    {EPOCH_EV_FENCE, "fence", "fff---"},
    {EPOCH_EV_FENCE_LAST, "fence with NOSUCCEED", "nnn---"},
    /* Operations need an access epoch. */
    {EPOCH_EV_OP, "operation", "-uupla"},
    /* An access epoch may follow a fence whose epoch was not used. */
    {EPOCH_EV_START, "start", "pp----"},
    {EPOCH_EV_COMPLETE, "complete", "---n--"},
    /* Several targets may be locked at once. */
    {EPOCH_EV_LOCK, "lock", "ll--l-"},
    {EPOCH_EV_UNLOCK_LAST, "last unlock", "----n-"},
    {EPOCH_EV_LOCK_ALL, "lock_all", "aa----"},
    {EPOCH_EV_UNLOCK_ALL, "unlock_all", "-----n"},
    {EPOCH_EV_FREE, "free", "nn----"},
};

static char expect(enum epoch_state from, enum epoch_event ev, bool exposed)
{
    const char to = expected[ev].to[from];
    /* An exposure epoch must be waited for before a fence or the end. */
    if (exposed && (ev == EPOCH_EV_FENCE || ev == EPOCH_EV_FENCE_LAST || ev == EPOCH_EV_FREE))
        return '-';
    return to;
}

static void one_case(enum epoch_state from, enum epoch_event ev, bool exposed)
{
    struct epoch ep = {.state = from, .exposed = exposed};
    const char to = expect(from, ev, exposed);
    const bool allowed = epoch_allows(&ep, ev);
    if (allowed != (to != '-'))
        fail_msg("%s in state %c (exposed %d): allowed %d", expected[ev].name, letters[from],
                 exposed, allowed);
    assert_int_equal(ep.state, from);
    const int err = epoch_event(&ep, ev);
    assert_int_equal(err, to == '-' ? MRMA_ERR_RMA_SYNC : MRMA_SUCCESS);
    if (letters[ep.state] != (to == '-' ? letters[from] : to))
        fail_msg("%s in state %c: went to %c, not %c", expected[ev].name, letters[from],
                 letters[ep.state], to);
    assert_int_equal(ep.exposed, exposed);
}

static void test_whole_table(void **state)
{
    (void)state;
    for (int ev = 0; ev < EPOCH_EVENTS; ev++) {
        assert_int_equal(expected[ev].event, ev);
        for (int from = 0; from < EPOCH_STATES; from++)
            for (int exposed = 0; exposed < 2; exposed++)
                one_case((enum epoch_state)from, (enum epoch_event)ev, exposed);
    }
}

static void walk(struct epoch *ep, const enum epoch_event *events, size_t n, const char *states)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(epoch_event(ep, events[i]), MRMA_SUCCESS);
        assert_int_equal(letters[ep->state], states[i]);
    }
}

/* Other epochs behind a fence that was not used: the fence's does not go on, another fence begins
 * one. */
static void test_mixing(void **state)
{
    struct epoch ep = {.state = EPOCH_NONE};
    const enum epoch_event events[] = {EPOCH_EV_FENCE,       EPOCH_EV_LOCK,     EPOCH_EV_LOCK,
                                       EPOCH_EV_UNLOCK_LAST, EPOCH_EV_LOCK_ALL, EPOCH_EV_UNLOCK_ALL,
                                       EPOCH_EV_START,       EPOCH_EV_OP,       EPOCH_EV_COMPLETE,
                                       EPOCH_EV_FENCE,       EPOCH_EV_OP,       EPOCH_EV_FENCE_LAST,
                                       EPOCH_EV_START,       EPOCH_EV_COMPLETE, EPOCH_EV_FREE};
    (void)state;
    walk(&ep, events, sizeof events / sizeof events[0], "fllnanppnfunpnn");
    assert_int_equal(epoch_event(&ep, EPOCH_EV_FENCE), MRMA_SUCCESS);
    assert_int_equal(epoch_event(&ep, EPOCH_EV_LOCK), MRMA_SUCCESS);
    assert_int_equal(epoch_event(&ep, EPOCH_EV_UNLOCK_LAST), MRMA_SUCCESS);
    assert_int_equal(epoch_event(&ep, EPOCH_EV_OP), MRMA_ERR_RMA_SYNC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_table),
                                       cmocka_unit_test(test_mixing)};
    return cmocka_run_group_tests_name("epoch", tests, NULL, NULL);
}
