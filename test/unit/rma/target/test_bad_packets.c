/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_bad_packets.c - a peer that sends nothing but bad packets: each is refused and counted, and
 * the first few are written at log level error, later ones at info, of whatever kind they are.
 */
#include "test/support/base_helper.h"
#include "test/support/pkt_craft.h"

#include "rma/path/stage.h"
#include "rma/target/target.h"
#include "rma/win/bad_packet.h"

enum { PROCS = 2, SIZE = 64, MANY = 40 };

static unsigned char area[PROCS][SIZE];
static struct log_pipe said; /* what process 1 logs */

static void destroy(struct fabric_proc *p, void *arg)
{
    (void)arg;
    fabric_win_free(win[p->rank]);
}

static void setup(int per_node)
{
    craft_setup(PROCS, per_node, (struct craft_window){area[0], SIZE, SIZE, 1});
    log_to_pipe(&said, LOG_LEVEL_INFO);
    fabric->procs[1].log = said.log;
}

static void teardown(void)
{
    fabric->procs[1].log.fd = -1;
    log_pipe_close(&said);
    craft_teardown(destroy);
}

/* Lines with this text that process 1 has written at a level; the text may be anywhere. */
static int lines_with(const char *all, const char *level, const char *text)
{
    int n = 0;
    for (const char *line = all, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *at = strstr(line, level);
        const char *what = strstr(line, text);
        n += at && at < end && what && what < end;
    }
    return n;
}

/* Process 1 refuses MANY; text is in each of their lines. */
static void many(void (*bad)(void *arg), void *arg, const char *text)
{
    static char all[1 << 15];
    struct rma *r = &fabric->procs[1].rma;
    const uint64_t before = r->stats.refused;
    r->bad_packets = 0;
    (void)log_text(&said, all, sizeof all);
    for (int i = 0; i < MANY; i++)
        bad(arg);
    assert_int_equal(r->stats.refused, before + MANY);
    (void)log_text(&said, all, sizeof all);
    assert_int_equal(lines_with(all, "error: ", text), BAD_PACKETS_WRITTEN);
    assert_int_equal(lines_with(all, "info: ", text), MANY - BAD_PACKETS_WRITTEN);
    assert_int_equal(lines_with(all, "", ""), MANY);
}

static void send_it(void *arg)
{
    craft_send(fabric, 0, 1, arg);
}

static void test_packets(void **state)
{
    static const struct {
        enum pkt_type type;
        uint8_t flags;
        uint32_t count;
        const char *text;
    } kinds[] = {{PKT_OPS, PKT_F_COMPLETE, 0, "packet of rank 0 refused"},
                 {PKT_POST, PKT_F_FLUSH, 0, "wrong epoch or flags"},
                 {PKT_POST, 0, 0, "post number 77"},
                 {PKT_ACK, 0, 0, "acknowledgement number 77"},
                 {PKT_SYNC, 0, 0, "barrier packet number 77"},
                 {PKT_COUNTS, 0, 0, "counts of fence number 77"},
                 {PKT_REPLY, 0, 1, "reply refused: part 0 of 1"}};
    const struct pkt_part part = {.request = 5, .len = 8};
    struct craft c;
    (void)state;
    setup(0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        craft_begin(&c, kinds[i].type, win[1], 0);
        craft_hdr(&c)->flags = kinds[i].flags;
        craft_hdr(&c)->count = kinds[i].count;
        craft_hdr(&c)->seq = 77;
        many(send_it, &c, kinds[i].text);
    }
    craft_begin(&c, PKT_ACK, win[1], 0);
    craft_hdr(&c)->win = 1000;
    many(send_it, &c, "no such window");
    craft_begin(&c, PKT_REPLY, win[1], 0);
    craft_append(&c, &part, sizeof part);
    craft_append(&c, "12345678", 8);
    craft_hdr(&c)->count = 1;
    many(send_it, &c, "reply refused: request 5");
    teardown();
}

static void unlock(void *arg)
{
    lock_queue_release(arg);
}

static void test_unlock(void **state)
{
    static const struct pkt_op put = {.kind = PKT_OP_PUT, .nseg = 1, .data_len = 8};
    static const struct pkt_seg seg = {.disp = 8, .len = 8};
    struct craft c;
    (void)state;
    setup(0);
    craft_begin(&c, PKT_OPS, win[1], 0);
    craft_record(&c, &put, &seg, 1, "12345678", 8);
    craft_send(fabric, 0, 1, &c); /* process 1 knows process 0 as an origin from now on */
    many(unlock, win_peek(win[1], 0)->from, "unlock without lock of rank 0");
    teardown();
}

static void apply_stage(void *arg)
{
    stage_apply(win[1], arg);
}

/* A staged put that reaches behind the window of process 1. */
static void test_stage(void **state)
{
    enum { LEN_BITS = 16 };
    const uint64_t word = (SIZE - 7) << LEN_BITS | 8;
    (void)state;
    setup(PROCS);
    struct rma_target *t = win_peek(win[1], 0);
    const struct stage_row *row = &t->stage.in;
    assert_true(row->bytes > sizeof(struct win_stage));
    struct win_stage *st = (void *)((char *)row->first + t->exposures % STAGE_DEPTH * row->bytes);
    st->used = 16;
    memcpy(st->room, &word, sizeof word);
    atomic_store(&st->seq, t->exposures);
    many(apply_stage, t, "staged put of rank 0");
    st->used = 0;
    teardown();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_unlock),
        cmocka_unit_test(test_stage),
    };
    pkt_types_init();
    return cmocka_run_group_tests_name("bad packets", tests, NULL, NULL);
}
