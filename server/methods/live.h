/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that live between requests: simulations, streams, their topics and files.
 *
 * A thread of its own maintains them: it ends objects whose lease or idle time has expired, closes endpoints without
 * subscribers and writes recordings. All functions may be called from any thread, except live_create, live_attach and
 * live_free.
 */
#ifndef SERVER_METHODS_LIVE_H
#define SERVER_METHODS_LIVE_H

#include <limits.h>

#include "methods/sessions.h"
#include "methods/live_options.h"
#include "methods/recording_store.h"
#include "methods/simulation_groups.h"
#include "methods/state_journal.h"
#include "simulations/name_table.h"

/* Largest number of addresses for pushed messages; further ones are ignored. */
enum { LIVE_INGEST_ADDRESSES = 16 };

/* Endpoint that waits to be closed, so that its last messages can leave. */
typedef struct closing_endpoint {
    transport_topic *endpoint;
    uint64_t due; /* ns, CLOCK_MONOTONIC */
    struct closing_endpoint *next;
} closing_endpoint;

/* Simulations and streams, their thread, and the mutexes that guard them. */
struct live {
    live_options options;
    char state_directory[PATH_MAX], compiled[PATH_MAX];
    transport *transport;
    const char *ingest[LIVE_INGEST_ADDRESSES];
    size_t ingest_count;
    state_journal journal;
    pacer *pacer;
    name_table simulations, streams;
    simulation_groups groups;
    atomic_uint topics;
    atomic_uint_fast64_t next_number; /* for generated names */
    atomic_uint_fast64_t stray_chunks;
    log_episode stray, expired, broken;
    arena chunk_memory; /* memory of the current pushed message */
    /* Serializes writing and closing of recordings, and guards the members up to are_recordings_well. Locked before all
     * other mutexes. */
    pthread_mutex_t files;
    recording_store recordings;
    uint64_t next_check, next_measure; /* ns, CLOCK_MONOTONIC */
    size_t recordings_component;
    bool are_recordings_well; /* last state that was reported to the health */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    closing_endpoint *closing;
    bool is_started, must_end;
};

/* Creates the object without a transport, and starts its thread. Returns NULL on failure. */
live *live_create(const live_options *options);

/* Attaches the transport, so that topics can be opened. `ingest` are the addresses for pushed messages; they must live
 * as long as `l`. */
void live_attach(live *l, transport *t, const char *const *ingest, size_t ingest_count);

/* Stops the thread, ends all objects and closes all endpoints. The transport must still exist. `l` may be NULL. */
void live_free(live *l);

/* Returns an unpredictable random number other than 0, below 2^53. */
uint64_t live_token(void);

/* Writes the wanted name after checking it, or "<kind>-<number>" if it is empty. Returns false, and fills `why` with
 * the field `field`, if the name is invalid. */
bool live_name(live *l, const char *kind, const char *wanted, const char *field, char name[SIMULATION_NAME_SIZE],
               refusal *why);

/* Writes the beginning of the names that `names` stands for: the text before its star. Returns false, and fills `why`
 * with the field `field`, if no name begins so. */
bool live_group(const char *names, const char *field, char beginning[SIMULATION_NAME_SIZE], refusal *why);

/* Writes the path of a file in the subdirectory `kind` of the state directory, and creates the subdirectory. On failure
 * fills `why` and returns false. */
bool live_path(live *l, const char *kind, const char *name, const char *suffix, char path[PATH_MAX], refusal *why);

/* Writes the path of the recording of that name. Refuses an empty or invalid name; the field of the refusal is
 * "recording". */
bool live_recording_path(live *l, const char *name, char path[PATH_MAX], refusal *why);

/* Start of a recording. */
typedef struct recording_beginning {
    void **place;           /* pointer to the recording in its owner */
    pthread_mutex_t *mutex; /* guards `place` */
    const char *user;       /* to whom the recording belongs */
    bool is_free;           /* the shares of a user do not apply */
    /* Appends the header and sets the owner's recording, in one step of the owner. */
    bool (*write_header)(recording *r, void *context);
    void *context;
} recording_beginning;

/* Creates a recording of that name and writes its header to the disk; `path` receives the path of the file. On failure
 * fills `why`, leaves neither a recording nor a file, and returns false. */
bool live_begin_recording(live *l, const char *name, const recording_beginning *beginning, char path[PATH_MAX],
                          refusal *why);

/* Adds a simulation that is ready to run, and records it (state_journal.h). `share` is the largest number of
 * simulations that belong to the same user. `runs`: its clock is about to start. `record` receives the number of the
 * record. On failure fills `why` and returns false. */
bool live_add_simulation(live *l, simulation *s, uint64_t share, bool runs, uint64_t *record, refusal *why);

/* Adds a stream that is ready to receive points. `share` is the largest number of streams that belong to the same user.
 * On failure fills `why` and returns false. */
bool live_add_stream(live *l, stream *s, uint64_t share, refusal *why);

/* Ends a simulation and its streams, unless it has ended already. Returns the number of the record of its end, or 0. */
uint64_t live_end_simulation(live *l, simulation *s, simulation_event event, const char *message);

/* Ends a stream, and its recording if there is one. Has no effect on a stream that has ended. Called without a
 * mutex. */
void live_end_stream(live *l, stream *s, stream_event event, const char *message);

/* Opens the endpoint of the topics of a simulation or stream, if it is not open, and copies its addresses to the arena.
 * `mutex` guards the topics. On failure fills `why` and returns false. */
bool live_watch(live *l, watched_topics *topics, pthread_mutex_t *mutex, arena *memory, char ***addresses,
                size_t *count, refusal *why);

/* Recording that has ended. */
typedef struct ended_recording {
    uint64_t entries, bytes;
    char file[PATH_MAX];
    refusal error; /* reason why the recording is incomplete; REASON_NONE: it is complete */
} ended_recording;

/* Ends a recording, clears its owner's pointer, which `mutex` guards, and fills `ended`. Returns false if there is
 * none. */
bool live_end_recording(live *l, void **place, pthread_mutex_t *mutex, ended_recording *ended);

/* Ends a recording, deletes its file and clears its owner's pointer, which `mutex` guards. Does nothing if there is
 * none. */
void live_discard_recording(live *l, void **place, pthread_mutex_t *mutex);

/* Processes a pushed message. It is the transport's sink; `context` is the object of live_create. Defined in
 * stream.c. */
void live_receive_message(void *context, const uint8_t *bytes, size_t size, uint64_t arrival, const char *peer);

/* Hooks that publish the events of simulations and record them. Defined in live_events.c. */
extern const simulation_hooks live_simulation_hooks;

/* Hooks that publish the events of streams and record their points. Defined in live_events.c. */
extern const stream_hooks live_stream_hooks;

#endif
