# SPDX-License-Identifier: BSD-3-Clause
# gains.awk - what a user gains, as one small table in Markdown, for README.
#
#   awk -f scripts/gains.awk FIGURES README.md
#
# FIGURES is what performance.sh prints: its tables of instructions, goals and halo exchanges. The rows
# of real programs are those that check-apps.sh has written into README.md.

BEGIN {
    FS = " *[|] *"
    split("fence_assert fence fence_one pscw lock lock_all", modes, " ")
}

# A cell of the halo exchange is "host / library", marked where it is slower.
function halo(mode, cell, half) {
    gsub(/[*!]/, "", cell)
    split(cell, half, / *\/ */)
    value[bytes, mode, ranks, host, 0] = half[1]
    value[bytes, mode, ranks, host, 1] = half[2]
}

function bare(cell) {
    gsub(/[*]/, "", cell)
    sub(/ \(.*/, "", cell)
    return cell
}

$2 == "date" { date = $3 }
$2 == "processor" { processor = $3 }
$2 == "load before" { load = $3 }
/^\| (MPI_Put of 8 bytes|lock, put of 8 bytes, unlock), mapped \|/ { instructions[$2] = $3 " | " $5 " | " $4 " | " $6 }
$3 == "lock, put 8 B, unlock, malloc, target computes" && $2 == "4" {
    passive = " | " bare($5) " | | " bare($6)
}
/^[0-9]+ ranks as a / {
    ranks = $0 + 0
    host = /MPICH/ ? "mpich" : "openmpi"
    tcp = /tcp/
}
!tcp && /^\| (malloc|allocate), / {
    bytes = $2
    for (i = 1; i in modes; i++)
        halo(modes[i], $(i + 3))
}

# passed and time of the host and through the library: fields 5, 6, 8 and 9.
function program(name, label) {
    if (index($2, name) != 1)
        return
    host = $3 ~ /^MPICH/ ? "mpich" : "openmpi"
    tests[label] = $4
    if (!(label in times))
        labels[++nlabels] = label
    times[label] = 1
    result[label, host] = $4 == 1 ? $8 " | " $9 : $5 ", " $8 " | " $6 ", " $9
}
FILENAME ~ /README/ {
    program("NWChem: water", "NWChem, water")
    program("ARMCI-MPI's tests", "ARMCI-MPI")
    program("OpenCoarrays' tests", "OpenCoarrays")
}

function row(label, bytes, mode,   h, text) {
    text = "| " label
    for (h = 1; h <= 2; h++)
        text = text " | " value[bytes, mode, 4, hosts[h], 0] " | " value[bytes, mode, 4, hosts[h], 1]
    print text " |"
}

END {
    hosts[1] = "mpich"
    hosts[2] = "openmpi"
    printf "The host alone and with the library, on one machine (%s; load %s before the run; %s). [Performance](doc/performance.md)\n", \
        processor, load, date
    print "and [Real programs](#real-programs) have the rest, and how to repeat it.\n"
    print "| | MPICH | with libmpi-rma | Open MPI | with libmpi-rma |"
    print "|---|--:|--:|--:|--:|"
    print "| instructions of `MPI_Put`, 8 bytes of `MPI_Win_allocate` | " instructions["MPI_Put of 8 bytes, mapped"] " |"
    print "| instructions of lock, put of 8 bytes, unlock, the same memory | " instructions["lock, put of 8 bytes, unlock, mapped"] " |"
    print "| lock, put of 8 bytes, unlock, malloc memory of a target that computes |" passive " |"
    row("halo exchange, 4 processes, 16 bytes, `MPI_Win_allocate`, post-start-complete-wait", "allocate, 16", "pscw")
    row("the same, fence with asserts", "allocate, 16", "fence_assert")
    row("the same, 1 MiB, fence with asserts", "allocate, 1 Mi", "fence_assert")
    row("the same, 16 bytes of malloc memory, post-start-complete-wait", "malloc, 16", "pscw")
    row("the same, a lock for each neighbour", "malloc, 16", "lock")
    for (i = 1; i <= nlabels; i++)
        print "| " labels[i] (tests[labels[i]] == 1 ? "" : ", " tests[labels[i]] " tests: passed, time") " | " \
            result[labels[i], "mpich"] " | " result[labels[i], "openmpi"] " |"
}
