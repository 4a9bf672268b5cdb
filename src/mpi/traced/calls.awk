# SPDX-License-Identifier: BSD-3-Clause
# calls.awk - writes the source of libmpi-rma-calls: a wrapper for each function of the host's mpi.h, but for those that
# libmpi-rma records itself. Input: src/trace/spool.h, which names these, then mpi.h as the preprocessor leaves it. Of the
# Wait and Test families libmpi-rma records the calls with requests of RMA; these are wrapped as well.
#
# A call is recorded with its communicator, which is the first parameter of that type, and the process that it sends to or
# receives from, which is the parameter dest, or source where there is no dest.
#
# A wrapper is a strong PMPI_X with MPI_X a weak alias, so that a profiling tool in front of it still sees the call. It
# looks for the next PMPI_X when it is called first: a host may declare functions that its library does not have.
#
# Functions that send, receive, communicate collectively or make communicators hand on what they do as well (struct
# traced_messages): "describe" has what stands before and behind their calls.
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

# Code with $1, $2 ... for the parameters.
function filled(code, n, names,    i) {
    for (i = n; i > 0; i--) gsub("\\$" i, names[i], code)
    return code
}

# What is done before and behind the call of a function that sends, receives or makes a communicator, while it is recorded;
# of those in "always" also while the recording is stopped, for what is known of requests must stay right.
function describe(    n, i, name, names) {
    # buffer, count, type, peer, tag, communicator and, if there is one, request
    n = split("Send Bsend Ssend Rsend", names, " ")
    for (i = 1; i <= n; i++) {
        name = names[i]
        before[name] = "messages()->send($1, $2, $3, $4, $5, $6);"
        name = "I" tolower(substr(name, 1, 1)) substr(name, 2)
        begins_request(name, "true")
        name = names[i] "_init"
        always[name] = 1
        after[name] = "messages()->persistent(true, $2, $3, $4, $5, $6, rc, $7);"
    }
    begins_request("Irecv", "false")
    split("Recv_init Start Startall Request_free", names, " ")
    for (i in names) always[names[i]] = 1
    after["Recv_init"] = "messages()->persistent(false, $2, $3, $4, $5, $6, rc, $7);"
    # buffer, count, type, peer, tag, communicator, status
    before["Recv"] = "$7 = given_status($7, &own);"
    after["Recv"] = "if (rc == MPI_SUCCESS) messages()->received($1, $2, $3, $6, $7);"
    own_status["Recv"] = 1
    before["Sendrecv"] = "messages()->send($1, $2, $3, $4, $5, $11); $12 = given_status($12, &own);"
    after["Sendrecv"] = "if (rc == MPI_SUCCESS) messages()->received($6, $7, $8, $11, $12);"
    own_status["Sendrecv"] = 1
    before["Sendrecv_replace"] = "messages()->send($1, $2, $3, $4, $5, $8); $9 = given_status($9, &own);"
    after["Sendrecv_replace"] = "if (rc == MPI_SUCCESS) messages()->received($1, $2, $3, $8, $9);"
    own_status["Sendrecv_replace"] = 1
    before["Start"] = "messages()->start(1, $1);"
    before["Startall"] = "messages()->start($1, $2);"
    before["Request_free"] = "messages()->freed($1);"
    waits("Wait", "1", "$1", "$2", "1", "NULL")
    waits("Waitall", "$1", "$2", "$3", "$1", "NULL")
    waits("Waitany", "$1", "$2", "$4", "*$3 == MPI_UNDEFINED ? -1 : 1", "$3")
    waits("Waitsome", "$1", "$2", "$5", "*$3 == MPI_UNDEFINED ? -1 : *$3", "$4")
    waits("Test", "1", "$1", "$3", "*$2 ? 1 : -1", "NULL")
    waits("Testall", "$1", "$2", "$4", "*$3 ? $1 : -1", "NULL")
    waits("Testany", "$1", "$2", "$5", "*$4 && *$3 != MPI_UNDEFINED ? 1 : -1", "$3")
    waits("Testsome", "$1", "$2", "$5", "*$3 == MPI_UNDEFINED ? -1 : *$3", "$4")
    collective("Barrier", "BARRIER", "$1", "", "", "")
    collective("Bcast", "BCAST", "$5", "$4", ".sends = $1, .send_count = $2, .send_type = $3", ".receives = $1, .receive_count = $2, .receive_type = $3")
    collective("Gather", "GATHER", "$8", "$7", single("send", 1, 2, 3), single("receive", 4, 5, 6))
    collective("Gatherv", "GATHERV", "$9", "$8", single("send", 1, 2, 3), several("receive", 4, 5, 7))
    collective("Scatter", "SCATTER", "$8", "$7", single("send", 1, 2, 3), single("receive", 4, 5, 6))
    collective("Scatterv", "SCATTERV", "$9", "$8", several("send", 1, 2, 4), single("receive", 5, 6, 7))
    collective("Allgather", "ALLGATHER", "$7", "", single("send", 1, 2, 3), single("receive", 4, 5, 6))
    collective("Allgatherv", "ALLGATHERV", "$8", "", single("send", 1, 2, 3), several("receive", 4, 5, 7))
    collective("Alltoall", "ALLTOALL", "$7", "", single("send", 1, 2, 3), single("receive", 4, 5, 6))
    collective("Alltoallv", "ALLTOALLV", "$9", "", several("send", 1, 2, 4), several("receive", 5, 6, 8))
    collective("Alltoallw", "ALLTOALLW", "$9", "", "", "")
    collective("Allreduce", "ALLREDUCE", "$6", "", single("send", 1, 3, 4), single("receive", 2, 3, 4))
    collective("Reduce", "REDUCE", "$7", "$6", single("send", 1, 3, 4), single("receive", 2, 3, 4))
    collective("Reduce_scatter", "REDUCE_SCATTER", "$6", "", several("send", 1, 3, 4), several("receive", 2, 3, 4))
    collective("Reduce_scatter_block", "REDUCE_SCATTER_BLOCK", "$6", "", single("send", 1, 3, 4), single("receive", 2, 3, 4))
    collective("Scan", "SCAN", "$6", "", single("send", 1, 3, 4), single("receive", 2, 3, 4))
    collective("Exscan", "EXSCAN", "$6", "", single("send", 1, 3, 4), single("receive", 2, 3, 4))
    # The communicator that is made, by the number of its parameter.
    split("Comm_dup 2 Comm_dup_with_info 3 Comm_create 3 Comm_create_group 4 Comm_split 4 Comm_split_type 5 Cart_create 6 Graph_create 6 " \
        "Dist_graph_create 9 Dist_graph_create_adjacent 10 Cart_sub 3", names, " ")
    for (i = 1; i in names; i += 2) seen[names[i]] = "messages()->communicator($1, rc, $" names[i + 1] ");"
}
function begins_request(name, sends) {
    before[name] = "posted = messages()->posted(" sends ", $1, $2, $3, $4, $5, $6);"
    after[name] = "messages()->pending(posted, " sends ", $6, rc, $7);"
    numbered[name] = 1
}
function waits(name, n, requests, statuses, complete, indices) {
    before[name] = "waits = messages()->wait(" n ", " requests "); if (waits != NULL) " statuses " = messages()->statuses(waits, " statuses ");"
    after[name] = "if (waits != NULL) messages()->waited(waits, rc != MPI_SUCCESS ? -1 : " complete ", " indices ", " statuses ");"
    waiting[name] = always[name] = 1
}
function single(side, buffer, count, type) {
    return "." side "s = $" buffer ", ." side "_count = $" count ", ." side "_type = $" type
}
function several(side, buffer, counts, type) {
    return "." side "s = $" buffer ", ." side "_counts = $" counts ", ." side "_type = $" type
}
function collective(name, op, comm, root, sends, receives) {
    before[name] = "messages()->collective(&(struct traced_collective){.op = TRACE_" op ", .comm = " comm ", .root = " (root == "" ? "-1" : root) \
        (sends == "" ? "" : ", " sends) (receives == "" ? "" : ", " receives) "});"
    arrays[name] = sends receives ~ /_counts/
}

function wrapper(name, list,    n, p, i, args, one, short, large, names, extra, when, comm, peer) {
    args = ""
    comm = "NULL"
    peer = "MPI_PROC_NULL"
    n = list ~ /^[ \t]*void[ \t]*$/ ? 0 : split(list, p, ",")
    for (i = 1; i <= n; i++) {
        one = parameter_name(p[i])
        if (one == "" || p[i] ~ /[()]/) {
            print "calls.awk: " name ": parameter " p[i] > "/dev/stderr"
            exit 1
        }
        args = args (i > 1 ? ", " : "") one
        names[i] = one
        if (comm == "NULL" && p[i] ~ /^ *MPI_Comm [A-Za-z_]*$/) comm = "&" one
        if (peer == "MPI_PROC_NULL" && p[i] ~ /^ *int (dest|source)$/) peer = one
    }
    short = substr(name, 5)
    large = sub(/_c$/, "", short)
    if (large && arrays[short]) short = "" # its arrays are of MPI_Count
    extra = (short in own_status ? "    MPI_Status own;\n" : "") (short in numbered ? "    uint64_t posted = 0;\n" : "") \
        (short in waiting ? "    struct traced_waits *waits = NULL;\n" : "")
    when = short in always ? "state != PASSED_ON" : "state == RECORDED"
    if (short in before) extra = extra "    if (" when ") {\n        " filled(before[short], n, names) "\n    }\n"
    if (length(name) > 32) { # struct trace_name
        print "calls.awk: " name " is too long a name" > "/dev/stderr"
        exit 1
    }
    title[count] = substr(name, 5)
    body[count] = "int P" name "(" list ")\n{\n    __typeof__(" name ") *const next = (__typeof__(next))next_function(" count ");\n" \
        "    const enum state state = begin(" count ", __builtin_return_address(0), " comm ", " peer ");\n" extra \
        "    const int rc = next == NULL ? MPI_ERR_UNSUPPORTED_OPERATION : next(" args ");\n" \
        (short in after ? "    if (" when ") {\n        " filled(after[short], n, names) "\n    }\n" : "") \
        (short in seen ? "    if (state != PASSED_ON)\n        " filled(seen[short], n, names) "\n" : "") \
        "    end(state, " count ");\n    return rc;\n}\nMRMA_EXPORT_MPI(" substr(name, 5) ");\n"
    count++
}

END {
    count = 0
    describe()
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
            for (i = 0; i < count; i++) print "    \"" title[i] "\","
        else
            print line
    }
    for (i = 0; i < count; i++) print body[i]
}
