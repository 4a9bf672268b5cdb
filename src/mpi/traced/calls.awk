# SPDX-License-Identifier: BSD-3-Clause
# calls.awk - writes the source of libmpi-rma-calls: a wrapper for each function of the host's mpi.h, but for those that
# libmpi-rma records itself. Input: src/trace/spool.h, which names these, then mpi.h as the preprocessor leaves it. Of the
# Wait and Test families libmpi-rma records the calls with requests of RMA; these are wrapped as well.
#
# A wrapper is a strong PMPI_X with MPI_X a weak alias, so that a profiling tool in front of it still sees the call. It
# looks for the next PMPI_X when it is called first: a host may declare functions that its library does not have.
#
# Left out: what begins and ends MPI, functions that return something else than an error code (they are too short to be
# looked at, and PMPI_Wtime is called by whoever measures), conversions between languages, variable arguments, and the
# interface for tools.

FNR == NR { # X(Put) X(Get) ...
    while (match($0, /X\([A-Z][a-z_]*\)/)) {
        if ($0 !~ /#define/) own["MPI_" substr($0, RSTART + 2, RLENGTH - 3)] = 1
        $0 = substr($0, RSTART + RLENGTH)
    }
    next
}
/^#/ { next }
{ text = text " " $0 }

function parameter_name(p) {
    gsub(/\[[^]]*\]/, "", p)
    gsub(/[ \t]+$/, "", p)
    return match(p, /[A-Za-z_0-9]+$/) ? substr(p, RSTART) : ""
}

function wrapper(name, list,    n, p, i, args, one) {
    args = ""
    n = list ~ /^[ \t]*void[ \t]*$/ ? 0 : split(list, p, ",")
    for (i = 1; i <= n; i++) {
        one = parameter_name(p[i])
        if (one == "" || p[i] ~ /[()]/) {
            print "calls.awk: " name ": parameter " p[i] > "/dev/stderr"
            exit 1
        }
        args = args (i > 1 ? ", " : "") one
    }
    if (length(name) > 32) { # struct trace_name
        print "calls.awk: " name " is too long a name" > "/dev/stderr"
        exit 1
    }
    names[count] = substr(name, 5)
    body[count] = "int P" name "(" list ")\n{\n    __typeof__(" name ") *const next = (__typeof__(next))next_function(" count ");\n" \
        "    const bool on = begin(" count ", __builtin_return_address(0));\n" \
        "    const int rc = next == NULL ? MPI_ERR_UNSUPPORTED_OPERATION : next(" args \
        ");\n    end(on, " count ");\n    return rc;\n}\nMRMA_EXPORT_MPI(" substr(name, 5) ");\n"
    count++
}

END {
    count = 0
    n = split(text, statement, ";")
    for (i = 1; i <= n; i++) {
        s = statement[i]
        while (gsub(/__attribute__[ \t]*\(\([^()]*(\([^()]*(\([^()]*\))*[^()]*\)[^()]*)*\)\)/, "", s)) ;
        gsub(/[ \t\n]+/, " ", s)
        if (!match(s, /^ ?(extern )?int MPI_[A-Z][A-Za-z_0-9]* ?\(/)) continue
        name = substr(s, RSTART, RLENGTH - 1)
        sub(/^ ?(extern )?int /, "", name)
        sub(/ $/, "", name)
        list = substr(s, RSTART + RLENGTH)
        sub(/\)[^)]*$/, "", list)
        base = name
        sub(/_c$/, "", base)
        if ((base in own && name !~ /^MPI_(Wait|Test|Request_get_status)/) || name in done || name ~ /^MPI_T_|_([cf]2f|[cf]2f08|f08?2[cf]|f2c|toint|fromint)$/ || list ~ /\.\.\./ ||
            name ~ /^MPI_(Init|Init_thread|Finalize|Abort|Initialized|Finalized)$/) continue
        done[name] = 1
        wrapper(name, list)
    }
    if (count < 150) {
        print "calls.awk: only " count " functions found in mpi.h" > "/dev/stderr"
        exit 1
    }
    print "/* Made by calls.awk of calls.c.in and the host's mpi.h. */"
    while ((getline line <frame) > 0) {
        if (line ~ /^@names@$/)
            for (i = 0; i < count; i++) print "    \"" names[i] "\","
        else
            print line
    }
    for (i = 0; i < count; i++) print body[i]
}
