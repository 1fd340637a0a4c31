/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks who may do what: tokens give names and roles to requests, denied requests name the role that they need,
 * objects belong to who made them, also after a restart, and a user of this machine without a role gets neither replies
 * nor events over tcp.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dynamics/v1/event.pb-c.h"
#include "system/daemon_fixture.h"
#include "system/sp_request.h"
#include "system/runner.h"
#include "system/token_file.h"

#define CODE(name) DYNAMICS__V1__CODE__CODE_##name
#define METHOD(name) DYNAMICS__V1__REQUEST__METHOD_##name
#define ROLE(name) DYNAMICS__V1__METHOD_ROLE__METHOD_ROLE_##name

/* Tokens with their SHA-256, as `printf %s TOKEN | sha256sum` prints it. */
#define VIEWER "view-4d2a"
#define PLANNER "plan-77c1"
#define RIVAL "riva-5b08"
#define CHIEF "chief-90ee"

/* Number of a user that is neither root nor that of this test. */
enum { STRANGER = 61042 };

/* Time in which an event would have arrived, in seconds. */
#define EVENT_TIME 1.0

static daemon_fixture served;
static char tokens[] = "/tmp/dynamicsd-tokens-XXXXXX";
static sp_peer peer;

static const token_line all[] = {
    {"viewer", "reader", VIEWER},
    {"planner", "user", PLANNER},
    {"rival", "user", RIVAL},
    {"chief", "administrator", CHIEF},
};

enum { TOKENS = sizeof all / sizeof *all };

static void start(void) {
    char sections[128];
    int file = mkstemp(tokens);
    ck_assert_int_ge(file, 0);
    close(file);
    token_file_write(tokens, all, TOKENS);
    snprintf(sections, sizeof sections, "[access]\ntokens = %s\n", tokens);
    daemon_start(&(daemon_options){.configuration = sections}, &served);
}

static void stop(void) {
    daemon_stop(&served);
    unlink(tokens);
}

static void open_peer(void) {
    peer = sp_open(served.request_tcp, SP_REQ);
}

static void close_peer(void) {
    sp_close(&peer);
}

/* Sends a request with a token; `requested` is the message of the method. */
static Dynamics__V1__Reply *exchange(const char *token, Dynamics__V1__Request__MethodCase method, void *requested) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    request.token = (char *)(uintptr_t)token;
    request.method_case = method;
    request.get_health = requested;
    return sp_call(&peer, &request);
}

static Dynamics__V1__Reply *get_info(const char *token) {
    Dynamics__V1__GetServerInfoRequest question = DYNAMICS__V1__GET_SERVER_INFO_REQUEST__INIT;
    return exchange(token, METHOD(GET_SERVER_INFO), &question);
}

static Dynamics__V1__Reply *set_log_level(const char *token) {
    Dynamics__V1__SetLogLevelRequest question = DYNAMICS__V1__SET_LOG_LEVEL_REQUEST__INIT;
    return exchange(token, METHOD(SET_LOG_LEVEL), &question);
}

static Dynamics__V1__Reply *unload(const char *token) {
    static char name[] = "no_such_robot";
    Dynamics__V1__UnloadModelRequest question = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    question.model = name;
    return exchange(token, METHOD(UNLOAD_MODEL), &question);
}

/* Checks that the daemon knows the caller with that token by this name and role. */
static void expect_caller(const char *token, const char *name, Dynamics__V1__MethodRole role) {
    Dynamics__V1__Reply *reply = get_info(token);
    sp_expect_ok(reply);
    ck_assert_str_eq(reply->get_server_info->caller, name);
    ck_assert_int_eq(reply->get_server_info->caller_role, role);
    sp_free_reply(reply);
}

START_TEST(a_token_states_the_caller) {
    char own[32];
    snprintf(own, sizeof own, "uid:%u", (unsigned)geteuid());
    expect_caller("", own, ROLE(ADMINISTRATOR));
    expect_caller(VIEWER, "token:viewer", ROLE(READER));
    expect_caller(PLANNER, "token:planner", ROLE(USER));
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
}
END_TEST

START_TEST(denied_requests_name_the_role_that_they_need) {
    sp_expect_error(unload(VIEWER), CODE(PERMISSION_DENIED), "",
                    "unload_model needs the role user, and token:viewer has reader");
    sp_expect_error(set_log_level(PLANNER), CODE(PERMISSION_DENIED), "",
                    "set_log_level needs the role administrator, and token:planner has user");
    sp_expect_error(unload(PLANNER), CODE(NOT_FOUND), "unload_model.model", "no_such_robot");
    Dynamics__V1__Reply *reply = set_log_level(CHIEF);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    char *log = daemon_log(&served);
    ck_assert_ptr_nonnull(strstr(log, "caller=token:planner outcome=denied code=PERMISSION_DENIED"));
    free(log);
}
END_TEST

START_TEST(an_unknown_token_is_denied_even_to_the_own_user) {
    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    sp_expect_error(get_info("view-4d2b"), CODE(PERMISSION_DENIED), "token", "no such token");
    sp_expect_error(get_info(longest), CODE(PERMISSION_DENIED), "token", "no such token");
}
END_TEST

static void reload(void) {
    daemon_signal(&served, SIGHUP);
    daemon_wait_for_notice(&served, "READY=1", 20);
}

START_TEST(a_reload_revokes_tokens_on_open_connections) {
    const token_line fewer[] = {{"viewer", "reader", VIEWER}, {"planner", "reader", PLANNER}};
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
    token_file_write(tokens, fewer, 2);
    reload();
    sp_expect_error(get_info(CHIEF), CODE(PERMISSION_DENIED), "token", "no such token");
    expect_caller(PLANNER, "token:planner", ROLE(READER));
    FILE *file = fopen(tokens, "w");
    fputs("viewer reader 00\n", file);
    fclose(file);
    reload();
    expect_caller(VIEWER, "token:viewer", ROLE(READER));
    token_file_write(tokens, all, TOKENS);
    reload();
    expect_caller(CHIEF, "token:chief", ROLE(ADMINISTRATOR));
}
END_TEST

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Sends a request that must succeed, and returns its reply. */
static Dynamics__V1__Reply *succeed(const char *token, Dynamics__V1__Request__MethodCase method, void *requested) {
    Dynamics__V1__Reply *reply = exchange(token, method, requested);
    sp_expect_ok(reply);
    return reply;
}

/* Sends a request that must be denied because the object belongs to another caller. */
static void expect_denied(const char *token, Dynamics__V1__Request__MethodCase method, void *requested,
                          const char *field, const char *words) {
    Dynamics__V1__Reply *reply = exchange(token, method, requested);
    ck_assert_str_eq(reply->status->reason, "BELONGS_TO_ANOTHER");
    sp_expect_error(reply, CODE(PERMISSION_DENIED), field, words);
}

/* Makes a request to load a robot of one link with this mass under the name "owned". */
static Dynamics__V1__LoadModelRequest make_load(int mass, bool keep) {
    static char name[] = "owned", text[512];
    Dynamics__V1__LoadModelRequest load = DYNAMICS__V1__LOAD_MODEL_REQUEST__INIT;
    snprintf(text, sizeof text,
             "<robot name='owned'><link name='base'/><link name='arm'><inertial><mass value='%d'/><inertia ixx='1' "
             "iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' type='continuous'><parent "
             "link='base'/><child link='arm'/><axis xyz='0 0 1'/></joint></robot>",
             mass);
    load.name = name;
    load.source_case = DYNAMICS__V1__LOAD_MODEL_REQUEST__SOURCE_URDF;
    load.urdf = text;
    load.keep = keep;
    load.replace = true;
    return load;
}

static Dynamics__V1__UnloadModelRequest make_unload(char *name) {
    Dynamics__V1__UnloadModelRequest question = DYNAMICS__V1__UNLOAD_MODEL_REQUEST__INIT;
    question.model = name;
    return question;
}

static void load(const char *token, int mass, bool keep) {
    Dynamics__V1__LoadModelRequest request = make_load(mass, keep);
    sp_free_reply(succeed(token, METHOD(LOAD_MODEL), &request));
}

START_TEST(models_are_replaced_and_unloaded_by_their_owner) {
    char name[] = "owned", robot[] = "two_link";
    Dynamics__V1__UnloadModelRequest question = make_unload(name), installed = make_unload(robot);
    Dynamics__V1__LoadModelRequest other = make_load(2, false);
    load(PLANNER, 1, false);
    load(RIVAL, 1, true); /* the very same model: nothing changes hands */
    other = make_load(2, false);
    expect_denied(RIVAL, METHOD(LOAD_MODEL), &other, "load_model.name",
                  "model \"owned\" belongs to token:planner, and token:rival is user");
    expect_denied(RIVAL, METHOD(UNLOAD_MODEL), &question, "", "belongs to token:planner");
    load(PLANNER, 3, false);
    load(CHIEF, 4, false);
    expect_denied(PLANNER, METHOD(UNLOAD_MODEL), &question, "", "belongs to token:chief");
    sp_free_reply(succeed(CHIEF, METHOD(UNLOAD_MODEL), &question));
    expect_denied(PLANNER, METHOD(UNLOAD_MODEL), &installed, "", "belongs to nobody");
}
END_TEST

START_TEST(a_kept_model_has_its_owner_after_a_restart) {
    char name[] = "owned";
    Dynamics__V1__UnloadModelRequest question = make_unload(name);
    load(PLANNER, 5, true);
    close_peer();
    daemon_restart(&served);
    open_peer();
    expect_denied(RIVAL, METHOD(UNLOAD_MODEL), &question, "", "belongs to token:planner");
    sp_free_reply(succeed(PLANNER, METHOD(UNLOAD_MODEL), &question));
}
END_TEST

/* Creates a simulation of the planner; returns its token. */
static uint64_t create(char *name) {
    static char model[] = "two_link";
    Dynamics__V1__CreateSimulationRequest request = DYNAMICS__V1__CREATE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    query.model = model;
    request.query = &query;
    request.name = name;
    request.keep = true;
    Dynamics__V1__Reply *reply = succeed(PLANNER, METHOD(CREATE_SIMULATION), &request);
    uint64_t token = reply->create_simulation->token;
    sp_free_reply(reply);
    return token;
}

static uint64_t claim(const char *token, char *name) {
    Dynamics__V1__ClaimSimulationRequest request = DYNAMICS__V1__CLAIM_SIMULATION_REQUEST__INIT;
    request.simulation = name;
    request.take_over = true;
    Dynamics__V1__Reply *reply = succeed(token, METHOD(CLAIM_SIMULATION), &request);
    uint64_t number = reply->claim_simulation->token;
    sp_free_reply(reply);
    return number;
}

START_TEST(a_simulation_is_taken_over_by_its_owner_or_an_administrator) {
    char name[] = "taken";
    Dynamics__V1__ClaimSimulationRequest steal = DYNAMICS__V1__CLAIM_SIMULATION_REQUEST__INIT;
    Dynamics__V1__DeleteSimulationRequest end = DYNAMICS__V1__DELETE_SIMULATION_REQUEST__INIT;
    steal.simulation = end.simulation = name;
    steal.take_over = true;
    uint64_t first = create(name);
    expect_denied(RIVAL, METHOD(CLAIM_SIMULATION), &steal, "claim_simulation.simulation",
                  "simulation \"taken\" belongs to token:planner");
    uint64_t second = claim(PLANNER, name);
    ck_assert_uint_ne(first, second);
    daemon_restart(&served);
    close_peer();
    open_peer();
    expect_denied(RIVAL, METHOD(CLAIM_SIMULATION), &steal, "claim_simulation.simulation", "belongs to token:planner");
    end.token = claim(CHIEF, name);
    expect_denied(PLANNER, METHOD(CLAIM_SIMULATION), &steal, "claim_simulation.simulation", "belongs to token:chief");
    sp_free_reply(succeed(CHIEF, METHOD(DELETE_SIMULATION), &end));
}
END_TEST

START_TEST(a_recording_is_deleted_by_its_owner) {
    char name[] = "filmed", file[] = "film";
    Dynamics__V1__RecordSimulationRequest record = DYNAMICS__V1__RECORD_SIMULATION_REQUEST__INIT;
    Dynamics__V1__StopRecordingRequest stop_it = DYNAMICS__V1__STOP_RECORDING_REQUEST__INIT;
    Dynamics__V1__DeleteSimulationRequest end = DYNAMICS__V1__DELETE_SIMULATION_REQUEST__INIT;
    Dynamics__V1__DeleteRecordingRequest erase = DYNAMICS__V1__DELETE_RECORDING_REQUEST__INIT;
    record.simulation = stop_it.simulation = end.simulation = name;
    record.token = stop_it.token = end.token = create(name);
    record.recording = erase.recording = file;
    sp_free_reply(succeed(PLANNER, METHOD(RECORD_SIMULATION), &record));
    sp_free_reply(succeed(PLANNER, METHOD(STOP_RECORDING), &stop_it));
    sp_free_reply(succeed(PLANNER, METHOD(DELETE_SIMULATION), &end));
    expect_denied(RIVAL, METHOD(DELETE_RECORDING), &erase, "delete_recording.recording",
                  "recording \"film\" belongs to token:planner");
    sp_free_reply(succeed(PLANNER, METHOD(DELETE_RECORDING), &erase));
}
END_TEST

/* Opens a stream of the planner; returns its key. */
static uint64_t open_stream(char *name) {
    static char model[] = "two_link";
    Dynamics__V1__OpenStreamRequest request = DYNAMICS__V1__OPEN_STREAM_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__FeedforwardTarget target = DYNAMICS__V1__FEEDFORWARD_TARGET__INIT;
    query.model = model;
    request.query = &query;
    request.name = name;
    request.target_case = DYNAMICS__V1__OPEN_STREAM_REQUEST__TARGET_FEEDFORWARD;
    request.feedforward = &target;
    Dynamics__V1__Reply *reply = succeed(PLANNER, METHOD(OPEN_STREAM), &request);
    uint64_t key = reply->open_stream->key;
    sp_free_reply(reply);
    return key;
}

static Dynamics__V1__Reply *close_stream(const char *token, char *name, uint64_t key) {
    Dynamics__V1__CloseStreamRequest request = DYNAMICS__V1__CLOSE_STREAM_REQUEST__INIT;
    request.stream = name;
    request.key = key;
    return exchange(token, METHOD(CLOSE_STREAM), &request);
}

/* Checks that the log has a line of the audit with these words. */
static void expect_audit(const char *words) {
    char *log = daemon_log(&served);
    ck_assert_msg(strstr(log, words) != NULL, "the log has no \"%s\"", words);
    free(log);
}

START_TEST(a_stream_is_closed_with_its_key_or_by_its_user_or_an_administrator) {
    char name[] = "planned";
    uint64_t key = open_stream(name);
    sp_expect_error(close_stream(RIVAL, name, 0), CODE(PERMISSION_DENIED), "close_stream.key",
                    "or none as token:planner or as an administrator");
    sp_expect_error(close_stream(CHIEF, name, key + 1), CODE(PERMISSION_DENIED), "close_stream.key", "another one");
    Dynamics__V1__Reply *reply = close_stream(RIVAL, name, key);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    open_stream(name);
    reply = close_stream(PLANNER, name, 0);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    open_stream(name);
    reply = close_stream(CHIEF, name, 0);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    expect_audit("method=close_stream object=planned");
    expect_audit("caller=token:chief outcome=done code=OK belongs_to=token:planner");
}
END_TEST

/* Starts a job of the planner that takes minutes. */
static uint64_t start_job(char *name) {
    static char model[] = "two_link";
    static double q[2];
    Dynamics__V1__StartJobRequest request = DYNAMICS__V1__START_JOB_REQUEST__INIT;
    Dynamics__V1__Query query = DYNAMICS__V1__QUERY__INIT;
    Dynamics__V1__RolloutRequest rollout = DYNAMICS__V1__ROLLOUT_REQUEST__INIT;
    query.model = model;
    rollout.query = &query;
    rollout.n_q = 2;
    rollout.q = q;
    rollout.steps = 2000000000;
    rollout.only_last = true;
    request.job = name;
    request.method_case = DYNAMICS__V1__START_JOB_REQUEST__METHOD_ROLLOUT;
    request.rollout = &rollout;
    Dynamics__V1__Reply *reply = succeed(PLANNER, METHOD(START_JOB), &request);
    uint64_t token = reply->start_job->token;
    sp_free_reply(reply);
    return token;
}

static Dynamics__V1__Reply *cancel_job(const char *token, char *name, uint64_t key) {
    Dynamics__V1__CancelJobRequest request = DYNAMICS__V1__CANCEL_JOB_REQUEST__INIT;
    request.job = name;
    request.token = key;
    return exchange(token, METHOD(CANCEL_JOB), &request);
}

START_TEST(a_job_is_cancelled_with_its_token_or_by_its_user_or_an_administrator) {
    char first[] = "first", second[] = "second";
    uint64_t token = start_job(first);
    start_job(second);
    sp_expect_error(cancel_job(RIVAL, first, 0), CODE(PERMISSION_DENIED), "cancel_job.token",
                    "or none as token:planner or as an administrator");
    sp_expect_error(cancel_job(CHIEF, first, token + 1), CODE(PERMISSION_DENIED), "cancel_job.token", "another one");
    Dynamics__V1__Reply *reply = cancel_job(CHIEF, first, 0);
    sp_expect_ok(reply);
    sp_free_reply(reply);
    expect_audit("method=cancel_job object=first");
    expect_audit("caller=token:chief outcome=done code=OK belongs_to=token:planner");
    reply = cancel_job(PLANNER, second, 0);
    sp_expect_ok(reply);
    sp_free_reply(reply);
}
END_TEST

START_TEST(the_audit_names_the_user_whose_model_an_administrator_changes) {
    load(PLANNER, 6, false);
    load(CHIEF, 7, false);
    expect_audit("caller=token:chief outcome=replaced code=OK belongs_to=token:planner");
    char name[] = "owned";
    Dynamics__V1__UnloadModelRequest question = make_unload(name);
    sp_free_reply(succeed(CHIEF, METHOD(UNLOAD_MODEL), &question));
}
END_TEST

/* ---- users of this machine --------------------------------------------------------------------------------------- */

/* Runs as a user without a role: it has no reply over tcp, is a user over the unix socket if its permissions let it in,
 * and with a token is that of the token. Returns the number of the check that failed, 0: none. */
static int act_as_stranger(void) {
    Dynamics__V1__GetHealthRequest question = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    if (setgid(STRANGER) != 0 || setuid(STRANGER) != 0) {
        return 1;
    }
    open_peer();
    Dynamics__V1__Reply *reply = exchange("", METHOD(GET_HEALTH), &question);
    bool is_denied = reply->status->code == CODE(PERMISSION_DENIED) &&
                     strcmp(reply->status->message,
                            "get_health needs the role reader, and uid:61042 has no role; pass a token, or let the "
                            "administrator give the role ([access] in the configuration)") == 0;
    sp_free_reply(reply);
    sp_peer before = sp_open(served.events_tcp, SP_SUB);
    bool is_refused = sp_is_closed_within(&before, EVENT_TIME);
    reply = exchange(VIEWER, METHOD(GET_HEALTH), &question);
    bool is_allowed = reply->status->code == CODE(OK);
    sp_free_reply(reply);
    sp_peer after = sp_open(served.events_tcp, SP_SUB);
    bool is_let_in = !sp_is_closed_within(&after, EVENT_TIME);
    return !is_denied ? 2 : !is_refused ? 3 : !is_allowed ? 4 : !is_let_in ? 5 : 0;
}

START_TEST(another_user_of_the_machine_needs_a_token_over_tcp) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(act_as_stranger());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the stranger ended with signal %d", WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("access");
    tcase_set_timeout(tests, 60);
    tcase_add_unchecked_fixture(tests, start, stop);
    tcase_add_checked_fixture(tests, open_peer, close_peer);
    tcase_add_test(tests, a_token_states_the_caller);
    tcase_add_test(tests, denied_requests_name_the_role_that_they_need);
    tcase_add_test(tests, an_unknown_token_is_denied_even_to_the_own_user);
    tcase_add_test(tests, a_reload_revokes_tokens_on_open_connections);
    tcase_add_test(tests, models_are_replaced_and_unloaded_by_their_owner);
    tcase_add_test(tests, a_kept_model_has_its_owner_after_a_restart);
    tcase_add_test(tests, a_simulation_is_taken_over_by_its_owner_or_an_administrator);
    tcase_add_test(tests, a_recording_is_deleted_by_its_owner);
    tcase_add_test(tests, a_stream_is_closed_with_its_key_or_by_its_user_or_an_administrator);
    tcase_add_test(tests, a_job_is_cancelled_with_its_token_or_by_its_user_or_an_administrator);
    tcase_add_test(tests, the_audit_names_the_user_whose_model_an_administrator_changes);
    if (geteuid() == 0) { /* changing the user needs root */
        tcase_add_test(tests, another_user_of_the_machine_needs_a_token_over_tcp);
    }
    return run_unforked("access", tests);
}
