/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the resident memory of the daemon with the sample robots: idle after its start, and after requests.
 */
#include <stdlib.h>
#include <unistd.h>

#include "daemon.h"
#include "dynamics_client.h"
#include "sections.h"

enum { REQUESTS = 10000, BATCH = 1000, JOINTS = 6, LIMIT_MB = 20 };

/* Returns, in units of 10^6 bytes, the value that the scanf format reads from /proc/PID/status, where the unit is 1024
 * bytes. */
static double status_mb(pid_t process, const char *format) {
    char path[64], line[128];
    unsigned long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, format, &kilobytes) != 1) {
    }
    if (file) {
        fclose(file);
    }
    if (kilobytes == 0) {
        die("cannot read %s", path);
    }
    return (double)kilobytes / 1000 * 1.024;
}

static const table_column columns[] = {{"when", "when", TABLE_TEXT},
                                       {"resident", "resident_mb", 2},
                                       {"of it anonymous", "anonymous_mb", 2},
                                       {"threads", "threads", 0}};

static double thread_count(pid_t process) {
    return status_mb(process, "Threads: %lu") / 1.024 * 1000;
}

static void add_row(table *t, const char *when, pid_t process) {
    const table_cell cells[] = {{.text = when},
                                {.number = status_mb(process, "VmRSS: %lu")},
                                {.number = status_mb(process, "RssAnon: %lu")},
                                {.number = thread_count(process)}};
    table_add(t, cells);
}

/* Requests torques of `samples` states, `requests` times. */
static void work(const bench_daemon *daemon, size_t requests, size_t samples) {
    dyn_client *client;
    dyn_client_error error;
    double *q = calloc(2 * samples, JOINTS * sizeof *q);
    if (!q) {
        die("out of memory");
    }
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = samples);
    dyn_client_status status = dyn_client_connect(daemon->ipc, NULL, &client, &error);
    for (size_t i = 0; i < requests && status == DYN_CLIENT_OK; i++) {
        status = dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, q + samples * JOINTS, &error);
    }
    if (status != DYN_CLIENT_OK) {
        die("%s", error.message);
    }
    dyn_client_close(client);
    free(q);
}

void bench_memory(const bench_options *options, report *r) {
    table *t = table_create("Megabytes of memory of the daemon, four robots loaded", "memory",
                            "Resident memory counts the pages of shared libraries. Aim: under 20 MB when idle.\n",
                            columns, sizeof columns / sizeof columns[0]);
    bench_daemon daemon;
    daemon_start(options->daemon, &daemon);
    usleep((useconds_t)(1e6 * options->idle_seconds));
    add_row(t, "idle after its start", daemon.process.process);
    work(&daemon, REQUESTS, 1);
    add_row(t, "after 10,000 requests of one state", daemon.process.process);
    work(&daemon, REQUESTS / BATCH, BATCH);
    add_row(t, "after 10 requests of 1,000 states", daemon.process.process);
    daemon_stop(&daemon);
    report_add(r, t);
}
