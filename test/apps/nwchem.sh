# SPDX-License-Identifier: BSD-3-Clause
# nwchem.sh - NWChem, quantum chemistry: the energies of a water molecule by Hartree-Fock and by
# density functional theory. Its Global Arrays lie on ARMCI-MPI: every array is a window.

# shellcheck disable=SC2034 # read by common.sh
app_title="NWChem: water"
app_packages="nwchem-$host nwchem-data"
app_time_bound=150

app_prepare() {
    app_version=$(dpkg-query -W -f '${Version}' "nwchem-$host")
    cat >water.nw <<'END'
start water
memory total 400 mb
geometry units angstrom noautosym
  O  0.0  0.0     0.1173
  H  0.0  0.7572 -0.4692
  H  0.0 -0.7572 -0.4692
end
basis
  * library 6-31g*
end
task scf energy
dft
  xc b3lyp
end
task dft energy
END
}

app_tests() {
    echo "water 2 300 nwchem.$host water.nw"
}

# The first energy is that of the literature for this basis; the other one both hosts agree on.
app_judge() {
    judge_by eval 'test "$rc" = 0 && grep -q "Total SCF energy = *-76.01050" "$tmp/out" &&
        grep -q "Total DFT energy = *-76.40873" "$tmp/out"'
}
