/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refuse-calls.c - refuse-calls CALL=ERROR... PROGRAM [ARGS]: run it where these system calls fail
 * with these errors, as under a container's seccomp profile or on an old kernel.
 */
#include <stdio.h>
#include <string.h>

#include "refuse.h"

struct named {
    const char *name;
    long value;
};

static const struct named calls[] = {
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"pidfd_open", SYS_pidfd_open},
    {"memfd_create", SYS_memfd_create},
    {"getrandom", SYS_getrandom},
    {"membarrier", SYS_membarrier},
    {NULL, 0},
};

static const struct named errors[] = {
    {"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EMFILE", EMFILE}, {NULL, 0}};

static const struct named *find(const struct named *table, const char *name, size_t len)
{
    for (; table->name; table++)
        if (strlen(table->name) == len && memcmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

int main(int argc, char **argv)
{
    const char *equals;
    int i = 1;

    for (; i < argc && (equals = strchr(argv[i], '=')) != NULL; i++) {
        const struct named *call = find(calls, argv[i], (size_t)(equals - argv[i]));
        const struct named *error = find(errors, equals + 1, strlen(equals + 1));
        if (call == NULL || error == NULL) {
            fprintf(stderr, "refuse-calls: %s is not known here\n", argv[i]);
            return 2;
        }
        if (refuse_call(call->value, (int)error->value) != 0) {
            perror("seccomp");
            return 1;
        }
    }
    if (i == argc) {
        fprintf(stderr, "usage: refuse-calls CALL=ERROR... PROGRAM [ARGS]\n");
        return 2;
    }
    execvp(argv[i], argv + i);
    perror(argv[i]);
    return 127;
}
