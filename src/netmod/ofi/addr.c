/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * addr.c - endpoint names, and which interface an endpoint is on.
 *
 * No state. Locks: as nmofi.h says. Neighbours: fabric.c chooses by these answers; the bootstrap
 * carries names.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "netmod/ofi/ofi.h"

size_t nm_addr_bytes(const struct nmofi *nm)
{
    unsigned char bytes[NMOFI_NAME_BYTES];
    size_t len = sizeof bytes;
    const int ret = fi_getname(&nm->ep->fid, bytes, &len);
    return ret && len <= sizeof bytes ? 0 : len;
}

int nm_addr_name(struct nmofi *nm)
{
    struct nmofi_name *name = &nm->name;
    size_t len = sizeof name->bytes;
    int ret = fi_getname(&nm->ep->fid, name->bytes, &len);
    if (ret)
        return log_fail(nm->opts.log, MRMA_ERR_OTHER, "libfabric: no address of the endpoint: %s",
                        fi_strerror(-ret));
    name->format = nm->info->addr_format;
    name->protocol = nm->info->ep_attr->protocol;
    name->len = (uint16_t)len;
    return MRMA_SUCCESS;
}

/* host_text writes the address without its port; "" if it is no Internet address. */
static void host_text(const struct fi_info *info, char *text, size_t len)
{
    text[0] = '\0';
    if (info->addr_format == FI_SOCKADDR_IN && info->src_addr)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)info->src_addr)->sin_addr, text,
                  (socklen_t)len);
    if (info->addr_format == FI_SOCKADDR_IN6 && info->src_addr)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)info->src_addr)->sin6_addr, text,
                  (socklen_t)len);
}

bool nm_addr_on(const struct fi_info *info, const char *interface)
{
    char text[INET6_ADDRSTRLEN];
    const char *domain = info->domain_attr->name;
    if (domain && strcmp(domain, interface) == 0)
        return true;
    host_text(info, text, sizeof text);
    return text[0] && strcmp(text, interface) == 0;
}

bool nm_addr_loopback(const struct fi_info *info)
{
    char text[INET6_ADDRSTRLEN];
    host_text(info, text, sizeof text);
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

bool nm_addr_link_local(const struct fi_info *info)
{
    char text[INET6_ADDRSTRLEN];
    host_text(info, text, sizeof text);
    return strncmp(text, "fe80:", 5) == 0 || strncmp(text, "169.254.", 8) == 0;
}

void nm_addr_text(const struct nmofi *nm, const struct nmofi_name *name, char *text, size_t len)
{
    char full[NMOFI_TEXT];
    size_t n = sizeof full;
    (void)fi_av_straddr(nm->av, name->bytes, full, &n);
    full[sizeof full - 1] = '\0';
    const char *at = strstr(full, "://");
    snprintf(text, len, "%s", at ? at + 3 : full);
}
