/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the pages for monitoring programs, except the metrics. */
#include "monitor.h"

#include <string.h>

const char *monitor_state_name(health_state state) {
    switch (state) {
    case HEALTH_SERVING:
        return "serving";
    case HEALTH_DEGRADED:
        return "degraded";
    case HEALTH_NOT_SERVING:
        return "not_serving";
    case HEALTH_UNKNOWN:
        break;
    }
    return "unknown";
}

/* Writes a line for each component. Returns whether all of them permit work; `accepts_unknown`: also a component whose
 * state is not known yet. */
static bool write_components(const monitor *m, bool accepts_unknown, FILE *body) {
    bool is_well = true;
    for (size_t i = 0; i < m->health->count; i++) {
        health_component c;
        health_read(m->health, i, &c);
        fprintf(body, "%s: %s%s%s\n", c.name, monitor_state_name(c.state), c.message[0] ? ", " : "", c.message);
        bool is_unknown = c.state == HEALTH_UNKNOWN && !accepts_unknown;
        is_well = is_well && c.state != HEALTH_NOT_SERVING && !is_unknown;
    }
    return is_well;
}

unsigned monitor_page(void *context, const char *path, FILE *body) {
    const monitor *m = context;
    if (strcmp(path, "/metrics") == 0) {
        monitor_write_metrics(m, body);
        return 200;
    }
    if (strcmp(path, "/healthz") == 0) {
        return write_components(m, true, body) ? 200 : 503;
    }
    if (strcmp(path, "/readyz") == 0) {
        bool is_draining = service_is_draining(m->service);
        if (is_draining) {
            fputs("the daemon is stopping\n", body);
        }
        return write_components(m, false, body) && !is_draining ? 200 : 503;
    }
    fputs("This is dynamicsd. The pages are /metrics, /healthz and /readyz.\n", body);
    return strcmp(path, "/") == 0 ? 200 : 404;
}
