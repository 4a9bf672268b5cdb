/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_info.c - translates hints between MPI_Info and struct win_hints.
 *
 * A value that is not understood is ignored with a note in the log, as both hosts do and the
 * standard allows (MPI 4.1, 10); with MPIRMA_STRICT it is an error. mpi_assert_memory_alloc_kinds:
 * a list that names other kinds than system and mpi is not understood by this library. As the
 * standard says, it is then neither used nor reported. A window's hints that must be equal on all
 * processes are compared in rma/create/win_hints.c. No state, no locks.
 *
 * Neighbours: rma/win/hints.h, which knows the keys; window.c and win_query.c.
 */
#include "mpi/calls/win_info.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/text.h"
#include "engine/engine.h"
#include "mpi/process/state.h"
#include "rma/rma.h"

#define KINDS_KEY "mpi_assert_memory_alloc_kinds"

/* A kind is system or mpi, maybe with restrictors behind colons (MPI 4.1, 11.4.3). */
static bool read_kinds(const char *text, struct win_info *v)
{
    const char *list = text;
    char word[WIN_KINDS_MAX];
    bool ours = strlen(text) < sizeof v->kinds;

    while (text_next_word(&list, word, sizeof word)) {
        word[strcspn(word, ":")] = '\0';
        if (word[0] == '\0')
            return false;
        ours = ours && (strcmp(word, "system") == 0 || strcmp(word, "mpi") == 0);
    }
    if (ours)
        memcpy(v->kinds, text, strlen(text) + 1);
    return true;
}

struct win_info win_info_default(void)
{
    return (struct win_info){.hints = win_hints_default()};
}

/* find finds the value of a key in info. */
static bool find(MPI_Info info, const char *key, char *text)
{
    int there = 0;

    return PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there) == MPI_SUCCESS && there;
}

int win_info_odd(const char *key, const char *text, const char *expected, char *msg, size_t len)
{
    if (engine_conf(mpi_state.engine)->strict)
        return FAULT(engine_messages(), INFO_ODD, key, text, expected);
    snprintf(msg, len, "info key %s=\"%.100s\" is not understood and ignored: expected %s", key,
             text, expected);
    log_msg(engine_messages(), LOG_LEVEL_INFO, "%s", msg);
    msg[0] = '\0'; /* it is no error */
    return MRMA_SUCCESS;
}

int win_info_read(MPI_Info info, struct win_info *values, char *msg, size_t len)
{
    struct win_info fresh = *values;
    char text[MPI_MAX_INFO_VAL + 1];
    int err = MRMA_SUCCESS;

    if (info == MPI_INFO_NULL)
        return MRMA_SUCCESS;
    for (int i = 0; err == MRMA_SUCCESS && i < HINTS; i++)
        if (find(info, hint_key(i), text) && !hint_read(i, text, &fresh.hints))
            err = win_info_odd(hint_key(i), text, hint_expected(i), msg, len);
    if (err == MRMA_SUCCESS && find(info, KINDS_KEY, text) && !read_kinds(text, &fresh))
        err = win_info_odd(KINDS_KEY, text, "a list of memory kinds", msg, len);
    if (err == MRMA_SUCCESS)
        *values = fresh;
    return err;
}

/* has_word returns whether name is one of the words of a list with commas. */
static bool has_word(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    return false;
}

/* show_paths writes each path once, in the order of the first target that has it. */
static void show_paths(const struct win_rec *rec, char *buf, size_t len)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int target = 0; target < rec->nproc && at < len; target++) {
        const char *name = win_path_name(rec->win, target);
        if (!has_word(buf, name))
            at += (size_t)snprintf(buf + at, len - at, "%s%s", at > 0 ? "," : "", name);
    }
}

int win_info_make(const struct win_rec *rec, MPI_Info *out)
{
    const struct win_hints *hints = win_hints(rec->win);
    char text[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;

    if (PMPI_Info_create(&info) != MPI_SUCCESS)
        return MRMA_ERR_NO_MEM;
    for (int i = 0; i < HINTS; i++) {
        hint_show(i, hints, text, sizeof text);
        if (text[0] != '\0')
            PMPI_Info_set(info, hint_key(i), text);
    }
    if (rec->kinds[0] != '\0')
        PMPI_Info_set(info, KINDS_KEY, rec->kinds);
    show_paths(rec, text, sizeof text);
    PMPI_Info_set(info, "mpirma_path", text);
    /* This is all memory that this library can reach, whatever the host was asked to support (MPI
     * 4.1, 11.4.3). */
    PMPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi,system");
    *out = info;
    return MRMA_SUCCESS;
}
