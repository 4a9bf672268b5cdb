# SPDX-License-Identifier: BSD-3-Clause
# counter.awk - a counter of files MPIRMA_STATS=FILE.csv: of one rank, or with rank=all the sum.
#
#   awk -v rank=0 -v counter=windows -f counter.awk FILE.csv...
#
# Prints nothing and exits with 1 where no file has no such column or rank. The only column that
# may have commas, network, is the last.

BEGIN { FS = "," }
FNR == 1 {
    for (i = 1; i <= NF; i++)
        if ($i == counter)
            column = i
    next
}
column && (rank == "all" || $1 == rank) {
    sum += $column
    found = 1
}
END {
    if (!found)
        exit 1
    print sum
}
