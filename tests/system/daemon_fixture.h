/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a real dynamicsd for a test: in a directory of its own, with one ipc and one tcp endpoint of each kind. Failures
 * to start or stop it end the Check test.
 *
 * The daemon ends with the test program, however that ends.
 *
 * With the environment DYNAMICS_TEST_CARRIER=nats each daemon also receives requests from a NATS server of its own, and
 * request_ipc is the address of that server: clients that connect to it use NATS.
 */
#ifndef DYNAMICS_TESTS_DAEMON_FIXTURE_H
#define DYNAMICS_TESTS_DAEMON_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "system/nats_server.h"

/* Options of the daemon that differ from the usual ones. Zeros stand for the usual values. */
typedef struct daemon_options {
    const char *configuration; /* more of the configuration file: whole sections, other than endpoints and models */
    const char *models;        /* directory of robots; NULL: the sample robots */
    size_t descriptors;        /* RLIMIT_NOFILE, soft and hard; 0: inherited */
    const char *nats;          /* NATS server that requests may come from; NULL: none */
} daemon_options;

typedef struct daemon_fixture {
    pid_t process;
    struct notices *notices; /* messages of the daemon to its service manager */
    char directory[64];
    char configuration_file[96];
    char log_file[96];
    char models[256];
    char request_ipc[96], request_tcp[96]; /* addresses to dial */
    char events_ipc[96], events_tcp[96];
    char ingest_ipc[96], ingest_tcp[96];
    char nats[64]; /* NATS server, or empty */
    bool has_server;
    nats_server server; /* of this daemon, if has_server */
} daemon_fixture;

/* Starts the daemon and waits until it is ready. `options` may be NULL. */
void daemon_start(const daemon_options *options, daemon_fixture *daemon);

/* Writes the configuration file again, with the endpoints, the models and `sections` (may be NULL). The daemon reads it
 * at SIGHUP or at its next start. */
void daemon_configure(const daemon_fixture *daemon, const char *sections);

/* Sends a signal to the daemon. */
void daemon_signal(const daemon_fixture *daemon, int signal);

/* Waits until the daemon's notices contain a text such as "READY=1", and removes the notices up to it. Fails the test
 * after `seconds`. */
void daemon_wait_for_notice(const daemon_fixture *daemon, const char *text, double seconds);

/* Waits for the end of the daemon and removes its directory. Returns its exit code, or 128 and the signal's number.
 * Prints the log unless the code is 0. Fails the test where the daemon has not ended after `seconds`. */
int daemon_wait(daemon_fixture *daemon, double seconds);

/* Sends SIGTERM and waits for the end of the daemon; fails the test for another exit code than 0. */
void daemon_stop(daemon_fixture *daemon);

/* Sends a signal that ends the daemon and waits for the end; the directory remains. Returns its exit code, or 128 and
 * the signal's number. */
int daemon_end(daemon_fixture *daemon, int signal);

/* Starts the daemon again in its directory, after daemon_end. */
void daemon_begin(daemon_fixture *daemon);

/* Ends the daemon with SIGTERM and starts it again in the same directory. */
void daemon_restart(daemon_fixture *daemon);

/* Returns the log so far; the caller frees it. */
char *daemon_log(const daemon_fixture *daemon);

/* Bytes by which the daemon's memory may grow although it is reused. The address sanitizer delays the reuse of freed
 * memory. The thread sanitizer stores four bytes of shadow, and more, for each byte. */
#if defined __SANITIZE_ADDRESS__
#define DAEMON_MEMORY_SLACK(megabytes) ((size_t)512 << 20)
#elif defined __SANITIZE_THREAD__
#define DAEMON_MEMORY_SLACK(megabytes) ((size_t)(megabytes)*6 << 20)
#else
#define DAEMON_MEMORY_SLACK(megabytes) ((size_t)(megabytes) << 20)
#endif

/* Returns the daemon's resident memory in bytes. */
size_t daemon_resident_bytes(const daemon_fixture *daemon);

/* Returns the number of the daemon's open descriptors. */
size_t daemon_open_descriptors(const daemon_fixture *daemon);

/* Waits until the daemon has at most `most` open descriptors; fails the test after `seconds`. The daemon's probes of
 * its own endpoints open up to four for a moment. */
void daemon_expect_descriptors(const daemon_fixture *daemon, size_t most, double seconds);

#endif
