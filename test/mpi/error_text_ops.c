/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_text_ops.c - the mistakes of error_text.c about the arguments of operations.
 */
#include "error_text.h"

/* ---- arguments of operations ---- */
MISTAKE(put_origin_count)
{
    LOCKED(MPI_Put(x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(put_target_count)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, -7, MPI_INT, win));
}
MISTAKE(get_origin_count)
{
    LOCKED(MPI_Get(x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_target_count)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, -1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_result_count)
{
    LOCKED(MPI_Get_accumulate(x, 1, MPI_INT, y, -1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_origin_count)
{
    LOCKED(MPI_Get_accumulate(x, -2, MPI_INT, y, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_rank)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 2, 0, 1, MPI_INT, win));
}
MISTAKE(put_rank_negative)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, -99, 0, 1, MPI_INT, win));
}
MISTAKE(get_rank)
{
    LOCKED(MPI_Get(x, 1, MPI_INT, 77, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_rank)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_rank)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 2, 0, MPI_SUM, win));
}
MISTAKE(compare_rank)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_INT, 2, 0, win));
}
MISTAKE(put_disp)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, -3, 1, MPI_INT, win));
}
MISTAKE(fetch_disp)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, -1, MPI_SUM, win));
}
MISTAKE(put_target_type_null)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win));
}
MISTAKE(get_origin_type_null)
{
    LOCKED(MPI_Get(x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
}
MISTAKE(get_accumulate_result_type_null)
{
    LOCKED(
        MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_type_uncommitted)
{
    LOCKED(MPI_Put(x, 1, raw, 0, 0, 1, raw, win));
}
MISTAKE(put_origin_type_uncommitted)
{
    LOCKED(MPI_Put(x, 1, raw, 0, 0, 2, MPI_INT, win));
}
MISTAKE(accumulate_type_uncommitted)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 0, 1, raw, MPI_SUM, win));
}
MISTAKE(accumulate_type_mixed)
{
    LOCKED(MPI_Accumulate(x, 1, mixed, 0, 0, 1, mixed, MPI_SUM, win));
}
MISTAKE(accumulate_types_differ)
{
    LOCKED(MPI_Accumulate(d, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_types_differ)
{
    LOCKED(MPI_Get_accumulate(x, 2, MPI_INT, d, 1, MPI_DOUBLE, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_type_derived)
{
    LOCKED(MPI_Fetch_and_op(x, y, pair, 0, 0, MPI_SUM, win));
}
MISTAKE(compare_type_derived)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, pair, 0, 0, win));
}
MISTAKE(compare_type_float)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_FLOAT, 0, 0, win));
}
MISTAKE(accumulate_op_null)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
}
MISTAKE(accumulate_op_own)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, mine, win));
}
MISTAKE(fetch_op_own)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, 0, mine, win));
}
MISTAKE(accumulate_no_op)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
}
MISTAKE(accumulate_band_double)
{
    LOCKED(MPI_Accumulate(d, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win));
}
MISTAKE(accumulate_minloc_int)
{
    LOCKED(MPI_Accumulate(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MINLOC, win));
}
MISTAKE(put_origin_null)
{
    LOCKED(MPI_Put(NULL, 2, MPI_INT, 0, 0, 2, MPI_INT, win));
}
MISTAKE(get_origin_null)
{
    LOCKED(MPI_Get(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_origin_null)
{
    LOCKED(MPI_Accumulate(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_result_null)
{
    LOCKED(MPI_Get_accumulate(x, 1, MPI_INT, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_result_null)
{
    LOCKED(MPI_Fetch_and_op(x, NULL, MPI_INT, 0, 0, MPI_SUM, win));
}
MISTAKE(compare_compare_null)
{
    LOCKED(MPI_Compare_and_swap(x, NULL, z, MPI_INT, 0, 0, win));
}
MISTAKE(put_sizes)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_DOUBLE, win));
}
MISTAKE(get_sizes)
{
    LOCKED(MPI_Get(x, 3, MPI_INT, 0, 0, 1, MPI_INT, win));
}
MISTAKE(accumulate_sizes)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 0, 3, MPI_INT, MPI_SUM, win));
}
MISTAKE(get_accumulate_sizes)
{
    LOCKED(MPI_Get_accumulate(x, 2, MPI_INT, y, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(put_range)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, 16, 1, MPI_INT, win));
}
MISTAKE(put_range_partly)
{
    LOCKED(MPI_Put(d, 1, MPI_DOUBLE, 0, 15, 1, MPI_DOUBLE, win));
}
MISTAKE(put_range_vector)
{
    LOCKED(MPI_Put(x, 3, MPI_INT, 0, 0, 1, vector, win));
}
MISTAKE(put_range_far)
{
    LOCKED(MPI_Put(x, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win));
}
MISTAKE(get_range)
{
    LOCKED(MPI_Get(x, 17, MPI_INT, 0, 0, 17, MPI_INT, win));
}
MISTAKE(accumulate_range)
{
    LOCKED(MPI_Accumulate(x, 2, MPI_INT, 0, 15, 2, MPI_INT, MPI_SUM, win));
}
MISTAKE(fetch_range)
{
    LOCKED(MPI_Fetch_and_op(x, y, MPI_INT, 0, 16, MPI_SUM, win));
}
MISTAKE(compare_range)
{
    LOCKED(MPI_Compare_and_swap(x, y, z, MPI_INT, 0, 16, win));
}
MISTAKE(rput_range)
{
    LOCKED(MPI_Rput(x, 1, MPI_INT, 0, 16, 1, MPI_INT, win, &req));
}
MISTAKE(rget_request_null)
{
    LOCKED(MPI_Rget(x, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL));
}

/* clang-format off */
const struct mistake mistakes_of_operations[] = {
    M(put_origin_count), M(put_target_count), M(get_origin_count), M(accumulate_target_count),
    M(get_accumulate_result_count), M(get_accumulate_origin_count), M(put_rank),
    M(put_rank_negative), M(get_rank), M(accumulate_rank), M(fetch_rank), M(compare_rank),
    M(put_disp), M(fetch_disp), M(put_target_type_null), M(get_origin_type_null),
    M(get_accumulate_result_type_null), M(put_type_uncommitted), M(put_origin_type_uncommitted),
    M(accumulate_type_uncommitted), M(accumulate_type_mixed), M(accumulate_types_differ),
    M(get_accumulate_types_differ), M(fetch_type_derived), M(compare_type_derived),
    M(compare_type_float), M(accumulate_op_null), M(accumulate_op_own), M(fetch_op_own),
    M(accumulate_no_op), M(accumulate_band_double), M(accumulate_minloc_int), M(put_origin_null),
    M(get_origin_null), M(accumulate_origin_null), M(get_accumulate_result_null),
    M(fetch_result_null), M(compare_compare_null), M(put_sizes), M(get_sizes), M(accumulate_sizes),
    M(get_accumulate_sizes), M(put_range), M(put_range_partly), M(put_range_vector),
    M(put_range_far), M(get_range), M(accumulate_range), M(fetch_range), M(compare_range),
    M(rput_range), M(rget_request_null),
    {NULL, NULL},
};
/* clang-format on */
