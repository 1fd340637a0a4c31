/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads models from files: URDF, or descriptions in JSON.
 */
#include "requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "description_form.h"
#include "error.h"
#include "loaded.h"
#include "message_json.h"
#include "sized.h"

/* Initial size of the buffer for a file, in bytes. The size doubles until the file fits. */
enum { FIRST_ROOM = 1 << 16 };

/* Fills an error about a file that cannot be opened or read, and returns its status. `number` is the value of errno. */
static dyn_client_status fail_with_reason(const char *path, int number, dyn_client_error *error) {
    char buffer[128];
    dyn_client_status status = DYN_CLIENT_FAILED_PRECONDITION;
    if (number == ENOMEM) {
        return fail_memory(error);
    }
    if (number == ENOENT || number == ENOTDIR) {
        status = DYN_CLIENT_NOT_FOUND;
    } else if (number == EACCES || number == EPERM) {
        status = DYN_CLIENT_PERMISSION_DENIED;
    }
    return fail(error, status, "path", "%s cannot be read: %s", path, strerror_r(number, buffer, sizeof buffer));
}

/* Doubles the buffer of a text, at most to DYN_CLIENT_MAX_FILE_BYTES + 2: one byte more than a file may have, and a
 * zero byte. Returns false when out of memory. */
static bool grow(char **text, size_t *room) {
    const size_t most = DYN_CLIENT_MAX_FILE_BYTES + 2;
    size_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
    more = more > most ? most : more;
    char *grown = realloc(*text, more);
    if (grown) {
        *text = grown;
        *room = more;
    }
    return grown != NULL;
}

/* Reads a stream to its end, or until the text has more than DYN_CLIENT_MAX_FILE_BYTES, and appends a zero byte. The
 * caller frees the text, also after an error. Returns 0 or the value of errno. */
static int read_stream(FILE *stream, char **text, size_t *size) {
    size_t room = 0;
    *size = 0;
    do {
        if (*size + 1 >= room && !grow(text, &room)) {
            return ENOMEM;
        }
        errno = 0;
        *size += fread(*text + *size, 1, room - 1 - *size, stream);
        if (ferror(stream)) {
            return errno != 0 ? errno : EIO;
        }
    } while (*size <= DYN_CLIENT_MAX_FILE_BYTES && !feof(stream));
    (*text)[*size] = '\0';
    return 0;
}

/* Checks that the content of a file is text: not empty, not longer than DYN_CLIENT_MAX_FILE_BYTES, without zero
 * bytes. */
static dyn_client_status check_text(const char *path, const char *text, size_t size, dyn_client_error *error) {
    if (size > DYN_CLIENT_MAX_FILE_BYTES) {
        return fail(error, DYN_CLIENT_RESOURCE_EXHAUSTED, "path", "%s has more than %d bytes, the most that are read",
                    path, (int)DYN_CLIENT_MAX_FILE_BYTES);
    }
    if (size == 0) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "path", "%s is empty", path);
    }
    if (strlen(text) != size) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "path",
                    "%s is no text: there is a zero byte at offset %zu; save it as UTF-8", path, strlen(text));
    }
    return DYN_CLIENT_OK;
}

/* Reads a text file. The caller frees the text, also after an error. */
static dyn_client_status read_text(const char *path, char **text, dyn_client_error *error) {
    size_t size = 0;
    FILE *stream = fopen(path, "rbe");
    int number = stream ? read_stream(stream, text, &size) : errno;
    if (stream) {
        fclose(stream);
    }
    return number != 0 ? fail_with_reason(path, number, error) : check_text(path, *text, size, error);
}

/* ---- requests from descriptions ---------------------------------------------------------------------------------- */

/* Fills an error from the sentence of message_from_json, which begins with the path of a field. */
static dyn_client_status fail_with_place(const char *sentence, dyn_client_error *error) {
    char field[DYN_CLIENT_FIELD_SIZE];
    const char *colon = strstr(sentence, ": ");
    snprintf(field, sizeof field, "%.*s", colon ? (int)(colon - sentence) : 0, sentence);
    return fail(error, DYN_CLIENT_INVALID_ARGUMENT, field, "%s", colon ? colon + 2 : sentence);
}

/* Sets the source of the request to the description in a JSON value. The request borrows `message`, which the caller
 * frees. */
static dyn_client_status set_value(const char *path, json_t *value, Dynamics__V1__LoadModelRequest *load,
                                   ProtobufCMessage **message, dyn_client_error *error) {
    char root[64], sentence[MESSAGE_ERROR_SIZE];
    const ProtobufCFieldDescriptor *form = description_form(value);
    if (!form) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "path",
                    "%s has none of the members links (ModelDescription), rows (DenavitHartenbergTable) and slist "
                    "(ScrewChain)",
                    path);
    }
    snprintf(root, sizeof root, "load_model.%s", form->name);
    *message = message_from_json(form->descriptor, value, root, sentence);
    if (!*message) {
        return fail_with_place(sentence, error);
    }
    description_set(load, form, *message);
    return DYN_CLIENT_OK;
}

/* Sets the source of the request to a text: URDF, or a description in JSON. The request borrows `text` and `message`,
 * which the caller frees. `message` stays NULL for URDF. */
static dyn_client_status set_text(const char *path, char *text, Dynamics__V1__LoadModelRequest *load,
                                  ProtobufCMessage **message, dyn_client_error *error) {
    json_error_t problem;
    if (!description_is_json(text)) {
        load->source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
        load->urdf = text;
        return DYN_CLIENT_OK;
    }
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    if (!value) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "path", "%s:%d: not JSON: %s", path, problem.line,
                    problem.text);
    }
    dyn_client_status status = set_value(path, value, load, message, error);
    json_decref(value);
    return status;
}

/* Returns INVALID_ARGUMENT if a request contains a description in addition to the file. */
static dyn_client_status check_request(const dyn_client_load_request *request, dyn_client_error *error) {
    const char *field = request->urdf                 ? "request.urdf"
                        : request->description        ? "request.description"
                        : request->denavit_hartenberg ? "request.denavit_hartenberg"
                        : request->screws             ? "request.screws"
                                                      : NULL;
    return !field ? DYN_CLIENT_OK
                  : fail(error, DYN_CLIENT_INVALID_ARGUMENT, field,
                         "there are a file and another description; pass one of them");
}

dyn_client_status dyn_client_load_model_file(dyn_client *client, const char *path,
                                             const dyn_client_load_request *request, dyn_client_loaded_model **loaded,
                                             dyn_client_error *error) {
    dyn_client_load_request known = DYN_CLIENT_LOAD_REQUEST_INIT();
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    ProtobufCMessage *message = NULL;
    pool memory = {0};
    char *text = NULL;
    *loaded = NULL;
    if (!client || !path) {
        return fail(error, DYN_CLIENT_INVALID_ARGUMENT, "path", "client or path is NULL");
    }
    dyn_client_status status = request ? sized_read("request", request, sizeof known, &known, error) : DYN_CLIENT_OK;
    if (status == DYN_CLIENT_OK) {
        status = check_request(&known, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = read_text(path, &text, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = set_text(path, text, &load, &message, error);
    }
    if (status == DYN_CLIENT_OK) {
        status = load_source(client, &known, &load, &memory, loaded, error);
    }
    pool_free(&memory);
    if (message) {
        protobuf_c_message_free_unpacked(message, NULL);
    }
    free(text);
    return status;
}
