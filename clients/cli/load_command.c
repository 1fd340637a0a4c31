/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command load: loads a robot description from a file into the daemon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "description_form.h"
#include "exchange.h"
#include "files.h"
#include "loaded_output.h"
#include "numbers.h"

/* Options that name a JSON file, and the fields of LoadModelRequest for the content of the file. */
static const struct {
    option name;
    const char *field;
} FORMS[] = {{OPTION_DESCRIPTION, "description"}, {OPTION_DH, "denavit_hartenberg"}, {OPTION_SCREWS, "screws"}};

enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

/* Size from which a file is compared with the daemon's limit before it is sent. The daemon closes the connection of a
 * request that is too long. */
static const size_t ASK_FIRST = (size_t)1 << 20;

static exit_code check_size(dyn_client *client, const char *path, size_t size, double timeout) {
    dyn_client_error error;
    dyn_client_server_info *info;
    if (size < ASK_FIRST) {
        return EXIT_OK;
    }
    if (dyn_client_get_server_info(client, timeout, &info, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    size_t limit = info->limits.message_bytes;
    dyn_client_server_info_free(info);
    return size < limit
               ? EXIT_OK
               : complain(EXIT_REFUSED,
                          "refused: load_model.urdf: %s has %zu bytes, but the daemon takes requests of at most "
                          "%zu (RESOURCE_EXHAUSTED)",
                          path, size, limit);
}

/* Fills the request from the options. `gravity` holds the value of --gravity. Reports errors. */
static exit_code read_options(const arguments *args, Dynamics__V1__LoadModelRequest *load,
                              Dynamics__V1__Vector3 *gravity) {
    static const char *const bases[] = {"fixed", "floating"}, *const policies[] = {"coupled", "independent"};
    size_t base, policy;
    exit_code code = arguments_choice(args, OPTION_BASE, 2, bases, 0, &base);
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_MIMIC, 2, policies, 0, &policy);
    }
    if (code != EXIT_OK) {
        return code;
    }
    if (args->value[OPTION_NAME]) {
        load->name = (char *)args->value[OPTION_NAME];
    }
    if (args->value[OPTION_BASE]) {
        load->base_type = (Dynamics__V1__Base)(base + DYNAMICS__V1__BASE__BASE_FIXED);
    }
    if (args->value[OPTION_MIMIC]) {
        load->mimic = (Dynamics__V1__MimicPolicy)(policy + DYNAMICS__V1__MIMIC_POLICY__MIMIC_POLICY_COUPLED);
    }
    load->strict = args->value[OPTION_STRICT] != NULL;
    load->replace = args->value[OPTION_REPLACE] != NULL;
    if (args->value[OPTION_EXPECTED_DIGEST]) {
        load->expected_digest = (char *)args->value[OPTION_EXPECTED_DIGEST];
    }
    load->keep = args->value[OPTION_KEEP] != NULL;
    load->cut_loops = args->value[OPTION_CUT_LOOPS] != NULL;
    load->transmissions = args->value[OPTION_TRANSMISSIONS] != NULL;
    const char *text = args->value[OPTION_GRAVITY];
    double values[3];
    char message[256];
    if (!text) {
        return EXIT_OK;
    }
    if (!parse_numbers(text, 3, values, message, sizeof message)) {
        return complain(EXIT_USAGE, "--gravity %s: %s: pass X,Y,Z in m/s^2", text, message);
    }
    dynamics__v1__vector3__init(gravity);
    gravity->x = values[0];
    gravity->y = values[1];
    gravity->z = values[2];
    load->gravity = gravity;
    return EXIT_OK;
}

/* Finds the file and the form of the description: the index of its option in FORMS, or FORM_COUNT for the operand,
 * whose content determines the form. Reports an error unless there is exactly one file. */
static exit_code find_form(const arguments *args, size_t *form, const char **path) {
    size_t count = args->positional_count;
    *form = FORM_COUNT;
    *path = count > 0 ? args->positional[0] : NULL;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (args->value[FORMS[i].name]) {
            *form = i;
            *path = args->value[FORMS[i].name];
            count++;
        }
    }
    return count == 1
               ? EXIT_OK
               : complain(EXIT_USAGE, "load needs one of FILE, --description FILE, --dh FILE and --screws FILE (see "
                                      "dynamicsctl load --help)");
}

/* Sets the source of the request to a description in JSON of the form `form`; NULL is an error. Reports errors. The
 * caller frees `message`. */
static exit_code set_value(const char *path, json_t *value, const ProtobufCFieldDescriptor *form,
                           Dynamics__V1__LoadModelRequest *load, ProtobufCMessage **message) {
    if (!form) {
        return complain(EXIT_USAGE,
                        "%s has none of the members links, rows and slist, by which a description in JSON is known "
                        "(see dynamicsctl load --help)",
                        path);
    }
    *message = read_message_json(form->descriptor, value, form->name);
    if (!*message) {
        return EXIT_USAGE;
    }
    description_set(load, form, *message);
    return EXIT_OK;
}

/* Reads a file whose content determines its form: URDF, or a description in JSON. Reports errors. The caller frees
 * `text` and `message`. */
static exit_code read_any(const char *path, Dynamics__V1__LoadModelRequest *load, char **text,
                          ProtobufCMessage **message) {
    size_t size;
    exit_code code = read_text(path, text, &size);
    if (code != EXIT_OK) {
        return code;
    }
    if (!description_is_json(*text)) {
        load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
        load->urdf = *text;
        return EXIT_OK;
    }
    json_t *value = parse_json(path, *text, size);
    code = value ? set_value(path, value, description_form(value), load, message) : EXIT_USAGE;
    json_decref(value);
    return code;
}

/* Reads a JSON file in the form of option number `form`. Reports errors. The caller frees `text` and `message`. */
static exit_code read_form(const char *path, size_t form, Dynamics__V1__LoadModelRequest *load, char **text,
                           ProtobufCMessage **message) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(load->base.descriptor, FORMS[form].field);
    size_t size;
    exit_code code = is_json_text(path) ? EXIT_OK : read_file(path, text, &size);
    if (code != EXIT_OK) {
        return code;
    }
    json_t *value = *text ? parse_json(path, *text, size) : read_json(path);
    code = value ? set_value(path, value, field, load, message) : EXIT_USAGE;
    json_decref(value);
    return code;
}

/* Sends the request. `text` is the JSON that it was read from, or NULL. */
static exit_code send_load(const arguments *args, dyn_client *client, Dynamics__V1__LoadModelRequest *load,
                           const char *path, const char *text, double timeout) {
    static const char *const prefixes[] = {
        [DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DESCRIPTION] = "load_model.description.",
        [DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_DENAVIT_HARTENBERG] = "load_model.denavit_hartenberg.",
        [DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_SCREWS] = "load_model.screws.",
    };
    bool is_json = text && load->source_case != DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    const request_origin origin = {.place = is_json_text(path) ? NULL : path,
                                   .text = is_json ? text : NULL,
                                   .prefix = is_json ? prefixes[load->source_case] : ""};
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Vector3 gravity;
    Dynamics__V1__Reply *reply;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_LOAD_MODEL;
    request.load_model = load;
    exit_code code = read_options(args, load, &gravity);
    if (code == EXIT_OK) {
        code = check_size(client, path, dynamics__v1__load_model_request__get_packed_size(load), timeout);
    }
    if (code == EXIT_OK) {
        code = exchange_from(client, &request, timeout, &origin, &reply);
    }
    if (code != EXIT_OK) {
        return code;
    }
    code = report_loaded(args, "loaded", reply->load_model->loaded);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}

exit_code run_load(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    ProtobufCMessage *message = NULL;
    char *text = NULL, *loops = NULL;
    const char *path;
    size_t form, size;
    double timeout;
    exit_code code = long_timeout(args, client, &timeout);
    if (code == EXIT_OK) {
        code = find_form(args, &form, &path);
    }
    if (code == EXIT_OK) {
        code =
            form == FORM_COUNT ? read_any(path, &load, &text, &message) : read_form(path, form, &load, &text, &message);
    }
    if (code == EXIT_OK && args->value[OPTION_LOOPS]) {
        code = read_text(args->value[OPTION_LOOPS], &loops, &size);
        load.loops = code == EXIT_OK ? loops : load.loops;
    }
    if (code == EXIT_OK) {
        code = send_load(args, client, &load, path, text, timeout);
    }
    if (message) {
        protobuf_c_message_free_unpacked(message, NULL);
    }
    free(text);
    free(loops);
    return code;
}
