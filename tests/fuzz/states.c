/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: reads any bytes as the file of a command's states, JSON lines or CSV, for a robot with a hinge and a
 * floating base. All states before the first wrong line are in the batches, and an error names the file and the line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "state_source.h"
#include "target.h"

enum { NQ = 8, NV = 7, CAPACITY = 3 };

static const char *const units[NQ] = {"m", "m", "m", "1", "1", "1", "1", "rad"};

static const char *const q_names[NQ] = {"base[0]", "base[1]", "base[2]", "base[3]",
                                        "base[4]", "base[5]", "base[6]", "hinge"};
static const char *const v_names[NV] = {"base[0]", "base[1]", "base[2]", "base[3]", "base[4]", "base[5]", "hinge"};

/* "base" has the coordinates q[0] to q[6] and v[0] to v[5], "hinge" the last ones. */
static const dyn_client_joint joints[] = {
    {.name = "base", .nq = 7, .nv = 6, .q_units = units, .v_units = units, .tau_units = units},
    {.name = "hinge",
     .q_index = 7,
     .v_index = 6,
     .nq = 1,
     .nv = 1,
     .q_units = units + 7,
     .v_units = units + 7,
     .tau_units = units + 7},
};
static const dyn_client_description robot = {.model = {.name = "robot", .nq = NQ, .nv = NV},
                                             .q_names = q_names,
                                             .v_names = v_names,
                                             .joint_count = 2,
                                             .joints = joints};

static void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

/* Writes the bytes to a file in memory. Returns its descriptor. */
static int write_file(const uint8_t *data, size_t size) {
    int file = memfd_create("states", MFD_CLOEXEC);
    require(file >= 0 && pwrite(file, data, size, 0) == (ssize_t)size, "the file is written");
    return file;
}

static void read_states(const char *path, const layout *order) {
    const arguments args = {.value = {[OPTION_STATES] = path}};
    char place[64];
    state_batch batch;
    state_source source;
    size_t last = 0;
    require(state_batch_create(order, CAPACITY, &batch), "there is memory");
    require(state_source_open(&args, order, true, &source) == EXIT_OK, "the file is opened");
    while (!source.ended) {
        state_source_fill(&source, &batch);
        for (size_t i = 0; i < batch.count; i++) {
            require(batch.line[i] > last, "lines are read in their order");
            last = batch.line[i];
        }
    }
    if (source.failure != EXIT_OK) {
        snprintf(place, sizeof place, "%s:%zu: ", path, source.line);
        require(strncmp(source.message, place, strlen(place)) == 0, "an error names the file and the line");
        require(source.line > last, "a wrong line has no state");
    }
    state_source_close(&source);
    state_batch_free(&batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    layout order;
    int file = write_file(data, size);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    require(layout_create(&robot, NULL, &order) == EXIT_OK, "the robot has a layout");
    read_states(path, &order);
    layout_free(&order);
    close(file);
    return 0;
}
