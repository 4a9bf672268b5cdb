/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.c - what node this process is on (node.h). The kernel identifies its boot by a random id;
 * where there is none, the host's name is used. No state, no locks.
 */
#include "sys/node.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t hash_bytes(const void *bytes, size_t len)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
    return h;
}

static uint64_t namespace_id(const char *file)
{
    struct stat st;

    return stat(file, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

struct node_id node_self(void)
{
    const uint64_t spaces[2] = {namespace_id("/proc/self/ns/pid"),
                                namespace_id("/proc/self/ns/net")};
    char text[256] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;

    if (fd >= 0)
        close(fd);
    if (len <= 0 && gethostname(text, sizeof text - 1) == 0)
        len = (ssize_t)strlen(text);
    return (struct node_id){
        {hash_bytes(text, len > 0 ? (size_t)len : 0), hash_bytes(spaces, sizeof spaces)}};
}

uint64_t node_clock(void)
{
    const uint64_t parts[2] = {node_self().word[0], namespace_id("/proc/self/ns/time")};

    return hash_bytes(parts, sizeof parts);
}
