/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes requests for methods of the contract from descriptors. */
#include "system/method_request.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { COORDINATES = 2 };

static const char URDF[] = "<robot name='r'><link name='base'/><link name='arm'><inertial><mass value='1'/><inertia "
                           "ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' "
                           "type='continuous'><parent link='base'/><child link='arm'/></joint></robot>";

/* Well-known fields: texts, rows of numbers of one state, and messages that are filled like the request. */
static const struct {
    const char *field, *text;
} texts[] = {
    {"simulation", METHOD_OBJECT}, {"stream", METHOD_OBJECT}, {"job", METHOD_OBJECT}, {"recording", METHOD_OBJECT},
    {"name", METHOD_OBJECT},       {"model", METHOD_OBJECT},  {"urdf", URDF},
};
static const char *const rows[] = {"q", "v", "a"};
static const char *const flags[] = {"take_over", "is_paused"};
static const ProtobufCMessageDescriptor *const messages[] = {
    &dynamics__v1__query__descriptor,
    &dynamics__v1__simulation_input__descriptor,
    &dynamics__v1__feedforward_target__descriptor,
    &dynamics__v1__gravity_request__descriptor,
};

/* Methods that succeed only without an object, or after the end of one, and the method that makes it so. */
static const struct {
    const char *method, *before;
} preparations[] = {
    {"record_simulation", "stop_recording"}, {"record_simulation", "delete_recording"},
    {"delete_recording", "stop_recording"},  {"create_simulation", "delete_simulation"},
    {"open_stream", "close_stream"},         {"start_job", "cancel_job"},
};

static bool contains(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_filled(const ProtobufCFieldDescriptor *field) {
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        if (field->descriptor == messages[i]) {
            return true;
        }
    }
    return false;
}

unsigned method_number(const ProtobufCFieldDescriptor *field) {
    bool is_method = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && field->type == PROTOBUF_C_TYPE_MESSAGE &&
                     field->quantifier_offset == offsetof(Dynamics__V1__Request, method_case);
    return is_method ? field->id : 0;
}

static void *member(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return (uint8_t *)message + field->offset;
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static ProtobufCMessage *fill(const ProtobufCMessageDescriptor *descriptor, uint64_t token);

/* Chooses a field of a oneof. */
static void choose(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        *(uint32_t *)(void *)((uint8_t *)message + field->quantifier_offset) = field->id;
    }
}

static void set_message(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, uint64_t token) {
    choose(message, field);
    *(ProtobufCMessage **)member(message, field) = fill(field->descriptor, token);
}

/* Sets a list of numbers to one state of the arm. */
static void set_row(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    double *row = allocate(COORDINATES * sizeof *row);
    row[0] = row[1] = 0.3;
    *(double **)member(message, field) = row;
    *(size_t *)(void *)((uint8_t *)message + field->quantifier_offset) = COORDINATES;
}

static void set_text(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].field, field->name) == 0) {
            bool is_of_query = message->descriptor == &dynamics__v1__query__descriptor;
            choose(message, field);
            *(char **)member(message, field) = strdup(is_of_query ? "two_link" : texts[i].text);
        }
    }
}

static void set_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, uint64_t token) {
    bool is_list = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (field->type == PROTOBUF_C_TYPE_STRING && !is_list) {
        set_text(message, field);
    } else if (field->type == PROTOBUF_C_TYPE_DOUBLE && is_list &&
               contains(rows, sizeof rows / sizeof *rows, field->name)) {
        set_row(message, field);
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE && !is_list && is_filled(field)) {
        set_message(message, field, token);
    } else if (strcmp(field->name, "token") == 0 && field->type == PROTOBUF_C_TYPE_UINT64) {
        bool is_of_job = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "job");
        *(uint64_t *)member(message, field) = is_of_job ? 0 : token;
    } else if (field->descriptor == &dynamics__v1__pace__descriptor) {
        *(Dynamics__V1__Pace *)member(message, field) = DYNAMICS__V1__PACE__PACE_CLOCK;
    } else if (contains(flags, sizeof flags / sizeof *flags, field->name)) {
        *(protobuf_c_boolean *)member(message, field) = true;
    }
}

static ProtobufCMessage *fill(const ProtobufCMessageDescriptor *descriptor, uint64_t token) {
    ProtobufCMessage *message = allocate(descriptor->sizeof_message);
    protobuf_c_message_init(descriptor, message);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        set_field(message, &descriptor->fields[i], token);
    }
    return message;
}

static Dynamics__V1__Request *make_request(const ProtobufCFieldDescriptor *method, uint64_t token) {
    Dynamics__V1__Request *request = allocate(sizeof *request);
    dynamics__v1__request__init(request);
    set_message(&request->base, method, token);
    return request;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static Dynamics__V1__Reply *call_method(const sp_peer *peer, const char *name, uint64_t token) {
    const ProtobufCFieldDescriptor *method =
        protobuf_c_message_descriptor_get_field_by_name(&dynamics__v1__request__descriptor, name);
    ck_assert_ptr_nonnull(method);
    Dynamics__V1__Request *request = make_request(method, token);
    Dynamics__V1__Reply *reply = sp_call(peer, request);
    dynamics__v1__request__free_unpacked(request, NULL);
    return reply;
}

static uint64_t claim(const sp_peer *peer) {
    Dynamics__V1__Reply *reply = call_method(peer, "claim_simulation", 0);
    uint64_t token = reply->claim_simulation ? reply->claim_simulation->token : 0;
    sp_free_reply(reply);
    return token;
}

/* Waits until the job has a result. */
static void await_result(const sp_peer *peer) {
    bool is_pending = true;
    for (double end = sp_now() + SP_PATIENCE; is_pending && sp_now() < end;) {
        Dynamics__V1__Reply *reply = call_method(peer, "get_job_result", 0);
        is_pending = reply->status->code == DYNAMICS__V1__CODE__CODE_UNAVAILABLE;
        sp_free_reply(reply);
    }
}

Dynamics__V1__Request *method_request_prepare(const sp_peer *peer, const ProtobufCFieldDescriptor *method) {
    static const char *const makers[] = {"load_model", "delete_recording", "record_simulation", "open_stream",
                                         "start_job"};
    uint64_t token = claim(peer);
    if (token == 0) {
        sp_free_reply(call_method(peer, "create_simulation", 0));
        token = claim(peer);
    }
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        sp_free_reply(call_method(peer, makers[i], token));
    }
    await_result(peer);
    for (size_t i = 0; i < sizeof preparations / sizeof *preparations; i++) {
        if (strcmp(preparations[i].method, method->name) == 0) {
            sp_free_reply(call_method(peer, preparations[i].before, token));
        }
    }
    return make_request(method, token);
}
