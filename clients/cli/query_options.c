/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the options that set the query of a request.
 */
#include "query_options.h"

#include <dynamics/v1/description.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "files.h"
#include "numbers.h"
#include "state_parsers.h"

exit_code gravity_option_read(const arguments *args, double values[3], const double **gravity) {
    const char *text = args->value[OPTION_GRAVITY];
    char message[PARSE_MESSAGE_SIZE];
    *gravity = NULL;
    if (!text) {
        return EXIT_OK;
    }
    if (!parse_numbers(text, 3, values, message, sizeof message)) {
        return complain(EXIT_USAGE, "--gravity %s: %s: pass X,Y,Z in m/s^2", text, message);
    }
    *gravity = values;
    return EXIT_OK;
}

/* Reads "LINK:MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]" from `text`, a copy of the argument `whole` that is changed and holds
 * the name of the link. Reports errors. */
static exit_code read_payload(const char *whole, char *text, dyn_client_payload *payload) {
    char message[PARSE_MESSAGE_SIZE];
    double values[10] = {0};
    char *colon = strrchr(text, ':');
    size_t count = 1;
    for (const char *c = colon; c && *c != '\0'; c++) {
        count += *c == ',';
    }
    if (!colon || colon == text || (count != 1 && count != 4 && count != 10) ||
        !parse_numbers(colon + 1, count, values, message, sizeof message)) {
        return complain(EXIT_USAGE,
                        "--payload %s: pass LINK:MASS in kg, ,X,Y,Z in m for its centre of mass, and "
                        ",XX,XY,XZ,YY,YZ,ZZ in kg m^2 for its inertia",
                        whole);
    }
    *colon = '\0';
    payload->link = text;
    payload->inertia.mass = values[0];
    memcpy(payload->inertia.center_of_mass, values + 1, sizeof payload->inertia.center_of_mass);
    memcpy(payload->inertia.rotational, values + 4, sizeof payload->inertia.rotational);
    return EXIT_OK;
}

static exit_code read_payloads(const arguments *args, query_options *result) {
    size_t length = 1;
    exit_code code = EXIT_OK;
    for (size_t i = 0; i < args->payload_count; i++) {
        length += strlen(args->payloads[i]) + 1;
    }
    result->payloads = calloc(args->payload_count + 1, sizeof *result->payloads);
    result->payload_links = calloc(length, 1);
    if (!result->payloads || !result->payload_links) {
        return complain_memory();
    }
    char *text = result->payload_links;
    for (size_t i = 0; i < args->payload_count && code == EXIT_OK; i++) {
        char *end = stpcpy(text, args->payloads[i]);
        code = read_payload(args->payloads[i], text, &result->payloads[i]);
        text = end + 1;
    }
    result->payload_count = args->payload_count;
    return code;
}

/* Reads "FRAME:LX,LY,LZ[,AX,AY,AZ]=X" from `text`, a copy of the argument `whole` that is changed and holds the name of
 * the frame. The last colon separates. Reports errors. */
static exit_code read_tip(const char *whole, char *text, dyn_client_tip_constraint *tip) {
    char message[PARSE_MESSAGE_SIZE];
    double values[6] = {0};
    char *colon = strrchr(text, ':'), *equals = colon ? strchr(colon, '=') : NULL;
    size_t count = 1;
    for (const char *c = colon; c && c != equals && *c != '\0'; c++) {
        count += *c == ',';
    }
    if (equals) {
        *equals = '\0';
    }
    if (!equals || colon == text || (count != 3 && count != 6) || !parse_number(equals + 1, &tip->acceleration) ||
        !parse_numbers(colon + 1, count, values, message, sizeof message)) {
        return complain(
            EXIT_USAGE,
            "--tip %s: pass FRAME:LX,LY,LZ=X with the acceleration X along L in m/s^2, and ,AX,AY,AZ before "
            "= for rotations",
            whole);
    }
    *colon = '\0';
    tip->frame = text;
    memcpy(tip->linear, values, sizeof tip->linear);
    memcpy(tip->angular, values + 3, sizeof tip->angular);
    return EXIT_OK;
}

static exit_code read_tips(const arguments *args, query_options *result) {
    size_t frame, length = 1;
    exit_code code = arguments_choice(args, OPTION_TIP_REFERENCE_FRAME, REFERENCE_FRAMES, REFERENCE_FRAME_NAMES,
                                      REFERENCE_FRAMES - 1, &frame);
    for (size_t i = 0; i < args->tip_count; i++) {
        length += strlen(args->tips[i]) + 1;
    }
    result->tips = calloc(args->tip_count + 1, sizeof *result->tips);
    result->tip_frames = calloc(length, 1);
    if (!result->tips || !result->tip_frames) {
        return complain_memory();
    }
    char *text = result->tip_frames;
    for (size_t i = 0; i < args->tip_count && code == EXIT_OK; i++) {
        char *end = stpcpy(text, args->tips[i]);
        result->tips[i].reference_frame = (dyn_client_reference_frame)(frame + DYN_CLIENT_REFERENCE_FRAME_LOCAL);
        code = read_tip(args->tips[i], text, &result->tips[i]);
        text = end + 1;
    }
    result->tip_count = args->tip_count;
    return code;
}

/* Reads a list of the passive forces that count. */
static exit_code read_passive_forces(const arguments *args, query_options *result) {
    const char *list = args->value[OPTION_PASSIVE];
    const struct {
        const char *name;
        bool *counts;
    } parts[] = {{"damping", &result->passive.damping},
                 {"friction", &result->passive.friction},
                 {"springs", &result->passive.springs},
                 {"gears", &result->passive.gear_losses}};
    const size_t count = sizeof parts / sizeof *parts;
    for (const char *part = list; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
        size_t length = strcspn(part, ","), k = 0;
        while (k < count && (strlen(parts[k].name) != length || strncmp(parts[k].name, part, length) != 0)) {
            k++;
        }
        if (k == count) {
            return complain(EXIT_USAGE,
                            "--passive %s: pass any of damping, friction, springs and gears, such as "
                            "damping,friction",
                            list);
        }
        *parts[k].counts = true;
    }
    result->passive_forces = list ? &result->passive : NULL;
    return EXIT_OK;
}

/* Reads --brakes: names separated by commas. Reports errors. */
static exit_code read_brakes(const arguments *args, query_options *result) {
    const char *text = args->value[OPTION_BRAKES];
    size_t most = 1;
    for (const char *at = text; at && *at != '\0'; at++) {
        most += *at == ',';
    }
    result->brake_text = strdup(text ? text : "");
    result->brakes = calloc(most, sizeof *result->brakes);
    if (!result->brake_text || !result->brakes) {
        return complain_memory();
    }
    char *rest = text ? result->brake_text : NULL;
    for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
        result->brakes[result->brake_count++] = name;
    }
    return EXIT_OK;
}

/* Reads the file of --constraints, which has the form of a description with constraints alone. Reports errors. */
static exit_code read_constraints(const arguments *args, query_options *result) {
    const char *path = args->value[OPTION_CONSTRAINTS];
    dyn_client_error error;
    json_t *value = path ? read_json(path) : NULL;
    if (!value) {
        return path ? EXIT_USAGE : EXIT_OK;
    }
    const ProtobufCMessageDescriptor *type = &dynamics__v1__model_description__descriptor;
    ProtobufCMessage *message = read_message_json(type, value, "constraints");
    json_decref(value);
    if (!message) {
        return EXIT_USAGE;
    }
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    exit_code code = bytes ? EXIT_OK : complain_memory();
    if (bytes) {
        protobuf_c_message_pack(message, bytes);
        if (dyn_client_read_constraints(bytes, size, &result->constraints, &error) != DYN_CLIENT_OK) {
            code = complain(EXIT_USAGE, "--constraints %s: %s", path, error.message);
        } else if (result->constraints->count == 0) {
            code = complain(EXIT_USAGE, "--constraints %s: it has no member constraints, or none in it", path);
        }
    }
    free(bytes);
    protobuf_c_message_free_unpacked(message, NULL);
    return code;
}

/* Reads "X,X,..[=C]" of nv numbers. Reports errors. */
static exit_code read_row(const char *whole, size_t nv, double *row, double *acceleration) {
    char message[PARSE_MESSAGE_SIZE], *text = strdup(whole);
    char *equals = text ? strchr(text, '=') : NULL;
    if (!text) {
        return complain_memory();
    }
    if (equals) {
        *equals = '\0';
    }
    bool is_right = parse_numbers(text, nv, row, message, sizeof message);
    if (is_right && equals && !parse_number(equals + 1, acceleration)) {
        snprintf(message, sizeof message, "\"%s\" after = is not a finite number", equals + 1);
        is_right = false;
    }
    free(text);
    return is_right ? EXIT_OK
                    : complain(EXIT_USAGE, "--row %s: %s: pass a number for each of the %zu velocities, and =C", whole,
                               message, nv);
}

exit_code row_options_read(const arguments *args, size_t nv, query_options *result) {
    exit_code code = EXIT_OK;
    result->rows = calloc(args->row_count * nv + 1, sizeof *result->rows);
    result->row_accelerations = calloc(args->row_count + 1, sizeof *result->row_accelerations);
    if (!result->rows || !result->row_accelerations) {
        return complain_memory();
    }
    for (size_t i = 0; i < args->row_count && code == EXIT_OK; i++) {
        code = read_row(args->rows[i], nv, result->rows + i * nv, &result->row_accelerations[i]);
    }
    result->row_count = args->row_count;
    return code;
}

/* Reads --time. Reports errors. */
static exit_code read_time(const arguments *args, query_options *result) {
    const char *text = args->value[OPTION_TIME];
    return !text || parse_number(text, &result->time) ? EXIT_OK
                                                      : complain(EXIT_USAGE, "--time %s: pass a number of s", text);
}

/* Reads "X,Y,Z[,AX,AY,AZ]", linear numbers and then angular ones, which are zero by default. Reports errors. */
static exit_code read_motion(const arguments *args, option which, const char *name, double values[6]) {
    const char *text = args->value[which];
    char message[PARSE_MESSAGE_SIZE];
    size_t count = 1;
    for (const char *c = text; c && *c != '\0'; c++) {
        count += *c == ',';
    }
    if (!text) {
        return EXIT_OK;
    }
    bool is_right = count == 3 || count == 6;
    snprintf(message, sizeof message, "%zu values", count);
    return is_right && parse_numbers(text, count, values, message, sizeof message)
               ? EXIT_OK
               : complain(EXIT_USAGE, "--%s %s: %s: pass X,Y,Z, or X,Y,Z,AX,AY,AZ with the rotation about each axis",
                          name, text, message);
}

/* Reads the numbers of an option, as many as there are. `values` is NULL where the option is absent. Reports errors. */
static exit_code read_list(const arguments *args, option which, size_t *count, double **values) {
    const char *text = args->value[which];
    char message[PARSE_MESSAGE_SIZE];
    *count = text ? 1 : 0;
    for (const char *c = text; c && *c != '\0'; c++) {
        *count += *c == ',';
    }
    *values = text ? calloc(*count, sizeof **values) : NULL;
    if (text && !*values) {
        return complain_memory();
    }
    return !text || parse_numbers(text, *count, *values, message, sizeof message)
               ? EXIT_OK
               : complain(EXIT_USAGE, "--%s %s: %s: pass one number, or several with commas", OPTION_TEXTS[which].name,
                          text, message);
}

static exit_code read_motion_options(const arguments *args, query_options *result) {
    dyn_client_motion_options *motion = &result->motion;
    exit_code code = read_list(args, OPTION_FORCE_WEIGHTS, &motion->force_weight_count, &result->force_weights);
    if (code == EXIT_OK) {
        code =
            read_list(args, OPTION_MULTIPLIER_WEIGHTS, &motion->multiplier_weight_count, &result->multiplier_weights);
    }
    motion->nearest = args->value[OPTION_NEAREST] != NULL;
    motion->force_weights = result->force_weights;
    motion->multiplier_weights = result->multiplier_weights;
    bool is_given = motion->nearest || motion->force_weights || motion->multiplier_weights;
    result->motion_options = is_given ? motion : NULL;
    return code;
}

static exit_code read_base_motion(const arguments *args, query_options *result) {
    exit_code code = read_motion(args, OPTION_BASE_VELOCITY, "base-velocity", result->base_velocity);
    if (code == EXIT_OK) {
        code = read_motion(args, OPTION_BASE_ACCELERATION, "base-acceleration", result->base_acceleration);
    }
    result->base = (dyn_client_base_motion){.linear_velocity = result->base_velocity,
                                            .angular_velocity = result->base_velocity + 3,
                                            .linear_acceleration = result->base_acceleration,
                                            .angular_acceleration = result->base_acceleration + 3,
                                            .rows = 1};
    bool is_given = args->value[OPTION_BASE_VELOCITY] || args->value[OPTION_BASE_ACCELERATION];
    result->base_motion = is_given ? &result->base : NULL;
    return code;
}

exit_code query_options_read(const arguments *args, query_options *result) {
    static const char *const precisions[] = {"double", "single"}, *const outcomes[] = {"fail", "mark"};
    size_t precision = 0, outcome = 0;
    *result = (query_options){0};
    exit_code code = gravity_option_read(args, result->gravity_values, &result->gravity);
    if (code == EXIT_OK) {
        code = force_options_read(args, &result->forces);
    }
    if (code == EXIT_OK) {
        code = read_payloads(args, result);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_PRECISION, 2, precisions, DYN_CLIENT_PRECISION_DOUBLE, &precision);
    }
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_ON_ERROR, 2, outcomes, DYN_CLIENT_ON_ERROR_FAIL, &outcome);
    }
    if (code == EXIT_OK) {
        code = read_passive_forces(args, result);
    }
    if (code == EXIT_OK) {
        code = read_base_motion(args, result);
    }
    if (code == EXIT_OK) {
        code = read_motion_options(args, result);
    }
    if (code == EXIT_OK) {
        code = read_tips(args, result);
    }
    if (code == EXIT_OK) {
        code = read_time(args, result);
    }
    if (code == EXIT_OK) {
        code = read_brakes(args, result);
    }
    if (code == EXIT_OK) {
        code = read_constraints(args, result);
    }
    result->without_rotors = args->value[OPTION_WITHOUT_ROTORS] != NULL;
    result->formulation = args->value[OPTION_FORMULATION];
    result->precision = (dyn_client_precision)precision;
    result->on_error = (dyn_client_on_error)outcome;
    return code;
}

void query_options_apply(const query_options *options, dyn_client_query *query) {
    query->gravity = options->gravity;
    query->external_force_count = options->forces.count;
    query->external_forces = options->forces.list;
    query->payload_count = options->payload_count;
    query->payloads = options->payloads;
    query->without_rotors = options->without_rotors;
    query->precision = options->precision;
    query->on_error = options->on_error;
    query->formulation = options->formulation;
    query->tip_constraint_count = options->tip_count;
    query->tip_constraints = options->tips;
    query->passive_forces = options->passive_forces;
    query->constraint_count = options->constraints ? options->constraints->count : 0;
    query->constraints = options->constraints ? options->constraints->constraints : NULL;
    query->row_count = options->row_count;
    query->rows = options->row_count > 0 ? options->rows : NULL;
    query->row_accelerations = options->row_count > 0 ? options->row_accelerations : NULL;
    query->motion_options = options->motion_options;
    query->time = options->time;
    query->base_motion = options->base_motion;
}

void ideal_option_apply(const arguments *args, dyn_client_stepping *stepping) {
    if (args->value[OPTION_IDEAL]) {
        stepping->ignore_damping = stepping->ignore_friction = stepping->ignore_springs = true;
        stepping->ignore_gear_losses = stepping->ignore_effort_limits = true;
        stepping->stop = DYN_CLIENT_JOINT_STOP_NONE;
    }
}

exit_code contact_law_option_read(const arguments *args, dyn_client_contact_law *law) {
    static const char *const LAWS[] = {"of_surfaces", "rigid", "soft"};
    size_t chosen = 0;
    exit_code code = arguments_choice(args, OPTION_CONTACT_LAW, 3, LAWS, 0, &chosen);
    *law = (dyn_client_contact_law)chosen;
    return code;
}

exit_code loop_closure_options_read(const arguments *args, dyn_client_loop_closure *closure,
                                    dyn_client_stepping *stepping) {
    const char *gain = args->value[OPTION_STABILIZATION], *off = args->value[OPTION_NO_PROJECTION];
    *closure = (dyn_client_loop_closure){.stabilization = 20, .projection = !off};
    stepping->loop_closure = gain || off ? closure : NULL;
    if (gain && !(parse_number(gain, &closure->stabilization) && closure->stabilization >= 0)) {
        return complain(EXIT_USAGE, "--stabilization %s: pass a gain that is not less than 0, in 1/s", gain);
    }
    return EXIT_OK;
}

void query_options_free(query_options *freed) {
    force_options_free(&freed->forces);
    free(freed->payloads);
    free(freed->payload_links);
    free(freed->tips);
    free(freed->tip_frames);
    free(freed->rows);
    free(freed->row_accelerations);
    free(freed->force_weights);
    free(freed->multiplier_weights);
    free(freed->brakes);
    free(freed->brake_text);
    dyn_client_constraint_list_free(freed->constraints);
    *freed = (query_options){0};
}
