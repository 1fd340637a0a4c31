/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the access: which role the system's facts give to a connection, which tokens are found, and which files of
 * tokens are refused.
 */
#include "access/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/server/support.h"

/* SHA-256 of "abc" and of the empty text, from FIPS 180-2 and NIST's examples. */
#define HASH_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define HASH_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* Users and a group that are neither root nor this process's own. */
enum { ALICE = 61001, BOB = 61002, ROBOTS = 61500 };

static access_guard guard;
static char path[] = "/tmp/dynamicsd-access-XXXXXX";

static void begin(void) {
    access_init(&guard);
}

static void end(void) {
    access_free(&guard);
}

/* Sets a policy with rules "61001" for users and "@61500" for readers. */
static void set_policy(access_role unix_role, access_role tcp_role) {
    char error[ACCESS_ERROR_SIZE];
    access_policy policy = {.unix_role = unix_role, .tcp_role = tcp_role};
    ck_assert_msg(access_add_rules(&policy, ACCESS_USER, " 61001\t", error), "%s", error);
    ck_assert_msg(access_add_rules(&policy, ACCESS_READER, "@61500 root", error), "%s", error);
    ck_assert_msg(access_set(&guard, &policy, error), "%s", error);
}

static access_role role_of_user(bool is_unix, uint32_t user) {
    return access_find_role(&guard, &(access_peer){.is_unix = is_unix, .has_user = true, .user = user});
}

START_TEST(users_and_groups_get_the_highest_of_their_roles) {
    const gid_t groups[] = {3, ROBOTS};
    const access_peer member = {.is_unix = true, .has_user = true, .user = BOB, .groups = groups, .group_count = 2};
    set_policy(ACCESS_NONE, ACCESS_NONE);
    ck_assert_int_eq(role_of_user(true, ALICE), ACCESS_USER);
    ck_assert_int_eq(role_of_user(false, ALICE), ACCESS_USER);
    ck_assert_int_eq(role_of_user(true, BOB), ACCESS_NONE);
    ck_assert_int_eq(access_find_role(&guard, &member), ACCESS_READER);
    set_policy(ACCESS_ADMINISTRATOR, ACCESS_READER);
    ck_assert_int_eq(role_of_user(true, ALICE), ACCESS_ADMINISTRATOR);
    ck_assert_int_eq(role_of_user(false, ALICE), ACCESS_USER);
    ck_assert_int_eq(role_of_user(false, BOB), ACCESS_READER);
}
END_TEST

START_TEST(the_own_user_and_root_are_administrators_without_rules) {
    set_policy(ACCESS_NONE, ACCESS_NONE);
    ck_assert_int_eq(role_of_user(true, (uint32_t)geteuid()), ACCESS_ADMINISTRATOR);
    ck_assert_int_eq(role_of_user(false, (uint32_t)geteuid()), ACCESS_ADMINISTRATOR);
    ck_assert_int_eq(role_of_user(true, 0), ACCESS_ADMINISTRATOR);
    if (geteuid() != 0) {
        ck_assert_int_eq(role_of_user(false, 0), ACCESS_READER); /* by its rule alone */
    }
}
END_TEST

/* A connection whose user is not known must not count as that of user 0. */
START_TEST(an_unknown_user_has_the_role_of_all_others) {
    set_policy(ACCESS_USER, ACCESS_NONE);
    ck_assert_int_eq(access_find_role(&guard, &(access_peer){.is_unix = false}), ACCESS_NONE);
    ck_assert_int_eq(access_find_role(&guard, &(access_peer){.is_unix = true}), ACCESS_USER);
}
END_TEST

START_TEST(rules_for_unknown_users_are_refused) {
    static const char *const wrong[] = {"no-such-user-61", "@no-such-group-61", "-1", "4294967295", "1 2x", "@"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char error[ACCESS_ERROR_SIZE] = "";
        access_policy policy = {0};
        ck_assert_msg(!access_add_rules(&policy, ACCESS_USER, wrong[i], error), "%s is accepted", wrong[i]);
        ck_assert_ptr_nonnull(strstr(error, "the system knows no"));
    }
}
END_TEST

/* Sets a policy with a file of tokens of this text. Returns whether it is accepted. */
static bool set_tokens(const char *text, mode_t mode, char error[ACCESS_ERROR_SIZE]) {
    access_policy policy = {0};
    strcpy(path + strlen(path) - 6, "XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(fchmod(file, mode), 0);
    close(file);
    snprintf(policy.tokens, sizeof policy.tokens, "%s", path);
    bool is_good = access_set(&guard, &policy, error);
    unlink(path);
    return is_good;
}

START_TEST(tokens_are_found_by_their_hash) {
    char error[ACCESS_ERROR_SIZE];
    access_caller caller;
    ck_assert_msg(set_tokens("# planners\n\nplanner user " HASH_ABC "\n  view\treader " HASH_EMPTY "\r\n", 0640, error),
                  "%s", error);
    ck_assert(access_find(&guard, "abc", &caller));
    ck_assert_int_eq(caller.role, ACCESS_USER);
    ck_assert_str_eq(caller.name, "token:planner");
    ck_assert(access_find(&guard, "", &caller));
    ck_assert_str_eq(caller.name, "token:view");
    ck_assert(!access_find(&guard, "abd", &caller));
    ck_assert(!access_find(&guard, HASH_ABC, &caller));
}
END_TEST

START_TEST(a_bad_file_of_tokens_names_its_line_and_changes_nothing) {
    static const struct {
        const char *text, *words;
        mode_t mode;
    } wrong[] = {
        {"a user\n", ":1: write NAME ROLE HASH", 0600},
        {"a user " HASH_ABC " more\n", ":1: write NAME ROLE HASH", 0600},
        {"# one\na root " HASH_ABC "\n", ":2: the role of a token", 0600},
        {"a none " HASH_ABC "\n", ":1: the role of a token", 0600},
        {"a/b user " HASH_ABC "\n", ":1: the name of a token", 0600},
        {"a user abc\n", ":1: the hash of a token", 0600},
        {"a user BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n", ":1: the hash", 0600},
        {"a user " HASH_ABC "\nb user " HASH_ABC "\n", ":2: an earlier line", 0600},
        {"a user " HASH_ABC "\na user " HASH_EMPTY "\n", ":2: an earlier line", 0600},
        {"a user " HASH_ABC "\n", "chmod go-w", 0620},
    };
    access_caller caller;
    char error[ACCESS_ERROR_SIZE];
    ck_assert(set_tokens("first reader " HASH_ABC "\n", 0600, error));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!set_tokens(wrong[i].text, wrong[i].mode, error), "file %zu is accepted", i);
        ck_assert_msg(strstr(error, wrong[i].words) != NULL, "file %zu: %s", i, error);
        ck_assert(access_find(&guard, "abc", &caller));
        ck_assert_str_eq(caller.name, "token:first");
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("access");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, users_and_groups_get_the_highest_of_their_roles);
    tcase_add_test(tests, the_own_user_and_root_are_administrators_without_rules);
    tcase_add_test(tests, an_unknown_user_has_the_role_of_all_others);
    tcase_add_test(tests, rules_for_unknown_users_are_refused);
    tcase_add_test(tests, tokens_are_found_by_their_hash);
    tcase_add_test(tests, a_bad_file_of_tokens_names_its_line_and_changes_nothing);
    return run_tests(tests);
}
