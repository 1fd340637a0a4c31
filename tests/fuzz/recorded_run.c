/* SPDX-License-Identifier: BSD-2-Clause */
/* Records a simulation in a temporary state directory, and reads the messages of the recording. */
#include "recorded_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods/recording.h"

static char directory[] = "/tmp/dynamics-fuzz-XXXXXX";

void run_path(const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/recordings/%s.recording", directory, name);
}

static void remove_directory(void) {
    char path[PATH_MAX];
    run_path("base", path);
    unlink(path);
    run_path("changed", path);
    unlink(path);
    snprintf(path, sizeof path, "%s/recordings", directory);
    rmdir(path);
    rmdir(directory);
}

/* Sends a request that must succeed and whose result does not matter. */
static void call_method(bench *b, Dynamics__V1__Request__MethodCase request_method, void *message) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.method_case = request_method;
    request.get_health = message;
    dynamics__v1__reply__free_unpacked(bench_call(b, &request), NULL);
}

static uint64_t create(bench *b) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__CreateSimulationRequest message = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Stepping stepping = DYNAMICS__V1__STEPPING__INIT;
    Dynamics__V1__Controller controller = DYNAMICS__V1__CONTROLLER__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__Vector3 gravity = DYNAMICS__V1__VECTOR3__INIT;
    Dynamics__V1__Inertia ball = DYNAMICS__V1__INERTIA__INIT;
    Dynamics__V1__Payload payload = DYNAMICS__V1__PAYLOAD__INIT, *payloads[] = {&payload};
    static char *names[] = {"elbow", "shoulder"};
    double deviation[] = {1, 2}, gain = 10, q[] = {0.1, 0.2};
    message.name = "run";
    gravity.z = -1.62;
    ball.mass = 1;
    payload.link = "lower";
    payload.inertia = &ball;
    query.model = "arm";
    query.joint_names = names;
    query.gravity = &gravity;
    query.n_payloads = 1;
    query.payloads = payloads;
    message.query = &query;
    query.n_joint_names = message.n_disturbance = message.n_q = 2;
    message.disturbance = deviation;
    message.q = q;
    controller.law = DYNAMICS__V1__CONTROL_LAW__CONTROL_LAW_PD;
    controller.n_kp = controller.n_kd = 1;
    controller.kp = controller.kd = &gain;
    stepping.controller = &controller;
    message.stepping = &stepping;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_CREATE_SIMULATION;
    request.create_simulation = &message;
    Dynamics__V1__Reply *reply = bench_call(b, &request);
    uint64_t token = reply->create_simulation->token;
    dynamics__v1__reply__free_unpacked(reply, NULL);
    return token;
}

static void step(bench *b, uint64_t token, Dynamics__V1__SimulationInput *input) {
    Dynamics__V1__StepSimulationRequest message = DYNAMICS__V1__STEP_SIMULATION_REQUEST__INIT;
    message.simulation = "run";
    message.token = token;
    message.steps = 3;
    message.input = input;
    call_method(b, DYNAMICS__V1__REQUEST__METHOD_STEP_SIMULATION, &message);
}

static void record(bench *b, uint64_t token, const char *name) {
    Dynamics__V1__RecordSimulationRequest message = DYNAMICS__V1__RECORD_SIMULATION_REQUEST__INIT;
    message.simulation = "run";
    message.token = token;
    message.recording = (char *)name;
    call_method(b, DYNAMICS__V1__REQUEST__METHOD_RECORD_SIMULATION, &message);
}

static void stop_recording(bench *b, uint64_t token) {
    Dynamics__V1__StopRecordingRequest message = DYNAMICS__V1__STOP_RECORDING_REQUEST__INIT;
    message.simulation = "run";
    message.token = token;
    call_method(b, DYNAMICS__V1__REQUEST__METHOD_STOP_RECORDING, &message);
}

static void make(bench *b) {
    Dynamics__V1__SimulationInput input = DYNAMICS__V1__SIMULATION_INPUT__INIT;
    Dynamics__V1__ExternalForce force = DYNAMICS__V1__EXTERNAL_FORCE__INIT, *forces[] = {&force};
    Dynamics__V1__ResetSimulationRequest reset = DYNAMICS__V1__RESET_SIMULATION_REQUEST__INIT;
    Dynamics__V1__DeleteSimulationRequest deletion = DYNAMICS__V1__DELETE_SIMULATION_REQUEST__INIT;
    double tau[] = {1, 2}, push[] = {1, 0, -1};
    uint64_t token = create(b);
    record(b, token, "base");
    step(b, token, NULL);
    input.n_tau = input.n_q_ref = 2;
    input.tau = input.q_ref = tau;
    force.link = "lower";
    force.reference_frame = DYNAMICS__V1__REFERENCE_FRAME__REFERENCE_FRAME_WORLD;
    force.n_force = force.n_torque = 3;
    force.force = force.torque = push;
    input.n_external_forces = 1;
    input.external_forces = forces;
    step(b, token, &input);
    reset.simulation = deletion.simulation = "run";
    reset.token = deletion.token = token;
    call_method(b, DYNAMICS__V1__REQUEST__METHOD_RESET_SIMULATION, &reset);
    step(b, token, NULL);
    stop_recording(b, token);
    call_method(b, DYNAMICS__V1__REQUEST__METHOD_DELETE_SIMULATION, &deletion);
}

static const ProtobufCMessageDescriptor *type_of(size_t i) {
    return i == 0 ? &dynamics__v1__recording_header__descriptor : &dynamics__v1__recording_entry__descriptor;
}

/* Reads the recording "base" and stores the serialized form of its messages. */
static void read_run(recorded_run *run) {
    char path[PATH_MAX];
    recording_reader reader;
    ProtobufCMessage *message;
    run_path("base", path);
    require(recording_reader_open(&reader, path), "the recording is there");
    while ((message = recording_reader_next(&reader, type_of(run->count), NULL))) {
        require(run->count < RUN_MESSAGES, "the run is short");
        size_t size = protobuf_c_message_get_packed_size(message);
        uint8_t *bytes = malloc(size + 1);
        require(bytes != NULL, "there is memory");
        protobuf_c_message_pack(message, bytes);
        run->messages[run->count].size = size;
        run->messages[run->count++].bytes = bytes;
        protobuf_c_message_free_unpacked(message, NULL);
    }
    require(reader.at == reader.size && run->count == 13, "the recording holds header, 9 states, input, jump and end");
    recording_reader_close(&reader);
}

void run_start(bench *b, recorded_run *run) {
    require(mkdtemp(directory) != NULL, "there is a directory");
    atexit(remove_directory);
    bench_start(b, directory);
    b->limits.request_time = 60;
    make(b);
    read_run(run);
}

ProtobufCMessage *run_message(const recorded_run *run, size_t i) {
    ProtobufCMessage *message =
        protobuf_c_message_unpack(type_of(i), NULL, run->messages[i].size, run->messages[i].bytes);
    require(message != NULL, "a message of the run can be unpacked");
    return message;
}
