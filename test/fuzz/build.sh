#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build.sh SRCDIR OUT "DIRECTORIES" SOURCE... - build a libFuzzer target from those of the sources that
# are C files in or below these directories, or in test/fuzz: with coverage, AddressSanitizer
# and UndefinedBehaviorSanitizer (all but NULL + 0, the address of nothing), as many at a
# time as there are processors. Started by make, in the build directory, with FUZZ_CC,
# FUZZ_CPPFLAGS and FUZZ_LIBS in the environment.

srcdir=$1 out=$2 directories=$3
shift 3
set -f
dir=$out.objects
mkdir -p "$dir" || exit 1
FUZZ_FLAGS="-O1 -g -std=gnu11 -Wall -Wextra -fno-omit-frame-pointer -fsanitize=address,undefined
    -fno-sanitize=pointer-overflow -fno-sanitize-recover=all"
export srcdir dir FUZZ_FLAGS

sources=
objects=
for source in "$@"; do
    wanted=
    for directory in $directories test/fuzz; do
        case $source in "$directory"/*) wanted=yes ;; esac
    done
    test -n "$wanted" || continue
    case $source in
    *.c)
        sources="$sources $source"
        objects="$objects $dir/$(echo "$source" | tr / _).o"
        ;;
    esac
done
# shellcheck disable=SC2016,SC2086 # for the inner shell; lists of words
printf '%s\n' $sources | xargs -P "$(nproc)" -n 1 sh -c '
    $FUZZ_CC $FUZZ_CPPFLAGS $FUZZ_FLAGS -fsanitize=fuzzer-no-link -c "$srcdir/$1" \
        -o "$dir/$(echo "$1" | tr / _).o"' compile || exit 1
# shellcheck disable=SC2086
$FUZZ_CC $FUZZ_FLAGS -fsanitize=fuzzer $objects -o "$out" $FUZZ_LIBS -pthread -lm
