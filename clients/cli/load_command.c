/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command load: a robot description from a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "exchange.h"
#include "files.h"
#include "loaded_output.h"
#include "numbers.h"

/* Forms of a description: the option that names the file, and the type of its content. */
static const struct {
    option name;
    const char *field;
    const ProtobufCMessageDescriptor *type;
} FORMS[] = {
    {OPTION_DESCRIPTION, "description", &dynamics__v1__model_description__descriptor},
    {OPTION_DH, "denavit_hartenberg", &dynamics__v1__denavit_hartenberg_table__descriptor},
    {OPTION_SCREWS, "screws", &dynamics__v1__screw_chain__descriptor},
};

enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

/* Size above which the daemon's limit is requested first, since a longer request would only lose its connection. */
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

/* Fills the request from the options. */
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

/* Finds the form of the description: the number of its option, or FORM_COUNT for the operand, a URDF file. */
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
    return count == 1 ? EXIT_OK
                      : complain(EXIT_USAGE, "load needs one of FILE.urdf, --description FILE, --dh FILE and --screws "
                                             "FILE (see dynamicsctl load --help)");
}

/* Reads the description as a message. Returns NULL after it has reported an error. */
static ProtobufCMessage *read_form(const char *path, size_t form) {
    json_t *value = read_json(path);
    ProtobufCMessage *message = value ? read_message_json(FORMS[form].type, value, FORMS[form].field) : NULL;
    json_decref(value);
    return message;
}

static exit_code send_load(const arguments *args, dyn_client *client, Dynamics__V1__LoadModelRequest *load,
                           const char *path, double timeout) {
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
        code = exchange(client, &request, timeout, is_json_text(path) ? NULL : path, &reply);
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
    char *text = NULL;
    const char *path;
    size_t form, size;
    double timeout;
    exit_code code = long_timeout(args, client, &timeout);
    if (code == EXIT_OK) {
        code = find_form(args, &form, &path);
    }
    if (code == EXIT_OK && form == FORM_COUNT) {
        code = read_text(path, &text, &size);
        load.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
        load.urdf = text;
    } else if (code == EXIT_OK) {
        message = read_form(path, form);
        code = message ? EXIT_OK : EXIT_USAGE;
    }
    if (code == EXIT_OK && form < FORM_COUNT) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(load.base.descriptor, FORMS[form].field);
        load.source_case = (Dynamics__V1__LoadModelRequest__SourceCase)field->id;
        *(ProtobufCMessage **)((char *)&load + field->offset) = message;
    }
    if (code == EXIT_OK) {
        code = send_load(args, client, &load, path, timeout);
    }
    if (message) {
        protobuf_c_message_free_unpacked(message, NULL);
    }
    free(text);
    return code;
}
