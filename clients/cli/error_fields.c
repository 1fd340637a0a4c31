/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates fields and advice of the daemon's errors to the options and commands of dynamicsctl.
 */
#include "error_fields.h"

#include <stdio.h>
#include <string.h>

/* Fields of the protocol and their names on the command line: the option, or "" for an operand or a file that the
 * message names. */
static const struct {
    const char *field, *typed;
    const char *in_file; /* name of a value in a file; NULL: as typed */
} FIELDS[] = {
    {"model", "", NULL},
    {"simulation", "", NULL},
    {"stream", "", NULL},
    {"recording", "", NULL},
    {"job", "", NULL},
    {"urdf", "", NULL},
    {"name", "--name", NULL},
    {"replace", "--replace", NULL},
    {"expected_digest", "--expected-digest", NULL},
    {"base_type", "--base", NULL},
    {"mimic", "--mimic", NULL},
    {"strict", "--strict", NULL},
    {"keep", "--keep", NULL},
    {"cut_loops", "--cut-loops", NULL},
    {"transmissions", "--transmissions", NULL},
    {"loops", "--loops", NULL},
    {"description", "--description", ""},
    {"denavit_hartenberg", "--dh", ""},
    {"screws", "--screws", ""},
    {"gravity", "--gravity", NULL},
    {"payloads", "--payload", NULL},
    {"without_rotors", "--without-rotors", NULL},
    {"rows", "--row", NULL},
    {"motion_options", "--nearest, --force-weights, --multiplier-weights", NULL},
    {"force_weights", "--force-weights", NULL},
    {"multiplier_weights", "--multiplier-weights", NULL},
    {"precision", "--precision", NULL},
    {"on_error", "--on-error", NULL},
    {"formulation", "--formulation", NULL},
    {"tip_constraints", "--tip", NULL},
    {"flexible_links", "--flexible", NULL},
    {"mode_q", "--mode-q", NULL},
    {"mode_v", "--mode-v", NULL},
    {"mode_a", "--mode-a", NULL},
    {"mode_tau", "--mode-tau", NULL},
    {"joint_names", "--joints", NULL},
    {"held_joints", "--hold", NULL},
    {"q", "--q", "q"},
    {"v", "--v", "v"},
    {"a", "--a", "a"},
    {"tau", "--tau", "tau"},
    {"time", "time", "time"},
    {"cutoff", "--cutoff", "--cutoff"},
    {"torque_cutoff", "--torque-cutoff", "--torque-cutoff"},
    {"prior", "--prior", "--prior"},
    {"folds", "--folds", "--folds"},
    {"gains", "--gains", "--gains"},
    {"ambient_temperature", "--ambient", "--ambient"},
    {"ratios", "--ratios", "--ratios"},
    {"brakes", "--brakes", "--brakes"},
    {"dq", "--dq", "dq"},
    {"dv", "--dv", "dv"},
    {"da", "--da", "da"},
    {"dtau", "--dtau", "dtau"},
    {"external_forces", "--force", "external_forces"},
    {"quantities", "--quantity", NULL},
    {"accuracy", "--accurate", NULL},
    {"frame", "--frame", NULL},
    {"frames", "--frame", NULL},
    {"reference_frame", "--reference-frame", NULL},
    {"subtree", "--subtree", NULL},
    {"step_length", "--step-length", NULL},
    {"duration", "--duration", NULL},
    {"integrator", "--integrator", NULL},
    {"kp", "--kp", NULL},
    {"kd", "--kd", NULL},
    {"seed", "--seed", NULL},
    {"compiled", "--compiled", NULL},
    {"token", "--token", NULL},
};

enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

/* Returns the index of a field in FIELDS, or FIELD_COUNT. The first `length` characters of `segment` are its name. */
static size_t find_field(const char *segment, size_t length) {
    size_t i = 0;
    while (i < FIELD_COUNT && (strlen(FIELDS[i].field) != length || strncmp(FIELDS[i].field, segment, length) != 0)) {
        i++;
    }
    return i;
}

/* Returns the path without a leading message that only groups fields, and without a leading quantity if the field of
 * the quantity has an option. */
static const char *skip_groups(const char *path) {
    static const char *const groups[] = {"query.motion_options.", "query.", "stepping.", "control."};
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
    const char *typed = from_file && FIELDS[i].in_file ? FIELDS[i].in_file : FIELDS[i].typed;
    const char *rest = path + length;
    bool is_deeper = rest[0] == '.';
    snprintf(text, size, "%s%s%s", typed, is_deeper && typed[0] != '\0' ? ": " : "", rest + is_deeper);
}

/* Advice in the protocol's terms, and its translation. */
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
    {", such as by the constraint Jacobian, or accept a compromise by a larger tolerance",
     ", or ask for the nearest motion by --nearest"},
    {", or accept a compromise by a larger tolerance", ", or ask for the nearest motion by --nearest"},
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
