/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dtype_predef.c - predefined datatypes and operations of the host.
 *
 * Each predefined type belongs to a class; the class and the size that the host
 * reports give the element type, so that default sizes chosen when the host's
 * Fortran was configured need not be known here. Standard names that every host
 * has are found by handle (a host may define one as MPI_DATATYPE_NULL, which
 * never matches a type that is looked up); optional sized Fortran types, which
 * mpi.h may not declare at all, by their name.
 *
 * REAL*16 is IEEE binary128 as gfortran has it, and not the C long double that
 * has the same size on x86.
 *
 * No state, no locks. Neighbours: dtype_flatten.c and src/mpi, which call this; acc.h, which has
 * the elements.
 */
#include "dtype/dtype_predef.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "dtype/dtype.h"

enum predef_class {
    CLASS_SIGNED,
    CLASS_UNSIGNED,
    CLASS_REAL,
    CLASS_COMPLEX, /* 16-byte parts are binary128 */
    CLASS_C_REAL,
    CLASS_C_COMPLEX, /* 16-byte parts are long double */
    CLASS_BOOL,
    CLASS_LOGICAL,
    CLASS_BYTE,
    CLASS_C_CHAR,
    CLASS_CHAR,
    CLASS_WCHAR,
    CLASS_FLOAT_INT,
    CLASS_DOUBLE_INT,
    CLASS_LONG_INT,
    CLASS_SHORT_INT,
    CLASS_LONG_DOUBLE_INT,
    CLASS_2INTEGER,
    CLASS_2REAL,
    CLASS_OPAQUE
};

/* The handles of each class. A host may define one as MPI_DATATYPE_NULL. */
#define HANDLES(...)                     \
    (const MPI_Datatype[]){__VA_ARGS__}, \
        sizeof((MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype)
static const struct {
    const MPI_Datatype *types;
    size_t n;
} handles[] = {
    [CLASS_SIGNED] = {HANDLES(MPI_INT, MPI_LONG, MPI_SIGNED_CHAR, MPI_SHORT, MPI_LONG_LONG_INT,
                              MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT,
                              MPI_OFFSET, MPI_COUNT, MPI_INTEGER, HOST_INTEGER1, HOST_INTEGER2,
                              HOST_INTEGER4, HOST_INTEGER8, HOST_INTEGER16)},
    [CLASS_UNSIGNED] = {HANDLES(MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
                                MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                                MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T)},
    [CLASS_REAL] = {HANDLES(MPI_REAL, MPI_DOUBLE_PRECISION, HOST_REAL2, HOST_REAL4, HOST_REAL8,
                            HOST_REAL16)},
    [CLASS_COMPLEX] = {HANDLES(MPI_COMPLEX, MPI_DOUBLE_COMPLEX, HOST_COMPLEX4, HOST_COMPLEX8,
                               HOST_COMPLEX16, HOST_COMPLEX32)},
    [CLASS_C_REAL] = {HANDLES(MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, HOST_C_FLOAT16)},
    [CLASS_C_COMPLEX] = {HANDLES(MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                                 MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                                 MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX)},
    [CLASS_BOOL] = {HANDLES(MPI_C_BOOL, MPI_CXX_BOOL)},
    [CLASS_LOGICAL] = {HANDLES(MPI_LOGICAL, HOST_LOGICAL1, HOST_LOGICAL2, HOST_LOGICAL4,
                               HOST_LOGICAL8, HOST_LOGICAL16)},
    [CLASS_BYTE] = {HANDLES(MPI_BYTE)},
    [CLASS_C_CHAR] = {HANDLES(MPI_CHAR)},
    [CLASS_CHAR] = {HANDLES(MPI_CHARACTER)},
    [CLASS_WCHAR] = {HANDLES(MPI_WCHAR)},
    [CLASS_FLOAT_INT] = {HANDLES(MPI_FLOAT_INT)},
    [CLASS_DOUBLE_INT] = {HANDLES(MPI_DOUBLE_INT)},
    [CLASS_LONG_INT] = {HANDLES(MPI_LONG_INT)},
    [CLASS_SHORT_INT] = {HANDLES(MPI_SHORT_INT)},
    [CLASS_LONG_DOUBLE_INT] = {HANDLES(MPI_LONG_DOUBLE_INT)},
    [CLASS_2INTEGER] = {HANDLES(MPI_2INT, MPI_2INTEGER)},
    [CLASS_2REAL] = {HANDLES(MPI_2REAL, MPI_2DOUBLE_PRECISION)},
    [CLASS_OPAQUE] = {HANDLES(MPI_PACKED)},
};
#undef HANDLES

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

enum acc_op acc_op_from_mpi(MPI_Op op)
{
    static const struct {
        MPI_Op handle;
        enum acc_op op;
    } ops[] = {
        {MPI_SUM, ACC_SUM},       {MPI_REPLACE, ACC_REPLACE}, {MPI_NO_OP, ACC_NO_OP},
        {MPI_MIN, ACC_MIN},       {MPI_MAX, ACC_MAX},         {MPI_PROD, ACC_PROD},
        {MPI_BOR, ACC_BOR},       {MPI_BAND, ACC_BAND},       {MPI_BXOR, ACC_BXOR},
        {MPI_LOR, ACC_LOR},       {MPI_LAND, ACC_LAND},       {MPI_LXOR, ACC_LXOR},
        {MPI_MINLOC, ACC_MINLOC}, {MPI_MAXLOC, ACC_MAXLOC},
    };

    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (ops[i].handle == op)
            return ops[i].op;
    }
    return ACC_OP_NONE;
}

static bool find_handle(MPI_Datatype type, enum predef_class *class)
{
    if (type == MPI_DATATYPE_NULL)
        return false;
    for (*class = 0; *class < COUNT_OF(handles); ++*class)
        for (size_t i = 0; i < handles[*class].n; i++)
            if (handles[*class].types[i] == type)
                return true;
    return false;
}

bool predef_is_handle(MPI_Datatype type)
{
    enum predef_class class;

    return find_handle(type, &class);
}

/* For each class the element types by the logarithm of their size; ACC_NONE where there is none. */
enum { SIZES = 6 };
static const uint8_t by_size[][SIZES] = {
    [CLASS_SIGNED] = {ACC_I8, ACC_I16, ACC_I32, ACC_I64, ACC_I128},
    [CLASS_UNSIGNED] = {ACC_U8, ACC_U16, ACC_U32, ACC_U64},
    [CLASS_REAL] = {[1] = ACC_F16, ACC_F32, ACC_F64, ACC_F128},
    [CLASS_COMPLEX] = {[2] = ACC_C16, ACC_C32, ACC_C64, ACC_C128},
    [CLASS_C_REAL] = {[1] = ACC_F16, ACC_F32, ACC_F64, ACC_F80},
    [CLASS_C_COMPLEX] = {[3] = ACC_C32, ACC_C64, ACC_C80},
    [CLASS_LOGICAL] = {ACC_LOGICAL8, ACC_LOGICAL16, ACC_LOGICAL32, ACC_LOGICAL64, ACC_LOGICAL128},
    [CLASS_2INTEGER] = {[3] = ACC_PAIR_I32_I32, ACC_PAIR_I64_I64},
    [CLASS_2REAL] = {[3] = ACC_PAIR_F32_F32, ACC_PAIR_F64_F64},
};

/* The element types of classes for which the size says nothing. MPI_CHAR is not in the standard's
 * list (MPI 4.1, 6.9.2), but both hosts add and compare it. */
static const uint8_t by_class[] = {
    [CLASS_LONG_INT] = sizeof(long) == 8 ? ACC_PAIR_I64_I32 : ACC_PAIR_I32_I32,
    [CLASS_BOOL] = ACC_BOOL,
    [CLASS_BYTE] = ACC_BYTE,
    [CLASS_C_CHAR] = CHAR_MIN < 0 ? ACC_I8 : ACC_U8,
    [CLASS_CHAR] = ACC_CHAR,
    [CLASS_WCHAR] = ACC_WCHAR,
    [CLASS_FLOAT_INT] = ACC_PAIR_F32_I32,
    [CLASS_DOUBLE_INT] = ACC_PAIR_F64_I32,
    [CLASS_SHORT_INT] = ACC_PAIR_I16_I32,
    [CLASS_LONG_DOUBLE_INT] = ACC_PAIR_F80_I32,
    [CLASS_OPAQUE] = ACC_NONE,
};

static enum acc_type class_element(enum predef_class class, MPI_Count size)
{
    if (by_class[class] != ACC_NONE)
        return (enum acc_type)by_class[class];
    if (class >= COUNT_OF(by_size) || size <= 0 || (size & (size - 1)) || size >> SIZES)
        return ACC_NONE;
    return (enum acc_type)by_size[class][__builtin_ctzll((unsigned long long)size)];
}

/* element_of returns the element type if the host lays the type out as the kernels do; any other
 * type is opaque. */
static enum acc_type element_of(MPI_Datatype type, enum predef_class class)
{
    MPI_Count size, lb, extent;

    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS)
        return ACC_NONE;
    enum acc_type acc = class_element(class, size);
    if (acc == ACC_NONE)
        return ACC_NONE;
    struct dtype shape = dtype_basic((uint8_t)acc);
    bool same = lb == 0 && (size_t)size == shape.size && (ptrdiff_t)extent == shape.extent;
    return same ? acc : ACC_NONE;
}

enum acc_type predef_acc_type(MPI_Datatype type)
{
    enum predef_class class;

    return find_handle(type, &class) ? element_of(type, class) : ACC_NONE;
}

/* selected_real_kind takes the smallest kind that will do; on x86 gfortran that
 * is REAL(10), the C long double, up to 18 digits and an exponent of 4931. */
static bool needs_binary128(int precision, int range)
{
    return (precision != MPI_UNDEFINED && precision > 18) ||
           (range != MPI_UNDEFINED && range > 4931);
}

enum acc_type predef_f90_real(MPI_Datatype type, int precision, int range)
{
    return element_of(type, needs_binary128(precision, range) ? CLASS_REAL : CLASS_C_REAL);
}

enum acc_type predef_f90_complex(MPI_Datatype type, int precision, int range)
{
    return element_of(type, needs_binary128(precision, range) ? CLASS_COMPLEX : CLASS_C_COMPLEX);
}

enum acc_type predef_f90_integer(MPI_Datatype type)
{
    return element_of(type, CLASS_SIGNED);
}
