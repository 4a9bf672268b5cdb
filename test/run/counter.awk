# SPDX-License-Identifier: BSD-3-Clause
# counter.awk - prints a counter of files that MPIRMA_STATS=FILE.csv left:
#
#   awk -v rank=RANK -v name=NAME -f test/run/counter.awk FILE.csv...
#
# RANK is a rank, or "all" for the sum over the ranks. Prints nothing and ends with 1 where no file has such a rank
# and such a column.

BEGIN { FS = "," }

FNR == 1 {
    named = 0
    for (i = 1; i <= NF; i++)
        if ($i == "rank")
            ranks = i
        else if ($i == name)
            named = i
    next
}

named && $named != "" && (rank == "all" || $ranks == rank) {
    sum += $named
    found = 1
}

END {
    if (found)
        printf "%.0f\n", sum
    exit !found
}
