/*
 * test_progress.c - rma/progress.c: who takes in what has come does not wait for what comes later.
 */
#include "base_helper.h"

#include "base/err.h"
#include "engine_env.h"
#include "rma/progress.h"
#include "../sim/channel_stub.h"

/* Always something to deliver, from somebody who never stops. */
static unsigned deliver_one(struct ch3_channel *ch)
{
    (void)ch;
    return 1;
}

static bool more(struct ch3_channel *ch)
{
    (void)ch;
    return true;
}

static const struct ch3_channel_ops endless = {
    .name = "endless", .poll = deliver_one, .pending = more, .disconnect = stub_disconnect};

static void a_drain_ends(void **state)
{
    static const struct conf conf;
    struct ch3_channel channel = {.ops = &endless};
    struct engine *e;
    struct log quiet;
    (void)state;
    log_init(&quiet, LOG_LEVEL_ERROR, -1, "progress");
    assert_int_equal(engine_create(&conf, &quiet, false, 0, &e), MRMA_SUCCESS);
    rma_drain(&e->rma);
    ch3_add_channel(&e->ch3, &channel);
    alarm(20);
    rma_drain(&e->rma);
    alarm(0);
    engine_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_drain_ends)};
    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
