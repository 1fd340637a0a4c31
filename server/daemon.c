/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the daemon: creates its parts, drives them by timers and signals of one event loop, and stops them in order. */
#include "daemon.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "config_check.h"
#include "config_derived.h"
#include "config_file.h"
#include "config_keys.h"
#include "config_settings.h"
#include "dynamics/v1/envelope.pb-c.h"
#include "methods/events.h"
#include "methods/fast_session.h"
#include "methods/persistent_models.h"
#include "methods/live.h"
#include "methods/persistent_models.h"
#include "methods/model_events.h"
#include "methods/service.h"
#include "methods/shared_models.h"
#include "methods/snapshot.h"
#include "models/object_cache.h"
#include "monitor.h"
#include "nats_settings.h"
#include "observe/clock.h"
#include "observe/http_listener.h"
#include "observe/probe.h"
#include "observe/watchdog.h"
#include "observe/worker_probe.h"
#include "system_memory.h"
#include "transport/fast_carrier.h"
#include "worker_pool.h"

/* Largest number of long requests that may wait for a worker. */
enum { QUEUE_CAPACITY = 1024 };

/* Amount by which the priority of the threads for jobs is lower than that of all others. */
enum { JOB_NICENESS = 10 };

/* Intervals in ms: between two ticks, between two checks while draining, and for nng to send the last replies. */
enum { TICK_MILLISECONDS = 50, DRAIN_MILLISECONDS = 10, LINGER_MILLISECONDS = 100 };

/* Descriptors reserved for other uses than connections. */
enum { OTHER_DESCRIPTORS = 128 };

/* Time for which the health reports a memory shortage. */
#define SHORTAGE_AGE (10 * NANOSECONDS)

enum { STATUS_SIZE = 160, FIXED_KEYS_SIZE = 512 };

/* Interval of checks for memory that can be returned to the system, and the smallest number of bytes that is worth a
 * trim. */
enum { TRIM_SECONDS = 5, TRIM_BYTES = 1 << 20 };

/* While more than limits.memory_bytes / CROWDED_PART is held, and for CROWD_SECONDS afterwards, malloc returns freed
 * memory to the system at once. */
enum { CROWDED_PART = 4, CROWD_SECONDS = 5 };

typedef struct daemon_state {
    const daemon_arguments *arguments;
    config config;
    setting_list settings; /* copy of the configuration for requests */
    slow_log slow;
    logger log;
    counters counters;
    health health;
    service_limits limits;
    memory_budget budget;
    access_guard access;
    worker_probe worker_probe;
    events events;
    model_store *store;
    model_directory *directory;
    live *live;
    shared_models *shared;
    worker_pool *pool, *job_pool;
    service *service;
    transport *transport;
    fast_carrier *fast; /* NULL: none is configured */
    probe *probe;
    monitor monitor;
    http_listener *http; /* NULL: none is configured */
    model_compiler *compiler;
    generator_options generator;
    transport_endpoint endpoints[3 * CONFIG_ENDPOINTS];
    nats_settings nats;
    service_endpoint service_endpoints[3 * CONFIG_ENDPOINTS];
    probe_target probe_targets[3 * CONFIG_ENDPOINTS];
    size_t endpoint_count;
    size_t models_component, workers_component, memory_component, state_component, nats_component;
    unsigned workers, job_threads;
    uv_loop_t loop;
    uv_timer_t tick, watchdog, drain;
    uv_signal_t terminate, interrupt, hang_up;
    uv_work_t scan, trim, save;
    double save_interval; /* s; copied for the thread of `save`, since a reload changes the configuration */
    int64_t spare;        /* spare bytes after the last trim, or the least since then */
    bool returns_blocks;  /* freed memory is returned to the system at once */
    uint64_t last_crowd;  /* ns; last time when much memory was held */
    bool has_nats, is_trimming, must_trim_again, is_saving, has_state_problem, is_scanning, must_reload_again,
        is_draining, has_lingered;
    size_t persistent_problem_count; /* stored models that could not be loaded, and the first one's error */
    char persistent_problem[HEALTH_MESSAGE_SIZE];
    uint64_t drain_end;   /* ns */
    uint64_t next_status; /* ns */
    uint64_t next_trim;   /* ns */
    uint64_t watchdog_interval;
    char status[STATUS_SIZE]; /* last status sent to systemd */
} daemon_state;

bool daemon_configure(const daemon_arguments *arguments, config *c, char error[CONFIG_ERROR_SIZE]) {
    if (arguments->config_path) {
        if (!config_read(arguments->config_path, c, error)) {
            return false;
        }
    } else {
        config_init(c);
    }
    if (arguments->request.count > 0) {
        c->request = arguments->request;
        config_set_origin(c, &c->request, SETTING_COMMAND_LINE);
    }
    if (arguments->has_events) {
        c->events = arguments->events;
        config_set_origin(c, &c->events, SETTING_COMMAND_LINE);
    }
    if (arguments->has_ingest) {
        c->ingest = arguments->ingest;
        c->has_ingest = true;
        config_set_origin(c, &c->ingest, SETTING_COMMAND_LINE);
    }
    if (!config_derive_ingest(c, error) || !config_check_plaintext(c, error) || !config_check_tls(c, error)) {
        config_free(c);
        return false;
    }
    if (arguments->state_directory) {
        snprintf(c->state_directory, sizeof c->state_directory, "%s", arguments->state_directory);
        config_set_origin(c, c->state_directory, SETTING_COMMAND_LINE);
    }
    if (arguments->directory) {
        c->directories.count = 1;
        snprintf(c->directories.path[0], PATH_MAX, "%s", arguments->directory);
        config_set_origin(c, &c->directories, SETTING_COMMAND_LINE);
    }
    c->is_lowered = config_fit_memory(c, system_memory_bytes());
    if (arguments->has_level) {
        c->level = arguments->level;
        config_set_origin(c, &c->level, SETTING_COMMAND_LINE);
    }
    if (arguments->has_format) {
        c->format = arguments->format;
        config_set_origin(c, &c->format, SETTING_COMMAND_LINE);
    }
    return true;
}

/* Raises the limit of descriptors to the maximum that the system allows. If a sandbox forbids it, the limit stays. */
static void raise_descriptor_limit(daemon_state *d) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return;
    }
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        log_debug(&d->log, "the limit of descriptors stays at %llu", (unsigned long long)before);
    }
}

/* Lowers the configured number of connections if the system's limit of descriptors is too small for it. */
static void fit_connections(daemon_state *d) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return;
    }
    size_t most = limit.rlim_cur > 2 * OTHER_DESCRIPTORS ? limit.rlim_cur - OTHER_DESCRIPTORS : limit.rlim_cur / 2;
    if (d->config.connections > most) {
        log_warning(&d->log, "only %zu connections fit into the %llu descriptors that the system allows (LimitNOFILE=)",
                    most, (unsigned long long)limit.rlim_cur);
        d->config.connections = most;
        config_set_origin(&d->config, &d->config.connections, SETTING_DERIVED);
    }
}

/* Logs limits that were lowered to fit the memory, and derives job_bytes and the shares of users where they are 0. */
static void log_derived_limits(daemon_state *d) {
    config *c = &d->config;
    if (c->is_lowered) {
        log_warning(&d->log,
                    "the %zu bytes of memory that this process may use are few: memory_bytes is %lu, message_bytes is "
                    "lowered to %lu and reply_bytes to %lu",
                    system_memory_bytes(), c->memory_bytes, c->message_bytes, c->reply_bytes);
    }
    if (c->job_bytes == 0) {
        c->job_bytes = c->memory_bytes / 4;
        config_set_origin(c, &c->job_bytes, SETTING_DERIVED);
    }
    config_derive_shares(c);
}

/* Applies the configured limits, and the level and format of the log, to all following requests. */
static void apply_limits(daemon_state *d) {
    const config *c = &d->config;
    fit_connections(d);
    log_derived_limits(d);
#define APPLY(identifier, name, type, ...) atomic_store(&d->limits.name, (type)c->name);
    LIMITS(APPLY)
#undef APPLY
    atomic_store(&d->limits.lease_time, c->lease_time);
    atomic_store(&d->limits.fast_channel_bytes, c->fast_channel_bytes);
    memory_budget_set(&d->budget, c->memory_bytes, atomic_load(&d->limits.message_bytes));
    atomic_store(&d->limits.persist_models, c->persist_models);
    model_store_set_capacity(d->store, c->models);
    log_configure(&d->log, c->level, c->format);
    slow_log_set_bound(&d->slow, c->slow_time);
    if (!config_list_settings(c, d->arguments->config_path, &d->settings)) {
        log_error(&d->log, "out of memory: GetSettings shows the settings before");
    }
}

static void scan_models(daemon_state *d) {
    const model_sources sources = config_model_sources(&d->config);
    model_directory_scan(d->directory, &sources);
}

/* Sets the health of the models after a scan: degraded if a file could not be loaded. */
static void report_models(daemon_state *d) {
    char problem[HEALTH_MESSAGE_SIZE];
    size_t files = model_directory_problem(d->directory, problem, sizeof problem),
           count = files + d->persistent_problem_count;
    if (count == 0) {
        health_set(&d->health, d->models_component, HEALTH_SERVING, "%s", "");
    } else {
        health_set(&d->health, d->models_component, HEALTH_DEGRADED, "%zu file%s could not be loaded; %.800s", count,
                   count == 1 ? "" : "s", files > 0 ? problem : d->persistent_problem);
    }
}

static void report_workers(daemon_state *d) {
    uint64_t probe_wait = worker_probe_tick(&d->worker_probe, worker_pool_submit, d->pool);
    uint64_t longest = worker_pool_longest_wait(d->pool), waited = longest > probe_wait ? longest : probe_wait;
    size_t load = worker_pool_load(d->pool), probes = probe_wait > 0 && load > 0; /* the probe waits among them */
    if (waited > clock_duration(d->config.worker_time)) {
        health_set(&d->health, d->workers_component, HEALTH_DEGRADED,
                   "no worker was free for a long request for %.1f s; %zu are under way or wait", (double)waited / 1e9,
                   load - probes);
    } else if (load < QUEUE_CAPACITY) {
        health_set(&d->health, d->workers_component, HEALTH_SERVING, "%s", "");
    } else {
        health_set(&d->health, d->workers_component, HEALTH_DEGRADED, "%zu long requests wait; more are refused", load);
    }
}

static void report_memory(daemon_state *d) {
    uint64_t last = atomic_load(&d->counters.last_shortage);
    if (last == 0 || clock_now() > last + SHORTAGE_AGE) {
        health_set(&d->health, d->memory_component, HEALTH_SERVING, "%s", "");
    } else {
        health_set(&d->health, d->memory_component, HEALTH_DEGRADED,
                   "%llu requests were refused for want of memory; requests and replies hold %zu bytes of %zu",
                   (unsigned long long)atomic_load(&d->counters.memory_shortages), atomic_load(&d->budget.held),
                   atomic_load(&d->budget.limit));
    }
}

/* Sets the health of the state directory, and logs when a problem appears or ends. */
static void report_state(daemon_state *d) {
    char problem[GENERATIONS_PROBLEM_SIZE];
    bool is_bad = snapshot_problem(d->live, problem);
    if (is_bad && !d->has_state_problem) {
        log_error(&d->log, "%s", problem);
    } else if (!is_bad && d->has_state_problem) {
        log_info(&d->log, "%s can be written again", d->config.state_directory);
    }
    d->has_state_problem = is_bad;
    health_set(&d->health, d->state_component, is_bad ? HEALTH_DEGRADED : HEALTH_SERVING, "%s", problem);
}

/* Sets the health of the connection to a NATS server, if one is configured. */
static void report_nats(daemon_state *d) {
    if (d->has_nats) {
        bool is_there = transport_has_nats(d->transport);
        health_set(&d->health, d->nats_component, is_there ? HEALTH_SERVING : HEALTH_DEGRADED, "%s",
                   is_there ? "" : "there is no connection to a NATS server");
    }
}

/* Updates d->status, the line that systemctl status shows. Returns whether it has changed. */
static bool write_status(daemon_state *d) {
    char text[STATUS_SIZE];
    snprintf(text, sizeof text, "%zu models, %u connections, %llu requests", model_store_count(d->store),
             atomic_load(&d->counters.connections), (unsigned long long)atomic_load(&d->counters.requests));
    if (strcmp(d->status, text) == 0) {
        return false;
    }
    memcpy(d->status, text, sizeof text);
    return true;
}

/* Returns the resident bytes of the process that malloc has not handed out: programs, stacks, and free pages that can
 * be returned. */
static int64_t look_for_spare_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %zu", &pages) != 1) {
        pages = 0;
    }
    if (file) {
        fclose(file);
    }
    return (int64_t)(pages * (size_t)sysconf(_SC_PAGESIZE)) - (int64_t)(info.uordblks + info.hblkhd);
}

/* Returns free pages to the system if the spare bytes exceed d->spare by TRIM_BYTES, as after a flood of requests, or
 * if the last trim paid: the flood may have continued. Runs in a thread of libuv's pool. */
static void on_trim(uv_work_t *work) {
    daemon_state *d = work->data;
    int64_t before = look_for_spare_bytes();
    bool has_grown = before > d->spare + TRIM_BYTES;
    d->spare = before < d->spare ? before : d->spare;
    if (has_grown || d->must_trim_again) {
        malloc_trim(0);
        d->spare = look_for_spare_bytes();
        d->must_trim_again = has_grown || before > d->spare + TRIM_BYTES;
    }
}

static void on_trimmed(uv_work_t *work, int status) {
    daemon_state *d = work->data;
    (void)status;
    d->is_trimming = false;
}

/* Queues a trim every TRIM_SECONDS. Many threads allocate long messages, and malloc keeps free memory for each of them,
 * so a flood would leave much memory allocated. A trim locks malloc's arenas one by one, so it runs only where it pays,
 * and not on the loop. */
static void return_memory(daemon_state *d, uint64_t now) {
    if (now >= d->next_trim && !d->is_trimming) {
        d->next_trim = now + TRIM_SECONDS * NANOSECONDS;
        d->trim.data = d;
        d->is_trimming = uv_queue_work(&d->loop, &d->trim, on_trim, on_trimmed) == 0;
    }
}

static void on_save(uv_work_t *work) {
    daemon_state *d = work->data;
    snapshot_tend(d->live, d->save_interval);
}

static void on_saved(uv_work_t *work, int status) {
    daemon_state *d = work->data;
    (void)status;
    d->is_saving = false;
}

/* Saves a snapshot if one is due, on another thread: the loop must not wait for a disk. */
static void save_when_due(daemon_state *d) {
    if (!d->is_saving && !d->is_draining && snapshot_needs_tending(d->live, d->config.save_interval)) {
        d->save.data = d;
        d->save_interval = d->config.save_interval;
        d->is_saving = uv_queue_work(&d->loop, &d->save, on_save, on_saved) == 0;
    }
}

/* Returns freed memory to the system at once while much memory is held: the budget leaves no room for free blocks of
 * malloc. Otherwise malloc keeps free blocks, which makes long messages twice as fast. */
static void fit_allocator(daemon_state *d, uint64_t now) {
    bool is_crowded = atomic_load(&d->budget.held) > atomic_load(&d->budget.limit) / CROWDED_PART;
    if (is_crowded) {
        d->last_crowd = now;
    }
    if (is_crowded && !d->returns_blocks) {
        d->returns_blocks = true;
        d->must_trim_again = true;
        d->next_trim = now;
        system_memory_return_blocks(true);
    } else if (d->returns_blocks && now > d->last_crowd + CROWD_SECONDS * NANOSECONDS) {
        d->returns_blocks = false;
        system_memory_return_blocks(false);
    }
}

static void on_tick(uv_timer_t *timer) {
    daemon_state *d = timer->data;
    uint64_t now = clock_now();
    health_beat(&d->health);
    transport_sweep(d->transport);
    probe_tick(d->probe);
    fit_allocator(d, now);
    return_memory(d, now);
    if (now >= d->next_status) {
        d->next_status = now + NANOSECONDS;
        service_sweep(d->service);
        report_workers(d);
        report_memory(d);
        report_nats(d);
        report_state(d);
        save_when_due(d);
        if (!d->is_draining && !d->is_scanning && write_status(d)) {
            watchdog_status(d->status);
        }
    }
}

/* Sends a heartbeat to systemd, which restarts a daemon that sends none: a loop that hangs does not get here, and
 * listeners that do not answer suppress it. A draining daemon always sends one. */
static void on_watchdog(uv_timer_t *timer) {
    daemon_state *d = timer->data;
    if (d->is_draining || probe_is_well(d->probe, d->watchdog_interval + NANOSECONDS)) {
        watchdog_feed();
    }
}

static void close_handle(uv_handle_t *handle, void *context) {
    (void)context;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* Ends the loop LINGER_MILLISECONDS after no request is pending or the drain time is over, so that the last replies can
 * leave. */
static void on_drain(uv_timer_t *timer) {
    daemon_state *d = timer->data;
    bool is_late = clock_now() > d->drain_end;
    unsigned pending = transport_pending(d->transport);
    if (pending > 0 && !is_late) {
        return;
    }
    if (!d->has_lingered) {
        d->has_lingered = true;
        if (pending > 0) {
            log_warning(&d->log, "%u requests were not done within the drain time", pending);
        }
        uv_timer_start(&d->drain, on_drain, LINGER_MILLISECONDS, DRAIN_MILLISECONDS);
        return;
    }
    uv_stop(&d->loop);
}

static void on_terminate(uv_signal_t *signal, int number) {
    daemon_state *d = signal->data;
    if (d->is_draining) {
        log_warning(&d->log, "stopping at once");
        uv_stop(&d->loop);
        return;
    }
    d->is_draining = true;
    d->drain_end = clock_now() + clock_duration(d->config.drain_time);
    log_info(&d->log, "%s: finishing the requests under way", number == SIGINT ? "interrupted" : "asked to stop");
    watchdog_stopping("Finishing the requests under way");
    service_drain(d->service);
    transport_refuse_connections(d->transport);
    probe_stop(d->probe);
    model_compiler_stop(d->compiler);
    uv_timer_start(&d->drain, on_drain, DRAIN_MILLISECONDS, DRAIN_MILLISECONDS);
}

static void reload(daemon_state *d);

static void on_scan(uv_work_t *work) {
    scan_models(work->data);
}

/* Logs a reload as an action of the audit. A signal does not tell who has sent it. */
static void report_reload(daemon_state *d, log_level level, const char *outcome) {
    const char *path = d->arguments->config_path;
    char models[32];
    snprintf(models, sizeof models, "%zu", model_store_count(d->store));
    const log_field fields[] = {
        {"method", "reload"}, {"object", path ? path : ""}, {"peer", "SIGHUP"},
        {"outcome", outcome}, {"models", models},           {NULL, NULL},
    };
    log_fields(&d->log, level, "audit", fields);
}

static void on_scanned(uv_work_t *work, int status) {
    daemon_state *d = work->data;
    (void)status;
    d->is_scanning = false;
    report_models(d);
    if (d->must_reload_again && !d->is_draining) {
        d->must_reload_again = false;
        reload(d);
        return;
    }
    write_status(d);
    watchdog_ready(d->status);
    report_reload(d, LOG_LEVEL_INFO, "done");
}

static void start_scan(daemon_state *d) {
    d->is_scanning = true;
    d->scan.data = d;
    uv_queue_work(&d->loop, &d->scan, on_scan, on_scanned);
}

/* Copies the running values of keys that are read at the start only to `next`, and logs which of them have changed. */
static void keep_fixed_keys(daemon_state *d, config *next) {
    char changed[FIXED_KEYS_SIZE];
    if (config_keep_fixed(&d->config, next, changed, sizeof changed) > 0) {
        log_warning(&d->log, "takes effect at the next start: %s", changed);
    }
}

static transport_limits connection_limits(const config *c) {
    return (transport_limits){
        .connections = (unsigned)c->connections,
        .peer_connections = (unsigned)c->peer_connections,
        .idle_time = c->idle_time,
        .reply_time = c->reply_time,
        .message_time = c->message_time,
    };
}

static fast_limits channel_limits(const config *c) {
    return (fast_limits){
        .channels = (unsigned)c->fast_channels,
        .peer_channels = (unsigned)c->fast_peer_channels,
        .spin = c->fast_spin,
    };
}

/* Sets the limits of fast channels that GetServerInfo reports. Those of a daemon without channels stay 0. */
static void state_channel_limits(daemon_state *d) {
    atomic_store(&d->limits.fast_channels, (uint32_t)d->config.fast_channels);
    atomic_store(&d->limits.fast_peer_channels, (uint32_t)d->config.fast_peer_channels);
}

/* Reads the configuration anew, and applies its sections [access] and [tls], with their files. On failure changes
 * nothing, and returns false. */
static bool configure_next(daemon_state *d, config *next, char error[CONFIG_ERROR_SIZE]) {
    char reason[ACCESS_ERROR_SIZE];
    if (!daemon_configure(d->arguments, next, error)) {
        return false;
    }
    const transport_tls files = config_tls_files(next);
    bool has_files = files.certificate_file[0] != '\0';
    if (!access_set(&d->access, &next->access, reason) ||
        (has_files && !transport_set_tls(d->transport, &files, reason))) {
        snprintf(error, CONFIG_ERROR_SIZE, "%s", reason);
        config_free(next);
        return false;
    }
    return true;
}

/* Reloads the configuration and scans the models. A bad configuration leaves the old one in effect. */
static void reload(daemon_state *d) {
    char error[CONFIG_ERROR_SIZE];
    config next;
    watchdog_reloading();
    if (!configure_next(d, &next, error)) {
        log_error(&d->log, "%s; the old configuration stays in force", error);
        report_reload(d, LOG_LEVEL_WARNING, "refused");
        d->status[0] = '\0';
        watchdog_ready("The configuration is bad; the old one is in force");
        return;
    }
    keep_fixed_keys(d, &next);
    config_free(&d->config);
    d->config = next;
    apply_limits(d);
    const transport_limits limits = connection_limits(&d->config);
    transport_set_limits(d->transport, &limits);
    if (d->fast) {
        const fast_limits channels = channel_limits(&d->config);
        fast_carrier_set_limits(d->fast, &channels);
        state_channel_limits(d);
    }
    probe_set_times(d->probe, next.probe_interval, next.probe_timeout);
    probe_hurry(d->probe); /* takes the connection that nng has prepared with the certificates before */
    start_scan(d);
}

/* Reloads at once, or after the scan under way, which reads the configuration on another thread. */
static void on_hang_up(uv_signal_t *signal, int number) {
    daemon_state *d = signal->data;
    (void)number;
    if (d->is_draining) {
        return;
    }
    if (d->is_scanning) {
        d->must_reload_again = true;
        return;
    }
    reload(d);
}

static uint64_t hook_admitted(void *context, size_t i) {
    return transport_admitted(((daemon_state *)context)->transport, i);
}

static void hook_expect(void *context, size_t i, uint16_t port) {
    transport_expect_probe(((daemon_state *)context)->transport, i, port);
}

static bool hook_restart(void *context, size_t i) {
    daemon_state *d = context;
    char error[TRANSPORT_ERROR_SIZE];
    if (transport_restart_listener(d->transport, i, error)) {
        return true;
    }
    log_error(&d->log, "%s", error);
    return false;
}

/* Writes the GetHealth request of the probe. Returns its size, or 0 if the buffer is too small. */
static size_t write_probe_request(uint8_t *bytes, size_t size) {
    Dynamics__V1__Request request = DYNAMICS__V1__REQUEST__INIT;
    Dynamics__V1__GetHealthRequest question = DYNAMICS__V1__GET_HEALTH_REQUEST__INIT;
    char component[] = "loop";
    question.component = component;
    request.id = 1;
    request.method_case = DYNAMICS__V1__REQUEST__METHOD_GET_HEALTH;
    request.get_health = &question;
    size_t packed = dynamics__v1__request__get_packed_size(&request);
    return packed <= size ? dynamics__v1__request__pack(&request, bytes) : 0;
}

static bool start_probe(daemon_state *d) {
    uint8_t request[64];
    probe_options options = {
        .loop = &d->loop,
        .targets = d->probe_targets,
        .target_count = d->endpoint_count,
        .interval = d->config.probe_interval,
        .timeout = d->config.probe_timeout,
        .request = request,
        .request_size = write_probe_request(request, sizeof request),
        .hooks = {hook_admitted, hook_expect, hook_restart, d},
        .health = &d->health,
        .log = &d->log,
    };
    d->probe = probe_create(&options);
    return d->probe != NULL;
}

static void warn_model_left_out(void *context, const char *name, const char *reason) {
    daemon_state *d = context;
    log_error(&d->log, "the kept model %s is not loaded: %s", name, reason);
    if (d->persistent_problem_count++ == 0) {
        snprintf(d->persistent_problem, sizeof d->persistent_problem, "%.200s: %.500s", name, reason);
    }
}

/* Loads the models that clients have stored, before those of the directory. */
static void load_persistent_models(daemon_state *d) {
    size_t count = persistent_models_load(d->live, warn_model_left_out, d);
    if (count > 0) {
        log_info(&d->log, "%zu kept models", count);
    }
}

/* Creates the threads of long requests and of jobs. Jobs leave one processor to requests. */
static void create_workers(daemon_state *d) {
    d->workers = d->config.workers ? (unsigned)d->config.workers : uv_available_parallelism();
    d->job_threads = d->workers > 1 ? d->workers - 1 : 1;
    d->pool = worker_pool_create(d->workers, QUEUE_CAPACITY, 0);
    d->job_pool = worker_pool_create(d->job_threads, QUEUE_CAPACITY, JOB_NICENESS);
}

/* Creates the registry of simulations and streams. It loads compiled models from the object cache if compiling is
 * on. */
static void create_live(daemon_state *d) {
    char compiled[PATH_MAX] = "", reason[OBJECT_REASON_SIZE];
    if (d->config.compile != COMPILE_OFF && !object_cache_open(d->config.state_directory, compiled, reason)) {
        compiled[0] = '\0'; /* the model compiler reports the cause */
    }
    d->events.instance = live_token();
    live_options lives = {
        .instance = d->events.instance,
        .store = d->store,
        .limits = &d->limits,
        .counters = &d->counters,
        .budget = &d->budget,
        .health = &d->health,
        .log = &d->log,
        .threads = d->config.threads ? (unsigned)d->config.threads : uv_available_parallelism(),
        .spin = d->config.spin,
        .state_directory = d->config.state_directory,
        .compiled = compiled,
    };
    d->live = live_create(&lives);
}

/* Creates the models, the workers and the service, and loads the models. */
static bool start_service(daemon_state *d) {
    d->store = model_store_create(d->config.models);
    if (!d->store) {
        log_error(&d->log, "out of memory");
        return false;
    }
    apply_limits(d);
    d->directory = model_directory_create(d->store, &d->log);
    create_workers(d);
    create_live(d);
    d->shared = d->live ? shared_models_create(d->live) : NULL;
    d->generator = (generator_options){.sandbox = d->config.compile_sandbox,
                                       .time = d->config.compile_time,
                                       .memory_bytes = d->config.compile_memory_bytes};
    bool can_generate = generator_find_program(d->config.compile_program, d->generator.program);
    service_options options = {
        .generator = can_generate ? &d->generator : NULL,
        .instance = d->events.instance,
        .store = d->store,
        .live = d->live,
        .shared = d->shared,
        .limits = &d->limits,
        .counters = &d->counters,
        .budget = &d->budget,
        .access = &d->access,
        .settings = &d->settings,
        .slow = &d->slow,
        .health = &d->health,
        .events = &d->events,
        .log = &d->log,
        .submit = worker_pool_submit,
        .submit_for = worker_pool_submit_for,
        .yield = worker_pool_yield,
        .pause = worker_pool_pause,
        .resume = worker_pool_resume,
        .pool = d->pool,
        .workers = d->workers,
        .job_pool = d->job_pool,
        .job_threads = d->job_threads,
        .waiting_requests = QUEUE_CAPACITY,
        .connection_requests = transport_connection_share((unsigned)d->config.contexts),
    };
    d->service = service_create(&options);
    if (!d->directory || !d->live || !d->shared || !d->pool || !d->job_pool || !d->service) {
        log_error(&d->log, "out of memory or threads");
        return false;
    }
    model_store_listen(d->store, model_events_on_change, &d->events);
    load_persistent_models(d);
    scan_models(d);
    report_models(d);
    return true;
}

static void add_endpoints(daemon_state *d, const config_addresses *addresses, transport_kind kind) {
    for (size_t i = 0; i < addresses->count; i++) {
        if (transport_is_nats(addresses->address[i])) {
            continue;
        }
        transport_endpoint *e = &d->endpoints[d->endpoint_count++];
        snprintf(e->address, sizeof e->address, "%s", addresses->address[i]);
        e->kind = kind;
    }
}

static bool start_transport(daemon_state *d) {
    char error[TRANSPORT_ERROR_SIZE];
    add_endpoints(d, &d->config.request, TRANSPORT_REQUEST);
    add_endpoints(d, &d->config.events, TRANSPORT_EVENTS);
    add_endpoints(d, &d->config.ingest, TRANSPORT_INGEST);
    transport_options options = {
        .endpoints = d->endpoints,
        .endpoint_count = d->endpoint_count,
        .tls = config_tls_files(&d->config),
        .ipc_mode = d->config.ipc_mode,
        .message_bytes = d->config.message_bytes,
        .contexts = (unsigned)d->config.contexts,
        .limits = connection_limits(&d->config),
        .budget = &d->budget,
        .access = &d->access,
        .handler = service_handle,
        .handler_context = d->service,
        .sink = live_receive_message,
        .sink_context = d->live,
        .log = &d->log,
        .counters = &d->counters,
    };
    char reason[CONFIG_ERROR_SIZE];
    if (!nats_settings_read(&d->config, d->events.instance, &d->nats, &options.nats, reason)) {
        log_error(&d->log, "%s", reason);
        return false;
    }
    if (!transport_open(&options, error, &d->transport)) {
        log_error(&d->log, "%s", error);
        return false;
    }
    const char *ingest[CONFIG_ENDPOINTS];
    size_t ingest_count = 0;
    for (size_t i = 0; i < d->endpoint_count; i++) {
        static const char *const kinds[] = {"request", "events", "ingest"};
        const char *address = transport_address(d->transport, i);
        transport_kind kind = d->endpoints[i].kind;
        d->service_endpoints[i] = (service_endpoint){address, kinds[kind]};
        d->probe_targets[i] = (probe_target){address, kind == TRANSPORT_REQUEST, kind == TRANSPORT_INGEST};
        if (kind == TRANSPORT_INGEST) {
            ingest[ingest_count++] = address;
        }
        log_info(&d->log, "%s at %s", kinds[kind], address);
    }
    d->has_nats = options.nats.server_count > 0;
    if (d->has_nats) {
        d->nats_component = health_enter(&d->health, "nats");
    }
    live_attach(d->live, d->transport, ingest, ingest_count);
    service_set_endpoints(d->service, d->service_endpoints, d->endpoint_count);
    d->events.transport = d->transport;
    return shared_models_start(d->shared, d->transport);
}

/* Opens the sockets of fast channels, unless the configuration allows no channel. */
static bool start_fast(daemon_state *d) {
    char error[TRANSPORT_ERROR_SIZE];
    fast_options options = {
        .endpoints = d->endpoints,
        .endpoint_count = d->endpoint_count,
        .ipc_mode = d->config.ipc_mode,
        .limits = channel_limits(&d->config),
        .handler = fast_session_handler(d->service),
        .log = &d->log,
        .counters = &d->counters,
    };
    if (d->config.fast_channels == 0) {
        return true;
    }
    if (!fast_carrier_open(&options, error, &d->fast)) {
        log_error(&d->log, "%s", error);
        return false;
    }
    state_channel_limits(d);
    return true;
}

static void start_signal(daemon_state *d, uv_signal_t *handle, uv_signal_cb callback, int number) {
    uv_signal_init(&d->loop, handle);
    handle->data = d;
    uv_signal_start(handle, callback, number);
}

static void start_timer(daemon_state *d, uv_timer_t *handle, uv_timer_cb callback, uint64_t milliseconds) {
    uv_timer_init(&d->loop, handle);
    handle->data = d;
    if (callback) {
        uv_timer_start(handle, callback, 0, milliseconds);
    }
}

static void start_loop_work(daemon_state *d) {
    d->watchdog_interval = watchdog_interval();
    start_signal(d, &d->terminate, on_terminate, SIGTERM);
    start_signal(d, &d->interrupt, on_terminate, SIGINT);
    start_signal(d, &d->hang_up, on_hang_up, SIGHUP);
    start_timer(d, &d->tick, on_tick, TICK_MILLISECONDS);
    start_timer(d, &d->drain, NULL, 0);
    start_timer(d, &d->watchdog, d->watchdog_interval ? on_watchdog : NULL, d->watchdog_interval / 1000000);
}

/* Creates the state directory if it is missing, as systemd does for its unit, and logs a warning if it is not writable.
 * Later failures to write are reported by the health. */
static void prepare_state_directory(daemon_state *d) {
    const char *path = d->config.state_directory;
    if (path[0] == '\0' || ((mkdir(path, 0750) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0)) {
        return;
    }
    log_warning(&d->log,
                "cannot write to the state directory %s: %s; without it nothing is recorded and no simulation outlives "
                "a restart: create one for this user (simulations.state_directory, or --state), or set it to nothing",
                path, strerror(errno));
}

static void warn_left_out(void *context, const char *name, const char *reason) {
    log_warning(context, "simulation %s is not restored: %s", name, reason);
}

static void warn_damaged(void *context, const char *path, const char *damage) {
    log_warning(context, "%s: %s", path, damage);
}

static void warn_changed(void *context, const char *name, const char *change) {
    log_warning(context, "simulation %s: %s", name, change);
}

/* Restores the simulations of the last run, and saves them as the first snapshot of this one. Without a state directory
 * it does nothing. */
static void restore_simulations(daemon_state *d) {
    char path[PATH_MAX];
    refusal why = {0};
    size_t count;
    const snapshot_report report = {warn_left_out, warn_damaged, warn_changed, &d->log};
    if (d->config.state_directory[0] == '\0') {
        return;
    }
    if (!snapshot_restore(d->live, true, &report, &count, &why)) {
        log_error(&d->log, "%s; no simulation is saved until the daemon is restarted", why.message);
        return;
    }
    if (count > 0) {
        log_info(&d->log, "%zu simulations restored", count);
    }
    snapshot_save(d->live, path, &count, &why);
    report_state(d);
}

/* Saves a snapshot of the simulations when the daemon stops. Without a state directory it does nothing. */
static void save_simulations(daemon_state *d) {
    char path[PATH_MAX];
    refusal why = {0};
    size_t count;
    if (d->config.state_directory[0] == '\0') {
        return;
    }
    if (!snapshot_save(d->live, path, &count, &why)) {
        log_error(&d->log, "%s", why.message);
    } else if (count > 0) {
        log_info(&d->log, "%zu simulations saved to %s", count, path);
    }
}

static bool start_compiler(daemon_state *d) {
    const config *c = &d->config;
    model_compiler_options options = {
        .loop = &d->loop,
        .store = d->store,
        .log = &d->log,
        .mode = c->compile,
        .state_directory = c->state_directory,
        .program = c->compile_program,
        .compiler = c->compile_compiler,
        .sandbox = c->compile_sandbox,
        .time = c->compile_time,
        .memory_bytes = c->compile_memory_bytes,
        .cache_bytes = c->compile_cache_bytes,
    };
    d->compiler = model_compiler_create(&options);
    return d->compiler != NULL;
}

/* Serves the pages for monitoring programs, if an address is configured for them. */
static bool start_monitor(daemon_state *d) {
    char error[HTTP_ERROR_SIZE];
    if (d->config.observe.count == 0) {
        return true;
    }
    d->monitor = (monitor){
        .service = d->service,
        .live = d->live,
        .store = d->store,
        .pool = d->pool,
        .job_pool = d->job_pool,
        .transport = d->transport,
        .budget = &d->budget,
        .counters = &d->counters,
        .limits = &d->limits,
        .health = &d->health,
        .start = (double)clock_wall() / 1e9 - (double)(clock_now() - d->counters.start) / 1e9,
    };
    d->http = http_listener_create(&d->loop, d->config.observe.address[0], monitor_page, &d->monitor, error);
    if (!d->http) {
        log_error(&d->log, "%s", error);
        return false;
    }
    log_info(&d->log, "metrics at %s/metrics", http_listener_address(d->http));
    return true;
}

/* Sets who may do what. */
static bool start_access(daemon_state *d) {
    char error[ACCESS_ERROR_SIZE];
    access_init(&d->access);
    if (!access_set(&d->access, &d->config.access, error)) {
        log_error(&d->log, "%s", error);
        return false;
    }
    return true;
}

static bool start(daemon_state *d) {
    raise_descriptor_limit(d);
    prepare_state_directory(d);
    if (!start_access(d) || !start_service(d) || !start_transport(d) || !start_probe(d) || !start_compiler(d) ||
        !start_monitor(d)) {
        return false;
    }
    start_loop_work(d);
    restore_simulations(d);
    health_beat(&d->health);
    char error[TRANSPORT_ERROR_SIZE];
    if (!transport_receive(d->transport, error)) {
        log_error(&d->log, "%s", error);
        return false;
    }
    return start_fast(d);
}

/* Closes all handles of the loop, and runs it until they are closed. */
static void close_loop(daemon_state *d) {
    if (d->probe) {
        probe_stop(d->probe);
    }
    if (d->compiler) {
        model_compiler_stop(d->compiler);
    }
    http_listener_stop(d->http);
    uv_walk(&d->loop, close_handle, NULL);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    uv_loop_close(&d->loop);
}

/* Stops all parts in the order of their dependencies: calls under way end before the service. */
static void stop(daemon_state *d) {
    close_loop(d);
    fast_carrier_close(d->fast);
    if (d->service) {
        service_cancel_all(d->service);
    }
    worker_pool_free(d->pool);
    worker_pool_free(d->job_pool);
    if (d->transport) {
        d->events.transport = NULL;
        shared_models_stop(d->shared);
        transport_stop_ingest(d->transport);
        save_simulations(d);
        live_free(d->live);
        transport_stop(d->transport);
    } else {
        live_free(d->live);
    }
    probe_free(d->probe);
    http_listener_free(d->http);
    service_free(d->service);
    shared_models_free(d->shared);
    model_compiler_free(d->compiler);
    model_directory_free(d->directory);
    model_store_free(d->store);
    health_free(&d->health);
    access_free(&d->access);
    settings_free(&d->settings);
    slow_log_free(&d->slow);
    config_free(&d->config);
}

int daemon_run(const daemon_arguments *arguments, config *c) {
    static daemon_state d;
    d.arguments = arguments;
    d.config = *c;
    d.counters.start = clock_now();
    log_configure(&d.log, c->level, c->format);
    config_check_access(c, &d.log);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the system's size limit causes an error of its write */
    settings_init(&d.settings);
    slow_log_init(&d.slow);
    health_init(&d.health);
    d.models_component = health_enter(&d.health, "models");
    d.workers_component = health_enter(&d.health, "workers");
    d.memory_component = health_enter(&d.health, "memory");
    d.state_component = health_enter(&d.health, "state");
    if (uv_loop_init(&d.loop) != 0) {
        log_error(&d.log, "cannot create the event loop");
        return EXIT_FAILURE;
    }
    bool is_started = start(&d);
    if (is_started) {
        write_status(&d);
        log_info(&d.log, "dynamicsd %s is ready: %s", DYNAMICSD_VERSION, d.status);
        watchdog_ready(d.status);
        uv_run(&d.loop, UV_RUN_DEFAULT);
    }
    stop(&d);
    log_info(&d.log, "stopped");
    return is_started ? EXIT_SUCCESS : EXIT_FAILURE;
}
