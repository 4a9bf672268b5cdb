#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check-layers.sh - the include directions of src, bench and trace, and what may not
# hide below the entry points. Reports in TAP; an offence is named by file:line.
#
# Each layer knows only those below it, in what it includes and in what it calls: the
# table of `layer`. The same holds for the rooms of src/rma, the table of `room`, of which
# src/rma/layer joins the others. The benches and mpi-rma-trace are products beside the library.

src=${abs_top_srcdir:?run by make check}/src
. "$abs_top_srcdir/test/run/tap.sh"

# Every #include of the files below a directory: file:line:name, name with <> or "".
includes() {
    find "$@" -name '*.[ch]' -exec grep -Hn '^[[:space:]]*#[[:space:]]*include' {} + |
        sed 's/^\([^:]*:[0-9]*\):[[:space:]]*#[[:space:]]*include[[:space:]]*/\1:/; s/\([">]\)[^">]*$/\1/'
}

# The objects of some folders of the build, each behind the folder and the name of its source, which an
# object of a target with flags of its own has behind the target's: "folder file object".
objects() {
    find "$@" -name '*.o' | while read -r object; do
        folder=${object%/*}
        folder=${folder%/.libs}
        file=${object##*/}
        file=${file%.o}
        until test -f "$abs_top_srcdir/$folder/$file.c"; do
            case $file in
            *-*) file=${file#*-} ;;
            *) continue 2 ;; # left over
            esac
        done
        echo "$folder $file $object"
    done
}

# What is defined and what is called in objects: "folder file type symbol".
symbols() {
    objects "$@" | while read -r folder file object; do
        nm "$object" | awk -v source="$folder $file" 'NF > 1 { print source, $(NF - 1), $NF }'
    done
}

# Calls between the files of src: "folder file folder file symbol", folders below src, which itself is ".".
# What a static inline function calls is called by who includes its header.
calls() {
    # shellcheck disable=SC2046 # names without blanks
    symbols $(find src -name .libs) | awk '
        $1 == "src" { $1 = "." }
        { sub(/^src\//, "", $1) }
        $3 ~ /^[TDRBV]$/ { owner[$4] = $1 " " $2 }
        $3 == "U" { from[++n] = $1 " " $2; to[n] = $4 }
        END {
            for (i = 1; i <= n; i++)
                if (to[i] in owner && owner[to[i]] != from[i])
                    print from[i], owner[to[i]], to[i]
        }'
}

# layer FOLDER BELOW...: src/FOLDER includes and calls only itself and what lies BELOW: folders of src, of which
# "rma" stands for all its rooms, or headers, which stand for the functions of their folder.
layer() {
    name=$1
    shift
    pattern="$name/[^\"]*"
    folders="$name"
    for below; do
        case $below in
        rma/layer/fast.h) # what it calls is of the folders that it includes
            pattern="$pattern|rma/layer/fast\\.h"
            folders="$folders|rma(/.*)?|dtype|acc"
            ;;
        *.h)
            pattern="$pattern|$(echo "$below" | sed 's/\./\\./')"
            case $below in */*) folders="$folders|${below%%/*}(/.*)?" ;; esac
            ;;
        *)
            pattern="$pattern|$below/[^\"]*"
            folders="$folders|$below(/.*)?"
            ;;
        esac
    done
    layers="$layers $name"
    point "src/$name includes and calls only itself and what lies below it" "$(
        includes "$src/$name" | grep ':"' | grep -Ev ":\"($pattern)\"\$"
        echo "$calls" | awk -v name="$name" -v folders="^($folders)\$" \
            '($1 == name || index($1, name "/") == 1) && $3 !~ folders && index($3, name "/") != 1 {
                print $1 "/" $2 ".c: calls " $5 " of " $3 }'
    )"
}

calls=$(calls)
layers=
layer base
layer sys base
layer boot sys base
layer trace base
layer ch3 trace boot sys base
layer shm ch3/channel.h trace boot sys base
layer netmod/ofi ch3/channel.h trace boot sys base
layer acc sys base
layer dtype acc base
layer rma dtype acc ch3 trace boot sys base
layer engine rma netmod/ofi shm dtype acc ch3 trace boot sys base
layer mpi/host rma/rma.h boot sys base
layer mpi/process mpi/host engine/engine.h rma/rma.h rma/layer/fast.h trace boot sys base
layer mpi/traced mpi/process mpi/host rma/rma.h rma/layer/fast.h trace boot sys base
layer mpi/requests mpi/traced mpi/process mpi/host engine/engine.h rma/rma.h rma/layer/fast.h trace boot sys base
layer mpi/calls mpi/requests mpi/traced mpi/process mpi/host engine/engine.h rma/rma.h rma/layer/fast.h mpi-rma.h shm ch3 trace boot sys base
offences=$(for d in $(find "$src" -name '*.c' -exec dirname {} + | sort -u); do
    name=${d#"$src"}
    case " $layers " in *" ${name#/} "*) continue ;; esac
    case $name in '' | /rma/*) ;; *) echo "src$name" ;; esac
done)
point "every folder of src has a line in the table" "$offences"

# What the host does for this library's own requests, groups and codes is asked of mpi/host/host.h.
point "src calls no MPI function that the library replaces" \
    "$(echo "$calls" | awk '$5 ~ /^P?MPI_/ { print $1 "/" $2 ".c: calls " $5 " of " $3 "/" $4 ".c" }')"

# Folders of src that reach themselves by what their files include: a folder stands above what it includes.
folder_circles() {
    includes "$src" | sed -n "s|^$src/\\(.*\\)/[^/]*:[0-9]*:\"\\(.*\\)/[^/]*\"\$|\\1 \\2|p" | sort -u | awk '
        $1 != $2 { reaches[$1, $2] = 1; name[$1]; name[$2] }
        END {
            for (k in name)
                for (i in name)
                    if ((i, k) in reaches)
                        for (j in name)
                            if ((k, j) in reaches)
                                reaches[i, j] = 1
            for (i in name)
                if ((i, i) in reaches)
                    print "src/" i ": is in a circle of folders"
        }'
}
point "the folders of src form no circle by what they include" "$(folder_circles)"
offences=$(find "$src" -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u |
    awk -F/ '$NF in first { print first[$NF] ", " $0 ": two files of one name" } { first[$NF] = $0 }')
point "no two files of src have one name" "$offences"

# Circles of files of src: files that reach themselves by what they call. A source stands for the functions and the
# data that it defines; a header's inline functions call from wherever they are included, so what a header includes for
# its types makes no circle.
file_circles() {
    echo "$calls" | awk '
        { from = $1 "/" $2; to = $3 "/" $4 }
        !(from in number) { number[from] = ++n; name[n] = from }
        !(to in number) { number[to] = ++n; name[n] = to }
        !((from, to) in seen) { seen[from, to] = 1; below[number[from]] = below[number[from]] " " number[to] }
        # The files that i reaches: all are looked at once.
        function reach(i, set, todo, at, last, part, k, m) {
            at = last = 1
            todo[1] = i
            for (; at <= last; at++) {
                m = split(below[todo[at]], part, " ")
                for (k = 1; k <= m; k++)
                    if (!(part[k] in set)) {
                        set[part[k]] = 1
                        todo[++last] = part[k]
                    }
            }
        }
        END {
            for (i = 1; i <= n; i++) {
                split("", set)
                split("", todo)
                reach(i, set, todo)
                if (i in set)
                    print "src/" name[i] ".c: reaches itself by what it calls"
            }
        }'
}

# room NAME BELOW...: src/rma/NAME includes and calls only itself, the rooms BELOW, which have a line
# above its own, so that there is no circle, and layers below src/rma; all rooms may include rma.h
# and env.h.
rooms=
room() {
    name=$1
    pattern="rma/$name/[^\"]*|rma/(rma|env)\\.h"
    shift
    offences=$(for below; do
        case " $rooms dtype acc ch3 trace boot sys base " in
        *" $below "*) ;;
        *) echo "$name: no line above its own is that of $below" ;;
        esac
    done)
    for below; do
        case $below in
        dtype | acc | ch3 | base | trace | boot | sys) pattern="$pattern|$below/[^\"]*" ;;
        *) pattern="$pattern|rma/$below/[^\"]*" ;;
        esac
    done
    rooms="$rooms $name"
    point "src/rma/$name includes and calls only itself and$(printf ' %s' "$@")" "$offences$(
        includes "$src/rma/$name" | grep ':"' | grep -Ev ":\"($pattern)\"\$"
        echo "$rma_calls" | awk -v name="$name" -v below=" $name $* " \
            '$1 == name && !index(below, " " $3 " ") { print $1 "/" $2 ".c: calls " $5 " of " $3 }'
    )"
}

# Of src/rma only, the name of the room alone; src/rma itself is "rma".
rma_calls=$(echo "$calls" | awk '$1 ~ /^rma/ && $3 ~ /^rma/ { sub(/^rma\//, "", $1); sub(/^rma\//, "", $3); print }')
room types dtype acc ch3 base
room win types dtype acc ch3 boot sys base
room strict win types dtype acc ch3 base
room traced strict win types dtype acc ch3 trace base
room progress win types ch3 traced trace sys base
room notify progress win types ch3 traced trace sys base
room origin notify progress win types dtype acc ch3 traced trace base
room path origin notify progress win types dtype acc ch3 traced trace sys base
room target path notify strict progress win types dtype acc ch3 traced trace sys base
room sync target path origin strict progress win types ch3 traced trace boot sys base
room create sync target path origin notify progress traced strict win types ch3 boot sys base
room layer create sync target path origin notify progress traced strict win types dtype acc ch3 boot sys base
offences=$(for d in "$src"/rma/*/; do
    name=$(basename "$d")
    case " $rooms " in *" $name "*) ;; *) echo "src/rma/$name" ;; esac
done)
point "every room of src/rma has a line in the table" "$offences"

# owned ROOM PART: the part that src/rma/ROOM keeps in a structure of src/rma/win is touched only there.
owned() {
    point "only src/rma/$1 touches what it keeps in a window" "$(
        grep -rnE "(->|\.)$2(\.|->)" "$src/rma" --include='*.[ch]' | grep -v "^$src/rma/$1/"
    )"
}

offences=$(grep -rnE 'vc(\.|->)[a-z]|->ops->' "$src/rma" --include='*.[ch]')
point "src/rma looks into no connection and no channel" "$offences"
owned create created
owned sync sync
owned origin origin_side
owned target target_side
owned progress progress
owned notify notify
owned path stage
owned path path_side
# What is fixed at creation, by the parts of struct win: fields that only src/rma/create writes.
fixed=$(awk '/^struct win \{/ { inside = 1 } inside && /^}/ { exit }
    inside && /---- / { is = /---- fixed at creation/ }
    inside && is' "$src/rma/win/win.h" | tr '\n' ' ' | sed 's|/\*[^*]*\*/||g' |
    grep -oE '[a-z_]+[,;]' | tr -d ',;' | sort -u | paste -sd '|')
offences=$(
    test "$(echo "$fixed" | tr '|' '\n' | wc -l)" -gt 15 || echo "no more than 15 fields were found in win.h: $fixed"
    grep -rnE "\b(w|win)->($fixed) *([-+|&]?=[^=]|\+\+|--)" "$src/rma" --include='*.[ch]' |
        grep -v "^$src/rma/create/"
)
point "what is fixed at a window's creation only src/rma/create writes" "$offences"
offences=$(grep -nE 'rma(\.|->)[a-z_]' "$src"/engine/*.c | grep -vE ':[0-9]+:( \*|/\*|#)|= &e->rma\.stats;')
point "the engine touches no field of src/rma but what it counts" "$offences"
point "the files of src form no circle by what they call" "$(file_circles)"
offences=$(test "$(echo "$calls" | wc -l)" -gt 1000 || echo "no more than 1000: is there nm, are there objects?")
point "calls were found in the objects" "$offences"

# mpi.h itself, or by way of a header: those of src/dtype that have it may be
# used by src/dtype only, and by fast.h, which is for src/mpi only.
sees_mpi="$src/(mpi/[^:]*|boot/boot[^/:]*|dtype/[^:]*|rma/layer/fast\.h|engine/engine\.c)"
offences=$(includes "$src" | grep -E ':[<"](mpi|mpi-rma)\.h[>"]$' | grep -Ev "^$sees_mpi:")
point "mpi.h only in src/mpi, src/boot, src/dtype and engine/engine.c" "$offences"

offences=$(includes "$src/rma" "$src/dtype" | sed -n 's|.*/\(\(rma\|dtype\)/[^:]*\.h\):[0-9]*:<mpi\.h>$|\1|p' |
    while read -r header; do
        includes "$src" | grep -F ":\"$header\"" | grep -Ev "^$sees_mpi:"
    done)
point "no way around that through a header" "$offences"
offences=$(includes "$src" | grep ':"rma/layer/fast\.h"$' | grep -v "^$src/mpi/")
point "rma/layer/fast.h only in src/mpi" "$offences"

# Names of one host, macros and functions: the table of doc/abi.md.
names_a_host="$src/(mpi/[a-z]*/[a-z_]*_(mpich|openmpi)|mpi/host/(carrier|host_kind|host_poll|host_poll_ucx|objects)|engine/engine_impl)\\.[ch]"
offences=$(grep -rnE '\b(OMPI_|ompi_|OPAL_|opal_|MPIR_|MPII_|MPID_|MPIX_|MPICH_|HOST_MPICH|HOST_OPENMPI)' \
    "$src" --include='*.[ch]' | grep -Ev "^$names_a_host:")
point "what names one host is in the files of doc/abi.md's table" "$offences"

# foreign_calls FOLDER FILE...: what the objects of a folder call that neither one of them defines nor one of the FILEs,
# a pattern each, but others of src, bench, trace and tools.
product_symbols=$(symbols src bench trace tools)
foreign_calls() {
    echo "$product_symbols" | awk -v folder="$1" -v own="^($(echo "$*" | sed 's/ /|/g'))(/|\$)" '
        # fi_: of libfabric, which src/netmod/ofi/dlopen_libfabric.c stands for; dlsym, malloc and its kin: of the C library, for
        # which tools/preload-dlsym.c and tools/preload-malloc.c stand
        $4 ~ /^P?MPI_/ || $4 ~ /^fi_/ || $4 == "main" || $4 == "dlsym" { next }
        $4 ~ /^(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|malloc_usable_size|free)$/ { next }
        { is_own = ($1 "/" $2) ~ own }
        $3 ~ /^[TDRBV]$/ { if (is_own) near[$4] = 1; else far[$4] = $1 "/" $2 ".c" }
        index($1 "/" $2 "/", folder "/") == 1 { found = 1; if ($3 == "U") { from[++n] = $1 "/" $2 ".c"; to[n] = $4 } }
        END {
            for (i = 1; i <= n; i++)
                if (to[i] in far && !(to[i] in near))
                    print from[i] ": calls " to[i] " of " far[to[i]]
            if (!found)
                print folder ": no object was found"
        }' | sort -u
}

# The benches know the host's MPI only: nothing of src. Each folder includes and calls itself, what the benches share,
# and how the tools read their options.
for folder in "$abs_top_srcdir"/bench/*/; do
    name=$(basename "$folder")
    test -n "$(find "$folder" -name '*.[ch]')" || continue
    point "bench/$name includes and calls only itself, bench/common and tools/options" "$(
        includes "$folder" | grep ':"' | grep -Ev ":\"(bench/($name|common)/[^\"]*|tools/options\.h)\"\$"
        foreign_calls "bench/$name" bench/common tools/options
    )"
done

# mpi-rma-trace reads the files that the library writes: it knows their description and what the tools share. Its
# tests know the program, and its fuzzer how fuzzers fail.
trace=$abs_top_srcdir/trace
point "trace includes only itself, src/trace/spool.h and spool_pack.h and what the tools share" "$(
    includes "$trace" | grep -E ':"|:<(mpi|mpi-rma|rdma/.*)\.?h?>$' | while read -r line; do
        file=${line%%:*}
        name=${line##*:}
        case $name in
        '"trace/spool.h"' | '"trace/spool_pack.h"' | '"trace/page.h"' | '"../tools/options.h"' | '"../tools/json.h"') continue ;;
        '"fail.h"') test "$file" != "$trace/test/fuzz_trace.c" || continue ;;
        '"../'*) test "${file%/*}" != "$trace/test" || name=${name#'"../'} ;;
        '"'*) name=${name#'"'} ;;
        esac
        case $name in
        */* | '<'*) ;;
        *)
            for place in "${file%/*}" "$trace"; do
                test ! -f "$place/${name%'"'}" || continue 2
            done
            ;;
        esac
        echo "$line"
    done
)"
n=$((n + 1))
if test -z "$WITHOUT_OTF2"; then
    n=$((n - 1))
    point "trace calls only itself and what the tools share" "$(
        foreign_calls trace tools/options tools/json
    )"
else
    echo "ok $n - trace calls only itself and what the tools share # SKIP built without OTF2"
fi
point "trace/spool.h needs nothing of the library" "$(includes "$src/trace/spool.h" | grep ':"')"

# What the tools share with other products takes no more of the library along than how far words are from each other.
point "tools/options and tools/json take nothing of src but base/edit_distance" "$(
    includes "$abs_top_srcdir/tools" | grep -E '/tools/(options|json)\.[ch]:' | grep ':"' |
        grep -Ev ':"(options|json|base/edit_distance)\.h"$'
    for name in options json; do foreign_calls "tools/$name" src/base/edit_distance; done
)"

offences=$(includes "$src" | grep -E ':[<"]rdma/' | grep -v "^$src/netmod/ofi/")
point "rdma/*.h only in src/netmod/ofi" "$offences"

# What no list names is neither built nor distributed.
offences=$(find "$src" "$abs_top_srcdir/bench" "$trace" -name '*.[ch]' | while read -r file; do
    cat "$abs_top_srcdir/Makefile.am" "$abs_top_srcdir/bench/sources.am" "$trace/sources.am" "$src"/*/sources.am "$src"/*/*/sources.am 2>/dev/null |
        tr -s ' \t\\' '\n\n\n' | grep -qxF "${file#"$abs_top_srcdir/"}" || echo "$file: in no sources.am"
done)
point "every source is in a sources.am" "$offences"

# A header stands alone if it compiles alone; its #include lines are not trusted.
offences=
products="$abs_top_srcdir/bench"
test -n "$WITHOUT_OTF2" || products="$products $trace"
# shellcheck disable=SC2086 # folders without blanks in their names
for header in $(find "$src" $products -name '*.h'); do
    # The standard ABI's header has no integers of Fortran, and its build takes no source that has.
    test "$MPI_BUILD" != abi || ! grep -q MPI_Fint "$header" || continue
    # shellcheck disable=SC2086 # a compiler with flags
    echo "#include \"$header\"" |
        ${CC:-cc} -std=gnu11 -fsyntax-only -include config.h -I. -I"$src" -I"$abs_top_srcdir/include" \
            -I"$abs_top_srcdir" $MPI_CPPFLAGS $OTF2_CFLAGS -x c - >/dev/null 2>&1 || offences="$offences$header: does not compile by itself
"
done
point "every header of src, bench and trace is self-contained" "$(printf '%s' "$offences")"

# No process-wide state: nothing writable and named in the objects of libcore
# (.data.rel.ro is constant once relocated). Sanitizers add their own.
n=$((n + 1))
if test -n "$SANITIZERS"; then
    echo "ok $n - no process-wide state below src/mpi # SKIP sanitizers ($SANITIZERS) add their own variables"
elif ! command -v objdump >/dev/null; then
    echo "ok $n - no process-wide state below src/mpi # SKIP no objdump"
else
    objects=$(find src -path src/mpi -prune -o -name '*.o' -path '*/.libs/*' -print)
    offences=$(for object in $objects; do
        objdump -t "$object" | awk -v object="$object" '
            / O / && ($0 ~ /[ \t]\.(data|bss|tdata|tbss)[ \t.]/ || /\*COM\*/) && $0 !~ /\.data\.rel\.ro/ {
                print object ": variable " $NF
            }'
    done)
    n=$((n - 1))
    point "no process-wide state below src/mpi" "$offences"
fi

echo "1..$n"
test "$failed" = 0
