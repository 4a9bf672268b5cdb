/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.h - TCP's own datagrams by the name that this libfabric has for them: the
 * provider "net" of 1.17 became a part of "tcp" later.
 */
#ifndef MRMA_TEST_PROVIDER_H
#define MRMA_TEST_PROVIDER_H

#include <rdma/fabric.h>
#include <stdlib.h>
#include <string.h>

static inline const char *provider_of_datagrams(void)
{
    struct fi_info *hints = fi_allocinfo(), *list = NULL;
    int rc = -1;

    if (hints != NULL) {
        hints->fabric_attr->prov_name = strdup("net");
        rc = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &list);
    }
    fi_freeinfo(list);
    fi_freeinfo(hints);
    return rc == 0 ? "net" : "tcp";
}

#endif
