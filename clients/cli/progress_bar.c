/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws the progress of a long request on a terminal.
 */
#include "progress_bar.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "terminal.h"

enum { WIDTH = 50 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

void progress_bar_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
}

bool progress_bar_has_reader(void) {
    return isatty(STDERR_FILENO) == 1;
}

bool progress_bar_draw(void *context, double fraction) {
    progress_bar *bar = context;
    int full = (int)(fraction * WIDTH);
    terminal_control(stderr, "\r");
    fputc('[', stderr);
    for (int i = 0; i < WIDTH; i++) {
        fputc(i < full ? '#' : ' ', stderr);
    }
    fprintf(stderr, "] %3.0f %%", 100 * fraction);
    fflush(stderr);
    bar->is_drawn = true;
    return !interrupted;
}

void progress_bar_close(progress_bar *closed) {
    if (closed->is_drawn) {
        terminal_control(stderr, "\r\033[K");
    }
    closed->is_drawn = false;
}
