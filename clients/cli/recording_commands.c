/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command recordings: lists, copies and deletes recordings of the daemon.
 */
#include <stdio.h>
#include <time.h>

#include "command.h"
#include "json_writer.h"
#include "table.h"

static void write_recordings(const dyn_client_recording_list *list) {
    json_writer writer = {.stream = stdout, .pretty = true};
    emit_begin_object(&writer);
    emit_key(&writer, "bytes");
    emit_unsigned(&writer, list->bytes);
    emit_key(&writer, "recordings");
    emit_begin_array(&writer);
    for (size_t i = 0; i < list->count; i++) {
        const dyn_client_recording *recording = &list->recordings[i];
        emit_begin_object(&writer);
        emit_key(&writer, "name");
        emit_string(&writer, recording->name);
        emit_key(&writer, "bytes");
        emit_unsigned(&writer, recording->bytes);
        emit_key(&writer, "stamp_ns");
        emit_signed(&writer, recording->stamp_ns);
        emit_key(&writer, "is_under_way");
        emit_bool(&writer, recording->is_under_way);
        emit_end_object(&writer);
    }
    emit_end_array(&writer);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_recordings(const dyn_client_recording_list *list) {
    if (list->count == 0) {
        puts("no recordings (make one: dynamicsctl simulate MODEL --record NAME)");
        return true;
    }
    table *lines = table_create();
    table_add_column(lines, "recording", TABLE_LEFT);
    table_add_column(lines, "bytes", TABLE_RIGHT);
    table_add_column(lines, "modified", TABLE_LEFT);
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < list->count; i++) {
        const dyn_client_recording *recording = &list->recordings[i];
        char stamp[32];
        time_t modified = (time_t)(recording->stamp_ns / 1000000000);
        struct tm parts;
        bool is_time = localtime_r(&modified, &parts) != NULL;
        strftime(stamp, sizeof stamp, "%F %T", &parts);
        table_add_cell(lines, "%s", recording->name);
        table_add_cell(lines, "%llu", (unsigned long long)recording->bytes);
        table_add_cell(lines, "%s", is_time ? stamp : "-");
        table_add_cell(lines, "%s", recording->is_under_way ? "under way" : "");
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static exit_code list_recordings(const arguments *given, dyn_client *client, double timeout) {
    dyn_client_error error;
    dyn_client_recording_list *list;
    bool complete = true;
    if (dyn_client_list_recordings(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (given->value[OPTION_JSON]) {
        write_recordings(list);
    } else {
        complete = print_recordings(list);
    }
    dyn_client_recording_list_free(list);
    return complete ? EXIT_OK : complain_memory();
}

/* Writes the bytes of a recording to standard output, part by part. */
static exit_code fetch_recording(dyn_client *client, const char *name, double timeout) {
    dyn_client_error error;
    dyn_client_recording_part *part;
    uint64_t offset = 0;
    bool is_last = false;
    while (!is_last) {
        if (dyn_client_fetch_recording(client, name, offset, 0, timeout, &part, &error) != DYN_CLIENT_OK) {
            return complain_call(&error, NULL);
        }
        bool is_written = fwrite(part->bytes, 1, part->count, stdout) == part->count;
        offset += part->count;
        is_last = part->count == 0 || offset >= part->size;
        dyn_client_recording_part_free(part);
        if (!is_written) {
            return check_output();
        }
    }
    return EXIT_OK;
}

exit_code run_recordings(const command *self, const arguments *given, dyn_client *client) {
    (void)self;
    const char *deleted = given->value[OPTION_DELETE], *fetched = given->value[OPTION_FETCH];
    dyn_client_error error;
    double timeout;
    exit_code code = arguments_timeout(given, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (deleted && fetched) {
        return complain(EXIT_USAGE, "--delete and --fetch: give one of them");
    }
    if (fetched) {
        return fetch_recording(client, fetched, timeout);
    }
    if (!deleted) {
        return list_recordings(given, client, timeout);
    }
    if (dyn_client_delete_recording(client, deleted, timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    if (!given->value[OPTION_JSON]) {
        printf("%s: deleted\n", deleted);
    }
    return EXIT_OK;
}
