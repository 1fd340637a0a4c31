/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recorded run of the bench's arm as a source of changes: its messages in the order of the file.
 */
#ifndef DYNAMICS_TESTS_RECORDED_RUN_H
#define DYNAMICS_TESTS_RECORDED_RUN_H

#include "dynamics/v1/recording.pb-c.h"
#include "service_bench.h"

enum { RUN_MESSAGES = 64 };

typedef struct recorded_run {
    size_t count;
    struct {
        size_t size;
        uint8_t *bytes;
    } messages[RUN_MESSAGES]; /* the header, then the entries */
} recorded_run;

/* Starts a bench with a state directory that is removed at exit, and records a run there: steps under a disturbance,
 * with inputs, external forces and a reset between them. */
void run_start(bench *b, recorded_run *run);

/* Writes the path of a recording in the state directory. */
void run_path(const char *name, char path[PATH_MAX]);

/* Returns a copy of message i. */
ProtobufCMessage *run_message(const recorded_run *run, size_t i);

#endif
