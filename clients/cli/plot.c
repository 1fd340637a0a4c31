/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draws a plot in the terminal. Samples are stored at equal intervals of simulated time. When the store is full,
 * every other sample is dropped and the interval grows, so that the plot shows the whole run, however long.
 */
#include "plot.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "terminal.h"

enum {
    CAPACITY = 1024,      /* samples */
    BARS = 8,             /* heights of a bar */
    WIDTH = 80,           /* columns if the output is not a terminal, or its size is unknown */
    HEIGHT = 24,          /* lines of a terminal of unknown size */
    VALUE_WIDTH = 12,     /* a number and the space before it */
    RANGE_WIDTH = 25,     /* " [low high]" */
    RANGE_FROM = 72,      /* columns; narrower plots omit the range */
    LONGEST_NAME = 28,    /* columns; longer names are shortened in the middle */
    NARROWEST_COURSE = 8, /* columns */
};

/* Time between two drawings, s. */
static const double DRAW_INTERVAL = 0.1;

/* Smallest range that is drawn in full height, relative to the largest value or to 1. Smaller ranges are rounding
 * errors. */
static const double SMALLEST_RANGE = 1e-6;

static const char *const BLOCKS[BARS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const CHARACTERS[BARS] = {"_", ".", "-", "~", "=", "+", "*", "#"};

typedef struct screen {
    size_t columns, lines;
} screen;

struct plot {
    const char *title;
    size_t count;
    const char *const *names;
    size_t name_width;
    const char *const *bars;
    bool is_terminal;

    size_t samples;
    double interval; /* s of simulated time between samples; 0: all rows are stored */
    double *times;   /* CAPACITY */
    double *values;  /* CAPACITY x count */
    bool has_rows;
    double first_time, time;
    double *low, *high, *last; /* of all rows */

    double next_draw; /* s of the clock */
    size_t drawn_lines;
    screen drawn_on;
};

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Returns the characters for bars that the user's locale can show. */
static const char *const *choose_bars(void) {
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is_utf8 = user != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    if (user != (locale_t)0) {
        freelocale(user);
    }
    return is_utf8 ? BLOCKS : CHARACTERS;
}

/* Callback before messages on stderr: leaves the last drawing on the screen. The next drawing begins below the
 * message. */
static void leave(void *context) {
    plot *left = context;
    fflush(stdout);
    left->drawn_lines = 0;
}

plot *plot_create(const char *title, size_t count, const char *const *names) {
    plot *created = calloc(1, sizeof *created);
    if (!created) {
        return NULL;
    }
    created->title = title;
    created->count = count;
    created->names = names;
    created->bars = choose_bars();
    created->is_terminal = isatty(STDOUT_FILENO) == 1;
    created->times = calloc(CAPACITY, sizeof *created->times);
    created->values = calloc(CAPACITY * (count + 1), sizeof *created->values);
    created->low = calloc(3 * (count + 1), sizeof *created->low);
    if (!created->times || !created->values || !created->low) {
        plot_free(created);
        return NULL;
    }
    created->high = created->low + count;
    created->last = created->high + count;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        created->name_width = length > created->name_width ? length : created->name_width;
    }
    if (created->is_terminal && isatty(STDERR_FILENO) == 1) {
        terminal_before_messages(leave, created);
    }
    return created;
}

void plot_free(plot *freed) {
    if (!freed) {
        return;
    }
    terminal_before_messages(NULL, NULL);
    free(freed->times);
    free(freed->values);
    free(freed->low);
    free(freed);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Drops every other sample of a full store and sets the interval to the larger one. */
static void thin(plot *full) {
    for (size_t i = 0; i < CAPACITY / 2; i++) {
        full->times[i] = full->times[2 * i];
        memcpy(full->values + i * full->count, full->values + 2 * i * full->count, full->count * sizeof *full->values);
    }
    full->samples = CAPACITY / 2;
    full->interval = (full->times[full->samples - 1] - full->times[0]) / (double)(full->samples - 1);
}

static void store(plot *to, double time, const double *values) {
    /* Half of the smallest rounding of an interval must not lose the sample at its end. */
    if (to->samples > 0 && time < to->times[to->samples - 1] + to->interval * (1 - 1e-9)) {
        return;
    }
    if (to->samples == CAPACITY) {
        thin(to);
    }
    to->times[to->samples] = time;
    memcpy(to->values + to->samples * to->count, values, to->count * sizeof *values);
    to->samples++;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static screen screen_size(const plot *used) {
    struct winsize size = {0};
    screen found = {WIDTH, used->is_terminal ? HEIGHT : SIZE_MAX};
    if (used->is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        found.columns = size.ws_col > 0 ? size.ws_col : found.columns;
        found.lines = size.ws_row > 0 ? size.ws_row : found.lines;
    }
    return found;
}

/* Prints a name in `width` columns. A longer name loses characters in its middle. */
static void print_name(const char *name, size_t width) {
    size_t length = strlen(name);
    if (length <= width || width < 5) {
        printf("%-*.*s", (int)width, (int)width, name);
        return;
    }
    size_t tail = (width - 2) / 2, head = width - 2 - tail;
    printf("%.*s..%s", (int)head, name, name + length - tail);
}

/* Returns the index of the stored sample that a column shows; the last column shows the last sample. */
static size_t sample_at(const plot *from, size_t column, size_t columns) {
    return columns > 1 ? column * (from->samples - 1) / (columns - 1) : from->samples - 1;
}

static void print_course(const plot *from, size_t i, size_t columns) {
    double low = from->low[i], range = from->high[i] - low;
    bool is_flat = !(range > SMALLEST_RANGE * fmax(1, fmax(fabs(low), fabs(from->high[i]))));
    size_t width = from->samples < columns ? from->samples : columns;
    for (size_t k = 0; k < width; k++) {
        double value = from->values[sample_at(from, k, width) * from->count + i];
        double height = is_flat ? 0.5 : (value - low) / range;
        size_t bar = isfinite(height) && height > 0 ? (size_t)(height * BARS) : 0;
        fputs(from->bars[bar < BARS ? bar : BARS - 1], stdout);
    }
}

static void print_line(const plot *from, size_t i, size_t columns) {
    size_t name = from->name_width < LONGEST_NAME ? from->name_width : LONGEST_NAME;
    bool has_range = columns >= RANGE_FROM;
    size_t fixed = VALUE_WIDTH + 1 + (has_range ? RANGE_WIDTH : 0);
    if (name + fixed + NARROWEST_COURSE > columns) {
        name = columns > fixed + NARROWEST_COURSE ? columns - fixed - NARROWEST_COURSE : 1;
    }
    print_name(from->names[i], name);
    printf(" %*.5g", VALUE_WIDTH - 1, from->last[i]);
    if (has_range) {
        printf(" [%10.4g %10.4g ]", from->low[i], from->high[i]);
    }
    printf(" ");
    print_course(from, i, columns > name + fixed ? columns - name - fixed : 1);
    printf("\n");
}

/* Removes the last drawing from the terminal. If the terminal's size has changed, which wraps the lines again, clears
 * all of the screen. */
static void erase(plot *drawn, screen on) {
    bool is_resized = on.columns != drawn->drawn_on.columns || on.lines != drawn->drawn_on.lines;
    if (drawn->drawn_lines > 0 && is_resized) {
        terminal_control(stdout, "\033[H\033[2J");
    } else if (drawn->drawn_lines > 0) {
        terminal_control(stdout, "\033[%zuA\033[J", drawn->drawn_lines);
    }
    drawn->drawn_on = on;
}

/* Draws the plot within the lines of the screen and leaves a line for the cursor. Removes the last drawing from a
 * terminal first. */
static void draw(plot *from) {
    screen on = screen_size(from);
    if (from->is_terminal) {
        erase(from, on);
    }
    size_t room = on.lines > 3 ? on.lines - 3 : 1;
    size_t shown = from->count <= room + 1 ? from->count : room;
    printf("%s, %.3f s to %.3f s\n", from->title, from->first_time, from->time);
    for (size_t i = 0; i < shown; i++) {
        print_line(from, i, on.columns);
    }
    if (shown < from->count) {
        printf("(%zu more)\n", from->count - shown);
    }
    from->drawn_lines = 1 + shown + (shown < from->count);
    fflush(stdout);
}

void plot_add(plot *to, double time, const double *values) {
    if (!to->has_rows || time < to->time) {
        to->samples = 0;
        to->interval = 0;
        to->first_time = time;
        to->has_rows = true;
        memcpy(to->low, values, to->count * sizeof *values);
        memcpy(to->high, values, to->count * sizeof *values);
    }
    to->time = time;
    for (size_t i = 0; i < to->count; i++) {
        to->low[i] = fmin(to->low[i], values[i]);
        to->high[i] = fmax(to->high[i], values[i]);
        to->last[i] = values[i];
    }
    store(to, time, values);
    if (to->is_terminal && now() >= to->next_draw) {
        draw(to);
        to->next_draw = now() + DRAW_INTERVAL;
    }
}

void plot_finish(plot *drawn) {
    if (drawn->has_rows) {
        draw(drawn);
    }
}
