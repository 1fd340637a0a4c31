/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the configuration file: which values are accepted, and which errors name the line and the value.
 */
#include "config_derived.h"
#include "config_file.h"
#include "config_keys.h"
#include "config_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/server/support.h"

static char path[] = "/tmp/dynamicsd-config-XXXXXX";
static char error[CONFIG_ERROR_SIZE];

/* Writes a text to a temporary file and reads it as a configuration file. Returns false, with a message in `error`, if
 * it is refused. */
static bool read_text(const char *text, config *c) {
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq((int)write(descriptor, text, strlen(text)), (int)strlen(text));
    close(descriptor);
    bool is_good = config_read(path, c, error);
    unlink(path);
    return is_good;
}

/* Checks that a text is refused with an error that names the line and contains these words. */
static void check_refused(const char *text, int line, const char *words) {
    config c;
    char place[64];
    ck_assert_msg(!read_text(text, &c), "accepted: %s", text);
    snprintf(place, sizeof place, "%s:%d: ", path, line);
    ck_assert_msg(strncmp(error, place, strlen(place)) == 0, "%s does not start with %s", error, place);
    ck_assert_msg(strstr(error, words) != NULL, "\"%s\" does not say \"%s\"", error, words);
    ck_assert_ptr_null(c.rules);
}

START_TEST(empty_file_gives_the_defaults) {
    config expected, c;
    config_init(&expected);
    ck_assert(read_text("# nothing\n", &c));
    ck_assert_mem_eq(&c, &expected, sizeof c);
}
END_TEST

START_TEST(shipped_configuration_states_the_defaults) {
    config expected, c;
    config_init(&expected);
    ck_assert_msg(config_read(DYNAMICS_CONFIG, &c, error), "%s", error);
    ck_assert_uint_eq(c.rule_count, 1);
    ck_assert_str_eq(c.rules[0].name, "quadruped");
    ck_assert_int_eq(c.rules[0].options.base, DYN_BASE_FLOATING);
    config_free(&c);
    memcpy(c.origins, expected.origins, sizeof c.origins);
    ck_assert_mem_eq(&c, &expected, sizeof c);
}
END_TEST

/* Returns the listed setting of that name. */
static const setting *find_setting(const setting_list *list, const char *section, const char *key) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->settings[i].section, section) == 0 && strcmp(list->settings[i].key, key) == 0) {
            return &list->settings[i];
        }
    }
    ck_abort_msg("there is no setting %s.%s", section, key);
    return NULL;
}

START_TEST(settings_state_the_values_of_the_file_and_their_lines) {
    static const struct {
        const char *section, *key, *value;
        setting_origin origin;
        unsigned line;
    } expected[] = {
        {"endpoints", "request", "ipc:///tmp/a tcp://127.0.0.1:1", SETTING_FILE, 2},
        {"endpoints", "ingest", "ipc:///tmp/a.ingest tcp://127.0.0.1:0", SETTING_DERIVED, 0},
        {"endpoints", "ipc_mode", "0600", SETTING_FILE, 3},
        {"models", "directory", "/tmp/one\n/tmp/two", SETTING_FILE, 5},
        {"models", "strict", "yes", SETTING_FILE, 7},
        {"limits", "message_bytes", "4 KiB", SETTING_FILE, 9},
        {"limits", "samples", "1000000", SETTING_DEFAULT, 0},
        {"limits", "reply_time", "0.25", SETTING_FILE, 10},
        {"log", "format", "json", SETTING_FILE, 12},
        {"access", "users", "0 @0", SETTING_FILE, 14},
        {"access", "readers", "", SETTING_DEFAULT, 0},
        {"access", "tcp", "reader", SETTING_FILE, 15},
    };
    config c;
    setting_list list;
    settings_init(&list);
    ck_assert_msg(read_text("[endpoints]\nrequest = ipc:///tmp/a tcp://127.0.0.1:1\nipc_mode = 0600\n"
                            "[models]\ndirectory = /tmp/one\n  /tmp/two\nstrict = yes\n"
                            "[limits]\nmessage_bytes = 4096\nreply_time = 0.25\n[log]\nformat = json\n"
                            "[access]\nusers = 0 @0\ntcp = reader\n",
                            &c),
                  "%s", error);
    ck_assert(config_derive_ingest(&c, error));
    ck_assert(config_list_settings(&c, path, &list));
    ck_assert_str_eq(list.file, path);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const setting *found = find_setting(&list, expected[i].section, expected[i].key);
        ck_assert_str_eq(found->value, expected[i].value);
        ck_assert_int_eq(found->origin, expected[i].origin);
        ck_assert_uint_eq(found->line, expected[i].line);
    }
    ck_assert(find_setting(&list, "server", "workers")->is_fixed);
    ck_assert(!find_setting(&list, "limits", "samples")->is_fixed);
    settings_free(&list);
    config_free(&c);
}
END_TEST

START_TEST(pages_have_one_numeric_address) {
    config c;
    static const char *const good[] = {"", "tcp://127.0.0.1:0", "tcp://localhost:1", "tcp://[::]:65535",
                                       "tcp://0.0.0.0:9"};
    static const char *const bad[] = {"ipc:///run/x", "tcp://example.org:80", "tcp://[::1:80", "tcp://1.2.3:80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[128];
        snprintf(text, sizeof text, "[observe]\nlisten = %s\n", good[i]);
        ck_assert_msg(read_text(text, &c), "%s", error);
        ck_assert_uint_eq(c.observe.count, i > 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, "[observe]\nlisten = %s\n", bad[i]);
        check_refused(text, 2, bad[i]);
    }
    check_refused("[observe]\nlisten = 127.0.0.1:80\n", 2, "127.0.0.1:80");
    check_refused("[observe]\nlisten = tcp://127.0.0.1:1 tcp://127.0.0.1:2\n", 2, "names 2 addresses");
}
END_TEST

START_TEST(a_model_may_be_read_more_or_less_strictly_than_the_others) {
    config c;
    ck_assert_msg(read_text("[model a]\nstrict = no\n[model b]\nbase = fixed\n[models]\nstrict = yes\n", &c), "%s",
                  error);
    ck_assert(c.strict && !c.rules[0].options.strict && c.rules[1].options.strict);
    config_free(&c);
    ck_assert_msg(read_text("[model a]\nstrict = yes\n[model b]\nbase = fixed\n", &c), "%s", error);
    ck_assert(!c.strict && c.rules[0].options.strict && !c.rules[1].options.strict);
    config_free(&c);
    check_refused("[models]\nstrict = maybe\n", 2, "strict = maybe");
    check_refused("[model a]\nstrict = maybe\n", 2, "strict = maybe");
}
END_TEST

START_TEST(every_key_has_a_value) {
    config c;
    ck_assert_msg(
        read_text("[endpoints]\nrequest = ipc:///a tcp://127.0.0.1:1\n  tcp://[::1]:2\nevents =\nipc_mode = 600\n"
                  "[models]\ndirectory = /d\n  /e f\nstrict = yes\n"
                  "[model arm]\nfile = x.urdf\nbase = floating\nmimic = independent\ngravity = 0 1 -2.5\n"
                  "[limits]\nmessage_bytes = 1 MiB\nreply_bytes = 65536\nsamples = 5\nmodels = 6\nlinks = 7\n"
                  "connections = 8\npeer_connections = 3\nrequest_time = 0.5\nidle_time = 9\nreply_time = 2\n"
                  "message_time = 4\nmemory_bytes = 10 MiB\n"
                  "jobs = 9\njob_time = 100\njob_bytes = 1 MiB\njob_result_time = 11\n"
                  "[server]\nworkers = 3\ncontexts = 64\ndrain_time = 0\n"
                  "[log]\nlevel = debug\nformat = json\n"
                  "[health]\nprobe_interval = 1\nprobe_timeout = 3\nworker_time = 7\n"
                  "[observe]\nlisten = tcp://[::1]:7403\n",
                  &c),
        "%s", error);
    ck_assert_uint_eq(c.request.count, 3);
    ck_assert_str_eq(c.request.address[2], "tcp://[::1]:2");
    ck_assert_uint_eq(c.events.count, 0);
    ck_assert_uint_eq(c.ipc_mode, 0600);
    ck_assert_uint_eq(c.directories.count, 2);
    ck_assert_str_eq(c.directories.path[0], "/d");
    ck_assert_str_eq(c.directories.path[1], "/e f");
    ck_assert(c.strict);
    ck_assert(c.rules[0].options.strict);
    ck_assert_uint_eq(c.rule_count, 1);
    ck_assert_str_eq(c.rules[0].file, "x.urdf");
    ck_assert_int_eq(c.rules[0].options.mimic, DYN_MIMIC_POLICY_INDEPENDENT);
    ck_assert(c.rules[0].options.has_gravity);
    ck_assert_double_eq(c.rules[0].options.gravity[2], -2.5);
    ck_assert_uint_eq(c.message_bytes, 1 << 20);
    ck_assert_uint_eq(c.reply_bytes, 65536);
    ck_assert_uint_eq(c.samples, 5);
    ck_assert_uint_eq(c.models, 6);
    ck_assert_uint_eq(c.links, 7);
    ck_assert_uint_eq(c.connections, 8);
    ck_assert_double_eq(c.request_time, 0.5);
    ck_assert_double_eq(c.idle_time, 9);
    ck_assert_double_eq(c.reply_time, 2);
    ck_assert_uint_eq(c.peer_connections, 3);
    ck_assert_double_eq(c.message_time, 4);
    ck_assert_uint_eq(c.memory_bytes, 10 << 20);
    ck_assert_uint_eq(c.jobs, 9);
    ck_assert_double_eq(c.job_time, 100);
    ck_assert_uint_eq(c.job_bytes, 1 << 20);
    ck_assert_double_eq(c.job_result_time, 11);
    ck_assert_uint_eq(c.observe.count, 1);
    ck_assert_str_eq(c.observe.address[0], "tcp://[::1]:7403");
    ck_assert_uint_eq(c.workers, 3);
    ck_assert_uint_eq(c.contexts, 64);
    ck_assert_double_eq(c.drain_time, 0);
    ck_assert_int_eq(c.level, LOG_LEVEL_DEBUG);
    ck_assert_int_eq(c.format, LOG_FORMAT_JSON);
    ck_assert_double_eq(c.probe_interval, 1);
    ck_assert_double_eq(c.probe_timeout, 3);
    ck_assert_double_eq(c.worker_time, 7);
    config_free(&c);
}
END_TEST

START_TEST(misspelled_keys_are_reported_with_the_nearest_key) {
    check_refused("[limits]\nsampels = 5\n", 2, "did you mean \"samples\"?");
    check_refused("[limit]\nsamples = 5\n", 1, "did you mean [limits]?");
    check_refused("\n\nsamples = 5\n", 3, "write [limits] above it");
    check_refused("[server]\nsamples = 5\n", 2, "belongs to the section [limits]");
    check_refused("[limits]\nsamples\n", 2, "key = value");
    check_refused("[limits\nsamples = 5\n", 1, "[section]");
    check_refused("[zzzzzzzz]\na = 5\n", 1, "the sections are");
    check_refused("\xef\xbb\xbf[limit]\n", 1, "did you mean [limits]?");
    check_refused("[limits]\nsamples = 5\n\n[serve]\n", 4, "did you mean [server]?");
    check_refused("  [serve]\n", 1, "did you mean [server]?");
    check_refused("[endpoints]\nrequest = ipc:///a\n  [serve]\n", 3, "is no endpoint");
    check_refused("[model a]\nbse = fixed\n", 2, "the keys are file, base, mimic, gravity and strict");
}
END_TEST

START_TEST(memory_must_hold_the_largest_request_and_its_reply) {
    config c;
    check_refused("[limits]\nmemory_bytes = 512 MiB\n", 2, "message_bytes = 67108864");
    check_refused("[limits]\nmemory_bytes = 512 MiB\n", 2, "reply_bytes = 268435456");
    check_refused("[limits]\nmemory_bytes = 12 MiB\nmessage_bytes = 1 MiB\nreply_bytes = 2 MiB\n", 4, "13631488");
    ck_assert(read_text("[limits]\nmemory_bytes = 13 MiB\nmessage_bytes = 1 MiB\nreply_bytes = 2 MiB\n", &c));
    config_free(&c);
    ck_assert(read_text("[limits]\nmessage_bytes = 1 MiB\nreply_bytes = 2 MiB\n", &c));
    ck_assert(!config_fit_memory(&c, 26 << 20));
    ck_assert_uint_eq(c.memory_bytes, 13 << 20);
    ck_assert_uint_eq(c.message_bytes, 1 << 20);
    config_free(&c);
    ck_assert(read_text("", &c));
    ck_assert(config_fit_memory(&c, 512 << 20));
    ck_assert_uint_eq(c.memory_bytes, 256 << 20);
    ck_assert_uint_le(5 * c.message_bytes + 2 * c.reply_bytes + (4 << 20), c.memory_bytes);
    ck_assert_uint_gt(5 * c.message_bytes + 2 * c.reply_bytes + (5 << 20), c.memory_bytes);
    config_free(&c);
}
END_TEST

START_TEST(a_nats_server_is_an_endpoint_for_requests_only) {
    config c;
    ck_assert_msg(read_text("[endpoints]\nrequest = ipc:///tmp/x nats://a:4222\n[nats]\nreplica = arm-1\n", &c), "%s",
                  error);
    ck_assert_str_eq(c.request.address[1], "nats://a:4222");
    ck_assert_str_eq(c.nats.replica, "arm-1");
    ck_assert(config_derive_ingest(&c, error));
    ck_assert_uint_eq(c.ingest.count, 1);
    config_free(&c);
    check_refused("[endpoints]\nevents = nats://a:4222\n", 2, "name it in endpoints.request only");
    check_refused("[endpoints]\nrequest = nats://\n", 2, "no endpoint");
    check_refused("[nats]\nreplica = a.b\n", 2, "letters, digits");
    check_refused("[nats]\nnkey = UABC\n", 2, "nats.nkey_seed_file");
    check_refused("[nats]\nkey_file = /k\n", 2, "belong together");
}
END_TEST

START_TEST(bad_values_are_reported_with_the_allowed_ones) {
    check_refused("[limits]\nsamples = -1\n", 2, "from 1 to");
    check_refused("[limits]\nsamples = 1e3\n", 2, "whole number");
    check_refused("[limits]\nsamples =\n", 2, "whole number");
    check_refused("[limits]\nsamples = 99999999999999999999\n", 2, "whole number");
    check_refused("[limits]\nmessage_bytes = 64 MB\n", 2, "64 MiB");
    check_refused("[limits]\nmessage_bytes = 99999999999 GiB\n", 2, "4096");
    check_refused("[limits]\nrequest_time = nan\n", 2, "seconds from");
    check_refused("[limits]\nrequest_time = 5 s\n", 2, "seconds from");
    check_refused("[server]\ncontexts = 0\n", 2, "from 8 to 4096");
    check_refused("[log]\nlevel = loud\n", 2, "error, warning, info or debug");
    check_refused("[endpoints]\nipc_mode = 0888\n", 2, "octal");
    check_refused("[endpoints]\nrequest = ipc://relative\n", 2, "ipc:///absolute/path");
    check_refused("[endpoints]\nrequest = tcp://127.0.0.1\n", 2, "tcp://address:port");
    check_refused("[endpoints]\nrequest = tcp://127.0.0.1:99999\n", 2, "tcp://address:port");
    check_refused("[endpoints]\nrequest = http://a:1\n", 2, "is no endpoint");
    check_refused("[endpoints]\nrequest = ipc:///a ipc:///a\n", 2, "named twice");
    check_refused("[endpoints]\nrequest = ipc:///a:0 ipc:///a:0\n", 2, "named twice");
    check_refused("[endpoints]\nrequest = tcp://[::0]:7400 tcp://[::0]:7400\n", 2, "named twice");
    check_refused("[endpoints]\nrequest = ipc:///a\nevents = ipc:///a\n", 3, "choose two");
    check_refused("[endpoints]\nrequest = ipc:///a:0\nevents = ipc:///a:0\n", 3, "choose two");
    check_refused("[endpoints]\nrequest =\n", 2, "names no endpoint");
    check_refused("[models]\ndirectory = robots\n", 2, "absolute path");
    check_refused("[models]\ndirectory = /a\n  b\n", 3, "absolute path");
    check_refused("[models]\ndirectory = /a\n  /b\n  /c\n  /d\n  /e\n", 6, "4 directories already");
    check_refused("[model a]\nbase = flying\n", 2, "fixed or floating");
    check_refused("[model a.b]\nbase = fixed\n", 2, "names of models have none");
    check_refused("[model a]\ngravity = 0 0\n", 2, "three numbers");
    check_refused("[model a]\ngravity = 0 0 inf\n", 2, "three numbers");
}
END_TEST

/* Returns a configuration of one endpoint whose path has `length` bytes, in a static buffer. */
static const char *write_path(size_t length) {
    static char text[256];
    int used = snprintf(text, sizeof text, "[endpoints]\nrequest = ipc://");
    memset(text + used, 'p', length);
    text[used] = '/';
    snprintf(text + used + length, sizeof text - (size_t)used - length, "\n");
    return text;
}

START_TEST(path_of_a_socket_is_refused_if_the_system_would_refuse_it) {
    config c;
    check_refused(write_path(TRANSPORT_PATH_LENGTH + 1), 2, "has 97 bytes, more than the 96 that a socket allows");
    ck_assert_msg(read_text(write_path(TRANSPORT_PATH_LENGTH), &c), "%s", error);
    ck_assert(!config_derive_ingest(&c, error));
    ck_assert_msg(strstr(error, ".ingest: the path of the socket for streams has 103 bytes") != NULL, "%s", error);
    config_free(&c);
    ck_assert_msg(read_text(write_path(TRANSPORT_PATH_LENGTH - strlen(".ingest")), &c), "%s", error);
    ck_assert_msg(config_derive_ingest(&c, error), "%s", error);
    config_free(&c);
}
END_TEST

START_TEST(values_that_are_read_at_the_start_are_kept_and_named) {
    config running, next;
    char changed[256];
    ck_assert(read_text("[server]\nworkers = 3\n[compile]\ntime = 5\n", &running));
    ck_assert(config_derive_ingest(&running, error));
    ck_assert(read_text("[endpoints]\nrequest = ipc:///a\n[server]\nworkers = 4\n[compile]\ntime = 5\n"
                        "[limits]\nsamples = 7\n[simulations]\nstate_directory = /s\n",
                        &next));
    ck_assert(config_derive_ingest(&next, error));
    ck_assert_uint_eq(config_keep_fixed(&running, &next, changed, sizeof changed), 3);
    ck_assert_str_eq(changed, "endpoints.request, simulations.state_directory, server.workers");
    ck_assert_uint_eq(next.samples, 7);
    ck_assert_uint_eq(next.workers, 3);
    ck_assert_str_eq(next.state_directory, "/var/lib/dynamicsd");
    ck_assert_uint_eq(config_keep_fixed(&running, &next, changed, sizeof changed), 0);
    ck_assert_str_eq(changed, "");
    next.contexts++;
    next.workers++;
    ck_assert_uint_eq(config_keep_fixed(&running, &next, changed, 20), 2);
    ck_assert_str_eq(changed, "server.workers, ser");
    config_free(&running);
    config_free(&next);
}
END_TEST

START_TEST(first_error_is_the_one_that_is_reported) {
    check_refused("[limits]\nsamples = 0\nlinks = 0\nx = y\n", 2, "samples");
}
END_TEST

START_TEST(key_may_be_set_once) {
    check_refused("[limits]\nsamples = 5\nmodels = 3\nsamples = 6\n", 4, "already in line 2");
}
END_TEST

START_TEST(long_line_is_refused_and_not_cut) {
    char text[1200] = "[endpoints]\nrequest =";
    while (strlen(text) < 400) {
        strcat(text, " tcp://127.0.0.1:1");
    }
    strcat(text, "\n");
    check_refused(text, 2, "more than");
}
END_TEST

START_TEST(unreadable_file_is_named) {
    config c;
    ck_assert(!config_read("/nonexistent/dynamicsd.conf", &c, error));
    ck_assert_ptr_nonnull(strstr(error, "/nonexistent/dynamicsd.conf: No such file"));
    ck_assert(!config_read("/", &c, error));
    ck_assert_ptr_nonnull(strstr(error, "Is a directory"));
}
END_TEST

START_TEST(random_changes_are_accepted_or_refused_with_a_line) {
    random_source random = random_seed("random changes are accepted or refused with a line", 5);
    char original[8192], text[8192];
    FILE *file = fopen(DYNAMICS_CONFIG, "re");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(original, 1, sizeof original - 1, file);
    fclose(file);
    for (int round = 0; round < 2000; round++) {
        config c;
        memcpy(text, original, length);
        text[length] = '\0';
        for (int k = random_index(&random, 8); k >= 0; k--) {
            text[random_index(&random, (int)length)] = (char)(1 + random_index(&random, 255));
        }
        if (read_text(text, &c)) {
            config_free(&c);
        } else {
            ck_assert_int_eq(strncmp(error, path, strlen(path)), 0);
            ck_assert_int_gt(atoi(error + strlen(path) + 1), 0);
        }
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("config");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, empty_file_gives_the_defaults);
    tcase_add_test(tests, shipped_configuration_states_the_defaults);
    tcase_add_test(tests, settings_state_the_values_of_the_file_and_their_lines);
    tcase_add_test(tests, every_key_has_a_value);
    tcase_add_test(tests, pages_have_one_numeric_address);
    tcase_add_test(tests, a_model_may_be_read_more_or_less_strictly_than_the_others);
    tcase_add_test(tests, misspelled_keys_are_reported_with_the_nearest_key);
    tcase_add_test(tests, memory_must_hold_the_largest_request_and_its_reply);
    tcase_add_test(tests, a_nats_server_is_an_endpoint_for_requests_only);
    tcase_add_test(tests, bad_values_are_reported_with_the_allowed_ones);
    tcase_add_test(tests, path_of_a_socket_is_refused_if_the_system_would_refuse_it);
    tcase_add_test(tests, values_that_are_read_at_the_start_are_kept_and_named);
    tcase_add_test(tests, first_error_is_the_one_that_is_reported);
    tcase_add_test(tests, key_may_be_set_once);
    tcase_add_test(tests, long_line_is_refused_and_not_cut);
    tcase_add_test(tests, unreadable_file_is_named);
    tcase_add_test(tests, random_changes_are_accepted_or_refused_with_a_line);
    return run_tests(tests);
}
