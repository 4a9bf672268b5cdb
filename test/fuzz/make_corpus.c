/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_corpus.c - writes the first inputs of fuzz_dispatch into the directory that is
 * its argument: every packet type, well formed, in every epoch, and the packets that
 * answer what the process under test has called (script.h has the bytes' meaning).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ch3/pkt.h"
#include "acc/acc.h"
#include "rma/rma.h"
#include "script.h"

struct seed {
    uint8_t bytes[2048];
    size_t len;
};

static const char *directory;

static void put(struct seed *s, uint64_t v, unsigned bytes)
{
    for (; bytes; bytes--, v >>= 8)
        s->bytes[s->len++] = (uint8_t)v;
}

/* Values of one byte each. */
#define BYTES(s, ...)                                              \
    do {                                                           \
        const unsigned each[] = {__VA_ARGS__};                     \
        for (size_t i_ = 0; i_ < sizeof each / sizeof *each; i_++) \
            put(s, each[i_], 1);                                   \
    } while (0)

static void call(struct seed *s, enum fuzz_call what, unsigned rank, unsigned how, unsigned n)
{
    BYTES(s, FUZZ_CALL, what, rank, how);
    put(s, n, 2);
}

/* at: bit 0 the sender, bit 1 the window. */
static void framed(struct seed *s, unsigned at, unsigned type, unsigned epoch, unsigned flags,
                   unsigned seq, unsigned count, unsigned body)
{
    BYTES(s, FUZZ_FRAMED, at, type, epoch, flags, seq, count);
    put(s, 0, 4);
    put(s, 0, 8);
    put(s, body, 2);
    for (unsigned i = 0; i < body; i++)
        put(s, i, 1);
}

/* As fuzz_dispatch.c reads it: the sum is the request's number. */
static unsigned request(unsigned before, unsigned number)
{
    return number << 4 | before;
}

/* A packet with parts of the answers to the first two requests. */
static void two_parts(struct seed *s, unsigned at, unsigned flags, unsigned seq, unsigned first,
                      unsigned second)
{
    const unsigned len[] = {first, second};
    BYTES(s, FUZZ_FRAMED, at, PKT_REPLY, 0, flags, seq, 0);
    put(s, 2, 4);
    put(s, 0, 8);
    put(s, (unsigned)(2 * sizeof(struct pkt_part) + pkt_align(first) + pkt_align(second)), 2);
    for (unsigned i = 0; i < 2; i++) {
        put(s, 1 + i, 4);
        put(s, len[i], 4);
        put(s, 0, 8);
        for (unsigned k = 0; k < pkt_align(len[i]); k++)
            put(s, k, 1);
    }
}

/* A packet of operations, n records to come. */
static void ops(struct seed *s, unsigned at, unsigned epoch, unsigned flags, unsigned seq,
                unsigned total, unsigned n)
{
    BYTES(s, FUZZ_RECORDS, at, epoch, flags, seq);
    put(s, total, 4);
    BYTES(s, 1, n);
}

static void record(struct seed *s, unsigned kind, unsigned op, unsigned type, unsigned nseg,
                   unsigned len)
{
    BYTES(s, kind, op, type, nseg, 1);
    for (unsigned i = 0; i < nseg; i++) {
        put(s, 16 * i, 2);
        put(s, len, 2);
    }
}

/* Number id: n blocks of len bytes, stride apart. */
static void definition(struct seed *s, unsigned id, unsigned len, unsigned stride, unsigned n)
{
    BYTES(s, PKT_OP_TYPE, 0, 0, 1, id);
    put(s, stride * n, 2);
    put(s, 0, 2);
    put(s, len, 2);
    put(s, stride, 2);
    put(s, n, 1);
}

static void typed(struct seed *s, unsigned kind, unsigned op, unsigned type, unsigned id,
                  unsigned pos, unsigned count, unsigned len)
{
    BYTES(s, kind, op, type, 8, 1, id);
    put(s, pos, 2);
    put(s, 0, 2);
    put(s, count, 1);
    put(s, len, 2);
}

static void plain_put(struct seed *s, unsigned disp, unsigned len)
{
    BYTES(s, PKT_OP_PLAIN, 0, 0, 16, 0);
    put(s, len, 2);
    put(s, disp, 2);
}

/* One record of every kind: 8 + 16 + 8 + 8 + 8 + 13 bytes are named. */
enum { ALL_KINDS = 6, NAMED = 61 };

static void all_kinds(struct seed *s)
{
    record(s, PKT_OP_PUT, 0, 0, 1, 8);
    record(s, PKT_OP_GET, 0, 0, 2, 8);
    record(s, PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 8);
    record(s, PKT_OP_GET_ACC, ACC_NO_OP, ACC_F64, 1, 8);
    record(s, PKT_OP_CAS, 0, ACC_U64, 1, 8);
    plain_put(s, 40, 13);
}

static void save(const struct seed *s, const char *name, unsigned a, unsigned b)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%u-%u", directory, name, a, b);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(s->bytes, 1, s->len, f) != s->len || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static struct seed begin(unsigned flags)
{
    struct seed s = {.len = 0};
    put(&s, flags, 1);
    return s;
}

/* Every type in every epoch, without anything that it belongs to. */
static void plain(unsigned win)
{
    for (unsigned type = PKT_OPS; type < PKT_TYPE_LAST; type++) {
        struct seed s = begin(0);
        framed(&s, win, type, type == PKT_OPS ? PKT_EPOCH_NOCHECK : 0, 0, type != PKT_SYNC, 0,
               type == PKT_REPLY    ? 8
               : type == PKT_REGION ? sizeof(struct pkt_region)
                                    : 0);
        save(&s, "type", type, win);
    }
    for (unsigned epoch = PKT_EPOCH_FENCE; epoch < PKT_EPOCH_LAST; epoch++) {
        struct seed s = begin(0);
        ops(&s, win, epoch, 0, 0, 0, ALL_KINDS);
        all_kinds(&s);
        save(&s, "ops", epoch, win);
    }
}

/* Datatypes: every kind that may name one, before and after it is replaced, and one unknown. */
static void types(unsigned win)
{
    struct seed s = begin(0);
    if (win)
        call(&s, FUZZ_CALL_ATTACH, 0, 0, 0);
    ops(&s, win, PKT_EPOCH_NOCHECK, PKT_F_FLUSH, 0, 0, 6);
    definition(&s, 1, 8, 16, 4);
    typed(&s, PKT_OP_PUT, 0, 0, 1, 0, 2, 64);
    typed(&s, PKT_OP_GET, 0, 0, 1, 12, 2, 40);
    typed(&s, PKT_OP_ACC, ACC_SUM, ACC_I64, 1, 8, 1, 24);
    typed(&s, PKT_OP_GET_ACC, ACC_NO_OP, ACC_F64, 1, 0, 1, 32);
    typed(&s, PKT_OP_PUT, 0, 0, 2, 0, 1, 8);
    save(&s, "types", 0, win);
    put(&s, FUZZ_STALL, 1); /* a reply that outlives the type that it walks over */
    ops(&s, win, PKT_EPOCH_NOCHECK, 0, 0, 0, 1);
    typed(&s, PKT_OP_GET, 0, 0, 1, 0, 2, 64);
    for (unsigned id = 2; id < 2 + PKT_TYPES; id++) {
        ops(&s, win, PKT_EPOCH_NOCHECK, 0, 0, 0, 1);
        definition(&s, id, 4, 8, 3);
    }
    put(&s, FUZZ_STALL, 1);
    ops(&s, win, PKT_EPOCH_NOCHECK, 0, 0, 0, 2);
    typed(&s, PKT_OP_GET, 0, 0, 1, 0, 1, 8);
    typed(&s, PKT_OP_GET, 0, 0, PKT_TYPES, 0, 1, 8);
    save(&s, "types", 1, win);
}

static void locks(unsigned win)
{
    static const uint8_t asks[] = {PKT_F_LOCK_SHARED, PKT_F_LOCK_EXCLUSIVE, PKT_F_LOCK_ALL};
    for (unsigned i = 0; i < sizeof asks; i++) {
        struct seed s = begin(0);
        ops(&s, win, PKT_EPOCH_LOCK, asks[i] | PKT_F_WANT_OPEN | PKT_F_FLUSH, 1, 0, ALL_KINDS);
        all_kinds(&s);
        ops(&s, win + 1, PKT_EPOCH_LOCK, asks[i] | PKT_F_UNLOCK, 1, 0,
            ALL_KINDS); /* waits for the first */
        all_kinds(&s);
        framed(&s, win, PKT_OPS, PKT_EPOCH_LOCK, PKT_F_UNLOCK, 1, 0, 0);
        save(&s, "lock", i, win);
    }
}

static void fence(unsigned win)
{
    struct seed s = begin(0);
    call(&s, FUZZ_CALL_FENCE, win << 6, RMA_NOPRECEDE, 0);
    call(&s, FUZZ_CALL_PUT, win << 6 | 1, 0, 100);
    call(&s, FUZZ_CALL_FENCE, win << 6, 0, 0);
    for (unsigned from = 0; from < 2; from++) {
        ops(&s, win + from, PKT_EPOCH_FENCE, PKT_F_FENCE, 1, NAMED, ALL_KINDS);
        all_kinds(&s);
    }
    ops(&s, win, PKT_EPOCH_FENCE, PKT_F_WANT_OPEN, 2, 0, 1); /* of the next phase */
    record(&s, PKT_OP_PUT, 0, 0, 1, 64);
    call(&s, FUZZ_CALL_FENCE, win << 6, 0, 0);
    save(&s, "fence", 0, win);
}

/* Sums come from the two before this process, in two rounds; one pair each. */
static void fence_counts(unsigned win)
{
    struct seed s = begin(FUZZ_F_COUNTS);
    call(&s, FUZZ_CALL_FENCE, win << 6, RMA_NOPRECEDE, 0);
    call(&s, FUZZ_CALL_PUT, win << 6 | 1, 0, 100);
    call(&s, FUZZ_CALL_FENCE, win << 6, 0, 0);
    for (unsigned round = 0; round < 2; round++) {
        put(&s, FUZZ_FRAMED, 1);
        put(&s, win + (round == 0), 1);
        put(&s, PKT_COUNTS, 1);
        put(&s, 0, 2);
        put(&s, 0, 1); /* fence */
        put(&s, 1, 1);
        put(&s, round, 4);
        put(&s, 0, 8);
        put(&s, sizeof(struct pkt_count), 2);
        put(&s, 0, 8); /* rank 0 */
        put(&s, NAMED, 8);
    }
    ops(&s, win, PKT_EPOCH_FENCE, 0, 1, 0, ALL_KINDS);
    all_kinds(&s);
    ops(&s, win, PKT_EPOCH_FENCE, 0, 1, 0, ALL_KINDS);
    all_kinds(&s);
    save(&s, "fence", 1, win);
}

static void pscw(unsigned win)
{
    struct seed s = begin(0);
    ops(&s, win, PKT_EPOCH_PSCW, PKT_F_COMPLETE, 1, 0, ALL_KINDS); /* before the post */
    all_kinds(&s);
    call(&s, FUZZ_CALL_POST, win << 6 | 2, 0, 0);
    framed(&s, win + 1, PKT_OPS, PKT_EPOCH_PSCW, PKT_F_COMPLETE, 1, 0, 0);
    call(&s, FUZZ_CALL_WAIT, win << 6, 0, 0);
    call(&s, FUZZ_CALL_START, win << 6 | 2, 0, 0);
    call(&s, FUZZ_CALL_PUT, win << 6 | 1, 0, 19000);
    framed(&s, win, PKT_POST, 0, 0, 1, 0, 0);
    call(&s, FUZZ_CALL_GET, win << 6 | 2, 0, 16);
    call(&s, FUZZ_CALL_COMPLETE, win << 6, 0, 0);
    framed(&s, win + 1, PKT_POST, 0, 0, 1, 0, 0);
    framed(&s, win + 1, PKT_REPLY, 0, 0, 0, request(0, 1), 16);
    save(&s, "pscw", 0, win);
}

/* The process under test locks, flushes, gets answers and refusals, unlocks. */
static void passive(unsigned win)
{
    struct seed s = begin(0);
    call(&s, FUZZ_CALL_LOCK, win << 6 | 1, 1, 0);
    call(&s, FUZZ_CALL_PUT, win << 6 | 1, 0, 8);
    call(&s, FUZZ_CALL_FLUSH, win << 6 | 1, 0, 0);
    framed(&s, win, PKT_ACK, 0, 0, 1, 0, 0);
    call(&s, FUZZ_CALL_GET, win << 6 | 1, 8, 24);
    call(&s, FUZZ_CALL_GET_ACC, win << 6 | 1, 0, 1);
    call(&s, FUZZ_CALL_FLUSH, win << 6 | 1, 0, 0);
    framed(&s, win, PKT_REPLY, 0, 0, 0, request(0, 1), 24);
    framed(&s, win, PKT_ERROR, 0, 0, 0, request(1, 1), 0);
    framed(&s, win, PKT_ACK, 0, 0, 2, 0, 0);
    call(&s, FUZZ_CALL_CAS, win << 6 | 1, 0, 0);
    call(&s, FUZZ_CALL_UNLOCK, win << 6 | 1, 0, 0);
    framed(&s, win, PKT_REPLY, 0, 0, 0, request(1, 2), 8);
    framed(&s, win, PKT_ACK, 0, 0, 3, 0, 0);
    save(&s, "passive", 0, win);

    for (unsigned wrong = 0; wrong < 2; wrong++) {
        s = begin(0);
        call(&s, FUZZ_CALL_LOCK, win << 6 | 1, 1, 0);
        call(&s, FUZZ_CALL_GET, win << 6 | 1, 8, 24);
        call(&s, FUZZ_CALL_CAS, win << 6 | 1, 0, 0);
        call(&s, FUZZ_CALL_UNLOCK, win << 6 | 1, 0, 0);
        two_parts(&s, win, PKT_F_FLUSH, 1, 24, wrong ? 16 : 8);
        save(&s, "parts", wrong, win);
    }

    s = begin(FUZZ_F_STRICT);
    call(&s, FUZZ_CALL_LOCK_ALL, win << 6, 0, 0);
    call(&s, FUZZ_CALL_ACC, win << 6 | 1, 0, 4);
    call(&s, FUZZ_CALL_ACC, win << 6 | 2, 0, 2400); /* a stream: asks first */
    framed(&s, win + 1, PKT_OPEN, 0, 0, 1, 1, 0);
    call(&s, FUZZ_CALL_UNLOCK_ALL, win << 6, 0, 0);
    framed(&s, win, PKT_ACK, 0, 0, 1, 0, 0);
    framed(&s, win + 1, PKT_ACK, 0, 0, 1, 0, 0);
    save(&s, "passive", 1, win);
}

static void others(void)
{
    struct seed s = begin(0);
    put(&s, FUZZ_STALL, 1); /* replies stay queued, and what rides behind them */
    ops(&s, 0, PKT_EPOCH_NOCHECK, PKT_F_FLUSH, 0, 0, ALL_KINDS);
    all_kinds(&s);
    put(&s, FUZZ_STALL, 1);
    call(&s, FUZZ_CALL_PROGRESS, 0, 0, 0);
    save(&s, "stalled", 0, 0);

    s = begin(0);
    call(&s, FUZZ_CALL_ATTACH, 1, 0, 0);
    ops(&s, 2, PKT_EPOCH_NOCHECK, 0, 0, 0, 1);
    record(&s, PKT_OP_PUT, 0, 0, 3, 280);
    call(&s, FUZZ_CALL_DETACH, 0, 0, 0);
    ops(&s, 3, PKT_EPOCH_NOCHECK, 0, 0, 0, 1);
    record(&s, PKT_OP_GET, 0, 0, 1, 280);
    save(&s, "attached", 0, 1);

    s = begin(0);
    put(&s, FUZZ_RAW, 1);
    put(&s, 0, 1);
    put(&s, sizeof(struct pkt_hdr), 2);
    put(&s, PKT_VERSION | PKT_OPS << 8 | PKT_EPOCH_NOCHECK << 16, 4);
    put(&s, sizeof(struct pkt_hdr), 4);
    for (size_t i = 8; i < sizeof(struct pkt_hdr); i += 4)
        put(&s, i == 12 || i == 16, 4); /* window 0.1, rank 1 */
    save(&s, "raw", 0, 0);

    s = begin(FUZZ_F_NO_LOCKS);
    ops(&s, 0, PKT_EPOCH_LOCK, PKT_F_LOCK_SHARED, 1, 0, 0);
    save(&s, "no_locks", 0, 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_corpus DIRECTORY\n");
        return 2;
    }
    directory = argv[1];
    for (unsigned win = 0; win <= 2; win += 2) {
        plain(win);
        types(win);
        locks(win);
        fence(win);
        fence_counts(win);
        pscw(win);
        passive(win);
    }
    others();
    return 0;
}
