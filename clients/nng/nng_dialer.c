/* SPDX-License-Identifier: BSD-2-Clause */
/* Creates dialers of nng, and sets the certificates of those for TLS. */
#include "nng_dialer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nng/supplemental/tls/tls.h>

/* Authorities of the system, as Debian keeps them. */
static const char SYSTEM_AUTHORITIES[] = "/etc/ssl/certs/ca-certificates.crt";

static const char scheme[] = "tls+tcp://";

/* Largest file, and longest address without settings. */
enum { MOST_BYTES = 4 << 20, ADDRESS_SIZE = 512 };

typedef enum part { PART_CA, PART_CERTIFICATE, PART_KEY, PART_NAME, PARTS } part;

static const char *const names[PARTS] = {
    [PART_CA] = "ca", [PART_CERTIFICATE] = "certificate", [PART_KEY] = "key", [PART_NAME] = "name"};

/* Settings of an address. */
typedef struct settings {
    char *text; /* holds the parts and the host */
    const char *host;
    const char *part[PARTS]; /* NULL: not stated */
} settings;

bool nng_dialer_is_secure(const char *address) {
    return strncmp(address, scheme, sizeof scheme - 1) == 0;
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

/* Reads one "NAME=VALUE", in place. */
static bool read_part(char *pair, settings *to, char reason[NNG_DIALER_REASON]) {
    char *equals = strchr(pair, '=');
    for (int i = 0; equals && i < PARTS; i++) {
        size_t length = strlen(names[i]);
        if (length == (size_t)(equals - pair) && memcmp(names[i], pair, length) == 0 && equals[1] != '\0') {
            to->part[i] = equals + 1;
            return true;
        }
    }
    snprintf(reason, NNG_DIALER_REASON,
             "\"%.40s\" after %.200s is unknown or has no value: the names are ca, certificate, key and name", pair,
             scheme);
    return false;
}

/* Ends the host before its port, and leaves out the brackets of IPv6. */
static const char *end_host(char *host) {
    char *colon = strrchr(host, ':');
    if (colon) {
        *colon = '\0';
    }
    if (host[0] == '[') {
        host++;
        host[strcspn(host, "]")] = '\0';
    }
    return host;
}

/* Reads the settings of an address, which the caller frees also on failure. Returns nng's code. */
static int read_settings(const char *address, settings *to, char reason[NNG_DIALER_REASON]) {
    *to = (settings){.text = strdup(address + sizeof scheme - 1)};
    if (!to->text) {
        return NNG_ENOMEM;
    }
    char *question = strchr(to->text, '?'), *rest = NULL;
    if (question) {
        *question = '\0';
    }
    to->host = end_host(to->text);
    for (char *pair = question ? strtok_r(question + 1, "&", &rest) : NULL; pair; pair = strtok_r(NULL, "&", &rest)) {
        if (!read_part(pair, to, reason)) {
            return NNG_EINVAL;
        }
    }
    if (!to->part[PART_CERTIFICATE] != !to->part[PART_KEY]) {
        snprintf(reason, NNG_DIALER_REASON, "certificate and key of a %s address belong together", scheme);
        return NNG_EINVAL;
    }
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Reads a file into memory that the caller frees. Returns NULL, with a sentence in `reason`, where that fails. */
static char *read_file(const char *path, char reason[NNG_DIALER_REASON]) {
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, MOST_BYTES + 1) : NULL;
    size_t length = text ? fread(text, 1, MOST_BYTES, file) : 0;
    if (length == 0) {
        snprintf(reason, NNG_DIALER_REASON, "%.400s: %s", path, file && errno == 0 ? "is empty" : strerror(errno));
        free(text);
        text = NULL;
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* Sets the client's own certificate. */
static int set_certificate(nng_tls_config *config, const settings *from, char reason[NNG_DIALER_REASON]) {
    char *certificate = read_file(from->part[PART_CERTIFICATE], reason);
    char *key = certificate ? read_file(from->part[PART_KEY], reason) : NULL;
    int code = key ? nng_tls_config_own_cert(config, certificate, key, NULL) : NNG_EINVAL;
    if (key && code != 0) {
        snprintf(reason, NNG_DIALER_REASON, "%.200s and %.200s are no certificate and key in PEM",
                 from->part[PART_CERTIFICATE], from->part[PART_KEY]);
        code = NNG_EINVAL;
    }
    if (key) {
        explicit_bzero(key, strlen(key));
    }
    free(certificate);
    free(key);
    return code;
}

/* Fills the configuration of TLS. Returns nng's code. */
static int fill(nng_tls_config *config, const settings *from, char reason[NNG_DIALER_REASON]) {
    const char *path = from->part[PART_CA] ? from->part[PART_CA] : SYSTEM_AUTHORITIES;
    char *authorities = read_file(path, reason);
    if (!authorities) {
        return NNG_EINVAL;
    }
    int code = nng_tls_config_ca_chain(config, authorities, NULL);
    free(authorities);
    if (code != 0) {
        snprintf(reason, NNG_DIALER_REASON, "%.400s has no certificates of authorities in PEM", path);
        return NNG_EINVAL;
    }
    code = nng_tls_config_server_name(config, from->part[PART_NAME] ? from->part[PART_NAME] : from->host);
    return code == 0 && from->part[PART_CERTIFICATE] ? set_certificate(config, from, reason) : code;
}

/* Sets the configuration of TLS of a dialer. Returns nng's code. */
static int secure(nng_dialer dialer, const settings *from, char reason[NNG_DIALER_REASON]) {
    nng_tls_config *config;
    int code = nng_tls_config_alloc(&config, NNG_TLS_MODE_CLIENT);
    if (code != 0) {
        return code;
    }
    code = fill(config, from, reason);
    if (code == 0) {
        code = nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config);
    }
    nng_tls_config_free(config);
    return code;
}

int nng_dialer_make(nng_socket socket, const char *address, const char *settings_address, nng_dialer *dialer,
                    char reason[NNG_DIALER_REASON]) {
    char plain[ADDRESS_SIZE];
    settings from = {0};
    reason[0] = '\0';
    if (!nng_dialer_is_secure(address)) {
        return nng_dialer_create(dialer, socket, address);
    }
    if (strcspn(address, "?") >= sizeof plain) {
        return NNG_EADDRINVAL;
    }
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(address, "?"), address);
    int code = read_settings(nng_dialer_is_secure(settings_address) ? settings_address : address, &from, reason);
    if (code == 0) {
        code = nng_dialer_create(dialer, socket, plain);
    }
    if (code == 0) {
        code = secure(*dialer, &from, reason);
        if (code != 0) {
            nng_dialer_close(*dialer);
        }
    }
    free(from.text);
    return code;
}
