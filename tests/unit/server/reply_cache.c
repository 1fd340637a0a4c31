/*
 * Replies to requests that changed the daemon's state.
 */
#include "methods/reply_cache.h"

#include <stdlib.h>
#include <string.h>

#include "unit/server/support.h"

static reply_cache cache;

static void keep(uint64_t client, uint64_t id, size_t size) {
    uint8_t *bytes = calloc(1, size);
    memcpy(bytes, &id, size < sizeof id ? size : sizeof id);
    reply_cache_keep(&cache, client, id, bytes, size);
    free(bytes);
}

START_TEST(reply_is_found_by_client_and_id) {
    keep(1, 7, 100);
    keep(2, 7, 50);
    ck_assert_uint_eq(reply_cache_find(&cache, 1, 7)->size, 100);
    ck_assert_uint_eq(reply_cache_find(&cache, 2, 7)->size, 50);
    ck_assert_ptr_null(reply_cache_find(&cache, 1, 8));
    ck_assert_ptr_null(reply_cache_find(&cache, 3, 7));
    reply_cache_clear(&cache);
    ck_assert_ptr_null(reply_cache_find(&cache, 1, 7));
}
END_TEST

START_TEST(oldest_replies_are_forgotten_first) {
    for (uint64_t id = 1; id <= REPLY_CACHE_ENTRIES + 10; id++) {
        keep(1, id, 8);
    }
    for (uint64_t id = 1; id <= REPLY_CACHE_ENTRIES + 10; id++) {
        ck_assert_int_eq(reply_cache_find(&cache, 1, id) != NULL, id > 10);
    }
    reply_cache_clear(&cache);
}
END_TEST

START_TEST(bytes_are_bounded_and_the_newest_is_kept) {
    random_source random = random_seed("bytes are bounded and the newest is kept", 4);
    for (uint64_t id = 1; id <= 300; id++) {
        size_t size = 1 + (size_t)random_index(&random, REPLY_CACHE_BYTES / 4);
        keep(9, id, size);
        ck_assert_uint_le(cache.bytes, REPLY_CACHE_BYTES);
        ck_assert_uint_eq(reply_cache_find(&cache, 9, id)->size, size);
    }
    keep(9, 5000, REPLY_CACHE_BYTES);
    ck_assert_ptr_null(reply_cache_find(&cache, 9, 5000));
    reply_cache_clear(&cache);
    ck_assert_uint_eq(cache.bytes, 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("reply_cache");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, reply_is_found_by_client_and_id);
    tcase_add_test(tests, oldest_replies_are_forgotten_first);
    tcase_add_test(tests, bytes_are_bounded_and_the_newest_is_kept);
    return run_tests(tests);
}
