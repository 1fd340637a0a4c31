/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the page /metrics: numbers of requests by method, of the daemon's objects and of its process. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

#include "methods/job_table.h"
#include "methods/methods.h"
#include "monitor.h"
#include "observe/exposition.h"

enum { LIMIT_SIZE = 32 };

static uint64_t read_counter(const atomic_uint_fast64_t *number) {
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Returns whether there is a method of that number; number 0 stands for requests without a method. */
static bool is_listed(size_t number) {
    return number == 0 || methods[number].run;
}

static const char *method_name(size_t number) {
    return number == 0 ? "none" : methods[number].name;
}

/* Returns the role that a method needs: "reader", "user" or "administrator". */
static const char *role_name(size_t number) {
    return access_role_words[number == 0 ? ACCESS_NONE : methods[number].role];
}

/* Returns the name of a code without its prefix, such as "NOT_FOUND". */
static const char *code_name(int code) {
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(&dynamics__v1__code__descriptor, code);
    return value ? value->name + strlen("CODE_") : "UNKNOWN";
}

/* Writes the answered requests by method and code. OK is always written, other codes once they occur. */
static void write_codes(const request_metrics *all, FILE *file) {
    static const char name[] = "dynamicsd_requests_total";
    exposition_family(file, name, "counter",
                      "Answered requests and computed jobs, by method, role of the method, and code of the reply.");
    for (size_t i = 0; i < METHOD_NUMBERS; i++) {
        for (int code = 0; is_listed(i) && code < REQUEST_METRICS_CODES; code++) {
            uint64_t value = read_counter(&all[i].codes[code]);
            const exposition_label labels[] = {
                {"method", method_name(i)}, {"role", role_name(i)}, {"code", code_name(code)}, {0}};
            if (value > 0 || code == DYNAMICS__V1__CODE__CODE_OK) {
                exposition_count(file, name, labels, value);
            }
        }
    }
}

/* Writes the histogram of one method. The total is the sum of the ranges, so that the ranges never exceed it. */
static void write_histogram(const request_metrics *m, const char *called, FILE *file) {
    uint64_t total = 0;
    for (size_t i = 0; i < REQUEST_METRICS_RANGES; i++) {
        char limit[LIMIT_SIZE] = "+Inf";
        if (i < REQUEST_METRICS_RANGES - 1) {
            snprintf(limit, sizeof limit, "%g", (double)request_metrics_bounds[i] / 1e9);
        }
        total += read_counter(&m->ranges[i]);
        const exposition_label labels[] = {{"method", called}, {"le", limit}, {0}};
        exposition_count(file, "dynamicsd_request_seconds_bucket", labels, total);
    }
    const exposition_label labels[] = {{"method", called}, {0}};
    exposition_number(file, "dynamicsd_request_seconds_sum", labels, (double)read_counter(&m->time) / 1e9);
    exposition_count(file, "dynamicsd_request_seconds_count", labels, total);
}

/* Writes the times of the methods that were called. */
static void write_times(const request_metrics *all, FILE *file) {
    exposition_family(file, "dynamicsd_request_seconds", "histogram",
                      "Time from the arrival of a request to its reply, of the methods that were called.");
    for (size_t i = 0; i < METHOD_NUMBERS; i++) {
        if (is_listed(i) && request_metrics_total(&all[i]) > 0) {
            write_histogram(&all[i], method_name(i), file);
        }
    }
}

/* Writes one number of every method; `offset` is its place in request_metrics. */
static void write_by_method(const request_metrics *all, size_t offset, const char *name, const char *help, FILE *file) {
    exposition_family(file, name, "counter", help);
    for (size_t i = 0; i < METHOD_NUMBERS; i++) {
        if (is_listed(i)) {
            const exposition_label labels[] = {{"method", method_name(i)}, {0}};
            const void *place = (const char *)&all[i] + offset;
            exposition_count(file, name, labels, read_counter(place));
        }
    }
}

static void write_requests(const monitor *m, FILE *file) {
    const request_metrics *all = service_metrics(m->service);
    write_codes(all, file);
    write_times(all, file);
    write_by_method(all, offsetof(request_metrics, samples), "dynamicsd_request_samples_total",
                    "States in the requests.", file);
    write_by_method(all, offsetof(request_metrics, bytes_in), "dynamicsd_request_bytes_total",
                    "Bytes of the serialized requests.", file);
    write_by_method(all, offsetof(request_metrics, bytes_out), "dynamicsd_reply_bytes_total",
                    "Bytes of the serialized replies.", file);
    exposition_single(file, "dynamicsd_requests_under_way", "gauge",
                      "Requests that are handled or whose reply is being sent.", transport_pending(m->transport));
    exposition_single(file, "dynamicsd_long_requests_waiting", "gauge", "Long requests that wait for a worker.",
                      (double)worker_pool_waiting(m->pool));
    exposition_single(file, "dynamicsd_jobs_waiting", "gauge", "Tasks of jobs that wait for a thread.",
                      (double)worker_pool_waiting(m->job_pool));
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Writes the number of models in each state of compilation. */
static void write_models(const monitor *m, FILE *file) {
    static const char *const states[] = {
        [MODEL_COMPILATION_WAITS] = "waiting",
        [MODEL_COMPILING] = "compiling",
        [MODEL_COMPILED] = "compiled",
        [MODEL_NOT_COMPILED] = "failed",
    };
    enum { STATES = sizeof states / sizeof *states };
    static const char name[] = "dynamicsd_model_compilations";
    uint64_t counts[STATES] = {0};
    model_entry **entries;
    size_t count;
    exposition_single(file, "dynamicsd_models", "gauge", "Loaded models.", (double)model_store_count(m->store));
    if (!model_store_list(m->store, &entries, &count)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        counts[model_entry_compilation(entries[i], NULL)]++;
    }
    model_store_release_list(entries, count);
    exposition_family(file, name, "gauge", "Models by the state of the compilation of their algorithms.");
    for (size_t i = 0; i < STATES; i++) {
        const exposition_label labels[] = {{"state", states[i]}, {0}};
        exposition_count(file, name, labels, counts[i]);
    }
}

static void write_live_objects(const monitor *m, FILE *file) {
    live *l = m->live;
    size_t jobs, job_bytes;
    job_table_measure(service_jobs(m->service), &jobs, &job_bytes);
    exposition_single(file, "dynamicsd_simulations", "gauge", "Simulations.",
                      (double)name_table_count(&l->simulations));
    exposition_single(file, "dynamicsd_streams", "gauge", "Streams.", (double)name_table_count(&l->streams));
    exposition_single(file, "dynamicsd_topics", "gauge", "Endpoints of watched simulations and streams.",
                      atomic_load(&l->topics));
    exposition_single(file, "dynamicsd_jobs", "gauge", "Jobs, finished ones included.", (double)jobs);
    exposition_single(file, "dynamicsd_job_bytes", "gauge", "Bytes of the requests and results of jobs.",
                      (double)job_bytes);
    exposition_single(file, "dynamicsd_simulation_overruns_total", "counter",
                      "Ticks of simulations that ended after the next one was due.", (double)pacer_overruns(l->pacer));
    exposition_single(file, "dynamicsd_stray_chunks_total", "counter", "Pushed messages that belonged to no stream.",
                      (double)read_counter(&l->stray_chunks));
}

/* ---- connections and memory -------------------------------------------------------------------------------------- */

/* Writes the connections that were closed or refused, by cause. */
static void write_closed_connections(const counters *k, FILE *file) {
    static const char name[] = "dynamicsd_connections_closed_total";
    const struct {
        const char *cause;
        const atomic_uint_fast64_t *number;
    } rows[] = {
        {"too_many", &k->rejected_connections}, {"idle", &k->idle_connections},     {"unread_reply", &k->deaf_clients},
        {"half_message", &k->half_messages},    {"memory", &k->greedy_connections},
    };
    exposition_family(file, name, "counter", "Connections that the daemon refused or closed, by cause.");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const exposition_label labels[] = {{"cause", rows[i].cause}, {0}};
        exposition_count(file, name, labels, read_counter(rows[i].number));
    }
}

/* Writes the connections by the role that the system's facts about them give. Leaves them out when out of memory. */
static void write_roles(const monitor *m, FILE *file) {
    static const char name[] = "dynamicsd_connections_by_role";
    uint64_t counts[ACCESS_ROLES] = {0};
    size_t capacity = transport_list_connections(m->transport, NULL, 0);
    transport_connection *all = calloc(capacity + 1, sizeof *all);
    if (!all) {
        return;
    }
    size_t count = transport_list_connections(m->transport, all, capacity);
    for (size_t i = 0; i < count && i < capacity; i++) {
        counts[all[i].caller.role]++;
    }
    free(all);
    exposition_family(file, name, "gauge",
                      "Open connections of clients by their role without a token; over NATS there are none.");
    for (size_t i = 0; i < ACCESS_ROLES; i++) {
        const exposition_label labels[] = {{"role", access_role_words[i]}, {0}};
        exposition_count(file, name, labels, counts[i]);
    }
}

static void write_transport(const monitor *m, FILE *file) {
    const counters *k = m->counters;
    exposition_single(file, "dynamicsd_connections", "gauge", "Open connections of clients.",
                      atomic_load(&k->connections));
    write_roles(m, file);
    write_closed_connections(k, file);
    exposition_single(file, "dynamicsd_fast_channels", "gauge", "Fast channels of clients.",
                      atomic_load(&k->fast_channels));
    exposition_single(file, "dynamicsd_fast_calls_total", "counter", "Calls over fast channels.",
                      (double)read_counter(&k->fast_calls));
    exposition_single(file, "dynamicsd_fast_channels_refused_total", "counter",
                      "Fast channels that were refused because too many were open.",
                      (double)read_counter(&k->fast_refused));
    exposition_single(file, "dynamicsd_fast_channels_damaged_total", "counter",
                      "Fast channels that were ended because of what their client wrote.",
                      (double)read_counter(&k->fast_damaged));
    exposition_single(file, "dynamicsd_listener_restarts_total", "counter",
                      "Dead listeners that the self-probe found, and that were created again.",
                      (double)read_counter(&k->listener_restarts));
    exposition_single(file, "dynamicsd_events_total", "counter", "Published messages of all topics.",
                      (double)read_counter(&k->events));
    exposition_single(file, "dynamicsd_memory_held_bytes", "gauge",
                      "Bytes of requests, replies and messages under way.", (double)atomic_load(&m->budget->held));
    exposition_single(file, "dynamicsd_memory_limit_bytes", "gauge", "Limit of the held bytes (limits.memory_bytes).",
                      (double)atomic_load(&m->budget->limit));
    exposition_single(file, "dynamicsd_memory_shortages_total", "counter",
                      "Requests that were refused because memory was short.",
                      (double)read_counter(&k->memory_shortages));
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void write_limit(FILE *file, const char *name, double value) {
    exposition_number(file, "dynamicsd_limit", (const exposition_label[]){{"limit", name}, {0}}, value);
}

/* Writes the values of the configured limits, and the requests that each limit has refused. */
static void write_limits(const monitor *m, FILE *file) {
    static const char refusals[] = "dynamicsd_limit_refusals_total";
    exposition_family(file, "dynamicsd_limit", "gauge",
                      "Configured limits (GetServerInfo), in bytes, in seconds, or as numbers.");
#define WRITE_LIMIT(identifier, name, ...) write_limit(file, #name, (double)atomic_load(&m->limits->name));
    LIMITS(WRITE_LIMIT)
#undef WRITE_LIMIT
    write_limit(file, "fast_channels", atomic_load(&m->limits->fast_channels));
    write_limit(file, "fast_peer_channels", atomic_load(&m->limits->fast_peer_channels));
    write_limit(file, "fast_channel_bytes", (double)atomic_load(&m->limits->fast_channel_bytes));
    exposition_family(file, refusals, "counter", "Requests that a limit has refused, of the limits that refused some.");
    for (bound b = BOUND_NONE + 1; b < BOUND_COUNT; b++) {
        const exposition_label labels[] = {{"limit", bound_name(b)}, {0}};
        uint64_t count = service_refusals(m->service, b);
        if (count > 0) {
            exposition_count(file, refusals, labels, count);
        }
    }
}

/* ---- health and process ------------------------------------------------------------------------------------------ */

/* Writes each component's state: 1 for its present state, 0 for the others. */
static void write_health(const monitor *m, FILE *file) {
    static const char name[] = "dynamicsd_component_state";
    exposition_family(file, name, "gauge", "Health of the daemon's components: 1 for the present state of each.");
    for (size_t i = 0; i < m->health->count; i++) {
        health_component c;
        health_read(m->health, i, &c);
        for (health_state state = HEALTH_UNKNOWN; state <= HEALTH_NOT_SERVING; state++) {
            const exposition_label labels[] = {{"component", c.name}, {"state", monitor_state_name(state)}, {0}};
            exposition_count(file, name, labels, c.state == state);
        }
    }
}

/* Returns the number of open descriptors, without the one that lists them; 0: unknown. */
static size_t count_descriptors(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        count += entry->d_name[0] != '.';
    }
    if (directory) {
        closedir(directory);
    }
    return count > 0 ? count - 1 : 0;
}

/* Returns the resident memory in bytes; 0: unknown. */
static double resident_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %lu", &pages) != 1) {
        pages = 0;
    }
    if (file) {
        fclose(file);
    }
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Writes the numbers of the process, under the names that Prometheus' client libraries give them. */
static void write_process(const monitor *m, FILE *file) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    exposition_single(file, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    exposition_single(file, "process_cpu_seconds_total", "counter", "Processor time of user and system.",
                      seconds(usage.ru_utime) + seconds(usage.ru_stime));
    exposition_single(file, "process_open_fds", "gauge", "Open descriptors.", (double)count_descriptors());
    exposition_single(file, "process_start_time_seconds", "gauge", "Time of the start since 1970-01-01 UTC.", m->start);
}

void monitor_write_metrics(const monitor *m, FILE *file) {
    static const char build[] = "dynamicsd_build_info";
    const exposition_label labels[] = {{"version", DYNAMICSD_VERSION}, {"instruction_set", dyn_instruction_set()}, {0}};
    exposition_family(file, build, "gauge", "Version of the daemon, and instruction set of its kernels; always 1.");
    exposition_count(file, build, labels, 1);
    write_requests(m, file);
    write_models(m, file);
    write_live_objects(m, file);
    write_transport(m, file);
    write_limits(m, file);
    write_health(m, file);
    write_process(m, file);
}
