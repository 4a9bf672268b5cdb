# SPDX-License-Identifier: BSD-3-Clause
# launch.sh - read by the scripts here: how to start a program under the host's
# launcher.
#
# In: MPIEXEC (default that of the build which the program $benchmark lies in, else
# mpiexec), MPIEXEC_FLAGS. Out: the function launch N PROGRAM ARGUMENTS..., the
# variable launcher (mpich, openmpi or other). Open MPI refuses to run as root and to
# start more ranks than processors unless told otherwise; it is told so only where
# that applies.

: "${benchmark:=}"
: "${MPIEXEC:=$(sed -n "s/^MPIEXEC='\(.*\)'$/\1/p" "$(dirname "$benchmark")/../../test/run/env.sh" 2>/dev/null)}"
: "${MPIEXEC:=mpiexec}"
: "${MPIEXEC_FLAGS:=}"

if ! command -v "${MPIEXEC%% *}" >/dev/null 2>&1; then
    echo "$0: no launcher '$MPIEXEC' (set MPIEXEC)" >&2
    exit 2
fi
launch_always=
case $($MPIEXEC --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *PRRTE*)
    launcher=openmpi
    launch_always=--oversubscribe # releases have several names for the variable
    if [ "$(id -u)" -eq 0 ]; then
        OMPI_ALLOW_RUN_AS_ROOT=1
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    fi
    ;;
*HYDRA* | *MPICH*) launcher=mpich ;;
*) launcher=other ;;
esac

launch() {
    launch_n=$1
    shift
    # shellcheck disable=SC2086  # lists of words
    $MPIEXEC $launch_always $MPIEXEC_FLAGS -n "$launch_n" "$@"
}
