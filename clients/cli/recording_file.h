/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the file of a recording (dynamics/v1/recording.proto): fetches it from the daemon part by part and unpacks
 * it message by message.
 */
#ifndef CLI_RECORDING_FILE_H
#define CLI_RECORDING_FILE_H

#include <dynamics/v1/recording.pb-c.h>
#include <dynamics_client.h>

#include "diagnostics.h"

typedef struct recording_file {
    dyn_client *client;
    const char *name;
    double timeout;
    uint64_t fetched, size; /* number of bytes fetched, and of the file */
    bool has_fetched;
    uint8_t *bytes; /* bytes[begin .. begin + buffered) are not read yet */
    size_t begin, buffered, capacity;
    Dynamics__V1__RecordingHeader *header;
} recording_file;

/* Opens a recording and reads its header. Reports errors. The caller closes it with recording_file_close, also after an
 * error. */
exit_code recording_file_open(dyn_client *client, const char *name, double timeout, recording_file *opened);
void recording_file_close(recording_file *closed);

/* Reads the next entry. `entry` is NULL after the last one; otherwise the caller frees it. Reports errors. */
exit_code recording_file_next(recording_file *file, Dynamics__V1__RecordingEntry **entry);

#endif
