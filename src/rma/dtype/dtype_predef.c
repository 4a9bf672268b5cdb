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
 */
#include "rma/dtype/dtype_predef.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "rma/dtype/dtype.h"

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
    CLASS_OPAQUE,
};

static const struct {
    MPI_Datatype type;
    enum predef_class class;
} by_handle[] = {
    {MPI_DOUBLE, CLASS_C_REAL},
    {MPI_INT, CLASS_SIGNED},
    {MPI_BYTE, CLASS_BYTE},
    {MPI_FLOAT, CLASS_C_REAL},
    {MPI_CHAR, CLASS_C_CHAR},
    {MPI_LONG, CLASS_SIGNED},
    {MPI_SIGNED_CHAR, CLASS_SIGNED},
    {MPI_UNSIGNED_CHAR, CLASS_UNSIGNED},
    {MPI_SHORT, CLASS_SIGNED},
    {MPI_UNSIGNED_SHORT, CLASS_UNSIGNED},
    {MPI_UNSIGNED, CLASS_UNSIGNED},
    {MPI_UNSIGNED_LONG, CLASS_UNSIGNED},
    {MPI_LONG_LONG_INT, CLASS_SIGNED},
    {MPI_UNSIGNED_LONG_LONG, CLASS_UNSIGNED},
    {MPI_LONG_DOUBLE, CLASS_C_REAL},
    {MPI_WCHAR, CLASS_WCHAR},
    {MPI_PACKED, CLASS_OPAQUE},
    {MPI_INT8_T, CLASS_SIGNED},
    {MPI_INT16_T, CLASS_SIGNED},
    {MPI_INT32_T, CLASS_SIGNED},
    {MPI_INT64_T, CLASS_SIGNED},
    {MPI_UINT8_T, CLASS_UNSIGNED},
    {MPI_UINT16_T, CLASS_UNSIGNED},
    {MPI_UINT32_T, CLASS_UNSIGNED},
    {MPI_UINT64_T, CLASS_UNSIGNED},
    {MPI_AINT, CLASS_SIGNED},
    {MPI_OFFSET, CLASS_SIGNED},
    {MPI_COUNT, CLASS_SIGNED},
    {MPI_C_BOOL, CLASS_BOOL},
    {MPI_C_FLOAT_COMPLEX, CLASS_C_COMPLEX},
    {MPI_C_DOUBLE_COMPLEX, CLASS_C_COMPLEX},
    {MPI_C_LONG_DOUBLE_COMPLEX, CLASS_C_COMPLEX},
    {MPI_CXX_BOOL, CLASS_BOOL},
    {MPI_CXX_FLOAT_COMPLEX, CLASS_C_COMPLEX},
    {MPI_CXX_DOUBLE_COMPLEX, CLASS_C_COMPLEX},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, CLASS_C_COMPLEX},
    {MPI_FLOAT_INT, CLASS_FLOAT_INT},
    {MPI_DOUBLE_INT, CLASS_DOUBLE_INT},
    {MPI_LONG_INT, CLASS_LONG_INT},
    {MPI_SHORT_INT, CLASS_SHORT_INT},
    {MPI_2INT, CLASS_2INTEGER},
    {MPI_LONG_DOUBLE_INT, CLASS_LONG_DOUBLE_INT},
    {MPI_INTEGER, CLASS_SIGNED},
    {MPI_REAL, CLASS_REAL},
    {MPI_DOUBLE_PRECISION, CLASS_REAL},
    {MPI_COMPLEX, CLASS_COMPLEX},
    {MPI_DOUBLE_COMPLEX, CLASS_COMPLEX},
    {MPI_LOGICAL, CLASS_LOGICAL},
    {MPI_CHARACTER, CLASS_CHAR},
    {MPI_2INTEGER, CLASS_2INTEGER},
    {MPI_2REAL, CLASS_2REAL},
    {MPI_2DOUBLE_PRECISION, CLASS_2REAL},
    {HOST_INTEGER1, CLASS_SIGNED},
    {HOST_INTEGER2, CLASS_SIGNED},
    {HOST_INTEGER4, CLASS_SIGNED},
    {HOST_INTEGER8, CLASS_SIGNED},
    {HOST_INTEGER16, CLASS_SIGNED},
    {HOST_REAL2, CLASS_REAL},
    {HOST_REAL4, CLASS_REAL},
    {HOST_REAL8, CLASS_REAL},
    {HOST_REAL16, CLASS_REAL},
    {HOST_COMPLEX4, CLASS_COMPLEX},
    {HOST_COMPLEX8, CLASS_COMPLEX},
    {HOST_COMPLEX16, CLASS_COMPLEX},
    {HOST_COMPLEX32, CLASS_COMPLEX},
    {HOST_LOGICAL1, CLASS_LOGICAL},
    {HOST_LOGICAL2, CLASS_LOGICAL},
    {HOST_LOGICAL4, CLASS_LOGICAL},
    {HOST_LOGICAL8, CLASS_LOGICAL},
    {HOST_LOGICAL16, CLASS_LOGICAL},
};

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
    for (size_t i = 0; i < COUNT_OF(by_handle); i++) {
        if (by_handle[i].type == type) {
            *class = by_handle[i].class;
            return true;
        }
    }
    return false;
}

bool predef_is_handle(MPI_Datatype type)
{
    enum predef_class class;

    return find_handle(type, &class);
}

static enum acc_type pick(MPI_Count size, enum acc_type s1, enum acc_type s2, enum acc_type s4,
                          enum acc_type s8, enum acc_type s16, enum acc_type s32)
{
    switch (size) {
    case 1:
        return s1;
    case 2:
        return s2;
    case 4:
        return s4;
    case 8:
        return s8;
    case 16:
        return s16;
    case 32:
        return s32;
    default:
        return ACC_NONE;
    }
}

static enum acc_type class_element(enum predef_class class, MPI_Count size)
{
    switch (class) {
    case CLASS_SIGNED:
        return pick(size, ACC_I8, ACC_I16, ACC_I32, ACC_I64, ACC_NONE, ACC_NONE);
    case CLASS_UNSIGNED:
        return pick(size, ACC_U8, ACC_U16, ACC_U32, ACC_U64, ACC_NONE, ACC_NONE);
    case CLASS_REAL:
        return pick(size, ACC_NONE, ACC_NONE, ACC_F32, ACC_F64, ACC_F128, ACC_NONE);
    case CLASS_COMPLEX:
        return pick(size, ACC_NONE, ACC_NONE, ACC_NONE, ACC_C32, ACC_C64, ACC_C128);
    case CLASS_C_REAL:
        return pick(size, ACC_NONE, ACC_NONE, ACC_F32, ACC_F64, ACC_F80, ACC_NONE);
    case CLASS_C_COMPLEX:
        return pick(size, ACC_NONE, ACC_NONE, ACC_NONE, ACC_C32, ACC_C64, ACC_C80);
    case CLASS_LOGICAL:
        return pick(size, ACC_LOGICAL8, ACC_LOGICAL16, ACC_LOGICAL32, ACC_LOGICAL64, ACC_NONE,
                    ACC_NONE);
    case CLASS_2INTEGER:
        return pick(size, ACC_NONE, ACC_NONE, ACC_NONE, ACC_PAIR_I32_I32, ACC_PAIR_I64_I64,
                    ACC_NONE);
    case CLASS_2REAL:
        return pick(size, ACC_NONE, ACC_NONE, ACC_NONE, ACC_PAIR_F32_F32, ACC_PAIR_F64_F64,
                    ACC_NONE);
    case CLASS_LONG_INT:
        return sizeof(long) == 8 ? ACC_PAIR_I64_I32 : ACC_PAIR_I32_I32;
    case CLASS_BOOL:
        return ACC_BOOL;
    case CLASS_BYTE:
        return ACC_BYTE;
    case CLASS_C_CHAR: /* not in the standard's list (MPI 4.1, 6.9.2), but both hosts add and
                          compare it */
        return CHAR_MIN < 0 ? ACC_I8 : ACC_U8;
    case CLASS_CHAR:
        return ACC_CHAR;
    case CLASS_WCHAR:
        return ACC_WCHAR;
    case CLASS_FLOAT_INT:
        return ACC_PAIR_F32_I32;
    case CLASS_DOUBLE_INT:
        return ACC_PAIR_F64_I32;
    case CLASS_SHORT_INT:
        return ACC_PAIR_I16_I32;
    case CLASS_LONG_DOUBLE_INT:
        return ACC_PAIR_F80_I32;
    case CLASS_OPAQUE:
        break;
    }
    return ACC_NONE;
}

/* The host must lay the type out as the kernels do, or it is opaque. */
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
