/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the identity of requests: replies are repeated only to the client that sent the request, no other peer can
 * cancel or replace a request, and events reveal nothing that helps to do so. The tests speak nng's protocol
 * themselves.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/v1/event.pb-c.h"
#include "system/daemon_fixture.h"
#include "system/sp_request.h"
#include "system/runner.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name
#define METHOD(name) DYNAMICS__V1__REQUEST__METHOD_##name

/* Number of the client whose requests are attacked, and number of its progress events. */
static const uint64_t CLIENT = UINT64_C(0x9d3c5b7a11e40f27), PROGRESS = UINT64_C(0x7c41e0d2b95f8a13);

/* Numbers of steps: of a request that takes a moment, and of an endless one. */
static const uint64_t MANY = 200000, ENDLESS = UINT64_C(1) << 60;

static daemon_fixture served;
static sp_peer victim, stranger; /* a user of the unix socket, and an address */
static uint64_t next_id = 1;

static void start(void) {
    daemon_start(NULL, &served);
}

static void stop(void) {
    daemon_stop(&served);
}

static void open_peers(void) {
    victim = sp_open(served.request_ipc, SP_REQ);
    stranger = sp_open(served.request_tcp, SP_REQ);
}

static void close_peers(void) {
    sp_close(&victim);
    sp_close(&stranger);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Returns a request of CLIENT. `requested` is the message of the method; the union has one place for the pointers of
 * all methods. */
static Dynamics__V1__Request make(uint64_t id, Dynamics__V1__Request__MethodCase method, void *requested) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.id = id;
    request.client = CLIENT;
    request.method_case = method;
    request.get_health = requested;
    return request;
}

static Dynamics__V1__Reply *exchange(const sp_peer *peer, uint64_t id, Dynamics__V1__Request__MethodCase method,
                                     void *requested) {
    const Dynamics__V1__Request request = make(id, method, requested);
    return sp_call(peer, &request);
}

static Dynamics__V1__Reply *create(const sp_peer *peer, uint64_t id, char *name) {
    Dynamics__V1__CreateSimulationRequest requested = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    char model[] = "two_link";
    requested.name = name;
    query.model = model;
    requested.query = &query;
    return exchange(peer, id, METHOD(CREATE_SIMULATION), &requested);
}

/* Creates a simulation as the victim; returns its token. */
static uint64_t create_new(uint64_t id, char *name) {
    Dynamics__V1__Reply *reply = create(&victim, id, name);
    sp_expect_ok(reply);
    uint64_t token = reply->create_simulation->token;
    sp_free_reply(reply);
    return token;
}

static Dynamics__V1__Reply *erase(const sp_peer *peer, uint64_t id, char *name, uint64_t token) {
    Dynamics__V1__DeleteSimulationRequest requested = DYNAMICS__V1__DELETE_SIMULATION_REQUEST__INIT;
    requested.simulation = name;
    requested.token = token;
    return exchange(peer, id, METHOD(DELETE_SIMULATION), &requested);
}

static Dynamics__V1__Reply *look(char *name) {
    Dynamics__V1__GetSimulationStateRequest requested = DYNAMICS__V1__GET_SIMULATION_STATE_REQUEST__INIT;
    requested.simulation = name;
    return exchange(&victim, next_id++, METHOD(GET_SIMULATION_STATE), &requested);
}

static Dynamics__V1__StepSimulationRequest steps_of(char *name, uint64_t token, uint64_t steps) {
    Dynamics__V1__StepSimulationRequest requested = DYNAMICS__V1__STEP_SIMULATION_REQUEST__INIT;
    requested.simulation = name;
    requested.token = token;
    requested.steps = steps;
    return requested;
}

/* Sends a request without waiting for its reply. */
static void send_request(const sp_peer *peer, const Dynamics__V1__Request *request) {
    size_t size;
    uint8_t *bytes = sp_pack(request, &size);
    ck_assert(sp_send_request(peer, 1, bytes, size));
    free(bytes);
}

static Dynamics__V1__Reply *receive_reply(const sp_peer *peer) {
    uint32_t number;
    uint8_t *bytes;
    size_t size;
    ck_assert_int_eq(sp_receive_reply(peer, SP_PATIENCE, &number, &bytes, &size), SP_MESSAGE);
    Dynamics__V1__Reply *reply = dynamics__v1__reply__unpack(NULL, size, bytes);
    free(bytes);
    ck_assert_ptr_nonnull(reply);
    return reply;
}

static bool cancel(const sp_peer *peer, uint64_t id, uint64_t target) {
    Dynamics__V1__CancelRequest requested = DYNAMICS__V1__CANCEL_REQUEST__INIT;
    requested.client = CLIENT;
    requested.id = target;
    Dynamics__V1__Reply *reply = exchange(peer, id, METHOD(CANCEL), &requested);
    sp_expect_ok(reply);
    bool is_found = reply->cancel->found;
    sp_free_reply(reply);
    return is_found;
}

/* Cancels the request `target`, which is on its way or under way; retries until that succeeds. */
static void cancel_for_sure(uint64_t target) {
    double end = sp_now() + SP_PATIENCE;
    while (!cancel(&victim, next_id++, target)) {
        ck_assert_msg(sp_now() < end, "the request was never under way");
        sp_pause(0.005);
    }
}

/* Checks that a reply contains no token and no success of another method. Frees it. */
static void expect_no_token(Dynamics__V1__Reply *reply) {
    ck_assert_int_ne(reply->result_case, DYNAMICS__V1__REPLY__RESULT_CREATE_SIMULATION);
    ck_assert_int_ne(reply->status->code, CODE(OK));
    sp_free_reply(reply);
}

/* ---- other peers and other requests ------------------------------------------------------------------------------ */

/* Checks the reply to a cancelled step request: an error before its first step, or the steps that it had done. Frees
 * the reply. */
static void expect_cancelled_steps(Dynamics__V1__Reply *reply) {
    if (reply->status->code == CODE(OK)) {
        ck_assert_int_eq(reply->step_simulation->ended_by, DYNAMICS__V1__STEPS_END__STEPS_END_CANCELLED);
        ck_assert_uint_eq(reply->step_simulation->steps_done, reply->step_simulation->state->step);
        sp_free_reply(reply);
    } else {
        sp_expect_error(reply, CODE(CANCELLED), "", "cancelled");
    }
}

START_TEST(reply_with_a_token_is_repeated_to_nobody_else) {
    char name[] = "secret", other[] = "other", empty[] = "";
    uint64_t id = next_id++, token = create_new(id, name);
    /* A different request with the same client and id gets no token, neither for the victim's user nor for another
     * address. */
    expect_no_token(erase(&victim, id, empty, 0));
    expect_no_token(erase(&stranger, id, empty, 0));
    /* A request of equal bytes from another address is executed as a new one, and refused because the name exists. */
    sp_expect_error(create(&stranger, id, name), CODE(ALREADY_EXISTS), "create_simulation.name", "secret");
    /* Another simulation is created, and not reported as an existing one. */
    Dynamics__V1__Reply *made = create(&stranger, id, other);
    sp_expect_ok(made);
    ck_assert_str_eq(made->create_simulation->simulation->name, other);
    ck_assert_uint_ne(made->create_simulation->token, token);
    sp_free_reply(erase(&stranger, next_id++, other, made->create_simulation->token));
    sp_free_reply(made);
    /* The client itself gets its reply again, over a new connection too. */
    close_peers();
    open_peers();
    Dynamics__V1__Reply *again = create(&victim, id, name);
    sp_expect_ok(again);
    ck_assert_uint_eq(again->create_simulation->token, token);
    sp_free_reply(again);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

/* Checks that a request is executed although another client has guessed its id and used it first. */
START_TEST(request_is_executed_under_an_id_that_another_has_used) {
    char name[] = "doomed", model[] = "panda";
    uint64_t token = create_new(next_id++, name), id = next_id++;
    Dynamics__V1__UnloadModelRequest harmless = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    harmless.model = model;
    Dynamics__V1__Reply *poison = exchange(&stranger, id, METHOD(UNLOAD_MODEL), &harmless);
    sp_expect_ok(poison);
    sp_free_reply(poison);
    Dynamics__V1__Reply *reply = erase(&victim, id, name, token);
    sp_expect_ok(reply);
    ck_assert_int_eq(reply->result_case, DYNAMICS__V1__REPLY__RESULT_DELETE_SIMULATION);
    sp_free_reply(reply);
    sp_expect_error(look(name), CODE(NOT_FOUND), "get_simulation_state.simulation", "no simulation \"doomed\"");
}
END_TEST

START_TEST(request_of_another_peer_cannot_be_cancelled) {
    char name[] = "steady";
    uint64_t token = create_new(next_id++, name), id = next_id++;
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, ENDLESS);
    const Dynamics__V1__Request request = make(id, METHOD(STEP_SIMULATION), &steps);
    sp_peer busy = sp_open(served.request_ipc, SP_REQ);
    send_request(&busy, &request);
    for (int i = 0; i < 100; i++) {
        ck_assert(!cancel(&stranger, next_id++, id));
        sp_pause(0.002);
    }
    cancel_for_sure(id);
    expect_cancelled_steps(receive_reply(&busy));
    sp_close(&busy);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

/* Checks that first steps with many evaluations can be cancelled. No earlier step of the simulation tells that they are
 * long. */
START_TEST(first_steps_of_many_evaluations_can_be_cancelled) {
    enum { STEPS = 40 };
    char name[] = "costly", model[] = "ur5";
    Dynamics__V1__CreateSimulationRequest requested = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__Stepping stepping = DYNAMICS__V1__STEPPING__INIT;
    query.model = model;
    stepping.integrator = DYNAMICS__V1__INTEGRATOR__INTEGRATOR_RK4;
    stepping.substeps = 10000;
    requested.name = name;
    requested.query = &query;
    requested.stepping = &stepping;
    Dynamics__V1__Reply *made = exchange(&victim, next_id++, METHOD(CREATE_SIMULATION), &requested);
    sp_expect_ok(made);
    uint64_t token = made->create_simulation->token, id = next_id++;
    sp_free_reply(made);
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, STEPS);
    const Dynamics__V1__Request request = make(id, METHOD(STEP_SIMULATION), &steps);
    sp_peer busy = sp_open(served.request_ipc, SP_REQ);
    send_request(&busy, &request);
    cancel_for_sure(id);
    expect_cancelled_steps(receive_reply(&busy));
    sp_close(&busy);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

/* ---- repetitions ------------------------------------------------------------------------------------------------- */

/* Checks a request that arrives again over a new connection while the first copy is under way: both get one reply. */
START_TEST(request_that_arrives_again_while_it_is_executed_waits_for_the_reply) {
    char name[] = "slow";
    uint64_t token = create_new(next_id++, name), id = next_id++;
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, MANY);
    const Dynamics__V1__Request request = make(id, METHOD(STEP_SIMULATION), &steps);
    sp_peer broken = sp_open(served.request_ipc, SP_REQ), fresh = sp_open(served.request_ipc, SP_REQ);
    send_request(&broken, &request);
    sp_pause(0.02);
    send_request(&fresh, &request);
    Dynamics__V1__Reply *first = receive_reply(&broken), *again = receive_reply(&fresh), *after = look(name);
    sp_expect_ok(first);
    sp_expect_ok(again);
    ck_assert_uint_eq(first->step_simulation->state->step, MANY);
    ck_assert_uint_eq(again->step_simulation->state->step, MANY);
    ck_assert_double_eq(again->elapsed, first->elapsed);
    ck_assert_uint_eq(after->get_simulation_state->state->step, MANY);
    sp_free_reply(first);
    sp_free_reply(again);
    sp_free_reply(after);
    sp_close(&broken);
    sp_close(&fresh);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

static Dynamics__V1__Reply *push(char *name, uint64_t token, uint64_t id, double force) {
    Dynamics__V1__SetSimulationInputRequest requested = DYNAMICS__V1__SET_SIMULATION_INPUT_REQUEST__INIT;
    Dynamics__V1__SimulationInput input = DYNAMICS__V1__SIMULATION_INPUT__INIT;
    double tau[2] = {force, force};
    requested.simulation = name;
    requested.token = token;
    requested.input = &input;
    input.n_tau = 2;
    input.tau = tau;
    return exchange(&victim, id, METHOD(SET_SIMULATION_INPUT), &requested);
}

/* Makes one step of the simulation and returns the force that acts in it. */
static double acting_force(char *name, uint64_t token) {
    Dynamics__V1__StepSimulationRequest one = steps_of(name, token, 1);
    Dynamics__V1__Reply *reply = exchange(&victim, next_id++, METHOD(STEP_SIMULATION), &one);
    sp_expect_ok(reply);
    double force = reply->step_simulation->state->tau[0];
    sp_free_reply(reply);
    return force;
}

/* Checks that both replies are successes and equal. Frees them. */
static void expect_same_reply(Dynamics__V1__Reply *first, Dynamics__V1__Reply *again) {
    sp_expect_ok(first);
    sp_expect_ok(again);
    ck_assert_int_eq(first->result_case, again->result_case);
    ck_assert_double_eq(first->elapsed, again->elapsed);
    sp_free_reply(first);
    sp_free_reply(again);
}

START_TEST(input_that_arrives_again_does_not_replace_a_later_one) {
    char name[] = "driven";
    uint64_t token = create_new(next_id++, name), first = next_id++, second = next_id++;
    Dynamics__V1__Reply *reply = push(name, token, first, 1), *later = push(name, token, second, 2);
    sp_expect_ok(later);
    Dynamics__V1__Reply *again = push(name, token, first, 1);
    ck_assert_double_eq(acting_force(name, token), 2);
    expect_same_reply(reply, again);
    sp_free_reply(later);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

START_TEST(state_and_reset_that_arrive_again_change_nothing) {
    char name[] = "moved";
    uint64_t token = create_new(next_id++, name), set_id = next_id++, reset_id = next_id++;
    Dynamics__V1__SetSimulationStateRequest set = DYNAMICS__V1__SET_SIMULATION_STATE_REQUEST__INIT;
    Dynamics__V1__ResetSimulationRequest reset = DYNAMICS__V1__RESET_SIMULATION_REQUEST__INIT;
    double q[2] = {0.5, -0.5};
    set.simulation = reset.simulation = name;
    set.token = reset.token = token;
    set.n_q = 2;
    set.q = q;
    Dynamics__V1__Reply *set_reply = exchange(&victim, set_id, METHOD(SET_SIMULATION_STATE), &set);
    Dynamics__V1__Reply *reset_reply = exchange(&victim, reset_id, METHOD(RESET_SIMULATION), &reset);
    acting_force(name, token);
    Dynamics__V1__Reply *set_again = exchange(&victim, set_id, METHOD(SET_SIMULATION_STATE), &set);
    Dynamics__V1__Reply *reset_again = exchange(&victim, reset_id, METHOD(RESET_SIMULATION), &reset);
    Dynamics__V1__Reply *after = look(name);
    sp_expect_ok(after);
    ck_assert_uint_eq(after->get_simulation_state->state->step, 1);
    ck_assert_double_lt(after->get_simulation_state->state->q[0], 0.1);
    expect_same_reply(set_reply, set_again);
    expect_same_reply(reset_reply, reset_again);
    sp_free_reply(after);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

START_TEST(pause_that_arrives_again_stops_nothing) {
    char name[] = "running", model[] = "two_link";
    Dynamics__V1__CreateSimulationRequest requested = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__PauseSimulationRequest pause = DYNAMICS__V1__PAUSE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__ResumeSimulationRequest resume = DYNAMICS__V1__RESUME_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    requested.name = pause.simulation = resume.simulation = name;
    query.model = model;
    requested.query = &query;
    requested.pace = DYNAMICS__V1__PACE__PACE_CLOCK;
    Dynamics__V1__Reply *made = exchange(&victim, next_id++, METHOD(CREATE_SIMULATION), &requested);
    sp_expect_ok(made);
    pause.token = resume.token = made->create_simulation->token;
    uint64_t pause_id = next_id++, resume_id = next_id++;
    Dynamics__V1__Reply *paused = exchange(&victim, pause_id, METHOD(PAUSE_SIMULATION), &pause);
    Dynamics__V1__Reply *resumed = exchange(&victim, resume_id, METHOD(RESUME_SIMULATION), &resume);
    Dynamics__V1__Reply *paused_again = exchange(&victim, pause_id, METHOD(PAUSE_SIMULATION), &pause);
    Dynamics__V1__Reply *after = look(name);
    sp_expect_ok(after);
    ck_assert_int_eq(after->get_simulation_state->simulation->condition,
                     DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_RUNNING);
    expect_same_reply(paused, paused_again);
    /* A repeated resumption does not start the simulation once it is paused. */
    sp_free_reply(exchange(&victim, next_id++, METHOD(PAUSE_SIMULATION), &pause));
    expect_same_reply(resumed, exchange(&victim, resume_id, METHOD(RESUME_SIMULATION), &resume));
    sp_free_reply(after);
    after = look(name);
    ck_assert_int_eq(after->get_simulation_state->simulation->condition,
                     DYNAMICS__V1__SIMULATION_CONDITION__SIMULATION_CONDITION_PAUSED);
    sp_free_reply(after);
    sp_free_reply(erase(&victim, next_id++, name, pause.token));
    sp_free_reply(made);
}
END_TEST

START_TEST(cancellation_that_arrives_again_is_answered_as_before) {
    char name[] = "ended";
    uint64_t token = create_new(next_id++, name), id = next_id++, found_by = 0;
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, ENDLESS);
    const Dynamics__V1__Request request = make(id, METHOD(STEP_SIMULATION), &steps);
    sp_peer busy = sp_open(served.request_ipc, SP_REQ);
    send_request(&busy, &request);
    double end = sp_now() + SP_PATIENCE;
    do {
        ck_assert(sp_now() < end);
        found_by = next_id++;
    } while (!cancel(&victim, found_by, id));
    expect_cancelled_steps(receive_reply(&busy));
    ck_assert(cancel(&victim, found_by, id));
    ck_assert(!cancel(&victim, next_id++, id));
    /* The cancelled request does not start again. */
    expect_cancelled_steps(sp_call(&busy, &request));
    sp_close(&busy);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

/* Checks a reply to endless steps that the deadline ended; returns the number of steps done. Frees the reply. */
static uint64_t expect_late_steps(Dynamics__V1__Reply *reply) {
    sp_expect_ok(reply);
    ck_assert_int_eq(reply->step_simulation->ended_by, DYNAMICS__V1__STEPS_END__STEPS_END_DEADLINE);
    uint64_t done = reply->step_simulation->steps_done;
    sp_free_reply(reply);
    return done;
}

START_TEST(error_is_repeated_like_any_other_reply) {
    char name[] = "late";
    uint64_t id = next_id++;
    Dynamics__V1__StepSimulationRequest one = steps_of(name, 0, 1);
    sp_expect_error(exchange(&victim, id, METHOD(STEP_SIMULATION), &one), CODE(NOT_FOUND), "step_simulation.simulation",
                    "no simulation \"late\"");
    uint64_t token = create_new(next_id++, name);
    sp_expect_error(exchange(&victim, id, METHOD(STEP_SIMULATION), &one), CODE(NOT_FOUND), "step_simulation.simulation",
                    "no simulation \"late\"");
    /* A step request that has ended at its deadline is answered again and executes no more steps. */
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, ENDLESS);
    Dynamics__V1__Request request = make(next_id++, METHOD(STEP_SIMULATION), &steps);
    request.timeout = 0.05;
    uint64_t done = expect_late_steps(sp_call(&victim, &request));
    Dynamics__V1__Reply *before = look(name);
    ck_assert_uint_eq(expect_late_steps(sp_call(&victim, &request)), done);
    Dynamics__V1__Reply *after = look(name);
    ck_assert_uint_gt(done, 0);
    ck_assert_uint_eq(before->get_simulation_state->state->step, done);
    ck_assert_uint_eq(before->get_simulation_state->state->step, after->get_simulation_state->state->step);
    sp_free_reply(before);
    sp_free_reply(after);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

/* Sizes of a robot whose joints and their names make the reply to its simulation's creation larger than the cache
 * stores. */
enum { JOINTS = 4500, JOINT_NAME = 250, ELEMENTS = 2 * JOINT_NAME + 200 };

static void name_joint(char name[JOINT_NAME + 1], int i) {
    snprintf(name, JOINT_NAME + 1, "%0*d", JOINT_NAME, i);
}

static void load_many_joints(void) {
    Dynamics__V1__LoadModelRequest requested = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    char *urdf = malloc((size_t)JOINTS * ELEMENTS), *end = stpcpy(urdf, "<robot name='many'><link name='base'/>");
    char name[JOINT_NAME + 1];
    ck_assert_ptr_nonnull(urdf);
    for (int i = 0; i < JOINTS; i++) {
        name_joint(name, i);
        end += sprintf(end,
                       "<link name='%d'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
                       "izz='1'/></inertial></link><joint name='%s' type='continuous'><parent link='base'/>"
                       "<child link='%d'/></joint>",
                       i, name, i);
    }
    stpcpy(end, "</robot>");
    requested.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    requested.urdf = urdf;
    Dynamics__V1__Reply *reply = exchange(&victim, next_id++, METHOD(LOAD_MODEL), &requested);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    free(urdf);
}

START_TEST(request_whose_reply_is_too_large_to_be_stored_is_executed_once) {
    static char names[JOINTS][JOINT_NAME + 1], *list[JOINTS];
    char name[] = "large", model[] = "many";
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__CreateSimulationRequest requested = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    uint64_t id = next_id++;
    load_many_joints();
    for (int i = 0; i < JOINTS; i++) {
        name_joint(names[i], i);
        list[i] = names[i];
    }
    requested.name = name;
    requested.query = &query;
    query.model = model;
    query.n_joint_names = JOINTS;
    query.joint_names = list;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    sp_call_patience = 6 * SP_PATIENCE; /* a sanitizer clears the memory of 4,500 joints slowly */
#endif
    Dynamics__V1__Reply *first = exchange(&victim, id, METHOD(CREATE_SIMULATION), &requested);
    sp_call_patience = SP_PATIENCE;
    sp_expect_ok(first);
    ck_assert_uint_gt(dynamics__v1__reply__get_packed_size(first), 1 << 20);
    sp_expect_error(exchange(&victim, id, METHOD(CREATE_SIMULATION), &requested), CODE(ABORTED), "",
                    "the request was executed, but its reply of");
    Dynamics__V1__Reply *deleted = erase(&victim, next_id++, name, first->create_simulation->token);
    sp_expect_ok(deleted);
    sp_expect_error(exchange(&victim, id, METHOD(CREATE_SIMULATION), &requested), CODE(ABORTED), "",
                    "the request was executed, but its reply of");
    sp_expect_error(look(name), CODE(NOT_FOUND), "get_simulation_state.simulation", "no simulation \"large\"");
    sp_free_reply(deleted);
    sp_free_reply(first);
}
END_TEST

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* Receives events until a progress event arrives. The caller frees the event, and `message`, which contains its
 * bytes. */
static Dynamics__V1__Event *receive_progress(const sp_peer *subscriber, char topic[64], uint8_t **message,
                                             size_t *size) {
    for (;;) {
        ck_assert_int_eq(sp_receive(subscriber, SP_PATIENCE, message, size), SP_MESSAGE);
        const uint8_t *end = memchr(*message, '\0', *size);
        ck_assert_ptr_nonnull(end);
        snprintf(topic, 64, "%s", (const char *)*message);
        size_t used = (size_t)(end + 1 - *message);
        Dynamics__V1__Event *event = dynamics__v1__event__unpack(NULL, *size - used, end + 1);
        ck_assert_ptr_nonnull(event);
        if (event->event_case == DYNAMICS__V1__EVENT__EVENT_PROGRESS) {
            return event;
        }
        dynamics__v1__event__free_unpacked(event, NULL);
        free(*message);
    }
}

/* Returns whether a number is in a message as a varint or in decimal. */
static bool has_number(const uint8_t *message, size_t size, uint64_t number) {
    uint8_t varint[10];
    char decimal[24];
    size_t length = 0;
    for (uint64_t left = number; left > 0 || length == 0; left >>= 7) {
        varint[length++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    }
    int digits = snprintf(decimal, sizeof decimal, "%" PRIu64, number);
    return memmem(message, size, varint, length) || memmem(message, size, decimal, (size_t)digits);
}

START_TEST(progress_is_published_under_its_own_number) {
    char name[] = "watched", topic[64], expected[64];
    uint64_t token = create_new(next_id++, name), id = next_id++;
    Dynamics__V1__StepSimulationRequest steps = steps_of(name, token, ENDLESS);
    Dynamics__V1__Request request = make(id, METHOD(STEP_SIMULATION), &steps);
    request.progress = PROGRESS;
    sp_peer subscriber = sp_open(served.events_ipc, SP_SUB), busy = sp_open(served.request_ipc, SP_REQ);
    send_request(&busy, &request);
    snprintf(expected, sizeof expected, "progress/%" PRIu64, PROGRESS);
    for (int i = 0; i < 3; i++) {
        uint8_t *message;
        size_t size;
        Dynamics__V1__Event *event = receive_progress(&subscriber, topic, &message, &size);
        ck_assert_str_eq(topic, expected);
        ck_assert_uint_eq(event->progress->number, PROGRESS);
        ck_assert(has_number(message, size, PROGRESS));
        ck_assert(!has_number(message, size, CLIENT));
        dynamics__v1__event__free_unpacked(event, NULL);
        free(message);
    }
    /* Another client cannot publish under that number meanwhile. */
    request.client = CLIENT + 1;
    sp_expect_error(sp_call(&stranger, &request), CODE(ALREADY_EXISTS), "progress", "draw a number at random");
    sp_expect_error(sp_call(&victim, &request), CODE(ALREADY_EXISTS), "progress", "draw a number at random");
    cancel_for_sure(id);
    expect_cancelled_steps(receive_reply(&busy));
    sp_close(&busy);
    sp_close(&subscriber);
    sp_free_reply(erase(&victim, next_id++, name, token));
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("identity");
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_checked_fixture(tests, open_peers, close_peers);
    tcase_add_test(tests, reply_with_a_token_is_repeated_to_nobody_else);
    tcase_add_test(tests, request_is_executed_under_an_id_that_another_has_used);
    tcase_add_test(tests, request_of_another_peer_cannot_be_cancelled);
    tcase_add_test(tests, first_steps_of_many_evaluations_can_be_cancelled);
    tcase_add_test(tests, request_that_arrives_again_while_it_is_executed_waits_for_the_reply);
    tcase_add_test(tests, input_that_arrives_again_does_not_replace_a_later_one);
    tcase_add_test(tests, state_and_reset_that_arrive_again_change_nothing);
    tcase_add_test(tests, pause_that_arrives_again_stops_nothing);
    tcase_add_test(tests, cancellation_that_arrives_again_is_answered_as_before);
    tcase_add_test(tests, error_is_repeated_like_any_other_reply);
    tcase_add_test(tests, request_whose_reply_is_too_large_to_be_stored_is_executed_once);
    tcase_add_test(tests, progress_is_published_under_its_own_number);
    return run_unforked("identity", tests);
}
