/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests recordings, which are files of messages, and name_table, which finds objects by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dynamics/v1/recording.pb-c.h"
#include "methods/recorded_model.h"
#include "methods/recording.h"
#include "methods/recording_store.h"
#include "simulations/name_table.h"
#include "unit/server/support.h"

enum { ENTRIES = 20 };

static char directory[64], path[96];

static void make_directory(void) {
    snprintf(directory, sizeof directory, "/tmp/dynamicsd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/file", directory);
}

static void remove_directory(void) {
    char scratch[sizeof path + sizeof RECORDING_SCRATCH_SUFFIX];
    snprintf(scratch, sizeof scratch, "%s" RECORDING_SCRATCH_SUFFIX, path);
    unlink(path);
    unlink(scratch);
    rmdir(directory);
}

/* Appends a state with this step, whose q has `step` numbers, at most 30. Returns false if the recording is full. */
static bool append(recording *r, uint64_t step) {
    Dynamics__V1__RecordingEntry entry = DYNAMICS__V1__RECORDING_ENTRY__INIT;
    Dynamics__V1__SimulationState state = DYNAMICS__V1__SIMULATION_STATE__INIT;
    double q[30] = {0.5};
    state.step = step;
    state.n_q = step;
    state.q = q;
    entry.entry_case = DYNAMICS__V1__RECORDING_ENTRY__ENTRY_STATE;
    entry.state = &state;
    return recording_append(r, &entry.base);
}

/* Returns the number of entries that can be read from the test's file, and checks that their steps are 1, 2 and so on.
 * Sets *is_whole to whether the last entry ends at the end of the file. */
static uint64_t count_entries(bool *is_whole) {
    recording_reader reader;
    uint64_t count = 0;
    ck_assert(recording_reader_open(&reader, path));
    for (;;) {
        Dynamics__V1__RecordingEntry *entry = (Dynamics__V1__RecordingEntry *)recording_reader_next(
            &reader, &dynamics__v1__recording_entry__descriptor, NULL);
        if (!entry) {
            break;
        }
        ck_assert_uint_eq(entry->state->step, ++count);
        ck_assert_uint_eq(entry->state->n_q, count);
        dynamics__v1__recording_entry__free_unpacked(entry, NULL);
    }
    *is_whole = reader.at == reader.size;
    recording_reader_close(&reader);
    return count;
}

START_TEST(messages_come_back_and_every_broken_end_is_noticed) {
    recording *r = recording_create(path, "run", 1 << 20);
    bool is_whole;
    ck_assert(r && recording_publish(r));
    for (uint64_t i = 1; i <= ENTRIES; i++) {
        ck_assert(append(r, i));
        ck_assert(i % 7 != 0 || recording_flush(r));
    }
    ck_assert_uint_eq(recording_entries(r), ENTRIES);
    uint64_t bytes = recording_bytes(r);
    ck_assert(recording_close(r));
    ck_assert_uint_eq(count_entries(&is_whole), ENTRIES);
    ck_assert(is_whole);
    uint64_t last = ENTRIES;
    for (off_t size = (off_t)bytes - 1; size >= 0; size--) {
        ck_assert_int_eq(truncate(path, size), 0);
        uint64_t count = count_entries(&is_whole);
        ck_assert_uint_le(count, last);
        /* A file is whole only if the cut is between two messages. */
        ck_assert(!is_whole || count == last - 1 || size == 0 || count == last);
        last = count;
    }
    ck_assert_uint_eq(last, 0);
}
END_TEST

/* Checks a file that is shortened while it is open. A reader that maps the file would be ended by SIGBUS. */
START_TEST(file_that_is_shortened_while_it_is_read_ends_early) {
    const off_t sizes[] = {4096, 0};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        recording *r = recording_create(path, "run", 1 << 24);
        bool is_good = recording_publish(r);
        for (int i = 0; i < 40000; i++) {
            is_good = is_good && append(r, 20);
        }
        ck_assert(recording_close(r) && is_good);
        recording_reader reader;
        uint64_t count = 0;
        ck_assert(recording_reader_open(&reader, path));
        ck_assert_int_eq(truncate(path, sizes[k]), 0);
        for (;;) {
            Dynamics__V1__RecordingEntry *entry = (Dynamics__V1__RecordingEntry *)recording_reader_next(
                &reader, &dynamics__v1__recording_entry__descriptor, NULL);
            if (!entry) {
                break;
            }
            count++;
            dynamics__v1__recording_entry__free_unpacked(entry, NULL);
        }
        ck_assert_uint_lt(reader.at, reader.size);
        ck_assert_int_eq((int)count, (int)(sizes[k] / 170));
        recording_reader_close(&reader);
        unlink(path);
    }
}
END_TEST

static bool write_varint(FILE *file, size_t value) {
    for (; value > 0x7f; value >>= 7) {
        if (fputc((int)(value & 0x7f) | 0x80, file) == EOF) {
            return false;
        }
    }
    return fputc((int)value, file) != EOF;
}

/* Checks a damaged message of many empty joints, each two bytes in the file and a hundred in memory. */
START_TEST(damaged_message_cannot_ask_for_memory_without_bound) {
    enum { DESCRIPTION = 8 << 3 | 2, JOINT = 4 << 3 | 2 };
    const size_t joints = 1 << 20, body = 2 * joints;
    recording_reader reader;
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    bool is_written = write_varint(file, 1 + 4 + body) && write_varint(file, DESCRIPTION) && write_varint(file, body);
    for (size_t i = 0; is_written && i < joints; i++) {
        is_written = write_varint(file, JOINT) && write_varint(file, 0);
    }
    ck_assert(fclose(file) == 0 && is_written);
    ck_assert(recording_reader_open(&reader, path));
    ck_assert_ptr_null(recording_reader_next(&reader, &dynamics__v1__recording_header__descriptor, NULL));
    ck_assert_uint_eq(reader.at, 0);
    recording_reader_close(&reader);
}
END_TEST

START_TEST(limit_ends_a_recording_that_stays_readable) {
    recording *r = recording_create(path, "run", 500);
    bool is_whole;
    uint64_t taken = 0;
    ck_assert(recording_publish(r));
    while (append(r, taken + 1)) {
        taken++;
    }
    ck_assert_uint_gt(taken, 3);
    ck_assert(!recording_has_room(r, 1));
    ck_assert(!append(r, 1));
    ck_assert(!recording_flush(r));
    ck_assert(!recording_close(r));
    ck_assert_uint_eq(count_entries(&is_whole), taken);
    ck_assert(is_whole);
}
END_TEST

START_TEST(existing_file_is_not_touched) {
    recording *r = recording_create(path, "run", 500);
    ck_assert(append(r, 1) && recording_publish(r));
    ck_assert(recording_close(r));
    ck_assert_ptr_null(recording_create(path, "run", 500));
    ck_assert_int_eq(errno, EEXIST);
    bool is_whole;
    ck_assert_uint_eq(count_entries(&is_whole), 1);
}
END_TEST

START_TEST(file_has_its_name_with_its_header_and_not_before) {
    recording *r = recording_create(path, "run", 500);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(append(r, 1));
    ck_assert(recording_flush(r));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(recording_close(r));
    /* The next recording replaces what is left of one that has no name. */
    r = recording_create(path, "run", 500);
    ck_assert(append(r, 1) && append(r, 2) && recording_publish(r));
    ck_assert_str_eq(recording_path(r), path);
    bool is_whole;
    ck_assert_uint_eq(count_entries(&is_whole), 2);
    ck_assert(recording_close(r));
}
END_TEST

/* Checks that a daemon which begins removes files without a header, and nothing else. */
START_TEST(files_without_a_header_are_removed_at_the_start) {
    static const char *const names[] = {"one.recording.new", "two.recording", "three.new"};
    char file[PATH_MAX];
    recording_store store;
    static service_limits limits;
    snprintf(file, sizeof file, "%s/recordings", directory);
    ck_assert_int_eq(mkdir(file, 0700), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/recordings/%s", directory, names[i]);
        ck_assert_int_eq(close(creat(file, 0600)), 0);
    }
    recording_store_init(&store, directory, &limits);
    recording_store_clean(&store);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/recordings/%s", directory, names[i]);
        ck_assert_int_eq(unlink(file), i == 0 ? -1 : 0);
    }
    recording_store_free(&store);
    snprintf(file, sizeof file, "%s/recordings", directory);
    ck_assert_int_eq(rmdir(file), 0);
}
END_TEST

/* ---- names ------------------------------------------------------------------------------------------------------- */

typedef struct thing {
    char name[8];
    int references;
} thing;

static void retain(void *value) {
    ((thing *)value)->references++;
}

static void release(void *value) {
    ((thing *)value)->references--;
}

/* Things are alike if their names begin with the same letter. */
static bool have_one_letter(const void *value, const void *inserted) {
    return ((const thing *)value)->name[0] == ((const thing *)inserted)->name[0];
}

START_TEST(things_that_are_alike_have_a_share) {
    const name_share share = {.most = 2, .is_alike = have_one_letter};
    thing things[] = {{.name = "a1"}, {.name = "b1"}, {.name = "a2"}, {.name = "a3"}, {.name = "b2"}};
    const name_insertion expected[] = {NAME_INSERTED, NAME_INSERTED, NAME_INSERTED, NAME_SHARE_FULL, NAME_INSERTED};
    name_table table;
    name_table_init(&table, retain, release);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        ck_assert_int_eq(name_table_insert(&table, things[i].name, &things[i], 100, &share), expected[i]);
    }
    ck_assert(name_table_remove(&table, "a1", &things[0]));
    ck_assert_int_eq(name_table_insert(&table, things[3].name, &things[3], 100, &share), NAME_INSERTED);
    name_table_free(&table);
}
END_TEST

START_TEST(things_are_found_by_name_and_counted) {
    name_table table;
    thing things[ENTRIES] = {0};
    void **all;
    size_t count;
    name_table_init(&table, retain, release);
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(things[i].name, sizeof things[i].name, "t%02d", i * 7 % ENTRIES);
        ck_assert_int_eq(name_table_insert(&table, things[i].name, &things[i], ENTRIES, NULL), NAME_INSERTED);
    }
    thing late = {.name = "t07"};
    ck_assert_int_eq(name_table_insert(&table, late.name, &late, 100, NULL), NAME_TAKEN);
    snprintf(late.name, sizeof late.name, "z");
    ck_assert_int_eq(name_table_insert(&table, late.name, &late, ENTRIES, NULL), NAME_TABLE_FULL);
    ck_assert_int_eq(late.references, 0);
    ck_assert(name_table_list(&table, &all, &count));
    ck_assert_uint_eq(count, ENTRIES);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_lt(strcmp(((thing *)all[i - 1])->name, ((thing *)all[i])->name), 0);
    }
    name_table_release_list(&table, all, count);
    thing *found = name_table_find(&table, "t07");
    ck_assert_ptr_eq(found, &things[1]);
    ck_assert_int_eq(found->references, 2);
    ck_assert(!name_table_remove(&table, "t07", &late));
    ck_assert(name_table_remove(&table, "t07", found));
    ck_assert_int_eq(found->references, 1);
    release(found);
    ck_assert_ptr_null(name_table_find(&table, "t07"));
    name_table_free(&table);
    for (int i = 0; i < ENTRIES; i++) {
        ck_assert_int_eq(things[i].references, 0);
    }
}
END_TEST

START_TEST(description_that_finds_no_memory_is_refused) {
    counters counted = {0};
    memory_budget budget = {0};
    const live_options options = {.counters = &counted, .budget = &budget};
    recorded_model m;
    recorded_model_begin(&m, &options);
    m.call.memory.limit = 0;
    ck_assert_ptr_null(call_allocate(&m.call, 1, 1));
    ck_assert(call_has_ended(&m.call));
    ck_assert_str_eq(m.call.status.reason, "MEMORY_SHORT");
    ck_assert_uint_eq(counted.memory_shortages, 1);
    recorded_model_free(&m);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("recording");
    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    tcase_add_test(tests, messages_come_back_and_every_broken_end_is_noticed);
    tcase_add_test(tests, file_that_is_shortened_while_it_is_read_ends_early);
    tcase_add_test(tests, damaged_message_cannot_ask_for_memory_without_bound);
    tcase_add_test(tests, limit_ends_a_recording_that_stays_readable);
    tcase_add_test(tests, existing_file_is_not_touched);
    tcase_add_test(tests, file_has_its_name_with_its_header_and_not_before);
    tcase_add_test(tests, files_without_a_header_are_removed_at_the_start);
    tcase_add_test(tests, things_are_found_by_name_and_counted);
    tcase_add_test(tests, things_that_are_alike_have_a_share);
    tcase_add_test(tests, description_that_finds_no_memory_is_refused);
    return run_tests(tests);
}
