/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the origin, the token and the number of connections, and answers requests by plain HTTP.
 */
#include "admission.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Returns true if the entry has a port after its host. */
static bool has_port(const char *entry) {
    const char *host = strstr(entry, "://"), *colon = strrchr(entry, ':');
    return host && colon > host && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

bool admission_origin(const config *c, const char *origin) {
    for (size_t i = 0; i < c->origin_count; i++) {
        const char *entry = c->origins[i];
        size_t length = strlen(entry);
        if (strcmp(entry, "*") == 0 || strcasecmp(entry, origin) == 0) {
            return true;
        }
        const char *port = origin + length;
        if (!has_port(entry) && strncasecmp(entry, origin, length) == 0 && port[0] == ':' &&
            isdigit((unsigned char)port[1]) && port[1 + strspn(port + 1, "0123456789")] == '\0') {
            return true;
        }
    }
    return false;
}

/* Compares two texts in a time that does not depend on where they differ, so that timing reveals no secret. Returns
 * true if they are equal. */
static bool is_same(const char *text, const char *secret) {
    size_t length = strlen(secret), text_length = strlen(text);
    unsigned char difference = text_length != length;
    for (size_t i = 0; i < length; i++) {
        difference |= (unsigned char)(secret[i] ^ text[text_length > 0 ? i % text_length : 0]);
    }
    return difference == 0;
}

int admission_check(const bridge *of, const admission_request *request, const char **reason) {
    static const char bearer[] = "Bearer ";
    const config *c = of->config;
    const char *authorization = request->authorization;
    if (request->origin && !admission_origin(c, request->origin)) {
        *reason = "the origin of this page is not among those that may connect (server.origins)";
        return ADMISSION_ORIGIN;
    }
    bool is_bearer = strncasecmp(authorization, bearer, sizeof bearer - 1) == 0;
    authorization = is_bearer ? authorization + sizeof bearer - 1 : "";
    if (c->token[0] != '\0' && !is_same(authorization, c->token) && !is_same(request->token, c->token)) {
        *reason = "a token is needed: as \"Authorization: Bearer TOKEN\" or as ?token=TOKEN in the address";
        return ADMISSION_TOKEN;
    }
    if (of->stops || of->metrics.gauges[GAUGE_CONNECTIONS] >= c->connections) {
        *reason = of->stops ? "the gateway stops" : "there are as many connections as are allowed (limits.connections)";
        return ADMISSION_LATER;
    }
    return 0;
}

unsigned admission_serve(const bridge *of, const char *path, FILE *body) {
    if (strcmp(path, "/metrics") == 0) {
        metrics_write(&of->metrics, body);
        return 200;
    }
    if (strcmp(path, "/healthz") == 0 && of->daemon.is_well) {
        fputs("ok\n", body);
        return 200;
    }
    if (strcmp(path, "/healthz") == 0) {
        fprintf(body, "the daemon does not serve: %s\n", of->daemon.problem);
        return 503;
    }
    if (strcmp(path, "/") == 0) {
        fputs("This is dynamics-rosbridge. Connect a WebSocket of the rosbridge protocol here; /metrics, /healthz.\n",
              body);
        return 200;
    }
    fputs("There is nothing here; see /, /metrics and /healthz.\n", body);
    return 404;
}
