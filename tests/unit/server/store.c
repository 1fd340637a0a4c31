/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the store of the daemon's models: finding, replacing, removing and listing, names, and the reuse of workspaces.
 */
#include "models/store.h"

#include <pthread.h>
#include <string.h>

#include "unit/server/support.h"

/* Changes of the store in the order in which it reports them. */
typedef struct diary {
    model_change changes[16];
    size_t count;
} diary;

static void write_diary(void *context, model_change change, const model_entry *entry) {
    diary *d = context;
    (void)entry;
    d->changes[d->count++] = change;
}

START_TEST(model_is_found_by_name_and_by_digest) {
    model_store *store = model_store_create(8);
    model_entry *ur5 = load_robot("ur5", "arm"), *panda = load_robot("panda", "other");
    ck_assert_int_eq(model_store_insert(store, ur5, NULL, NULL), MODEL_INSERTED);
    ck_assert_int_eq(model_store_insert(store, panda, NULL, NULL), MODEL_INSERTED);
    model_entry *by_name = model_store_find(store, "arm"), *by_digest = model_store_find(store, ur5->digest);
    ck_assert_ptr_eq(by_name, ur5);
    ck_assert_ptr_eq(by_digest, ur5);
    ck_assert_ptr_null(model_store_find(store, "ur5"));
    ck_assert_ptr_null(model_store_find(store, "sha256:00"));
    ck_assert_ptr_null(model_store_find(store, ""));
    model_entry_release(by_name);
    model_entry_release(by_digest);
    model_entry_release(ur5);
    model_entry_release(panda);
    model_store_free(store);
}
END_TEST

START_TEST(digest_depends_on_the_model_and_not_on_its_name) {
    model_entry *a = load_robot("ur5", "a"), *b = load_robot("ur5", "b"), *c = load_robot("panda", "a");
    ck_assert_str_eq(a->digest, b->digest);
    ck_assert_str_ne(a->digest, c->digest);
    ck_assert_uint_eq(strlen(a->digest), DIGEST_SIZE - 1);
    model_entry_release(a);
    model_entry_release(b);
    model_entry_release(c);
}
END_TEST

START_TEST(model_is_replaced_only_on_request) {
    diary d = {.count = 0};
    model_store *store = model_store_create(8);
    model_entry *ur5 = load_robot("ur5", "arm"), *same = load_robot("ur5", "arm"), *panda = load_robot("panda", "arm");
    model_entry *present;
    model_store_listen(store, write_diary, &d);
    ck_assert_int_eq(model_store_insert(store, ur5, NULL, NULL), MODEL_INSERTED);
    ck_assert_int_eq(model_store_insert(store, same, NULL, &present), MODEL_PRESENT);
    ck_assert_ptr_eq(present, ur5);
    model_entry_release(present);
    ck_assert_int_eq(model_store_insert(store, panda, NULL, NULL), MODEL_NAME_TAKEN);
    ck_assert_int_eq(model_store_insert(store, panda, MODEL_ANY, NULL), MODEL_INSERTED);
    ck_assert_uint_eq(model_store_count(store), 1);
    model_entry *removed = model_store_remove(store, "arm");
    ck_assert_ptr_eq(removed, panda);
    model_entry_release(removed);
    ck_assert_ptr_null(model_store_remove(store, "arm"));
    ck_assert_uint_eq(d.count, 3);
    ck_assert_int_eq(d.changes[0], MODEL_LOADED);
    ck_assert_int_eq(d.changes[1], MODEL_REPLACED);
    ck_assert_int_eq(d.changes[2], MODEL_UNLOADED);
    model_entry_release(ur5);
    model_entry_release(same);
    model_entry_release(panda);
    model_store_free(store);
}
END_TEST

/* Checks the parameter `replaced` of model_store_insert: a model replaces only the one that has this digest. */
START_TEST(only_the_expected_model_is_replaced) {
    model_store *store = model_store_create(8);
    model_entry *ur5 = load_robot("ur5", "arm"), *panda = load_robot("panda", "arm"),
                *two = load_robot("two_link", "arm");
    model_entry *present;
    ck_assert_int_eq(model_store_insert(store, panda, ur5->digest, &present), MODEL_NOT_EXPECTED);
    ck_assert_ptr_null(present);
    ck_assert_int_eq(model_store_insert(store, ur5, MODEL_ANY, NULL), MODEL_INSERTED);
    ck_assert_int_eq(model_store_insert(store, panda, two->digest, &present), MODEL_NOT_EXPECTED);
    ck_assert_ptr_eq(present, ur5);
    model_entry_release(present);
    ck_assert_int_eq(model_store_insert(store, panda, ur5->digest, NULL), MODEL_INSERTED);
    ck_assert_int_eq(model_store_insert(store, panda, ur5->digest, NULL), MODEL_PRESENT);
    ck_assert_uint_eq(model_store_count(store), 1);
    model_entry_release(ur5);
    model_entry_release(panda);
    model_entry_release(two);
    model_store_free(store);
}
END_TEST

START_TEST(capacity_is_kept_and_the_list_is_in_order) {
    static const char *const names[] = {"m", "c", "x", "a"};
    model_store *store = model_store_create(3);
    for (size_t i = 0; i < 4; i++) {
        model_entry *entry = load_robot("two_link", names[i]);
        ck_assert_int_eq(model_store_insert(store, entry, NULL, NULL), i < 3 ? MODEL_INSERTED : MODEL_STORE_FULL);
        model_entry_release(entry);
    }
    model_entry **list;
    size_t count;
    ck_assert(model_store_list(store, &list, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(list[0]->name, "c");
    ck_assert_str_eq(list[1]->name, "m");
    ck_assert_str_eq(list[2]->name, "x");
    model_store_release_list(list, count);
    model_store_free(store);
}
END_TEST

START_TEST(model_outlives_its_removal_while_it_is_used) {
    model_store *store = model_store_create(3);
    model_entry *entry = load_robot("two_link", "arm");
    model_store_insert(store, entry, NULL, NULL);
    model_entry_release(entry);
    model_entry *used = model_store_find(store, "arm");
    model_entry_release(model_store_remove(store, "arm"));
    dyn_workspace *workspace;
    dyn_error error;
    double q[2] = {0, 0}, tau[2];
    ck_assert_int_eq(model_entry_lease(used, DYN_PRECISION_DOUBLE, &error, &workspace), DYN_OK);
    ck_assert_int_eq(dyn_gravity(used->model, workspace, 1, NULL, q, tau, &error), DYN_OK);
    model_entry_return(used, workspace);
    model_entry_release(used);
    model_store_free(store);
}
END_TEST

START_TEST(workspace_is_used_again) {
    model_entry *entry = load_robot("two_link", "arm");
    dyn_workspace *first, *second;
    dyn_error error;
    ck_assert_int_eq(model_entry_lease(entry, DYN_PRECISION_DOUBLE, &error, &first), DYN_OK);
    model_entry_return(entry, first);
    ck_assert_int_eq(model_entry_lease(entry, DYN_PRECISION_DOUBLE, &error, &second), DYN_OK);
    ck_assert_ptr_eq(first, second);
    model_entry_return(entry, second);
    model_entry_release(entry);
}
END_TEST

START_TEST(bad_names_are_refused) {
    static const model_options options = {.base = DYN_BASE_FIXED};
    static const char urdf[] = "<robot name='r'><link name='a'/></robot>";
    char longest[MODEL_NAME_SIZE + 1];
    memset(longest, 'n', MODEL_NAME_SIZE);
    longest[MODEL_NAME_SIZE] = '\0';
    const char *names[] = {"a\nb", "sha256:abc", longest, "\x7f"};
    for (size_t i = 0; i < 4; i++) {
        dyn_error error = {0};
        model_entry *entry = NULL;
        ck_assert_int_eq(model_entry_create(urdf, sizeof urdf - 1, names[i], "", &options, 10, &error, &entry),
                         names[i] == longest ? DYN_RESOURCE_EXHAUSTED : DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, "name");
        ck_assert_ptr_null(entry);
    }
}
END_TEST

/* Inserts, finds and removes models of the store many times; several threads run it at once. */
static void *disturb(void *argument) {
    model_store *store = argument;
    for (int i = 0; i < 200; i++) {
        model_entry *entry = load_robot("two_link", i % 2 ? "a" : "b");
        model_store_insert(store, entry, MODEL_ANY, NULL);
        model_entry_release(entry);
        entry = model_store_find(store, "a");
        model_entry_release(entry);
        model_entry_release(model_store_remove(store, "b"));
    }
    return NULL;
}

START_TEST(threads_may_change_the_store_at_once) {
    model_store *store = model_store_create(3);
    pthread_t threads[4];
    model_entry *warm = load_robot("two_link", "a");
    model_entry_release(warm);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, disturb, store), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_uint_le(model_store_count(store), 2);
    model_store_free(store);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("store");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, model_is_found_by_name_and_by_digest);
    tcase_add_test(tests, digest_depends_on_the_model_and_not_on_its_name);
    tcase_add_test(tests, model_is_replaced_only_on_request);
    tcase_add_test(tests, only_the_expected_model_is_replaced);
    tcase_add_test(tests, capacity_is_kept_and_the_list_is_in_order);
    tcase_add_test(tests, model_outlives_its_removal_while_it_is_used);
    tcase_add_test(tests, workspace_is_used_again);
    tcase_add_test(tests, bad_names_are_refused);
    tcase_add_test(tests, threads_may_change_the_store_at_once);
    return run_tests(tests);
}
