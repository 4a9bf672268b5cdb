#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# host_lacks.sh - over a host that lacks functions of MPI 4: what is missing is the error of the call that needs it, not the
# end of the process at its start. The host is a copy in which nobody finds two functions.

. "$abs_top_srcdir/test/mpi/mtest.sh"
command -v python3 >/dev/null || skip_all "no python3 to make the copy"

program=$bin/.libs/host_lacks
test -x "$program" || program=$bin/host_lacks
case $MPI_BUILD in
mpich) pattern='libmpich\.so' ;;
openmpi) pattern='libmpi\.so' ;;
*) pattern='libmpi_abi\.so' ;;
esac
host=$(ldd "$program" | sed -n "s/^[[:space:]]*\($pattern[^ ]*\) => \([^ ]*\) .*/\1 \2/p" | head -n 1)
test -n "$host" || { echo "FAILED: $program has no library $pattern" && exit 1; }

# Older hosts have no such function, and then the copy is as the host. A symbol that is made local is found from outside by
# nobody, and what refers to it inside of the library still finds it.
python3 - "${host#* }" "$tmp/${host%% *}" <<'EOS' || exit 1
import struct
import sys

SHT_DYNSYM = 11
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<Q", data, 40)
size, count = struct.unpack_from("<HH", data, 58)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
for _, kind, _, _, start, length, link, _, _, entry in sections:
    if kind != SHT_DYNSYM:
        continue
    for symbol in range(start, start + length, entry):
        offset, info = struct.unpack_from("<IB", data, symbol)
        name = sections[link][4] + offset
        if data[name : data.index(0, name)] in (b"PMPI_Session_init", b"PMPI_Put_c"):
            data[symbol + 4] = info & 15  # of binding and type the type
open(sys.argv[2], "wb").write(data)
EOS

# What the host finds beside itself the copy finds beside itself, too.
ldd "${host#* }" | sed -n 's/^[[:space:]]*\([^ ]*\) => \([^ ]*\) .*/\1 \2/p' | while read -r name file; do
    case $file in /lib/* | /usr/lib/*) ;; *) ln -s "$file" "$tmp/$name" ;; esac
done
LD_LIBRARY_PATH=$tmp${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
# A launcher may put the directory of its own library in front.
mpirun "$np" env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$bin/host_lacks"
test "$rc" = 0 || bad "exit code $rc"
for name in MPI_Session_init MPI_Put_c; do
    test "$(grep -c "$name: the MPI library of this process does not have it" "$tmp/out")" = "$np" ||
        bad "not every process says that the host has no $name:"
done
finish
