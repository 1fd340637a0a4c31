/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands derive and export: derive new models from loaded ones, and write descriptions of loaded models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coordinate_values.h"
#include "exchange.h"
#include "files.h"
#include "loaded_output.h"
#include "message_json.h"
#include "numbers.h"

/* ---- operations from text ---------------------------------------------------------------------------------------- */

enum { MAX_FIELDS = 64, INERTIA_NUMBERS = 10 };

/* Operation as text, such as "attach:tool0,box,2": the kind, and the fields after the colon. */
typedef struct operation_text {
    const char *whole; /* unchanged argument */
    char *kind;        /* start of the block that holds all fields */
    size_t count;
    char *fields[MAX_FIELDS];
    json_t *q; /* for lock; NULL: the zero configuration */
} operation_text;

/* Splits an operation at its colon and commas. Reports errors. The caller frees text->kind, also after an error. */
static exit_code split(const char *whole, operation_text *text) {
    text->whole = whole;
    text->count = 0;
    text->kind = strdup(whole);
    char *colon = text->kind ? strchr(text->kind, ':') : NULL;
    if (!text->kind) {
        return complain_memory();
    }
    if (!colon) {
        return complain(EXIT_USAGE, "\"%s\" is no operation: pass KIND:VALUE,VALUE (see dynamicsctl derive --help)",
                        whole);
    }
    *colon = '\0';
    char *rest = colon + 1;
    for (char *field; (field = strsep(&rest, ","));) {
        if (text->count == MAX_FIELDS) {
            return complain(EXIT_USAGE, "\"%s\" has more than %d values", whole, MAX_FIELDS);
        }
        text->fields[text->count++] = field;
    }
    return EXIT_OK;
}

/* Returns {"mass": .., "center_of_mass": .., "rotational": ..} from 1, 4 or 10 numbers. Returns NULL for another count
 * or if a field is not a number. */
static json_t *inertia_from(size_t count, char *const *fields) {
    double x[INERTIA_NUMBERS] = {0};
    if (count != 1 && count != 4 && count != INERTIA_NUMBERS) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!parse_number(fields[i], &x[i])) {
            return NULL;
        }
    }
    json_t *rotational = json_array();
    for (size_t i = 4; i < count; i++) {
        json_array_append_new(rotational, json_real(x[i]));
    }
    return json_pack("{s:f, s:{s:f, s:f, s:f}, s:o}", "mass", x[0], "center_of_mass", "x", x[1], "y", x[2], "z", x[3],
                     "rotational", rotational);
}

static json_t *make_lock(const operation_text *text) {
    json_t *joints = json_array();
    for (size_t i = 0; i < text->count; i++) {
        json_array_append_new(joints, json_string(text->fields[i]));
    }
    json_t *lock = json_pack("{s:o}", "joints", joints);
    if (text->q) {
        json_object_set(lock, "q", text->q);
    }
    return lock;
}

static json_t *make_link(const operation_text *text) {
    return text->count == 1 ? json_pack("{s:s}", "link", text->fields[0]) : NULL;
}

static json_t *make_based_link(const operation_text *text) {
    if (text->count == 2) {
        return json_pack("{s:s, s:s}", "link", text->fields[0], "base_type", text->fields[1]);
    }
    return make_link(text);
}

static json_t *make_chain(const operation_text *text) {
    if (text->count == 3) {
        return json_pack("{s:s, s:s, s:s}", "first", text->fields[0], "last", text->fields[1], "base_type",
                         text->fields[2]);
    }
    return text->count == 2 ? json_pack("{s:s, s:s}", "first", text->fields[0], "last", text->fields[1]) : NULL;
}

static json_t *make_merge(const operation_text *text) {
    if (text->count != 2 && text->count != 3) {
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s}", "model", text->fields[0], "link", text->fields[1], "prefix",
                     text->count == 3 ? text->fields[2] : "");
}

static json_t *make_attach(const operation_text *text) {
    json_t *inertia = text->count > 2 ? inertia_from(text->count - 2, text->fields + 2) : NULL;
    return inertia ? json_pack("{s:s, s:s, s:o}", "link", text->fields[0], "name", text->fields[1], "inertia", inertia)
                   : NULL;
}

static json_t *make_inertia(const operation_text *text) {
    json_t *inertia = text->count > 1 ? inertia_from(text->count - 1, text->fields + 1) : NULL;
    return inertia ? json_pack("{s:s, s:o}", "link", text->fields[0], "inertia", inertia) : NULL;
}

/* Kinds of operations, their names in the protocol, their fields after the colon, and the functions that convert these
 * to JSON. */
static const struct {
    const char *kind, *field, *values;
    json_t *(*make)(const operation_text *text);
} KINDS[] = {
    {"lock", "lock", "JOINT[,JOINT..]", make_lock},
    {"subtree", "subtree", "LINK[,BASE]", make_based_link},
    {"chain", "chain", "FIRST,LAST[,BASE]", make_chain},
    {"base", "change_base", "LINK[,BASE]", make_based_link},
    {"merge", "merge", "MODEL,LINK[,PREFIX]", make_merge},
    {"attach", "attach", "LINK,NAME,MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]", make_attach},
    {"inertia", "change_inertia", "LINK,MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]", make_inertia},
    {"detach", "detach", "LINK", make_link},
};

/* Appends an operation as JSON, such as {"attach": {..}}, to the list. Reports errors. */
static exit_code read_operation(const operation_text *text, json_t *list) {
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(text->kind, KINDS[i].kind) != 0) {
            continue;
        }
        json_t *value = KINDS[i].make(text);
        if (!value) {
            return complain(EXIT_USAGE, "\"%s\": pass %s:%s", text->whole, KINDS[i].kind, KINDS[i].values);
        }
        return json_array_append_new(list, json_pack("{s:o}", KINDS[i].field, value)) == 0 ? EXIT_OK
                                                                                           : complain_memory();
    }
    return complain(EXIT_USAGE, "there is no operation \"%s\" (see dynamicsctl derive --help)", text->kind);
}

/* Reads --q into the array `q`, in the order of the robot's coordinates. Coordinates without a name have their value in
 * zero_q: zero, or the identity. */
static exit_code read_positions(const dyn_client_description *robot, const char *text, json_t *q) {
    layout order;
    char message[256];
    exit_code code = layout_create(robot, NULL, &order);
    double *values = calloc(order.nq + 1, sizeof *values);
    if (code == EXIT_OK && !values) {
        code = complain_memory();
    }
    if (code == EXIT_OK) {
        layout_arrange_q(&order, robot->zero_q, values);
        if (!coordinate_values_read(&order, true, text, values, message, sizeof message)) {
            code = complain(EXIT_USAGE, "--q: %s", message);
        }
    }
    for (size_t i = 0; code == EXIT_OK && i < order.nq; i++) {
        json_array_append_new(q, json_real(values[i]));
    }
    free(values);
    layout_free(&order);
    return code;
}

/* Reads the configuration --q, at which lock fixes joints. `q` receives NULL without the option. */
static exit_code read_q(const arguments *args, dyn_client *client, double timeout, json_t **q) {
    dyn_client_description *robot;
    dyn_client_error error;
    *q = NULL;
    if (!args->value[OPTION_Q]) {
        return EXIT_OK;
    }
    if (dyn_client_describe_model(client, args->positional[0], timeout, &robot, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    *q = json_array();
    exit_code code = *q ? read_positions(robot, args->value[OPTION_Q], *q) : complain_memory();
    dyn_client_description_free(robot);
    return code;
}

/* Reads all operations: those of the file of --operations, then those of the operands. Reports errors. */
static exit_code read_operations(const arguments *args, dyn_client *client, double timeout, json_t **list) {
    const char *from = args->value[OPTION_OPERATIONS];
    operation_text text = {0};
    *list = from ? read_json(from) : json_array();
    if (!*list) {
        return EXIT_USAGE;
    }
    if (!json_is_array(*list)) {
        return complain(EXIT_USAGE, "--operations: a list of operations is needed: [{\"detach\": {\"link\": ..}}, ..]");
    }
    exit_code code = read_q(args, client, timeout, &text.q);
    for (size_t i = 1; code == EXIT_OK && i < args->positional_count; i++) {
        code = split(args->positional[i], &text);
        if (code == EXIT_OK) {
            code = read_operation(&text, *list);
        }
        free(text.kind);
    }
    json_decref(text.q);
    if (code == EXIT_OK && json_array_size(*list) == 0) {
        code = complain(EXIT_USAGE, "derive needs an operation (see dynamicsctl derive --help)");
    }
    return code;
}

/* ---- derive ------------------------------------------------------------------------------------------------------ */

static exit_code send_derive(const arguments *args, dyn_client *client, ProtobufCMessage *derive, double timeout) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_DERIVE_MODEL;
    request.derive_model = (Dynamics__V1__DeriveModelRequest *)derive;
    exit_code code = exchange(client, &request, timeout, NULL, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    code = report_loaded(args, "derived", reply->derive_model->loaded);
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}

exit_code run_derive(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    json_t *operations = NULL;
    double timeout;
    exit_code code = long_timeout(args, client, &timeout);
    if (code == EXIT_OK && !args->value[OPTION_NAME]) {
        code = complain(EXIT_USAGE, "derive needs --name NAME, the name to keep the new model under");
    }
    if (code == EXIT_OK) {
        code = read_operations(args, client, timeout, &operations);
    }
    if (code == EXIT_OK) {
        const char *expected = args->value[OPTION_EXPECTED_DIGEST];
        json_t *object = json_pack("{s:s, s:s, s:b, s:b, s:s, s:b, s:O}", "model", args->positional[0], "name",
                                   args->value[OPTION_NAME], "strict", args->value[OPTION_STRICT] != NULL, "replace",
                                   args->value[OPTION_REPLACE] != NULL, "expected_digest", expected ? expected : "",
                                   "keep", args->value[OPTION_KEEP] != NULL, "operations", operations);
        ProtobufCMessage *message =
            object ? read_message_json(&dynamics__v1__derive_model_request__descriptor, object, "") : NULL;
        code = message ? send_derive(args, client, message, timeout) : EXIT_USAGE;
        if (message) {
            protobuf_c_message_free_unpacked(message, NULL);
        }
        json_decref(object);
    }
    json_decref(operations);
    return code;
}

/* ---- export ------------------------------------------------------------------------------------------------------ */

exit_code run_export(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const char *const formats[] = {"description", "urdf", "screws", "c", "formulas", "latex"};
    Dynamics__V1__ExportModelRequest body = DYNAMICS__V1__EXPORT_MODEL_REQUEST__INIT;
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__Reply *reply;
    size_t format;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code == EXIT_OK) {
        code = arguments_choice(args, OPTION_FORMAT, 6, formats, 0, &format);
    }
    if (code != EXIT_OK) {
        return code;
    }
    body.model = (char *)args->positional[0];
    body.format = (Dynamics__V1__ModelFormat)(format + DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_DESCRIPTION);
    char *frame = (char *)args->value[OPTION_FRAME];
    if (frame && body.format == DYNAMICS__V1__MODEL_FORMAT__MODEL_FORMAT_C) {
        body.n_frames = 1;
        body.frames = &frame;
    } else if (frame) {
        body.tip = frame;
    }
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_EXPORT_MODEL;
    request.export_model = &body;
    code = exchange(client, &request, timeout, NULL, &reply);
    if (code != EXIT_OK) {
        return code;
    }
    const Dynamics__V1__ExportModelReply *exported = reply->export_model;
    json_writer writer = {.stream = stdout, .pretty = true};
    const ProtobufCMessage *form = NULL;
    if (exported->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_DESCRIPTION) {
        form = &exported->description->base;
    }
    if (exported->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_SCREWS) {
        form = &exported->screws->base;
    }
    if (form) {
        message_to_json(&writer, MESSAGE_PLAIN, form);
        emit_finish(&writer);
    } else if (exported->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_URDF) {
        fputs(exported->urdf, stdout);
    } else if (exported->form_case == DYNAMICS__V1__EXPORT_MODEL_REPLY__FORM_TEXT) {
        fputs(exported->text, stdout);
    } else {
        code = complain(EXIT_FAILED, "the reply holds no model");
    }
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return code;
}
