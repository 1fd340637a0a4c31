/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands stat and top, which show the numbers of the daemon's requests by method, and log-level.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "listing.h"
#include "numbers.h"
#include "terminal.h"

enum { MOST_SCREENS = 1000000000 };

static const listing_column COLUMNS[] = {
    {"method", "method", TABLE_LEFT},
    {"requests", "requests", TABLE_RIGHT},
    {"refused", "refused", TABLE_RIGHT},
    {"mean", "mean us", TABLE_RIGHT},
    {"p50", "p50 us", TABLE_RIGHT},
    {"p99", "p99 us", TABLE_RIGHT},
    {"samples", "states", TABLE_RIGHT},
    {"request_bytes", "bytes in", TABLE_RIGHT},
    {"reply_bytes", "bytes out", TABLE_RIGHT},
};

static const listing_column RATES[] = {
    {"method", "method", TABLE_LEFT},
    {"requests", "requests/s", TABLE_RIGHT},
    {"refused", "refused/s", TABLE_RIGHT},
    {"mean", "mean us", TABLE_RIGHT},
    {"p50", "p50 us", TABLE_RIGHT},
    {"p99", "p99 us", TABLE_RIGHT},
    {"samples", "states/s", TABLE_RIGHT},
    {"request_bytes", "bytes in/s", TABLE_RIGHT},
    {"reply_bytes", "bytes out/s", TABLE_RIGHT},
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

/* ---- numbers of a time ------------------------------------------------------------------------------------------- */

/* Numbers of one method since a time: the present ones without those of that time. */
typedef struct span {
    const dyn_client_metrics *metrics;
    const dyn_client_method_metrics *now, *before; /* before NULL: zeros */
} span;

/* Returns the number of requests with the code number `first` or a later one: 0: all; 1: all that were refused. */
static uint64_t codes_from(const dyn_client_method_metrics *m, size_t first) {
    uint64_t total = 0;
    for (size_t i = first; m && i < m->code_count; i++) {
        total += m->codes[i];
    }
    return total;
}

static uint64_t range_count(const span *s, size_t range) {
    return s->now->times[range] - (s->before ? s->before->times[range] : 0);
}

/* Returns the time below which a share of the requests was answered, in s: linear within its range, as
 * histogram_quantile of Prometheus. Of the last range, which has no end, returns its beginning. NAN: no requests. */
static double quantile(const span *s, double share) {
    const dyn_client_metrics *m = s->metrics;
    double total = 0, below = 0;
    for (size_t i = 0; i <= m->bound_count; i++) {
        total += (double)range_count(s, i);
    }
    double wanted = share * total;
    for (size_t i = 0; total > 0 && i < m->bound_count; i++) {
        double count = (double)range_count(s, i), low = i > 0 ? m->time_bounds[i - 1] : 0;
        if (count > 0 && below + count >= wanted) {
            return low + (m->time_bounds[i] - low) * (wanted - below) / count;
        }
        below += count;
    }
    return total > 0 && m->bound_count > 0 ? m->time_bounds[m->bound_count - 1] : (double)NAN;
}

/* Adds a number of requests, samples or bytes, divided by the seconds. Without seconds it is a whole number. */
static void add_amount(listing *to, uint64_t now, uint64_t before, double seconds) {
    uint64_t amount = now - before;
    if (seconds > 0) {
        listing_number(to, (double)amount / seconds, "%.0f", (double)amount / seconds);
    } else {
        listing_count(to, amount);
    }
}

static void add_time(listing *to, double seconds) {
    if (isnan(seconds)) {
        listing_text(to, "", NULL);
    } else {
        listing_number(to, seconds, "%.1f", 1e6 * seconds);
    }
}

/* Adds the row of a method. */
static void add_method(listing *to, const span *s, double seconds) {
    const dyn_client_method_metrics zeros = {0}, *now = s->now, *before = s->before ? s->before : &zeros;
    uint64_t count = codes_from(now, 0) - codes_from(before, 0);
    listing_text(to, now->method, NULL);
    add_amount(to, codes_from(now, 0), codes_from(before, 0), seconds);
    add_amount(to, codes_from(now, 1), codes_from(before, 1), seconds);
    add_time(to, count > 0 ? (now->time - before->time) / (double)count : (double)NAN);
    add_time(to, quantile(s, 0.5));
    add_time(to, quantile(s, 0.99));
    add_amount(to, now->samples, before->samples, seconds);
    add_amount(to, now->request_bytes, before->request_bytes, seconds);
    add_amount(to, now->reply_bytes, before->reply_bytes, seconds);
}

/* Returns the numbers of the same method in `before`, or NULL if it has none or the daemon was started again. */
static const dyn_client_method_metrics *find_before(const dyn_client_metrics *now, const dyn_client_metrics *before,
                                                    const char *method) {
    bool is_same = before && before->instance == now->instance && before->bound_count == now->bound_count;
    for (size_t i = 0; is_same && i < before->method_count; i++) {
        if (strcmp(before->methods[i].method, method) == 0) {
            return &before->methods[i];
        }
    }
    return NULL;
}

static uint64_t counter(const dyn_client_metrics *m, const char *name) {
    for (size_t i = 0; i < m->counter_count; i++) {
        if (strcmp(m->counters[i].name, name) == 0) {
            return m->counters[i].value;
        }
    }
    return 0;
}

static void print_summary(const dyn_client_metrics *m) {
    static const char *const names[] = {"connections", "models", "simulations", "streams", "jobs"};
    printf("up for %.0f s", m->uptime);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        printf(", %llu %s", (unsigned long long)counter(m, names[i]), names[i]);
    }
    printf(", %.1f MiB held (%.1f at most)\n", (double)counter(m, "memory_held") / 0x1p20,
           (double)counter(m, "memory_peak") / 0x1p20);
}

/* Writes a row for each method that was called: of all requests if `before` is NULL, else of those since. */
static exit_code write_methods(const arguments *args, const dyn_client_metrics *now, const dyn_client_metrics *before) {
    bool restarted = before && before->instance != now->instance;
    double seconds = !before ? 0 : restarted ? now->uptime : now->uptime - before->uptime;
    listing rows;
    exit_code code = listing_open(args, COLUMN_COUNT, before ? RATES : COLUMNS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < now->method_count; i++) {
        const span s = {now, &now->methods[i], find_before(now, before, now->methods[i].method)};
        if (codes_from(s.now, 0) > codes_from(s.before, 0)) {
            add_method(&rows, &s, seconds);
        }
    }
    return listing_close(&rows, "no requests", code);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

exit_code run_stat(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    dyn_client_error error;
    dyn_client_metrics *metrics;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_get_metrics(client, timeout, &metrics, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (!args->value[OPTION_JSON] && !args->value[OPTION_CSV]) {
        print_summary(metrics);
    }
    code = write_methods(args, metrics, NULL);
    dyn_client_metrics_free(metrics);
    return code;
}

/* Requests the metrics once a second and shows the requests since the last time. */
static exit_code show_screens(const arguments *args, dyn_client *client, double timeout, long count) {
    bool is_terminal = isatty(STDOUT_FILENO) == 1;
    dyn_client_metrics *before = NULL, *now = NULL;
    dyn_client_error error;
    exit_code code = EXIT_OK;
    for (long i = 0; code == EXIT_OK && i <= count; i++) {
        if (dyn_client_get_metrics(client, timeout, &now, &error) != DYN_CLIENT_OK) {
            code = complain_call(&error, NULL);
        } else if (before) {
            if (is_terminal) {
                terminal_control(stdout, "\033[H\033[2J");
            }
            print_summary(now);
            code = write_methods(args, now, before);
            fflush(stdout);
        }
        dyn_client_metrics_free(before);
        before = now;
        now = NULL;
        if (code == EXIT_OK && i < count) {
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        }
    }
    dyn_client_metrics_free(before);
    return code;
}

exit_code run_top(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    long count = MOST_SCREENS;
    const char *text = args->value[OPTION_COUNT];
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (text && !parse_integer(text, 1, MOST_SCREENS, &count)) {
        return complain(EXIT_USAGE, "--count %s: pass a whole number from 1 to %d", text, MOST_SCREENS);
    }
    return show_screens(args, client, timeout, count);
}

static const char *const LEVELS[] = {"", "error", "warning", "info", "debug"};
enum { LEVEL_COUNT = sizeof LEVELS / sizeof *LEVELS };

static const char *level_name(dyn_client_log_level level) {
    return (size_t)level < LEVEL_COUNT ? LEVELS[level] : "unknown";
}

exit_code run_log_level(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    dyn_client_error error;
    dyn_client_log_level now, previous;
    int level = 0;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (args->positional_count > 0) {
        level = 1;
        while (level < LEVEL_COUNT && strcmp(LEVELS[level], args->positional[0]) != 0) {
            level++;
        }
        if (level == LEVEL_COUNT) {
            return complain(EXIT_USAGE, "there is no level %s; pass error, warning, info or debug",
                            args->positional[0]);
        }
    }
    if (dyn_client_set_log_level(client, (dyn_client_log_level)level, timeout, &now, &previous, &error) !=
        DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (args->value[OPTION_JSON]) {
        printf("{\"level\": \"%s\", \"previous\": \"%s\"}\n", level_name(now), level_name(previous));
    } else if (level > 0) {
        printf("%s (it was %s)\n", level_name(now), level_name(previous));
    } else {
        printf("%s\n", level_name(now));
    }
    return EXIT_OK;
}
