/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dynamics/workspace.h>

#include "peer.h"

struct report {
    json_t *json, *tables;
};

/* Reads the processor's name from /proc/cpuinfo; writes "unknown processor" where the file has none. */
static void processor_name(char *name, size_t size) {
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

static json_t *describe_machine(void) {
    char name[160];
    double load[1] = {0};
    processor_name(name, sizeof name);
    getloadavg(load, 1);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    printf("%s, %ld cores, load average %.2f; instruction set %s, %d lanes, %d in single precision\n", name, cores,
           load[0], dyn_instruction_set(), dyn_lanes(DYN_PRECISION_DOUBLE), dyn_lanes(DYN_PRECISION_SINGLE));
    return json_pack("{s:s, s:I, s:f, s:s, s:i, s:i}", "processor", name, "cores", (json_int_t)cores, "load_average",
                     load[0], "instruction_set", dyn_instruction_set(), "lanes", dyn_lanes(DYN_PRECISION_DOUBLE),
                     "single_lanes", dyn_lanes(DYN_PRECISION_SINGLE));
}

report *report_create(void) {
    report *r = calloc(1, sizeof *r);
    if (!r) {
        abort();
    }
    json_t *peers = json_array();
    json_t *machine = describe_machine();
    printf("beside");
    for (int i = 0; peer_libraries[i]; i++) {
        printf("%s %s", i ? "," : "", peer_libraries[i]->name);
        json_array_append_new(peers, json_string(peer_libraries[i]->name));
    }
    printf("%s\n", peer_libraries[0] ? "" : " no other library: this build found none");
    r->tables = json_object();
    r->json = json_pack("{s:o, s:o, s:O}", "machine", machine, "peers", peers, "tables", r->tables);
    return r;
}

void report_free(report *r) {
    json_decref(r->tables);
    json_decref(r->json);
    free(r);
}

void report_add(report *r, table *t) {
    table_print(t, stdout);
    json_object_set_new(r->tables, table_key(t), table_to_json(t));
    table_free(t);
}

bool report_write(const report *r, const char *path) {
    return json_dump_file(r->json, path, JSON_INDENT(2)) == 0;
}
