/*
 * The simulations of the daemon as topics.
 */
#ifndef ROSBRIDGE_LIVE_SIMULATIONS_H
#define ROSBRIDGE_LIVE_SIMULATIONS_H

#include <dynamics/v1/event.pb-c.h>

#include "event_reader.h"
#include "topics.h"

enum { LIVE_NAME_SIZE = 80, LIVE_DIGEST_SIZE = 96 };

typedef struct live_simulation live_simulation;

typedef struct live_simulations {
    bridge *bridge;
    event_reader *reader;
    live_simulation *first;
    uint64_t generation; /* of lists of simulations */
    bool is_asking;
} live_simulations;

/* A joint with one coordinate: where its values lie in a row. */
typedef struct coordinate {
    char name[128];
    uint32_t q, v;
} coordinate;

struct live_simulation {
    live_simulation *next;
    live_simulations *of;
    uint64_t generation; /* of the last list that named it */
    bool is_gone;        /* waits for answers under way */
    char name[LIVE_NAME_SIZE], digest[LIVE_DIGEST_SIZE];
    json_t *joint_names; /* order of its rows; empty: the model's own */
    topic *states, *joint_states, *events, *command;
    size_t coordinate_count, nq, nv; /* coordinates are known once nq > 0 */
    coordinate *coordinates;
    unsigned questions; /* under way */
    bool is_watched, is_described;
    int address;
    char state_topic[LIVE_NAME_SIZE + 32], events_topic[LIVE_NAME_SIZE + 32];
};

/* Asks for the list of simulations; opens and closes topics when it comes. */
void live_simulations_ask(live_simulations *of);

/* Watches simulations whose topics are read, and no longer those whose topics are not. */
void live_simulations_check(live_simulations *checked);

/* An event of a simulation; false: it is of none that is known. */
bool live_simulations_take(live_simulations *of, const Dynamics__V1__Event *event);

void live_simulations_stop(live_simulations *stopped);

#endif
