/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs: requests that are computed without a waiting client, on threads of their own, and their replies until these are
 * fetched or expire.
 *
 * A job is a transport_call whose carrier stores the reply. Its bytes, the serialized request until it has been
 * computed and the serialized reply after that, are charged to the memory budget and to limits.job_bytes, and count for
 * the user of the job (limits.user_jobs and user_job_bytes). All functions may be called from any thread, except
 * job_table_create and job_table_free.
 */
#ifndef SERVER_METHODS_JOB_TABLE_H
#define SERVER_METHODS_JOB_TABLE_H

#include "dynamics/v1/envelope.pb-c.h"
#include "methods/limits.h"
#include "methods/refusal.h"
#include "methods/running.h"
#include "simulations/simulation.h"

typedef struct job_table job_table;
typedef struct job job;

/* Parts of the daemon that a job table uses. */
typedef struct job_table_options {
    const service_limits *limits;
    memory_budget *budget;
    running_calls *running; /* list of running requests, to which jobs are added for their progress and for Cancel */
    logger *log;
    /* Submits a job to the threads for jobs. Returns false when the queue is full. */
    bool (*submit)(void *pool, uint64_t user, void (*run)(void *task), void *task);
    void *pool;
    /* Computes the request of a call on this thread, sends the reply through the call's carrier, and returns its
     * code. */
    Dynamics__V1__Code (*execute)(void *context, transport_call *call, running_call *running);
    void *context;
} job_table_options;

/* Job to start. The strings are copied, except `method`. */
typedef struct job_order {
    const char *name;
    const char *method; /* static string */
    const char *owner;
    const access_caller *caller; /* to whom the job belongs */
    uint64_t share, share_bytes; /* largest number of jobs of this caller, and of the bytes that they hold */
    uint64_t token;
    running_name started_by; /* name of the StartJob request */
    const Dynamics__V1__Request *request;
} job_order;

/* State of a job at one time. */
typedef struct job_view {
    Dynamics__V1__JobState state;
    double fraction;                             /* 0 to 1 */
    int64_t created_ns, started_ns, finished_ns; /* wall times, ns; 0: not yet */
    double expires_in;                           /* s; 0: not finished */
    const uint8_t *reply;                        /* serialized Reply; NULL: not finished, or no memory for it */
    size_t reply_size;
} job_view;

/* Creates a table. Objects that the options point to must outlive it. Returns NULL when out of memory. */
job_table *job_table_create(const job_table_options *options);

/* Frees the table and its jobs. No thread may compute a job any more. */
void job_table_free(job_table *table);

/* Starts a job and returns a reference to it. On failure fills `why` and returns NULL. */
job *job_table_start(job_table *table, const job_order *order, refusal *why);

/* Returns a reference to the job of that name, or NULL. */
job *job_table_find(job_table *table, const char *name);

/* Returns references to all jobs in the order of their start, in an array that the caller frees. Returns false when out
 * of memory. */
bool job_table_list(job_table *table, job ***jobs, size_t *count);

/* Cancels a job that has not finished, and removes one that has. */
void job_table_cancel(job_table *table, job *j);

/* Removes the jobs that have expired. */
void job_table_sweep(job_table *table);

/* Cancels all jobs, and refuses further ones. */
void job_table_stop(job_table *table);

/* Measures the number of jobs, and the bytes that they hold. */
void job_table_measure(job_table *table, size_t *count, size_t *bytes);

/* Releases a reference to a job. The last release frees the job. */
void job_release(job *j);

/* Returns the name of a job; it lives as long as the job. */
const char *job_name(const job *j);

/* Returns the name of the method that the job computes; a static string. */
const char *job_method(const job *j);

/* Returns the peer that started the job, as text for messages; it lives as long as the job. */
const char *job_owner(const job *j);

/* Returns the token that commands the job. */
uint64_t job_token(const job *j);

/* Returns the name of the caller to whom the job belongs; it lives as long as the job. */
const char *job_belongs_to(const job *j);

/* Reads the state of a job. The reply is valid until the reference to the job is released. */
job_view job_look(job *j);

#endif
