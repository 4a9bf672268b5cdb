/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_held.c - see error_held.h. State: the texts of the calling thread. No locks.
 *
 * Neighbours: log.h, whose hold is here; errhan.c.
 */
#include "mpi/process/error_held.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/engine.h"
#include "mpi/process/state.h"

/* What was said of the error that the present call of this thread will return: the row of the table
 * and its text, and what lower layers have seen, one line each. */
static _Thread_local struct {
    enum fault fault;
    char text[LOG_HELD], causes[1024];
} held;

static void hold_cause(const char *text)
{
    const size_t used = strlen(held.causes), len = strlen(text);

    if (used + len + 2 > sizeof held.causes)
        return; /* the first fault is nearest to the cause */
    memcpy(held.causes + used, text, len);
    memcpy(held.causes + used + len, "\n", 2);
}

bool error_hold(int fault, const char *text)
{
    if (mpi_state.engine != NULL && engine_in_agent(mpi_state.engine))
        return false;
    if (fault == FAULT_NONE) {
        hold_cause(text);
    } else if (held.fault == FAULT_NONE || held.fault == (enum fault)fault) {
        held.fault = (enum fault)fault;
        snprintf(held.text, sizeof held.text, "%s", text);
    }
    return true;
}

void error_forget(void)
{
    held.fault = FAULT_NONE;
    held.causes[0] = '\0';
}

enum fault error_fault(int err)
{
    return fault_row(held.fault)->err == err ? held.fault : FAULT_NONE;
}

bool error_is_named(int err)
{
    return held.causes[0] != '\0' || error_fault(err) != FAULT_NONE;
}

const char *error_text(void)
{
    return held.text;
}

char *error_causes(void)
{
    return held.causes;
}
