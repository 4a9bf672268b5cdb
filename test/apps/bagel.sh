# SPDX-License-Identifier: BSD-3-Clause
# bagel.sh - BAGEL, quantum chemistry: a configuration interaction whose vectors are distributed over the processes in windows.
# Debian has it on MPICH alone.

# shellcheck disable=SC2034 # read by common.sh
app_title="BAGEL: hydrogen fluoride"
app_hosts=mpich
app_packages="bagel"

app_prepare() {
    app_version=$(dpkg-query -W -f '${Version}' bagel)
    cat >hf.json <<'END'
{ "bagel" : [
{ "title" : "molecule", "basis" : "svp", "df_basis" : "svp-jkfit", "angstrom" : false,
  "geometry" : [ { "atom" : "H", "xyz" : [ 0.0, 0.0, 2.0 ] }, { "atom" : "F", "xyz" : [ 0.0, 0.0, 0.3 ] } ] },
{ "title" : "hf", "thresh" : 1.0e-10 },
{ "title" : "fci", "algorithm" : "dist", "ncore" : 2, "norb" : 8, "nstate" : 2 }
] }
END
}

app_tests() {
    echo "hf 2 300 env OMP_NUM_THREADS=1 BAGEL_NUM_THREADS=1 BAGEL hf.json"
}

# The energies of the two states, which any number of processes gives.
app_judge() {
    judge_by eval 'test "$rc" = 0 && grep -q "0 \* *-100.013650" "$tmp/out" && grep -q "1 \* *-99.594017" "$tmp/out"'
}
