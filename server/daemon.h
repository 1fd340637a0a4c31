/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the daemon: starts its parts, serves requests, reloads the configuration on SIGHUP, and drains and stops on
 * SIGTERM or SIGINT.
 */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "config.h"

/* Parsed command line. It overrides the configuration, also after a reload. */
typedef struct daemon_arguments {
    const char *config_path;  /* NULL: no file is read */
    config_addresses request; /* count 0: as configured */
    config_addresses events;
    bool has_events;         /* `events` replaces the configured ones, also when it is empty */
    config_addresses ingest; /* endpoints for pushed points */
    bool has_ingest;
    const char *directory;       /* NULL: as configured */
    const char *state_directory; /* NULL: as configured */
    bool has_level, has_format;
    log_level level;
    log_format format;
} daemon_arguments;

/* Reads the configuration and applies the arguments to it. Returns false, with an error, if the file or an address is
 * not valid; `c` then owns nothing. */
bool daemon_configure(const daemon_arguments *arguments, config *c, char error[CONFIG_ERROR_SIZE]);

/* Runs the daemon until SIGTERM or SIGINT. Takes ownership of the contents of `c`. Returns the exit code: 0, or 1 after
 * a failure that was logged. */
int daemon_run(const daemon_arguments *arguments, config *c);

#endif
