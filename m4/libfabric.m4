dnl SPDX-License-Identifier: BSD-3-Clause
# MRMA_LIBFABRIC_SYMBOLS - the name of the libfabric that the headers belong to, and the versions
# of its functions' symbols, as the linker chooses them: what src/netmod/ofi/dlopen_libfabric.c asks the dynamic
# linker for. libfabric keeps a function's older forms under the versions that they had.
AC_DEFUN([MRMA_LIBFABRIC_SYMBOLS], [
AC_CHECK_TOOL([OBJDUMP], [objdump], [no])
mrma_save_LIBS=$LIBS
mrma_save_CPPFLAGS=$CPPFLAGS
LIBS="$LIBFABRIC_LIBS $LIBS"
CPPFLAGS="$CPPFLAGS $LIBFABRIC_CFLAGS"
AC_MSG_CHECKING([for the versions of libfabric's symbols])
mrma_symbols=
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <rdma/fabric.h>]],
    [[struct fi_info *info = 0;
      struct fid_fabric *fabric = 0;
      fi_getinfo(FI_VERSION(1, 17), 0, 0, 0, fi_dupinfo(info), &info);
      fi_fabric(info->fabric_attr, &fabric, 0);
      fi_freeinfo(info);
      return *fi_strerror(1);]])],
    [mrma_symbols=`$OBJDUMP -p -T conftest$EXEEXT 2>/dev/null`])
LIBS=$mrma_save_LIBS
CPPFLAGS=$mrma_save_CPPFLAGS
mrma_soname=`printf '%s\n' "$mrma_symbols" | $SED -n 's/^ *NEEDED *\(libfabric[[^ ]]*\)$/\1/p'`
AS_IF([test -z "$mrma_soname"],
    [AC_MSG_ERROR([no program can be linked with a shared libfabric, or objdump (Debian: binutils) is missing])])
AC_DEFINE_UNQUOTED([LIBFABRIC_SONAME], ["$mrma_soname"], [What the dynamic linker calls libfabric.])
m4_foreach_w([mrma_name], [getinfo freeinfo dupinfo fabric strerror],
    [mrma_version=`printf '%s\n' "$mrma_symbols" | $SED -n 's/.*[[ (]]\(FABRIC_[[0-9.]]*\))\{0,1\} *fi_'mrma_name'$/\1/p'`
    AS_IF([test -z "$mrma_version"], [AC_MSG_ERROR([fi_]mrma_name[ has no version])])
    AC_DEFINE_UNQUOTED([FI_]m4_toupper(mrma_name)[_VERSION], ["$mrma_version"], [Of the symbol fi_]mrma_name[.])
])
AC_MSG_RESULT([$mrma_soname])
])
