/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdynamicsclient: C client of dynamicsd, the rigid-body dynamics service.
 *
 *     dyn_client *client;
 *     dyn_client_error error;
 *     if (dyn_client_connect("ipc:///run/dynamicsd/dynamicsd.sock", NULL, &client, &error) != DYN_CLIENT_OK)
 *         return fprintf(stderr, "%s\n", error.message), 1;
 *     double q[6] = {0}, tau[6];
 *     dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "ur5", .nq = 6, .nv = 6, .samples = 1);
 *     if (dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, tau, &error) != DYN_CLIENT_OK)
 *         fprintf(stderr, "%s: %s\n", error.field, error.message);
 *     dyn_client_close(client);
 *
 * Conventions
 *   units      SI: metre, kilogram, second, radian, newton, newton metre.
 *   arrays     row-major and contiguous. A state is one row: q has nq values, v, a and tau have nv. Every numeric call
 *              takes `samples` rows in one message and one round trip; sending many states at once is what makes the
 *              service fast.
 *   arguments  in this order: the client (or its stream or watch), inputs, the timeout, outputs, the error. The timeout
 *              is a member of the query or of the request where the call has one.
 *   structs    options, queries, requests and inputs begin with struct_size, which the macro DYN_CLIENT_..._INIT(...)
 *              sets. Members that its arguments do not name are zero, which selects their defaults. These structs grow:
 *              a library works with callers that were compiled with an older header, and with those that were compiled
 *              with a newer one and leave zero what the library does not know. The other structs, and what arrays
 *              consist of, do not change before the library's SONAME does.
 *   integers   size_t counts and indexes objects: joints, rows, models, connections. uint64_t counts what may exceed
 *              the memory of this machine (samples, steps, points, bytes), and holds tokens, random numbers and flags.
 *              Wall times are int64_t. uint32_t holds revisions of the contract and process identifiers.
 *   booleans   have the name of their field in the protocol; if it has none, they begin with is_, has_, with_ or use_.
 *   joints     rows follow the model's joint order (dyn_client_describe_model), or the caller's (query.joint_names).
 *   floating   q is position x y z in the world, then quaternion x y z w; v is linear, then angular velocity, both in
 *              the axes of the floating link.
 *   strings    UTF-8, end with a zero byte.
 *   memory     results come in one block that the caller frees with the function declared with it; NULL may be freed.
 *              Numeric calls write into the caller's arrays. No call changes its inputs or uses them after it returns.
 *   errors     a function that can fail returns its status and fills `error` (which may be NULL). Outputs are then
 *              undefined; pointers to results are NULL.
 *   threads    one dyn_client may be used by many threads at once; their calls run in parallel over one connection.
 *              dyn_client_close must be the last call.
 *   fork       a process that ever connected must not use this library in children that it forks without exec:
 *              dyn_client_connect refuses there, and older clients must not be touched.
 *   network    the library reconnects after a lost connection and repeats the request under way; the daemon recognizes
 *              repeated requests that change its state and executes them once.
 */
#ifndef DYNAMICS_CLIENT_H
#define DYNAMICS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynamics_client_version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DYN_CLIENT_EXPORT __attribute__((visibility("default")))

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Result of a call. Codes below 100 are the canonical codes, which the daemon reports, or this library for arguments.
 * Codes from 100 on are errors that only the client can detect. */
typedef enum dyn_client_status {
    DYN_CLIENT_OK = 0,
    DYN_CLIENT_CANCELLED = 1,
    DYN_CLIENT_UNKNOWN = 2,
    DYN_CLIENT_INVALID_ARGUMENT = 3,  /* a value, a count or a name is wrong */
    DYN_CLIENT_DEADLINE_EXCEEDED = 4, /* the request's timeout passed in the daemon */
    DYN_CLIENT_NOT_FOUND = 5,         /* no model, joint, frame or link of that name */
    DYN_CLIENT_ALREADY_EXISTS = 6,    /* another model has that name */
    DYN_CLIENT_PERMISSION_DENIED = 7,
    DYN_CLIENT_RESOURCE_EXHAUSTED = 8,  /* a limit of the daemon (dyn_client_get_server_info) is reached */
    DYN_CLIENT_FAILED_PRECONDITION = 9, /* the model cannot serve the request: a singular mass matrix, for one */
    DYN_CLIENT_ABORTED = 10,
    DYN_CLIENT_OUT_OF_RANGE = 11,
    DYN_CLIENT_UNIMPLEMENTED = 12, /* the daemon is older than this client */
    DYN_CLIENT_INTERNAL = 13,      /* a defect of the daemon */
    DYN_CLIENT_UNAVAILABLE = 14,   /* the daemon is starting or draining; retry soon */
    DYN_CLIENT_DATA_LOSS = 15,
    DYN_CLIENT_UNAUTHENTICATED = 16,
    DYN_CLIENT_UNREACHABLE = 100,   /* nothing listens at the address, or the connection was closed */
    DYN_CLIENT_TIMEOUT = 101,       /* connected, but no reply within the timeout */
    DYN_CLIENT_BAD_REPLY = 102,     /* the reply is not one of dynamics.v1, or does not match the request */
    DYN_CLIENT_OUT_OF_MEMORY = 103, /* in the client */
} dyn_client_status;

enum {
    DYN_CLIENT_FIELD_SIZE = 192,
    DYN_CLIENT_MESSAGE_SIZE = 512,
    DYN_CLIENT_REASON_SIZE = 40,
    DYN_CLIENT_NAME_SIZE = 128,
    DYN_CLIENT_CODE_SIZE = 192,
};

/* Description of an error. Strings end with a zero byte and are truncated to fit. The daemon sets the members after
 * `message`; errors of this library leave them zero, except for `request` where one was sent, and the reason
 * DAEMON_GONE: the daemon that has the objects of a client over NATS is gone. */
typedef struct dyn_client_error {
    dyn_client_status status;
    char field[DYN_CLIENT_FIELD_SIZE];     /* such as "inverse_dynamics.q[13]"; empty: no single field is wrong */
    char message[DYN_CLIENT_MESSAGE_SIZE]; /* a sentence with the offending value and what to do */
    char reason[DYN_CLIENT_REASON_SIZE];   /* token for programs: "SINGULAR_MASS_MATRIX"; status.proto lists all */
    bool has_sample;
    uint64_t sample;                  /* index of the state that the error is about */
    char joint[DYN_CLIENT_NAME_SIZE]; /* joint that the error is about; empty: no single one */
    uint64_t limit, requested;        /* limit that is exceeded, and the requested amount; 0: none, or not known */
    char limit_name[DYN_CLIENT_REASON_SIZE]; /* name of the limit, such as "samples" in dyn_client_server_info */
    uint64_t marked;    /* samples that failed in a call that succeeded: DYN_CLIENT_ON_ERROR_MARK */
    double retry_after; /* s after which the same call may succeed; 0: it fails again */
    uint64_t request;   /* number of the request, which the daemon's log and its list of slow requests state; 0: none
                           was sent */
} dyn_client_error;

/* Returns the name of the status in capitals, as in the protocol: "INVALID_ARGUMENT". Never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_status_name(dyn_client_status status);

/* ---- connection -------------------------------------------------------------------------------------------------- */

typedef struct dyn_client dyn_client;

/* Initializer of a struct that begins with its size. */
#define DYN_CLIENT_SIZED(type, ...)                                                                                    \
    { .struct_size = sizeof(type), __VA_ARGS__ }

/* Options of a connection. Zero (or a NULL dyn_client_options) selects the default. */
typedef struct dyn_client_options {
    size_t struct_size;
    double timeout;         /* s, for calls that set none; default 10, at most 1e6 */
    double connect_timeout; /* s, to establish or re-establish the connection; default 2, at most 1e6 */
    size_t max_reply_bytes; /* a longer reply is refused; default 64 MiB */
    uint32_t min_revision;  /* of the contract; an earlier daemon answers each request UNIMPLEMENTED; default: any */
    bool use_jobs;          /* calls with a query, and those of their kind, run as jobs; see the section on jobs */
    const char *token;      /* secret token of the caller, which the client copies; default: none */
    double fast_spin; /* s, that a call over a fast channel spins for its reply before it sleeps, at most 1; default
                         50e-6; negative: it sleeps at once */
} dyn_client_options;
#define DYN_CLIENT_OPTIONS_INIT(...) DYN_CLIENT_SIZED(dyn_client_options, __VA_ARGS__)

/* Connects to the daemon at `url`: "ipc:///run/dynamicsd/dynamicsd.sock", "tcp://127.0.0.1:7400" ...
 *
 * "tls+tcp://host:7400?ca=FILE" is a daemon over TLS. The names after "?" are ca (file of certificates of authorities
 * in PEM; default: those of the system), certificate and key (files, where the daemon asks clients for a certificate),
 * and name (name in the daemon's certificate; default: the host). The client compares names only, as mbedTLS 2.28 does:
 * an address such as 127.0.0.1 needs name=NAME, unless it is the certificate's common name. The files are read once.
 *
 * "nats://host:4222" is a NATS server with one or more daemons. Any of them answers a request that changes nothing, and
 * another one receives it when a third of its timeout has passed. Calls about simulations, streams, recordings, jobs
 * and the daemon itself go to the daemon that answered first; when it is gone they fail with UNREACHABLE. The user of
 * the NATS server is part of the address: "nats://user:password@host:4222", "nats://token@host:4222", or
 * "tls://host:4222?ca=FILE&credentials=FILE". The names after "?" are credentials (file), nkey and nkey_seed (public
 * NKey, and the file of its seed), ca (file of authorities for TLS), certificate and key (files). Messages show the
 * address without user and files.
 *
 * "tcp://one:7400,tcp://two:7400" are several daemons. One after the other answers requests that change nothing, and
 * another one receives a request when a daemon is lost or half of the timeout has passed: state a timeout of at least
 * twice the time that a request needs. All other calls go to the first daemon of the list that was there. One of them
 * must be there. With several daemons, at a NATS server or in a list, large batches of samples are cut into pieces that
 * all daemons compute (dyn_client_query.spread).
 *
 * Waits at most options->connect_timeout, and 0.2 s longer for each further daemon of a list. Errors: INVALID_ARGUMENT
 * (not an address, a bad option), UNREACHABLE (nothing listens there, or it does not speak REQ/REP), UNAVAILABLE (a
 * forked child, see above), OUT_OF_MEMORY. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_connect(const char *url, const dyn_client_options *options,
                                                       dyn_client **client, dyn_client_error *error);

/* Ends all calls of the client with CANCELLED, both those under way and later ones. A program calls it to exit while
 * the daemon does not answer. Any thread may call it. It returns when no call waits for the daemon any more, after
 * milliseconds. The daemon may still execute requests that it has received. Afterwards the client can only be closed,
 * once all threads have returned from their calls. NULL is ignored. */
DYN_CLIENT_EXPORT void dyn_client_abort(dyn_client *client);

/* Returns the number of the calling thread, for dyn_client_cancel. Threads that live at the same time have different
 * numbers. Thread-safe. */
DYN_CLIENT_EXPORT uint64_t dyn_client_thread(void);

/* Cancels the call of this client that a thread has under way, in the daemon too. The number of the thread is that of
 * dyn_client_thread. The call ends with CANCELLED: when the daemon has ended the request, or without it where the
 * daemon does not answer within 0.3 s, or still computes some seconds later. It ends with its result if the daemon is
 * done before. Other calls of the client, and later ones of the thread, go on.
 *
 * Returns true if a request of the thread was under way. Some calls send several requests one after the other, and
 * between two of them nothing can be cancelled: a caller repeats this function, every 50 ms for example, until the call
 * of the thread has ended. Any thread may call it, for one of its own calls or of another thread; a signal handler may
 * not. Waits at most 0.3 s for each request. `client` may be NULL. */
DYN_CLIENT_EXPORT bool dyn_client_cancel(dyn_client *client, uint64_t thread);

/* Closes the connection and frees the client. No call may be under way. NULL is ignored. */
DYN_CLIENT_EXPORT void dyn_client_close(dyn_client *client);

/* Returns the version of the library that the program runs with, such as "1.2.3". DYN_CLIENT_VERSION_MAJOR, _MINOR,
 * _PATCH and DYN_CLIENT_VERSION are those of the header that it was compiled with. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_version(void);

/* Errors of every call below, in addition to those that its comment names: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED,
 * UNAVAILABLE, UNREACHABLE, TIMEOUT, BAD_REPLY, OUT_OF_MEMORY, and CANCELLED after dyn_client_abort and
 * dyn_client_cancel. `timeout` is in seconds; 0 selects the client's own. The deadline of the daemon is nine tenths of
 * the timeout, or one second less than the timeout where that is longer. At the deadline the daemon ends its work with
 * DEADLINE_EXCEEDED. It does so too after its own limits.request_time, which no timeout extends. TIMEOUT means that no
 * reply arrived. */

/* ---- the daemon -------------------------------------------------------------------------------------------------- */

typedef enum dyn_client_health_state {
    DYN_CLIENT_HEALTH_STATE_UNKNOWN = 0,
    DYN_CLIENT_HEALTH_STATE_SERVING = 1,
    DYN_CLIENT_HEALTH_STATE_DEGRADED = 2, /* works, with a shortfall that `message` describes */
    DYN_CLIENT_HEALTH_STATE_NOT_SERVING = 3,
} dyn_client_health_state;

typedef struct dyn_client_component {
    const char *name; /* "loop", "models", "workers", "listener tcp://127.0.0.1:7400" ... */
    dyn_client_health_state state;
    const char *message; /* empty when serving */
} dyn_client_component;

typedef struct dyn_client_health {
    dyn_client_health_state state; /* the worst of the components */
    size_t component_count;
    const dyn_client_component *components;
} dyn_client_health;

/* Makes an empty round trip to check that the daemon answers. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_ping(dyn_client *client, double timeout, dyn_client_error *error);

/* Requests the health of the daemon. `component` is the name of one component; NULL selects all. NOT_FOUND: no such
 * component. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_health(dyn_client *client, const char *component, double timeout,
                                                          dyn_client_health **health, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_health_free(dyn_client_health *health);

typedef struct dyn_client_endpoint {
    const char *address; /* to dial */
    const char *kind;    /* "request", "events" or "ingest" */
} dyn_client_endpoint;

/* Right of a caller; each includes those before it. */
typedef enum dyn_client_method_role {
    DYN_CLIENT_METHOD_ROLE_MONITOR = 1, /* 1 to 4: of daemons before they told callers apart */
    DYN_CLIENT_METHOD_ROLE_COMPUTE = 2,
    DYN_CLIENT_METHOD_ROLE_CONTROL = 3,
    DYN_CLIENT_METHOD_ROLE_MANAGE = 4,
    DYN_CLIENT_METHOD_ROLE_READER = 5,        /* computes, describes and watches */
    DYN_CLIENT_METHOD_ROLE_USER = 6,          /* loads models, creates simulations, streams and recordings */
    DYN_CLIENT_METHOD_ROLE_ADMINISTRATOR = 7, /* changes the daemon, and everything that others own */
} dyn_client_method_role;

typedef struct dyn_client_method_info {
    const char *name;            /* "inverse_dynamics" */
    dyn_client_method_role role; /* least role of a caller */
    bool changes_state;          /* a repeated request is executed once */
    bool is_slow;                /* always runs on a worker */
    bool can_be_job;             /* a job can compute it */
} dyn_client_method_info;

/* Counter of the daemon. server.proto lists the names, such as "requests". */
typedef struct dyn_client_counter {
    const char *name;
    uint64_t value;
} dyn_client_counter;

/* Version, limits, endpoints, methods and counters of the daemon. */
typedef struct dyn_client_server_info {
    const char *version;
    uint32_t revision; /* of the contract that the daemon speaks */
    size_t protocol_count;
    const char *const *protocols; /* "dynamics.v1" */
    const char *instruction_set;  /* of the kernels, such as "scalar" */
    size_t lanes[2];              /* states computed at once, by dyn_client_precision */
    struct {
        uint64_t message_bytes; /* of one request */
        uint64_t reply_bytes;   /* of one reply */
        uint64_t samples;       /* states in one request */
        size_t models;
        size_t links; /* of one model */
        size_t connections;
        double request_time; /* s, longest time of one request */
        double idle_time;    /* s, after which a silent connection is closed */
        size_t simulations, streams;
        size_t topics;                                 /* endpoints of watched simulations and streams */
        uint64_t stream_points;                        /* of one stream */
        uint64_t recording_bytes;                      /* of one recording */
        uint64_t recordings_bytes, disk_reserve_bytes; /* of all recordings; free bytes that they leave on the disk */
        size_t recordings;
        double lease_time;          /* s, of a simulation whose options set no lease */
        uint64_t memory_bytes;      /* of all requests and replies together */
        size_t peer_connections;    /* of one user or one address */
        double message_time;        /* s, in which a message must arrive whole */
        size_t jobs;                /* finished jobs included */
        double job_time;            /* s, longest computation of a job */
        uint64_t job_bytes;         /* of requests and results of all jobs together */
        double job_result_time;     /* s, after which a finished job is removed */
        size_t constraints;         /* of one model */
        size_t machine_elements;    /* of one model */
        size_t estimates;           /* of one identification */
        size_t contact_surfaces;    /* of one model */
        double request_cpu_time;    /* s of all threads together for one request; 0: any */
        uint64_t samples_under_way; /* states of the long requests of all users at the same time */
        /* Of one user, except administrators. */
        size_t user_requests;                     /* long ones at the same time */
        uint64_t user_samples, user_memory_bytes; /* of these requests together */
        size_t user_models, user_simulations, user_streams, user_recordings, user_jobs;
        uint64_t user_recordings_bytes, user_job_bytes;
        size_t fast_channels, fast_peer_channels; /* of all users, and of one; 0: the daemon has no fast channels */
        uint64_t fast_channel_bytes;              /* memory of one */
        /* Bounds that no configuration changes. */
        size_t payloads, operations;                             /* of one request */
        size_t simulation_forces;                                /* that act on one simulation */
        size_t task_frames;                                      /* of one operational-space task */
        size_t substeps;                                         /* of one step */
        size_t base_parameter_joints;                            /* moving joints of a model with base parameters */
        size_t coupled_base_parameter_joints;                    /* moving joints, if some are coupled mimic joints */
        uint64_t urdf_bytes;                                     /* of one document */
        size_t urdf_depth;                                       /* depth of elements inside each other in a document */
        size_t model_name_bytes, object_name_bytes;              /* of models; of simulations, streams and recordings */
        size_t element_name_bytes;                               /* of links, joints and frames */
        size_t sample_errors;                                    /* listed in one reply */
        size_t stored_replies;                                   /* for repeated requests */
        uint64_t stored_reply_bytes, largest_stored_reply_bytes; /* of all stored replies; of one stored reply */
        size_t external_forces;                                  /* of one request, beside one for each link */
        size_t quantities;                                       /* of one evaluation */
        size_t chain_joints;                                     /* of a Denavit-Hartenberg table or a screw chain */
        uint64_t description_bytes;    /* of a model in a snapshot, a recording, or a derived model that is kept */
        uint64_t sample_steps;         /* of one rollout, summed over its samples */
        size_t decoded_factor;         /* memory of a decoded request: this multiple of its bytes, plus the margin */
        uint64_t decoded_margin_bytes; /* margin in the memory of a decoded request */
        size_t connection_requests;    /* of one connection under way when another long one begins */
        size_t waiting_requests;       /* long requests that wait for a worker */
    } limits;
    size_t endpoint_count;
    const dyn_client_endpoint *endpoints;
    size_t method_count;
    const dyn_client_method_info *methods; /* that the daemon serves */
    double uptime;                         /* s */
    size_t workers;                        /* threads that compute long requests */
    uint32_t process_id;
    uint64_t instance; /* random number drawn at the daemon's start: it differs after a restart */
    size_t counter_count;
    const dyn_client_counter *counters;
    const char *caller; /* name of this client to the daemon: "uid:1000", "token:planner"; empty: an earlier daemon */
    dyn_client_method_role caller_role; /* its role; 0: none, or an earlier daemon */
} dyn_client_server_info;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_server_info(dyn_client *client, double timeout,
                                                               dyn_client_server_info **info, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_server_info_free(dyn_client_server_info *info);

/* Returns the value of a counter, or 0 if no counter has that name. */
DYN_CLIENT_EXPORT uint64_t dyn_client_server_counter(const dyn_client_server_info *info, const char *name);

/* Requests of one method since the daemon's start. */
typedef struct dyn_client_method_metrics {
    const char *method; /* "inverse_dynamics"; "none": requests that name no method or cannot be decoded */
    size_t code_count;
    const uint64_t *codes; /* answered requests by the code of the reply; the first is of DYN_CLIENT_OK */
    const uint64_t *times; /* requests by the range of their time: one more than bounds */
    double time;           /* s, summed, from the arrivals to the replies */
    uint64_t samples;      /* states in the requests */
    uint64_t request_bytes, reply_bytes;
} dyn_client_method_metrics;

/* Numbers of the daemon's requests by method. */
typedef struct dyn_client_metrics {
    uint64_t instance; /* as in dyn_client_server_info */
    double uptime;     /* s */
    size_t bound_count;
    const double *time_bounds; /* s, upper ends of the ranges of `times`, without the last range */
    size_t method_count;
    const dyn_client_method_metrics *methods; /* that were called */
    size_t counter_count;
    const dyn_client_counter *counters; /* as in dyn_client_server_info */
} dyn_client_metrics;

/* Requests the numbers of the daemon's requests by method. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_metrics(dyn_client *client, double timeout,
                                                           dyn_client_metrics **metrics, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_metrics_free(dyn_client_metrics *metrics);

/* Least severity of a line of the daemon's log. */
typedef enum dyn_client_log_level {
    DYN_CLIENT_LOG_LEVEL_UNSPECIFIED = 0, /* leaves the level as it is */
    DYN_CLIENT_LOG_LEVEL_ERROR = 1,
    DYN_CLIENT_LOG_LEVEL_WARNING = 2,
    DYN_CLIENT_LOG_LEVEL_INFO = 3,
    DYN_CLIENT_LOG_LEVEL_DEBUG = 4,
} dyn_client_log_level;

/* Sets the level of the daemon's log, until the daemon stops or reloads its configuration. `now` and `previous` (each
 * may be NULL) receive the level from now on, and that before. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_set_log_level(dyn_client *client, dyn_client_log_level level,
                                                             double timeout, dyn_client_log_level *now,
                                                             dyn_client_log_level *previous, dyn_client_error *error);

/* Connection of a client of the daemon. */
typedef struct dyn_client_connection {
    uint64_t connection; /* its number */
    const char *peer;    /* "uid 1000 pid 4711", "127.0.0.1:40112" */
    const char *caller;  /* by what the system states: "uid:1000"; a token may name another one in each request */
    dyn_client_method_role role;
    const char *kind;  /* "request", "events" or "ingest" */
    double age, idle;  /* s, since it was opened, and since its last request or pushed message */
    uint64_t requests; /* and pushed messages, so far */
    uint64_t under_way;
} dyn_client_connection;

typedef struct dyn_client_connections {
    size_t count;
    const dyn_client_connection *connections;
} dyn_client_connections;

/* Lists the connections of the daemon's clients, without those over NATS. Needs the role administrator. The caller
 * frees the result. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_connections(dyn_client *client, double timeout,
                                                                dyn_client_connections **connections,
                                                                dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_connections_free(dyn_client_connections *connections);

/* Closes a connection of another client: its requests under way remain unanswered, and it may connect again. Needs the
 * role administrator. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_close_connection(dyn_client *client, uint64_t connection, double timeout,
                                                                dyn_client_error *error);

/* Request that took at least the time of the key observe.slow_time of the daemon's configuration. */
typedef struct dyn_client_slow_request {
    uint64_t number;           /* counted from 1 since the daemon's start */
    int64_t stamp_ns;          /* wall time of the reply, ns since 1970-01-01 UTC */
    uint64_t request;          /* number that its client chose, as in the daemon's log */
    const char *method;        /* such as "rollout"; "none": it could not be decoded */
    const char *object;        /* model, simulation or other object that it names; empty: none */
    const char *peer, *caller; /* as in dyn_client_connection; the caller by its token, if it has one */
    const char *code;          /* of the reply: "OK", "INVALID_ARGUMENT" */
    double time, waiting_time; /* s, from arrival to reply, and until a worker began it; 0: no worker did */
    uint64_t samples, request_bytes, reply_bytes;
} dyn_client_slow_request;

typedef struct dyn_client_slow_requests {
    size_t count;
    const dyn_client_slow_request *requests; /* the last one first */
    uint64_t total;                          /* since the daemon's start */
} dyn_client_slow_requests;

/* Lists the last slow requests, at most `most` (0: all that the daemon holds, at most 128). Needs the role
 * administrator. The caller frees the result. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_slow_requests(dyn_client *client, size_t most, double timeout,
                                                                  dyn_client_slow_requests **requests,
                                                                  dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_slow_requests_free(dyn_client_slow_requests *requests);

/* Origin of the value of a setting. */
typedef enum dyn_client_setting_origin {
    DYN_CLIENT_SETTING_ORIGIN_DEFAULT = 1,
    DYN_CLIENT_SETTING_ORIGIN_FILE = 2,
    DYN_CLIENT_SETTING_ORIGIN_COMMAND_LINE = 3,
    DYN_CLIENT_SETTING_ORIGIN_DERIVED = 4, /* from the machine or from other settings */
    DYN_CLIENT_SETTING_ORIGIN_REQUEST = 5, /* such as dyn_client_set_log_level */
} dyn_client_setting_origin;

/* Key of the daemon's configuration with its value in effect. */
typedef struct dyn_client_setting {
    const char *section, *key;
    const char *value; /* as a configuration file states it; directories are separated by line ends */
    dyn_client_setting_origin origin;
    uint64_t line;      /* of the file; 0: another origin */
    bool needs_restart; /* a reload does not change it */
} dyn_client_setting;

typedef struct dyn_client_settings {
    const char *file; /* configuration file that the daemon reads; "": none */
    size_t count;
    const dyn_client_setting *settings;
} dyn_client_settings;

/* Requests the keys of the daemon's configuration, without the sections of single models. Needs the role
 * administrator. The caller frees the result. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_settings(dyn_client *client, double timeout,
                                                            dyn_client_settings **settings, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_settings_free(dyn_client_settings *settings);

/* Callback that reports the progress of a call. `fraction` is the completed part, 0 to 1, as far as the daemon has
 * reported it. The callback is a member of dyn_client_query, dyn_client_load_request, dyn_client_derive_request,
 * dyn_client_simulation_input and dyn_client_terms; calls without one of these have no callback, and
 * dyn_client_cancel ends them. The calling thread calls it once before it sends the request. Another thread of the
 * library calls it about ten times a second while the request is in progress. If the callback returns false, the
 * call ends with CANCELLED: at once, or as by dyn_client_cancel. Where samples are spread over several daemons, several
 * threads call it in turn. The callback must not use the client. */
typedef bool (*dyn_client_progress)(void *context, double fraction);

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* A request may take no longer than the daemon's limits.request_time. A job may take limits.job_time: the daemon
 * computes it while nobody waits, and stores its result for limits.job_result_time. Most calls with a query can run as
 * jobs, and so can dyn_client_replay_simulation (dyn_client_method_info.can_be_job). Their results have the bits of an
 * ordinary request.
 *
 *     dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.use_jobs = true, .timeout = 3600);
 *
 * makes all such calls of a client run as jobs. A call starts its job, asks up to a thousand times a second, later ten
 * times a second, whether it has finished, fetches the result and removes the job. It repeats questions that the daemon
 * refuses for the moment (UNAVAILABLE, or RESOURCE_EXHAUSTED with a retry_after) until its timeout. If the call ends
 * earlier (timeout, progress callback), it cancels the job, which may take one second more. The calling thread calls
 * the progress callback.
 *
 *     dyn_client_job_ticket ticket = {0};
 *     query.job = &ticket;
 *
 * makes one call run as a job that the program can leave. If the timeout passes first, the call returns
 * DEADLINE_EXCEEDED and the job goes on. Another call of the same function with the ticket, from any process that has
 * it, waits for the job again. It needs the query and request of the first call, because the result has their sizes,
 * layout and quantities; it does not send them, and it does not read the values of the arrays. When the job has
 * finished, the call returns its result or its error, removes the job and clears the ticket. NOT_FOUND: the job has
 * expired or the daemon was restarted; the ticket is clear then, so that the next call starts another job. */

enum { DYN_CLIENT_JOB_NAME_SIZE = 65 };

/* Name and token of a job. A call with a zeroed ticket starts a job and fills the ticket. A ticket with a name and
 * without a token starts a job of that name. */
typedef struct dyn_client_job_ticket {
    char name[DYN_CLIENT_JOB_NAME_SIZE];
    uint64_t token; /* 0: no job yet */
} dyn_client_job_ticket;

/* Terms of a call that can take long and has no query and no request structure. NULL in its place is the default. */
typedef struct dyn_client_terms {
    size_t struct_size;
    double timeout;               /* s; 0: the client's own */
    dyn_client_progress progress; /* NULL: none */
    void *progress_context;
    dyn_client_job_ticket *job; /* compute as this job; NULL: as the client's options say */
} dyn_client_terms;
#define DYN_CLIENT_TERMS_INIT(...) DYN_CLIENT_SIZED(dyn_client_terms, __VA_ARGS__)

typedef enum dyn_client_job_state {
    DYN_CLIENT_JOB_STATE_QUEUED = 1, /* waits for a thread */
    DYN_CLIENT_JOB_STATE_RUNNING = 2,
    DYN_CLIENT_JOB_STATE_DONE = 3, /* has a result */
    DYN_CLIENT_JOB_STATE_FAILED = 4,
    DYN_CLIENT_JOB_STATE_CANCELLED = 5,
} dyn_client_job_state;

/* Returns the name of the state in lower case, "running"; "unknown" for any other number. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_job_state_name(dyn_client_job_state state);

typedef struct dyn_client_job {
    const char *name;
    const char *method; /* "rollout" */
    dyn_client_job_state state;
    double fraction;                             /* part that is done, 0 to 1 */
    int64_t created_ns, started_ns, finished_ns; /* wall times, ns since 1970-01-01 UTC; 0: not yet */
    uint64_t result_bytes;                       /* of a job that is done */
    double expires_in;                           /* s until a finished job is removed */
    const char *owner;                           /* peer that started it */
    dyn_client_status status;                    /* error of a job that failed or was cancelled; OK: none */
    const char *field, *message;                 /* of the error; empty: none */
} dyn_client_job;

typedef struct dyn_client_job_list {
    size_t count;
    const dyn_client_job *jobs; /* in the order of their start */
} dyn_client_job_list;

/* Requests the job of that name, or the jobs of all clients if the name is NULL. NOT_FOUND: no job has that name. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_jobs(dyn_client *client, const char *job, double timeout,
                                                        dyn_client_job_list **jobs, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_job_list_free(dyn_client_job_list *jobs);

/* Cancels a job, or removes it with its result if it has finished. PERMISSION_DENIED: the token is wrong. The user who
 * started the job over a unix socket may pass 0 as the token. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_cancel_job(dyn_client *client, const char *job, uint64_t token,
                                                          double timeout, dyn_client_error *error);

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Attachment of the root link. */
typedef enum dyn_client_base {
    DYN_CLIENT_BASE_UNSPECIFIED = 0, /* as the description or the model states; fixed where it states none */
    DYN_CLIENT_BASE_FIXED = 1,       /* the root link is fixed to the world */
    DYN_CLIENT_BASE_FLOATING = 2,    /* a floating joint "root_joint" connects it to the world */
} dyn_client_base;

/* Treatment of mimic joints. */
typedef enum dyn_client_mimic_policy {
    DYN_CLIENT_MIMIC_POLICY_UNSPECIFIED = 0, /* as the description states; coupled where it states none */
    DYN_CLIENT_MIMIC_POLICY_COUPLED = 1,     /* a mimic joint follows its master and has no coordinate of its own */
    DYN_CLIENT_MIMIC_POLICY_INDEPENDENT = 2, /* a mimic joint is a joint like any other */
} dyn_client_mimic_policy;

typedef struct dyn_client_model {
    const char *name;
    const char *digest; /* "sha256:...", equal wherever the same model is loaded; identifies it in any request */
    size_t nq;
    size_t nv;
    size_t links;
    size_t joints;
    dyn_client_base base;
    double mass;           /* kg */
    const char *source;    /* file of the model directory; empty if loaded by request */
    const char *loaded_by; /* peer that loaded it; empty for a model of the model directory */
    bool kept;             /* stored on the daemon's disk and loaded at each start */
    size_t constraints;
    size_t constraint_rows; /* m: rows of all constraints */
    size_t machine_elements;
} dyn_client_model;

typedef enum dyn_client_severity {
    DYN_CLIENT_SEVERITY_UNSPECIFIED = 0,
    DYN_CLIENT_SEVERITY_NOTE = 1,
    DYN_CLIENT_SEVERITY_WARNING = 2, /* likely not what the author of the description meant */
} dyn_client_severity;

/* Entry of the report on a description: an element that was ignored or merged, or that is suspicious. */
typedef struct dyn_client_report_entry {
    dyn_client_severity severity;
    size_t line;       /* in the description; 0: no single line */
    const char *place; /* "link wrist", "joint elbow", "robot" */
    const char *message;
} dyn_client_report_entry;

typedef enum dyn_client_joint_type {
    DYN_CLIENT_JOINT_TYPE_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_JOINT_TYPE_FIXED = 1,
    DYN_CLIENT_JOINT_TYPE_REVOLUTE = 2,
    DYN_CLIENT_JOINT_TYPE_CONTINUOUS = 3,
    DYN_CLIENT_JOINT_TYPE_PRISMATIC = 4,
    DYN_CLIENT_JOINT_TYPE_HELICAL = 5,
    DYN_CLIENT_JOINT_TYPE_CYLINDRICAL = 6,
    DYN_CLIENT_JOINT_TYPE_UNIVERSAL = 7,
    DYN_CLIENT_JOINT_TYPE_PLANAR = 8,
    DYN_CLIENT_JOINT_TYPE_SPHERICAL = 9,
    DYN_CLIENT_JOINT_TYPE_FLOATING = 10,
    DYN_CLIENT_JOINT_TYPE_CUSTOM = 11, /* its rotations and translations are functions of its coordinate */
} dyn_client_joint_type;

/* Returns the name of the type in lower case, "revolute"; "unknown" for any other number. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_joint_type_name(dyn_client_joint_type type);

/* Inertia of a rigid body in a frame. */
typedef struct dyn_client_inertia {
    double mass;              /* kg */
    double center_of_mass[3]; /* m */
    double rotational[6];     /* about the centre of mass, in the frame's axes: xx xy xz yy yz zz, kg m^2 */
} dyn_client_inertia;

/* Pose of a frame in another frame. */
typedef struct dyn_client_pose {
    double position[3]; /* m */
    /* Unit quaternion x y z w. Requests: of any norm from 1e-6 on; all zero: the identity. */
    double orientation[4];
    /* Orientation as a matrix: 9 values, row-major, from the frame's coordinates to the other's. Requests: where it is
     * set, `orientation` is not read. Results: set in exported models whose frame is turned, where it holds the exact
     * bits of the model; else NULL. */
    const double *rotation;
} dyn_client_pose;

/* Bounds of a joint with one coordinate. */
typedef struct dyn_client_limits {
    double lower, upper; /* rad or m */
    double velocity;     /* rad/s or m/s; 0: not stated */
    double effort;       /* N m or N; 0: not stated */
} dyn_client_limits;

/* Link as the description states it, before fixed joints are merged. */
typedef struct dyn_client_link {
    const char *name;
    dyn_client_inertia inertia; /* in the link's frame; all zero: massless */
    /* Set by dyn_client_describe_model and not read in requests. */
    const char *parent_joint; /* joint above the link; empty for the root */
    const char *moving_joint; /* nearest moving joint above the link; empty when fixed to the world */
} dyn_client_link;

/* Kind of an elementary motion of a custom joint. */
typedef enum dyn_client_joint_motion_kind {
    DYN_CLIENT_JOINT_MOTION_KIND_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_JOINT_MOTION_KIND_ROTATION = 1,    /* about the axis, rad */
    DYN_CLIENT_JOINT_MOTION_KIND_TRANSLATION = 2, /* along the axis, m */
} dyn_client_joint_motion_kind;

/* Elementary motion of a custom joint by a function f(q) of its coordinate: a polynomial, if `coefficients` is not
 * NULL, or else a spline through the values at the knots. */
typedef struct dyn_client_joint_motion {
    dyn_client_joint_motion_kind kind;
    double axis[3];             /* in the frame that the motions before it have moved; results: a unit vector */
    size_t coefficient_count;   /* up to 8 */
    const double *coefficients; /* c_k of f = c_0 + c_1 q + c_2 q^2 + ..; NULL: a spline */
    size_t knot_count;          /* 2 to 64 */
    const double *knots;        /* rising, rad */
    const double *values;
    const double *slopes, *curvatures; /* df/dq and d2f/dq2 of a quintic spline; NULL: a natural cubic one */
} dyn_client_joint_motion;

/* Joint. The frame of its child link coincides with the joint frame at q = 0, except for a custom joint. */
typedef struct dyn_client_joint {
    const char *name;
    dyn_client_joint_type type;
    const char *parent_link;
    const char *child_link;
    dyn_client_pose origin; /* joint frame in the parent link's frame */
    /* In the joint frame. Requests: of any nonzero length; not read for joints without an axis. Results:
     * a unit vector; zero for a joint without an axis. */
    double axis[3];
    double second_axis[3]; /* of a universal joint: the axis that the first one moves */
    double pitch;          /* of a helical joint, m/rad */
    size_t motion_count;   /* of a custom joint, 1 to 12 */
    const dyn_client_joint_motion *motions;
    bool has_limits;
    dyn_client_limits limits;
    double damping;                 /* N m s/rad or N s/m; like friction, not part of the rigid-body quantities */
    double friction;                /* N m or N */
    const char *mimic_joint;        /* q = multiplier * q of that joint + offset; NULL: the joint is its own master */
    const double *mimic_multiplier; /* requests: NULL: 1; results: not NULL where mimic_joint is not */
    double mimic_offset;
    /* Set by dyn_client_describe_model and not read in requests. The coordinates are q[q_index .. q_index + nq - 1] and
     * v[v_index .. v_index + nv - 1]. A coupled mimic joint has nq = nv = 0 and its master's indices. */
    size_t q_index, v_index, nq, nv;
    const char *const *q_units;   /* nq of them */
    const char *const *v_units;   /* nv */
    const char *const *tau_units; /* nv */
} dyn_client_joint;

/* Named frame on a link, for use in poses, Jacobians and external forces. In a request it is short for a massless link
 * on a fixed joint "NAME:fixed". */
typedef struct dyn_client_frame {
    const char *name;
    const char *link; /* in results of dyn_client_describe_model the child link of `moving_joint`, or "world" */
    /* Set by dyn_client_describe_model and not read in requests: nearest moving joint above the frame; empty when the
     * frame is fixed to the world. */
    const char *moving_joint;
    dyn_client_pose pose; /* in the frame of `link` */
} dyn_client_frame;

/* ---- constraints ------------------------------------------------------------------------------------------------- */

typedef enum dyn_client_constraint_kind {
    DYN_CLIENT_CONSTRAINT_KIND_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT = 1,
    DYN_CLIENT_CONSTRAINT_KIND_DISTANCE = 2,       /* the origins of both frames are `distance` apart */
    DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE = 3, /* the successor stays in the plane normal to `axis` */
    DYN_CLIENT_CONSTRAINT_KIND_COUPLING = 4,       /* sum of coefficient * q = offset */
    DYN_CLIENT_CONSTRAINT_KIND_ROLLING = 7,        /* the successor is a ball or a wheel on the plane of `axis` */
    DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED = 8,     /* one coordinate is a function of time */
    DYN_CLIENT_CONSTRAINT_KIND_POLYNOMIAL = 9,     /* one coordinate is a polynomial of another one */
} dyn_client_constraint_kind;

/* Frame of a constraint. */
typedef struct dyn_client_constraint_frame {
    const char *link;     /* NULL or empty: the world */
    dyn_client_pose pose; /* in the frame of `link` */
} dyn_client_constraint_frame;

typedef struct dyn_client_coupled_coordinate {
    const char *joint; /* with one coordinate */
    double coefficient;
} dyn_client_coupled_coordinate;

/* Constraint, which closes a loop of the robot. Requests do not read members that its kind does not name, and results
 * have zeros there. constraint.proto describes the kinds and the directions of their rows. */
typedef struct dyn_client_constraint {
    const char *name;
    dyn_client_constraint_kind kind;
    dyn_client_constraint_frame predecessor, successor; /* not of couplings and prescribed motions */
    dyn_client_joint_type type;                         /* of a loop joint; every type except floating */
    double axis[3];        /* of a loop joint or a plane, in the predecessor: of any nonzero length; results: unit */
    double second_axis[3]; /* of a universal joint, in the successor; of a wheel, its axis there; zero: a ball */
    double pitch;          /* of a helical joint, m/rad */
    double distance;       /* m; of a rolling body: its radius */
    size_t coupled_count;  /* 1 to 8, of a coupling; 1 of a prescribed motion; 2 of a polynomial: q_0 = p(q_1) */
    const dyn_client_coupled_coordinate *coupled; /* coefficients are read of linear couplings only */
    double offset;                                /* of a coupling, rad or m */
    /* Set by dyn_client_describe_model and not read in requests: rows first_row .. first_row + row_count - 1 of the
     * model's m rows, with their names, directions, and the units of their closure errors and multipliers. */
    size_t first_row, row_count;
    const char *const *row_names;
    const char *const *directions;
    const char *const *error_units;
    const char *const *multiplier_units;
    /* Of a loop joint, along each direction that it allows: damping, N m s/rad or N s/m; Coulomb friction and the force
     * of a motor, N m or N. */
    double damping, friction, effort;
    size_t coefficient_count; /* c_k of p(x) = sum c_k x^k, of a polynomial or a prescribed motion; at most 8 */
    const double *coefficients;
    double amplitude, frequency, phase; /* of a prescribed motion: p(t) + amplitude sin(frequency t + phase) */
} dyn_client_constraint;

/* List of constraints. */
typedef struct dyn_client_constraint_list {
    size_t count;
    const dyn_client_constraint *constraints;
} dyn_client_constraint_list;

/* Reads the constraints of a serialized dynamics.v1.ModelDescription, such as for dyn_client_query. The caller frees
 * the list with dyn_client_constraint_list_free. Fails with DYN_CLIENT_INVALID_ARGUMENT where the bytes are none. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_read_constraints(const void *description, size_t size,
                                                                dyn_client_constraint_list **list,
                                                                dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_constraint_list_free(dyn_client_constraint_list *list);

/* ---- machine elements -------------------------------------------------------------------------------------------- */

typedef enum dyn_client_machine_element_kind {
    DYN_CLIENT_MACHINE_ELEMENT_KIND_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR = 1,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION = 2,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING = 3,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR = 4,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_GEAR = 5,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_BRAKE = 6,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_STRUT = 7,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE = 8,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_BUSHING = 9,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_FLUID = 10,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT = 11,
    DYN_CLIENT_MACHINE_ELEMENT_KIND_FLEXIBLE_BEAM = 12, /* in requests: replies show its parts */
} dyn_client_machine_element_kind;

/* Coupling between a rotor and the link that carries its motor. */
typedef enum dyn_client_rotor_coupling {
    DYN_CLIENT_ROTOR_COUPLING_UNSPECIFIED = 0, /* exact */
    DYN_CLIENT_ROTOR_COUPLING_EXACT = 1,       /* the rotor is a body that spins on the parent link of its joint */
    DYN_CLIENT_ROTOR_COUPLING_DIAGONAL = 2,    /* without the coupling between its spin and the parent link */
    DYN_CLIENT_ROTOR_COUPLING_REFLECTED = 3,   /* as DIAGONAL, and the parent link includes axial_inertia */
} dyn_client_rotor_coupling;

/* Side of the gear on which the parameters of a friction law hold. */
typedef enum dyn_client_gear_side {
    DYN_CLIENT_GEAR_SIDE_UNSPECIFIED = 0, /* the joint */
    DYN_CLIENT_GEAR_SIDE_JOINT = 1,       /* at the rate of the joint */
    DYN_CLIENT_GEAR_SIDE_ROTOR = 2,       /* at the rate of its only rotor */
} dyn_client_gear_side;

/* Rotor of a geared motor, which spins at `ratio` times the rate of its joint on the joint's parent link. */
typedef struct dyn_client_rotor {
    double ratio;              /* not zero */
    double axial_inertia;      /* kg m^2, positive */
    double mass;               /* kg; 0: the parent link includes it */
    double transverse_inertia; /* kg m^2; 0: the parent link includes it */
    double position[3];        /* centre of mass in the joint frame, m */
    double axis[3];            /* in the joint frame, of any length; zero: the axis of the joint */
    dyn_client_rotor_coupling coupling;
} dyn_client_rotor;

/* Friction law (actuation.proto). Parameters with two values hold for positive and for negative rates. */
typedef struct dyn_client_friction {
    dyn_client_gear_side side;
    double viscous[2];          /* N m s/rad or N s/m */
    double coulomb[2];          /* N m or N */
    double breakaway[2];        /* N m or N; 0: that of `coulomb` */
    double stribeck_velocity;   /* rad/s or m/s */
    double transition_velocity; /* rad/s or m/s; 0: friction_velocity of the simulation */
    double bristle_stiffness;   /* of LuGre's law, N m/rad or N/m; 0: no bristles */
    double bristle_damping;     /* N m s/rad or N s/m */
    double temperature_factor;  /* of `viscous`; 0: 1 */
} dyn_client_friction;

/* Spring across a joint. */
typedef struct dyn_client_spring {
    double stiffness; /* N m/rad or N/m */
    double rest;      /* rad or m */
} dyn_client_spring;

/* Direct-current motor of a joint (actuation.proto). A limit of zero is none. */
typedef struct dyn_client_motor {
    double resistance;      /* at 25 degrees Celsius, ohm */
    double inductance;      /* H */
    double torque_constant; /* N m/A, which equals V s/rad */
    /* Values of a data sheet in place of resistance and torque constant; zero in results. */
    double nominal_voltage;         /* V */
    double no_load_speed;           /* rad/s */
    double no_load_current;         /* A */
    double stall_current;           /* A */
    double maximum_voltage;         /* V */
    double maximum_current;         /* for a short time, A */
    double continuous_current;      /* root mean square, A */
    double maximum_speed;           /* of the rotor, rad/s */
    double winding_resistance;      /* thermal, from the winding to the housing, K/W */
    double winding_time_constant;   /* s */
    double housing_resistance;      /* thermal, from the housing to the ambient air, K/W */
    double housing_time_constant;   /* s */
    double temperature_coefficient; /* of the resistance, 1/K */
    double maximum_temperature;     /* of the winding, degrees Celsius */
} dyn_client_motor;

/* Gear between the motor and the joint, or on the shaft that the element's joint names. A limit of zero is none. */
typedef struct dyn_client_gear {
    double ratio;                   /* 0: that of the joint's rotor, or 1 where it has none; 0 on a shaft */
    double efficiency;              /* of power from the motor to the joint; 0: 1 */
    double back_driving_efficiency; /* of power from the joint to the motor; 0: self-locking */
    double maximum_torque;          /* at the joint, for a short time, N m or N */
    double continuous_torque;       /* at the joint, root mean square, N m or N */
    double maximum_speed;           /* on the side of the motor, rad/s */
} dyn_client_gear;

/* Brake on the shaft of a joint's motor. */
typedef struct dyn_client_brake {
    double torque; /* at the motor, N m */
} dyn_client_brake;

/* Spring, damper, gas spring or cable between two points of links (actuation.proto). */
typedef struct dyn_client_strut {
    double position[3], other_position[3]; /* m */
    double stiffness;                      /* N/m */
    double rest;                           /* m */
    double damping;                        /* N s/m */
    double push;                           /* N */
} dyn_client_strut;

/* Compliance in six directions between frames of two links. */
typedef struct dyn_client_bushing {
    double position[3], other_position[3];        /* m */
    double stiffness[3], rotational_stiffness[3]; /* N/m, N m/rad */
    double damping[3], rotational_damping[3];     /* N s/m, N m s/rad */
} dyn_client_bushing;

/* Buoyancy and drag of a link in a fluid. */
typedef struct dyn_client_fluid {
    double density, volume;                                  /* kg/m^3, m^3 */
    double center[3];                                        /* m */
    double drag[3], quadratic_drag[3];                       /* N s/m, N s^2/m^2 */
    double rotational_drag[3], quadratic_rotational_drag[3]; /* N m s/rad, N m s^2/rad^2 */
    double current[3];                                       /* m/s */
} dyn_client_fluid;

/* Shaft of a motor that several joints turn: its rate is sum_j ratios[j] v_j relative to the link that carries the
 * motor. */
typedef struct dyn_client_shaft {
    size_t joint_count; /* 1 to 8 */
    const char *const *joints;
    size_t ratio_count; /* joint_count */
    const double *ratios;
    bool has_motor; /* its motor is `motor` of the element */
} dyn_client_shaft;

/* Beam with assumed modes in the place of a fixed joint (actuation.proto). */
typedef struct dyn_client_flexible_beam {
    double start[3];        /* clamped end in the frame of the joint's parent link, m */
    double direction[3];    /* of bending in the first plane */
    double mass_per_length; /* kg/m */
    double rigidity;        /* E I in the first plane, N m^2 */
    double normal_rigidity; /* E I in the plane normal to it, N m^2; 0: it does not bend there */
    size_t modes;           /* in a plane, at most 6; 0: two */
    double damping_ratio;   /* 1 */
} dyn_client_flexible_beam;

/* Machine element at a joint, or between links. Requests do not read members that its kind does not name, and results
 * have zeros there. */
typedef struct dyn_client_machine_element {
    const char *name;
    const char *joint;
    dyn_client_machine_element_kind kind;
    dyn_client_rotor rotor;
    dyn_client_friction friction;
    dyn_client_spring spring;
    dyn_client_motor motor;
    dyn_client_gear gear;
    dyn_client_brake brake;
    const char *link; /* that a strut, cable, bushing or fluid acts on, or that carries the motor of a shaft, where
                               NULL or "" is the world; its joint is NULL or "" */
    const char *other_link; /* NULL or "": the world */
    dyn_client_strut strut; /* of a cable too */
    dyn_client_bushing bushing;
    dyn_client_fluid fluid;
    dyn_client_shaft shaft; /* its rotor is `rotor`, without ratio */
    dyn_client_flexible_beam flexible_beam;
} dyn_client_machine_element;

/* ---- contact surfaces -------------------------------------------------------------------------------------------- */

/* Shape of a contact surface in its frame (contact.proto). */
typedef enum dyn_client_contact_shape {
    DYN_CLIENT_CONTACT_SHAPE_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_CONTACT_SHAPE_POINT = 1,
    DYN_CLIENT_CONTACT_SHAPE_SPHERE = 2,
    DYN_CLIENT_CONTACT_SHAPE_BOX = 3,
    DYN_CLIENT_CONTACT_SHAPE_CAPSULE = 4,
    DYN_CLIENT_CONTACT_SHAPE_CYLINDER = 5,
    DYN_CLIENT_CONTACT_SHAPE_PLANE = 6,
    DYN_CLIENT_CONTACT_SHAPE_HEIGHT_FIELD = 7,
} dyn_client_contact_shape;

/* Parameters of a soft contact, MuJoCo's solref and solimp (contact.proto); of a soft one, 0 stands for the default. */
typedef struct dyn_client_soft_contact {
    double time_constant;              /* s; 0: the surface is not soft. Default of MuJoCo: 0.02 */
    double damping_ratio;              /* 1 */
    double least_impedance, impedance; /* 0.9 and 0.95 */
    double width;                      /* m, 0.001 */
    double midpoint, power;            /* 0.5 and 2 */
} dyn_client_soft_contact;

/* Part of a link, or of the world, that touches planes and height fields. Requests do not read sizes that its shape
 * does not name. */
typedef struct dyn_client_contact_surface {
    const char *name;
    const char *link;     /* NULL or "": the world */
    dyn_client_pose pose; /* of its frame in that of the link */
    dyn_client_contact_shape shape;
    double radius, length, size[3]; /* m */
    double friction, restitution;   /* coefficients */
    double stiffness;               /* N/m^(3/2); 0: rigid */
    double dissipation;             /* s/m */
    dyn_client_soft_contact soft;
    size_t columns;      /* of a height field, along x */
    size_t height_count; /* a multiple of `columns`, at most 16384 */
    const double *heights;
} dyn_client_contact_surface;

/* Description of a robot in numbers: a tree of links and joints, in any order, constraints between them, and machine
 * elements at the joints. */
typedef struct dyn_client_model_description {
    size_t struct_size;
    const char *name;
    const double *gravity; /* 3 values, m/s^2 in the world; NULL: 0 0 -9.81 */
    dyn_client_base base;
    dyn_client_mimic_policy mimic;
    size_t link_count;
    const dyn_client_link *links;
    size_t joint_count;
    const dyn_client_joint *joints;
    size_t frame_count;
    const dyn_client_frame *frames;
    size_t constraint_count;
    const dyn_client_constraint *constraints;
    size_t machine_element_count;
    const dyn_client_machine_element *machine_elements;
    size_t passive_joint_count;
    const char *const *passive_joints; /* names of joints without a motor */
    size_t contact_surface_count;
    const dyn_client_contact_surface *contact_surfaces;
    size_t note_count;
    const char *const *notes; /* how the description came about: notes of the load report, at most 64 of 1,000 bytes */
} dyn_client_model_description;
#define DYN_CLIENT_MODEL_DESCRIPTION_INIT(...) DYN_CLIENT_SIZED(dyn_client_model_description, __VA_ARGS__)

/* Convention for the pose of frame i in frame i - 1, and for the position of frame i on link i. */
typedef enum dyn_client_dh_convention {
    DYN_CLIENT_DH_CONVENTION_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_DH_CONVENTION_STANDARD = 1,    /* Rz(theta) Tz(d) Tx(a) Rx(alpha), at the far end */
    /* Rx(alpha) Tx(a) Rz(theta) Tz(d), on axis i; row i has alpha(i-1) and a(i-1). */
    DYN_CLIENT_DH_CONVENTION_MODIFIED = 2,
} dyn_client_dh_convention;

/* Joint i and link i of a serial chain. */
typedef struct dyn_client_dh_row {
    dyn_client_joint_type type; /* revolute, continuous or prismatic */
    double theta, d, a, alpha;  /* rad, m, m, rad; q is added to theta, or to d */
    dyn_client_inertia inertia; /* of link i in frame i */
    bool has_limits;
    dyn_client_limits limits;
    double damping, friction;
} dyn_client_dh_row;

/* Denavit-Hartenberg parameters: links "link0" (the base) .. "linkN", joints "joint1" .. "jointN". */
typedef struct dyn_client_dh_table {
    size_t struct_size;
    const char *name;
    dyn_client_dh_convention convention;
    size_t row_count;
    const dyn_client_dh_row *rows;
} dyn_client_dh_table;
#define DYN_CLIENT_DH_TABLE_INIT(...) DYN_CLIENT_SIZED(dyn_client_dh_table, __VA_ARGS__)

/* A serial chain of n joints as Modern Robotics (Lynch and Park 2017, chapter 8) describes it; row-major. */
typedef struct dyn_client_screw_chain {
    size_t struct_size;
    const char *name;
    size_t n;
    const double *Mlist; /* (n + 1) x 4 x 4: place of frame {i} in {i - 1} at q = 0; {n + 1} is the end effector */
    const double *Glist; /* n x 6 x 6: spatial inertia of link i in {i}, angular first */
    const double *Slist; /* 6 x n: column i is the screw axis (w; v) of joint i in {0}, of any length */
} dyn_client_screw_chain;
#define DYN_CLIENT_SCREW_CHAIN_INIT(...) DYN_CLIENT_SIZED(dyn_client_screw_chain, __VA_ARGS__)

/* Request to load a model. The caller sets exactly one of the four descriptions: urdf, description, denavit_hartenberg
 * and screws. */
typedef struct dyn_client_load_request {
    size_t struct_size;
    const char *urdf; /* text of a URDF file */
    const char *name; /* name of the model; NULL: the robot's own */
    dyn_client_base base;
    dyn_client_mimic_policy mimic;
    const double *gravity;       /* 3 values, m/s^2 in the world; NULL: 0 0 -9.81 */
    bool strict;                 /* reject the model if the report contains a warning */
    bool replace;                /* replace another model of that name */
    const char *expected_digest; /* with `replace`: replace only the model of this digest; NULL: any */
    bool keep;                   /* store the model on the daemon's disk, over restarts, before this call returns */
    const dyn_client_model_description *description;
    const dyn_client_dh_table *denavit_hartenberg;
    const dyn_client_screw_chain *screws;
    double timeout;               /* s; 0: the client's own */
    dyn_client_progress progress; /* NULL: none */
    void *progress_context;
    bool cut_loops;     /* close the loops of links with several parents by loop joints */
    const char *loops;  /* text of a YAML file that lists closed loops, as in LoadModelRequest; NULL: none */
    bool transmissions; /* read the transmissions of the URDF text as gears, rotors and shafts */
} dyn_client_load_request;
#define DYN_CLIENT_LOAD_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_load_request, __VA_ARGS__)

typedef struct dyn_client_loaded_model {
    dyn_client_model model;
    size_t report_count;
    const dyn_client_report_entry *report;
    bool already_loaded; /* the daemon already held this model under this name */
} dyn_client_loaded_model;

/* Loads a robot description into the daemon. INVALID_ARGUMENT: the field is "load_model.urdf:LINE" or the path of the
 * element, such as "load_model.description.joints[3].axis". ALREADY_EXISTS: another model has that name and `replace`
 * is false. ABORTED: that model has another digest than the expected one. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_load_model(dyn_client *client, const dyn_client_load_request *request,
                                                          dyn_client_loaded_model **loaded, dyn_client_error *error);

/* Bytes of the longest file that dyn_client_load_model_file reads, as limits.urdf_bytes of the daemon. */
enum { DYN_CLIENT_MAX_FILE_BYTES = 16 << 20 };

/* Loads the robot in the file at `path`, which the client reads; the daemon need not see it. The content decides on the
 * form: URDF, or a JSON object in the form of a message of dynamics/v1/description.proto, as dynamicsctl export writes
 * it. It is a ModelDescription if it has the member links, a DenavitHartenbergTable if it has rows, a ScrewChain if it
 * has slist. `request` (NULL: its defaults) has everything but a description. Errors, in addition to those of
 * dyn_client_load_model, with the field "path": NOT_FOUND (no such file), PERMISSION_DENIED and FAILED_PRECONDITION (it
 * cannot be read), RESOURCE_EXHAUSTED (too long), INVALID_ARGUMENT (empty, no text, no JSON, or of none of the
 * forms). */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_load_model_file(dyn_client *client, const char *path,
                                                               const dyn_client_load_request *request,
                                                               dyn_client_loaded_model **loaded,
                                                               dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_loaded_model_free(dyn_client_loaded_model *loaded);

/* Unloads the model of that name or digest. Errors: NOT_FOUND. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_unload_model(dyn_client *client, const char *model, double timeout,
                                                            dyn_client_error *error);

typedef struct dyn_client_model_list {
    size_t count;
    const dyn_client_model *models; /* sorted by name */
} dyn_client_model_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_models(dyn_client *client, double timeout,
                                                           dyn_client_model_list **list, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_model_list_free(dyn_client_model_list *list);

/* State of the algorithms that the daemon compiles for a model. Generic algorithms compute until the compiled ones are
 * ready. */
typedef enum dyn_client_compilation {
    DYN_CLIENT_COMPILATION_UNSPECIFIED = 0,
    DYN_CLIENT_COMPILATION_WAITS = 1, /* queued, or waiting for the first use; or compiling is off */
    DYN_CLIENT_COMPILATION_RUNNING = 2,
    DYN_CLIENT_COMPILATION_DONE = 3,
    DYN_CLIENT_COMPILATION_FAILED = 4, /* for the reason in compilation_reason */
} dyn_client_compilation;

typedef struct dyn_client_description {
    dyn_client_model model;
    dyn_client_mimic_policy mimic;
    double gravity[3]; /* m/s^2 */
    size_t joint_count;
    const dyn_client_joint *joints; /* moving joints, in the order of q and v */
    size_t link_count;
    const dyn_client_link *links;
    size_t frame_count;
    const dyn_client_frame *frames;
    size_t report_count;
    const dyn_client_report_entry *report;
    const double *zero_q; /* model.nq: zeros, quaternions identity */
    const double *home_q; /* model.nq: as zero_q, but the middle of the range where zero lies outside the limits */
    dyn_client_compilation compilation;
    const char *compilation_reason; /* reason of the failure, else empty */
    const char *instruction_set;    /* of the algorithms in use, such as "avx512"; empty: not stated */
    const char *const *q_names;     /* model.nq: "elbow", or "root_joint[0]" .. of a joint with several coordinates */
    const char *const *v_names;     /* model.nv: likewise, of velocities, forces and accelerations */
    size_t constraint_count;
    const dyn_client_constraint *constraints; /* in the order of their rows */
    size_t machine_element_count;
    const dyn_client_machine_element *machine_elements;
    size_t contact_surface_count;
    const dyn_client_contact_surface *contact_surfaces;
    size_t passive_joint_count;
    const char *const *passive_joints; /* names of moving joints without a motor, a floating base included */
} dyn_client_description;

/* Requests everything that the daemon knows about a model, by name or digest. Errors: NOT_FOUND. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_describe_model(dyn_client *client, const char *model, double timeout,
                                                              dyn_client_description **description,
                                                              dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_description_free(dyn_client_description *description);

/* ---- derived models ---------------------------------------------------------------------------------------------- */

typedef enum dyn_client_operation_kind {
    DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS = 1, /* fix joints at their position in q, and with them their mimic joints */
    DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE = 2, /* only `link` and its subtree, as a robot of its own */
    DYN_CLIENT_OPERATION_KIND_KEEP_CHAIN = 3,   /* only the chain of joints from `link`, its base, to `last` */
    DYN_CLIENT_OPERATION_KIND_CHANGE_BASE = 4,  /* make `link` the root */
    DYN_CLIENT_OPERATION_KIND_MERGE_MODEL = 5, /* add another robot of the daemon, its root fixed on `link` at `pose` */
    DYN_CLIENT_OPERATION_KIND_ATTACH_LINK = 6, /* add a link `name` fixed on `link` at `pose`: a payload, a tool */
    DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA = 7, /* replace the inertia of `link` */
    DYN_CLIENT_OPERATION_KIND_DETACH_LINK = 8,    /* remove `link` and its subtree */
} dyn_client_operation_kind;

/* Operation that changes a model. Members that its kind does not use are not read. */
typedef struct dyn_client_operation {
    dyn_client_operation_kind kind;
    const char *link;
    const char *last;           /* of a chain */
    const char *name;           /* of a new link */
    const char *model, *prefix; /* merged robot, and prefix of the names of its links and joints */
    dyn_client_base base;       /* of a subtree, a chain, a changed base */
    dyn_client_inertia inertia; /* of a new link, in its own frame; replacement for a link's inertia */
    dyn_client_pose pose;
    size_t joint_count; /* to lock */
    const char *const *joints;
    size_t nq;
    const double
        *q; /* nq values in the model's order; only those of locked joints are used; NULL: the zero configuration */
} dyn_client_operation;

typedef struct dyn_client_derive_request {
    size_t struct_size;
    const char *model;      /* name or digest; it is not changed */
    size_t operation_count; /* 1 to 64, applied in order */
    const dyn_client_operation *operations;
    const char *name;             /* name of the derived model */
    bool strict;                  /* reject a result whose report contains a warning */
    bool replace;                 /* replace another model of that name */
    const char *expected_digest;  /* as in dyn_client_load_request */
    bool keep;                    /* as in dyn_client_load_request */
    double timeout;               /* s; 0: the client's own */
    dyn_client_progress progress; /* NULL: none */
    void *progress_context;
} dyn_client_derive_request;
#define DYN_CLIENT_DERIVE_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_derive_request, __VA_ARGS__)

/* Derives a model from another one and stores it in the daemon. NOT_FOUND and INVALID_ARGUMENT have a field such as
 * "derive_model.operations[i].attach.link". ALREADY_EXISTS and ABORTED are as for dyn_client_load_model. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_derive_model(dyn_client *client,
                                                            const dyn_client_derive_request *request,
                                                            dyn_client_loaded_model **loaded, dyn_client_error *error);

typedef enum dyn_client_model_format {
    DYN_CLIENT_MODEL_FORMAT_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_MODEL_FORMAT_DESCRIPTION = 1, /* loads to a model of the same digest */
    DYN_CLIENT_MODEL_FORMAT_URDF = 2,        /* without gravity and floating base */
    DYN_CLIENT_MODEL_FORMAT_SCREWS = 3,      /* of a serial chain on a fixed base */
    DYN_CLIENT_MODEL_FORMAT_C = 4,           /* source of the functions rnea, crba and aba */
    DYN_CLIENT_MODEL_FORMAT_FORMULAS = 5,    /* of a robot with at most four coordinates, as text */
    DYN_CLIENT_MODEL_FORMAT_LATEX = 6,       /* the formulas as LaTeX */
} dyn_client_model_format;

/* Exported model in one of these forms; the members of the others are NULL. */
typedef struct dyn_client_exported_model {
    dyn_client_model model;
    const dyn_client_model_description *description;
    const char *urdf;
    const dyn_client_screw_chain *screws;
    const char *text; /* C source or formulas */
} dyn_client_exported_model;

/* Exports a model of the daemon. `tip` (NULL: the last link) is the end effector of the screws. FAILED_PRECONDITION:
 * URDF cannot express one of the joints, screws cannot express the tree, or the daemon cannot run dynamics-compile, or
 * that program cannot write the model. UNAVAILABLE: dynamics-compile runs for another request. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_export_model(dyn_client *client, const char *model,
                                                            dyn_client_model_format format, const char *tip,
                                                            double timeout, dyn_client_exported_model **exported,
                                                            dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_exported_model_free(dyn_client_exported_model *exported);

/* ---- inertias of bodies ------------------------------------------------------------------------------------------ */

typedef enum dyn_client_inertia_kind {
    DYN_CLIENT_INERTIA_KIND_BOX = 1,       /* size */
    DYN_CLIENT_INERTIA_KIND_CYLINDER = 2,  /* radius, length; along z */
    DYN_CLIENT_INERTIA_KIND_SPHERE = 3,    /* radius */
    DYN_CLIENT_INERTIA_KIND_ELLIPSOID = 4, /* size: the semi-axes */
    DYN_CLIENT_INERTIA_KIND_CAPSULE = 5,   /* radius, length of the cylinder; along z */
    DYN_CLIENT_INERTIA_KIND_MESH = 6,      /* stl, scale: the body inside a closed surface */
    DYN_CLIENT_INERTIA_KIND_INERTIA = 7,   /* inertia: to be moved, checked or converted */
    /* 10 values: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin. */
    DYN_CLIENT_INERTIA_KIND_PARAMETERS = 8,
    DYN_CLIENT_INERTIA_KIND_PSEUDO_INERTIA = 9, /* 16 values: 4 x 4, row-major */
    DYN_CLIENT_INERTIA_KIND_LOG_CHOLESKY = 10,  /* 10 values: alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 */
} dyn_client_inertia_kind;

/* Part of a body. Members that its kind does not use are not read. Shapes are homogeneous and centred in their
 * frame. */
typedef struct dyn_client_inertia_part {
    dyn_client_inertia_kind kind;
    double size[3]; /* m, like radius and length */
    double radius, length;
    const void *stl; /* an STL file, binary or text */
    size_t stl_size;
    const double *scale; /* factor from STL coordinates to metres, positive; NULL: 1 */
    dyn_client_inertia inertia;
    double values[16];
    double mass, density; /* kg or kg/m^3; a shape or a mesh needs exactly one of them */
    dyn_client_pose pose; /* of the part's frame in the common frame */
} dyn_client_inertia_part;

/* Inertial properties of a body. */
typedef struct dyn_client_body {
    size_t struct_size;
    dyn_client_inertia inertia;  /* in the common frame */
    double volume;               /* of shapes and meshes, m^3 */
    double rotational_about[6];  /* about the requested point (Steiner): xx xy xz yy yz zz, kg m^2 */
    double principal_moments[3]; /* ascending */
    bool is_realizable;          /* a physical body can have this inertia; otherwise `reason` says why not */
    char reason[256];
    double parameters[10], pseudo_inertia[16];
    bool has_log_cholesky; /* false for a point, a line and a plate */
    double log_cholesky[10];
    double principal_axes[9];   /* unit vectors, one in each row, in the order of the moments; right-handed */
    double spatial_inertia[36]; /* about the requested point: 6 x 6, linear part first */
} dyn_client_body;
#define DYN_CLIENT_BODY_INIT(...) DYN_CLIENT_SIZED(dyn_client_body, __VA_ARGS__)

/* Computes the sum of all parts. rotational_about is about `point` (3 values; NULL: the origin). The call cannot run as
 * a job. INVALID_ARGUMENT has a field such as "compute_inertia.parts[i].box.size". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_compute_inertia(dyn_client *client, size_t part_count,
                                                               const dyn_client_inertia_part *parts,
                                                               const double *point, const dyn_client_terms *terms,
                                                               dyn_client_body *body, dyn_client_error *error);

/* ---- dynamics: tau = M(q) a + h(q, v) - sum J' f_ext, h = C(q, v) v + g(q) --------------------------------------- */

/* Frame that a spatial quantity is expressed in. */
typedef enum dyn_client_reference_frame {
    DYN_CLIENT_REFERENCE_FRAME_UNSPECIFIED = 0,         /* refused where a frame is needed */
    DYN_CLIENT_REFERENCE_FRAME_LOCAL = 1,               /* axes and origin of the link or frame */
    DYN_CLIENT_REFERENCE_FRAME_WORLD = 2,               /* axes and origin of the world */
    DYN_CLIENT_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED = 3, /* axes of the world, origin of the link or frame */
} dyn_client_reference_frame;

/* Wrench that the environment applies to a link. Its torque is about the origin of the reference frame. */
typedef struct dyn_client_external_force {
    const char *link;
    dyn_client_reference_frame reference_frame; /* frame of force and torque */
    const double *force;                        /* N, rows x 3; NULL: zero */
    const double *torque;                       /* N m, rows x 3; NULL: zero */
    size_t rows;                                /* samples, or rows of a trajectory; 1: one wrench for all of them */
} dyn_client_external_force;

/* Body attached to a link during one call. The stored model does not change. */
typedef struct dyn_client_payload {
    const char *link;           /* or a frame */
    dyn_client_inertia inertia; /* in the payload's own frame */
    dyn_client_pose pose;       /* of the payload's frame in that of the link */
    bool replaces;              /* replaces the link's own inertia instead of adding to it */
} dyn_client_payload;

/* Precision of the computation. Arguments and results are doubles in both. */
typedef enum dyn_client_precision {
    DYN_CLIENT_PRECISION_DOUBLE = 0,
    DYN_CLIENT_PRECISION_SINGLE = 1, /* about seven digits, twice the states at once: enum Precision of the protocol */
} dyn_client_precision;

/* Outcome of a call in which some samples fail. */
typedef enum dyn_client_on_error {
    DYN_CLIENT_ON_ERROR_FAIL = 0, /* the call fails with the error of the first such sample */
    /* The call succeeds, and the rows of failed samples are NaN. `marked` in the caller's dyn_client_error is their
     * number. If it is not zero, the error's field, message, reason and sample are those of the first failed sample.
     * Applies to numeric calls of one quantity, kinematics and evaluate. */
    DYN_CLIENT_ON_ERROR_MARK = 1,
} dyn_client_on_error;

/* Condition on the acceleration of the last link of a serial chain: linear . a + angular . alpha = acceleration, where
 * (alpha; a) is the frame acceleration of dyn_client_evaluate for the frame and the reference frame. */
typedef struct dyn_client_tip_constraint {
    const char *frame; /* on the last link */
    dyn_client_reference_frame reference_frame;
    double linear[3], angular[3]; /* not all zero */
    double acceleration;          /* m/s^2, rad/s^2 */
} dyn_client_tip_constraint;

/* Passive forces that inverse and forward dynamics count. */
typedef struct dyn_client_passive_forces {
    bool damping;             /* of joints and machine elements */
    bool friction;            /* Coulomb friction of joints, and all other friction of machine elements */
    bool springs;             /* of machine elements */
    double friction_velocity; /* rad/s or m/s; 0: 0.01 */
    bool gear_losses;         /* that depend on the load of the gears */
} dyn_client_passive_forces;

/* Treatment of a motion with constraints by inverse dynamics: how closely the motion has to keep them, and what is
 * least where the forces are not unique. */
typedef struct dyn_client_motion_options {
    double tolerance; /* largest violation of a constraint by v or a, as a share of its terms, up to 1; 0: 0.001 */
    bool nearest;     /* forces of the nearest acceleration that the constraints allow, whatever the violation */
    /* Positive numbers w in sum w_i tau_i^2 + sum u_r lambda_r^2, nv or one for all; count 0: ones. */
    size_t force_weight_count;
    const double *force_weights;
    /* Numbers u, not negative, one for each row or one for all; count 0: zeros. */
    size_t multiplier_weight_count;
    const double *multiplier_weights;
    /* Receives, in dyn_client_inverse_dynamics, how far each motion leaves the constraints: query.samples numbers,
     * rad/s^2 or m/s^2; NULL: not wanted. */
    double *residuals;
} dyn_client_motion_options;

/* Motion of the base in which the robot's root rests, which is given: vectors along the axes of the model's world at
 * the instant of the sample, relative to an inertial frame; the linear ones are of the world's origin. NULL: zero. */
typedef struct dyn_client_base_motion {
    const double *linear_velocity;      /* m/s, rows x 3 */
    const double *angular_velocity;     /* rad/s, rows x 3 */
    const double *linear_acceleration;  /* m/s^2, rows x 3 */
    const double *angular_acceleration; /* rad/s^2, rows x 3 */
    size_t rows;                        /* samples, or rows of a trajectory; 1: one motion for all of them */
} dyn_client_base_motion;

/* Report of a call whose samples several daemons may have computed at once. `struct_size` is set by the caller. */
typedef struct dyn_client_spread {
    size_t struct_size;
    size_t pieces; /* requests that the samples were cut into; 1: they were not cut */
    /* Code of the first piece that was computed, such as "dynamicsd 0.1.0, avx2", and one that differs, or "". Pieces
     * of equal codes have the bits of one daemon. "": not known. */
    char codes[2][DYN_CLIENT_CODE_SIZE];
} dyn_client_spread;
#define DYN_CLIENT_SPREAD_INIT(...) DYN_CLIENT_SIZED(dyn_client_spread, __VA_ARGS__)

/* Common arguments of numeric calls. Set the first four; the rest may be zero. A part that a call does not support is
 * rejected with INVALID_ARGUMENT and its path, such as "mass_matrix.query.gravity". query.proto lists the parts that
 * each call supports. */
typedef struct dyn_client_query {
    size_t struct_size;
    const char *model; /* name or digest */
    size_t nq, nv;     /* lengths of a row, as in the model */
    size_t samples;    /* n, at least 1 */

    double timeout;               /* s; 0: the client's own */
    dyn_client_progress progress; /* NULL: none */
    void *progress_context;
    /* Every moving joint once: the order of q, v, a, tau and of matrix rows and columns, in inputs and results. With
     * joint_count 0 the model's order applies. */
    size_t joint_count;
    const char *const *joint_names;
    const double *gravity; /* 3 values, m/s^2 in the world, instead of the model's own */
    /* Entries add up. */
    size_t external_force_count;
    const dyn_client_external_force *external_forces;
    /* Entries add up. */
    size_t payload_count;
    const dyn_client_payload *payloads;
    dyn_client_precision precision;
    dyn_client_on_error on_error;
    /* Digest that the model must have: MODEL_CHANGED when another one has taken its name; NULL: any model. */
    const char *expected_digest;
    dyn_client_job_ticket *job; /* the call runs as this job (section on jobs); NULL: as an ordinary request */
    /* Formulation of the literature, such as "lagrange_euler"; NULL: the daemon's own algorithms. It computes inverse
     * dynamics, forward dynamics, the mass matrix, gravity forces, bias forces, and those quantities of
     * dyn_client_evaluate that formulations have. */
    const char *formulation;
    const dyn_client_passive_forces *passive_forces; /* NULL: none */
    /* Constraints beside those of the model: forward and inverse dynamics, evaluations that depend on constraints,
     * assemblies, rollouts, trajectories, simulations, streams of feedforward, dyn_client_compare and
     * dyn_client_formulate. Their rows follow those of the model. */
    size_t constraint_count;
    const dyn_client_constraint *constraints;
    /* At most 6, for forward dynamics and dyn_client_formulate with the formulation "vereshchagin". */
    size_t tip_constraint_count;
    const dyn_client_tip_constraint *tip_constraints;
    double time; /* s: instant of prescribed motions in constraints, where no time runs */
    /* NULL: the base rests. For inverse dynamics, forward dynamics, bias forces, dyn_client_compare,
     * dyn_client_formulate, evaluations of quantities that count it, trajectories, rollouts (also one row for each step
     * of each sample) and simulations. */
    const dyn_client_base_motion *base_motion;
    /* Rows A(q) v = b beside the constraints, of forward and inverse dynamics, trajectories of inverse dynamics, and
     * evaluations of quantities that depend on constraints: row_count x nv numbers, and for each row the acceleration
     * db/dt - dA/dt v that A a has (NULL: zeros); with has_rows_per_sample a block of both for each sample. Their
     * multipliers follow those of the model. */
    size_t row_count;
    const double *rows, *row_accelerations;
    bool has_rows_per_sample;
    /* Receives how the samples of a call that succeeded were spread, where they may be spread; NULL: not wanted. */
    dyn_client_spread *spread;
    /* Leaves out the mass and the inertia of the model's rotors. Calls support it that support payloads. */
    bool without_rotors;
    /* For inverse dynamics, its trajectories, evaluations of it and of multipliers and wrenches of a motion,
     * dyn_client_explain and streams of feedforward, where there are constraints or rows. NULL: motions that
     * constraints forbid by more than 0.001 are refused. */
    const dyn_client_motion_options *motion_options;
} dyn_client_query;
#define DYN_CLIENT_QUERY_INIT(...) DYN_CLIENT_SIZED(dyn_client_query, __VA_ARGS__)

/* Sets model, nq and nv of the query from a description, and samples to 1 where it is 0. Other members keep their
 * values. The query refers to the description's strings, so that the description must outlive it. Errors:
 * INVALID_ARGUMENT. Thread-safe. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_query_for(const dyn_client_description *description,
                                                         dyn_client_query *query, dyn_client_error *error);

/* Errors of the calls below: NOT_FOUND (model, joint, link, frame), INVALID_ARGUMENT (NaN or infinity with the field
 * "METHOD.q[13]", lengths that are not the model's, a joint name unknown, missing or repeated). */

/* Computes tau for the motion (q, v, a). q is n x nq; v, a (NULL: zeros) and tau are n x nv; tau is in N m and N. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_inverse_dynamics(dyn_client *client, const dyn_client_query *query,
                                                                const double *q, const double *v, const double *a,
                                                                double *tau, dyn_client_error *error);

/* Computes a = M^-1 (tau - h + sum J' f_ext). q is n x nq; v, tau (NULL: zeros) and a are n x nv; a is in rad/s^2 and
 * m/s^2. FAILED_PRECONDITION: M is singular. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_forward_dynamics(dyn_client *client, const dyn_client_query *query,
                                                                const double *q, const double *v, const double *tau,
                                                                double *a, dyn_client_error *error);

/* Methods of forward dynamics with constraints. */
typedef enum dyn_client_constraint_method {
    DYN_CLIENT_CONSTRAINT_METHOD_AUTO = 0,               /* the fastest one for the model */
    DYN_CLIENT_CONSTRAINT_METHOD_FULL_SYSTEM = 1,        /* accelerations and multipliers at once */
    DYN_CLIENT_CONSTRAINT_METHOD_MULTIPLIERS = 2,        /* multipliers first */
    DYN_CLIENT_CONSTRAINT_METHOD_ELIMINATION = 3,        /* independent coordinates */
    DYN_CLIENT_CONSTRAINT_METHOD_ARTICULATED_BODIES = 4, /* constrained articulated bodies */
    DYN_CLIENT_CONSTRAINT_METHOD_EMBEDDING = 5,          /* constraint embedding */
} dyn_client_constraint_method;

/* Returns the name of a method, such as "multipliers"; "none" for AUTO, which marks results of models without
 * constraints; "unknown" otherwise. */
DYN_CLIENT_EXPORT const char *dyn_client_constraint_method_name(dyn_client_constraint_method method);

/* Options of forward dynamics with constraints; zero selects the defaults. */
typedef struct dyn_client_constraint_options {
    size_t struct_size;
    dyn_client_constraint_method method;
    double stabilization; /* k of Baumgarte's stabilization, 1/s; 0: none */
    double tolerance;     /* largest residual over the terms of its row, beyond which is an error; 0: 0.01; 1: none */
} dyn_client_constraint_options;
#define DYN_CLIENT_CONSTRAINT_OPTIONS_INIT(...) DYN_CLIENT_SIZED(dyn_client_constraint_options, __VA_ARGS__)

/* Accelerations of a model with constraints, and the forces of its constraints. */
typedef struct dyn_client_constrained_motion {
    size_t samples, rows;                /* rows: m of the model; 0 for a model without constraints */
    dyn_client_constraint_method method; /* that computed them; not AUTO, unless rows is 0 */
    const double *a;                     /* n x nv */
    const double *multipliers;           /* n x m, N and N m, those of least norm */
    const uint64_t *ranks;               /* n: independent rows */
    const double *residuals; /* n: largest |A a + dA/dt v - b|; not small where rows contradict each other */
    /* Largest eigenvalue of A M^-1 A' over the smallest of those that are not zero, n. */
    const double *conditions;
} dyn_client_constrained_motion;

/* Computes a of M a + h = tau + sum J' f_ext + A' lambda, A a + dA/dt v = b, for a model with constraints
 * (dyn_client_describe_model lists their rows). q is n x nq; v and tau (NULL: zeros) are n x nv. `options` NULL: the
 * defaults. FAILED_PRECONDITION: M is singular, or constraints contradict each other at a state. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_constrained_forward_dynamics(
    dyn_client *client, const dyn_client_query *query, const double *q, const double *v, const double *tau,
    const dyn_client_constraint_options *options, dyn_client_constrained_motion **motion, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_constrained_motion_free(dyn_client_constrained_motion *motion);

/* Options of assembly; zero selects the defaults. */
typedef struct dyn_client_assembly_options {
    size_t struct_size;
    size_t held_count; /* joints whose coordinates stay as they are */
    const char *const *held_joints;
    double tolerance;       /* largest closure error of a closed loop, rad or m; 0: 1e-10 */
    size_t iteration_limit; /* 0: 500 */
} dyn_client_assembly_options;
#define DYN_CLIENT_ASSEMBLY_OPTIONS_INIT(...) DYN_CLIENT_SIZED(dyn_client_assembly_options, __VA_ARGS__)

/* Outcome of the search from one guess. */
typedef struct dyn_client_assembly_outcome {
    bool is_closed;
    size_t iterations;
    const char *constraint; /* with the largest closure error */
    double error;           /* that error, rad or m */
} dyn_client_assembly_outcome;

typedef struct dyn_client_assembly {
    size_t samples;
    const double *q; /* n x nq */
    const dyn_client_assembly_outcome *outcomes;
} dyn_client_assembly;

/* Finds configurations near the n guesses q, n x nq, that close the loops of a model with constraints. `options` NULL:
 * the defaults. A guess from which the loops do not close is not an error; its outcome reports it. FAILED_PRECONDITION:
 * the model has no constraints. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_assemble(dyn_client *client, const dyn_client_query *query,
                                                        const double *q, const dyn_client_assembly_options *options,
                                                        dyn_client_assembly **assembly, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_assembly_free(dyn_client_assembly *assembly);

/* Computes M(q), the joint-space inertia matrix. q is n x nq; mass_matrix is n x nv x nv with both triangles. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_mass_matrix(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, double *mass_matrix,
                                                           dyn_client_error *error);

/* Computes g(q), the forces that hold the robot at rest. q is n x nq; g is n x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_gravity(dyn_client *client, const dyn_client_query *query,
                                                       const double *q, double *g, dyn_client_error *error);

/* Computes h(q, v) = C(q, v) v + g(q): Coriolis, centrifugal and gravity forces. q is n x nq; v (NULL: zeros) and h are
 * n x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_bias_forces(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, const double *v, double *h,
                                                           dyn_client_error *error);

/* ---- base parameters --------------------------------------------------------------------------------------------- */

enum { DYN_CLIENT_LINK_PARAMETERS = 10 };

/* Base parameter: an inertial parameter to which others are regrouped; a row of B in b = B p. */
typedef struct dyn_client_base_parameter {
    size_t column;     /* column of Y: parameter column % 10 of body column / 10 */
    double value;      /* b of the model */
    const char *unit;  /* "kg", "kg m" or "kg m^2" */
    size_t term_count; /* parameters in the sum */
    const size_t *columns;
    const double *factors; /* factor of each, SI; 1 at `column` */
} dyn_client_base_parameter;

/* Base parameters of a model: tau = Y p = Y_b b for every motion, where Y_b has the columns of
 * DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR that `rows` lists. */
typedef struct dyn_client_base_parameters {
    size_t body_count;
    const char *const *bodies; /* child link of each moving joint */
    const char *const *names;  /* of the ten parameters: m mx my mz Ixx Ixy Iyy Ixz Iyz Izz */
    const double *values;      /* p, bodies x 10, about the origins of the links' frames: kg, kg m, kg m^2 */
    size_t count;
    const dyn_client_base_parameter *rows; /* in ascending order of their columns */
} dyn_client_base_parameters;

/* Computes the base parameters of query.model. nq, nv and samples are not read. Of the parts that describe the
 * computation only gravity and expected_digest may be set; the timeout, the progress and the job apply. Errors:
 * NOT_FOUND; INVALID_ARGUMENT (gravity is not finite); RESOURCE_EXHAUSTED (more than 200 moving joints, or 100 with
 * coupled mimic joints). Sources: Gautier and Khalil 1990; Wensing, Niemeyer and Slotine 2024. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_find_base_parameters(dyn_client *client, const dyn_client_query *query,
                                                                    dyn_client_base_parameters **parameters,
                                                                    dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_base_parameters_free(dyn_client_base_parameters *parameters);

/* ---- identification ---------------------------------------------------------------------------------------------- */

/* Estimator of the linear estimates. */
typedef enum dyn_client_estimator {
    DYN_CLIENT_ESTIMATOR_ORDINARY = 0, /* ordinary least squares */
    DYN_CLIENT_ESTIMATOR_WEIGHTED = 1, /* weighted by the residuals of each joint */
    DYN_CLIENT_ESTIMATOR_HUBER = 2,    /* weighted, and outliers have less weight */
    DYN_CLIENT_ESTIMATOR_TOTAL = 3,    /* total least squares: rates have errors; derived ones need a cutoff */
} dyn_client_estimator;

/* Term of the drive of a joint with one coordinate. */
typedef enum dyn_client_drive_term {
    DYN_CLIENT_DRIVE_TERM_VISCOUS = 0,  /* N m s/rad or N s/m */
    DYN_CLIENT_DRIVE_TERM_COULOMB = 1,  /* N m or N */
    DYN_CLIENT_DRIVE_TERM_OFFSET = 2,   /* N m or N */
    DYN_CLIENT_DRIVE_TERM_INERTIA = 3,  /* kg m^2 or kg */
    DYN_CLIENT_DRIVE_TERM_STRIBECK = 4, /* friction at rest beyond Coulomb's, N m or N */
    DYN_CLIENT_DRIVE_TERM_LOAD = 5,     /* friction for each unit of the torque that the joint carries, 1 */
} dyn_client_drive_term;

/* Recorded motion and options of an identification; zero selects the defaults, except where
 * DYN_CLIENT_IDENTIFY_REQUEST_INIT states another value. n is query.samples. */
typedef struct dyn_client_identify_request {
    size_t struct_size;
    const double *q;     /* n x nq; required */
    const double *time;  /* n, s; NULL: not known, then v and a are needed */
    const double *v, *a; /* n x nv each; both NULL: derived from q and time */
    const double *tau;   /* n x nv: torques, or what `gains` multiplies; required */
    const double *gains; /* nv; NULL: 1 */
    double cutoff;       /* of the filter of q, Hz; 0: not filtered */
    double torque_cutoff;
    dyn_client_estimator estimator;
    size_t drive_term_count; /* 0: viscous, Coulomb and offset */
    const dyn_client_drive_term *drive_terms;
    bool ignore_drives;       /* estimate no terms of drives */
    bool drives_only;         /* estimate terms of drives alone */
    double friction_velocity; /* 0: 0.01 */
    double prior;             /* weight of the prior; 0: 1 */
    size_t folds;             /* parts that are predicted from the others; 0: none */
    const char *name;         /* loads the model with the consistent estimate under this name; NULL: does not */
    bool replace;             /* with `name`: replaces a model of that name */
    size_t link_count;        /* 0: the inertias of all bodies are sought */
    const char *const *links; /* links whose bodies are sought */
    const char *payload_link; /* link with a payload whose inertia is sought, and no other; NULL: none */
    const double *load;       /* n: share of the payloads of the query that each row carries; NULL: 1 */
    double stribeck_velocity; /* 0: 0.1 */
    bool estimate_gains;      /* seek the gains that are 0, or all without `gains` */
} dyn_client_identify_request;
#define DYN_CLIENT_IDENTIFY_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_identify_request, .folds = 5, __VA_ARGS__)

/* Base parameter or term of a drive, estimated by least squares. */
typedef struct dyn_client_linear_estimate {
    const char *element;   /* body of the base parameter, "payload", or joint of the drive */
    const char *parameter; /* "Izz" with all that is regrouped to it, or a term such as "viscous" */
    size_t column;         /* of the regressor; 0 for a term of a drive */
    double value;
    double deviation; /* standard deviation; 0 where it is not excited */
    double prior;     /* the model's own value */
    bool is_excited;  /* false: the motion does not determine it alone */
    const char *unit;
    double relative_deviation; /* deviation / |value| */
    const char *reason;        /* why it is not excited; empty where it is */
} dyn_client_linear_estimate;

/* Quality of the estimates for one velocity coordinate, and its drive. Errors are root mean squares, N m or N;
 * predictions are of parts of the record that did not take part in the estimate. */
typedef struct dyn_client_joint_fit {
    const char *joint;
    double lowest, highest; /* range of the torque */
    double model_error;     /* of the model as it is */
    double residual, consistent_residual;
    double prediction, consistent_prediction;
    double accounted; /* 1 - (consistent_prediction / standard deviation of the torque)^2 */
    size_t saturated; /* rows left out, with torques at the effort limit or where the drive cuts off */
    double viscous, coulomb, offset, inertia, stribeck, load;
    double gain, gain_deviation; /* factor of tau, with its standard deviation; 0 without estimate_gains */
} dyn_client_joint_fit;

typedef struct dyn_client_identification {
    size_t estimate_count;
    const dyn_client_linear_estimate *estimates; /* base parameters in the order of their columns, then drives */
    size_t rank;                                 /* excited directions */
    double condition;
    size_t fit_count;
    const dyn_client_joint_fit *fits; /* one for each velocity coordinate, in the model's order */
    size_t body_count;
    const char *const *bodies;
    const double *parameters; /* consistent estimate: body_count x DYN_CLIENT_LINK_PARAMETERS; kg, kg m, kg m^2 */
    size_t replaced_count;
    const char *const *replaced_priors; /* bodies whose inertia in the model no body has */
    size_t iterations;
    bool is_converged;
    bool has_payload;
    dyn_client_inertia payload; /* consistent estimate, in the frame of payload_link */
} dyn_client_identification;

/* Estimates inertial parameters and friction from a recorded motion. Payloads and external forces of the query are
 * known loads. INVALID_ARGUMENT with the field "identify.q": the motion has too few samples or excites nothing;
 * RESOURCE_EXHAUSTED: the model is too large. With `name`, errors of dyn_client_load_model too. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_identify(dyn_client *client, const dyn_client_query *query,
                                                        const dyn_client_identify_request *request,
                                                        dyn_client_identification **identification,
                                                        dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_identification_free(dyn_client_identification *identification);

/* Criterion of an exciting motion. */
typedef enum dyn_client_excitation_criterion {
    DYN_CLIENT_EXCITATION_CRITERION_CONDITION = 0,   /* the least condition number of the identification */
    DYN_CLIENT_EXCITATION_CRITERION_DETERMINANT = 1, /* the greatest determinant of its normal equations */
} dyn_client_excitation_criterion;

/* Options of an exciting motion; zero selects the defaults, except where DYN_CLIENT_EXCITE_REQUEST_INIT states another
 * value. The motion is a Fourier series in each coordinate, and begins and ends at rest. */
typedef struct dyn_client_excite_request {
    size_t struct_size;
    dyn_client_excitation_criterion criterion;
    size_t harmonics; /* 2 to 50; 0: 5 */
    double period;    /* s; 0: 10 */
    double rate;      /* rows a second of the motion, Hz; 0: 100 */
    double margin;    /* share of each limit that is left, 0 to 0.9 */
    size_t trials;    /* motions to try; 0: 1500 */
    uint64_t seed;    /* equal requests yield equal motions */
    /* Parameters that are to be identified, as in dyn_client_identify_request. */
    size_t drive_term_count;
    const dyn_client_drive_term *drive_terms;
    bool ignore_drives, drives_only;
    double friction_velocity;
    size_t link_count;
    const char *const *links;
    const char *payload_link;
    double stribeck_velocity; /* 0: 0.1 */
} dyn_client_excite_request;
#define DYN_CLIENT_EXCITE_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_excite_request, .margin = 0.1, __VA_ARGS__)

/* Shares of the limits of one velocity coordinate that a motion uses: 1 is at the limit. */
typedef struct dyn_client_limit_use {
    const char *joint;
    double position; /* of half the range, from its middle */
    double velocity;
    double effort; /* 0 without a limit */
} dyn_client_limit_use;

/* Exciting motion of one period: rows x nq and rows x nv numbers. */
typedef struct dyn_client_excitation {
    size_t rows, nq, nv;
    const double *time, *q, *v, *a, *tau; /* tau: torques of the model */
    size_t estimates, rank;               /* parameters to identify, and directions that the motion excites */
    double condition;
    double log_determinant;
    const dyn_client_limit_use *uses; /* nv, in the model's order */
    size_t trials;
} dyn_client_excitation;

/* Searches a motion from which dyn_client_identify finds the parameters of a model well, within its limits. Of the
 * query model, joint names, gravity and expected_digest count; the timeout, the progress and the job apply.
 * INVALID_ARGUMENT with the field of an option that is out of range; FAILED_PRECONDITION: no motion that was tried
 * keeps the effort limits. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_excite(dyn_client *client, const dyn_client_query *query,
                                                      const dyn_client_excite_request *request,
                                                      dyn_client_excitation **excitation, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_excitation_free(dyn_client_excitation *excitation);

/* ---- motors ------------------------------------------------------------------------------------------------------ */

/* Limit of a motor or its gear. */
typedef enum dyn_client_motor_limit {
    DYN_CLIENT_MOTOR_LIMIT_VOLTAGE = 1,                /* V */
    DYN_CLIENT_MOTOR_LIMIT_CURRENT = 2,                /* A */
    DYN_CLIENT_MOTOR_LIMIT_CONTINUOUS_CURRENT = 3,     /* root mean square, A */
    DYN_CLIENT_MOTOR_LIMIT_SPEED = 4,                  /* rad/s */
    DYN_CLIENT_MOTOR_LIMIT_TEMPERATURE = 5,            /* degrees Celsius */
    DYN_CLIENT_MOTOR_LIMIT_GEAR_TORQUE = 6,            /* N m or N */
    DYN_CLIENT_MOTOR_LIMIT_GEAR_CONTINUOUS_TORQUE = 7, /* root mean square, N m or N */
    DYN_CLIENT_MOTOR_LIMIT_GEAR_SPEED = 8,             /* rad/s */
    DYN_CLIENT_MOTOR_LIMIT_BRAKE = 9,                  /* N m */
} dyn_client_motor_limit;

/* Motor and gear that may take the place of those of a joint. */
typedef struct dyn_client_motor_choice {
    const char *name;
    const char *joint;             /* NULL: the joint of each motor */
    const dyn_client_motor *motor; /* NULL: that of the joint */
    const dyn_client_gear *gear;   /* NULL: that of the joint; a ratio of zero is that of the joint */
    double rotor_inertia;          /* about its axis, kg m^2; 0: that of the joint's rotor */
} dyn_client_motor_choice;

/* Motion whose motors are evaluated. n is query.samples. */
typedef struct dyn_client_motors_request {
    size_t struct_size;
    const double *q;            /* n x nq; required */
    const double *v, *a;        /* n x nv each; NULL: zeros */
    const double *tau;          /* n x nv: forces of the joints; NULL: inverse dynamics */
    const double *time;         /* n, s; NULL: the samples are independent */
    double ambient_temperature; /* degrees Celsius */
    double start_temperature;   /* of the motors in the first sample, degrees Celsius */
    size_t ratio_count;
    const double *ratios; /* other ratios of the gears, for `alternatives` */
    size_t brake_count;
    const char *const *brakes; /* names of engaged brakes */
    size_t choice_count;       /* at most 100 */
    const dyn_client_motor_choice *choices;
} dyn_client_motors_request;
#define DYN_CLIENT_MOTORS_REQUEST_INIT(...)                                                                            \
    DYN_CLIENT_SIZED(dyn_client_motors_request, .ambient_temperature = 25, .start_temperature = 25, __VA_ARGS__)

/* Limit that a motion exceeds. For a root mean square, the samples are 0, 0 and n. */
typedef struct dyn_client_motor_excess {
    dyn_client_motor_limit limit;
    double bound, worst;               /* the limit, and the greatest absolute value */
    size_t first_sample, worst_sample; /* of the first excess, and of the worst one */
    size_t samples;                    /* number of samples beyond the limit */
} dyn_client_motor_excess;

/* Distance of a motion from a limit. */
typedef struct dyn_client_motor_margin {
    dyn_client_motor_limit limit;
    double bound, value; /* the limit, and what it bounds: the greatest absolute value, or the root mean square */
    double margin;       /* part of the limit that the motion leaves; negative beyond it */
} dyn_client_motor_margin;

/* Motion of one motor. Peaks are of absolute values; energies are zero without times. */
typedef struct dyn_client_motor_summary {
    const char *name; /* of the machine element */
    const char *joint;
    double ratio;               /* rate of the motor over that of the joint */
    double no_load_speed;       /* rad/s; 0 without a maximum voltage */
    double stall_torque;        /* N m; 0 without a maximum voltage */
    double peak_load, rms_load; /* at the output of the gear, N m or N */
    double peak_torque;         /* of the motor, N m */
    double rms_torque;          /* N m */
    double peak_current;        /* A */
    double rms_current;         /* A */
    double peak_voltage;        /* V */
    double peak_speed;          /* rad/s */
    double peak_power;          /* electrical, W */
    double peak_temperature;    /* of the winding, degrees Celsius */
    double electrical_energy;   /* J */
    double heat_energy;         /* of the winding, J */
    double gear_loss_energy;    /* J */
    double load_inertia;        /* at the joint, without the rotor, kg m^2 or kg */
    double reflected_inertia;   /* of the rotor at the joint */
    double matched_ratio;       /* with the greatest acceleration for a given torque; 0 without a rotor */
    size_t excess_count;
    const dyn_client_motor_excess *excesses; /* limits that the motion exceeds */
    size_t margin_count;
    const dyn_client_motor_margin *margins; /* all limits of the motor and its gear */
    const char *choice;                     /* of `choices`: its name; otherwise "" */
} dyn_client_motor_summary;

/* Motors of a motion. Arrays of numbers are n x motor_count. */
typedef struct dyn_client_motors {
    size_t samples, motor_count;
    const dyn_client_motor_summary *motors; /* in the order of the machine elements */
    bool is_feasible;                       /* no motor exceeds a limit */
    const double *load;                     /* at the output of the gear, N m or N */
    const double *speed;                    /* rad/s */
    const double *torque;                   /* N m */
    const double *current;                  /* A */
    const double *voltage;                  /* V */
    const double *electrical_power;         /* W; negative: the motor feeds the supply */
    const double *mechanical_power;         /* W */
    const double *heat;                     /* W */
    const double *gear_loss;                /* W */
    const double *torque_margin;            /* to the edge of the operating region, N m; negative: outside */
    const double *speed_margin;             /* rad/s */
    const double *temperature;              /* of the winding, degrees Celsius */
    const uint64_t *quadrant;               /* 1 to 4, of the plane of speed and torque */
    const double *brake_torque;             /* part of the torque that brakes take, N m; NULL: none is engaged */
    size_t alternative_count;
    const dyn_client_motor_summary *alternatives; /* for each motor, one for each of the request's ratios */
    size_t choice_count;
    const dyn_client_motor_summary *choices; /* for each motor, one for each of the request's choices for its joint */
} dyn_client_motors;

/* Evaluates the motors of a model along a motion (motor.proto). FAILED_PRECONDITION with the field
 * "evaluate_motors.query.model": the model has no motors. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_evaluate_motors(dyn_client *client, const dyn_client_query *query,
                                                               const dyn_client_motors_request *request,
                                                               dyn_client_motors **motors, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_motors_free(dyn_client_motors *motors);

/* ---- the configuration space ------------------------------------------------------------------------------------- */

/* Configurations with quaternions are not vectors: q (+) v is the end of the motion with constant velocity v for one
 * unit of time. query.nq, nv and samples are the lengths of the arrays. Of the parts that describe the computation only
 * the joint names and expected_digest may be set; the timeout, the progress and the job apply. */

/* Computes q_next = q (+) step_length v, exact for constant v. q and q_next are n x nq; v is n x nv; step_length is in
 * s. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_integrate(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, const double *v, double step_length,
                                                         double *q_next, dyn_client_error *error);

/* Computes the shortest v, n x nv, with q (+) v = q_1. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_difference(dyn_client *client, const dyn_client_query *query,
                                                          const double *q, const double *q_1, double *v,
                                                          dyn_client_error *error);

/* Computes q (+) s (q_1 (-) q), n x nq. s has one value for all samples, or one for each. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_interpolate(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, const double *q_1, size_t s_count,
                                                           const double *s, double *between, dyn_client_error *error);

/* Computes the Euclidean norm of q_1 (-) q: n numbers. The norm mixes radians and metres. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_distance(dyn_client *client, const dyn_client_query *query,
                                                        const double *q, const double *q_1, double *distance,
                                                        dyn_client_error *error);

/* Scales the quaternions of configurations to norm one with w >= 0. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_normalize(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, double *normalized, dyn_client_error *error);

/* Computes n neutral configurations: zeros, with the identity as quaternions. q is n x nq. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_neutral(dyn_client *client, const dyn_client_query *query, double *q,
                                                       dyn_client_error *error);

/* Draws n random configurations uniformly within the limits; angles without limits in [-pi, pi], displacements in
 * [-1, 1], quaternions uniformly over the rotations. Equal seeds yield equal configurations. q is n x nq. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_random(dyn_client *client, const dyn_client_query *query, uint64_t seed,
                                                      double *q, dyn_client_error *error);

/* ---- kinematics -------------------------------------------------------------------------------------------------- */

/* Computes poses of frames in the world. `frames` are names of links, of joints (the child link's frame) or "world". q
 * is n x nq; position is frame_count x n x 3 in m; quaternion is frame_count x n x 4, x y z w with w >= 0. NOT_FOUND
 * has the field "kinematics.frames[i]". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_poses(dyn_client *client, const dyn_client_query *query, const double *q,
                                                     size_t frame_count, const char *const *frames, double *position,
                                                     double *quaternion, dyn_client_error *error);

/* Computes Jacobians of frames. linear * v is the linear velocity of the origin of the reference frame and angular * v
 * is the angular velocity, both expressed in that frame. Each is frame_count x n x 3 x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_jacobians(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, size_t frame_count, const char *const *frames,
                                                         dyn_client_reference_frame reference_frame, double *linear,
                                                         double *angular, dyn_client_error *error);

/* ---- many quantities at once ------------------------------------------------------------------------------------- */

/* Quantities of dyn_client_evaluate. nv is the number of velocities. Rows and columns over joints are in the query's
 * order. Derivatives with respect to q are along the tangent increments that v integrates to. */
typedef enum dyn_client_quantity {
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS = 1,             /* tau(q, v, a), external forces included: nv */
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS = 2,             /* a(q, v, tau), external forces included: nv */
    DYN_CLIENT_QUANTITY_MASS_MATRIX = 3,                  /* M(q): nv x nv */
    DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX = 4,          /* nv x nv; FAILED_PRECONDITION where M is singular */
    DYN_CLIENT_QUANTITY_CORIOLIS_MATRIX = 5,              /* C(q, v) with dM/dt - 2 C skew: nv x nv */
    DYN_CLIENT_QUANTITY_CHRISTOFFEL_SYMBOLS = 6,          /* G_k with C = sum over k of v_k G_k: nv x nv x nv */
    DYN_CLIENT_QUANTITY_GRAVITY_FORCES = 7,               /* g(q): nv */
    DYN_CLIENT_QUANTITY_BIAS_FORCES = 8,                  /* h(q, v) = C v + g: nv */
    DYN_CLIENT_QUANTITY_KINETIC_ENERGY = 9,               /* v' M v / 2: one number */
    DYN_CLIENT_QUANTITY_POTENTIAL_ENERGY = 10,            /* in gravity; zero with all mass at the world's origin */
    DYN_CLIENT_QUANTITY_POWER = 11,                       /* tau' v: one number */
    DYN_CLIENT_QUANTITY_CENTER_OF_MASS = 12,              /* of the robot or of a subtree, world axes: 3 */
    DYN_CLIENT_QUANTITY_CENTER_OF_MASS_VELOCITY = 13,     /* 3 */
    DYN_CLIENT_QUANTITY_CENTER_OF_MASS_ACCELERATION = 14, /* 3, without gravity */
    DYN_CLIENT_QUANTITY_CENTER_OF_MASS_JACOBIAN = 15,     /* 3 x nv */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM = 16,        /* about the centre of mass, world axes: linear 3, angular 3 */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_MATRIX = 17, /* A_G: linear and angular 3 x nv */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_MATRIX_RATE = 18, /* dA_G/dt */
    DYN_CLIENT_QUANTITY_CENTROIDAL_INERTIA = 19,              /* rotational inertia of the robot as one body: 3 x 3 */
    DYN_CLIENT_QUANTITY_FRAME_POSE = 20,                      /* in the world: position 3, quaternion 4 */
    DYN_CLIENT_QUANTITY_FRAME_TWIST = 21,                     /* J v in the reference frame: linear 3, angular 3 */
    DYN_CLIENT_QUANTITY_FRAME_ACCELERATION = 22,              /* J a + dJ/dt v, without gravity */
    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN = 23,                  /* linear and angular 3 x nv */
    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_RATE = 24,             /* dJ/dt */
    DYN_CLIENT_QUANTITY_FRAME_TWIST_BY_Q = 25,                /* d twist/dq: linear and angular 3 x nv */
    DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_BY_Q = 26,
    DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_BY_V = 27,
    DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR = 28,      /* Y with tau = Y p: nv x bodies x 10 */
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q = 29, /* d tau/dq: nv x nv; d tau/da is M */
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V = 30,
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q = 31, /* d a/dq: nv x nv; d a/d tau is the inverse of M */
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V = 32,
    DYN_CLIENT_QUANTITY_GRAVITY_FORCES_BY_Q = 33, /* dg/dq: nv x nv */
    DYN_CLIENT_QUANTITY_JOINT_WRENCHES = 34,      /* from a joint's parent on its child: force and torque bodies x 3 */
    DYN_CLIENT_QUANTITY_FRAME_JACOBIAN_BY_Q = 35, /* dJ/dq, the Hessian: linear and angular 3 x nv x nv */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_BY_Q = 36,      /* linear and angular 3 x nv */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_RATE_BY_Q = 37, /* of A_G a + dA_G/dt v */
    DYN_CLIENT_QUANTITY_CENTROIDAL_MOMENTUM_RATE_BY_V = 38,
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q_Q = 39, /* second derivatives of tau(q, v, a): nv x nv x nv */
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_V_V = 40,
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_BY_Q_V = 41, /* along q_j, then v_k */
    DYN_CLIENT_QUANTITY_MASS_MATRIX_BY_Q = 42,        /* of M_ij along q_k */
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q_Q = 43, /* of a(q, v, tau) */
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_V_V = 44,
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_BY_Q_V = 45,
    DYN_CLIENT_QUANTITY_INVERSE_MASS_MATRIX_BY_Q = 46,
    DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS_ALONG = 47,            /* change of tau along (dq, dv, da): nv */
    DYN_CLIENT_QUANTITY_FORWARD_DYNAMICS_ALONG = 48,            /* change of a along (dq, dv, dtau): nv */
    DYN_CLIENT_QUANTITY_EXTERNAL_FORCES = 49,                   /* sum of J' f_ext of the query's external forces: nv */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INERTIA = 50,         /* Lambda of the m task rows of all frames: m x m */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INVERSE_INERTIA = 51, /* J M^-1 J', also where Lambda does not exist */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_BIAS = 52,            /* mu: m */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_GRAVITY = 53,         /* p: m */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_CONSISTENT_INVERSE = 54,   /* Jbar = M^-1 J' Lambda: nv x m */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR = 55, /* N = 1 - Jbar J: nv x nv */
    DYN_CLIENT_QUANTITY_FRAME_MANIPULABILITY = 56, /* linear, angular: measure and isotropy; spatial: measure */
    DYN_CLIENT_QUANTITY_FRAME_ELLIPSOIDS = 57, /* of velocity and mass: lengths 3 and axes 3 x 3, linear and angular */
    DYN_CLIENT_QUANTITY_ENERGY_REGRESSOR = 58, /* kinetic and potential: bodies x 10 each */
    DYN_CLIENT_QUANTITY_TORQUE_ELLIPSOID = 59, /* eigenvalues nv and eigenvectors nv x nv of M */
    DYN_CLIENT_QUANTITY_FRAME_ACCELERATION_ELLIPSOIDS = 60, /* of J M^-1 tau: lengths 3, axes 3 x 3; linear, angular */
    DYN_CLIENT_QUANTITY_FRAME_BODY_INERTIA = 61,   /* spatial inertia of the body of the frame: 6 x 6, linear first */
    DYN_CLIENT_QUANTITY_FRAME_PRINCIPAL_AXES = 62, /* of that body, about its centre of mass: moments 3, axes 3 x 3 */
    DYN_CLIENT_QUANTITY_JOINT_INERTIAS = 63,    /* while the other joints are held, and while they are free: nv each */
    DYN_CLIENT_QUANTITY_FRAME_ORIENTATION = 64, /* rotation matrix 3 x 3; roll, pitch and yaw 3 */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_ETA = 66, /* mu + p: m */
    DYN_CLIENT_QUANTITY_ROTOR_FORCES = 67,          /* part of M a + h that the rotors cause: nv */
    DYN_CLIENT_QUANTITY_ROTOR_COUPLING_FORCES = 68, /* of exact rotors, less those in the diagonal approximation: nv */
    DYN_CLIENT_QUANTITY_PASSIVE_FORCES = 69,        /* r(q, v): damping, friction and springs: nv each */
    DYN_CLIENT_QUANTITY_SPRING_ENERGY = 70,         /* of the springs of machine elements, J */
    DYN_CLIENT_QUANTITY_DISSIPATED_POWER = 71,      /* that damping and friction take, W */
    DYN_CLIENT_QUANTITY_CONSTRAINT_JACOBIAN = 80,   /* A of the m rows of constraints: m x nv */
    DYN_CLIENT_QUANTITY_CONSTRAINT_BIAS = 81,       /* dA/dt v: m */
    DYN_CLIENT_QUANTITY_CONSTRAINT_ERROR = 82,      /* closure errors: m */
    DYN_CLIENT_QUANTITY_CONSTRAINT_INVERSE_INERTIA = 83,        /* A M^-1 A': m x m */
    DYN_CLIENT_QUANTITY_CONSTRAINT_INERTIA = 84,                /* its pseudoinverse Lambda */
    DYN_CLIENT_QUANTITY_CONSTRAINT_FORCE_PROJECTOR = 85,        /* P = 1 - A' Lambda A M^-1: nv x nv */
    DYN_CLIENT_QUANTITY_CONSTRAINT_ACCELERATION_PROJECTOR = 86, /* P_qdd = 1 - M^-1 A' Lambda A: nv x nv */
    DYN_CLIENT_QUANTITY_CONSTRAINT_CONDITION = 87,              /* rank and condition of A M^-1 A': 1 each */
    DYN_CLIENT_QUANTITY_CONSTRAINT_MULTIPLIERS = 88, /* lambda of the motion under tau, in both signs: m each */
    DYN_CLIENT_QUANTITY_CONSTRAINT_MULTIPLIERS_OF_MOTION = 89, /* of the motion a */
    DYN_CLIENT_QUANTITY_PROJECTED_INVERSE_DYNAMICS = 90,       /* P (M a + h): nv */
    DYN_CLIENT_QUANTITY_PROJECTED_FORWARD_DYNAMICS = 91,       /* P_qdd M^-1 (tau - h): nv */
    DYN_CLIENT_QUANTITY_CONSTRAINT_MULTIPLIERS_BY_Q = 92,      /* derivatives of lambda(q, v, tau): m x nv */
    DYN_CLIENT_QUANTITY_CONSTRAINT_MULTIPLIERS_BY_V = 93,
    DYN_CLIENT_QUANTITY_CONSTRAINT_MULTIPLIERS_BY_TAU = 94,
    DYN_CLIENT_QUANTITY_CONSTRAINED_ACCELERATION_BY_TAU = 95, /* P_qdd M^-1: nv x nv */
    DYN_CLIENT_QUANTITY_HYBRID_FORCES = 96,                   /* P M a + (1 - P) tau + h - A' Lambda dA/dt v: nv */
    DYN_CLIENT_QUANTITY_HYBRID_ACCELERATION = 97,             /* that they cause: nv */
    DYN_CLIENT_QUANTITY_HYBRID_MULTIPLIERS = 98,  /* of which A' lambda = -(1 - P) tau, in both signs: m each */
    DYN_CLIENT_QUANTITY_CONSTRAINT_WRENCHES = 99, /* of each constraint on its successor, under tau: 3 each */
    /* Of the contacts in a step of contact_step, for s contact surfaces. */
    DYN_CLIENT_QUANTITY_CONTACT_FORCES = 100,            /* on the link of each surface, in the world: s x 3 */
    DYN_CLIENT_QUANTITY_CONTACT_GAPS = 101,              /* at the state; infinite where a surface meets no other: s */
    DYN_CLIENT_QUANTITY_CONTACT_SLIPS = 102,             /* at the end of the step: s */
    DYN_CLIENT_QUANTITY_CONTACT_NORMALS = 103,           /* where the gap is the smallest, towards the link: s x 3 */
    DYN_CLIENT_QUANTITY_CONTACT_POINTS = 104,            /* likewise, place of the point in the world: s x 3 */
    DYN_CLIENT_QUANTITY_CONTACT_ACCELERATION = 105,      /* mean acceleration in the step: nv */
    DYN_CLIENT_QUANTITY_CONTACT_IMPACT_VELOCITY = 107,   /* after an impact of contacts and limits: nv */
    DYN_CLIENT_QUANTITY_CONTACT_IMPACT_IMPULSES = 108,   /* on the link of each surface, in the world: s x 3 */
    DYN_CLIENT_QUANTITY_STOP_IMPACT_IMPULSES = 109,      /* of the limits of joints: nv */
    DYN_CLIENT_QUANTITY_CONTACT_SOLUTION = 106,          /* residual and iterations: 1 each */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_TORQUES = 110, /* for accelerations of tasks by priority: nv */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_ACCELERATION = 111, /* accelerations that these torques cause: m */
    DYN_CLIENT_QUANTITY_OPERATIONAL_SPACE_INDEPENDENCE = 112, /* eigenvalues over the trace: m */
    /* Of frames: articulated-body inertia of the body that carries the frame (6 x 6) and its bias wrench (3 each). */
    DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_INERTIA = 65,
    DYN_CLIENT_QUANTITY_FRAME_ARTICULATED_BIAS = 118,
    DYN_CLIENT_QUANTITY_IMPACT_VELOCITY = 130,               /* after an impact on the constraints: nv */
    DYN_CLIENT_QUANTITY_IMPACT_IMPULSES = 131,               /* of the m rows of constraints: m */
    DYN_CLIENT_QUANTITY_CONSTRAINT_WRENCHES_OF_MOTION = 132, /* likewise, of the motion a */
    DYN_CLIENT_QUANTITY_HOUSING_WRENCHES = 133, /* of each rotor on the link that carries its motor: 3 each */
} dyn_client_quantity;

/* Upper bound of the numbers of quantities (exclusive). */
enum { DYN_CLIENT_QUANTITY_NUMBERS = 256 };

/* Returns the name of the quantity in lower case, "mass_matrix", or NULL for any other number. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_quantity_name(dyn_client_quantity quantity);

/* Finds the quantity of a name; "M" is a further name of the mass matrix. Returns false if no quantity has the name.
 * Thread-safe. */
DYN_CLIENT_EXPORT bool dyn_client_find_quantity(const char *name, dyn_client_quantity *quantity);

/* Subject of a quantity. */
typedef enum dyn_client_quantity_subject {
    DYN_CLIENT_QUANTITY_SUBJECT_ROBOT,
    DYN_CLIENT_QUANTITY_SUBJECT_SUBTREE, /* of the robot, or of the subtree of one of its joints */
    DYN_CLIENT_QUANTITY_SUBJECT_FRAMES,  /* of each of some frames */
    DYN_CLIENT_QUANTITY_SUBJECT_TASK,    /* of a task */
} dyn_client_quantity_subject;

/* Returns the subject of a quantity, DYN_CLIENT_QUANTITY_SUBJECT_ROBOT for an unknown one. Thread-safe. */
DYN_CLIENT_EXPORT dyn_client_quantity_subject dyn_client_quantity_subject_of(dyn_client_quantity quantity);

/* Row of a frame's Jacobian. */
typedef enum dyn_client_task_axis {
    DYN_CLIENT_TASK_AXIS_LINEAR_X = 1,
    DYN_CLIENT_TASK_AXIS_LINEAR_Y = 2,
    DYN_CLIENT_TASK_AXIS_LINEAR_Z = 3,
    DYN_CLIENT_TASK_AXIS_ANGULAR_X = 4,
    DYN_CLIENT_TASK_AXIS_ANGULAR_Y = 5,
    DYN_CLIENT_TASK_AXIS_ANGULAR_Z = 6,
} dyn_client_task_axis;

/* Frame that a task controls. */
typedef struct dyn_client_task_frame {
    const char *frame;
    size_t axis_count; /* rows of the frame's Jacobian in the task; 0: all six */
    const dyn_client_task_axis *axes;
    /* Of torques for tasks: desired accelerations, a row for each sample or one for all, linear ones first; none: 0. */
    size_t acceleration_count;
    const double *acceleration;
    size_t priority; /* smaller ones come first */
} dyn_client_task_frame;

/* Quantity and its subject. Members that the subject does not use must be zero; otherwise the call fails with
 * INVALID_ARGUMENT. */
typedef struct dyn_client_quantity_request {
    dyn_client_quantity quantity;
    size_t frame_count; /* of frames: links, joints (the child link's frame) or "world", each once */
    const char *const *frames;
    dyn_client_reference_frame reference_frame; /* of frames and tasks: frame of their vectors */
    const char *subtree;     /* of subtrees: joint at the root of the subtree; NULL: the whole robot */
    size_t task_frame_count; /* of tasks: up to 8, each once */
    const dyn_client_task_frame *task_frames;
    double damping;     /* of torques for tasks near singular configurations, 0 to 1 */
    double restitution; /* of impacts, 0 to 1 */
} dyn_client_quantity_request;

/* Arguments of an evaluation, in addition to the query. An array that no quantity depends on is rejected with
 * INVALID_ARGUMENT. */
typedef struct dyn_client_evaluate_request {
    size_t struct_size;
    const double *q;                   /* n x nq */
    const double *v, *a;               /* n x nv; NULL: zeros */
    const double *tau;                 /* n x nv; NULL: zeros; of forward dynamics, its derivatives, and power */
    const double *dq, *dv, *da, *dtau; /* n x nv; NULL: zeros; the direction of the quantities ALONG */
    size_t quantity_count;             /* at least 1; a quantity may appear again with another subject */
    const dyn_client_quantity_request *quantities;
    double contact_step; /* of quantities of contacts: length of the step, s; 0: 0.001 */
} dyn_client_evaluate_request;
#define DYN_CLIENT_EVALUATE_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_evaluate_request, __VA_ARGS__)

/* Flags for the inputs that a quantity depends on, in addition to q. */
typedef enum dyn_client_quantity_input {
    DYN_CLIENT_QUANTITY_INPUT_V = 1 << 0,
    DYN_CLIENT_QUANTITY_INPUT_A = 1 << 1,
    DYN_CLIENT_QUANTITY_INPUT_TAU = 1 << 2,
    DYN_CLIENT_QUANTITY_INPUT_DQ = 1 << 3,
    DYN_CLIENT_QUANTITY_INPUT_DV = 1 << 4,
    DYN_CLIENT_QUANTITY_INPUT_DA = 1 << 5,
    DYN_CLIENT_QUANTITY_INPUT_DTAU = 1 << 6,
    DYN_CLIENT_QUANTITY_INPUT_GRAVITY = 1 << 7, /* this flag and the next ones: parts of the query */
    DYN_CLIENT_QUANTITY_INPUT_EXTERNAL_FORCES = 1 << 8,
    DYN_CLIENT_QUANTITY_INPUT_PAYLOADS = 1 << 9,
    DYN_CLIENT_QUANTITY_INPUT_PASSIVE_FORCES = 1 << 10,
    DYN_CLIENT_QUANTITY_INPUT_BASE_MOTION = 1 << 11,
} dyn_client_quantity_input;

/* Meaning of an axis of a block. */
typedef enum dyn_client_axis_kind {
    DYN_CLIENT_AXIS_KIND_JOINTS = 1,     /* velocities in the query's order: rotations or translations */
    DYN_CLIENT_AXIS_KIND_BODIES = 2,     /* child links of the moving joints, in the model's order */
    DYN_CLIENT_AXIS_KIND_TASK = 3,       /* "tool0 linear x", the linear rows of a frame first; angular or linear */
    DYN_CLIENT_AXIS_KIND_XYZ = 4,        /* "x", "y", "z" */
    DYN_CLIENT_AXIS_KIND_QUATERNION = 5, /* "x", "y", "z", "w" */
    DYN_CLIENT_AXIS_KIND_PARAMETERS = 6, /* "m", "mx", .. "Izz": the mass, first moments or moments of inertia */
    DYN_CLIENT_AXIS_KIND_SEMI_AXES = 7,  /* of an ellipsoid, the longest first */
    DYN_CLIENT_AXIS_KIND_JOINT_SEMI_AXES = 8,
    DYN_CLIENT_AXIS_KIND_MEASURES = 9,          /* "measure", "isotropy" */
    DYN_CLIENT_AXIS_KIND_TWIST = 10,            /* "linear x", .. "angular z": angular or linear */
    DYN_CLIENT_AXIS_KIND_CONSTRAINT_ROWS = 11,  /* "loop[0]": rows of the model's constraints, angular or other */
    DYN_CLIENT_AXIS_KIND_CONSTRAINTS = 13,      /* constraints of the model by name */
    DYN_CLIENT_AXIS_KIND_ROTORS = 14,           /* rotors, and shafts with inertia, by name */
    DYN_CLIENT_AXIS_KIND_CONTACT_SURFACES = 20, /* contact surfaces of the model by name */
} dyn_client_axis_kind;

/* Entries along an axis. */
typedef struct dyn_client_axis {
    dyn_client_axis_kind kind;
    size_t size;
    const char *const *labels;
    size_t unit_count;        /* classes of entries with different units, at least 1 */
    const size_t *unit_index; /* class of each entry; NULL: 0 */
} dyn_client_axis;

enum { DYN_CLIENT_MAX_RANK = 3 };

/* Array of numbers with one shape for each sample. */
typedef struct dyn_client_block {
    const char *name; /* "linear", "angular", "position", "quaternion", or "value" */
    size_t rank;      /* 0: one number for each sample */
    const dyn_client_axis *axes[DYN_CLIENT_MAX_RANK];
    size_t shape[DYN_CLIENT_MAX_RANK]; /* of one sample: the sizes of the axes */
    size_t width;                      /* values of one sample: the product of the shape */
    size_t unit_count; /* 1, or the number of combinations of classes of the axes, the last one fastest */
    const char *const *units;
    const double *values; /* n x width, row-major */
} dyn_client_block;

typedef struct dyn_client_quantity_result {
    dyn_client_quantity quantity;
    size_t request;                             /* index in the request's quantities */
    const char *frame;                          /* of a quantity of frames; else empty */
    dyn_client_reference_frame reference_frame; /* of quantities of frames and tasks */
    const char *expressed_in;                   /* axes and origin in words; empty where there are none */
    bool of_tree;                               /* constraints hold, and the values are those of the open tree */
    uint64_t inputs;                            /* flags dyn_client_quantity_input */
    size_t block_count;
    const dyn_client_block *blocks;
} dyn_client_quantity_result;

typedef struct dyn_client_evaluation {
    size_t samples;
    size_t axis_count; /* axes of the blocks, each once */
    const dyn_client_axis *axes;
    size_t
        result_count; /* in the order of the quantities; a quantity of frames has one for each frame, in their order */
    const dyn_client_quantity_result *results;
    const dyn_client_passive_forces *counted_passive_forces; /* in inverse and forward dynamics; NULL: none */
    const double *residuals; /* of motions with constraints, a number for each sample, rad/s^2 or m/s^2; NULL: none */
} dyn_client_evaluation;

/* Returns the first axis of a kind, or NULL if no block has one. Thread-safe. */
DYN_CLIENT_EXPORT const dyn_client_axis *dyn_client_find_axis(const dyn_client_evaluation *evaluation,
                                                              dyn_client_axis_kind kind);

/* Returns the unit of value number `entry` of a sample, which is less than block.width: "kg m^2", "1". Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_block_unit(const dyn_client_block *block, size_t entry);

/* Computes a set of quantities for the same states in one round trip. Parts of the query that no quantity depends on
 * are rejected with INVALID_ARGUMENT. Errors: NOT_FOUND and INVALID_ARGUMENT with fields such as
 * "evaluate.quantities[i].frames[k]" and "evaluate.tau"; FAILED_PRECONDITION if M is singular. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_evaluate(dyn_client *client, const dyn_client_query *query,
                                                        const dyn_client_evaluate_request *request,
                                                        dyn_client_evaluation **evaluation, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_evaluation_free(dyn_client_evaluation *evaluation);

/* ---- fast channels ----------------------------------------------------------------------------------------------- */

/* A controller that runs beside the daemon can call it by memory that both share, in microseconds. It opens a fast
 * channel for a model once; the functions that it calls anyway then use it:
 *
 *     dyn_client_open_fast_channel(client, "ur5", 0, NULL, 0, &error)
 *     dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error)
 *
 * A channel computes dyn_client_inverse_dynamics, dyn_client_forward_dynamics, dyn_client_mass_matrix,
 * dyn_client_gravity, dyn_client_bias_forces, dyn_client_poses and dyn_client_jacobians of one frame, and
 * dyn_client_evaluate of the quantities that were named when it was opened, for 1 to 64 samples. The query must have
 * nothing but model, nq, nv, samples and timeout, and must name the model as the channel does. All other calls are
 * requests. Results and errors of both ways are equal, bit by bit.
 *
 * A channel computes one call at a time: threads wait for each other, or have clients of their own. A call cannot be
 * cancelled while it computes; dyn_client_abort ends its wait. The client opens a channel that the daemon has closed,
 * because it was restarted or the model was replaced, again by later calls, at most once a second and within 0.1 s;
 * calls in between are requests. */

/* Opens a fast channel for the model of this name or digest, and replaces an earlier one. `quantities` are those of
 * dyn_client_evaluate_request; none: the channel computes no dyn_client_evaluate. The daemon computes each call once,
 * so that later ones allocate nothing. `timeout` in s; 0: that of the client. Errors: FAILED_PRECONDITION where the
 * client is not connected to one ipc address, UNREACHABLE where the daemon has no fast channels, RESOURCE_EXHAUSTED
 * where too many are open or one is too large; NOT_FOUND and the other errors of dyn_client_evaluate. Thread-safe. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_open_fast_channel(dyn_client *client, const char *model,
                                                                 size_t quantity_count,
                                                                 const dyn_client_quantity_request *quantities,
                                                                 double timeout, dyn_client_error *error);

/* Returns whether the fast channel of a model is open: false where calls are requests. Thread-safe. */
DYN_CLIENT_EXPORT bool dyn_client_has_fast_channel(dyn_client *client, const char *model);

/* Closes the fast channel of a model, if there is one. Later calls are requests. Thread-safe. */
DYN_CLIENT_EXPORT void dyn_client_close_fast_channel(dyn_client *client, const char *model);

/* ---- torques by term and by link --------------------------------------------------------------------------------- */

/* Term of tau = M a + C v + g - sum J' f_ext - r. */
typedef struct dyn_client_term {
    /* "inertial", "coriolis", "gravity", "external"; with payloads "payload", with rotors "rotor"; "gear_loss",
     * "damping", "friction" and "springs" where the query names them. */
    const char *name;
    const double *tau; /* nv */
} dyn_client_term;

/* Contribution of the inertia of one link or payload to the joint forces: its parts of M a, C v and g, nv each. */
typedef struct dyn_client_contribution {
    const char *link;         /* name in the description, also of a link that a fixed joint merges into another */
    const char *moving_joint; /* nearest moving joint above it */
    double mass;              /* kg */
    const double *inertial, *coriolis, *gravity;
} dyn_client_contribution;

/* How far one motion agrees with the constraints of its robot and its query. */
typedef struct dyn_client_motion_agreement {
    size_t rank;     /* independent rows */
    size_t freedom;  /* independent ways to change the forces of the motors without changing the motion */
    double residual; /* largest |A a + dA/dt v - db/dt|, rad/s^2 or m/s^2 */
} dyn_client_motion_agreement;

typedef struct dyn_client_explanation {
    size_t nv;
    const char *const *joints; /* nv: the joint of each velocity, in the query's order */
    const char *const *units;  /* nv: "N m" or "N" */
    const double *tau;         /* nv: the complete inverse dynamics */
    size_t term_count;
    const dyn_client_term *terms; /* their sum is tau */
    size_t link_count;
    const dyn_client_contribution *links; /* moving links with an inertia; their sums are the first three terms */
    size_t payload_count;
    const dyn_client_contribution *payloads; /* in the query's order; their sum is the term "payload" */
    double residual; /* largest difference between totals and sums, which are computed separately */
    const dyn_client_passive_forces *counted_passive_forces; /* that are terms; NULL: none */
    const dyn_client_motion_agreement *agreement;            /* NULL: there are no constraints */
} dyn_client_explanation;

/* Splits tau of the motion (q, v, a) by term and by link. query.samples must be 1. q has nq values; v and a (NULL:
 * zeros) have nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_explain(dyn_client *client, const dyn_client_query *query,
                                                       const double *q, const double *v, const double *a,
                                                       dyn_client_explanation **explanation, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_explanation_free(dyn_client_explanation *explanation);

/* ---- formulations ------------------------------------------------------------------------------------------------
 *
 * Formulations of the literature for tau = M a + h, each with a name (formulation.proto). q has samples x nq values; v
 * and a (NULL: zeros) have samples x nv. */

enum { DYN_CLIENT_FORMULATION_EXTENTS = 4 };

/* Inner quantity of a formulation: in each state an array of up to four dimensions, row-major, in the model's order.
 * Texts are those of FormulationBlock (formulation.proto). */
typedef struct dyn_client_formulation_block {
    const char *name;    /* as in the literature: "h_ikm" */
    const char *meaning; /* a few words */
    size_t dimensions, extents[DYN_CLIENT_FORMULATION_EXTENTS];
    const double *values;                             /* samples x extents */
    const char *unit;                                 /* all that occur: "N m, N" */
    const char *frame;                                /* axes and origin; empty: it has none */
    const char *equation;                             /* number in the source, or the equation itself */
    const char *axes[DYN_CLIENT_FORMULATION_EXTENTS]; /* name of each dimension: "link", "coordinate", "row" */
} dyn_client_formulation_block;

typedef struct dyn_client_formulation {
    const char *source; /* literature and equations */
    size_t nv;
    const double *tau; /* samples x nv: inverse dynamics by this formulation */
    size_t block_count;
    const dyn_client_formulation_block *blocks;
    size_t samples;
} dyn_client_formulation;

/* Computes the inner quantities of the formulation query.formulation, which must be set, for query.samples states.
 * Errors: INVALID_ARGUMENT for
 * an unknown name, FAILED_PRECONDITION if the formulation does not apply to the model, both with the field
 * "formulate.query.formulation". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_formulate(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, const double *v, const double *a,
                                                         dyn_client_formulation **formulation, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_formulation_free(dyn_client_formulation *formulation);

/* Link that bends, as a uniform slender beam that is clamped at `start` and free at `end`, where the next joint is. */
typedef struct dyn_client_flexible_link {
    const char *link;
    double start[3], end[3];    /* m, in the axes of the link */
    double mass;                /* kg, spread evenly from start to end */
    double direction[3];        /* unit vector normal to the beam, in which it bends */
    double rigidity;            /* E I for bending in `direction`, N m^2 */
    double transverse_rigidity; /* E I for bending normal to it; 0: it does not */
    size_t modes;               /* in each plane, 1 to 16 */
} dyn_client_flexible_link;

/* Chain of which some links bend. The modes are those of the links in sequence, of which each has those
 * in `direction` first. */
typedef struct dyn_client_flexible_chain {
    size_t struct_size;
    size_t link_count;
    const dyn_client_flexible_link *links;
    const double *mode_q, *mode_v, *mode_a; /* samples x modes; NULL: zeros */
    const double *tau, *mode_tau;           /* forces that cause "a": samples x nv, samples x modes; NULL: zeros */
} dyn_client_flexible_chain;
#define DYN_CLIENT_FLEXIBLE_CHAIN_INIT(...) DYN_CLIENT_SIZED(dyn_client_flexible_chain, __VA_ARGS__)

/* Computes inverse and forward dynamics of a chain with flexible links, by the formulation "book_flexible", which
 * query.formulation names. The blocks are "tau_modes", "M", "a_free" and, with tau or mode_tau, "a"
 * (formulation.proto). Errors: also INVALID_ARGUMENT with fields such as "formulate.flexible_links[i].rigidity". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_formulate_flexible(dyn_client *client, const dyn_client_query *query,
                                                                  const dyn_client_flexible_chain *chain,
                                                                  const double *q, const double *v, const double *a,
                                                                  dyn_client_formulation **formulation,
                                                                  dyn_client_error *error);

/* Cost of one result. Operations are those of the formulation as written, zero for the daemon's own algorithms. */
typedef struct dyn_client_formulation_cost {
    bool is_stated;    /* by the literature; otherwise derived from the results that it states */
    double difference; /* largest difference from the daemon's own algorithm, relative to its largest number, or to 1 */
    double time;       /* s */
    uint64_t multiplications, additions, divisions, roots, sines;
    const char *refusal; /* reason why the result cannot be computed in this state; NULL: it is there */
} dyn_client_formulation_cost;

typedef struct dyn_client_compared_formulation {
    const char *name;    /* "kernels": the daemon's own algorithms */
    const char *source;  /* literature and equations */
    const char *refusal; /* reason why it does not apply to the model; NULL: it applies, and the rest is set */
    const double *tau;   /* nv: inverse dynamics; NULL where its cost has a refusal, and likewise below */
    const double *a;     /* nv: forward dynamics of the kernels' tau, with the constraints of the model */
    dyn_client_formulation_cost inverse_dynamics, forward_dynamics, mass_matrix;
    const double *M; /* nv x nv, row-major: mass matrix */
} dyn_client_compared_formulation;

typedef struct dyn_client_comparison {
    size_t nv;
    size_t formulation_count;
    const dyn_client_compared_formulation *formulations; /* "kernels" first */
} dyn_client_comparison;

/* Computes the motion (q, v, a) by the daemon's own algorithms and by every formulation. For a model with constraints,
 * inverse dynamics and the mass matrix are those of the tree. Where the mass matrix is singular, the results that need
 * its inverse are refused, and the call succeeds. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_compare(dyn_client *client, const dyn_client_query *query,
                                                       const double *q, const double *v, const double *a,
                                                       dyn_client_comparison **comparison, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_comparison_free(dyn_client_comparison *comparison);

/* ---- simulations --------------------------------------------------------------------------------------------------
 *
 * A simulation has a name, and a token that its creator receives. Commands need the token; any client may read and
 * watch. The daemon ends a simulation whose owner sends nothing for the time of its lease. Results come in one block
 * that the caller frees with dyn_client_simulation_free. Errors of all functions here: NOT_FOUND for the name,
 * PERMISSION_DENIED for the token, INVALID_ARGUMENT with the field, FAILED_PRECONDITION where the simulation's
 * condition does not allow the call. */

typedef enum dyn_client_integrator {
    DYN_CLIENT_INTEGRATOR_SEMI_IMPLICIT_EULER = 0,
    DYN_CLIENT_INTEGRATOR_EXPLICIT_EULER = 1,
    DYN_CLIENT_INTEGRATOR_RK4 = 2,
} dyn_client_integrator;

/* Values of an input between its rows. */
typedef enum dyn_client_hold {
    DYN_CLIENT_HOLD_ZERO_ORDER = 0, /* each row applies until the next */
    DYN_CLIENT_HOLD_LINEAR = 1,     /* linear interpolation between rows */
} dyn_client_hold;

/* Advance of simulated time. */
typedef enum dyn_client_pace {
    DYN_CLIENT_PACE_LOCKSTEP = 0, /* only dyn_client_step_simulation advances the simulation */
    DYN_CLIENT_PACE_CLOCK = 1,    /* simulated time follows the clock */
} dyn_client_pace;

typedef enum dyn_client_control_law {
    DYN_CLIENT_CONTROL_LAW_NONE = 0,       /* tau is the input */
    DYN_CLIENT_CONTROL_LAW_PD = 1,         /* + kp (q_ref - q) + kd (v_ref - v) */
    DYN_CLIENT_CONTROL_LAW_PD_GRAVITY = 2, /* + g(q) */
    DYN_CLIENT_CONTROL_LAW_COMPUTED_TORQUE = 3,
} dyn_client_control_law;

typedef enum dyn_client_joint_stop {
    DYN_CLIENT_JOINT_STOP_RIGID = 0,
    DYN_CLIENT_JOINT_STOP_SPRING = 1,
    DYN_CLIENT_JOINT_STOP_NONE = 2,
} dyn_client_joint_stop;

/* Law of all contacts. */
typedef enum dyn_client_contact_law {
    DYN_CLIENT_CONTACT_LAW_OF_SURFACES = 0, /* that which the surfaces state */
    DYN_CLIENT_CONTACT_LAW_RIGID = 1,       /* all are rigid */
    DYN_CLIENT_CONTACT_LAW_SOFT = 2,        /* all are soft, by their own parameters or MuJoCo's defaults */
} dyn_client_contact_law;

/* Use of compiled algorithms for the steps. */
typedef enum dyn_client_compiled_steps {
    DYN_CLIENT_COMPILED_STEPS_WHERE_READY = 0, /* if ready when the simulation is created or the request begins */
    DYN_CLIENT_COMPILED_STEPS_NEVER = 1,       /* results do not depend on the time of compilation */
    DYN_CLIENT_COMPILED_STEPS_ALWAYS = 2, /* FAILED_PRECONDITION if not ready, with the field "...stepping.compiled" */
} dyn_client_compiled_steps;

/* Spring and damper of a joint's stop. Zero is a value too, not the default. */
typedef struct dyn_client_spring_stop {
    double stiffness; /* N m/rad or N/m */
    double damping;   /* N m s/rad or N s/m */
} dyn_client_spring_stop;

/* Treatment of the closed loops of a model with constraints. Zero is a value too, not the default. */
typedef struct dyn_client_loop_closure {
    double stabilization; /* k of Baumgarte's method, 1/s */
    bool projection;      /* close positions and velocities after each integration step */
} dyn_client_loop_closure;

/* Method of integration over time. Zero or NULL selects the default. Damping, friction, limits and effort of the
 * description apply unless a member here excludes them. */
typedef struct dyn_client_stepping {
    size_t struct_size;
    dyn_client_integrator integrator;
    double step_length; /* s; default 0.001; the controller runs once a step */
    size_t substeps;    /* integration steps in a step; default 1 */
    dyn_client_control_law law;
    size_t gain_count; /* number of values in kp and kd: 1 or nv */
    const double *kp, *kd;
    bool ignore_damping, ignore_friction, ignore_effort_limits;
    bool ignore_springs;      /* of the machine elements */
    double friction_velocity; /* rad/s or m/s; default 0.01 */
    dyn_client_joint_stop stop;
    double restitution;                        /* of a rigid stop, 0 to 1 */
    const dyn_client_spring_stop *spring_stop; /* of a spring stop; NULL: 1e4 and 100 */
    double velocity_bound;                     /* a faster sample has diverged; default 1e6 */
    dyn_client_compiled_steps compiled;
    const dyn_client_loop_closure *loop_closure; /* of a model with constraints; NULL: 20 with projection */
    bool ignore_gear_losses;                     /* of the machine elements */
    size_t brake_count;
    const char *const *brakes; /* names of the engaged brakes */
    bool solve_joints;         /* rigid stops and dry friction act in the solver of the contacts */
    dyn_client_contact_law contact_law;
} dyn_client_stepping;
#define DYN_CLIENT_STEPPING_INIT(...) DYN_CLIENT_SIZED(dyn_client_stepping, __VA_ARGS__)

/* Description of a simulation. Zero or NULL selects the default for every member but `query`. */
typedef struct dyn_client_simulation_options {
    size_t struct_size;
    const char *name; /* default: the daemon chooses */
    /* Model, joint names, gravity, payloads for the simulation's lifetime, external forces of one row each, which act
     * from the start and after a reset until they are replaced, and the timeout of the call. */
    const dyn_client_query *query;
    size_t nq, nv;                       /* lengths of q and v */
    const double *q, *v;                 /* default: the home configuration at rest */
    const dyn_client_stepping *stepping; /* NULL: its defaults */
    dyn_client_pace pace;
    double rate; /* simulated seconds a second; default 1 */
    bool is_paused;
    double publish_rate; /* states published per simulated second; default 100 */
    double disturbance;  /* standard deviation of a random force on each joint, N m or N */
    uint64_t seed;       /* of the disturbance */
    double lease;        /* s; default: the daemon's */
    bool keep;           /* pause instead of ending when the lease expires */
} dyn_client_simulation_options;
#define DYN_CLIENT_SIMULATION_OPTIONS_INIT(...) DYN_CLIENT_SIZED(dyn_client_simulation_options, __VA_ARGS__)

typedef enum dyn_client_condition {
    DYN_CLIENT_CONDITION_UNSPECIFIED = 0,
    DYN_CLIENT_CONDITION_RUNNING = 1,
    DYN_CLIENT_CONDITION_PAUSED = 2, /* also in lockstep */
    DYN_CLIENT_CONDITION_DIVERGED = 3,
} dyn_client_condition;

/* Returns the name of the condition in lower case, "running". Never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_condition_name(dyn_client_condition condition);

/* Reason for the end of dyn_client_step_simulation. */
typedef enum dyn_client_steps_end {
    DYN_CLIENT_STEPS_END_UNSPECIFIED = 0,
    DYN_CLIENT_STEPS_END_STEPS = 1,    /* all steps were done */
    DYN_CLIENT_STEPS_END_DEADLINE = 2, /* the timeout or the daemon's limits.request_time passed */
    DYN_CLIENT_STEPS_END_CANCELLED = 3,
    DYN_CLIENT_STEPS_END_DIVERGED = 4,
    DYN_CLIENT_STEPS_END_INPUT_EMPTY = 5, /* the input stream of the simulation has no point for the next step */
} dyn_client_steps_end;

/* Returns the name of the reason in lower case, "deadline". Never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_steps_end_name(dyn_client_steps_end end);

/* State of a simulation at one moment. */
typedef struct dyn_client_simulation {
    const char *name, *model, *digest, *owner, *recording; /* owner, recording: empty where there is none */
    dyn_client_condition condition;
    dyn_client_pace pace;
    double rate, step_length;
    double lease_remaining; /* s */
    size_t watchers;
    uint64_t overruns, ticks;          /* ticks that ended after the next was due; all ticks */
    double slipped;                    /* s by which the schedule was postponed because the simulation fell behind */
    double lateness, longest_lateness; /* s by which the last tick and the latest tick began late */
    double step_cost;                  /* mean computing time of a step, s */
    uint64_t step;
    double time;        /* s simulated */
    int64_t stamp_ns;   /* wall time of the state, ns since 1970-01-01 UTC */
    int64_t created_ns; /* wall time of its creation; differs from that of a former simulation of the same name */
    size_t nq, nv;      /* 0 in lists, which hold no states */
    const double *q, *v, *tau;
    size_t external_force_count; /* that act in the next step; set by dyn_client_get_simulation only */
    const dyn_client_external_force *external_forces;
    size_t joint_count; /* order of these values; 0: the model's own */
    const char *const *joint_names;
    const char *computed_with;   /* code that computed its steps: with equal texts, equal inputs yield equal bits */
    const char *recording_error; /* error that ended the last recording; empty: none */
    uint64_t steps_done;         /* set by dyn_client_step_simulation; 0 in other results */
    dyn_client_steps_end ended_by;
    bool durable;           /* its creation outlives a crash; set by dyn_client_create_simulation only */
    const char *constraint; /* constraint with the largest closure error in the state; empty: there is none */
    double closure_error;   /* that error, m or rad */
    /* Contact surfaces in the last integration step: 3 forces, a gap and a slip each; zeros before the first step. */
    size_t surfaces;
    const double *contact_forces, *contact_gaps, *contact_slips; /* N, m, m/s */
    double contact_residual;                   /* largest violation of the contact laws after that step, m/s */
    const dyn_client_base_motion *base_motion; /* in the next step; NULL: none was set. By dyn_client_get_simulation */
} dyn_client_simulation;

DYN_CLIENT_EXPORT void dyn_client_simulation_free(dyn_client_simulation *simulation);

/* Creates a simulation. `token` receives the token that commands on it require. (*simulation)->durable is false where
 * the daemon has no state directory or cannot write it (dyn_client_get_health reports that): then a crash of the daemon
 * ends the simulation. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_create_simulation(dyn_client *client,
                                                                 const dyn_client_simulation_options *options,
                                                                 uint64_t *token, dyn_client_simulation **simulation,
                                                                 dyn_client_error *error);

/* Input of a simulation. Members that are NULL leave the input unchanged. */
typedef struct dyn_client_simulation_input {
    size_t struct_size;
    size_t nq, nv;
    const double *tau;                   /* nv forces */
    const double *q_ref, *v_ref, *a_ref; /* reference of the controller: nq, nv and nv */
    /* Forces of one row each, constant in their frames. They replace all earlier ones and act until replaced. */
    size_t external_force_count;
    const dyn_client_external_force *external_forces;
    bool clear_external_forces;   /* remove all earlier forces, also where there are no new ones */
    dyn_client_progress progress; /* of dyn_client_step_simulation alone; NULL: none */
    void *progress_context;
    const dyn_client_base_motion *base_motion; /* of one row, held until replaced; NULL: unchanged */
} dyn_client_simulation_input;
#define DYN_CLIENT_SIMULATION_INPUT_INIT(...) DYN_CLIENT_SIZED(dyn_client_simulation_input, __VA_ARGS__)

/* Advances a simulation that does not follow the clock by at most `steps`. `input` (NULL: unchanged) applies from the
 * first step on. A deadline that passes after the first step, or a cancellation by input->progress, is not an error:
 * state->steps_done is the number of steps done, and state->ended_by is the reason for the end. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_step_simulation(dyn_client *client, const char *name, uint64_t token,
                                                               uint64_t steps, const dyn_client_simulation_input *input,
                                                               double timeout, dyn_client_simulation **state,
                                                               dyn_client_error *error);

/* Sets the input of a simulation. `step` (may be NULL) receives the number of the first step that the input drives. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_set_simulation_input(dyn_client *client, const char *name,
                                                                    uint64_t token,
                                                                    const dyn_client_simulation_input *input,
                                                                    double timeout, uint64_t *step,
                                                                    dyn_client_error *error);

/* Requests the state of a simulation and all other members. A call with the token renews the lease; 0: no token. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_simulation(dyn_client *client, const char *name, uint64_t token,
                                                              double timeout, dyn_client_simulation **simulation,
                                                              dyn_client_error *error);

/* Sets the state of a simulation: q of nq values and v of nv (NULL: at rest). */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_set_simulation_state(dyn_client *client, const char *name,
                                                                    uint64_t token, size_t nq, size_t nv,
                                                                    const double *q, const double *v, double timeout,
                                                                    dyn_client_simulation **state,
                                                                    dyn_client_error *error);

/* Pauses a simulation that follows the clock; a paused one stays paused. FAILED_PRECONDITION: it is in lockstep. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_pause_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                double timeout, dyn_client_simulation **state,
                                                                dyn_client_error *error);

/* Resumes a simulation that follows the clock; a running one goes on. FAILED_PRECONDITION: it is in lockstep. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_resume_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 double timeout, dyn_client_simulation **state,
                                                                 dyn_client_error *error);

/* Returns a simulation to its initial state, step 0, its first input and its seed. The simulation stays running or
 * paused; after a divergence it is paused. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_reset_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                double timeout, dyn_client_simulation **state,
                                                                dyn_client_error *error);

/* Deletes a simulation. `durable` (may be NULL) receives whether the deletion is on the daemon's disk, so that it
 * outlives a crash of the daemon or a loss of power. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_delete_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 double timeout, bool *durable,
                                                                 dyn_client_error *error);

/* Takes over a simulation whose lease has expired or that has no owner. `lease` 0 leaves its lease unchanged. `durable`
 * (may be NULL) receives whether the new owner is on the daemon's disk. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_claim_simulation(dyn_client *client, const char *name, double lease,
                                                                double timeout, uint64_t *token, bool *durable,
                                                                dyn_client_error *error);

typedef struct dyn_client_simulation_list {
    size_t count;
    const dyn_client_simulation *simulations; /* sorted by name */
} dyn_client_simulation_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_simulations(dyn_client *client, double timeout,
                                                                dyn_client_simulation_list **list,
                                                                dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_simulation_list_free(dyn_client_simulation_list *list);

/* Starts a recording in the daemon's state directory. DYN_CLIENT_RESOURCE_EXHAUSTED: the limits leave no room for
 * it. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_record_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 const char *recording, double timeout,
                                                                 dyn_client_error *error);

/* Ends the recording of a simulation. `entries` and `bytes` (may be NULL) receive the number of its states, inputs and
 * jumps, and the size of its file. DYN_CLIENT_FAILED_PRECONDITION: no recording is under way.
 * DYN_CLIENT_RESOURCE_EXHAUSTED: the recording ended earlier for lack of room; the states until then can be
 * replayed. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_stop_recording(dyn_client *client, const char *name, uint64_t token,
                                                              double timeout, uint64_t *entries, uint64_t *bytes,
                                                              dyn_client_error *error);

/* Recorded run that the daemon has computed again and compared bit for bit. */
typedef struct dyn_client_replay {
    const char *model, *digest; /* as recorded; the model need not be loaded */
    double step_length;
    uint64_t steps, equal_steps; /* recorded steps; steps with equal results */
    uint64_t first_difference;   /* step; 0: none */
    bool is_truncated;           /* the recording lacks its end */
    size_t count, nq, nv;        /* of the requested states */
    const uint64_t *step;
    const double *q, *v, *tau; /* rows */
    size_t joint_count;        /* order of their columns; 0: the model's own */
    const char *const *joint_names;
    const char *recorded_with,
        *computed_with; /* where they differ, states differ by rounding; recorded_with: empty if not recorded */
} dyn_client_replay;

/* Selection of rows: number `first`, every stride'th after it, at most `count`. Zeros select the first row, every row,
 * and all rows. */
typedef struct dyn_client_rows {
    uint64_t first, stride, count;
} dyn_client_rows;

/* Computes a recorded run again and compares it. `states` selects the states to return by their steps; NULL: none. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_replay_simulation(dyn_client *client, const char *recording,
                                                                 const dyn_client_rows *states,
                                                                 const dyn_client_terms *terms,
                                                                 dyn_client_replay **replay, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_replay_free(dyn_client_replay *replay);

/* Recording in the daemon's state directory. */
typedef struct dyn_client_recording {
    const char *name;
    uint64_t bytes;
    int64_t stamp_ns; /* wall time at which it was written last, ns since 1970-01-01 UTC */
    bool is_under_way;
} dyn_client_recording;

typedef struct dyn_client_recording_list {
    size_t count;
    const dyn_client_recording *recordings; /* sorted by name */
    uint64_t bytes;                         /* sum of their sizes, as limited by limits.recordings_bytes */
} dyn_client_recording_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_recordings(dyn_client *client, double timeout,
                                                               dyn_client_recording_list **list,
                                                               dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_recording_list_free(dyn_client_recording_list *list);

/* Deletes a recording that is not under way. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_delete_recording(dyn_client *client, const char *recording,
                                                                double timeout, dyn_client_error *error);

/* Part of a recording's file. */
typedef struct dyn_client_recording_part {
    const uint8_t *bytes;
    size_t count;
    uint64_t size; /* of the file */
    bool is_under_way;
} dyn_client_recording_part;

/* Reads at most `bytes` (0: the daemon's default) of a recording's file from `offset` on. Returns fewer bytes only at
 * the end of the file. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_fetch_recording(dyn_client *client, const char *recording,
                                                               uint64_t offset, uint64_t bytes, double timeout,
                                                               dyn_client_recording_part **part,
                                                               dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_recording_part_free(dyn_client_recording_part *part);

/* Saves all simulations to the state directory, as the daemon does when it ends. `count` (may be NULL) receives their
 * number. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_save_simulations(dyn_client *client, double timeout, size_t *count,
                                                                dyn_client_error *error);

/* Restores the simulations of the state directory, as the daemon does when it starts. `count` (may be NULL) receives
 * their number. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_restore_simulations(dyn_client *client, double timeout, size_t *count,
                                                                   dyn_client_error *error);

/* ---- rollouts and trajectories ----------------------------------------------------------------------------------- */

/* Assignment of the rows of an input to n samples and their steps. */
typedef enum dyn_client_layout {
    DYN_CLIENT_LAYOUT_EACH = 0,     /* n x steps rows, sample by sample */
    DYN_CLIENT_LAYOUT_SHARED = 1,   /* one row for each step, shared by all samples */
    DYN_CLIENT_LAYOUT_CONSTANT = 2, /* n rows, constant over the steps */
} dyn_client_layout;

typedef struct dyn_client_rollout_request {
    size_t struct_size;
    const double *q, *v; /* initial states, n x nq and n x nv (NULL: at rest) */
    const dyn_client_stepping *stepping;
    size_t steps;      /* at least 1 */
    size_t stride;     /* results at the steps 0, stride, 2 stride ...; default 1 */
    bool only_last;    /* only results at the end */
    const double *tau; /* rows of nv; NULL: zeros */
    dyn_client_layout tau_layout;
    dyn_client_hold tau_hold;            /* LINEAR has one row of tau more than steps */
    const double *q_ref, *v_ref, *a_ref; /* reference of the controller */
    dyn_client_layout reference_layout;
    bool with_tau, with_energy; /* results in addition to q and v */
    bool is_accurate;           /* Runge-Kutta of order 8 with error control, without controller and external forces */
    double relative, absolute;  /* error tolerances; default 1e-10 and 1e-12 */
    bool with_contacts;         /* contact forces, gaps and slips in addition */
} dyn_client_rollout_request;
#define DYN_CLIENT_ROLLOUT_REQUEST_INIT(...) DYN_CLIENT_SIZED(dyn_client_rollout_request, __VA_ARGS__)

typedef enum dyn_client_sample_status {
    DYN_CLIENT_SAMPLE_STATUS_UNSPECIFIED = 0,
    DYN_CLIENT_SAMPLE_STATUS_RAN = 1,
    DYN_CLIENT_SAMPLE_STATUS_NOT_FINITE = 2, /* the state became NaN or infinite; the last finite one is returned */
    DYN_CLIENT_SAMPLE_STATUS_TOO_FAST = 3,   /* beyond the velocity bound; the state before is returned */
    DYN_CLIENT_SAMPLE_STATUS_SINGULAR = 4,   /* no inertia resists the joint */
    DYN_CLIENT_SAMPLE_STATUS_RESTS = 5,      /* of accurate motions: a joint came to rest at its limit */
    DYN_CLIENT_SAMPLE_STATUS_TOO_LONG = 6,   /* of accurate motions: too many steps or stops */
} dyn_client_sample_status;

/* Returns the status in words, "too fast". Never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_sample_status_name(dyn_client_sample_status status);

typedef struct dyn_client_outcome {
    dyn_client_sample_status status;
    const char *joint;       /* joint that ended it; empty: none */
    uint64_t steps;          /* steps done */
    uint64_t stops;          /* steps in which a joint hit a rigid stop */
    double energy_drift;     /* largest difference from the initial energy, J; 0 without energies */
    const char *constraint;  /* constraint with the largest closure error after a step; empty: there is none */
    double closure_error;    /* that error, m or rad */
    size_t contact_sweeps;   /* most sweeps over the contacts in a step; 0 without contacts */
    double contact_residual; /* largest violation of the contact laws after a step, m/s */
    /* Independent rows of the constraints in the last state, 0 where there are none or contact surfaces; largest
     * |A a + dA/dt v - b| of an acceleration in a step; condition of A M^-1 A' in the last state. */
    size_t constraint_rank;
    double constraint_residual, constraint_condition;
} dyn_client_outcome;

typedef struct dyn_client_rollout {
    size_t samples, rows;               /* of each sample */
    const double *time;                 /* rows, s */
    const double *q, *v, *tau;          /* n x rows x nq, nv, nv; results that were not requested are NULL */
    const double *kinetic, *potential;  /* n x rows, J */
    const dyn_client_outcome *outcomes; /* n; a sample that diverges does not end the others */
    const char *computed_with; /* code that computed the steps: with equal texts, equal inputs yield equal bits */
    /* Contact surfaces of the model, in the order of its description (contact.proto): forces on their links in the
     * world, n x rows x surfaces x 3, N; smallest gaps, m, and largest slips, m/s, n x rows x surfaces. */
    size_t contact_surface_count;
    const double *contact_forces, *contact_gaps, *contact_slips;
    dyn_client_constraint_method constraint_method; /* that computed the accelerations; AUTO without constraints */
} dyn_client_rollout;

/* Integrates query.samples states over time in one request. query.external_forces are constant over all steps. Long
 * rollouts need a longer query.timeout. Errors: NOT_FOUND, INVALID_ARGUMENT with fields such as "rollout.tau[13]" and
 * "rollout.stepping.restitution", and CANCELLED. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_rollout_run(dyn_client *client, const dyn_client_query *query,
                                                           const dyn_client_rollout_request *request,
                                                           dyn_client_rollout **rollout, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_rollout_free(dyn_client_rollout *rollout);

/* Wrenches that an end-effector applies to its surroundings: F_tip of Modern Robotics. */
typedef struct dyn_client_tip {
    size_t struct_size;
    const char *link; /* link or frame */
    dyn_client_reference_frame reference_frame;
    size_t rows;                  /* 1 (constant), or the rows of the trajectory */
    const double *force, *torque; /* rows x 3, N and N m; NULL: zero */
} dyn_client_tip;
#define DYN_CLIENT_TIP_INIT(...) DYN_CLIENT_SIZED(dyn_client_tip, __VA_ARGS__)

/* Method to derive velocities and accelerations from positions. */
typedef enum dyn_client_rates {
    DYN_CLIENT_RATES_GIVEN = 0,
    DYN_CLIENT_RATES_SPLINE = 1,         /* cubic, not-a-knot ends */
    DYN_CLIENT_RATES_SPLINE_AT_REST = 2, /* cubic, v = 0 at the ends */
    DYN_CLIENT_RATES_CENTRAL = 3,        /* central differences */
    DYN_CLIENT_RATES_FIVE_POINT = 4,
    DYN_CLIENT_RATES_QUINTIC_SPLINE = 5,         /* at the ends the quintic through the nearest six rows */
    DYN_CLIENT_RATES_QUINTIC_SPLINE_AT_REST = 6, /* quintic, v = 0 and a = 0 at the ends */
} dyn_client_rates;

typedef enum dyn_client_limit_kind {
    DYN_CLIENT_LIMIT_KIND_UNSPECIFIED = 0,
    DYN_CLIENT_LIMIT_KIND_LOWER = 1,
    DYN_CLIENT_LIMIT_KIND_UPPER = 2,
    DYN_CLIENT_LIMIT_KIND_VELOCITY = 3,
    DYN_CLIENT_LIMIT_KIND_EFFORT = 4,
} dyn_client_limit_kind;

/* Returns the name of the kind in lower case, "velocity". Never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_limit_kind_name(dyn_client_limit_kind kind);

/* Limit of the description that a trajectory exceeds. */
typedef struct dyn_client_excess {
    const char *joint;
    dyn_client_limit_kind kind;
    double limit, value;                           /* stated limit; signed value furthest beyond it */
    uint64_t worst_row, first_row, last_row, rows; /* rows: number of rows beyond the limit */
    double worst_time, first_time, last_time;      /* s; 0 if the call has no times */
} dyn_client_excess;

typedef struct dyn_client_trajectory {
    size_t rows;
    const double *time, *q; /* of forward dynamics */
    const double *v;        /* of forward dynamics, and derived rates; else NULL */
    const double *a;        /* derived rates; else NULL */
    const double *tau;      /* of inverse dynamics */
    uint64_t diverged_row;  /* first row from which the last valid state repeats; 0: no divergence */
    const char *diverged_joint;
    size_t excess_count;
    const dyn_client_excess *excesses;
    const char *constraint;  /* of forward dynamics: constraint with the largest closure error in a row; empty: none */
    double closure_error;    /* that error, m or rad */
    const double *residuals; /* of inverse dynamics with constraints, rad/s^2 or m/s^2; else NULL */
} dyn_client_trajectory;

/* Computes tau for query.samples rows of a motion (Modern Robotics, section 8.11). With rates other than GIVEN, v and a
 * must be NULL: they are derived from q and the times (query.samples of them). With GIVEN, time may be NULL. External
 * forces have query.samples rows or one. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_inverse_dynamics_trajectory(
    dyn_client *client, const dyn_client_query *query, const double *time, const double *q, const double *v,
    const double *a, dyn_client_rates rates, const dyn_client_tip *tip, dyn_client_trajectory **trajectory,
    dyn_client_error *error);

/* Derives v and a of a trajectory from the positions q, query.samples x nq, at query.samples times. `rates` must not be
 * GIVEN. The excesses are those of positions and velocities. Of the parts that describe the computation only the joint
 * names and expected_digest may be set; the timeout, the progress and the job apply. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_derive_rates(dyn_client *client, const dyn_client_query *query,
                                                            const double *time, const double *q, dyn_client_rates rates,
                                                            dyn_client_trajectory **trajectory,
                                                            dyn_client_error *error);

/* Computes the motion from the state (q, v) under `rows` rows of tau. query.samples is 1, and external forces have
 * `rows` rows or one. stepping->step_length and its substeps are dt and intRes of Modern Robotics. If stepping is NULL,
 * the method is that of Modern Robotics, explicit Euler, with 0.001 s: without damping, friction, stops and effort
 * limits. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_forward_dynamics_trajectory(
    dyn_client *client, const dyn_client_query *query, const double *q, const double *v, size_t rows, const double *tau,
    const dyn_client_tip *tip, const dyn_client_stepping *stepping, dyn_client_trajectory **trajectory,
    dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_trajectory_free(dyn_client_trajectory *trajectory);

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* Subscription to the topics of one simulation or stream, or of the models, over a connection of its own. One thread at
 * a time may use it. */
typedef struct dyn_client_watch dyn_client_watch;

typedef enum dyn_client_update_kind {
    DYN_CLIENT_UPDATE_KIND_STATES,           /* of a simulation: count rows of step, time, q, v, tau */
    DYN_CLIENT_UPDATE_KIND_SIMULATION_EVENT, /* text, message, step, joint */
    DYN_CLIENT_UPDATE_KIND_TORQUES,          /* of a stream: count rows of step (the points' numbers), time, tau */
    DYN_CLIENT_UPDATE_KIND_STREAM_EVENT,     /* text, message, credit */
    DYN_CLIENT_UPDATE_KIND_MODEL_EVENT,      /* text: "loaded", "replaced" or "unloaded"; model */
} dyn_client_update_kind;

/* Published message. Valid until the next one is requested. */
typedef struct dyn_client_update {
    size_t struct_size;
    dyn_client_update_kind kind;
    uint64_t sequence; /* of the message in its topic */
    uint64_t lost;     /* messages of the topic lost before this one */
    int64_t stamp_ns;  /* wall time at which it was sent, ns since 1970-01-01 UTC */
    uint64_t instance; /* of the daemon: a different number means that the daemon has restarted */
    size_t count, nq, nv;
    const uint64_t *step;
    const double *time, *q, *v, *tau;
    double lateness;                         /* s by which the simulation's tick began late */
    const char *text;                        /* of an event: "limit", "reset", "diverged", "lost", "credit" ... */
    const char *message;                     /* a sentence */
    const char *joint;                       /* empty: none */
    int64_t sent_stamp_ns, arrival_stamp_ns; /* of the chunk of a stream, as stamp_ns */
    uint64_t credit;                         /* highest point number that the stream accepts */
    const dyn_client_model *model;           /* of a model event; else NULL */
    /* Of the events "touchdown", "lift_off" and "slip": the contact surface ("": no such event), the mean force on its
     * link in the last integration step before `time`, and its slip at that time, N in the world and m/s. Of a
     * touchdown also the impulse of that integration step, N s. */
    const char *contact_surface;
    double contact_force[3], contact_impulse[3], contact_slip;
    const double *residuals; /* of torques with constraints, a number for each point, rad/s^2 or m/s^2; else NULL */
    const char *simulation;  /* of states and of a simulation's event: its name; empty: none */
    size_t remaining;        /* updates of the same message that follow this one: states of further simulations */
} dyn_client_update;
#define DYN_CLIENT_UPDATE_INIT(...) DYN_CLIENT_SIZED(dyn_client_update, __VA_ARGS__)

/* Subscribes to a simulation. Messages that are published after the call returns arrive. A name that ends with a star
 * stands for all simulations whose names begin with the text before it, also for those that are created later; "*" for
 * all. The daemon sends the states of all of them in one message a tick, from which dyn_client_watch_next makes an
 * update for each simulation. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_simulation(dyn_client *client, const char *name, double timeout,
                                                                dyn_client_watch **watch, dyn_client_error *error);

/* Subscribes to a stream. Messages that are published after the call returns arrive. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_stream(dyn_client *client, const char *name, double timeout,
                                                            dyn_client_watch **watch, dyn_client_error *error);

/* Subscribes to the models of the daemon: an event for each model that is loaded, replaced or unloaded. The call waits
 * until the daemon confirms the subscription, so that all later events arrive. TIMEOUT: the daemon has not confirmed
 * it. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_models(dyn_client *client, double timeout,
                                                            dyn_client_watch **watch, dyn_client_error *error);

/* Waits for the next message, at most `timeout` seconds, and skips kinds of events that this library does not know.
 * TIMEOUT: no message arrived. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_next(dyn_client_watch *watch, double timeout,
                                                          dyn_client_update *update, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_watch_close(dyn_client_watch *watch);

/* ---- streams ----------------------------------------------------------------------------------------------------- */

typedef enum dyn_client_stream_kind {
    DYN_CLIENT_STREAM_KIND_UNSPECIFIED = 0,      /* refused */
    DYN_CLIENT_STREAM_KIND_FEEDFORWARD = 1,      /* inverse dynamics of points (t, q, v, a) */
    DYN_CLIENT_STREAM_KIND_SIMULATION_INPUT = 2, /* points drive a simulation at simulated time t */
    DYN_CLIENT_STREAM_KIND_RECORD = 3,           /* the daemon writes points to a file */
} dyn_client_stream_kind;

/* Behaviour of a simulation whose stream has no points left. */
typedef enum dyn_client_empty_policy {
    DYN_CLIENT_EMPTY_POLICY_HOLD = 0,  /* keeps the last input */
    DYN_CLIENT_EMPTY_POLICY_ZERO = 1,  /* applies zero torque */
    DYN_CLIENT_EMPTY_POLICY_PAUSE = 2, /* pauses the simulation */
} dyn_client_empty_policy;

/* Treatment of points that arrive too late. */
typedef enum dyn_client_late_policy {
    DYN_CLIENT_LATE_POLICY_DROP = 0, /* counts and drops them */
    DYN_CLIENT_LATE_POLICY_USE = 1,
} dyn_client_late_policy;

/* Options of a stream. Zero or NULL selects the default for every member but `kind`. */
typedef struct dyn_client_stream_options {
    size_t struct_size;
    const char *name;
    dyn_client_stream_kind kind;
    /* Of feedforward and record: model and joint names. Of feedforward: gravity, payloads, external forces of one row
     * each and precision. Of all: the timeout of the call. NULL: none of them. */
    const dyn_client_query *query;
    const char *simulation; /* of simulation input, with its token */
    uint64_t token;
    dyn_client_hold hold;          /* of simulation input */
    dyn_client_empty_policy empty; /* of simulation input */
    dyn_client_late_policy late;
    double late_after;
    uint64_t capacity;     /* points in its buffer; default 10000 */
    double idle_time;      /* s without points after which it ends; default 60 */
    const char *recording; /* of record */
} dyn_client_stream_options;
#define DYN_CLIENT_STREAM_OPTIONS_INIT(...) DYN_CLIENT_SIZED(dyn_client_stream_options, __VA_ARGS__)

/* Open stream, with a connection of its own for pushing points. One thread at a time may use it. */
typedef struct dyn_client_stream dyn_client_stream;

/* Opens a stream in the daemon and a connection to push its points. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_open_stream(dyn_client *client, const dyn_client_stream_options *options,
                                                           dyn_client_stream **stream, dyn_client_error *error);

/* Opens a connection to push points into a stream that another client opened; `key` comes from that client. Points
 * continue the numbering from the last point that arrived, so only one client at a time should push. This call does not
 * check the key: the daemon drops points with a wrong key and counts them in stray_chunks of dyn_client_server_info.
 * Errors: NOT_FOUND, UNREACHABLE. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_join_stream(dyn_client *client, const char *name, uint64_t key,
                                                           double timeout, dyn_client_stream **stream,
                                                           dyn_client_error *error);

/* Closes the connection and frees `stream`. The stream stays open in the daemon. */
DYN_CLIENT_EXPORT void dyn_client_leave_stream(dyn_client_stream *stream);

/* Returns the name of the stream, which lives as long as the stream. */
DYN_CLIENT_EXPORT const char *dyn_client_stream_name(const dyn_client_stream *stream);

/* Returns the stream's key. A client with the key may push points and close the stream. */
DYN_CLIENT_EXPORT uint64_t dyn_client_stream_key(const dyn_client_stream *stream);

/* Pushes n points, which get the next numbers. t has n values; the other arrays have n rows or are NULL. While the
 * daemon does not read, the call waits at most `timeout` seconds; then it fails with TIMEOUT and has sent nothing. The
 * daemon does not acknowledge points: dyn_client_get_stream and dyn_client_watch_stream report the state of the
 * stream. Over NATS a push fails with UNREACHABLE when an earlier one has found the daemon gone. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_push_points(dyn_client_stream *stream, size_t n, const double *t,
                                                           const double *q, const double *v, const double *a,
                                                           const double *tau, double timeout, dyn_client_error *error);

/* Sets the number of the next point that dyn_client_push_points sends. */
DYN_CLIENT_EXPORT void dyn_client_stream_seek(dyn_client_stream *stream, uint64_t point_number);

typedef struct dyn_client_stream_info {
    const char *name, *model, *simulation, *owner, *recording;
    const char *recording_error; /* error that ended the recording; empty: none */
    dyn_client_stream_kind kind;
    int64_t created_ns; /* wall time of its opening, ns since 1970-01-01 UTC */
    uint64_t accepted, lost, late, duplicates, reordered, refused, beyond_credit, chunks, consumed, empty;
    uint64_t last_point_number, credit, waiting;
    /* Delay in s from the due time of the last point to its arrival, and the greatest of all points. It is positive for
     * a late point and negative for an early one. A point is due when t has passed on the stream's clock since the
     * first point, or when simulated time is t. */
    double lag, greatest_lag;
    double idle; /* s since the last chunk */
    size_t watchers;
    size_t nq, nv;      /* lengths of its rows */
    size_t joint_count; /* order of its values; 0: the model's own */
    const char *const *joint_names;
} dyn_client_stream_info;

typedef struct dyn_client_stream_list {
    size_t count;
    const dyn_client_stream_info *streams;
} dyn_client_stream_list;

/* Requests the counters of one stream. The list has one entry. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_stream(dyn_client *client, const char *name, double timeout,
                                                          dyn_client_stream_list **status, dyn_client_error *error);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_streams(dyn_client *client, double timeout,
                                                            dyn_client_stream_list **list, dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_stream_list_free(dyn_client_stream_list *list);

/* Requests the torques of the points from number `first` on that a feedforward stream still stores, at most `capacity`
 * rows of nv values. `step` receives the numbers of the points, `count` the number of rows. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_stream_points(dyn_client *client, const char *name, uint64_t first,
                                                                 size_t capacity, size_t nv, double timeout,
                                                                 uint64_t *step, double *tau, size_t *count,
                                                                 dyn_client_error *error);

/* Closes the stream in the daemon and the connection. Before that waits until all pushed points have arrived, or none
 * has arrived for a second. `status` (may be NULL) receives the final counters. The stream is freed also after an
 * error. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_close_stream(dyn_client *client, dyn_client_stream *stream,
                                                            double timeout, dyn_client_stream_list **status,
                                                            dyn_client_error *error);

/* ---- serialized messages ----------------------------------------------------------------------------------------- */

/* Sends a serialized dynamics.v1.Request and returns the serialized dynamics.v1.Reply, whatever its status, for
 * programs that encode messages themselves. The library sets the request's id, client and timeout. The caller frees
 * the reply with dyn_client_free. Errors are those of the transport only (UNREACHABLE, TIMEOUT, BAD_REPLY,
 * OUT_OF_MEMORY). */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_call(dyn_client *client, const void *request, size_t request_size,
                                                    double timeout, void **reply, size_t *reply_size,
                                                    dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_free(void *reply);

/* Reads the status of a serialized dynamics.v1.Reply: OK, or the error in the reply. BAD_REPLY: the reply cannot be
 * decoded. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_reply_status(const void *reply, size_t reply_size,
                                                            dyn_client_error *error);

/* Draws the numbers of one request, Request.client and Request.id, for dyn_client_call_numbered. The client's number is
 * a secret between the client and the daemon: anybody who knows it can cancel the client's requests. */
DYN_CLIENT_EXPORT void dyn_client_draw_numbers(dyn_client *client, uint64_t *client_number, uint64_t *id);

/* Sends a serialized request as dyn_client_call does, with the numbers of dyn_client_draw_numbers. A CancelRequest
 * of this client with these numbers ends the request while it is in progress. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_call_numbered(dyn_client *client, uint64_t client_number, uint64_t id,
                                                             const void *request, size_t request_size, double timeout,
                                                             void **reply, size_t *reply_size, dyn_client_error *error);

/* Subscription to topics of the daemon. One thread at a time may use it. */
typedef struct dyn_client_subscription dyn_client_subscription;

/* Subscribes to topics: "models", "progress/NUMBER", and those in replies to WatchSimulation and WatchStream. A topic
 * that ends with a slash and a star has all topics that begin with the text before the star. `addresses` are those of
 * such a reply; with the count 0 the library requests the daemon's own. Over NATS no address is used, and the events
 * are those of the daemon that answered when the client connected. Close the subscription before the client. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_subscribe(dyn_client *client, size_t address_count,
                                                         const char *const *addresses, size_t topic_count,
                                                         const char *const *topics, double timeout,
                                                         dyn_client_subscription **subscription,
                                                         dyn_client_error *error);

/* Waits for the next message, at most `timeout` seconds: its topic and its serialized dynamics.v1.Event. Both are valid
 * until the next call. TIMEOUT: no message arrived. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_subscription_next(dyn_client_subscription *subscription, double timeout,
                                                                 const char **topic, const void **event, size_t *size,
                                                                 dyn_client_error *error);
DYN_CLIENT_EXPORT void dyn_client_subscription_close(dyn_client_subscription *subscription);

#ifdef __cplusplus
}
#endif

#endif
