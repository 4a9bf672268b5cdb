# SPDX-License-Identifier: BSD-3-Clause
# fabrics.sh - what a run over a fabric has in its environment, each process being a node of its own. Read by
# test/lists/run-list.sh and test/apps/common.sh, after test/run/env.sh.

# The fabrics that the test provider can be (test/fabric).
profiles="ideal verbs cxi efa opx psm3"

# Exports what a run has over any of these.
over_profiles() {
    export MPIRMA_RANKS_PER_NODE=1 FI_PROVIDER_PATH="$abs_top_builddir/test/fabric/.libs"
    export OMPI_MCA_mtl=^ofi OMPI_MCA_btl=^ofi # the host is not tested
    # The card is a thread of the rank. A rank that the host binds to a core, and that spins there in a call of the host,
    # would have its card wait for that core at each operation.
    export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
    export OMPI_MCA_mpi_yield_when_idle=1
}

# The settings that choose one of them.
profile_settings() { # PROFILE
    echo "MPIRMA_OFI_PROVIDER=$1 FABRIC_PROFILE=$1"
}

# Exports what a run has over InfiniBand verbs, in the machine of scripts/fabric.sh.
over_roce() {
    export MPIRMA_RANKS_PER_NODE=1 MPIRMA_OFI_PROVIDER=verbs
    export UCX_TLS=posix,sysv,tcp,self # by itself UCX takes half a minute over this card, and ends with signal 11 at times
}
