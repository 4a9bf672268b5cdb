/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * driver.c - see driver.h.
 */
#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct driver driver;

static void on_abort(int sig)
{
    char text[128];
    (void)sig;
    const int len =
        snprintf(text, sizeof text, "failed with seed %llu; to repeat: test/sim/%s %s%llu\n",
                 (unsigned long long)driver.seed, driver.name,
                 driver.deaths   ? "-k "
                 : driver.chains ? "-c "
                                 : "",
                 (unsigned long long)driver.seed);
    if (write(2, text, (size_t)len) < 0)
        _exit(3);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
}

void driver_begin(const char *name, void (*run)(uint64_t seed))
{
    driver = (struct driver){.name = name, .run = run};
    signal(SIGABRT, on_abort);
}

void driver_run(uint64_t first, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        driver.seed = first + i;
        driver.run(first + i);
    }
}

void driver_run_fresh(uint64_t n)
{
    const uint64_t first = (uint64_t)time(NULL) * 1000003;
    printf("# fresh seeds %llu and the %d after it\n", (unsigned long long)first, (int)n - 1);
    driver_run(first, n);
}

int driver_main(int argc, char **argv)
{
    driver.deaths = strcmp(argv[1], "-k") == 0;
    driver.chains = strcmp(argv[1], "-c") == 0;
    const int options = driver.deaths || driver.chains;
    argc -= options, argv += options;
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    driver_run(first, n);
    printf("%llu programs, no failure\n", (unsigned long long)n);
    return 0;
}
