/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the program dynamicsctl against a peer whose every text field contains characters that act on terminals: no
 * command writes such characters.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <jansson.h>

#include <dynamics/v1/envelope.pb-c.h>

#include "system/lying_peer.h"
#include "system/runner.h"

/* Characters of the hostile text: ESC, a line break, CSI as UTF-8 and as a raw byte, direction override, line
 * separator, zero-width space, byte order mark, a character cut short. */
static char HOSTILE[] = "a\x1b[2J\nb\xc2\x9b\x9b\xe2\x80\xae\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf\xe2\x80";

static lying_peer peer;
static bool refuses; /* the peer answers with a status instead of a result */
static bool marks;   /* every result reports the error of a sample that does not exist */

/* ---- replies full of text ---------------------------------------------------------------------------------------- */

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static ProtobufCMessage *fill(const ProtobufCMessageDescriptor *type);

/* Sets one value of a field: texts are hostile, numbers are 1 and indices 0, so that a model has one joint. */
static void fill_value(const ProtobufCFieldDescriptor *field, void *at) {
    bool is_index = strstr(field->name, "index") || strcmp(field->name, "first") == 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = strdup(HOSTILE);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)at = fill(field->descriptor);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)at = 1;
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)at = 1;
        break;
    case PROTOBUF_C_TYPE_BYTES:
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        *(uint64_t *)at = is_index ? 0 : 1;
        break;
    default:
        *(uint32_t *)at = is_index ? 0 : 1;
        break;
    }
}

static size_t size_of_value(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static void fill_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    char *base = (char *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        void *values = allocate(size_of_value(field));
        fill_value(field, values);
        *(void **)(base + field->offset) = values;
        *(size_t *)(base + field->quantifier_offset) = 1;
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t *which = (uint32_t *)(base + field->quantifier_offset);
        if (*which != 0) {
            return;
        }
        *which = field->id;
    }
    fill_value(field, base + field->offset);
}

/* Returns a message whose fields are all set; the caller frees it. */
static ProtobufCMessage *fill(const ProtobufCMessageDescriptor *type) {
    ProtobufCMessage *message = allocate(type->sizeof_message);
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        fill_field(message, &type->fields[i]);
    }
    return message;
}

/* Adds the error of a sample that no request has. */
static void add_mark(Dynamics__V1__Reply *reply) {
    Dynamics__V1__SampleError *mark = (Dynamics__V1__SampleError *)fill(&dynamics__v1__sample_error__descriptor);
    mark->sample = UINT64_C(1) << 40;
    reply->sample_errors = allocate(sizeof *reply->sample_errors);
    reply->sample_errors[0] = mark;
    reply->n_sample_errors = reply->sample_error_count = 1;
}

/* Composes the reply to a request: a result of the requested method, or a refusal where `refuses` is set. */
static void compose(lying_peer *to, const uint8_t *bytes, size_t size) {
    Dynamics__V1__Request *request = dynamics__v1__request__unpack(NULL, size, bytes);
    const ProtobufCMessageDescriptor *type = &dynamics__v1__reply__descriptor;
    ProtobufCMessage *reply = allocate(type->sizeof_message);
    protobuf_c_message_init(type, reply);
    ck_assert_ptr_nonnull(request);
    const ProtobufCFieldDescriptor *result = protobuf_c_message_descriptor_get_field(type, request->method_case);
    if (refuses || !result) {
        Dynamics__V1__Status *status = (Dynamics__V1__Status *)fill(&dynamics__v1__status__descriptor);
        status->code = DYNAMICS__V1__CODE__CODE_INVALID_ARGUMENT;
        ((Dynamics__V1__Reply *)reply)->status = status;
    } else {
        fill_field(reply, result);
        if (marks) {
            add_mark((Dynamics__V1__Reply *)reply);
        }
    }
    ck_assert_uint_lt(protobuf_c_message_get_packed_size(reply), sizeof to->reply);
    to->reply_size = protobuf_c_message_pack(reply, to->reply);
    to->with_id = 1;
    protobuf_c_message_free_unpacked(reply, NULL);
    dynamics__v1__request__free_unpacked(request, NULL);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static const char *const COMMANDS[] = {
    "ping",
    "info",
    "load " DYNAMICS_ROBOTS_DIR "/two_link.urdf",
    "models",
    "describe a",
    "unload a",
    "derive a lock:b --name c",
    "export a",
    "export a --format urdf",
    "export a --format screws",
    "inertia box 1,1,1 --mass 1",
    "configuration a neutral",
    "base-parameters a",
    "id a --q 1 --v 1 --a 1",
    "fd a --q 1",
    "mass a --q 1",
    "gravity a --q 1",
    "bias a --q 1",
    "fk a --q 1 --frame b",
    "jacobian a --q 1 --frame b",
    "evaluate a --q 1 --quantity mass_matrix,frame_pose --frame b",
    "explain a --q 1",
    "rollout a --q 1",
    "trajectory a inverse",
    "simulate a --duration 0.01",
    "simulations",
    "watch a",
    "stream a",
    "streams",
    "record a b --token 1",
    "replay a",
    "latency a",
    "call describe_model '{\"model\": \"a\"}'",
    "call get_health",
};

/* Checks that a text is UTF-8 without raw control, direction and invisible characters. Line breaks and tabs are the
 * program's own, and are allowed. */
static void check_printable(const char *command, const char *text) {
    static const char *const hostile[] = {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\xa8", "\xe2\x80\x8b", "\xef\xbb\xbf"};
    for (const char *c = text; *c != '\0'; c++) {
        ck_assert_msg((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t', "%s writes the byte 0x%02x: %s", command,
                      (unsigned char)*c, text);
    }
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        ck_assert_msg(!strstr(text, hostile[i]), "%s writes hostile character %zu: %s", command, i, text);
    }
    json_t *utf8 = json_string(text);
    ck_assert_msg(utf8 != NULL, "%s writes what is not UTF-8: %s", command, text);
    json_decref(utf8);
}

/* Runs a command. Returns all that it writes to standard error or to standard output, which the caller frees. It writes
 * to a file: the end of a pipe would wait for each process that holds it. */
static char *run(const char *command, const char *options, bool is_error) {
    char line[512];
    FILE *output = tmpfile();
    ck_assert_ptr_nonnull(output);
    snprintf(line, sizeof line,
             "{ timeout --kill-after 1 3 %s %s %s --endpoint %s --timeout 0.5 %s; } </dev/null >/dev/fd/%d",
             DYNAMICSCTL_PROGRAM, command, options, peer.address, is_error ? "2>&1 >/dev/null" : "2>/dev/null",
             fileno(output));
    lying_peer_publish(&peer);
    ck_assert_int_ne(system(line), -1);
    lying_peer_publish(&peer);
    char *text = NULL;
    size_t size = 0;
    rewind(output);
    if (getdelim(&text, &size, '\0', output) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(output);
    return text;
}

/* Runs every command and checks its text; returns the number of commands that showed hostile text with escapes. */
static int run_all(const char *options, bool is_error) {
    int shown = 0;
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        char *text = run(COMMANDS[i], options, is_error);
        check_printable(COMMANDS[i], text);
        shown += strstr(text, "\\u202e") != NULL;
        free(text);
    }
    return shown;
}

static void start(void) {
    peer.compose = compose;
    lying_peer_start(&peer);
}

static void stop(void) {
    lying_peer_stop(&peer);
}

START_TEST(refusals_are_shown_with_escapes) {
    refuses = true;
    ck_assert_int_ge(run_all("", true), 30);
    ck_assert_int_eq(run_all("", false), 0);
}
END_TEST

START_TEST(results_are_shown_with_escapes) {
    refuses = false;
    ck_assert_int_ge(run_all("", false), 15);
    run_all("", true);
}
END_TEST

/* Checks that the JSON of a result parses, and that its strings are the peer's. */
START_TEST(json_stays_json) {
    static const char *const commands[] = {"models", "describe a", "info", "call list_simulations", "call get_health"};
    refuses = false;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *text = run(commands[i], "--json", false);
        json_error_t error;
        check_printable(commands[i], text);
        json_t *value = json_loads(text, 0, &error);
        ck_assert_msg(value != NULL, "%s: %s: %s", commands[i], error.text, text);
        char *again = json_dumps(value, 0);
        ck_assert_msg(strstr(again, "\xe2\x80\xae") != NULL, "%s: %s", commands[i], again);
        free(again);
        json_decref(value);
        free(text);
    }
}
END_TEST

/* The program reports the error without the line of the state, which it cannot know. */
START_TEST(an_error_of_a_state_that_does_not_exist_is_shown) {
    refuses = false;
    marks = true;
    char *text = run("mass a --q 1", "", true);
    marks = false;
    check_printable("mass", text);
    ck_assert_msg(strstr(text, "1 of 1 states failed, the first of them: ") != NULL, "%s", text);
    free(text);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("hostile text");
    tcase_add_unchecked_fixture(all, start, stop);
    tcase_set_timeout(all, 200);
    tcase_add_test(all, refusals_are_shown_with_escapes);
    tcase_add_test(all, results_are_shown_with_escapes);
    tcase_add_test(all, json_stays_json);
    tcase_add_test(all, an_error_of_a_state_that_does_not_exist_is_shown);
    return run_unforked("hostile text", all);
}
