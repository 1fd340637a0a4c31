/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records a simulation of the model "arm" of service_bench.h and reads its messages, which fuzz targets change.
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
    } messages[RUN_MESSAGES]; /* serialized, in the order of the file: the header, then the entries */
} recorded_run;

/* Starts a bench with a temporary state directory, which is removed at exit. Records a run there as "base" and reads
 * its messages: steps under a disturbance, with inputs, external forces and a reset between them. */
void run_start(bench *b, recorded_run *run);

/* Writes the path of a recording in the state directory. */
void run_path(const char *name, char path[PATH_MAX]);

/* Decodes message i of the run: the header for i = 0, otherwise an entry. The caller frees the result with
 * protobuf_c_message_free_unpacked. */
ProtobufCMessage *run_message(const recorded_run *run, size_t i);

#endif
