# SPDX-License-Identifier: BSD-3-Clause
# performance.awk - the tables of doc/performance.md but for the halo exchange, from the files that
# scripts/performance.sh names, each kind after what=KIND: machine, instructions, results.
#
# A cell is empty where a run gave no figure. Goals that are not met are bold.

function time(ns) {
    if (ns == "")
        return ""
    if (ns < 999.5)
        return sprintf(ns < 9.95 ? "%.1f ns" : "%.0f ns", ns)
    if (ns < 999500)
        return sprintf(ns < 9950 ? "%.2f us" : ns < 99500 ? "%.1f us" : "%.0f us", ns / 1000)
    return sprintf("%.1f ms", ns / 1000000)
}

function bytes(n) {
    if (n >= 1073741824)
        return n / 1073741824 " GiB"
    if (n >= 1048576)
        return n / 1048576 " MiB"
    return n >= 1024 ? n / 1024 " KiB" : n " B"
}

function heading(title) {
    printf "\n## %s\n\n", title
}

function of_host(file) {
    return file ~ /openmpi[^\/]*$/ ? "openmpi" : "mpich"
}

function add(row, order) {
    if (!((order, row) in known)) {
        known[order, row] = 1
        rows[order, ++count[order]] = row
    }
}

what == "machine" {
    split($0, pair, "|")
    machine[++nmachine] = pair[1]
    value[pair[1]] = pair[2]
}

what == "instructions" && /[0-9] instructions/ {
    row = substr($0, 1, 36)
    sub(/ +$/, "", row)
    add(row, "instructions")
    rest = substr($0, 37)
    split(rest, word, " ")
    instructions[row, (FILENAME ~ /-library-/ ? "library" : "host"), of_host(FILENAME)] = sprintf("%.0f", word[1])
    if (FILENAME ~ /-library-/ && rest ~ /limit/)
        limit[row] = word[4]
}

what == "results" && $4 == "anchors" && $2 == 1 { anchor[$1, $5, $8] = $9 }

# Lines "+K" allow for the price of a call, which the anchors tell.
what == "results" && $4 == "goal" && $2 == 1 && $5 !~ /K$/ {
    note = $0
    sub(/^[^"]*"/, "", note)
    sub(/"$/, "", note)
    split(note, part, "; ")
    verdict = part[2]
    sub(/.*: /, "", verdict)
    text = substr(part[2], 1, length(part[2]) - length(verdict) - 2)
    row = "| " $5 " | " part[1] " | " text " |"
    add(row, "goals")
    is_ratio = part[2] ~ /^at least/ || part[1] ~ /growth$/
    cell = is_ratio ? sprintf("%.2f (%.2f)", $9, $10) : time($9) " (" time($10) ")"
    if (verdict == "not measured")
        cell = verdict
    goals[row, $1] = verdict ~ /^NOT/ ? "**" cell "**" : cell
    if (verdict == "met")
        met[$1]++
    else if (verdict == "NOT met")
        missed[$1]++
}

what == "results" && $4 == "memory" {
    if ($5 == "malloc_free" && index(" 4096 1048576 44040192 1073741824 ", " " $8 " "))
        add(bytes($8), "sizes")
    memory[$1, $2, $5, $6, bytes($8)] = $9
}

# malloc, then MPI_Alloc_mem or MPI_Win_allocate by both hosts and through the library
function memory_row(name, plain, op, kind, size,   i, cells) {
    cells = "| " name " | " (plain == "" ? "" : time(memory["mpich", 0, plain, "", size])) " |"
    for (i = 0; i < 2; i++)
        cells = cells " " time(memory["mpich", i, op, kind, size]) " | " time(memory["openmpi", i, op, kind, size]) " |"
    print cells
}

END {
    print ""
    print "| | |"
    print "|---|---|"
    for (i = 1; i <= nmachine; i++)
        print "| " machine[i] " | " value[machine[i]] " |"
    if (value["load before"] + 0 > 0.5)
        print "\n**The machine was not idle** (load " value["load before"] " before the run): the times below say little, and no two of" \
            "\nthem should be compared. Instructions do not depend on that."
    heading("Instructions")
    print "| | MPICH itself | Open MPI itself | library on MPICH | library on Open MPI | limit |"
    print "|---|--:|--:|--:|--:|--:|"
    for (i = 1; i <= count["instructions"]; i++) {
        row = rows["instructions", i]
        print "| " row " | " instructions[row, "host", "mpich"] " | " instructions[row, "host", "openmpi"] " | " \
            instructions[row, "library", "mpich"] " | " instructions[row, "library", "openmpi"] " | " limit[row] " |"
    }
    heading("Goals within a node, 2 processes")
    print "| anchor | | on MPICH | on Open MPI |"
    print "|---|---|--:|--:|"
    n = split("C:cache_line:0:a cache line from one processor to the other|A:fetch_add:8:an atomic addition|M:memcpy:8:memcpy of 8 bytes|S:cma_write:8:process_vm_writev of 8 bytes|K:call:0:a call of an empty function of another library", list, "|")
    for (i = 1; i <= n; i++) {
        split(list[i], a, ":")
        print "| " a[1] " | " a[4] " | " time(anchor["mpich", a[2], a[3]]) " | " time(anchor["openmpi", a[2], a[3]]) " |"
    }
    print ""
    print "| goal | | limit | on MPICH | on Open MPI |"
    print "|---|---|---|--:|--:|"
    for (i = 1; i <= count["goals"]; i++)
        print rows["goals", i] " " goals[rows["goals", i], "mpich"] " | " goals[rows["goals", i], "openmpi"] " |"
    printf "\nMet: %d of %d lines on MPICH, %d of %d on Open MPI (lines with a plus sign are not counted).\n",
        met["mpich"], met["mpich"] + missed["mpich"], met["openmpi"], met["openmpi"] + missed["openmpi"]
    heading("What memory costs")
    print "| | malloc | MPICH itself | Open MPI itself | library on MPICH | library on Open MPI |"
    print "|---|--:|--:|--:|--:|--:|"
    memory_row("first MPI_Alloc_mem of a process, 4 KiB, and one store", "", "first_alloc", "alloc_mem", "4 KiB")
    memory_row("first MPI_Win_allocate of a process, after that", "", "first_window", "allocate", "4 KiB")
    for (i = 1; i <= count["sizes"]; i++)
        memory_row("MPI_Alloc_mem, one store, MPI_Free_mem, " rows["sizes", i], "malloc_free", "alloc_free", "alloc_mem", rows["sizes", i])
    memory_row("first touch of 128 MiB, for 4 KiB", "malloc_first_touch", "first_touch", "alloc_mem", "128 MiB")
    memory_row("the same with `mpirma_populate`", "", "first_touch", "populated", "128 MiB")
    memory_row("reading 64 MiB in order, for 4 KiB", "malloc_stream", "stream", "alloc_mem", "64 MiB")
    memory_row("reading a byte anywhere in 64 MiB", "malloc_random", "random", "alloc_mem", "64 MiB")
    memory_row("the same with `mpirma_populate`", "", "random", "populated", "64 MiB")
    for (i = 1; i <= count["sizes"]; i++)
        memory_row("MPI_Win_allocate, one store, MPI_Win_free, " rows["sizes", i], "", "window", "allocate", rows["sizes", i])
    heading("Halo exchange")
    print "Each cell: time of a step over that of MPI_Isend and MPI_Irecv in the same run, by the host itself / through the library."
}
