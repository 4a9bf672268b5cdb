/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dtype_cache.c - predefined types and operations, and the datatype cache.
 *
 * An MPI program of one process. The cache must know every predefined type,
 * refuse uncommitted ones, forget freed ones even when their handle comes again,
 * and do all that under concurrent threads.
 */
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "acc/acc.h"
#include "dtype/dtype_cache.h"
#include "dtype/dtype_predef.h"

static struct log quiet;
static int thread_level;

/* ---- predefined ---- */

static struct dtype_cache *new_cache(void)
{
    struct dtype_cache *cache = NULL;

    assert_int_equal(dtype_cache_create(&quiet, MPI_COMM_SELF, &cache), MRMA_SUCCESS);
    return cache;
}

static void test_predefined(void **state)
{
    static const struct {
        MPI_Datatype type;
        enum acc_type acc;
    } known[] = {
        {MPI_CHAR, CHAR_MIN < 0 ? ACC_I8 : ACC_U8},
        {MPI_SIGNED_CHAR, ACC_I8},
        {MPI_UNSIGNED_CHAR, ACC_U8},
        {MPI_SHORT, ACC_I16},
        {MPI_UNSIGNED_SHORT, ACC_U16},
        {MPI_INT, ACC_I32},
        {MPI_UNSIGNED, ACC_U32},
        {MPI_LONG, ACC_I64},
        {MPI_UNSIGNED_LONG, ACC_U64},
        {MPI_LONG_LONG, ACC_I64},
        {MPI_UNSIGNED_LONG_LONG, ACC_U64},
        {MPI_FLOAT, ACC_F32},
        {MPI_DOUBLE, ACC_F64},
        {MPI_LONG_DOUBLE, ACC_F80},
        {MPI_WCHAR, ACC_WCHAR},
        {MPI_BYTE, ACC_BYTE},
        {MPI_PACKED, ACC_NONE},
        {MPI_C_BOOL, ACC_BOOL},
        {MPI_CXX_BOOL, ACC_BOOL},
        {MPI_INT8_T, ACC_I8},
        {MPI_UINT64_T, ACC_U64},
        {MPI_AINT, ACC_I64},
        {MPI_OFFSET, ACC_I64},
        {MPI_COUNT, ACC_I64},
        {MPI_C_COMPLEX, ACC_C32},
        {MPI_C_DOUBLE_COMPLEX, ACC_C64},
        {MPI_C_LONG_DOUBLE_COMPLEX, ACC_C80},
        {MPI_CXX_DOUBLE_COMPLEX, ACC_C64},
        {MPI_FLOAT_INT, ACC_PAIR_F32_I32},
        {MPI_DOUBLE_INT, ACC_PAIR_F64_I32},
        {MPI_LONG_INT, ACC_PAIR_I64_I32},
        {MPI_SHORT_INT, ACC_PAIR_I16_I32},
        {MPI_2INT, ACC_PAIR_I32_I32},
        {MPI_LONG_DOUBLE_INT, ACC_PAIR_F80_I32},
        {MPI_INTEGER, ACC_I32},
        {MPI_REAL, ACC_F32},
        {MPI_DOUBLE_PRECISION, ACC_F64},
        {MPI_COMPLEX, ACC_C32},
        {MPI_DOUBLE_COMPLEX, ACC_C64},
        {MPI_LOGICAL, ACC_LOGICAL32},
        {MPI_CHARACTER, ACC_CHAR},
        {MPI_2INTEGER, ACC_PAIR_I32_I32},
        {MPI_2REAL, ACC_PAIR_F32_F32},
        {MPI_2DOUBLE_PRECISION, ACC_PAIR_F64_F64},
        {MPI_INTEGER1, ACC_I8},
        {MPI_INTEGER8, ACC_I64},
        {MPI_REAL4, ACC_F32},
        {MPI_REAL8, ACC_F64},
        {MPI_COMPLEX8, ACC_C32},
        {MPI_COMPLEX16, ACC_C64},
        {MPI_REAL16, ACC_F128},
        {MPI_COMPLEX32, ACC_C128},
        {HOST_INTEGER16, ACC_I128},
        {HOST_LOGICAL16, ACC_LOGICAL128},
        {HOST_REAL2, ACC_F16},
        {HOST_COMPLEX4, ACC_C16},
        {HOST_C_FLOAT16, ACC_F16},
    };
    struct dtype_cache *cache = new_cache();
    int err = MRMA_SUCCESS;

    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        MPI_Count size, lb, extent;
        if (known[i].type == MPI_DATATYPE_NULL ||
            MPI_Type_size_x(known[i].type, &size) != MPI_SUCCESS || size <= 0)
            continue; /* the host was built without it */
        const struct dtype *flat = dtype_lookup(cache, known[i].type, &err);
        if (!flat || flat->basic != known[i].acc)
            fail_msg("predefined type %zu is %s, not %s", i,
                     flat ? acc_type_name(flat->basic) : "refused", acc_type_name(known[i].acc));
        MPI_Type_get_extent_x(known[i].type, &lb, &extent);
        assert_int_equal(flat->size, size);
        assert_int_equal(flat->extent, extent);
        assert_int_equal(flat->contig, size == extent);
        assert_ptr_equal(dtype_lookup(cache, known[i].type, &err), flat);
        assert_int_equal(flat->elems, known[i].acc != ACC_NONE);
    }
    assert_int_equal(err, MRMA_SUCCESS);
    dtype_cache_destroy(cache);
}

/* Names are the application's: a predefined type is what it is under any. */
static void test_renamed_types(void **state)
{
    static const struct {
        MPI_Datatype type;
        enum acc_type acc;
    } sized[] = {{MPI_INTEGER8, ACC_I64},
                 {MPI_REAL4, ACC_F32},
                 {MPI_COMPLEX16, ACC_C64},
                 {MPI_INT, ACC_I32}};
    struct dtype_cache *cache = new_cache();
    int err = MRMA_SUCCESS;

    (void)state;
    for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int len;
        MPI_Type_get_name(sized[i].type, name, &len);
        assert_int_equal(MPI_Type_set_name(sized[i].type, "mass"), MPI_SUCCESS);
        const struct dtype *flat = dtype_lookup(cache, sized[i].type, &err);
        MPI_Type_set_name(sized[i].type, name);
        assert_non_null(flat);
        assert_int_equal(flat->basic, sized[i].acc);
    }
    dtype_cache_destroy(cache);
}

static void test_f90_types(void **state)
{
    MPI_Datatype real, complex, integer, vector;
    struct dtype_cache *cache = new_cache();
    int err = MRMA_SUCCESS;

    (void)state;
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_complex(6, 30, &complex);
    MPI_Type_create_f90_integer(12, &integer);
    MPI_Type_vector(4, 1, 3, real, &vector);
    MPI_Type_commit(&vector);
    assert_int_equal(dtype_lookup(cache, real, &err)->basic, ACC_F64);
    assert_int_equal(dtype_lookup(cache, complex, &err)->basic, ACC_C32);
    assert_int_equal(dtype_lookup(cache, integer, &err)->basic, ACC_I64);
    assert_int_equal(dtype_lookup(cache, vector, &err)->basic, ACC_F64);
    assert_int_equal(dtype_lookup(cache, vector, &err)->elems, 4);
    MPI_Type_free(&vector);
    dtype_cache_destroy(cache);
    /* The host's own type is intact after all that. */
    MPI_Type_vector(4, 1, 3, real, &vector);
    MPI_Type_free(&vector);
}

static int user_function_calls;

static void user_function(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)type;
    user_function_calls++;
}

static void test_operations(void **state)
{
    static const MPI_Op ops[] = {MPI_SUM,    MPI_PROD,   MPI_MIN,     MPI_MAX,  MPI_LAND,
                                 MPI_LOR,    MPI_LXOR,   MPI_BAND,    MPI_BOR,  MPI_BXOR,
                                 MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    MPI_Op mine;

    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
        assert_int_equal(acc_op_from_mpi(ops[i]), ACC_SUM + i);
    MPI_Op_create(user_function, 1, &mine);
    assert_int_equal(acc_op_from_mpi(mine), ACC_OP_NONE);
    assert_int_equal(acc_op_from_mpi(MPI_OP_NULL), ACC_OP_NONE);
    MPI_Op_free(&mine);
    assert_int_equal(user_function_calls, 0);
}

/* ---- the cache ---- */

static void expect_refused(struct dtype_cache *cache, MPI_Datatype type)
{
    int err = MRMA_SUCCESS;

    assert_null(dtype_lookup(cache, type, &err));
    assert_int_equal(err, MRMA_ERR_TYPE);
}

static void test_committed(void **state)
{
    struct dtype_cache *cache = new_cache();
    MPI_Datatype type;
    int err = MRMA_SUCCESS;

    (void)state;
    expect_refused(cache, MPI_DATATYPE_NULL);
    MPI_Type_vector(5, 1, 2, MPI_INT, &type);
    expect_refused(cache, type);
    expect_refused(cache, type);
    MPI_Type_commit(&type);
    const struct dtype *flat = dtype_lookup(cache, type, &err);
    assert_non_null(flat);
    assert_int_equal(flat->size, 20);
    assert_ptr_equal(dtype_lookup(cache, type, &err), flat);
    MPI_Type_free(&type);
    expect_refused(cache, MPI_DATATYPE_NULL);
    dtype_cache_destroy(cache);
}

/* A new type may get the handle of a freed one; it must not inherit anything. */
static void test_handle_reuse(void **state)
{
    struct dtype_cache *cache = new_cache();
    MPI_Datatype last = MPI_DATATYPE_NULL;
    int reused = 0, err = MRMA_SUCCESS;

    (void)state;
    for (int n = 1; n <= 500; n++) {
        MPI_Datatype type;
        MPI_Type_vector(n, 1, 2, MPI_INT, &type);
        reused += type == last;
        expect_refused(cache, type); /* not committed this time */
        MPI_Type_commit(&type);
        const struct dtype *flat = dtype_lookup(cache, type, &err);
        assert_non_null(flat);
        assert_int_equal(flat->size, 4 * n);
        last = type;
        MPI_Type_free(&type);
    }
    print_message("%d of 500 handles were the one just freed\n", reused); /* none under ASan */
    dtype_cache_destroy(cache);
}

/* A type freed by the user while another type is made of it, and a reference
 * that outlives its type. */
static void test_freed_types(void **state)
{
    struct dtype_cache *cache = new_cache();
    MPI_Datatype inner, outer;
    int err = MRMA_SUCCESS;

    (void)state;
    MPI_Type_vector(3, 1, 2, MPI_INT, &inner);
    MPI_Type_commit(&inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_commit(&outer);
    const struct dtype *held = dtype_ref(dtype_lookup(cache, inner, &err));
    MPI_Type_free(&inner);
    const struct dtype *flat = dtype_lookup(cache, outer, &err);
    assert_non_null(flat);
    assert_int_equal(flat->size, 24);
    dtype_ref(flat);
    MPI_Type_free(&outer);
    dtype_cache_destroy(cache);
    assert_int_equal(held->size, 12);
    assert_int_equal(flat->elems, 6);
    dtype_unref(held);
    dtype_unref(flat);
}

/* Types may outlive the cache, and a second cache does not disturb the first. */
static void test_two_caches(void **state)
{
    struct dtype_cache *one = new_cache(), *two = new_cache();
    MPI_Datatype types[20];
    int err = MRMA_SUCCESS;

    (void)state;
    for (int i = 0; i < 20; i++) {
        MPI_Type_vector(i + 1, 1, 3, MPI_DOUBLE, &types[i]);
        MPI_Type_commit(&types[i]);
        assert_non_null(dtype_lookup(one, types[i], &err));
        assert_ptr_not_equal(dtype_lookup(two, types[i], &err), dtype_lookup(one, types[i], &err));
    }
    dtype_cache_destroy(one);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(dtype_lookup(two, types[i], &err)->elems, i + 1);
        if (i % 2)
            MPI_Type_free(&types[i]);
    }
    dtype_cache_destroy(two);
    for (int i = 0; i < 20; i += 2)
        MPI_Type_free(&types[i]);
    dtype_cache_destroy(NULL);
}

/* More live types than slots: chains and evictions. */
static void test_many_types(void **state)
{
    enum { N = 3 * DTYPE_CACHE_SLOTS };
    struct dtype_cache *cache = new_cache();
    static MPI_Datatype types[N];
    int err = MRMA_SUCCESS;

    (void)state;
    for (int i = 0; i < N; i++) {
        MPI_Type_vector(i + 2, 1, 3, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < N; i++)
            assert_int_equal(dtype_lookup(cache, types[i], &err)->elems, i + 2);
    }
    for (int i = 0; i < N; i += 2)
        MPI_Type_free(&types[i]);
    for (int i = 1; i < N; i += 2)
        assert_int_equal(dtype_lookup(cache, types[i], &err)->elems, i + 2);
    for (int i = 1; i < N; i += 2)
        MPI_Type_free(&types[i]);
    dtype_cache_destroy(cache);
}

struct worker {
    struct dtype_cache *cache;
    const MPI_Datatype *shared;
    int id, wrong;
};

enum { SHARED_TYPES = 64, ROUNDS = 2000 };

static void *work(void *arg)
{
    struct worker *w = arg;

    for (int round = 0; round < ROUNDS; round++) {
        int err = MRMA_SUCCESS;
        int n = 1 + (round * 7 + w->id * 31) % 50, pick = (round * 5 + w->id) % SHARED_TYPES;
        MPI_Datatype type;

        MPI_Type_vector(n, 2, 5, MPI_SHORT, &type);
        MPI_Type_commit(&type);
        const struct dtype *mine = dtype_lookup(w->cache, type, &err);
        const struct dtype *common = dtype_lookup(w->cache, w->shared[pick], &err);
        w->wrong += !mine || mine->size != (size_t)n * 4;
        w->wrong += !common || common->elems != (size_t)pick + 1;
        MPI_Type_free(&type);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct dtype_cache *cache = new_cache();
    struct worker workers[4];
    MPI_Datatype shared[SHARED_TYPES];
    pthread_t threads[4];

    (void)state;
    assert_int_equal(thread_level, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < SHARED_TYPES; i++) {
        MPI_Type_vector(i + 1, 1, 3, MPI_DOUBLE, &shared[i]);
        MPI_Type_commit(&shared[i]);
    }
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){cache, shared, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    for (int i = 0; i < SHARED_TYPES; i++)
        MPI_Type_free(&shared[i]);
    dtype_cache_destroy(cache);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predefined),  cmocka_unit_test(test_renamed_types),
        cmocka_unit_test(test_f90_types),   cmocka_unit_test(test_operations),
        cmocka_unit_test(test_committed),   cmocka_unit_test(test_handle_reuse),
        cmocka_unit_test(test_freed_types), cmocka_unit_test(test_two_caches),
        cmocka_unit_test(test_many_types),  cmocka_unit_test(test_threads),
    };

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &thread_level);
    log_init(&quiet, LOG_LEVEL_ERROR, 2, "test");
    int failed = cmocka_run_group_tests_name("dtype_cache", tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
