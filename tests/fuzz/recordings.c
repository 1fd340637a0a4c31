/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: replays a recording with changes that any bytes describe. The service answers, and the numbers of states
 * and the lengths of the arrays in its reply are consistent. A recording without changes is reproduced bit by bit.
 *
 * The first bytes choose the requested states. Changes follow: of a message (a field of it, or a byte of its serialized
 * form), or of the file (a message left out or repeated, the end cut off).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dynamics/text.h>

#include "message_changes.h"
#include "recorded_run.h"
#include "target.h"

enum { MOST_CHANGES = 4 };

static void write_length(FILE *file, size_t length) {
    for (; length > 0x7f; length >>= 7) {
        fputc((int)(length & 0x7f) | 0x80, file);
    }
    fputc((int)length, file);
}

/* Writes the length of a message as a varint, then the message. Flips one bit of the serialized message that `flips`
 * chooses, unless `flips` is NULL. */
static void write_message(FILE *file, const ProtobufCMessage *message, decisions *flips) {
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);
    require(bytes != NULL, "there is memory");
    protobuf_c_message_pack(message, bytes);
    if (flips && size > 0) {
        size_t at = decide(flips, size);
        bytes[at] ^= (uint8_t)(1 << decide(flips, 8));
    }
    write_length(file, size);
    require(fwrite(bytes, 1, size, file) == size, "the file is written");
    free(bytes);
}

/* Change of one message of the file: one field, two fields, one bit of the serialized form, no copy, or 1 to 1000
 * copies of the message. */
typedef enum change_kind { CHANGE_FIELD, CHANGE_TWICE, CHANGE_BYTE, LEAVE_OUT, REPEAT, CHANGES } change_kind;

static void write_changed(FILE *file, const recorded_run *run, size_t i, change_kind kind, decisions *d) {
    ProtobufCMessage *message = run_message(run, i);
    for (int k = 0; k < (kind == CHANGE_TWICE ? 2 : kind == CHANGE_FIELD); k++) {
        change_message(d, message);
    }
    size_t times = kind == LEAVE_OUT ? 0 : kind == REPEAT ? 1 + decide(d, 1000) : 1;
    for (size_t k = 0; k < times; k++) {
        write_message(file, message, kind == CHANGE_BYTE ? d : NULL);
    }
    protobuf_c_message_free_unpacked(message, NULL);
}

/* Writes the recording to `path` with up to MOST_CHANGES changed messages, and cuts off the end of the file in one of
 * 16 cases. Without decisions left, there is no change. Half of the choices are the header, which has the most
 * influence. */
static void write_file(const recorded_run *run, const char *path, decisions *d) {
    size_t changed[MOST_CHANGES], changes = d->left > 0 ? 1 + decide(d, MOST_CHANGES) : 0;
    unlink(path); /* a file system may flush a truncated file at once */
    FILE *file = fopen(path, "w");
    require(file != NULL, "the file is written");
    for (size_t k = 0; k < changes; k++) {
        changed[k] = decide(d, 2) ? decide(d, run->count) : 0;
    }
    for (size_t i = 0; i < run->count; i++) {
        bool is_changed = false;
        for (size_t k = 0; k < changes && !is_changed; k++) {
            is_changed = changed[k] == i;
        }
        if (is_changed) {
            write_changed(file, run, i, (change_kind)decide(d, CHANGES), d);
        } else {
            ProtobufCMessage *message = run_message(run, i);
            write_message(file, message, NULL);
            protobuf_c_message_free_unpacked(message, NULL);
        }
    }
    long size = ftell(file);
    require(fclose(file) == 0, "the file is written");
    if (changes > 0 && decide(d, 16) == 1) {
        require(truncate(path, (long)decide(d, (size_t)size)) == 0, "the file is cut");
    }
}

/* Checks properties that hold for every reply to a replay. */
static void check(const Dynamics__V1__ReplaySimulationRequest *requested,
                  const Dynamics__V1__ReplaySimulationReply *reply) {
    require(requested->with_states || reply->n_step == 0, "no states come unless they are asked for");
    require(requested->count == 0 || reply->n_step <= requested->count, "no more states come than are asked for");
    require(reply->equal_steps <= reply->steps && reply->n_step <= reply->steps, "steps are counted once");
    require(reply->n_step == 0 || (reply->n_q % reply->n_step == 0 && reply->n_v % reply->n_step == 0),
            "rows are whole");
    require(reply->n_v == reply->n_tau, "v and tau have the same rows");
    require(dyn_text_is_printable(reply->model) && dyn_text_is_printable(reply->recorded_with), "words are printable");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    static recorded_run run;
    static char path[PATH_MAX];
    decisions d = {data, size};
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__ReplaySimulationRequest replay = DYNAMICS__V1__REPLAY_SIMULATION_REQUEST__INIT;
    if (!b.service) {
        run_start(&b, &run);
        run_path("changed", path);
    }
    replay.recording = "changed";
    replay.first = decide(&d, 4);
    replay.stride = decide(&d, 3);
    replay.count = decide(&d, 4) ? decide(&d, 256) : 1000000;
    replay.with_states = replay.first > 0 || replay.stride > 0 || replay.count > 0;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_REPLAY_SIMULATION;
    request.replay_simulation = &replay;
    bool is_unchanged = d.left == 0;
    /* A changed file may contain any number of substeps; an unchanged one must finish on any machine. */
    b.limits.request_time = is_unchanged ? 60 : 0.05;
    write_file(&run, path, &d);
    Dynamics__V1__Reply *reply = bench_try(&b, &request);
    if (reply->result_case == DYNAMICS__V1__REPLY__RESULT_REPLAY_SIMULATION) {
        check(&replay, reply->replay_simulation);
    }
    require(!is_unchanged || (reply->replay_simulation && reply->replay_simulation->equal_steps == 9),
            "a run without changes comes out with the same bits");
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return 0;
}
