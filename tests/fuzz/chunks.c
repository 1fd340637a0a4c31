/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: pushes any bytes to a stream as a chunk of points. Each point of the chunk is counted exactly once, a
 * repeated chunk adds no accepted point, and the queue stays within the stream's capacity. The first byte chooses the
 * stream's target, model, joint order and policies.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods/live.h"
#include "observe/clock.h"
#include "service_bench.h"
#include "target.h"

enum { KEY_TAG = 1 << 3, KEY_SIZE = 11, STEPS = 5 };

static char directory[] = "/tmp/dynamics-fuzz-XXXXXX";

static void remove_directory(void) {
    char recordings[64];
    snprintf(recordings, sizeof recordings, "%s/recordings", directory);
    rmdir(recordings);
    rmdir(directory);
}

static void start(bench *b) {
    require(mkdtemp(directory) != NULL, "there is a directory");
    atexit(remove_directory);
    bench_start(b, directory);
    b->limits.request_time = 60;
}

/* Creates a simulation in lockstep; returns its token. */
static uint64_t create_simulation(bench *b) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__CreateSimulationRequest create = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    create.name = "target";
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = "arm";
    create.query = &query;
    create.pace = DYNAMICS__V1__PACE__PACE_LOCKSTEP;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_CREATE_SIMULATION;
    request.create_simulation = &create;
    Dynamics__V1__Reply *reply = bench_call(b, &request);
    uint64_t token = reply->create_simulation->token;
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return token;
}

/* Opens the stream that `choice` describes, and creates the simulation that it drives, if any. Returns the key. */
static uint64_t open_stream(bench *b, uint8_t choice) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__OpenStreamRequest open = DYNAMICS__V1__OPEN_STREAM_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__FeedforwardTarget feedforward = DYNAMICS__V1__FEEDFORWARD_TARGET__INIT;
    Dynamics__V1__SimulationInputTarget fed = DYNAMICS__V1__SIMULATION_INPUT_TARGET__INIT;
    Dynamics__V1__RecordTarget record = DYNAMICS__V1__RECORD_TARGET__INIT;
    static char *turned[] = {"elbow", "shoulder"};
    open.name = "stream";
    open.target_case =
        (Dynamics__V1__OpenStreamRequest__TargetCase)(DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_FEEDFORWARD +
                                                      choice % 3);
    fed.hold = (Dynamics__V1__Hold)(choice / 3 % 2);
    open.late = (Dynamics__V1__LatePolicy)(choice / 6 % 2);
    fed.empty = (Dynamics__V1__EmptyPolicy)(choice / 12 % 3);
    open.late_after = choice / 36 % 2 ? 0.5 : 0;
    if (open.target_case == DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_SIMULATION_INPUT) {
        fed.simulation = "target";
        fed.token = create_simulation(b);
        open.simulation_input = &fed;
    } else {
        if (open.target_case == DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_RECORD) {
            open.record = &record;
        } else {
            open.feedforward = &feedforward;
        }
        query.model = choice / 72 % 2 ? "walker" : "arm";
    }
    if (choice / 144 && query.model[0] != 'w') {
        query.joint_names = turned;
        query.n_joint_names = 2;
    }
    open.query = &query;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_OPEN_STREAM;
    request.open_stream = &open;
    Dynamics__V1__Reply *reply = bench_call(b, &request);
    uint64_t key = reply->open_stream->key;
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return key;
}

/* Returns a copy of the bytes with the field `key` appended, which replaces an earlier one, and stores its size in
 * `whole`. The caller frees the copy. */
static uint8_t *with_key(const uint8_t *data, size_t size, uint64_t key, size_t *whole) {
    uint8_t *message = malloc(size + KEY_SIZE);
    require(message != NULL, "there is memory");
    if (size > 0) {
        memcpy(message, data, size);
    }
    message[size++] = KEY_TAG;
    for (; key >= 0x80; key >>= 7) {
        message[size++] = (uint8_t)(key | 0x80);
    }
    message[size++] = (uint8_t)key;
    *whole = size;
    return message;
}

/* Returns the number of points in the stream's counters, each counted once: a late point that is not dropped counts as
 * accepted too. */
static uint64_t counted(const stream *s) {
    const stream_counters *k = &s->counters;
    return k->accepted + k->duplicates + k->refused + k->beyond_credit + (s->options.drops_late ? k->late : 0);
}

static void push(bench *b, stream *s, const uint8_t *message, size_t size) {
    stream_counters before = s->counters;
    uint64_t points = counted(s);
    live_receive_message(b->live, message, size, clock_now(), "fuzz");
    Dynamics__V1__StreamChunk *chunk = dynamics__v1__stream_chunk__unpack(NULL, size, message);
    uint64_t chunks = s->counters.chunks - before.chunks, more = counted(s) - points;
    require(chunks == 0 ? more == 0 : chunks == 1, "a chunk is counted once");
    require(chunks == 0 || (chunk && (more == chunk->n_time || (more == 1 && s->counters.accepted == before.accepted))),
            "each point is counted once");
    require(stream_waiting(s) <= s->options.capacity, "what waits is within the capacity");
    require(stream_credit(s) >= s->order.last, "what was sent was within the credit");
    require(isfinite(s->lag) && s->lag <= s->greatest_lag, "the lag is a number");
    if (chunk) {
        dynamics__v1__stream_chunk__free_unpacked(chunk, NULL);
    }
}

/* Steps the simulation, which consumes the waiting points, until it diverges or STEPS steps are done. */
static void drive(simulation *target) {
    simulation_lock(target);
    for (int i = 0; i < STEPS && target->condition != SIMULATION_DIVERGED; i++) {
        simulation_step(target);
    }
    simulation_unlock(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bench b;
    char path[PATH_MAX];
    if (!b.service) {
        start(&b);
    }
    if (size == 0) {
        return 0;
    }
    size_t whole;
    uint64_t key = open_stream(&b, data[0]);
    uint8_t *message = with_key(data + 1, size - 1, key, &whole);
    stream *s = name_table_find(&b.live->streams, "stream");
    require(s != NULL, "the stream is there");
    push(&b, s, data + 1, size - 1);
    push(&b, s, message, whole);
    uint64_t accepted = s->counters.accepted;
    push(&b, s, message, whole);
    require(s->counters.accepted == accepted, "what comes again is not taken again");
    if (s->target) {
        drive(s->target);
        live_end_simulation(b.live, s->target, SIMULATION_DELETED, "the input has ended");
    } else {
        live_end_stream(b.live, s, STREAM_CLOSED, "the input has ended");
    }
    stream_release(s);
    free(message);
    snprintf(path, sizeof path, "%s/recordings/stream.recording", directory);
    unlink(path);
    return 0;
}
