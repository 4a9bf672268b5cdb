/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vite_loop.c - preloaded by test_viewers into the viewer ViTE, of which version 1.4 often waits
 * for ever.
 *
 * After it has read a trace, its reading thread asks again and again whether the event loop of the
 * main thread runs, in order to end it. The loop may have been ended before, by another thread;
 * the main thread then waits for the reading one. So after many questions, with pauses between
 * them, the answer is yes, whatever the loop does.
 *
 * Neighbours: none; it takes the place of a function of Qt, by its name in the object code.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

enum { QUESTIONS = 1000 };

/* QEventLoop::isRunning() const. Each thread of the viewer asks for itself. */
bool _ZNK10QEventLoop9isRunningEv(const void *loop);
bool _ZNK10QEventLoop9isRunningEv(const void *loop)
{
    static _Thread_local unsigned asked;
    const struct timespec pause = {0, 1000000};
    bool (*is_running)(const void *) = NULL;

    *(void **)&is_running = dlsym(RTLD_NEXT, "_ZNK10QEventLoop9isRunningEv");
    if (!is_running || is_running(loop) || ++asked > QUESTIONS)
        return true;
    nanosleep(&pause, NULL);
    return false;
}
