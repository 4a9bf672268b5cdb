/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_leaks.c - linked into the unit tests that call MPI_Init or libfabric, for builds
 * with sanitizers.
 *
 * libfabric leaks a description of each connection. The hosts leak in MPI_Init, from modules that
 * are unloaded again: only whole call stacks show it. The sanitizers' run time asks these
 * functions, if the program has them, for options and for the leaks that are not ours.
 */
#define VISIBLE __attribute__((visibility("default")))

VISIBLE const char *__asan_default_options(void);
VISIBLE const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:MPI_Init\nleak:ompi_mpi_init\nleak:MPI_Finalize\nleak:ompi_mpi_finalize\nleak:"
           "libfabric.so\n";
}
