/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users, tokens, NKeys, credentials and certificates of a NATS server: the daemon and a client connect with each of
 * them, and without them neither does.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"
#include "system/load.h"
#include "system/runner.h"

static const char KEYS[] = DYNAMICS_TEST_DATA "/nats";

static char directory[64];

static void start(void) {
    snprintf(directory, sizeof directory, "/tmp/dynamicsd-access-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void stop(void) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* Writes a file of the directory of the test. */
static void write_file(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, 0600), 0);
}

/* Reads a file of the test data. */
static void read_key(const char *name, char *text, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", KEYS, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s", path);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    ck_assert_uint_lt(length, size - 1);
    fclose(file);
}

/* One way to prove who one is: configuration of the NATS server, section of the daemon, and addresses of the client:
 * parts before and after the host and the port. */
typedef struct proof {
    const char *server, *section, *before, *after;
    const char *wrong_before, *wrong_after; /* of a client that the server refuses */
    const char *refusal;                    /* part of the client's message */
    const char *secret;                     /* text that no message may contain; NULL: none */
} proof;

/* Connects a client to the server at `port`. */
static dyn_client_status connect_to(int port, const char *before, const char *after, dyn_client **client,
                                    dyn_client_error *error) {
    char url[1024];
    snprintf(url, sizeof url, "%slocalhost:%d%s", before, port, after);
    return dyn_client_connect(url, NULL, client, error);
}

/* Starts a server and a daemon, and asks with the proof and without it. */
static void check_proof(const proof *p) {
    nats_server server;
    daemon_fixture daemon;
    dyn_client *client;
    dyn_client_error error;
    char url[96];
    nats_server_start_with(&server, p->server);
    snprintf(url, sizeof url, "nats://localhost:%d", server.port);
    daemon_start(&(daemon_options){.nats = url, .configuration = p->section}, &daemon);
    ck_assert_msg(connect_to(server.port, p->before, p->after, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    ck_assert_msg(load_ask(client, LOAD_SAMPLES, 1, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(client);
    dyn_client_status status = connect_to(server.port, p->wrong_before, p->wrong_after, &client, &error);
    ck_assert_msg(status == DYN_CLIENT_PERMISSION_DENIED || status == DYN_CLIENT_UNREACHABLE, "%d", status);
    ck_assert_msg(strstr(error.message, p->refusal) != NULL, "%s", error.message);
    ck_assert(!p->secret || !strstr(error.message, p->secret));
    daemon_stop(&daemon);
    daemon_start(&(daemon_options){.nats = url}, &daemon);
    ck_assert_int_ne(connect_to(server.port, p->before, p->after, &client, &error), DYN_CLIENT_OK);
    ck_assert_msg(strstr(error.message, "no dynamicsd answers") != NULL, "%s", error.message);
    char *log = daemon_log(&daemon);
    ck_assert_msg(strstr(log, "no NATS server answers yet") != NULL, "%s", log);
    free(log);
    daemon_stop(&daemon);
    nats_server_stop(&server);
}

START_TEST(a_user_and_a_password_from_a_file_are_accepted) {
    char section[256];
    write_file("user", "robots:open-sesame\n");
    snprintf(section, sizeof section, "[nats]\nuser_file = %s/user\n", directory);
    check_proof(&(proof){.server = "authorization { user: robots, password: \"open-sesame\" }",
                         .section = section,
                         .before = "nats://robots:open-sesame@",
                         .after = "",
                         .wrong_before = "nats://robots:closed@",
                         .wrong_after = "",
                         .refusal = "refuses the user",
                         .secret = "closed"});
}
END_TEST

START_TEST(a_token_from_a_file_is_accepted) {
    char section[256];
    write_file("token", "s3cr3t\n");
    snprintf(section, sizeof section, "[nats]\ntoken_file = %s/token\n", directory);
    check_proof(&(proof){.server = "authorization { token: s3cr3t }",
                         .section = section,
                         .before = "nats://s3cr3t@",
                         .after = "",
                         .wrong_before = "nats://an0ther@",
                         .wrong_after = "",
                         .refusal = "refuses the user",
                         .secret = "an0ther"});
}
END_TEST

START_TEST(an_nkey_and_its_seed_are_accepted) {
    char nkey[96], server[256], section[768], after[768];
    read_key("user.nkey", nkey, sizeof nkey);
    nkey[strcspn(nkey, "\n")] = '\0';
    snprintf(server, sizeof server, "authorization { users: [ { nkey: %s } ] }", nkey);
    snprintf(section, sizeof section, "[nats]\nnkey = %s\nnkey_seed_file = %s/user.seed\n", nkey, KEYS);
    snprintf(after, sizeof after, "?nkey=%s&nkey_seed=%s/user.seed", nkey, KEYS);
    check_proof(&(proof){.server = server,
                         .section = section,
                         .before = "nats://",
                         .after = after,
                         .wrong_before = "nats://robots:password@",
                         .wrong_after = "",
                         .refusal = "refuses the user"});
}
END_TEST

START_TEST(credentials_from_a_file_are_accepted) {
    char server[4096], section[512], after[512];
    read_key("operator.conf", server, sizeof server);
    snprintf(section, sizeof section, "[nats]\ncredentials_file = %s/user.creds\n", KEYS);
    snprintf(after, sizeof after, "?credentials=%s/user.creds", KEYS);
    check_proof(&(proof){.server = server,
                         .section = section,
                         .before = "nats://",
                         .after = after,
                         .wrong_before = "nats://",
                         .wrong_after = "",
                         .refusal = "refuses the user"});
}
END_TEST

/* Creates a certificate authority, and certificates of the server and of clients that it signs. */
static void create_certificates(void) {
    static const char script[] =
        "cd '%s' && exec 2>/dev/null && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=authority -keyout ca.key -out ca.pem && echo subjectAltName=DNS:localhost >names && "
        "for who in server client; do openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
        "-subj /CN=$who -keyout $who.key -out $who.request && openssl x509 -req -in $who.request -CA ca.pem "
        "-CAkey ca.key -CAcreateserial -days 2 -extfile names -out $who.pem || exit 1; done";
    char command[1024];
    snprintf(command, sizeof command, script, directory);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_certificate_of_the_authority_is_accepted) {
    char server[512], section[512], after[512];
    create_certificates();
    snprintf(server, sizeof server,
             "tls { cert_file: \"%s/server.pem\", key_file: \"%s/server.key\", ca_file: \"%s/ca.pem\", verify: true }",
             directory, directory, directory);
    snprintf(section, sizeof section,
             "[nats]\nca_file = %s/ca.pem\ncertificate_file = %s/client.pem\nkey_file = %s/client.key\n", directory,
             directory, directory);
    snprintf(after, sizeof after, "?ca=%s/ca.pem&certificate=%s/client.pem&key=%s/client.key", directory, directory,
             directory);
    check_proof(&(proof){.server = server,
                         .section = section,
                         .before = "tls://",
                         .after = after,
                         .wrong_before = "tls://",
                         .wrong_after = "",
                         .refusal = "TLS"});
}
END_TEST

/* Returns how many connections the server has refused. */
static int count_refusals(const nats_server *server) {
    char path[96], line[512];
    int count = 0;
    snprintf(path, sizeof path, "%s/log", server->directory);
    FILE *log = fopen(path, "r");
    ck_assert_ptr_nonnull(log);
    while (fgets(line, sizeof line, log)) {
        count += strstr(line, "authentication error") != NULL;
    }
    fclose(log);
    return count;
}

START_TEST(a_refused_signature_is_repeated_and_a_refused_password_is_not) {
    char nkey[96], after[768];
    nats_server server;
    dyn_client *client;
    dyn_client_error error;
    read_key("user.nkey", nkey, sizeof nkey);
    nkey[strcspn(nkey, "\n")] = '\0';
    snprintf(after, sizeof after, "?nkey=%s&nkey_seed=%s/user.seed", nkey, KEYS);
    nats_server_start_with(&server, "authorization { user: people, password: \"open-sesame\" }");
    ck_assert_int_eq(connect_to(server.port, "nats://", after, &client, &error), DYN_CLIENT_PERMISSION_DENIED);
    ck_assert_int_eq(count_refusals(&server), 4);
    ck_assert_int_eq(connect_to(server.port, "nats://people:closed@", "", &client, &error),
                     DYN_CLIENT_PERMISSION_DENIED);
    ck_assert_int_eq(count_refusals(&server), 5);
    nats_server_stop(&server);
}
END_TEST

START_TEST(an_unknown_part_of_an_address_is_named) {
    static const char *const bad[][2] = {
        {"?color=red", "\"color=red\""}, {"?ca=", "\"ca=\""}, {"?nkey=UABC", "nkey and nkey_seed"}};
    dyn_client *client;
    dyn_client_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(connect_to(4222, "nats://robots:secret@", bad[i][0], &client, &error),
                         DYN_CLIENT_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, "url");
        ck_assert_msg(strstr(error.message, bad[i][1]) != NULL, "%s", error.message);
        ck_assert_msg(!strstr(error.message, "secret"), "%s", error.message);
    }
}
END_TEST

START_TEST(a_refused_daemon_tries_again_until_the_server_knows_its_user) {
    char section[256], url[96];
    nats_server server;
    daemon_fixture daemon;
    dyn_client *client;
    dyn_client_error error = {0};
    write_file("user", "robots:open-sesame\n");
    snprintf(section, sizeof section, "[nats]\nuser_file = %s/user\n", directory);
    nats_server_start_with(&server, "authorization { user: people, password: \"open-sesame\" }");
    snprintf(url, sizeof url, "nats://localhost:%d", server.port);
    daemon_start(&(daemon_options){.nats = url, .configuration = section}, &daemon);
    double end = load_now() + 20;
    for (bool is_told = false; !is_told;) {
        char *log = daemon_log(&daemon);
        is_told = strstr(log, "which tries again in 1 s") && strstr(log, "which tries again in 2 s");
        ck_assert_msg(load_now() < end, "%s", log);
        free(log);
        load_pause(0.05);
    }
    strcpy(server.configuration, "authorization { user: robots, password: \"open-sesame\" }");
    nats_server_restart(&server);
    end = load_now() + 20;
    while (connect_to(server.port, "nats://robots:open-sesame@", "", &client, &error) != DYN_CLIENT_OK) {
        ck_assert_msg(load_now() < end, "%s", error.message);
    }
    ck_assert_msg(load_ask(client, LOAD_SAMPLES, 1, NULL, &error) == DYN_CLIENT_OK, "%s", error.message);
    dyn_client_close(client);
    daemon_stop(&daemon);
    nats_server_stop(&server);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("nats_access");
    TCase *all = tcase_create("nats_access");
    suite_add_tcase(suite, all);
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, start, stop);
    tcase_add_test(all, a_user_and_a_password_from_a_file_are_accepted);
    tcase_add_test(all, a_token_from_a_file_is_accepted);
    tcase_add_test(all, an_nkey_and_its_seed_are_accepted);
    tcase_add_test(all, credentials_from_a_file_are_accepted);
    tcase_add_test(all, a_certificate_of_the_authority_is_accepted);
    tcase_add_test(all, a_refused_daemon_tries_again_until_the_server_knows_its_user);
    tcase_add_test(all, a_refused_signature_is_repeated_and_a_refused_password_is_not);
    tcase_add_test(all, an_unknown_part_of_an_address_is_named);
    return run_suite(suite);
}
