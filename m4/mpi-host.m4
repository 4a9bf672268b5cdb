dnl SPDX-License-Identifier: BSD-3-Clause
# mpi-host.m4 - find the host: the MPI library that libmpi-rma is built for.
#
# MRMA_MPI_HOST takes the wrapper named by MPICC and sets
#   MPI_CPPFLAGS, MPI_LIBS   what the wrapper adds to the compiler's command,
#                            so that CC stays a free choice
#   MPI_HOST                 mpich, openmpi or abi
#   MPI_HOST_VERSION         e.g. 4.0.2; for abi the version of the ABI, e.g. 1.0
#   MPIEXEC                  the launcher that belongs to the wrapper
#   MPIFORT                  the Fortran wrapper that belongs to it, or empty
# The host is told by the macros of its mpi.h, never by the wrapper's name.
#
# The host abi is every MPI library with the standard ABI of MPI 5.0. It is taken with --with-host=abi,
# or where the wrapper links with libmpi_abi. It is compiled with the header include/abi/mpi.h alone.
# It needs no wrapper: without one, programs are linked with a library of that name that has the
# functions of the header and does nothing, and find a real one when they run.
# Call it before AC_PROG_CC for MRMA_MPI_WRAPPER, after it for MRMA_MPI_HOST.

# MRMA_MPI_WRAPPER: find MPICC and take its flags apart; choose CC if unset.
AC_DEFUN([MRMA_MPI_WRAPPER], [
AC_ARG_VAR([MPICC], [the host's C compiler wrapper, e.g. mpicc.mpich or mpicc.openmpi])
AC_ARG_VAR([MPIEXEC], [the host's launcher (default: the one next to MPICC)])
AC_ARG_VAR([MPIFORT], [the host's Fortran wrapper (default: the one next to MPICC)])
AC_ARG_WITH([host],
    [AS_HELP_STRING([--with-host=auto|abi],
        [build for every MPI library with the standard ABI of MPI 5.0, or for the one of MPICC (default: auto,
         which is abi where MPICC links with libmpi_abi)])],
    [], [with_host=auto])
AS_CASE([$with_host], [auto|abi], [], [AC_MSG_ERROR([--with-host=$with_host: expected auto or abi])])
MPI_CPPFLAGS=
MPI_LIBS=
mrma_wrapped_cc=
AS_IF([test "$with_host" = abi && test -z "$MPICC"], [AC_PATH_PROGS([MPICC], [mpicc_abi])])
AS_IF([test "$with_host" = auto || test -n "$MPICC"], [MRMA_MPI_WRAPPER_FLAGS])
AS_CASE([" $MPI_LIBS "], [*" -lmpi_abi "*|*/libmpi_abi.so*], [with_host=abi])
AS_IF([test "$with_host" = abi], [
    MPI_CPPFLAGS="-isystem `cd "$srcdir" && pwd`/include/abi"
    AS_CASE([" $MPI_LIBS "], [*" -lmpi_abi "*|*/libmpi_abi.so*], [], [MPI_LIBS=])])
AC_SUBST([MPI_CPPFLAGS])
AC_SUBST([MPI_LIBS])
# The wrapper's compiler makes programs for this machine: a cross compiler is found by AC_PROG_CC.
AS_IF([test -z "$CC" && test "$host" = "$build" && command -v "$mrma_wrapped_cc" >/dev/null 2>&1], [CC=$mrma_wrapped_cc])
])

# MRMA_MPI_WRAPPER_FLAGS: MPI_CPPFLAGS, MPI_LIBS and the compiler behind MPICC.
AC_DEFUN([MRMA_MPI_WRAPPER_FLAGS], [
AS_IF([test -n "$MPICC"], [
    AC_MSG_CHECKING([for the wrapper $MPICC])
    mrma_wrapper=`command -v "$MPICC" 2>/dev/null`
    AS_IF([test -z "$mrma_wrapper"], [
        AC_MSG_RESULT([not found])
        AC_MSG_ERROR([MPICC=$MPICC is not a program. Give the C compiler wrapper of MPICH or Open MPI.])])
    MPICC=$mrma_wrapper
    AC_MSG_RESULT([$MPICC])
], [
    AC_PATH_PROGS([MPICC], [mpicc mpicc.mpich mpicc.openmpi])
    AS_IF([test -z "$MPICC"], [
        AC_MSG_ERROR([no mpicc found. Install MPICH or Open MPI with its headers, or set MPICC.])])
])
AC_MSG_CHECKING([what $MPICC adds to the command line])
mrma_show=`"$MPICC" -show 2>/dev/null || "$MPICC" --showme 2>/dev/null`
AS_IF([test -z "$mrma_show"], [
    AC_MSG_RESULT([unknown])
    AC_MSG_ERROR([$MPICC understands neither -show nor --showme, so it is not MPICH's or Open MPI's wrapper.])])
mrma_prev=
for mrma_word in $mrma_show; do
    AS_IF([test -z "$mrma_wrapped_cc"], [mrma_wrapped_cc=$mrma_word; continue])
    AS_CASE([$mrma_prev],
        [-I|-isystem], [mrma_prev=; MRMA_MPI_INCLUDE([$mrma_word]); continue],
        [-Xlinker|-L], [MPI_LIBS="$MPI_LIBS $mrma_prev $mrma_word"; mrma_prev=; continue])
    AS_CASE([$mrma_word],
        [-I|-isystem|-Xlinker|-L], [mrma_prev=$mrma_word],
        [-I*], [mrma_word=`AS_ECHO(["$mrma_word"]) | sed 's/^-I//'`; MRMA_MPI_INCLUDE([$mrma_word])],
        [-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $mrma_word"],
        [-L*|-l*|-Wl,*|/*.so|/*.a], [MPI_LIBS="$MPI_LIBS $mrma_word"])
done
AC_MSG_RESULT([$MPI_CPPFLAGS$MPI_LIBS])
])

# MRMA_ABI_STUB: a library that programs can be linked with where no wrapper has named one, and a wrapper that does it.
AC_DEFUN([MRMA_ABI_STUB], [
TEST_MPICC=$MPICC
AS_IF([test "$with_host" = abi && test -z "$MPI_LIBS"], [
    AC_MSG_CHECKING([for a library in place of libmpi_abi to link with])
    mkdir -p abi-stub
    sed -n 's/^[[A-Za-z_]]* \(P*MPI_[[A-Z]][[A-Za-z0-9_]]*\)(.*;.*/void \1(void); void \1(void) {}/p' \
        "$srcdir/include/abi/mpi.h" | sort -u >abi-stub/stub.c
    AS_IF([$CC -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o abi-stub/libmpi_abi.so abi-stub/stub.c >&AS_MESSAGE_LOG_FD 2>&1],
        [AC_MSG_RESULT([made])],
        [AC_MSG_RESULT([failed])
         AC_MSG_ERROR([$CC can't make abi-stub/libmpi_abi.so; config.log says why])])
    MPI_LIBS="-L`pwd`/abi-stub -lmpi_abi"
    dnl For what the tests build outside of this tree.
    TEST_MPICC=`pwd`/abi-stub/mpicc
    mrma_abi=`cd "$srcdir" && pwd`/include/abi
    cat >abi-stub/mpicc <<_MRMA_EOF
#!/bin/sh
for word; do
    case \$word in
    -show) exec echo $CC -I$mrma_abi $MPI_LIBS ;;
    -c | -E | -S) exec $CC -I$mrma_abi "\$[]@" ;;
    esac
done
exec $CC -I$mrma_abi "\$[]@" $MPI_LIBS
_MRMA_EOF
    chmod +x abi-stub/mpicc
])
AC_SUBST([TEST_MPICC])
])

# The host's headers are system headers to us: their warnings are not ours.
# (-isystem /usr/include would hide the compiler's own directories, hence -I.)
m4_define([MRMA_MPI_INCLUDE], [AS_CASE([$1],
    [/usr/include|/usr/include/], [MPI_CPPFLAGS="$MPI_CPPFLAGS -I$1"],
    [MPI_CPPFLAGS="$MPI_CPPFLAGS -isystem $1"])])

# MRMA_MPI_HOST: which host, which version, what its mpi.h declares.
AC_DEFUN([MRMA_MPI_HOST], [
AC_REQUIRE([AC_PROG_CPP])
MRMA_ABI_STUB
mrma_save_CPPFLAGS=$CPPFLAGS
mrma_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_MSG_CHECKING([which MPI library ${MPICC:-the program} belongs to])
cat >conftest.c <<_MRMA_EOF
#include <mpi.h>
#if defined MPI_H_ABI && defined MPI_ABI_VERSION
mrma_host abi MPI_ABI_VERSION . MPI_ABI_SUBVERSION
#elif defined OMPI_MAJOR_VERSION
mrma_host openmpi OMPI_MAJOR_VERSION . OMPI_MINOR_VERSION . OMPI_RELEASE_VERSION
#elif defined MPICH_VERSION
mrma_host mpich MPICH_VERSION
#endif
mrma_standard MPI_VERSION
_MRMA_EOF
# -P: else a macro of a system header comes on a line of its own.
$CPP -P $CPPFLAGS conftest.c >conftest.i 2>conftest.err
MPI_HOST=`sed -n 's/^mrma_host \([[a-z]]*\) .*/\1/p' conftest.i`
MPI_HOST_VERSION=`sed -n 's/^mrma_host [[a-z]]* //p' conftest.i | tr -d ' "'`
mrma_standard=`sed -n 's/^mrma_standard //p' conftest.i | tr -d ' '`
AS_IF([test -z "$mrma_standard"], [
    AC_MSG_RESULT([unknown])
    cat conftest.err >&AS_MESSAGE_LOG_FD
    AC_MSG_ERROR([mpi.h can't be read with $MPICC's flags. Are the host's development files installed?])])
AS_IF([test -z "$MPI_HOST"], [
    AC_MSG_RESULT([neither MPICH nor Open MPI])
    AC_MSG_ERROR([mpi.h defines neither MPICH_VERSION nor OMPI_MAJOR_VERSION. libmpi-rma works with these two.])])
rm -f conftest.c conftest.i conftest.err
AC_MSG_RESULT([$MPI_HOST $MPI_HOST_VERSION])
AS_IF([test "$mrma_standard" -lt 3], [
    AC_MSG_ERROR([$MPI_HOST $MPI_HOST_VERSION implements MPI $mrma_standard; MPI 3.0 or later is needed.])])
AC_MSG_CHECKING([whether programs link with $MPI_HOST])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
    [[MPI_Win win; void *base; return PMPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AS_IF([test "$host" != "$build"],
        [AC_MSG_ERROR([$CC can't link with $MPI_LIBS: a cross build needs the MPI library of $host_alias, and as MPICC a wrapper that names its headers and libraries.])])
     AC_MSG_ERROR([a program with PMPI_Win_allocate_shared doesn't link with $MPI_LIBS; config.log says why.])])

AC_CHECK_DECL([MPI_Put_c],
    [AC_DEFINE([HAVE_MPI_LARGE_COUNT], [1], [The host declares the large-count functions (MPI_Put_c).])],
    [], [[#include <mpi.h>]])
AC_CHECK_DECL([MPI_Session_init],
    [AC_DEFINE([HAVE_MPI_SESSIONS], [1], [The host declares MPI_Session_init.])],
    [], [[#include <mpi.h>]])
dnl Without them: an integer as all handles of MPICH, or a pointer as all handles of the others.
mrma_session=MPI_Session
mrma_session_null=MPI_SESSION_NULL
AS_IF([test "$ac_cv_have_decl_MPI_Session_init" != yes],
    [mrma_session_null=0
     AS_IF([test "$MPI_HOST" = mpich], [mrma_session=int], [mrma_session='void *'])])
AC_DEFINE_UNQUOTED([HOST_SESSION], [$mrma_session], [The type of MPI_Session.])
AC_DEFINE_UNQUOTED([HOST_SESSION_NULL], [(($mrma_session)$mrma_session_null)], [MPI_SESSION_NULL.])
MRMA_COMBINER([HVECTOR_INTEGER])
MRMA_COMBINER([HINDEXED_INTEGER])
MRMA_COMBINER([STRUCT_INTEGER])
MRMA_SPLIT_TYPE([HW_GUIDED])
MRMA_SPLIT_TYPE([HW_UNGUIDED])
MRMA_SPLIT_TYPE([RESOURCE_GUIDED])
AC_CHECK_DECL([MPI_Request_get_status_any],
    [AC_DEFINE([HAVE_MPI_GET_STATUS_MANY], [1], [The host declares MPI_Request_get_status_any, _all and _some.])],
    [], [[#include <mpi.h>]])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
    int MPI_Request_get_status_all(int n, const MPI_Request requests[], int *flag, MPI_Status statuses[]);]])],
    [mrma_request='const MPI_Request'], [mrma_request=MPI_Request])
AC_DEFINE_UNQUOTED([GET_STATUS_REQUEST], [$mrma_request], [What MPI_Request_get_status_all takes an array of.])
MRMA_CONSTANT([ERRORS_ABORT], [MPI_ERRORS_ARE_FATAL])
m4_foreach_w([mrma_type], [INTEGER1 INTEGER2 INTEGER4 INTEGER8 INTEGER16 REAL2 REAL4 REAL8 REAL16
    COMPLEX4 COMPLEX8 COMPLEX16 COMPLEX32 LOGICAL1 LOGICAL2 LOGICAL4 LOGICAL8 LOGICAL16],
    [MRMA_CONSTANT(mrma_type, [MPI_DATATYPE_NULL])])
MRMA_CONSTANT([C_FLOAT16], [MPI_DATATYPE_NULL], [MPIX])
CPPFLAGS=$mrma_save_CPPFLAGS
LIBS=$mrma_save_LIBS

AC_SUBST([MPI_HOST])
AC_SUBST([MPI_HOST_VERSION])
AC_DEFINE_UNQUOTED([MPIRMA_HOST], ["$MPI_HOST"], [What it is built for: "mpich", "openmpi" or "abi".])
AC_DEFINE_UNQUOTED([MPIRMA_HOST_VERSION], ["$MPI_HOST_VERSION"], [The host's version.])
AS_CASE([$MPI_HOST],
    [mpich], [AC_DEFINE([HOST_MPICH], [1], [Built for MPICH.])],
    [openmpi], [AC_DEFINE([HOST_OPENMPI], [1], [Built for Open MPI.])],
    [AC_DEFINE([HOST_ABI], [1], [Built for the standard ABI.])])
AM_CONDITIONAL([HOST_ABI], [test "$MPI_HOST" = abi])
AM_CONDITIONAL([HOST_MPICH], [test "$MPI_HOST" = mpich])
AM_CONDITIONAL([HOST_OPENMPI], [test "$MPI_HOST" = openmpi])
dnl Of all that the wrapper links with: the other names differ between releases.
OPENMPI_LIBS=
AS_IF([test "$MPI_HOST" = openmpi], [
    for mrma_word in $MPI_LIBS; do
        AS_CASE([$mrma_word], [-L*|-Wl,*|-lmpi|*/libmpi.so], [OPENMPI_LIBS="$OPENMPI_LIBS $mrma_word"])
    done])
AC_SUBST([OPENMPI_LIBS])
MRMA_MPI_COMPANION([MPIEXEC], [mpiexec])
AS_IF([test -z "$MPIEXEC" && test "$MPI_HOST" != abi], [
    AC_MSG_ERROR([no mpiexec next to $MPICC. Set MPIEXEC to the launcher of $MPI_HOST.])])
AC_MSG_CHECKING([whose launcher ${MPIEXEC:-there} is])
AS_CASE([`"${MPIEXEC:-false}" --version 2>&1 | sed 3q`],
    [*HYDRA*], [mrma_launcher=mpich],
    [*OpenRTE*|*"Open MPI"*|*PRTE*], [mrma_launcher=openmpi],
    [mrma_launcher=unknown])
AC_MSG_RESULT([$mrma_launcher])
AS_CASE([$MPI_HOST:$mrma_launcher], [abi:*|*:unknown|"$MPI_HOST:$MPI_HOST"], [],
    [AC_MSG_ERROR([$MPIEXEC is $mrma_launcher's launcher but $MPICC is $MPI_HOST's wrapper. Set MPIEXEC.])])
MRMA_MPI_COMPANION([MPIFORT], [mpifort])
])

# MRMA_COMBINER(NAME): HOST_COMBINER_<NAME> is the value of a combiner that MPI-3.0 removed and hosts
# still give: its own name, or the one that Open MPI keeps for it, or -1, which is no combiner. A name
# may be there as a macro that only makes an error, hence it is used and not just looked for.
AC_DEFUN([MRMA_COMBINER], [
AC_MSG_CHECKING([for the name of MPI_COMBINER_$1])
mrma_value=-1
for mrma_name in OMPI_WAS_MPI_COMBINER_$1 MPI_COMBINER_$1; do
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[switch (0) { case $mrma_name: break; }]])],
        [mrma_value=$mrma_name])
done
AC_MSG_RESULT([$mrma_value])
AC_DEFINE_UNQUOTED([HOST_COMBINER_$1], [$mrma_value], [MPI_COMBINER_$1 of the host, or -1.])
])

# MRMA_SPLIT_TYPE(NAME): HOST_COMM_TYPE_<NAME> is MPI_COMM_TYPE_<NAME> where the host
# declares that, else a value that no program gives together with a split.
AC_DEFUN([MRMA_SPLIT_TYPE], [
AC_CHECK_DECL([MPI_COMM_TYPE_$1], [mrma_value=MPI_COMM_TYPE_$1], [mrma_value=MPI_UNDEFINED],
    [[#include <mpi.h>]])
AC_DEFINE_UNQUOTED([HOST_COMM_TYPE_$1], [$mrma_value],
    [MPI_COMM_TYPE_$1 of the host, or MPI_UNDEFINED.])
])

# MRMA_CONSTANT(NAME, INSTEAD, [PREFIX = MPI]): HOST_<NAME> is <PREFIX>_<NAME> where the host
# declares that, else INSTEAD, a value that stands for none.
AC_DEFUN([MRMA_CONSTANT], [
AC_CHECK_DECL(m4_default([$3], [MPI])_$1, [mrma_value=m4_default([$3], [MPI])_$1], [mrma_value=$2], [[#include <mpi.h>]])
AC_DEFINE_UNQUOTED([HOST_$1], [$mrma_value], m4_default([$3], [MPI])[_$1 of the host, or $2.])
])

# MRMA_MPI_COMPANION(VARIABLE, NAME): the host's program NAME, from the directory
# of MPICC: NAME with MPICC's own suffix, NAME.<host>, NAME. Empty if none.
AC_DEFUN([MRMA_MPI_COMPANION], [
AC_MSG_CHECKING([for $2 of $MPI_HOST])
AS_IF([test -z "$$1" && test -z "$MPICC"], [], [test -z "$$1"], [
    mrma_dir=`AS_DIRNAME(["$MPICC"])`
    mrma_suffix=`AS_BASENAME(["$MPICC"]) | sed 's/^mpicc//'`
    for mrma_name in "$2$mrma_suffix" "$2.$MPI_HOST" "$2"; do
        AS_IF([test -x "$mrma_dir/$mrma_name"], [$1=$mrma_dir/$mrma_name; break])
    done
], [
    $1=`command -v "$$1" 2>/dev/null || AS_ECHO(["$$1"])`
])
AC_MSG_RESULT([${$1:-none}])
])

# MRMA_MPI_FORTRAN: does MPIFORT work, and is it this host's? Sets HAVE_FORTRAN
# (yes or the reason why not, for the tests' SKIP lines).
AC_DEFUN([MRMA_MPI_FORTRAN], [
AS_IF([test "$MPI_HOST" = abi], [HAVE_FORTRAN="the standard ABI has no Fortran interface of its own"],
    [test -z "$MPIFORT"], [HAVE_FORTRAN="no mpifort for $MPI_HOST was found by configure"], [
    HAVE_FORTRAN=yes
    AC_LANG_PUSH([Fortran])
    mrma_no_f90="$MPIFORT doesn't compile .f90 files (see config.log)"
    AC_FC_SRCEXT([f90], [], [HAVE_FORTRAN=$mrma_no_f90])
    AC_MSG_CHECKING([whether $MPIFORT compiles and links programs for $MPI_HOST])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
      program conftest
      use mpi_f08
      implicit none
      type(MPI_Win) :: win
      integer :: ierr
      call MPI_Init(ierr)
      call MPI_Win_fence(0, win, ierr)
      end program conftest
]])], [], [HAVE_FORTRAN="$MPIFORT can't compile a program with 'use mpi_f08' (see config.log)"])
    AS_IF([test ! -x "$MPIFORT"], [HAVE_FORTRAN="$MPIFORT is not a program"])
    AS_CASE([$MPI_HOST:`"$MPIFORT" -show 2>/dev/null`],
        [mpich:*-lopen-rte*|mpich:*-lmpi_mpifh*|openmpi:*-lmpich*],
        [HAVE_FORTRAN="$MPIFORT doesn't belong to $MPI_HOST"])
    AC_MSG_RESULT([$HAVE_FORTRAN])
    AC_LANG_POP([Fortran])
    AS_CASE([${SANITIZERS:+sanitized}:`$CC --version 2>/dev/null | sed 1q`],
        [sanitized:*clang*], [HAVE_FORTRAN="gfortran can't link with the sanitizers of clang"])
])
AC_SUBST([HAVE_FORTRAN])
AM_CONDITIONAL([HAVE_FORTRAN], [test "$HAVE_FORTRAN" = yes])
])
