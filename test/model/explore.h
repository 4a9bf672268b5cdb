/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * explore.h - model_explore (model.h) as a step of a cmocka test, and the main program of tests of
 * the model. Behind <cmocka.h>.
 */
#ifndef MRMA_TEST_EXPLORE_H
#define MRMA_TEST_EXPLORE_H

#include "model.h"
#include "../sim/fiber.h"

/* No order of the scenario fails; the text of the first that does is the test's. With
 * AddressSanitizer, where a switch is a system call, one deviation less is tried. */
static inline void explore(const struct model_scenario *s)
{
    unsigned long runs = 0;
    struct model_scenario tried = *s;
    tried.deviations -= FIBER_ASAN && s->deviations > 1;
    const char *failure = model_explore(&tried, &runs);
    print_message("# %lu runs\n", runs);
    if (failure)
        fail_msg("%s", failure);
}

#define MODEL_MAIN(tests)                                                        \
    int main(void)                                                               \
    {                                                                            \
        if (!FIBER_SUPPORTED) {                                                  \
            print_message("1..0 # SKIP fibers do not go with this sanitizer\n"); \
            return 0;                                                            \
        }                                                                        \
        return cmocka_run_group_tests(tests, NULL, NULL);                        \
    }

#endif
