/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pieces.c - what pieces.h keeps of the accesses to some memory, beside an array of all its
 * bytes; and what host_calls.h knows of the host's functions by their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../host_calls.h"
#include "../pieces.h"

enum { BYTES = 300, STEPS = 4000 };

static void visit(void *arg, struct piece *piece)
{
    unsigned char keep[STEPS];

    (void)arg;
    assert_true(piece->begin < piece->end && piece->end <= BYTES);
    for (uint32_t i = 0; i < piece->n; i++) /* every other access is forgotten at its next sight */
        keep[i] = piece->access[i] % 2 == 0;
    piece_keep(piece, keep);
}

/* The accesses of each byte are a set of bits. */
static void pieces_know_the_accesses_of_every_byte(void **state)
{
    static unsigned char there[BYTES][STEPS];
    struct pieces pieces = {.n = 0};
    (void)state;

    srand(1);
    memset(there, 0, sizeof there);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint64_t begin = (uint64_t)rand() % (BYTES - 1);
        const uint64_t end = begin + 1 + (uint64_t)rand() % (BYTES - begin);

        pieces_add(&pieces, begin, end, step, visit, NULL);
        for (uint64_t at = begin; at < end; at++) {
            for (uint32_t i = 1; i < step; i += 2)
                there[at][i] = 0;
            there[at][step] = 1;
        }
        uint64_t behind = 0;
        for (const struct piece *piece = pieces.head[0]; piece; piece = piece->next[0]) {
            assert_true(piece->begin >= behind && piece->end > piece->begin);
            behind = piece->end;
            if (step % 50)
                continue;
            for (uint64_t at = piece->begin; at < piece->end; at++) {
                size_t n = 0;

                for (uint32_t i = 0; i <= step; i++)
                    n += there[at][i];
                assert_int_equal(n, piece->n);
                for (uint32_t i = 0; i < piece->n; i++)
                    assert_int_equal(there[at][piece->access[i]], 1);
            }
        }
    }
    pieces_free(&pieces);
}

static void forget(void *arg, struct piece *piece)
{
    static const unsigned char none[8];

    (void)arg;
    piece_keep(piece, none);
}

static void pieces_with_one_access_are_one(void **state)
{
    struct pieces pieces = {.n = 0};
    (void)state;

    for (uint32_t i = 0; i < 100; i++)
        pieces_add(&pieces, 8 * i, 8 * i + 4, i, forget, NULL);
    assert_int_equal(pieces.n, 100);
    pieces_add(&pieces, 2, 794, 100, forget, NULL);
    assert_int_equal(pieces.n, 3); /* what sticks out at both ends is left */
    pieces_free(&pieces);
}

static void functions_are_known_by_their_names(void **state)
{
    static const struct {
        const char *name;
        enum host_kind kind;
    } known[] = {
        {"MPI_Barrier", HOST_COLLECTIVE},
        {"MPI_Allgather_c", HOST_COLLECTIVE},
        {"MPI_Send", HOST_SEND},
        {"MPI_Isend_c", HOST_SEND},
        {"MPI_Issend", HOST_SYNC_SEND},
        {"MPI_Recv", HOST_RECEIVE},
        {"MPI_Irecv", HOST_IRECEIVE},
        {"MPI_Sendrecv", HOST_EXCHANGE},
        {"MPI_Ibarrier", HOST_BEGIN},
        {"MPI_Ineighbor_alltoall", HOST_BEGIN},
        {"MPI_Start", HOST_BEGIN},
        {"MPI_Send_init", HOST_LOCAL},
        {"MPI_Info_create", HOST_LOCAL},
        {"MPI_Comm_rank", HOST_LOCAL},
        {"MPI_Type_commit", HOST_LOCAL},
        {"MPI_Waitall", HOST_COMPLETE},
        {"MPI_Intercomm_create", HOST_OTHER},
        {"MPI_File_write_all", HOST_OTHER},
        {"MPI_Not_known_yet", HOST_OTHER},
        {"", HOST_OTHER},
    };
    (void)state;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(host_kind(known[i].name), known[i].kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_know_the_accesses_of_every_byte),
        cmocka_unit_test(pieces_with_one_access_are_one),
        cmocka_unit_test(functions_are_known_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
