/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the keys of the configuration. */
#include "config_keys.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const config_key config_keys[CONFIG_KEYS] = {
    {"endpoints", "request", KEY_ADDRESSES, offsetof(config, request), 0, 0, true},
    {"endpoints", "events", KEY_ADDRESSES, offsetof(config, events), 0, 0, true},
    {"endpoints", "ingest", KEY_ADDRESSES, offsetof(config, ingest), 0, 0, true},
    {"endpoints", "ipc_mode", KEY_MODE, offsetof(config, ipc_mode), 0, 0, true},
    {"endpoints", "allow_plaintext", KEY_SWITCH, offsetof(config, allow_plaintext), 0, 0, false},
    {"models", "directory", KEY_DIRECTORIES, offsetof(config, directories), 0, 0, false},
    {"models", "strict", KEY_SWITCH, offsetof(config, strict), 0, 0, false},
    {"models", "keep", KEY_SWITCH, offsetof(config, persist_models), 0, 0, false},
#define LIMIT_KEY(identifier, name, type, kind, initial, least, most, is_fixed)                                        \
    {"limits", #name, KEY_##kind, offsetof(config, name), least, most, is_fixed},
    LIMITS(LIMIT_KEY)
#undef LIMIT_KEY
        {"limits", "reply_time", KEY_SECONDS, offsetof(config, reply_time), 0.01, 3600, false},
    {"fast", "channels", KEY_COUNT, offsetof(config, fast_channels), 0, 1024, false},
    {"fast", "peer_channels", KEY_COUNT, offsetof(config, fast_peer_channels), 0, 1024, false},
    {"fast", "channel_bytes", KEY_BYTES, offsetof(config, fast_channel_bytes), 65536, 1UL << 30, false},
    {"fast", "spin", KEY_SECONDS, offsetof(config, fast_spin), 0, 1e-3, false},
    {"simulations", "state_directory", KEY_PATH, offsetof(config, state_directory), 0, 0, true},
    {"simulations", "threads", KEY_COUNT, offsetof(config, threads), 0, 1024, true},
    {"simulations", "spin", KEY_SECONDS, offsetof(config, spin), 0, 1e-3, true},
    {"simulations", "save_interval", KEY_SECONDS, offsetof(config, save_interval), 0, 86400, false},
    {"simulations", "lease_time", KEY_SECONDS, offsetof(config, lease_time), 0.1, 86400, false},
    {"server", "workers", KEY_COUNT, offsetof(config, workers), 0, 1024, true},
    {"server", "contexts", KEY_COUNT, offsetof(config, contexts), 8, 4096, true},
    {"server", "drain_time", KEY_SECONDS, offsetof(config, drain_time), 0, 3600, false},
    {"tls", "certificate_file", KEY_PATH, offsetof(config, tls.certificate_file), 0, 0, false},
    {"tls", "key_file", KEY_PATH, offsetof(config, tls.key_file), 0, 0, false},
    {"tls", "ca_file", KEY_PATH, offsetof(config, tls.ca_file), 0, 0, false},
    {"tls", "require_certificate", KEY_SWITCH, offsetof(config, tls.requires_certificate), 0, 0, false},
    {"nats", "replica", KEY_TEXT, offsetof(config, nats.replica), 0, 0, true},
    {"nats", "user_file", KEY_PATH, offsetof(config, nats.user_file), 0, 0, true},
    {"nats", "token_file", KEY_PATH, offsetof(config, nats.token_file), 0, 0, true},
    {"nats", "credentials_file", KEY_PATH, offsetof(config, nats.credentials_file), 0, 0, true},
    {"nats", "nkey", KEY_TEXT, offsetof(config, nats.nkey), 0, 0, true},
    {"nats", "nkey_seed_file", KEY_PATH, offsetof(config, nats.nkey_seed_file), 0, 0, true},
    {"nats", "ca_file", KEY_PATH, offsetof(config, nats.ca_file), 0, 0, true},
    {"nats", "certificate_file", KEY_PATH, offsetof(config, nats.certificate_file), 0, 0, true},
    {"nats", "key_file", KEY_PATH, offsetof(config, nats.key_file), 0, 0, true},
    {"compile", "mode", KEY_COMPILE_MODE, offsetof(config, compile), 0, 0, true},
    {"compile", "program", KEY_PATH, offsetof(config, compile_program), 0, 0, true},
    {"compile", "compiler", KEY_PATH, offsetof(config, compile_compiler), 0, 0, true},
    {"compile", "sandbox", KEY_PATH, offsetof(config, compile_sandbox), 0, 0, true},
    {"compile", "time", KEY_SECONDS, offsetof(config, compile_time), 0.1, 3600, true},
    {"compile", "memory_bytes", KEY_BYTES, offsetof(config, compile_memory_bytes), 1 << 20, 1UL << 40, true},
    {"compile", "cache_bytes", KEY_BYTES, offsetof(config, compile_cache_bytes), 65536, 1UL << 40, true},
    {"log", "level", KEY_LEVEL, offsetof(config, level), 0, 0, false},
    {"log", "format", KEY_FORMAT, offsetof(config, format), 0, 0, false},
    {"health", "probe_interval", KEY_SECONDS, offsetof(config, probe_interval), 0.01, 3600, false},
    {"health", "probe_timeout", KEY_SECONDS, offsetof(config, probe_timeout), 0.01, 3600, false},
    {"health", "worker_time", KEY_SECONDS, offsetof(config, worker_time), 0.1, 86400, false},
    {"access", "readers", KEY_RULES, offsetof(config, access), ACCESS_READER, 0, false},
    {"access", "users", KEY_RULES, offsetof(config, access), ACCESS_USER, 0, false},
    {"access", "administrators", KEY_RULES, offsetof(config, access), ACCESS_ADMINISTRATOR, 0, false},
    {"access", "unix", KEY_ROLE, offsetof(config, access.unix_role), 0, 0, false},
    {"access", "tcp", KEY_ROLE, offsetof(config, access.tcp_role), 0, 0, false},
    {"access", "nats", KEY_ROLE, offsetof(config, access.nats_role), 0, 0, false},
    {"access", "certificate", KEY_ROLE, offsetof(config, access.certificate_role), 0, 0, false},
    {"access", "tokens", KEY_PATH, offsetof(config, access.tokens), 0, 0, false},
    {"observe", "listen", KEY_ADDRESSES, offsetof(config, observe), 0, 0, true},
    {"observe", "slow_time", KEY_SECONDS, offsetof(config, slow_time), 0, 86400, false},
};

_Static_assert(sizeof(config_keys) / sizeof(config_keys[0]) == CONFIG_KEYS, "CONFIG_KEYS is the number of keys");

config_words config_key_words(config_key_type type) {
    static const char *const formats[] = {"auto", "plain", "journal", "json"};
    static const char *const modes[] = {"off", "on", "first-use"};
    static const char *const switches[] = {"no", "yes"};
    switch (type) {
    case KEY_LEVEL:
        return (config_words){LOG_LEVELS, log_level_words};
    case KEY_FORMAT:
        return (config_words){sizeof formats / sizeof *formats, formats};
    case KEY_COMPILE_MODE:
        return (config_words){sizeof modes / sizeof *modes, modes};
    case KEY_SWITCH:
        return (config_words){sizeof switches / sizeof *switches, switches};
    case KEY_ROLE:
        return (config_words){ACCESS_ROLES, access_role_words};
    default:
        return (config_words){0, NULL};
    }
}

/* Returns the number of the key whose value stands at `member`, or CONFIG_KEYS if none has it. */
static size_t find_member(const config *c, const void *member) {
    size_t offset = (size_t)((const char *)member - (const char *)c), i = 0;
    while (i < CONFIG_KEYS && (config_keys[i].type == KEY_RULES || config_keys[i].offset != offset)) {
        i++;
    }
    return i;
}

void config_set_origin(config *c, const void *member, setting_origin origin) {
    size_t i = find_member(c, member);
    if (i < CONFIG_KEYS) {
        c->origins[i] = (config_origin){origin, 0};
    }
}

/* Returns the size in bytes of the value of a key, by its type. Returns 0 for the types that no fixed key has. */
static size_t value_size(config_key_type type) {
    return type == KEY_ADDRESSES                    ? sizeof(config_addresses)
           : type == KEY_MODE                       ? sizeof(unsigned)
           : type == KEY_PATH || type == KEY_TEXT   ? PATH_MAX
           : type == KEY_COUNT || type == KEY_BYTES ? sizeof(unsigned long)
           : type == KEY_SECONDS                    ? sizeof(double)
           : type == KEY_COMPILE_MODE               ? sizeof(compile_mode)
                                                    : 0;
}

static bool has_same_value(const config_key *k, const void *a, const void *b) {
    if (k->type == KEY_PATH || k->type == KEY_TEXT) {
        return strcmp(a, b) == 0;
    }
    if (k->type == KEY_ADDRESSES) {
        const config_addresses *left = a, *right = b;
        bool is_same = left->count == right->count;
        for (size_t i = 0; is_same && i < left->count; i++) {
            is_same = strcmp(left->address[i], right->address[i]) == 0;
        }
        return is_same;
    }
    return memcmp(a, b, value_size(k->type)) == 0;
}

size_t config_keep_fixed(const config *running, config *next, char *changed, size_t size) {
    size_t count = 0, used = 0;
    changed[0] = '\0';
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        const void *present = (const char *)running + config_keys[i].offset;
        void *wanted = (char *)next + config_keys[i].offset;
        if (!config_keys[i].is_fixed || has_same_value(&config_keys[i], present, wanted)) {
            continue;
        }
        memcpy(wanted, present, value_size(config_keys[i].type));
        next->origins[i] = running->origins[i];
        bool is_derived =
            config_keys[i].offset == offsetof(config, ingest) && !running->has_ingest && !next->has_ingest;
        if (is_derived) {
            continue;
        }
        int length = snprintf(changed + used, size - used, "%s%s.%s", count > 0 ? ", " : "", config_keys[i].section,
                              config_keys[i].name);
        used = used + (size_t)length < size ? used + (size_t)length : size - 1;
        count++;
    }
    next->has_ingest = running->has_ingest;
    return count;
}
