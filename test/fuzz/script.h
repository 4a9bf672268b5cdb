/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * script.h - what the bytes of a fuzzer's input mean: the setup of an engine, then
 * steps. A step is a packet of a peer, or a call of the process under test.
 *
 *   byte 0    flags of the setup, FUZZ_F_*
 *   steps     one byte, then the fields of the step; what is missing at the end is 0
 *
 * Steps of packets begin with a byte `at`: bit 0 the sender (rank 1 or 2), bit 1 the
 * window (of created memory, or dynamic). FRAMED and RECORDS have their version,
 * length, window and rank filled in by the harness, so that most inputs get past the
 * header checks; RAW are bytes as they are. Numbers are little endian.
 */
#ifndef MRMA_TEST_FUZZ_SCRIPT_H
#define MRMA_TEST_FUZZ_SCRIPT_H

enum { FUZZ_F_STRICT = 1, FUZZ_F_NO_LOCKS = 2, FUZZ_F_COUNTS = 4 /* fences by sums */ };

enum fuzz_step {
    FUZZ_RAW,    /* at, len (2), bytes */
    FUZZ_FRAMED, /* at, type, epoch, flags, seq (1), count (1), total (4), offset (8), len (2), body
                  */
    FUZZ_RECORDS, /* at, epoch, flags, seq (1), total (4), offset (1), n (1), then n records:
                     kind, op, type, nseg (low 2 bits; bit 2: data_len is given; bit 3: typed),
                     request (1), data_len (2, where given), nseg times disp (2, signed), len (2);
                     bit 4 of nseg, a struct pkt_plain: len (2), disp (2, signed), data_len of data,
                     bit 5: zero is not; bits 6 and 7: pkt_op's zero; typed: number (1), position
                     (2), disp (2, signed), count (1), len (2); of PKT_OP_TYPE: extent (2, signed),
                     nseg times disp, len, stride (2 each, signed), n (1) */
    FUZZ_CALL,    /* call, rank, a (1), b (2) */
    FUZZ_STALL,   /* the channel has no more room, or has room again */
    FUZZ_STEPS
};

enum fuzz_call {
    FUZZ_CALL_FENCE,
    FUZZ_CALL_START,
    FUZZ_CALL_COMPLETE,
    FUZZ_CALL_POST,
    FUZZ_CALL_TEST,
    FUZZ_CALL_WAIT,
    FUZZ_CALL_LOCK,
    FUZZ_CALL_UNLOCK,
    FUZZ_CALL_LOCK_ALL,
    FUZZ_CALL_UNLOCK_ALL,
    FUZZ_CALL_FLUSH,
    FUZZ_CALL_FLUSH_LOCAL,
    FUZZ_CALL_PUT,
    FUZZ_CALL_GET,
    FUZZ_CALL_ACC,
    FUZZ_CALL_GET_ACC,
    FUZZ_CALL_CAS,
    FUZZ_CALL_PROGRESS,
    FUZZ_CALL_ATTACH,
    FUZZ_CALL_DETACH,
    FUZZ_CALLS
};

enum {
    FUZZ_PROCS = 3,        /* the process under test is rank 0 */
    FUZZ_WINDOW = 20000,   /* bytes of the created window on each */
    FUZZ_REGION = 300,     /* bytes of a region attached to the dynamic one */
    FUZZ_REGION_GAP = 400, /* from one region to the next: never attached memory between */
    FUZZ_REGIONS = 4
};

#endif
