/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments of the command line: options and operands. One table holds all options; each command accepts some of
 * them.
 */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "diagnostics.h"
#include "suggestion.h"

typedef enum option {
    OPTION_ENDPOINT,
    OPTION_CONFIG,
    OPTION_TIMEOUT,
    OPTION_TOKEN_FILE,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_WIDE,
    OPTION_JSON,
    OPTION_NAME,
    OPTION_BASE,
    OPTION_MIMIC,
    OPTION_STRICT,
    OPTION_REPLACE,
    OPTION_EXPECTED_DIGEST,
    OPTION_KEEP,
    OPTION_STATES,
    OPTION_STATE,
    OPTION_Q,
    OPTION_V,
    OPTION_A,
    OPTION_TAU,
    OPTION_DQ,
    OPTION_DV,
    OPTION_DA,
    OPTION_DTAU,
    OPTION_JOINTS,
    OPTION_GRAVITY,
    OPTION_FORCE,
    OPTION_FORCE_REFERENCE_FRAME,
    OPTION_FRAME,
    OPTION_REFERENCE_FRAME,
    OPTION_QUANTITY,
    OPTION_SUBTREE,
    OPTION_TASK_AXES,
    OPTION_PAYLOAD,
    OPTION_WITHOUT_ROTORS,
    OPTION_PRECISION,
    OPTION_FORMULATION,
    OPTION_TIP,
    OPTION_FLEXIBLE,
    OPTION_MODE_Q,
    OPTION_MODE_V,
    OPTION_MODE_A,
    OPTION_MODE_TAU,
    OPTION_TIP_REFERENCE_FRAME,
    OPTION_PASSIVE,
    OPTION_CONSTRAINTS,
    OPTION_ROW,
    OPTION_NEAREST,
    OPTION_FORCE_WEIGHTS,
    OPTION_MULTIPLIER_WEIGHTS,
    OPTION_TIME,
    OPTION_RESTITUTION,
    OPTION_SOLVE_JOINTS,
    OPTION_CONTACT_STEP,
    OPTION_CONTACT_LAW,
    OPTION_BASE_VELOCITY,
    OPTION_BASE_ACCELERATION,
    OPTION_ON_ERROR,
    OPTION_DESCRIPTION,
    OPTION_DH,
    OPTION_SCREWS,
    OPTION_OPERATIONS,
    OPTION_FORMAT,
    OPTION_MASS,
    OPTION_DENSITY,
    OPTION_SCALE,
    OPTION_ABOUT,
    OPTION_TO,
    OPTION_S,
    OPTION_SEED,
    OPTION_DURATION,
    OPTION_STEP_LENGTH,
    OPTION_RATE,
    OPTION_INTEGRATOR,
    OPTION_CONTROL,
    OPTION_KP,
    OPTION_KD,
    OPTION_DISTURBANCE,
    OPTION_FREQUENCY,
    OPTION_RECORD,
    OPTION_TOKEN,
    OPTION_STRIDE,
    OPTION_CSV,
    OPTION_PLOT,
    OPTION_SUBSTEPS,
    OPTION_IDEAL,
    OPTION_ACCURATE,
    OPTION_RATES,
    OPTION_COUNT,
    OPTION_COMPILED,
    OPTION_DELETE,
    OPTION_DESCRIBE,
    OPTION_FETCH,
    OPTION_HOLD,
    OPTION_JOB,
    OPTION_LOOPS,
    OPTION_CUT_LOOPS,
    OPTION_STABILIZATION,
    OPTION_NO_PROJECTION,
    OPTION_CUTOFF,
    OPTION_TORQUE_CUTOFF,
    OPTION_ESTIMATOR,
    OPTION_DRIVES,
    OPTION_GAINS,
    OPTION_PRIOR,
    OPTION_FOLDS,
    OPTION_LINKS,
    OPTION_CRITERION,
    OPTION_HARMONICS,
    OPTION_PERIOD,
    OPTION_MARGIN,
    OPTION_TRIALS,
    OPTION_PAYLOAD_LINK,
    OPTION_AMBIENT,
    OPTION_BRAKES,
    OPTION_RATIOS,
    OPTION_CHOOSE,
    OPTION_TRANSMISSIONS,
    OPTION_STRIBECK_VELOCITY,
    OPTION_ESTIMATE_GAINS,
    OPTION_FAST,
    OPTION_DRIVES_ONLY,
    OPTIONS /* number of options */
} option;

/* Set of options, one bit each. There are more than 64 options. */
__extension__ typedef unsigned __int128 option_set;

#define WITH(option_name) ((option_set)1 << (option_name))

/* Options that change the inertias of a robot for a request. */
#define INERTIA_OPTIONS (WITH(OPTION_PAYLOAD) | WITH(OPTION_WITHOUT_ROTORS))

/* Options of motions with constraints in inverse dynamics. */
#define MOTION_OPTIONS (WITH(OPTION_NEAREST) | WITH(OPTION_FORCE_WEIGHTS) | WITH(OPTION_MULTIPLIER_WEIGHTS))

enum { MAX_POSITIONALS = 33 };

typedef struct arguments {
    const char *value[OPTIONS]; /* NULL: absent; flags have the value "" */
    const char *command;        /* NULL: none */
    size_t positional_count;
    const char *positional[MAX_POSITIONALS];
    size_t force_count; /* --force may be repeated */
    const char **forces;
    size_t tip_count; /* --tip may be repeated */
    const char **tips;
    size_t flexible_count; /* --flexible may be repeated */
    const char **flexible;
    size_t row_count; /* --row may be repeated */
    const char **rows;
    size_t payload_count; /* --payload may be repeated */
    const char **payloads;
} arguments;

/* Text of an option for the help and for messages. */
typedef struct option_text {
    const char *name;
    const char *value; /* placeholder in the help; NULL: a flag; "[q|v]": an optional value, one of these words */
    const char *help;
} option_text;

extern const option_text OPTION_TEXTS[OPTIONS];

/* Options that every command accepts. */
extern const option_set COMMON_OPTIONS;

/* Help text of an option in one command. */
typedef struct option_words {
    option of;
    const char *help; /* NULL: the end of a list */
} option_words;

/* Prints the name and the help text of each option of the set. Entries of `words`, which may be NULL, replace the
 * table's help texts. */
void print_options(option_set options, const option_words *words);

/* Reads the value of --timeout, in s; 0 if it is absent. Reports an invalid value. */
exit_code arguments_timeout(const arguments *parsed, double *timeout);

/* Finds the value of an option among `count` names and stores its index, or `standard` if the option is absent. Reports
 * a value that is none of the names. */
exit_code arguments_choice(const arguments *parsed, option wanted, size_t count, const char *const *names,
                           size_t standard, size_t *index);

#endif
