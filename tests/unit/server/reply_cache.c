/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the cache of replies to requests that changed the daemon's state: how copies of a request find the reply, and
 * which replies are evicted.
 */
#include "methods/reply_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "unit/server/support.h"

/* Fixed key of the fingerprints, so that the slots in which peers and clients collide are equal in all runs. */
static const fingerprint_key secret = {{3, 4}};

static const transport_identity alice = {TRANSPORT_ORIGIN_USER, 1000}, bob = {TRANSPORT_ORIGIN_IPV4, 0x7f000001};

static reply_cache *cache;

static void create(void) {
    cache = reply_cache_create(&secret);
    ck_assert_ptr_nonnull(cache);
}

static void destroy(void) {
    reply_cache_free(cache);
}

static reply_state enter(const transport_identity *peer, uint64_t client, uint64_t id, reply_waiter *waiter,
                         reply_entry **entry) {
    const reply_request request = {.peer = *peer, .client = client, .bytes = (uint8_t *)&id, .size = sizeof id};
    return reply_cache_enter(cache, &request, waiter, entry);
}

/* Stores a reply of `size` bytes, which begins with the id of the request and has zeros after it. */
static void store(const transport_identity *peer, uint64_t client, uint64_t id, size_t size) {
    reply_entry *entry;
    uint8_t *bytes = calloc(1, size + sizeof id);
    memcpy(bytes, &id, sizeof id);
    ck_assert_int_eq(enter(peer, client, id, NULL, &entry), REPLY_NEW);
    ck_assert_ptr_null(reply_cache_complete(cache, entry, bytes, size));
    free(bytes);
}

/* Returns the size of the stored reply to a request, or 0 if there is none. Checks that the reply begins with the
 * request's id. */
static size_t stored(const transport_identity *peer, uint64_t client, uint64_t id) {
    reply_entry *entry;
    size_t size = 0;
    if (enter(peer, client, id, NULL, &entry) == REPLY_NEW) {
        reply_cache_complete(cache, entry, NULL, 0);
        return 0;
    }
    const uint8_t *bytes = reply_entry_bytes(entry, &size);
    ck_assert_mem_eq(bytes, &id, size < sizeof id ? size : sizeof id);
    reply_cache_release(cache, entry);
    return size;
}

START_TEST(reply_is_found_by_peer_client_and_bytes) {
    store(&alice, 1, 7, 100);
    ck_assert_uint_eq(stored(&alice, 1, 7), 100);
    ck_assert_uint_eq(stored(&bob, 1, 7), 0);
    ck_assert_uint_eq(stored(&alice, 2, 7), 0);
    ck_assert_uint_eq(stored(&alice, 1, 8), 0);
    store(&bob, 1, 7, 50);
    ck_assert_uint_eq(stored(&alice, 1, 7), 100);
    ck_assert_uint_eq(stored(&bob, 1, 7), 50);
}
END_TEST

START_TEST(copies_wait_for_the_reply_to_the_first) {
    reply_entry *entry, *same;
    reply_waiter waiters[3] = {0};
    bool is_listed[3] = {false};
    const uint8_t bytes[] = {7, 0, 0};
    ck_assert_int_eq(enter(&alice, 1, 7, NULL, &entry), REPLY_NEW);
    for (int i = 0; i < 3; i++) {
        waiters[i].owner = &is_listed[i];
        ck_assert_int_eq(enter(&alice, 1, 7, &waiters[i], &same), REPLY_PENDING);
    }
    ck_assert_int_eq(enter(&alice, 1, 7, NULL, &same), REPLY_PENDING);
    for (reply_waiter *w = reply_cache_complete(cache, entry, bytes, sizeof bytes); w; w = w->next) {
        *(bool *)w->owner = true;
    }
    ck_assert(is_listed[0] && is_listed[1] && is_listed[2]);
    ck_assert_uint_eq(stored(&alice, 1, 7), sizeof bytes);
}
END_TEST

START_TEST(request_without_a_reply_is_new_again) {
    reply_entry *entry;
    reply_waiter waiter = {0};
    ck_assert_int_eq(enter(&alice, 1, 7, NULL, &entry), REPLY_NEW);
    ck_assert_int_eq(enter(&alice, 1, 7, &waiter, &entry), REPLY_PENDING);
    ck_assert_ptr_eq(reply_cache_complete(cache, entry, NULL, 0), &waiter);
    ck_assert_int_eq(enter(&alice, 1, 7, NULL, &entry), REPLY_NEW);
    reply_cache_complete(cache, entry, NULL, 0);
}
END_TEST

START_TEST(oldest_replies_of_a_client_are_evicted_first) {
    enum { MORE = 100 };
    for (uint64_t id = 1; id <= REPLY_CACHE_ENTRIES + MORE; id++) {
        store(&alice, 1, id, 8);
    }
    for (uint64_t id = REPLY_CACHE_ENTRIES + MORE; id > MORE; id--) {
        ck_assert_uint_eq(stored(&alice, 1, id), 8);
    }
}
END_TEST

/* Sizes of every eighth reply of a flood: small replies exceed the number of entries, large ones the bytes. */
static const size_t flood_sizes[] = {16, REPLY_CACHE_LARGEST};

START_TEST(flood_of_one_peer_evicts_no_reply_of_another) {
    enum { OWN = 500 };
    for (uint64_t id = 0; id < OWN; id++) {
        store(&alice, 1, id, 100);
    }
    /* Many clients at 256 loopback addresses send the flood, so that each client has few replies. */
    for (uint64_t id = 0; id < (uint64_t)3 * REPLY_CACHE_ENTRIES; id++) {
        const transport_identity loopback = {bob.origin, bob.value + id % 256};
        store(&loopback, 1 + id % 1000, id, id % 8 == 0 ? flood_sizes[_i] : 16);
    }
    for (uint64_t id = 0; id < OWN; id++) {
        ck_assert_uint_eq(stored(&alice, 1, id), 100);
    }
}
END_TEST

START_TEST(flood_of_one_client_evicts_no_reply_of_another_of_its_peer) {
    enum { OWN = 500 };
    for (uint64_t id = 0; id < OWN; id++) {
        store(&alice, 1, id, 100);
    }
    for (uint64_t id = 0; id < (uint64_t)2 * REPLY_CACHE_ENTRIES; id++) {
        store(&alice, 2, id, id % 8 == 0 ? flood_sizes[_i] : 16);
    }
    for (uint64_t id = 0; id < OWN; id++) {
        ck_assert_uint_eq(stored(&alice, 1, id), 100);
    }
}
END_TEST

START_TEST(requests_under_way_and_replies_being_read_are_not_evicted) {
    reply_entry *pending, *read, *same;
    size_t size;
    store(&alice, 1, 1, 100);
    ck_assert_int_eq(enter(&alice, 1, 1, NULL, &read), REPLY_STORED);
    ck_assert_int_eq(enter(&alice, 1, 2, NULL, &pending), REPLY_NEW);
    for (uint64_t id = 3; id < (uint64_t)2 * REPLY_CACHE_ENTRIES; id++) {
        store(&alice, 1, id, 16);
    }
    ck_assert_int_eq(enter(&alice, 1, 2, NULL, &same), REPLY_PENDING);
    ck_assert_ptr_eq(same, pending);
    ck_assert_uint_eq(*reply_entry_bytes(read, &size), 1);
    ck_assert_uint_eq(size, 100);
    reply_cache_release(cache, read);
    ck_assert_uint_eq(stored(&alice, 1, 1), 100);
    reply_cache_complete(cache, pending, (const uint8_t[]){2, 0}, 2);
    ck_assert_uint_eq(stored(&alice, 1, 2), 2);
}
END_TEST

/* Stores `count` large replies, each of REPLY_CACHE_LARGEST bytes less an id, to requests with the ids from 1 on. */
static void store_large(const transport_identity *peer, uint64_t count) {
    for (uint64_t id = 1; id <= count; id++) {
        store(peer, 1, id, REPLY_CACHE_LARGEST - sizeof id);
    }
}

/* Checks that the cache evicts from the peer with the most evictable replies. peers[0] has the most until three of its
 * replies are read, which cannot be evicted; then peers[1] has the most. */
START_TEST(largest_peer_is_found_after_another_has_shrunk) {
    enum { READ = 3 };
    const transport_identity peers[] = {
        {TRANSPORT_ORIGIN_USER, 1}, {TRANSPORT_ORIGIN_USER, 2}, {TRANSPORT_ORIGIN_USER, 3}, {TRANSPORT_ORIGIN_USER, 4}};
    reply_entry *read[READ];
    store_large(&peers[1], 5);
    store_large(&peers[0], 6);
    for (uint64_t id = 1; id <= READ; id++) {
        ck_assert_int_eq(enter(&peers[0], 1, id, NULL, &read[id - 1]), REPLY_STORED);
    }
    store_large(&peers[2], 4);
    store_large(&peers[3], 4); /* exceeds the bound: peers[1] has 5 evictable replies, peers[0] 3, the others 4 */
    ck_assert_uint_eq(stored(&peers[1], 1, 1), 0);
    for (uint64_t id = 1; id <= 4; id++) {
        ck_assert_uint_gt(stored(&peers[2], 1, id), 0);
        ck_assert_uint_gt(stored(&peers[3], 1, id), 0);
    }
    for (int i = 0; i < READ; i++) {
        reply_cache_release(cache, read[i]);
    }
}
END_TEST

START_TEST(bytes_are_bounded_and_the_newest_is_stored) {
    random_source random = random_seed("bytes are bounded and the newest is stored", 4);
    size_t sizes[300], total = 0;
    for (uint64_t id = 0; id < 300; id++) {
        sizes[id] = 1 + (size_t)random_index(&random, REPLY_CACHE_LARGEST);
        store(&alice, 9, id, sizes[id]);
        ck_assert_uint_eq(stored(&alice, 9, id), sizes[id]);
    }
    for (uint64_t id = 0; id < 300; id++) {
        total += stored(&alice, 9, id);
    }
    ck_assert_uint_le(total, REPLY_CACHE_BYTES);
    ck_assert_uint_gt(total, REPLY_CACHE_BYTES / 2);
}
END_TEST

/* Threads that send equal requests, so few that the cache stores all replies: each request is new to exactly one of the
 * threads. */
enum { THREADS = 4, ROUNDS = 5, REQUESTS = REPLY_CACHE_ENTRIES / 2 };

static pthread_barrier_t begin;

static atomic_uint executions, wrong;

static void *enter_requests(void *argument) {
    (void)argument;
    pthread_barrier_wait(&begin);
    for (uint64_t id = 1; id <= REQUESTS; id++) {
        reply_entry *entry;
        size_t size;
        switch (enter(&alice, 1, id, NULL, &entry)) {
        case REPLY_NEW:
            atomic_fetch_add(&executions, 1);
            reply_cache_complete(cache, entry, (uint8_t *)&id, sizeof id);
            break;
        case REPLY_STORED:
            atomic_fetch_add(&wrong, memcmp(reply_entry_bytes(entry, &size), &id, sizeof id) != 0);
            reply_cache_release(cache, entry);
            break;
        case REPLY_PENDING:
            break;
        }
    }
    return NULL;
}

START_TEST(request_is_new_to_one_thread) {
    ck_assert_int_eq(pthread_barrier_init(&begin, NULL, THREADS), 0);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        destroy();
        create();
        atomic_store(&executions, 0);
        for (int i = 0; i < THREADS; i++) {
            ck_assert_int_eq(pthread_create(&threads[i], NULL, enter_requests, NULL), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
        ck_assert_uint_eq(atomic_load(&wrong), 0);
        ck_assert_uint_eq(atomic_load(&executions), REQUESTS);
        for (uint64_t id = 1; id <= REQUESTS; id++) {
            ck_assert_uint_eq(stored(&alice, 1, id), sizeof id);
        }
    }
    pthread_barrier_destroy(&begin);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("reply_cache");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, create, destroy);
    tcase_add_test(tests, reply_is_found_by_peer_client_and_bytes);
    tcase_add_test(tests, copies_wait_for_the_reply_to_the_first);
    tcase_add_test(tests, request_without_a_reply_is_new_again);
    tcase_add_test(tests, oldest_replies_of_a_client_are_evicted_first);
    tcase_add_loop_test(tests, flood_of_one_peer_evicts_no_reply_of_another, 0, 2);
    tcase_add_loop_test(tests, flood_of_one_client_evicts_no_reply_of_another_of_its_peer, 0, 2);
    tcase_add_test(tests, requests_under_way_and_replies_being_read_are_not_evicted);
    tcase_add_test(tests, largest_peer_is_found_after_another_has_shrunk);
    tcase_add_test(tests, bytes_are_bounded_and_the_newest_is_stored);
    tcase_add_test(tests, request_is_new_to_one_thread);
    return run_tests(tests);
}
