/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration of the daemon: the values of all keys. config_file.h reads them from a file.
 */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include <limits.h>

#include "access/access.h"
#include "config_value.h"
#include "methods/limits.h"
#include "methods/settings.h"
#include "model_compiler.h"
#include "models/directory.h"
#include "observe/log.h"
#include "transport/transport.h"

#define CONFIG_DEFAULT_PATH "/etc/dynamicsd/dynamicsd.conf"

/* Largest number of directories of robots. */
enum { CONFIG_DIRECTORIES = 4 };

/* Number of keys, without those of the sections [model NAME]. */
enum { CONFIG_KEYS = LIMIT_COUNT + 56 };

/* List of directories of URDF files. If several hold a robot of one name, the robot of the first of them is loaded. */
typedef struct config_directories {
    size_t count;
    char path[CONFIG_DIRECTORIES][PATH_MAX];
} config_directories;

/* Identity and certificates for NATS. */
typedef struct config_nats {
    char replica[PATH_MAX], user_file[PATH_MAX], token_file[PATH_MAX], credentials_file[PATH_MAX];
    char nkey[PATH_MAX], nkey_seed_file[PATH_MAX];
    char ca_file[PATH_MAX], certificate_file[PATH_MAX], key_file[PATH_MAX];
} config_nats;

/* Certificates for endpoints of TLS. Empty: not set. */
typedef struct config_tls {
    char certificate_file[PATH_MAX], key_file[PATH_MAX], ca_file[PATH_MAX];
    bool requires_certificate; /* with ca_file: a client without a valid certificate is refused */
} config_tls;

/* Origin of the value of a key. */
typedef struct config_origin {
    setting_origin from;
    unsigned line; /* of the file; 0: another origin */
} config_origin;

typedef struct config {
    config_origin origins[CONFIG_KEYS]; /* by the number of the key */
    /* Section [endpoints]. */
    config_addresses request, events, ingest;
    bool has_ingest; /* `ingest` is set; else config_derive_ingest derives it from `request` */
    unsigned ipc_mode;
    bool allow_plaintext; /* tcp at addresses that other machines reach is not refused */
    /* Section [models], and the sections [model NAME]. */
    config_directories directories;
    bool persist_models;
    bool strict; /* default of `strict` for models whose section [model NAME] does not set it */
    model_rule *rules;
    size_t rule_count;
    /* Section [limits], in the order of LIMITS; times in s. */
#define CONFIG_COUNT unsigned long
#define CONFIG_BYTES unsigned long
#define CONFIG_SECONDS double
#define CONFIG_LIMIT(identifier, name, type, kind, ...) CONFIG_##kind name;
    LIMITS(CONFIG_LIMIT)
#undef CONFIG_LIMIT
#undef CONFIG_SECONDS
#undef CONFIG_BYTES
#undef CONFIG_COUNT
    double reply_time;
    bool is_lowered; /* config_fit_memory has lowered message_bytes and reply_bytes */
    /* Section [fast]. */
    unsigned long fast_channels, fast_peer_channels; /* fast_peer_channels 0: half of the channels */
    unsigned long fast_channel_bytes;
    double fast_spin; /* s */
    /* Section [simulations]. */
    char state_directory[PATH_MAX];
    unsigned long threads; /* 0: one for each processor */
    double spin;           /* s */
    double save_interval;  /* s; 0: only when the daemon stops */
    double lease_time;
    /* Section [server]. */
    unsigned long workers; /* 0: one for each processor */
    unsigned long contexts;
    double drain_time;
    /* Section [nats]: files, and the public part of a key. Empty: not set. */
    config_nats nats;
    /* Section [tls]. */
    config_tls tls;
    /* Section [compile]. */
    compile_mode compile;
    char compile_program[PATH_MAX], compile_compiler[PATH_MAX], compile_sandbox[PATH_MAX];
    double compile_time;
    unsigned long compile_memory_bytes, compile_cache_bytes;
    /* Section [log]. */
    log_level level;
    log_format format;
    /* Section [health]; times in s. */
    double probe_interval, probe_timeout, worker_time;
    /* Section [access]. */
    access_policy access;
    /* Section [observe]. */
    config_addresses observe; /* at most one */
    double slow_time;         /* s */
} config;

/* Sets every key to its default. */
void config_init(config *c);

/* Frees the members of a configuration. */
void config_free(config *c);

/* Returns the files of section [tls]. The result points into `c`. */
transport_tls config_tls_files(const config *c);

/* Returns the directories and rules from which models are loaded. The result points into `c`. */
model_sources config_model_sources(const config *c);

#endif
