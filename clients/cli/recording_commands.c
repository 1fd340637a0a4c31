/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command recordings: lists, describes, copies, exports and deletes recordings of the daemon.
 */
#include <stdio.h>
#include <time.h>

#include "command.h"
#include "done_output.h"
#include "listing.h"
#include "recording_output.h"

static const listing_column RECORDINGS[] = {{"name", "recording", TABLE_NAME},
                                            {"bytes", "bytes", TABLE_RIGHT},
                                            {"modified", "modified", TABLE_LEFT},
                                            {"stamp_ns", NULL, TABLE_RIGHT},
                                            {"is_under_way", "under way", TABLE_LEFT}};

static void add_recording(listing *to, const dyn_client_recording *recording) {
    char stamp[32];
    time_t modified = (time_t)(recording->stamp_ns / 1000000000);
    struct tm parts;
    bool is_time = localtime_r(&modified, &parts) != NULL;
    strftime(stamp, sizeof stamp, "%F %T", &parts);
    listing_text(to, recording->name, NULL);
    listing_count(to, recording->bytes);
    listing_text(to, is_time ? stamp : "-", NULL);
    listing_signed(to, recording->stamp_ns);
    listing_flag(to, recording->is_under_way);
}

static exit_code list_recordings(const arguments *args, dyn_client *client, double timeout) {
    dyn_client_error error;
    dyn_client_recording_list *list;
    if (dyn_client_list_recordings(client, timeout, &list, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    listing rows;
    exit_code code = listing_open(args, sizeof RECORDINGS / sizeof *RECORDINGS, RECORDINGS, &rows);
    for (size_t i = 0; code == EXIT_OK && i < list->count; i++) {
        add_recording(&rows, &list->recordings[i]);
    }
    dyn_client_recording_list_free(list);
    return listing_close(&rows, "no recordings (make one: dynamicsctl simulate MODEL --record NAME)", code);
}

/* Writes the bytes of a recording to standard output, part by part. Reports errors. */
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

exit_code run_recordings(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    const char *deleted = args->value[OPTION_DELETE], *fetched = args->value[OPTION_FETCH],
               *described = args->value[OPTION_DESCRIBE];
    dyn_client_error error;
    double timeout;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if ((deleted != NULL) + (fetched != NULL) + (described != NULL) > 1) {
        return complain(EXIT_USAGE, "--delete, --fetch and --describe: pass one of them");
    }
    if (described) {
        return describe_recording(args, client, described, timeout);
    }
    if (fetched && args->value[OPTION_JSON]) {
        return complain(EXIT_USAGE, "--fetch writes the file itself, or its rows with --csv; leave --json out");
    }
    if (fetched) {
        return args->value[OPTION_CSV] ? export_recording(client, fetched, timeout)
                                       : fetch_recording(client, fetched, timeout);
    }
    if (!deleted) {
        return list_recordings(args, client, timeout);
    }
    if (dyn_client_delete_recording(client, deleted, timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    print_done(args, deleted, "deleted");
    return EXIT_OK;
}
