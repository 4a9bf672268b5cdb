/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen_libfabric.c - libfabric's functions for the library, which is not linked with libfabric: a
 * job within one node does not use the network, and what libfabric brings with it costs each
 * process time when it is loaded (libraries of its providers measure clocks and look for devices).
 * nm_fabric_open has loaded libfabric before any of these functions is called. Most of libfabric's
 * calls are not here, but go through the tables of its objects.
 *
 * Each function asks the dynamic linker again, which is cheap beside what the function does, so
 * there is no state.
 *
 * Neighbours: fabric.c and addr.c, which call these; m4/libfabric.m4, which finds the versions.
 */
#define _GNU_SOURCE 1 /* dlvsym */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdma/fabric.h>

/* function returns a symbol of the version that the headers belong to (m4/libfabric.m4). It is
 * always there, since a libfabric that lacks it would have another soname, under which it is not
 * loaded. */
static void *function(const char *name, const char *version)
{
    void *library = dlopen(LIBFABRIC_SONAME, RTLD_NOW | RTLD_NOLOAD);
    void *found = library ? dlvsym(library, name, version) : NULL;
    if (!found) {
        fprintf(stderr, "libmpi-rma: %s has no %s of version %s\n", LIBFABRIC_SONAME, name,
                version);
        abort();
    }
    (void)dlclose(library);
    return found;
}

/* C has no conversion from an object to a function pointer. */
#define FUNCTION(name, version) \
    __typeof__(&name) call;     \
    *(void **)&call = function(#name, version)

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    FUNCTION(fi_getinfo, FI_GETINFO_VERSION);
    return call(version, node, service, flags, hints, info);
}

void fi_freeinfo(struct fi_info *info)
{
    if (!info)
        return; /* also where libfabric was never loaded */
    FUNCTION(fi_freeinfo, FI_FREEINFO_VERSION);
    call(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    FUNCTION(fi_dupinfo, FI_DUPINFO_VERSION);
    return call(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    FUNCTION(fi_fabric, FI_FABRIC_VERSION);
    return call(attr, fabric, context);
}

const char *fi_strerror(int errnum)
{
    FUNCTION(fi_strerror, FI_STRERROR_VERSION);
    return call(errnum);
}
