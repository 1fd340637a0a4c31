/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks TLS with certificates that openssl makes: who is let in, the names and roles of clients with a certificate,
 * all kinds of endpoints, the reload of certificates, errors of the configuration, and peers that break the protocol.
 */
#include <check.h>
#include <dynamics_client.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/daemon_fixture.h"
#include "system/runner.h"
#include "system/sp_wire.h"

/* Number of a user that is neither root nor that of this test. */
enum { STRANGER = 61042 };

/* States of a batch whose request and reply have many records of TLS: 2.9 MB each. */
enum { BATCH = 60000, JOINTS = 6 };

/* Attempts of each kind of bad peer. */
enum { BAD_PEERS = 60 };

static daemon_fixture served;
static char directory[] = "/tmp/dynamicsd-tls-XXXXXX";
static char request[96]; /* address of the endpoint for requests */

/* Makes the authorities good and other, and certificates: server and renewed for the daemon, planner of a client, rival
 * of the other authority, stale of the good one but expired. Debian 13's openssl states dates instead of negative
 * days, which Debian 12's openssl does not know. */
static const char make_certificates[] =
    "set -e; cd %s; umask 077\n"
    "ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -out $1.crt "
    "-subj /CN=$1 -days 10; }\n"
    "sign() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout $1.key -out $1.csr "
    "-subj \"/CN=$2\"; openssl x509 -req -in $1.csr -CA $3.crt -CAkey $3.key -CAcreateserial -days $4 -out $1.crt; }\n"
    "expire() { openssl x509 -req -in $1.csr -CA $2.crt -CAkey $2.key -CAcreateserial -not_before 20200101000000Z "
    "-not_after 20200102000000Z -out $1.crt; }\n"
    "{ ca good; ca other; sign server localhost good 5; sign renewed localhost good 6; sign planner planner good 5\n"
    "sign rival planner other 5; sign stale planner good -1 || expire stale good; sign odd 'odd name' good 5\n"
    "cp server.crt own.crt; cp server.key own.key; } 2>openssl.log\n";

/* Runs a shell command in the directory of the certificates. Returns its exit code. */
static int run(const char *command) {
    char line[2048];
    snprintf(line, sizeof line, "cd %s; %s", directory, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Writes the sections of a configuration with TLS. */
static void write_sections(const char *more, char sections[1024]) {
    snprintf(sections, 1024,
             "[endpoints]\nrequest = tls+tcp://127.0.0.1:0\nevents = tls+tcp://127.0.0.1:0\n"
             "[tls]\ncertificate_file = %s/own.crt\nkey_file = %s/own.key\nca_file = %s/good.crt\n%s\n",
             directory, directory, directory, more);
}

/* Finds the address of the TLS endpoint for requests. */
static void find_request(void) {
    dyn_client *client;
    dyn_client_error error;
    dyn_client_server_info *info;
    ck_assert_msg(dyn_client_connect(served.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_get_server_info(client, 0, &info, &error) == DYN_CLIENT_OK, "%s", error.message);
    for (size_t i = 0; i < info->endpoint_count; i++) {
        bool is_secure = strncmp(info->endpoints[i].address, "tls+tcp://", 10) == 0;
        if (is_secure && strcmp(info->endpoints[i].kind, "request") == 0) {
            snprintf(request, sizeof request, "%s", info->endpoints[i].address);
        }
    }
    ck_assert_str_ne(request, "");
    dyn_client_server_info_free(info);
    dyn_client_close(client);
}

static void start_with(const char *more) {
    char command[2048], sections[1024];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(command, sizeof command, make_certificates, directory);
    ck_assert_int_eq(system(command), 0);
    write_sections(more, sections);
    daemon_start(&(daemon_options){.configuration = sections}, &served);
    find_request();
}

static void start(void) {
    start_with("[access]\nusers = cn:planner\n[limits]\nmessage_time = 1");
}

static void start_open(void) {
    start_with("require_certificate = no\n[limits]\nmessage_time = 1");
}

static void stop(void) {
    daemon_stop(&served);
    ck_assert_int_eq(run("rm -f *.crt *.key *.csr *.srl *.log *.conf *.out *.pem; rmdir \"$PWD\""), 0);
    memcpy(strstr(directory, "tls-") + 4, "XXXXXX", 6);
}

/* Writes the address with the files of a client. `own`: name of its certificate, or NULL. */
static void write_address(const char *authority, const char *own, char address[512]) {
    int used = snprintf(address, 512, "%s?ca=%s/%s.crt&name=localhost", request, directory, authority);
    if (own) {
        snprintf(address + used, 512 - (size_t)used, "&certificate=%s/%s.crt&key=%s/%s.key", directory, own, directory,
                 own);
    }
}

static dyn_client_status try_to_connect(const char *authority, const char *own, dyn_client **client,
                                        dyn_client_error *error) {
    char address[512];
    write_address(authority, own, address);
    return dyn_client_connect(address, NULL, client, error);
}

static dyn_client *open_client(const char *own) {
    dyn_client *client;
    dyn_client_error error;
    ck_assert_msg(try_to_connect("good", own, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    return client;
}

static void expect_caller(dyn_client *client, const char *name) {
    dyn_client_server_info *info;
    dyn_client_error error;
    ck_assert_msg(dyn_client_get_server_info(client, 0, &info, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_str_eq(info->caller, name);
    dyn_client_server_info_free(info);
}

static void expect_served(void) {
    dyn_client *client = open_client("planner");
    expect_caller(client, "certificate:planner");
    dyn_client_close(client);
}

/* Computes gravity torques of a batch, and returns those of the last state in `last`. */
static void compute_batch(dyn_client *client, double last[JOINTS]) {
    dyn_client_error error;
    double *q = calloc(BATCH, sizeof(double[JOINTS])), *g = calloc(BATCH, sizeof(double[JOINTS]));
    for (size_t i = 0; i < (size_t)BATCH * JOINTS; i++) {
        q[i] = 1e-5 * (double)i;
    }
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = BATCH);
    dyn_client_status status = dyn_client_gravity(client, &query, q, g, &error);
    ck_assert_msg(status == DYN_CLIENT_OK, "%s", error.message);
    memcpy(last, g + (size_t)(BATCH - 1) * JOINTS, sizeof(double[JOINTS]));
    free(q);
    free(g);
}

START_TEST(a_batch_is_the_same_over_tls_and_over_a_unix_socket) {
    dyn_client *secure = open_client("planner"), *plain;
    dyn_client_error error;
    double over_tls[JOINTS], over_ipc[JOINTS];
    ck_assert_int_eq(dyn_client_connect(served.request_ipc, NULL, &plain, &error), DYN_CLIENT_OK);
    for (int i = 0; i < 3; i++) {
        compute_batch(secure, over_tls);
        compute_batch(plain, over_ipc);
        ck_assert_mem_eq(over_tls, over_ipc, sizeof over_tls);
    }
    expect_caller(secure, "certificate:planner");
    /* A reply that its carrier does not see leave would close the connection after limits.message_time. */
    sleep(2);
    expect_caller(secure, "certificate:planner");
    dyn_client_close(secure);
    dyn_client_close(plain);
}
END_TEST

START_TEST(events_and_points_pass_over_tls) {
    dyn_client *client = open_client("planner");
    dyn_client_error error;
    dyn_client_watch *watch;
    dyn_client_stream *stream;
    dyn_client_update update = DYN_CLIENT_UPDATE_INIT(0);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = JOINTS, .nv = JOINTS, .samples = 1);
    const dyn_client_stream_options options =
        DYN_CLIENT_STREAM_OPTIONS_INIT(.name = "secure", .kind = DYN_CLIENT_STREAM_KIND_FEEDFORWARD, .query = &query);
    const double t[2] = {0, 0.1}, q[2][JOINTS] = {{0}, {0, -1}};
    ck_assert_msg(dyn_client_open_stream(client, &options, &stream, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_watch_stream(client, "secure", 5, &watch, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(dyn_client_push_points(stream, 2, t, q[0], NULL, NULL, NULL, 5, &error) == DYN_CLIENT_OK, "%s",
                  error.message);
    do {
        ck_assert_msg(dyn_client_watch_next(watch, 10, &update, &error) == DYN_CLIENT_OK, "%s", error.message);
    } while (update.kind != DYN_CLIENT_UPDATE_KIND_TORQUES);
    ck_assert_uint_eq(update.nv, JOINTS);
    dyn_client_watch_close(watch);
    dyn_client_leave_stream(stream);
    dyn_client_close(client);
}
END_TEST

START_TEST(clients_without_common_trust_are_refused) {
    static const struct {
        const char *authority, *own;
    } bad[] = {{"good", NULL}, {"good", "rival"}, {"good", "stale"}, {"other", "planner"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dyn_client *client;
        dyn_client_error error;
        ck_assert_msg(try_to_connect(bad[i].authority, bad[i].own, &client, &error) == DYN_CLIENT_UNREACHABLE,
                      "case %zu was let in, or failed otherwise: %s", i, error.message);
        ck_assert_ptr_nonnull(strstr(error.message, "no common trust"));
        expect_served();
    }
}
END_TEST

START_TEST(the_name_of_the_daemon_is_compared) {
    dyn_client *client;
    dyn_client_error error;
    char address[512];
    write_address("good", "planner", address);
    memcpy(strstr(address, "name=localhost"), "name=elsewhere", strlen("name=elsewhere"));
    ck_assert_int_eq(dyn_client_connect(address, NULL, &client, &error), DYN_CLIENT_UNREACHABLE);
}
END_TEST

START_TEST(settings_of_an_address_are_checked) {
    static const char *const bad[][2] = {
        {"?ca=/no/such", "/no/such: No such file"},
        {"?colour=red", "the names are ca, certificate, key and name"},
        {"?key=/no/such", "belong together"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dyn_client *client;
        dyn_client_error error;
        char address[512];
        snprintf(address, sizeof address, "%s%s", request, bad[i][0]);
        ck_assert_int_eq(dyn_client_connect(address, NULL, &client, &error), DYN_CLIENT_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, "url");
        ck_assert_msg(strstr(error.message, bad[i][1]) != NULL, "%s", error.message);
    }
}
END_TEST

/* Acts as a user without a role, whose certificate alone gives one. Returns the number of the check that failed. */
static int act_as_stranger(void) {
    dyn_client *client;
    dyn_client_error error;
    dyn_client_server_info *info = NULL;
    dyn_client_model_list *models;
    if (run("chmod 711 . && chmod 644 planner.crt planner.key odd.crt odd.key good.crt") != 0 ||
        setgid(STRANGER) != 0 || setuid(STRANGER) != 0) {
        return 1;
    }
    if (try_to_connect("good", "planner", &client, &error) != DYN_CLIENT_OK) {
        return 2;
    }
    bool is_user = dyn_client_get_server_info(client, 0, &info, &error) == DYN_CLIENT_OK &&
                   strcmp(info->caller, "certificate:planner") == 0 && info->caller_role == DYN_CLIENT_METHOD_ROLE_USER;
    dyn_client_server_info_free(info);
    dyn_client_close(client);
    if (!is_user) {
        return 3;
    }
    if (try_to_connect("good", "odd", &client, &error) != DYN_CLIENT_OK) {
        return 4;
    }
    bool is_denied = dyn_client_list_models(client, 0, &models, &error) == DYN_CLIENT_PERMISSION_DENIED &&
                     strstr(error.message, "certificate:#") != NULL;
    dyn_client_close(client);
    return is_denied ? 0 : 5;
}

/* The child is a new process image of this program, since nng does not work on both sides of a fork. */
START_TEST(a_certificate_gives_its_holder_a_role) {
    char program[512], command[1024];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    ck_assert_int_gt(length, 0);
    program[length] = '\0';
    snprintf(command, sizeof command, "%s --stranger %s %s", program, directory, request);
    int status = system(command);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "check %d failed", WEXITSTATUS(status));
}
END_TEST

/* Waits until the daemon shows the certificate of that name. */
static bool shows(const char *name) {
    char command[512];
    snprintf(
        command, sizeof command,
        "for i in $(seq 50); do openssl s_client -connect %s </dev/null 2>/dev/null | openssl x509 >shown.pem "
        "2>/dev/null; openssl x509 -in %s.crt >wanted.pem; cmp -s shown.pem wanted.pem && exit 0; sleep 0.1; done; "
        "exit 1",
        request + strlen("tls+tcp://"), name);
    return run(command) == 0;
}

static void reload(const char *text) {
    daemon_signal(&served, SIGHUP);
    daemon_wait_for_notice(&served, text, 20);
}

START_TEST(a_reload_changes_the_certificate_and_keeps_connections) {
    dyn_client *client = open_client("planner");
    ck_assert(shows("server"));
    ck_assert_int_eq(run("cp renewed.crt own.crt && cp renewed.key own.key"), 0);
    reload("READY=1");
    ck_assert(shows("renewed"));
    expect_caller(client, "certificate:planner");
    dyn_client_close(client);
    expect_served();
    ck_assert_int_eq(run("cp server.crt own.crt"), 0); /* not the one of the key */
    reload("The configuration is bad");
    ck_assert(shows("renewed"));
    expect_served();
    char *log = daemon_log(&served);
    ck_assert_ptr_nonnull(strstr(log, "the key does not belong to the certificate"));
    free(log);
    ck_assert_int_eq(run("cp server.key own.key"), 0);
    reload("READY=1");
    ck_assert(shows("server"));
}
END_TEST

/* Checks that a configuration is refused with a text. */
static void expect_refused(const char *section, const char *said) {
    char command[1024], path[128];
    snprintf(path, sizeof path, "%s/bad.conf", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "[endpoints]\nrequest = tls+tcp://127.0.0.1:0\nevents = ipc:///tmp/unused\n%s\n", section);
    ck_assert_int_eq(fclose(file), 0);
    snprintf(command, sizeof command, "%s --check-config --config bad.conf >bad.out 2>&1", DYNAMICSD_PROGRAM);
    run(command);
    snprintf(command, sizeof command, "cat bad.out; grep -q '%s' bad.out", said);
    ck_assert_int_eq(run(command), 0);
}

START_TEST(bad_files_are_refused_with_their_names) {
    char section[512];
    expect_refused("", "tls+tcp://127.0.0.1:0 needs the daemon.s certificate");
    snprintf(section, sizeof section, "[tls]\ncertificate_file = %s/server.crt", directory);
    expect_refused(section, "certificate_file and tls.key_file belong together");
    snprintf(section, sizeof section, "[tls]\ncertificate_file = %s/stale.crt\nkey_file = %s/stale.key", directory,
             directory);
    expect_refused(section, "stale.crt: the certificate has expired");
    snprintf(section, sizeof section, "[tls]\ncertificate_file = %s/server.crt\nkey_file = %s/renewed.key", directory,
             directory);
    expect_refused(section, "renewed.key: the key does not belong to the certificate");
    snprintf(section, sizeof section, "[tls]\ncertificate_file = %s/server.key\nkey_file = %s/server.key", directory,
             directory);
    expect_refused(section, "server.key: this is no certificate in PEM");
    ck_assert_int_eq(run("cp server.key loose.key && chmod 644 loose.key"), 0);
    snprintf(section, sizeof section, "[tls]\ncertificate_file = %s/server.crt\nkey_file = %s/loose.key", directory,
             directory);
    expect_refused(section, "every user may read or write this key");
}
END_TEST

/* Connects without TLS, sends bytes and closes at once. */
static void disturb(const void *bytes, size_t size) {
    char plain[96];
    snprintf(plain, sizeof plain, "%s", request + strlen("tls+"));
    sp_peer peer = sp_connect(plain);
    sp_send_bytes(&peer, bytes, size);
    sp_close(&peer);
}

START_TEST(peers_without_tls_disturb_nobody) {
    uint8_t greeting[SP_GREETING_SIZE];
    static const uint8_t half[] = {0x16, 3, 1, 2, 0, 1, 0, 1};
    sp_greeting(SP_REQ, greeting);
    for (int i = 0; i < BAD_PEERS; i++) {
        disturb(greeting, 0);
        disturb(greeting, sizeof greeting);
        disturb(half, sizeof half);
    }
    expect_served();
    char *log = daemon_log(&served);
    ck_assert_ptr_null(strstr(log, "was created again"));
    free(log);
}
END_TEST

START_TEST(a_client_without_a_certificate_is_the_user_of_the_machine) {
    char own[32];
    dyn_client *client = open_client(NULL);
    snprintf(own, sizeof own, "uid:%u", (unsigned)geteuid());
    expect_caller(client, own);
    dyn_client_close(client);
    expect_served();
    client = open_client("rival"); /* a certificate that is not valid gives no name */
    expect_caller(client, own);
    dyn_client_close(client);
}
END_TEST

/* Announces a message of 1 MB over TLS and sends its first bytes only. */
START_TEST(half_a_message_over_tls_closes_the_connection_in_time) {
    char command[512];
    snprintf(command, sizeof command,
             "(printf '\\000SP\\000\\000\\060\\000\\000\\000\\000\\000\\000\\000\\020\\000\\000half'; sleep 20) | "
             "timeout 10 openssl s_client -quiet -connect %s >half.out 2>&1; test $? -ne 124",
             request + strlen("tls+tcp://"));
    ck_assert_int_eq(run(command), 0);
    char *log = daemon_log(&served);
    ck_assert_ptr_nonnull(strstr(log, "a message did not arrive whole in time"));
    free(log);
    expect_served();
}
END_TEST

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "--stranger") == 0) {
        snprintf(directory, sizeof directory, "%s", arguments[2]);
        snprintf(request, sizeof request, "%s", arguments[3]);
        return act_as_stranger();
    }
    TCase *strict = tcase_create("with certificates of clients");
    tcase_set_timeout(strict, 120);
    tcase_add_unchecked_fixture(strict, start, stop);
    tcase_add_test(strict, a_batch_is_the_same_over_tls_and_over_a_unix_socket);
    tcase_add_test(strict, events_and_points_pass_over_tls);
    tcase_add_test(strict, clients_without_common_trust_are_refused);
    tcase_add_test(strict, the_name_of_the_daemon_is_compared);
    tcase_add_test(strict, settings_of_an_address_are_checked);
    if (geteuid() == 0) { /* changing the user needs root */
        tcase_add_test(strict, a_certificate_gives_its_holder_a_role);
    }
    tcase_add_test(strict, a_reload_changes_the_certificate_and_keeps_connections);
    tcase_add_test(strict, bad_files_are_refused_with_their_names);
    tcase_add_test(strict, peers_without_tls_disturb_nobody);
    TCase *open = tcase_create("without");
    tcase_set_timeout(open, 120);
    tcase_add_unchecked_fixture(open, start_open, stop);
    tcase_add_test(open, a_client_without_a_certificate_is_the_user_of_the_machine);
    tcase_add_test(open, half_a_message_over_tls_closes_the_connection_in_time);
    int failed = run_unforked("tls", strict);
    return run_unforked("tls", open) || failed;
}
