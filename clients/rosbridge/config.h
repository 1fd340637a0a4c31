/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the configuration of the gateway: an INI file in which every key has a default, and options that set a key.
 */
#ifndef ROSBRIDGE_CONFIG_H
#define ROSBRIDGE_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define CONFIG_DEFAULT_PATH "/etc/dynamicsd/rosbridge.conf"

enum { CONFIG_WORD = 256, CONFIG_ADDRESS = 1024, CONFIG_ORIGINS = 32, CONFIG_ERROR_SIZE = 512 };

typedef struct config {
    /* Section [server]. */
    char address[CONFIG_WORD]; /* empty: no server, only the dialled one */
    unsigned long port;        /* 0: any free one */
    char port_file[PATH_MAX];  /* receives the port; for tests and launchers */
    char certificate[PATH_MAX], key[PATH_MAX];
    char token_file[PATH_MAX], token[CONFIG_WORD];
    size_t origin_count;
    char origins[CONFIG_ORIGINS][CONFIG_WORD];
    /* Section [daemon]. */
    char request[CONFIG_ADDRESS], events[CONFIG_ADDRESS];
    char daemon_token_file[PATH_MAX], daemon_token[CONFIG_WORD];
    unsigned long threads;
    double health_interval;
    /* Section [dial]. */
    char dial[CONFIG_WORD]; /* ws://host:port/path of a rosbridge server; empty: none */
    double dial_interval;
    /* Section [ros]. */
    unsigned long ros_version;    /* spelling of times for a subscriber that states none */
    char simulation[CONFIG_WORD]; /* whose robot is shown; "*": the oldest; empty: none */
    /* Section [limits]; times in s. */
    unsigned long connections, message_bytes, calls, queued_calls, queued_bytes, subscriptions, advertisements;
    unsigned long control_messages, control_bytes, data_bytes;
    unsigned long fragments, partial_messages;
    double fragment_time, call_time, idle_time, ping_interval, ping_timeout;
    /* Section [log]. */
    bool is_verbose;
} config;

/* Sets every key to its default. */
void config_init(config *c);

/* Reads a file and sets its keys; the others stay as they are. On failure writes "FILE:LINE: sentence", or a sentence
 * that names the file if it cannot be read, and returns false. */
bool config_read(const char *path, config *c, char error[CONFIG_ERROR_SIZE]);

/* Sets one key, as a line "name = value" of the section would. Returns false, with an error, for an unknown key or a
 * value that is not allowed. */
bool config_set(config *c, const char *section, const char *name, const char *value, char error[CONFIG_ERROR_SIZE]);

/* Writes all keys with their defaults, bounds and meanings, as text for --help. */
void config_describe(FILE *to);

/* Returns whether the daemon is behind a NATS server, which then brings its events too. */
bool config_is_nats(const config *c);

/* Checks rules between several keys, and reads the token. Returns false, with an error, if a rule is broken or the file
 * of the token holds none. */
bool config_complete(config *c, char error[CONFIG_ERROR_SIZE]);

#endif
