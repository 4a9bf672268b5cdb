/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ext_types.h - number types that C does not have and most compilers do: integers of 128 bits, and
 * IEEE binary16.
 *
 * The compiler's own macros say which types it has, so a compiler other than configure's, such as
 * the fuzzer's, gets the right answer, too. configure prints what its compiler has. No state, no
 * neighbours.
 */
#ifndef MRMA_BASE_EXT_TYPES_H
#define MRMA_BASE_EXT_TYPES_H

/* IF_INT128 expands to its arguments where the compiler has ext_i128 and ext_u128, and to nothing
 * elsewhere. EXT_HAS_INT128 says which, as 1 or 0. */
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 ext_i128;
__extension__ typedef unsigned __int128 ext_u128;
#define IF_INT128(...) __VA_ARGS__
enum { EXT_HAS_INT128 = 1 };
#else
#define IF_INT128(...)
enum { EXT_HAS_INT128 = 0 };
#endif

/* The same for ext_f16. */
#if defined(__FLT16_MANT_DIG__)
__extension__ typedef _Float16 ext_f16;
#define IF_FLOAT16(...) __VA_ARGS__
enum { EXT_HAS_FLOAT16 = 1 };
#else
#define IF_FLOAT16(...)
enum { EXT_HAS_FLOAT16 = 0 };
#endif

#endif
