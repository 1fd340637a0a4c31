/*
 * load, models, describe and unload.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "description_output.h"
#include "json_writer.h"
#include "numbers.h"
#include "table.h"

/* ---- load -------------------------------------------------------------------------------------------------------- */

/* Largest description that is read at all; above this size the daemon's limit is asked first. */
static const size_t MAX_FILE = (size_t)1 << 30, ASK_FIRST = (size_t)1 << 20;

/* Reads a stream to its end; NULL with errno. */
static char *read_stream(FILE *stream, size_t *size) {
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    *size = 0;
    while (text != NULL) {
        *size += fread(text + *size, 1, capacity - *size - 1, stream);
        if (ferror(stream) || *size + 1 < capacity)
            break;
        capacity *= 2;
        char *grown = capacity <= MAX_FILE ? realloc(text, capacity) : NULL;
        if (grown == NULL) {
            free(text);
            errno = capacity <= MAX_FILE ? ENOMEM : EFBIG;
            return NULL;
        }
        text = grown;
    }
    if (text != NULL && ferror(stream)) {
        free(text);
        return NULL;
    }
    if (text != NULL)
        text[*size] = '\0';
    return text;
}

static exit_code read_description(const char *path, char **text, size_t *size) {
    *size = 0;
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    *text = stream != NULL ? read_stream(stream, size) : NULL;
    int error = errno;
    if (stream != NULL && stream != stdin)
        fclose(stream);
    if (*text == NULL)
        return complain(EXIT_USAGE, "%s cannot be read: %s", path, strerror(error));
    if (strlen(*text) != *size)
        return complain(EXIT_USAGE, "%s is no text: there is a zero byte at offset %zu", path, strlen(*text));
    return EXIT_OK;
}

/* A request that is far too long would only be cut off; so ask what the daemon takes. */
static exit_code check_size(dyn_client *client, const char *path, size_t size, double timeout) {
    dyn_client_error error;
    dyn_client_server_info *info;
    if (size < ASK_FIRST)
        return EXIT_OK;
    if (dyn_client_get_server_info(client, timeout, &error, &info) != DYN_CLIENT_OK)
        return complain_call(&error, NULL);
    size_t limit = info->limits.message_bytes;
    dyn_client_server_info_free(info);
    return size < limit
               ? EXIT_OK
               : complain(EXIT_REFUSED,
                          "refused: load_model.urdf: %s has %zu bytes, but the daemon takes requests of at most "
                          "%zu (RESOURCE_EXHAUSTED)",
                          path, size, limit);
}

static void write_loaded(const dyn_client_loaded_model *loaded) {
    json_writer writer = {.stream = stdout, .pretty = true};
    emit_begin_object(&writer);
    emit_key(&writer, "model");
    write_model(&writer, &loaded->model);
    emit_key(&writer, "already_loaded");
    emit_bool(&writer, loaded->already_loaded);
    emit_key(&writer, "report");
    write_report(&writer, loaded->report_count, loaded->report);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Warnings are told; notes are counted. */
static void print_loaded(const dyn_client_loaded_model *loaded) {
    const dyn_client_model *model = &loaded->model;
    printf("%s: %s, %u links, %u moving joints, nq = %u, nv = %u, %g kg, %s base\n", model->name,
           loaded->already_loaded ? "was loaded already" : "loaded", model->links, model->joints, model->nq, model->nv,
           model->mass, model->base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed");
    print_report(loaded->report_count, loaded->report, false, model->name);
}

/* Fills the request from the options. */
static exit_code take_load_options(const arguments *given, dyn_client_load_request *request, double gravity[3]) {
    static const char *const bases[] = {"fixed", "floating"}, *const policies[] = {"coupled", "independent"};
    size_t base, policy;
    exit_code code = arguments_choice(given, OPTION_BASE, 2, bases, 0, &base);
    if (code == EXIT_OK)
        code = arguments_choice(given, OPTION_MIMIC, 2, policies, 0, &policy);
    if (code != EXIT_OK)
        return code;
    request->name = given->value[OPTION_NAME];
    request->base = (dyn_client_base)base;
    request->mimic = (dyn_client_mimic_policy)policy;
    request->strict = given->value[OPTION_STRICT] != NULL;
    request->replace = given->value[OPTION_REPLACE] != NULL;
    const char *text = given->value[OPTION_GRAVITY];
    char message[256];
    if (text == NULL)
        return EXIT_OK;
    if (!parse_numbers(text, 3, gravity, message, sizeof message))
        return complain(EXIT_USAGE, "--gravity %s: %s: give X,Y,Z in m/s^2", text, message);
    request->gravity = gravity;
    return EXIT_OK;
}

exit_code run_load(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    dyn_client_load_request request = {0};
    double timeout, gravity[3];
    exit_code code = arguments_timeout(given, &timeout);
    if (code == EXIT_OK)
        code = take_load_options(given, &request, gravity);
    if (code != EXIT_OK)
        return code;
    char *text;
    size_t size = 0;
    const char *path = given->positional[0];
    dyn_client_error error;
    dyn_client_loaded_model *loaded = NULL;
    code = read_description(path, &text, &size);
    if (code == EXIT_OK)
        code = check_size(client, path, size, timeout);
    request.urdf = text;
    if (code == EXIT_OK && dyn_client_load_model(client, &request, timeout, &error, &loaded) != DYN_CLIENT_OK)
        code = complain_call(&error, path);
    if (loaded != NULL && given->value[OPTION_JSON] != NULL)
        write_loaded(loaded);
    else if (loaded != NULL)
        print_loaded(loaded);
    dyn_client_loaded_model_free(loaded);
    free(text);
    return code;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

static void write_models(const dyn_client_model_list *list) {
    json_writer writer = {.stream = stdout, .pretty = true};
    emit_begin_object(&writer);
    emit_key(&writer, "models");
    emit_begin_array(&writer);
    for (size_t i = 0; i < list->count; i++)
        write_model(&writer, &list->models[i]);
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_models(const dyn_client_model_list *list) {
    static const char *const headings[] = {"model", "base", "nq", "nv", "links", "mass", "", "digest", "source"};
    static const table_align align[] = {TABLE_LEFT,  TABLE_LEFT, TABLE_RIGHT, TABLE_RIGHT, TABLE_RIGHT,
                                        TABLE_RIGHT, TABLE_UNIT, TABLE_LEFT,  TABLE_LEFT};
    table *lines = table_create();
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_add_column(lines, headings[i], align[i]);
    for (size_t i = 0; i < list->count; i++) {
        const dyn_client_model *model = &list->models[i];
        table_add_cell(lines, "%s", model->name);
        table_add_cell(lines, "%s", model->base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed");
        table_add_cell(lines, "%u", model->nq);
        table_add_cell(lines, "%u", model->nv);
        table_add_cell(lines, "%u", model->links);
        table_add_cell(lines, "%.3f", model->mass);
        table_add_cell(lines, "kg");
        table_add_cell(lines, "%.15s", model->digest);
        table_add_cell(lines, "%s", model->source);
    }
    if (list->count == 0)
        puts("no models (load one: dynamicsctl load FILE.urdf)");
    bool printed = list->count == 0 || table_print(lines, 0);
    table_free(lines);
    return printed;
}

exit_code run_models(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK)
        return code;
    dyn_client_error error;
    dyn_client_model_list *list;
    if (dyn_client_list_models(client, timeout, &error, &list) != DYN_CLIENT_OK)
        return complain_call(&error, NULL);
    bool complete = true;
    if (given->value[OPTION_JSON] != NULL)
        write_models(list);
    else
        complete = print_models(list);
    dyn_client_model_list_free(list);
    return complete ? EXIT_OK : complain_memory();
}

/* ---- describe ---------------------------------------------------------------------------------------------------- */

exit_code run_describe(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK)
        return code;
    dyn_client_error error;
    dyn_client_description *robot;
    if (dyn_client_describe_model(client, given->positional[0], timeout, &error, &robot) != DYN_CLIENT_OK)
        return complain_call(&error, NULL);
    bool complete = true;
    if (given->value[OPTION_JSON] != NULL)
        write_description(robot);
    else
        complete = print_description(robot);
    dyn_client_description_free(robot);
    return complete ? EXIT_OK : complain_memory();
}

/* ---- unload ------------------------------------------------------------------------------------------------------ */

exit_code run_unload(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK)
        return code;
    dyn_client_error error;
    if (dyn_client_unload_model(client, given->positional[0], timeout, &error) != DYN_CLIENT_OK)
        return complain_call(&error, NULL);
    if (given->value[OPTION_JSON] == NULL)
        printf("%s: unloaded\n", given->positional[0]);
    return EXIT_OK;
}
