/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of the protocol in the words of the command line.
 */
#include "error_fields.h"

#include <stdio.h>
#include <string.h>

/* Fields and what sets them: an option, or "" for an operand that the message names. */
static const struct {
    const char *field, *typed;
    bool is_state; /* part of a state, which may come from a file */
} FIELDS[] = {
    {"model", "", false},
    {"simulation", "", false},
    {"stream", "", false},
    {"recording", "", false},
    {"job", "", false},
    {"urdf", "", false},
    {"name", "--name", false},
    {"replace", "--replace", false},
    {"expected_digest", "--expected-digest", false},
    {"base_type", "--base", false},
    {"mimic", "--mimic", false},
    {"strict", "--strict", false},
    {"keep", "--keep", false},
    {"description", "--description", false},
    {"denavit_hartenberg", "--dh", false},
    {"screws", "--screws", false},
    {"gravity", "--gravity", false},
    {"payloads", "--payload", false},
    {"precision", "--precision", false},
    {"on_error", "--on-error", false},
    {"joint_names", "--joints", false},
    {"q", "--q", true},
    {"v", "--v", true},
    {"a", "--a", true},
    {"tau", "--tau", true},
    {"dq", "--dq", true},
    {"dv", "--dv", true},
    {"da", "--da", true},
    {"dtau", "--dtau", true},
    {"external_forces", "--force", true},
    {"quantities", "--quantity", false},
    {"accuracy", "--accurate", false},
    {"frame", "--frame", false},
    {"frames", "--frame", false},
    {"reference_frame", "--reference-frame", false},
    {"subtree", "--subtree", false},
    {"step_length", "--step-length", false},
    {"duration", "--duration", false},
    {"integrator", "--integrator", false},
    {"kp", "--kp", false},
    {"kd", "--kd", false},
    {"seed", "--seed", false},
    {"compiled", "--compiled", false},
    {"token", "--token", false},
};

enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

/* Returns the number of the field that the first segment of a path names, or FIELD_COUNT. */
static size_t find_field(const char *segment, size_t length) {
    size_t i = 0;
    while (i < FIELD_COUNT && (strlen(FIELDS[i].field) != length || strncmp(FIELDS[i].field, segment, length) != 0)) {
        i++;
    }
    return i;
}

/* Returns the position after the messages that only group fields, and after a quantity one of whose fields has an
 * option. */
static const char *skip_groups(const char *path) {
    static const char *const groups[] = {"query.", "stepping.", "control."};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strncmp(path, groups[i], strlen(groups[i])) == 0) {
            return path + strlen(groups[i]);
        }
    }
    const char *end = strncmp(path, "quantities[", strlen("quantities[")) == 0 ? strstr(path, "].") : NULL;
    return end && find_field(end + 2, strcspn(end + 2, ".[:")) < FIELD_COUNT ? end + 2 : path;
}

void write_typed_field(const char *field, bool from_file, char *text, size_t size) {
    const char *dot = strchr(field, '.');
    const char *path = dot ? skip_groups(dot + 1) : "";
    size_t length = strcspn(path, ".[:"), i = find_field(path, length);
    if (i == FIELD_COUNT) {
        snprintf(text, size, "%s", dot ? dot + 1 : field);
        return;
    }
    const char *typed = FIELDS[i].is_state && from_file ? FIELDS[i].field : FIELDS[i].typed;
    const char *rest = path + length;
    bool is_deeper = rest[0] == '.';
    snprintf(text, size, "%s%s%s", typed, is_deeper && typed[0] != '\0' ? ": " : "", rest + is_deeper);
}

/* Advice of the daemon, and of this program. */
static const struct {
    const char *wire, *typed;
} ADVICE[] = {
    {"replace is not set; set it", "--replace is not given; add it"},
    {"set replace", "add --replace"},
    {"or delete it (DeleteRecording)", "or add --replace"},
    {"DescribeModel", "dynamicsctl describe"},
    {"ListModels", "dynamicsctl models"},
    {"LoadModel (dynamicsctl load FILE.urdf)", "dynamicsctl load FILE.urdf"},
    {"ListSimulations", "dynamicsctl simulations"},
    {"ListStreams", "dynamicsctl streams"},
    {"ListJobs", "dynamicsctl jobs"},
    {"ListRecordings", "dynamicsctl recordings"},
    {"GetServerInfo", "dynamicsctl info"},
    {"UnloadModel", "dynamicsctl unload"},
};

enum { ADVICES = sizeof ADVICE / sizeof *ADVICE };

void write_typed_advice(const char *message, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    while (*message != '\0' && used + 1 < size) {
        size_t i = 0, length = 1;
        while (i < ADVICES && strncmp(message, ADVICE[i].wire, strlen(ADVICE[i].wire)) != 0) {
            i++;
        }
        if (i < ADVICES) {
            length = strlen(ADVICE[i].wire);
            used += (size_t)snprintf(text + used, size - used, "%s", ADVICE[i].typed);
        } else {
            used += (size_t)snprintf(text + used, size - used, "%c", *message);
        }
        message += length;
    }
}
