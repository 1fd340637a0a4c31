/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dynamics_client.h"

enum { START_ATTEMPTS = 500, ATTEMPT_PAUSE = 20000 /* us */ };

static void write_configuration(const bench_daemon *d, const daemon_place *place, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) {
        die("cannot write %s", path);
    }
    fprintf(file, "[endpoints]\nrequest = %s tcp://127.0.0.1:0 %s\nevents = ipc://%s/events\n", d->ipc,
            place->nats ? place->nats : "", d->directory);
    fprintf(file, "[server]\nworkers = %d\n", place->workers);
    /* The state directory is not that of the machine. */
    fprintf(file, "[simulations]\nstate_directory =\nspin = %g\n", place->spin);
    fprintf(file, "[models]\ndirectory = %s\n[log]\nlevel = warning\n", ROBOTS_DIRECTORY);
    fclose(file);
}

/* Connects, and tries again until the daemon listens. */
static dyn_client *connect_patiently(const bench_daemon *d) {
    dyn_client *client = NULL;
    dyn_client_error error = {0};
    for (int i = 0; i < START_ATTEMPTS && !client; i++) {
        if (dyn_client_connect(d->ipc, NULL, &client, &error) != DYN_CLIENT_OK) {
            usleep(ATTEMPT_PAUSE);
        }
    }
    if (!client) {
        char log[96];
        snprintf(log, sizeof log, "%s/log", d->directory);
        show_file(log);
        die("the daemon does not start: %s", error.message);
    }
    return client;
}

/* Asks the daemon for its tcp port, which the system chose. */
static void learn_tcp_address(bench_daemon *d) {
    dyn_client *client = connect_patiently(d);
    dyn_client_error error;
    dyn_client_server_info *info;
    if (dyn_client_get_server_info(client, 0, &info, &error) != DYN_CLIENT_OK) {
        die("the daemon does not answer: %s", error.message);
    }
    for (size_t i = 0; i < info->endpoint_count; i++) {
        if (strcmp(info->endpoints[i].kind, "request") == 0 && strncmp(info->endpoints[i].address, "tcp", 3) == 0) {
            snprintf(d->tcp, sizeof d->tcp, "%s", info->endpoints[i].address);
        }
    }
    dyn_client_server_info_free(info);
    dyn_client_close(client);
}

void daemon_start(const char *program, bench_daemon *d) {
    daemon_start_at(program, &(daemon_place){.nats = NULL}, d);
}

void daemon_start_at(const char *program, const daemon_place *place, bench_daemon *d) {
    char beside[PATH_MAX], configuration[96], log[96];
    *d = (bench_daemon){0};
    path_beside("dynamicsd", beside, sizeof beside);
    program = program ? program : beside;
    if (access(program, X_OK) != 0) {
        die("there is no program %s; name the daemon with --daemon", program);
    }
    make_directory(d->directory);
    snprintf(d->ipc, sizeof d->ipc, "ipc://%s/request", d->directory);
    snprintf(configuration, sizeof configuration, "%s/dynamicsd.conf", d->directory);
    snprintf(log, sizeof log, "%s/log", d->directory);
    write_configuration(d, place, configuration);
    const char *const arguments[] = {program, "--config", configuration, NULL};
    cpu_set_t own;
    sched_getaffinity(0, sizeof own, &own);
    if (place->processors && sched_setaffinity(0, sizeof *place->processors, place->processors) != 0) {
        die("the processors of the daemon are not allowed");
    }
    d->process = child_start(arguments, log); /* inherits the processors */
    sched_setaffinity(0, sizeof own, &own);
    learn_tcp_address(d);
}

void daemon_stop(bench_daemon *d) {
    child_stop(&d->process);
    remove_directory(d->directory);
}
