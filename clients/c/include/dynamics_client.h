/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdynamicsclient: questions to dynamicsd, the rigid-body dynamics service, from C.
 *
 *     dyn_client *client;
 *     dyn_client_error error;
 *     if (dyn_client_connect("ipc:///run/dynamicsd/dynamicsd.sock", NULL, &error, &client) != DYN_CLIENT_OK)
 *         return fprintf(stderr, "%s\n", error.message), 1;
 *     double q[6] = {0}, tau[6];
 *     dyn_client_query query = {.model = "ur5", .nq = 6, .nv = 6, .samples = 1};
 *     if (dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, &error, tau) != DYN_CLIENT_OK)
 *         fprintf(stderr, "%s: %s\n", error.field, error.message);
 *     dyn_client_close(client);
 *
 * Conventions
 *   units      SI: metre, kilogram, second, radian, newton, newton metre.
 *   arrays     row-major and contiguous. A state is one row: q has nq values, v, a and tau have nv. Every numeric call
 *              takes `samples` rows in one message and one round trip; sending many states at once is what makes the
 *              service fast.
 *   joints     rows follow the model's joint order (dyn_client_describe_model), or the caller's (query.joint_names).
 *   floating   q is position x y z in the world, then quaternion x y z w; v is linear, then angular velocity, both in
 *              the axes of the floating link.
 *   strings    UTF-8, end with a zero byte.
 *   memory     results come in one block that the caller frees with the function named beside it; NULL may be freed.
 *              Numeric calls write into the caller's arrays. Inputs are only read, and not kept.
 *   errors     a function that can fail returns its status and fills `error` (which may be NULL). Outputs are then
 *              undefined; pointers to results are NULL.
 *   threads    one dyn_client may be used by many threads at once; their calls run in parallel over one connection.
 *              dyn_client_close must be the last call.
 *   fork       a process that ever connected must not use this library in children that it forks without exec:
 *              dyn_client_connect refuses there, and older clients must not be touched.
 *   network    a lost connection is made again by itself, and a request under way is sent again; the daemon recognizes
 *              repeated requests that change its state and executes them once.
 */
#ifndef DYNAMICS_CLIENT_H
#define DYNAMICS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DYN_CLIENT_EXPORT __attribute__((visibility("default")))

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* How a call ended: the canonical codes, told by the daemon (or by this library, about arguments), and from 100 on what
 * only the client can tell. */
typedef enum dyn_client_status {
    DYN_CLIENT_OK = 0,
    DYN_CLIENT_CANCELLED = 1,
    DYN_CLIENT_UNKNOWN = 2,
    DYN_CLIENT_INVALID_ARGUMENT = 3,  /* a value, a count or a name is wrong */
    DYN_CLIENT_DEADLINE_EXCEEDED = 4, /* the daemon gave up at the request's timeout */
    DYN_CLIENT_NOT_FOUND = 5,         /* no model, joint, frame or link of that name */
    DYN_CLIENT_ALREADY_EXISTS = 6,    /* another model has that name */
    DYN_CLIENT_PERMISSION_DENIED = 7,
    DYN_CLIENT_RESOURCE_EXHAUSTED = 8,  /* a limit of the daemon (dyn_client_get_server_info) was met */
    DYN_CLIENT_FAILED_PRECONDITION = 9, /* the model cannot serve the request: a singular mass matrix, for one */
    DYN_CLIENT_ABORTED = 10,
    DYN_CLIENT_OUT_OF_RANGE = 11,
    DYN_CLIENT_UNIMPLEMENTED = 12, /* the daemon is older than this client */
    DYN_CLIENT_INTERNAL = 13,      /* a defect of the daemon */
    DYN_CLIENT_UNAVAILABLE = 14,   /* the daemon is starting or draining; ask again soon */
    DYN_CLIENT_DATA_LOSS = 15,
    DYN_CLIENT_UNAUTHENTICATED = 16,
    DYN_CLIENT_UNREACHABLE = 100,   /* no connection: nothing listens there, or it closed the connection */
    DYN_CLIENT_TIMEOUT = 101,       /* connected, but no answer within the timeout */
    DYN_CLIENT_BAD_REPLY = 102,     /* the answer is not one of dynamics.v1, or does not fit the question */
    DYN_CLIENT_OUT_OF_MEMORY = 103, /* on this side */
} dyn_client_status;

enum {
    DYN_CLIENT_FIELD_SIZE = 192,
    DYN_CLIENT_MESSAGE_SIZE = 512,
    DYN_CLIENT_REASON_SIZE = 40,
    DYN_CLIENT_NAME_SIZE = 128,
};

/* Description of an error. Strings end with a zero byte and are cut where too long. The daemon sets what follows the
 * message; errors of this library leave it zero. */
typedef struct dyn_client_error {
    dyn_client_status status;
    char field[DYN_CLIENT_FIELD_SIZE];     /* such as "inverse_dynamics.q[13]"; empty: no single field is to blame */
    char message[DYN_CLIENT_MESSAGE_SIZE]; /* a sentence with the offending value and what to do */
    char reason[DYN_CLIENT_REASON_SIZE];   /* token for programs: "SINGULAR_MASS_MATRIX"; status.proto lists all */
    bool has_sample;
    uint64_t sample;                  /* index of the state that the error is about */
    char joint[DYN_CLIENT_NAME_SIZE]; /* that the error is about; empty: no single one */
    uint64_t limit, requested;        /* bound that was met, and what the call asks for; 0: none, or not known */
    uint64_t marked;                  /* samples that failed in a call that succeeded: DYN_CLIENT_ON_ERROR_MARK */
    double retry_after;               /* s after which the same call may succeed; 0: it fails again */
} dyn_client_error;

/* The status in capitals, as in the protocol: "INVALID_ARGUMENT"; never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_status_name(dyn_client_status status);

/* ---- connection -------------------------------------------------------------------------------------------------- */

typedef struct dyn_client dyn_client;

/* Zero (or a NULL dyn_client_options) stands for the default. */
typedef struct dyn_client_options {
    double timeout;         /* s, of each call that names none; default 10, at most 1e6 */
    double connect_timeout; /* s, to make the first connection or a lost one again; default 2, at most 1e6 */
    size_t max_reply_bytes; /* a longer reply is refused; default 64 MiB */
    uint32_t min_revision;  /* of the contract; an earlier daemon answers each request UNIMPLEMENTED; default: any */
} dyn_client_options;

/* Connects to the daemon at `url`: "ipc:///run/dynamicsd/dynamicsd.sock", "tcp://127.0.0.1:7400" ...
 *
 * Waits at most options->connect_timeout. Errors: INVALID_ARGUMENT (not an address, a bad option), UNREACHABLE (nothing
 * listens there, or it does not speak REQ/REP), UNAVAILABLE (a forked child, see above), OUT_OF_MEMORY. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_connect(const char *url, const dyn_client_options *options,
                                                       dyn_client_error *error, dyn_client **client);

/* Ends all calls of the client with CANCELLED, those under way as well as those still to come: for a program that is to
 * end while the daemon does not answer. Any thread; returns when no call waits for the daemon any more, after
 * milliseconds. What the daemon was asked to do, it may still do. Then the client is only good to be closed, once the
 * threads have come back from their calls. NULL: nothing happens. */
DYN_CLIENT_EXPORT void dyn_client_abort(dyn_client *client);

/* Ends the connection and frees the client. No call may be under way. NULL: nothing happens. */
DYN_CLIENT_EXPORT void dyn_client_close(dyn_client *client);

/* Version of this library, "1.2.3". Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_version(void);

/* Errors of every call below, beside those that it names: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE,
 * UNREACHABLE, TIMEOUT, BAD_REPLY, OUT_OF_MEMORY, and CANCELLED after dyn_client_abort. `timeout` is in seconds; 0
 * stands for the client's own. The daemon is given nine tenths of it, or a second less where that is more, and ends its
 * work then with DEADLINE_EXCEEDED, as it does past its own limits.request_time, which no timeout extends. TIMEOUT: no
 * word came. */

/* ---- the daemon -------------------------------------------------------------------------------------------------- */

typedef enum dyn_client_health_state {
    DYN_CLIENT_HEALTH_UNKNOWN = 0,
    DYN_CLIENT_HEALTH_SERVING = 1,
    DYN_CLIENT_HEALTH_DEGRADED = 2, /* works, with a shortfall that `message` names */
    DYN_CLIENT_HEALTH_NOT_SERVING = 3,
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

/* Round trip without any content: is the daemon there? */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_ping(dyn_client *client, double timeout, dyn_client_error *error);

/* Is the daemon able to work? `component`: one component's name, NULL for all. NOT_FOUND: no such component. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_health(dyn_client *client, const char *component, double timeout,
                                                          dyn_client_error *error, dyn_client_health **health);
DYN_CLIENT_EXPORT void dyn_client_health_free(dyn_client_health *health);

typedef struct dyn_client_endpoint {
    const char *address; /* to dial */
    const char *kind;    /* "request", "events" or "ingest" */
} dyn_client_endpoint;

/* Least right that a caller of a method needs. */
typedef enum dyn_client_method_role {
    DYN_CLIENT_METHOD_ROLE_MONITOR = 1, /* reads */
    DYN_CLIENT_METHOD_ROLE_COMPUTE = 2, /* computes, and leaves nothing behind */
    DYN_CLIENT_METHOD_ROLE_CONTROL = 3, /* creates, moves and deletes simulations and streams */
    DYN_CLIENT_METHOD_ROLE_MANAGE = 4,  /* changes models, recordings and snapshots */
} dyn_client_method_role;

typedef struct dyn_client_method_info {
    const char *name; /* "inverse_dynamics" */
    dyn_client_method_role role;
    bool changes_state; /* a request that is sent again is executed once */
    bool is_slow;       /* always runs on a worker */
} dyn_client_method_info;

/* A number that the daemon counts; server.proto lists the names, "requests" and so on. */
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
    uint32_t lanes[2];            /* states computed at once, by dyn_client_precision */
    struct {
        uint64_t message_bytes; /* of one request */
        uint64_t reply_bytes;   /* of one reply */
        uint64_t samples;       /* states in one request */
        uint32_t models;
        uint32_t links; /* of one model */
        uint32_t connections;
        double request_time; /* s, longest time of one request */
        double idle_time;    /* s, after which a silent connection is closed */
        uint32_t simulations, streams;
        uint32_t topics;                               /* endpoints of watched simulations and streams */
        uint64_t stream_points;                        /* of one stream */
        uint64_t recording_bytes;                      /* of one recording */
        uint64_t recordings_bytes, disk_reserve_bytes; /* of all recordings; free ones that they leave on the disk */
        uint32_t recordings;
        double lease_time;         /* s, of a simulation whose owner names none */
        uint64_t memory_bytes;     /* of all requests and replies together */
        uint32_t peer_connections; /* of one user or one address */
        double message_time;       /* s, in which a message must arrive whole */
        /* Bounds that no configuration changes. */
        uint32_t payloads, operations;                           /* of one request */
        uint32_t simulation_forces;                              /* that act on one simulation */
        uint32_t task_frames;                                    /* of one operational-space task */
        uint32_t substeps;                                       /* of one step */
        uint32_t base_parameter_joints;                          /* moving joints */
        uint64_t urdf_bytes;                                     /* of one document */
        uint32_t urdf_depth;                                     /* elements inside each other in it */
        uint32_t model_name_bytes, object_name_bytes;            /* of models; of simulations, streams and recordings */
        uint32_t element_name_bytes;                             /* of links, joints and frames */
        uint32_t sample_errors;                                  /* that one reply tells */
        uint32_t stored_replies;                                 /* for repeated requests */
        uint64_t stored_reply_bytes, largest_stored_reply_bytes; /* of all; of one of them */
    } limits;
    size_t endpoint_count;
    const dyn_client_endpoint *endpoints;
    size_t method_count;
    const dyn_client_method_info *methods; /* that the daemon serves */
    double uptime;                         /* s */
    uint32_t workers;                      /* threads that compute long requests */
    uint32_t process_id;
    uint64_t instance; /* number that the daemon drew when it started: it differs after a restart */
    size_t counter_count;
    const dyn_client_counter *counters;
} dyn_client_server_info;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_server_info(dyn_client *client, double timeout,
                                                               dyn_client_error *error, dyn_client_server_info **info);
DYN_CLIENT_EXPORT void dyn_client_server_info_free(dyn_client_server_info *info);

/* Value of a counter, 0 where there is none of that name. */
DYN_CLIENT_EXPORT uint64_t dyn_client_server_counter(const dyn_client_server_info *info, const char *name);

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Attachment of the root link. */
typedef enum dyn_client_base {
    DYN_CLIENT_BASE_UNSPECIFIED = 0, /* as the description or the model says; one that does not say it: fixed */
    DYN_CLIENT_BASE_FIXED = 1,       /* the root link is fixed to the world */
    DYN_CLIENT_BASE_FLOATING = 2,    /* a floating joint "root_joint" carries it */
} dyn_client_base;

/* Treatment of mimic joints. */
typedef enum dyn_client_mimic_policy {
    DYN_CLIENT_MIMIC_UNSPECIFIED = 0, /* as the description says; one that does not say it: coupled */
    DYN_CLIENT_MIMIC_COUPLED = 1,     /* a mimic joint follows its master and has no coordinate of its own */
    DYN_CLIENT_MIMIC_INDEPENDENT = 2, /* a mimic joint is a joint like any other */
} dyn_client_mimic_policy;

typedef struct dyn_client_model {
    const char *name;
    const char *digest; /* "sha256:...", the same wherever the same model is loaded; names it in any request */
    uint32_t nq;
    uint32_t nv;
    uint32_t links;
    uint32_t joints;
    dyn_client_base base;
    double mass;           /* kg */
    const char *source;    /* file of the model directory it was read from; empty when it came by request */
    const char *loaded_by; /* peer whose request it came by; empty for a model of the model directory */
    bool kept;             /* it is on the daemon's disk, and loaded again at each start */
} dyn_client_model;

typedef enum dyn_client_severity {
    DYN_CLIENT_SEVERITY_UNSPECIFIED = 0,
    DYN_CLIENT_NOTE = 1,
    DYN_CLIENT_WARNING = 2, /* likely not what the author of the description meant */
} dyn_client_severity;

/* One thing that the reader of a description ignored, merged or found suspicious. */
typedef struct dyn_client_report_entry {
    dyn_client_severity severity;
    uint32_t line;     /* in the description; 0 where no single line is meant */
    const char *place; /* "link wrist", "joint elbow", "robot" */
    const char *message;
} dyn_client_report_entry;

typedef enum dyn_client_joint_type {
    DYN_CLIENT_JOINT_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_JOINT_FIXED = 1,
    DYN_CLIENT_JOINT_REVOLUTE = 2,
    DYN_CLIENT_JOINT_CONTINUOUS = 3,
    DYN_CLIENT_JOINT_PRISMATIC = 4,
    DYN_CLIENT_JOINT_HELICAL = 5,
    DYN_CLIENT_JOINT_CYLINDRICAL = 6,
    DYN_CLIENT_JOINT_UNIVERSAL = 7,
    DYN_CLIENT_JOINT_PLANAR = 8,
    DYN_CLIENT_JOINT_SPHERICAL = 9,
    DYN_CLIENT_JOINT_FLOATING = 10,
} dyn_client_joint_type;

/* The type in lower case, "revolute"; "unknown" for another number. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_joint_type_name(dyn_client_joint_type type);

/* Inertia of a rigid body in a frame. */
typedef struct dyn_client_inertia {
    double mass;              /* kg */
    double center_of_mass[3]; /* m */
    double rotational[6];     /* about the centre of mass, in the frame's axes: xx xy xz yy yz zz, kg m^2 */
} dyn_client_inertia;

/* Place of a frame in another one. */
typedef struct dyn_client_placement {
    double position[3]; /* m */
    double rotation[9]; /* row-major, from the frame's coordinates to the other's; all zero: the identity */
} dyn_client_placement;

/* Bounds of a joint with one coordinate. */
typedef struct dyn_client_limits {
    double lower, upper; /* rad or m */
    double velocity;     /* rad/s or m/s; 0: not stated */
    double effort;       /* N m or N; 0: not stated */
} dyn_client_limits;

typedef struct dyn_client_link_description {
    const char *name;
    dyn_client_inertia inertia; /* in the link's frame; all zero: massless */
} dyn_client_link_description;

/* A joint. The frame of its child link coincides with the joint frame at q = 0. */
typedef struct dyn_client_joint_description {
    const char *name;
    dyn_client_joint_type type;
    const char *parent_link;
    const char *child_link;
    dyn_client_placement origin; /* joint frame in the parent link's frame */
    double axis[3];              /* in the joint frame, any length but zero; of fixed, spherical, floating: not read */
    double second_axis[3];       /* of a universal joint: the axis that the first one carries */
    double pitch;                /* of a helical joint, m/rad */
    bool has_limits;
    dyn_client_limits limits;
    double damping;                 /* N m s/rad or N s/m; no part of the rigid-body quantities, nor is friction */
    double friction;                /* N m or N */
    const char *mimic_joint;        /* q = multiplier * q of that joint + offset; NULL: the joint is its own master */
    const double *mimic_multiplier; /* NULL: 1 */
    double mimic_offset;
} dyn_client_joint_description;

/* A named frame on a link: short for a massless link on a fixed joint "NAME:fixed". */
typedef struct dyn_client_frame_description {
    const char *name;
    const char *link;
    dyn_client_placement pose; /* in the frame of `link` */
} dyn_client_frame_description;

/* A robot in numbers: a tree of links and joints, in any order. */
typedef struct dyn_client_model_description {
    const char *name;
    const double *gravity; /* 3 values, m/s^2 in the world; NULL: 0 0 -9.81 */
    dyn_client_base base;
    dyn_client_mimic_policy mimic;
    size_t link_count;
    const dyn_client_link_description *links;
    size_t joint_count;
    const dyn_client_joint_description *joints;
    size_t frame_count;
    const dyn_client_frame_description *frames;
} dyn_client_model_description;

/* Place of frame i in frame i - 1, and where frame i is on link i. */
typedef enum dyn_client_dh_convention {
    DYN_CLIENT_DH_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_DH_STANDARD = 1,    /* Rz(theta) Tz(d) Tx(a) Rx(alpha), at the far end */
    DYN_CLIENT_DH_MODIFIED = 2,    /* Rx(alpha) Tx(a) Rz(theta) Tz(d), on axis i; row i has alpha(i-1) and a(i-1) */
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
    const char *name;
    dyn_client_dh_convention convention;
    size_t row_count;
    const dyn_client_dh_row *rows;
} dyn_client_dh_table;

/* A serial chain of n joints as Modern Robotics (Lynch and Park 2017, chapter 8) describes it; row-major. */
typedef struct dyn_client_screw_chain {
    const char *name;
    size_t n;
    const double *Mlist; /* (n + 1) x 4 x 4: place of frame {i} in {i - 1} at q = 0; {n + 1} is the end effector */
    const double *Glist; /* n x 6 x 6: spatial inertia of link i in {i}, angular first */
    const double *Slist; /* 6 x n: column i is the screw axis (w; v) of joint i in {0} */
} dyn_client_screw_chain;

/* Exactly one of the four descriptions is given. */
typedef struct dyn_client_load_request {
    const char *urdf; /* text of a URDF file */
    const char *name; /* to keep it under; NULL: the robot's own */
    dyn_client_base base;
    dyn_client_mimic_policy mimic;
    const double *gravity;       /* 3 values, m/s^2 in the world; NULL: 0 0 -9.81 */
    bool strict;                 /* refuse the model if the report holds a warning */
    bool replace;                /* put it in place of another model of that name */
    const char *expected_digest; /* with `replace`: only in place of the model of this digest; NULL: of any */
    bool keep;                   /* over restarts of the daemon: it is on its disk before this call returns */
    const dyn_client_model_description *description;
    const dyn_client_dh_table *denavit_hartenberg;
    const dyn_client_screw_chain *screws;
} dyn_client_load_request;

typedef struct dyn_client_loaded_model {
    dyn_client_model model;
    size_t report_count;
    const dyn_client_report_entry *report;
    bool already_loaded; /* the daemon already had this very model under this name */
} dyn_client_loaded_model;

/* Reads a robot description and keeps it in the daemon. INVALID_ARGUMENT: field "load_model.urdf:LINE", or that of the
 * element, such as "load_model.description.joints[3].axis"; ALREADY_EXISTS: another model has that name and `replace`
 * is false; ABORTED: it has another digest than the expected one. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_load_model(dyn_client *client, const dyn_client_load_request *request,
                                                          double timeout, dyn_client_error *error,
                                                          dyn_client_loaded_model **loaded);
DYN_CLIENT_EXPORT void dyn_client_loaded_model_free(dyn_client_loaded_model *loaded);

/* Forgets a model, by name or digest. NOT_FOUND. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_unload_model(dyn_client *client, const char *model, double timeout,
                                                            dyn_client_error *error);

typedef struct dyn_client_model_list {
    size_t count;
    const dyn_client_model *models; /* in the order of their names */
} dyn_client_model_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_models(dyn_client *client, double timeout, dyn_client_error *error,
                                                           dyn_client_model_list **list);
DYN_CLIENT_EXPORT void dyn_client_model_list_free(dyn_client_model_list *list);

typedef struct dyn_client_pose {
    double position[3];    /* m */
    double orientation[4]; /* x y z w */
} dyn_client_pose;

/* A joint that moves. Its coordinates are q[q_index .. q_index + nq - 1] and v[v_index .. v_index + nv - 1]; a coupled
 * mimic joint has nq = nv = 0 and its master's indices. */
typedef struct dyn_client_joint {
    const char *name;
    dyn_client_joint_type type;
    const char *parent_link;
    const char *child_link;
    uint32_t q_index, v_index, nq, nv;
    bool has_axis;
    double axis[3];        /* unit vector in the joint's frame */
    double second_axis[3]; /* of a universal joint: the axis that the first one carries */
    double pitch;          /* of a helical joint, m/rad */
    bool has_limits;
    double lower, upper;   /* rad or m; both 0: none */
    double velocity_limit; /* rad/s or m/s; 0: not stated */
    double effort_limit;   /* N m or N; 0: not stated */
    double damping;        /* stated in the description; not part of the rigid-body quantities */
    double friction;       /* likewise */
    const char *mimic;     /* name of the master; NULL: not a mimic joint. q = multiplier q_master + offset */
    double mimic_multiplier;
    double mimic_offset;
    const char *const *q_units;   /* nq of them */
    const char *const *v_units;   /* nv */
    const char *const *tau_units; /* nv */
    dyn_client_pose origin;       /* in the parent link's frame at q = 0 */
} dyn_client_joint;

/* A link as the description states it, before fixed joints are merged. */
typedef struct dyn_client_link {
    const char *name;
    double mass;              /* kg */
    double center_of_mass[3]; /* in the link's frame, m */
    double inertia[6];        /* about the centre of mass in the link's axes: xx xy xz yy yz zz, kg m^2 */
    const char *parent_joint; /* that carries it; empty for the root */
    const char *moving_joint; /* that it moves with; empty when fixed to the world */
} dyn_client_link;

/* A name that poses, Jacobians and external forces take. */
typedef struct dyn_client_frame {
    const char *name;
    const char *moving_joint; /* empty when fixed to the world */
    dyn_client_pose pose;     /* in the frame of the child link of that joint, or in the world */
} dyn_client_frame;

/* How far the daemon has compiled the algorithms for this robot; until it has, generic ones serve. */
typedef enum dyn_client_compilation {
    DYN_CLIENT_COMPILATION_UNSPECIFIED = 0,
    DYN_CLIENT_COMPILATION_WAITS = 1, /* for its turn or for the first use; or compiling is off */
    DYN_CLIENT_COMPILATION_RUNNING = 2,
    DYN_CLIENT_COMPILATION_DONE = 3,
    DYN_CLIENT_COMPILATION_FAILED = 4, /* for the stated reason */
} dyn_client_compilation;

typedef struct dyn_client_description {
    dyn_client_model model;
    dyn_client_mimic_policy mimic;
    double gravity[3]; /* m/s^2 */
    size_t joint_count;
    const dyn_client_joint *joints; /* in the order of q and v */
    size_t link_count;
    const dyn_client_link *links;
    size_t frame_count;
    const dyn_client_frame *frames;
    size_t report_count;
    const dyn_client_report_entry *report;
    const double *zero_q; /* model.nq: zeros, quaternions identity */
    const double *home_q; /* model.nq: the same, with the middle of the range where zero lies outside the limits */
    dyn_client_compilation compilation;
    const char *compilation_reason; /* of one that failed, else empty */
    const char *instruction_set;    /* of the algorithms that serve, such as "avx512"; empty: not stated */
    const char *const *q_names;     /* model.nq: "elbow", or "root_joint[0]" .. of a joint with several coordinates */
    const char *const *v_names;     /* model.nv: likewise, of velocities, forces and accelerations */
} dyn_client_description;

/* All that the daemon knows of a model, named by name or digest. NOT_FOUND. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_describe_model(dyn_client *client, const char *model, double timeout,
                                                              dyn_client_error *error,
                                                              dyn_client_description **description);
DYN_CLIENT_EXPORT void dyn_client_description_free(dyn_client_description *description);

/* ---- new models from old ones ------------------------------------------------------------------------------------ */

typedef enum dyn_client_operation_kind {
    DYN_CLIENT_LOCK_JOINTS = 1,    /* fix joints where q has them; mimic joints that follow one are locked with it */
    DYN_CLIENT_KEEP_SUBTREE = 2,   /* only `link` and all that it carries, as a robot of its own */
    DYN_CLIENT_KEEP_CHAIN = 3,     /* only the chain of joints from `link`, its base, to `last` */
    DYN_CLIENT_CHANGE_BASE = 4,    /* the same links and joints on another root, `link` */
    DYN_CLIENT_MERGE_MODEL = 5,    /* with another robot of the daemon, its root fixed on `link` at `pose` */
    DYN_CLIENT_ATTACH_LINK = 6,    /* with a new link `name` fixed on `link` at `pose`: a payload, a tool */
    DYN_CLIENT_CHANGE_INERTIA = 7, /* with another inertia of `link` */
    DYN_CLIENT_DETACH_LINK = 8,    /* without `link` and all that it carries */
} dyn_client_operation_kind;

/* One operation; what its kind does not name is not read. */
typedef struct dyn_client_operation {
    dyn_client_operation_kind kind;
    const char *link;
    const char *last;           /* of a chain */
    const char *name;           /* of a new link */
    const char *model, *prefix; /* merged: the other robot, and what comes before the names of its links and joints */
    dyn_client_base base;       /* of a subtree, a chain, a changed base */
    dyn_client_inertia inertia; /* of a new link, in its own frame; a link's other inertia */
    dyn_client_placement pose;
    size_t joint_count; /* to lock */
    const char *const *joints;
    size_t nq;
    const double
        *q; /* nq values in the model's order, of which the locked joints' matter; NULL: the zero configuration */
} dyn_client_operation;

typedef struct dyn_client_derive_request {
    const char *model;      /* name or digest; it stays as it is */
    size_t operation_count; /* 1 to 64, applied one after the other */
    const dyn_client_operation *operations;
    const char *name;            /* to keep the result under */
    bool strict;                 /* refuse a result whose report holds a warning */
    bool replace;                /* put it in place of another model of that name */
    const char *expected_digest; /* with `replace`, as for loading */
    bool keep;                   /* over restarts of the daemon, as for loading */
} dyn_client_derive_request;

/* Derives a model from another one, and keeps it in the daemon. NOT_FOUND and INVALID_ARGUMENT: the field
 * "derive_model.operations[i].attach.link" or the like; ALREADY_EXISTS as of dyn_client_load_model. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_derive_model(dyn_client *client,
                                                            const dyn_client_derive_request *request, double timeout,
                                                            dyn_client_error *error, dyn_client_loaded_model **loaded);

typedef enum dyn_client_model_format {
    DYN_CLIENT_FORMAT_UNSPECIFIED = 0, /* refused */
    DYN_CLIENT_DESCRIPTION = 1,        /* loaded again it has the same digest */
    DYN_CLIENT_URDF = 2,               /* without gravity and floating base */
    DYN_CLIENT_SCREWS = 3,             /* of a serial chain on a fixed base */
} dyn_client_model_format;

/* One of the three forms; the others are NULL. */
typedef struct dyn_client_exported_model {
    dyn_client_model model;
    const dyn_client_model_description *description;
    const char *urdf;
    const dyn_client_screw_chain *screws;
} dyn_client_exported_model;

/* A model of the daemon as a description. `tip` (NULL: the last link) is the end effector of the screws.
 * FAILED_PRECONDITION: URDF has no such joint, or screws no such tree. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_export_model(dyn_client *client, const char *model,
                                                            dyn_client_model_format format, const char *tip,
                                                            double timeout, dyn_client_error *error,
                                                            dyn_client_exported_model **exported);
DYN_CLIENT_EXPORT void dyn_client_exported_model_free(dyn_client_exported_model *exported);

/* ---- inertias of bodies ------------------------------------------------------------------------------------------ */

typedef enum dyn_client_inertia_kind {
    DYN_CLIENT_BOX = 1,            /* size */
    DYN_CLIENT_CYLINDER = 2,       /* radius, length; along z */
    DYN_CLIENT_SPHERE = 3,         /* radius */
    DYN_CLIENT_ELLIPSOID = 4,      /* size: the semi-axes */
    DYN_CLIENT_CAPSULE = 5,        /* radius, length of the cylinder; along z */
    DYN_CLIENT_MESH = 6,           /* stl, scale: the body inside a closed surface */
    DYN_CLIENT_INERTIA = 7,        /* inertia: any numbers, to be moved, checked or converted */
    DYN_CLIENT_PARAMETERS = 8,     /* 10 values: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin */
    DYN_CLIENT_PSEUDO_INERTIA = 9, /* 16 values: 4 x 4, row-major */
    DYN_CLIENT_LOG_CHOLESKY = 10,  /* 10 values: alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 */
} dyn_client_inertia_kind;

/* One part of a body; what its kind does not name is not read. Shapes are homogeneous and centred in their frame. */
typedef struct dyn_client_inertia_part {
    dyn_client_inertia_kind kind;
    double size[3]; /* m, as the lengths */
    double radius, length;
    const void *stl; /* an STL file, binary or text */
    size_t stl_size;
    const double *scale; /* factor from its coordinates to metres, positive; NULL: 1 */
    dyn_client_inertia inertia;
    double values[16];
    double mass, density;      /* of a shape or a mesh exactly one of the two: kg, or kg/m^3 */
    dyn_client_placement pose; /* of the part's frame in the common frame */
} dyn_client_inertia_part;

/* All about a body. */
typedef struct dyn_client_body {
    dyn_client_inertia inertia;  /* in the common frame */
    double volume;               /* of shapes and meshes, m^3 */
    double rotational_about[6];  /* about the point that was asked for (Steiner): xx xy xz yy yz zz, kg m^2 */
    double principal_moments[3]; /* ascending */
    bool is_realizable;          /* some body has this inertia; else the reason */
    char reason[256];
    double parameters[10], pseudo_inertia[16];
    bool has_log_cholesky; /* not of a point, a line or a plate */
    double log_cholesky[10];
} dyn_client_body;

/* The sum of all parts. `point` (3 values; NULL: the origin) is what rotational_about is about. INVALID_ARGUMENT: the
 * field "compute_inertia.parts[i].box.size" or the like. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_compute_inertia(dyn_client *client, size_t part_count,
                                                               const dyn_client_inertia_part *parts,
                                                               const double *point, double timeout,
                                                               dyn_client_error *error, dyn_client_body *body);

/* ---- inertial parameters that motion and torques tell of --------------------------------------------------------- */

enum { DYN_CLIENT_LINK_PARAMETERS = 10 };

/* One base parameter: an inertial parameter with what others are regrouped to it, a row of B in b = B p. */
typedef struct dyn_client_base_parameter {
    size_t column;     /* of Y that stands for it: parameter column % 10 of body column / 10 */
    double value;      /* b of the model */
    const char *unit;  /* "kg", "kg m" or "kg m^2" */
    size_t term_count; /* parameters that it is made of */
    const uint32_t *columns;
    const double *factors; /* of each, SI; 1 at `column` */
} dyn_client_base_parameter;

/* tau = Y p = Y_b b for every motion, Y_b the columns of DYN_CLIENT_TORQUE_REGRESSOR that rows name. */
typedef struct dyn_client_base_parameters {
    size_t body_count;
    const char *const *bodies; /* link that each moving joint carries */
    const char *const *names;  /* of the ten parameters: m mx my mz Ixx Ixy Iyy Ixz Iyz Izz */
    const double *values;      /* p, bodies x 10, about the origins of the links' frames: kg, kg m, kg m^2 */
    size_t count;
    const dyn_client_base_parameter *rows; /* in ascending order of their columns */
} dyn_client_base_parameters;

/* The base parameters of a model, for an acceleration of gravity (3, m/s^2; NULL: the model's own). NOT_FOUND;
 * INVALID_ARGUMENT: a gravity that is not finite; RESOURCE_EXHAUSTED: more than 200 moving joints, or 100 with coupled
 * mimic joints. Gautier and Khalil 1990; Wensing, Niemeyer and Slotine 2024. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_find_base_parameters(dyn_client *client, const char *model,
                                                                    const double *gravity, double timeout,
                                                                    dyn_client_error *error,
                                                                    dyn_client_base_parameters **parameters);
DYN_CLIENT_EXPORT void dyn_client_base_parameters_free(dyn_client_base_parameters *parameters);

/* ---- dynamics: tau = M(q) a + h(q, v) - sum J' f_ext, h = C(q, v) v + g(q) -----------------------------------------
 */

/* Frame that a spatial quantity is expressed in. */
typedef enum dyn_client_reference_frame {
    DYN_CLIENT_FRAME_UNSPECIFIED = 0,   /* refused where a frame is needed */
    DYN_CLIENT_LOCAL = 1,               /* axes and origin of the link or frame */
    DYN_CLIENT_WORLD = 2,               /* axes and origin of the world */
    DYN_CLIENT_LOCAL_WORLD_ALIGNED = 3, /* axes of the world, origin of the link or frame */
} dyn_client_reference_frame;

/* A wrench that the environment applies to a link; its torque is about the origin of the reference frame. */
typedef struct dyn_client_external_force {
    const char *link;
    dyn_client_reference_frame reference_frame; /* that force and torque are expressed in */
    const double *force;                        /* N, rows x 3; NULL: zero */
    const double *torque;                       /* N m, rows x 3; NULL: zero */
    size_t rows;                                /* samples, or rows of a trajectory; or 1: the same for all */
} dyn_client_external_force;

/* A body that a link carries for the time of one call; the model that others share stays as it is. */
typedef struct dyn_client_payload {
    const char *link;           /* or a frame */
    dyn_client_inertia inertia; /* in the payload's own frame */
    dyn_client_placement pose;  /* of the payload's frame in that of the link */
    bool replaces;              /* in place of the link's own inertia instead of beside it */
} dyn_client_payload;

/* Precision of the computation. Arguments and results are doubles in both. */
typedef enum dyn_client_precision {
    DYN_CLIENT_DOUBLE_PRECISION = 0,
    DYN_CLIENT_SINGLE_PRECISION = 1, /* about seven digits, twice the states at once: enum Precision of the protocol */
} dyn_client_precision;

/* Common arguments of numeric calls. Set the first four; the rest may be zero. A part that a call has no use for is
 * refused with INVALID_ARGUMENT and its path, such as "mass_matrix.query.gravity": query.proto lists which call
 * supports which part. */
/* Outcome of a call of which single samples fail. */
typedef enum dyn_client_on_error {
    DYN_CLIENT_ON_ERROR_FAIL = 0, /* the call fails with the error of the first such sample */
    /* The call succeeds, and the rows of such samples are NaN. `marked` of the caller's dyn_client_error tells how many
     * there are; where there are some, its field, message, reason and sample are those of the first. For numeric calls
     * of one quantity, kinematics and evaluate. */
    DYN_CLIENT_ON_ERROR_MARK = 1,
} dyn_client_on_error;

typedef struct dyn_client_query {
    const char *model; /* name or digest */
    size_t nq, nv;     /* of the model: the lengths of a row */
    size_t samples;    /* n, at least 1 */

    double timeout; /* s; 0: the client's own */
    /* Every moving joint once: the order of q, v, a, tau, of matrix rows and columns, in and out. 0: the model's. */
    size_t joint_count;
    const char *const *joint_names;
    const double *gravity; /* 3 values, m/s^2 in the world, instead of the model's own */
    /* They add up. */
    size_t external_force_count;
    const dyn_client_external_force *external_forces;
    /* They add up. */
    size_t payload_count;
    const dyn_client_payload *payloads;
    dyn_client_precision precision;
    dyn_client_on_error on_error;
} dyn_client_query;

/* Errors of the calls below: NOT_FOUND (model, joint, link, frame), INVALID_ARGUMENT (NaN or infinity with the field
 * "METHOD.q[13]", lengths that are not the model's, a joint name unknown, missing or repeated). */

/* tau for the motion (q, v, a). q is n x nq; v, a (NULL: zeros) and tau are n x nv; tau in N m and N. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_inverse_dynamics(dyn_client *client, const dyn_client_query *query,
                                                                const double *q, const double *v, const double *a,
                                                                dyn_client_error *error, double *tau);

/* a = M^-1 (tau - h + sum J' f_ext). q is n x nq; v, tau (NULL: zeros) and a are n x nv; a in rad/s^2 and m/s^2.
 * FAILED_PRECONDITION: M is singular. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_forward_dynamics(dyn_client *client, const dyn_client_query *query,
                                                                const double *q, const double *v, const double *tau,
                                                                dyn_client_error *error, double *a);

/* M(q), the joint-space inertia matrix. q is n x nq, mass_matrix n x nv x nv with both triangles. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_mass_matrix(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, dyn_client_error *error,
                                                           double *mass_matrix);

/* g(q), the forces that hold the robot at rest. q is n x nq, g is n x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_gravity(dyn_client *client, const dyn_client_query *query,
                                                       const double *q, dyn_client_error *error, double *g);

/* h(q, v) = C(q, v) v + g(q): Coriolis, centrifugal and gravity forces. q is n x nq; v (NULL: zeros) and h n x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_bias_forces(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, const double *v, dyn_client_error *error,
                                                           double *h);

/* ---- the configuration space ------------------------------------------------------------------------------------- */

/* Configurations are no vectors where there are quaternions: q (+) v is the end of the motion that keeps v for one unit
 * of time. query.nq, nv and samples say how long the arrays are; of the rest it may name
 * the joints. */

/* q_next = q (+) step_length v, exact for constant v. q and q_next are n x nq, v n x nv; step_length in s. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_integrate(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, const double *v, double step_length,
                                                         dyn_client_error *error, double *q_next);

/* The shortest v, n x nv, with q (+) v = q_1. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_difference(dyn_client *client, const dyn_client_query *query,
                                                          const double *q, const double *q_1, dyn_client_error *error,
                                                          double *v);

/* q (+) s (q_1 (-) q), n x nq. s has one value for all samples, or one for each. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_interpolate(dyn_client *client, const dyn_client_query *query,
                                                           const double *q, const double *q_1, size_t s_count,
                                                           const double *s, dyn_client_error *error, double *between);

/* The Euclidean norm of q_1 (-) q: n numbers. It mixes radians and metres. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_distance(dyn_client *client, const dyn_client_query *query,
                                                        const double *q, const double *q_1, dyn_client_error *error,
                                                        double *distance);

/* Scales the quaternions of configurations to norm one with w >= 0. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_normalize(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, dyn_client_error *error, double *normalized);

/* The zero configuration, n times; and random ones: uniform within the limits, angles without limits in [-pi, pi],
 * displacements in [-1, 1], quaternions uniform over the rotations. Equal seeds give equal configurations. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_neutral(dyn_client *client, const dyn_client_query *query,
                                                       dyn_client_error *error, double *q);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_random(dyn_client *client, const dyn_client_query *query, uint64_t seed,
                                                      dyn_client_error *error, double *q);

/* ---- kinematics -------------------------------------------------------------------------------------------------- */

/* Poses of frames in the world. `frames` are names of links, of joints (the child link's frame) or "world". q is n x
 * nq; position is frame_count x n x 3 in m; quaternion is frame_count x n x 4, x y z w with w >= 0. NOT_FOUND: the
 * field "kinematics.frames[i]". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_poses(dyn_client *client, const dyn_client_query *query, const double *q,
                                                     size_t frame_count, const char *const *frames,
                                                     dyn_client_error *error, double *position, double *quaternion);

/* Jacobians of frames: the linear velocity of the origin of the reference frame and the angular velocity, both
 * expressed in it, are linear * v and angular * v. Each is frame_count x n x 3 x nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_jacobians(dyn_client *client, const dyn_client_query *query,
                                                         const double *q, size_t frame_count, const char *const *frames,
                                                         dyn_client_reference_frame reference_frame,
                                                         dyn_client_error *error, double *linear, double *angular);

/* ---- many quantities at once ------------------------------------------------------------------------------------- */

/* Quantities of dyn_client_evaluate. nv is the number of velocities; rows and columns over joints come in the query's
 * order. Derivatives with respect to q are taken along the tangent increments that v integrates to. */
typedef enum dyn_client_quantity {
    DYN_CLIENT_INVERSE_DYNAMICS = 1,                 /* tau(q, v, a), external forces included: nv */
    DYN_CLIENT_FORWARD_DYNAMICS = 2,                 /* a(q, v, tau), external forces included: nv */
    DYN_CLIENT_MASS_MATRIX = 3,                      /* M(q): nv x nv */
    DYN_CLIENT_INVERSE_MASS_MATRIX = 4,              /* nv x nv; FAILED_PRECONDITION where M is singular */
    DYN_CLIENT_CORIOLIS_MATRIX = 5,                  /* C(q, v) with dM/dt - 2 C skew: nv x nv */
    DYN_CLIENT_CHRISTOFFEL_SYMBOLS = 6,              /* G_k with C = sum over k of v_k G_k: nv x nv x nv */
    DYN_CLIENT_GRAVITY_FORCES = 7,                   /* g(q): nv */
    DYN_CLIENT_BIAS_FORCES = 8,                      /* h(q, v) = C v + g: nv */
    DYN_CLIENT_KINETIC_ENERGY = 9,                   /* v' M v / 2: one number */
    DYN_CLIENT_POTENTIAL_ENERGY = 10,                /* in gravity; zero with all mass at the world's origin */
    DYN_CLIENT_POWER = 11,                           /* tau' v of the given tau: one number */
    DYN_CLIENT_CENTER_OF_MASS = 12,                  /* of the robot or of a subtree, world axes: 3 */
    DYN_CLIENT_CENTER_OF_MASS_VELOCITY = 13,         /* 3 */
    DYN_CLIENT_CENTER_OF_MASS_ACCELERATION = 14,     /* 3, gravity no part of it */
    DYN_CLIENT_CENTER_OF_MASS_JACOBIAN = 15,         /* 3 x nv */
    DYN_CLIENT_CENTROIDAL_MOMENTUM = 16,             /* about the centre of mass, world axes: linear 3, angular 3 */
    DYN_CLIENT_CENTROIDAL_MOMENTUM_MATRIX = 17,      /* A_G: linear and angular 3 x nv */
    DYN_CLIENT_CENTROIDAL_MOMENTUM_MATRIX_RATE = 18, /* dA_G/dt */
    DYN_CLIENT_CENTROIDAL_INERTIA = 19,              /* rotational inertia of the robot as one body: 3 x 3 */
    DYN_CLIENT_FRAME_POSE = 20,                      /* in the world: position 3, quaternion 4 */
    DYN_CLIENT_FRAME_TWIST = 21,                     /* J v in the reference frame: linear 3, angular 3 */
    DYN_CLIENT_FRAME_ACCELERATION = 22,              /* J a + dJ/dt v, gravity no part of it */
    DYN_CLIENT_FRAME_JACOBIAN = 23,                  /* linear and angular 3 x nv */
    DYN_CLIENT_FRAME_JACOBIAN_RATE = 24,             /* dJ/dt */
    DYN_CLIENT_FRAME_TWIST_BY_Q = 25,                /* d twist/dq: linear and angular 3 x nv */
    DYN_CLIENT_FRAME_ACCELERATION_BY_Q = 26,
    DYN_CLIENT_FRAME_ACCELERATION_BY_V = 27,
    DYN_CLIENT_TORQUE_REGRESSOR = 28,      /* Y with tau = Y p: nv x bodies x 10 */
    DYN_CLIENT_INVERSE_DYNAMICS_BY_Q = 29, /* d tau/dq: nv x nv; d tau/da is M */
    DYN_CLIENT_INVERSE_DYNAMICS_BY_V = 30,
    DYN_CLIENT_FORWARD_DYNAMICS_BY_Q = 31, /* d a/dq: nv x nv; d a/d tau is the inverse of M */
    DYN_CLIENT_FORWARD_DYNAMICS_BY_V = 32,
    DYN_CLIENT_GRAVITY_FORCES_BY_Q = 33, /* dg/dq: nv x nv */
    DYN_CLIENT_JOINT_WRENCHES = 34, /* that a joint's parent exerts on what it carries: force and torque bodies x 3 */
    DYN_CLIENT_FRAME_JACOBIAN_BY_Q = 35,           /* dJ/dq, the Hessian: linear and angular 3 x nv x nv */
    DYN_CLIENT_CENTROIDAL_MOMENTUM_BY_Q = 36,      /* linear and angular 3 x nv; below, of its rate */
    DYN_CLIENT_CENTROIDAL_MOMENTUM_RATE_BY_Q = 37, /* of A_G a + dA_G/dt v */
    DYN_CLIENT_CENTROIDAL_MOMENTUM_RATE_BY_V = 38,
    DYN_CLIENT_INVERSE_DYNAMICS_BY_Q_Q = 39, /* second derivatives of tau(q, v, a), no external forces: nv x nv x nv */
    DYN_CLIENT_INVERSE_DYNAMICS_BY_V_V = 40,
    DYN_CLIENT_INVERSE_DYNAMICS_BY_Q_V = 41, /* along q_j, then v_k */
    DYN_CLIENT_MASS_MATRIX_BY_Q = 42,        /* of M_ij along q_k */
    DYN_CLIENT_FORWARD_DYNAMICS_BY_Q_Q = 43, /* of a(q, v, tau) */
    DYN_CLIENT_FORWARD_DYNAMICS_BY_V_V = 44,
    DYN_CLIENT_FORWARD_DYNAMICS_BY_Q_V = 45,
    DYN_CLIENT_INVERSE_MASS_MATRIX_BY_Q = 46,
    DYN_CLIENT_INVERSE_DYNAMICS_ALONG = 47,                 /* change of tau along (dq, dv, da): nv */
    DYN_CLIENT_FORWARD_DYNAMICS_ALONG = 48,                 /* change of a along (dq, dv, dtau): nv */
    DYN_CLIENT_EXTERNAL_FORCES = 49,                        /* sum of J' f_ext of the query's external forces: nv */
    DYN_CLIENT_OPERATIONAL_SPACE_INERTIA = 50,              /* Lambda of the m task rows of all frames: m x m */
    DYN_CLIENT_OPERATIONAL_SPACE_INVERSE_INERTIA = 51,      /* J M^-1 J', also where Lambda does not exist */
    DYN_CLIENT_OPERATIONAL_SPACE_BIAS = 52,                 /* mu: m */
    DYN_CLIENT_OPERATIONAL_SPACE_GRAVITY = 53,              /* p: m */
    DYN_CLIENT_OPERATIONAL_SPACE_CONSISTENT_INVERSE = 54,   /* Jbar = M^-1 J' Lambda: nv x m */
    DYN_CLIENT_OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR = 55, /* N = 1 - Jbar J: nv x nv */
    DYN_CLIENT_FRAME_MANIPULABILITY = 56, /* linear, angular: measure and isotropy; spatial: measure */
    DYN_CLIENT_FRAME_ELLIPSOIDS = 57,     /* of velocity and mass: lengths 3 and axes 3 x 3, linear and angular */
    DYN_CLIENT_ENERGY_REGRESSOR = 58,     /* kinetic and potential: bodies x 10 each */
    DYN_CLIENT_TORQUE_ELLIPSOID = 59,     /* eigenvalues nv and eigenvectors nv x nv of M */
    DYN_CLIENT_FRAME_ACCELERATION_ELLIPSOIDS = 60, /* of J M^-1 tau: lengths 3 and axes 3 x 3, linear and angular */
    DYN_CLIENT_FRAME_BODY_INERTIA = 61,   /* spatial inertia of the body that carries the frame: 6 x 6, linear first */
    DYN_CLIENT_FRAME_PRINCIPAL_AXES = 62, /* of that body, about its centre of mass: moments 3 and axes 3 x 3 */
} dyn_client_quantity;

/* Numbers of quantities are below. */
enum { DYN_CLIENT_QUANTITY_NUMBERS = 256 };

/* The quantity in lower case, "mass_matrix"; NULL for a number that is none. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_quantity_name(dyn_client_quantity quantity);

/* The quantity of that name; false when there is none. Thread-safe. */
DYN_CLIENT_EXPORT bool dyn_client_find_quantity(const char *name, dyn_client_quantity *quantity);

/* Subject of a quantity. */
typedef enum dyn_client_quantity_subject {
    DYN_CLIENT_OF_ROBOT,
    DYN_CLIENT_OF_SUBTREE, /* of the robot, or of what one of its joints carries */
    DYN_CLIENT_OF_FRAMES,  /* of each of some frames */
    DYN_CLIENT_OF_TASK,    /* of a task */
} dyn_client_quantity_subject;

/* Returns the subject of a quantity, which its name begins with. Thread-safe. */
DYN_CLIENT_EXPORT dyn_client_quantity_subject dyn_client_quantity_subject_of(dyn_client_quantity quantity);

/* A row of a frame's Jacobian. */
typedef enum dyn_client_task_axis {
    DYN_CLIENT_LINEAR_X = 1,
    DYN_CLIENT_LINEAR_Y = 2,
    DYN_CLIENT_LINEAR_Z = 3,
    DYN_CLIENT_ANGULAR_X = 4,
    DYN_CLIENT_ANGULAR_Y = 5,
    DYN_CLIENT_ANGULAR_Z = 6,
} dyn_client_task_axis;

/* A frame that a task controls. */
typedef struct dyn_client_task_frame {
    const char *frame;
    size_t axis_count; /* rows of the frame's Jacobian that the task has; 0: all six */
    const dyn_client_task_axis *axes;
} dyn_client_task_frame;

/* A quantity, and what it is of. Members that its subject has no use for are zero: INVALID_ARGUMENT else. */
typedef struct dyn_client_quantity_request {
    dyn_client_quantity quantity;
    size_t frame_count; /* OF_FRAMES: links, joints (the child link's frame) or "world", each once */
    const char *const *frames;
    dyn_client_reference_frame reference_frame; /* OF_FRAMES and OF_TASK, whose vectors are expressed in it */
    const char *subtree;                        /* OF_SUBTREE: joint whose load it is of; NULL: the whole robot */
    size_t task_frame_count;                    /* OF_TASK: up to 8, each once */
    const dyn_client_task_frame *task_frames;
} dyn_client_quantity_request;

/* Arguments of an evaluation, beside the query. An array that no quantity depends on is INVALID_ARGUMENT. */
typedef struct dyn_client_evaluate_request {
    const double *q;                   /* n x nq */
    const double *v, *a;               /* n x nv; NULL: zeros */
    const double *tau;                 /* n x nv; NULL: zeros; of forward dynamics, its derivatives, and power */
    const double *dq, *dv, *da, *dtau; /* n x nv; NULL: zeros; the direction of the quantities ALONG */
    size_t quantity_count;             /* at least 1; the same one more than once where it is of something else */
    const dyn_client_quantity_request *quantities;
} dyn_client_evaluate_request;

/* Inputs that a quantity depends on, beside q, as flags. */
typedef enum dyn_client_quantity_input {
    DYN_CLIENT_INPUT_V = 1 << 0,
    DYN_CLIENT_INPUT_A = 1 << 1,
    DYN_CLIENT_INPUT_TAU = 1 << 2,
    DYN_CLIENT_INPUT_DQ = 1 << 3,
    DYN_CLIENT_INPUT_DV = 1 << 4,
    DYN_CLIENT_INPUT_DA = 1 << 5,
    DYN_CLIENT_INPUT_DTAU = 1 << 6,
    DYN_CLIENT_INPUT_GRAVITY = 1 << 7, /* from here on, parts of the query */
    DYN_CLIENT_INPUT_EXTERNAL_FORCES = 1 << 8,
    DYN_CLIENT_INPUT_PAYLOADS = 1 << 9,
} dyn_client_quantity_input;

/* Meaning of an axis of a block. */
typedef enum dyn_client_axis_kind {
    DYN_CLIENT_AXIS_JOINTS = 1,     /* velocities in the query's order: rotations or translations */
    DYN_CLIENT_AXIS_BODIES = 2,     /* links that the moving joints carry, in the model's order */
    DYN_CLIENT_AXIS_TASK = 3,       /* "tool0 linear x", the linear rows of a frame first; angular or linear */
    DYN_CLIENT_AXIS_XYZ = 4,        /* "x", "y", "z" */
    DYN_CLIENT_AXIS_QUATERNION = 5, /* "x", "y", "z", "w" */
    DYN_CLIENT_AXIS_PARAMETERS = 6, /* "m", "mx", .. "Izz": the mass, first moments or moments of inertia */
    DYN_CLIENT_AXIS_SEMI_AXES = 7,  /* of an ellipsoid, the longest first; below, in the space of the joints */
    DYN_CLIENT_AXIS_JOINT_SEMI_AXES = 8,
    DYN_CLIENT_AXIS_MEASURES = 9, /* "measure", "isotropy" */
    DYN_CLIENT_AXIS_TWIST = 10,   /* "linear x", .. "angular z": angular or linear */
} dyn_client_axis_kind;

/* Entries along an axis. */
typedef struct dyn_client_axis {
    dyn_client_axis_kind kind;
    size_t size;
    const char *const *labels;
    uint32_t unit_count;        /* classes of entries that units tell apart, at least 1 */
    const uint32_t *unit_index; /* class of each entry; NULL: 0 */
} dyn_client_axis;

enum { DYN_CLIENT_MAX_RANK = 3 };

/* Numbers of one shape for each sample. */
typedef struct dyn_client_block {
    const char *name; /* "linear", "angular", "position", "quaternion", or "value" */
    size_t rank;      /* 0: one number for each sample */
    const dyn_client_axis *axes[DYN_CLIENT_MAX_RANK];
    size_t shape[DYN_CLIENT_MAX_RANK]; /* of one sample: the sizes of the axes */
    size_t width;                      /* values of one sample: the product of the shape */
    size_t unit_count;                 /* 1, or that of all combinations of classes of the axes, the last one fastest */
    const char *const *units;
    const double *values; /* n x width, row-major */
} dyn_client_block;

typedef struct dyn_client_quantity_result {
    dyn_client_quantity quantity;
    size_t request;                             /* index in the request's quantities */
    const char *frame;                          /* of a quantity of frames; else empty */
    dyn_client_reference_frame reference_frame; /* of quantities of frames and tasks */
    const char *expressed_in;                   /* axes and origin in words; empty where there are none */
    unsigned inputs;                            /* that it depends on: flags dyn_client_quantity_input */
    size_t block_count;
    const dyn_client_block *blocks;
} dyn_client_quantity_result;

typedef struct dyn_client_evaluation {
    size_t samples;
    size_t axis_count; /* axes of the blocks, each once */
    const dyn_client_axis *axes;
    size_t result_count; /* in the order of the quantities; one of frames for each frame in their order */
    const dyn_client_quantity_result *results;
} dyn_client_evaluation;

/* The first axis of a kind; NULL where no block has one. Thread-safe. */
DYN_CLIENT_EXPORT const dyn_client_axis *dyn_client_find_axis(const dyn_client_evaluation *evaluation,
                                                              dyn_client_axis_kind kind);

/* Unit of value number `entry` of a sample, below block.width: "kg m^2", "1". Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_block_unit(const dyn_client_block *block, size_t entry);

/* Any set of quantities for the same states, in one round trip. Parts of the query that no quantity depends on are
 * INVALID_ARGUMENT. Errors as above, with fields such as "evaluate.quantities[i].frames[k]" and "evaluate.tau". */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_evaluate(dyn_client *client, const dyn_client_query *query,
                                                        const dyn_client_evaluate_request *request,
                                                        dyn_client_error *error, dyn_client_evaluation **evaluation);
DYN_CLIENT_EXPORT void dyn_client_evaluation_free(dyn_client_evaluation *evaluation);

/* ---- where a torque comes from ----------------------------------------------------------------------------------- */

/* One term of tau = M a + C v + g - sum J' f_ext. */
typedef struct dyn_client_term {
    const char *name;  /* "inertial", "coriolis", "gravity", "external"; with payloads also "payload" */
    const double *tau; /* nv */
} dyn_client_term;

/* Contribution of the inertia of one link or payload to the joint forces: its parts of M a, C v and g, nv each. */
typedef struct dyn_client_contribution {
    const char *link;         /* as described, also where a fixed joint fixes it to another */
    const char *moving_joint; /* that it moves with */
    double mass;              /* kg */
    const double *inertial, *coriolis, *gravity;
} dyn_client_contribution;

typedef struct dyn_client_explanation {
    size_t nv;
    const char *const *joints; /* nv: the joint of each velocity, in the query's order */
    const char *const *units;  /* nv: "N m" or "N" */
    const double *tau;         /* nv: the inverse dynamics as a whole */
    size_t term_count;
    const dyn_client_term *terms; /* their sum is tau */
    size_t link_count;
    const dyn_client_contribution *links; /* moving links with an inertia; their sums are the first three terms */
    size_t payload_count;
    const dyn_client_contribution *payloads; /* in the query's order; their sum is the term "payload" */
    double residual; /* largest difference between wholes and sums, which are computed separately */
} dyn_client_explanation;

/* tau of the motion (q, v, a), split by term and by link. query.samples must be 1. q
 * has nq values; v and a (NULL: zeros) have nv. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_explain(dyn_client *client, const dyn_client_query *query,
                                                       const double *q, const double *v, const double *a,
                                                       dyn_client_error *error, dyn_client_explanation **explanation);
DYN_CLIENT_EXPORT void dyn_client_explanation_free(dyn_client_explanation *explanation);

/* ---- simulations that live in the daemon --------------------------------------------------------------------------
 *
 * A simulation has a name, and a token that its creator gets: who has the token commands it, everybody may ask and
 * watch. A simulation whose owner has not been heard of for its lease is ended. Results come in one block that the
 * caller frees with dyn_client_simulation_free. Errors of all functions here: NOT_FOUND for the name, PERMISSION_DENIED
 * for the token, INVALID_ARGUMENT with the field, FAILED_PRECONDITION where the simulation's condition does not allow
 * it. */

typedef enum dyn_client_integrator {
    DYN_CLIENT_SEMI_IMPLICIT_EULER = 0,
    DYN_CLIENT_EXPLICIT_EULER = 1,
    DYN_CLIENT_RK4 = 2,
} dyn_client_integrator;

typedef enum dyn_client_control_law {
    DYN_CLIENT_CONTROL_NONE = 0,       /* tau is the input */
    DYN_CLIENT_CONTROL_PD = 1,         /* + kp (q_r - q) + kd (v_r - v) */
    DYN_CLIENT_CONTROL_PD_GRAVITY = 2, /* + g(q) */
    DYN_CLIENT_CONTROL_COMPUTED_TORQUE = 3,
} dyn_client_control_law;

typedef enum dyn_client_joint_stop {
    DYN_CLIENT_STOP_RIGID = 0,
    DYN_CLIENT_STOP_SPRING = 1,
    DYN_CLIENT_STOP_NONE = 2,
} dyn_client_joint_stop;

/* Description of a simulation. Zero or NULL stands for the default everywhere but in `model`. */
/* Use of compiled algorithms for the steps. */
typedef enum dyn_client_compiled_steps {
    DYN_CLIENT_COMPILED_WHERE_READY = 0, /* when the simulation is created, or the request begins */
    DYN_CLIENT_COMPILED_NEVER = 1,       /* the bits do not depend on when the model was compiled */
    DYN_CLIENT_COMPILED_ALWAYS = 2,      /* else FAILED_PRECONDITION, with the field "...stepping.compiled" */
} dyn_client_compiled_steps;

/* Spring and damper of a joint's stop. Both values are used as they are, zero included. */
typedef struct dyn_client_spring_stop {
    double stiffness; /* N m/rad or N/m */
    double damping;   /* N m s/rad or N s/m */
} dyn_client_spring_stop;

/* How a robot moves forward in time; zero or NULL stands for the default. All that the description states (damping,
 * friction, limits, effort) is honoured unless it is said otherwise here. */
typedef struct dyn_client_stepping {
    dyn_client_integrator integrator;
    double step_length; /* s; default 0.001. A controller acts once a step */
    uint32_t substeps;  /* integration steps in a step; default 1 */
    dyn_client_control_law law;
    size_t gain_count; /* 1 or nv values in kp and kd */
    const double *kp, *kd;
    bool ignore_damping, ignore_friction, ignore_effort_limits;
    double friction_velocity; /* rad/s or m/s; default 0.01 */
    dyn_client_joint_stop stop;
    double restitution;                        /* of a rigid stop, 0 to 1 */
    const dyn_client_spring_stop *spring_stop; /* of a spring stop; NULL: 1e4 and 100 */
    double velocity_bound;                     /* a faster sample has diverged; default 1e6 */
    dyn_client_compiled_steps compiled;
} dyn_client_stepping;

typedef struct dyn_client_simulation_options {
    const char *name; /* default: the daemon chooses */
    const char *model;
    size_t joint_count; /* order of all values; 0: the model's own */
    const char *const *joint_names;
    const double *gravity; /* 3 values, m/s^2 in the world, instead of the model's own */
    size_t payload_count;  /* that it carries all its life */
    const dyn_client_payload *payloads;
    size_t external_force_count; /* of one row each; that act from the start and after a reset, until others do */
    const dyn_client_external_force *external_forces;
    size_t nq, nv;       /* lengths of q and v */
    const double *q, *v; /* default: home, at rest */
    dyn_client_stepping stepping;
    bool follows_clock; /* else time passes by dyn_client_step_simulation only */
    double rate;        /* simulated seconds a second; default 1 */
    bool is_paused;
    double publish_rate; /* states a simulated second for those who watch; default 100 */
    double disturbance;  /* standard deviation of a random force on each joint, N m or N */
    uint64_t seed;       /* of the disturbance */
    double lease;        /* s; default: the daemon's */
    bool keep;           /* after the lease, pause instead of ending */
} dyn_client_simulation_options;

typedef enum dyn_client_condition {
    DYN_CLIENT_SIMULATION_UNSPECIFIED = 0,
    DYN_CLIENT_SIMULATION_RUNNING = 1,
    DYN_CLIENT_SIMULATION_PAUSED = 2, /* also: in lockstep */
    DYN_CLIENT_SIMULATION_DIVERGED = 3,
} dyn_client_condition;

/* The condition in lower case, "running"; never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_condition_name(dyn_client_condition condition);

/* Why dyn_client_step_simulation returned. */
typedef enum dyn_client_steps_end {
    DYN_CLIENT_STEPS_END_UNSPECIFIED = 0,
    DYN_CLIENT_STEPS_END_STEPS = 1,    /* all steps were done */
    DYN_CLIENT_STEPS_END_DEADLINE = 2, /* the timeout, or the daemon's limits.request_time, passed */
    DYN_CLIENT_STEPS_END_CANCELLED = 3,
    DYN_CLIENT_STEPS_END_DIVERGED = 4,
    DYN_CLIENT_STEPS_END_INPUT_EMPTY = 5, /* the stream that feeds it has no point for the next step */
} dyn_client_steps_end;

/* The reason in lower case, "deadline"; never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_steps_end_name(dyn_client_steps_end end);

/* A simulation as it was at one moment. */
typedef struct dyn_client_simulation {
    const char *name, *model, *digest, *owner, *recording; /* owner, recording: empty where there is none */
    dyn_client_condition condition;
    bool follows_clock;
    double rate, step_length;
    double lease_remaining; /* s */
    uint32_t watchers;
    uint64_t overruns, ticks;          /* ticks that were not done when the next was due, and all */
    double slipped;                    /* s by which the schedule was moved because it could not be caught up */
    double lateness, longest_lateness; /* s that ticks began late: the last one, and the worst */
    double step_cost;                  /* s of computing for one step, on the average */
    uint64_t step;
    double time;      /* s simulated */
    int64_t stamp_ns; /* wall time of the state, ns since 1970-01-01 UTC */
    size_t nq, nv;    /* 0 in lists: states are not told there */
    const double *q, *v, *tau;
    size_t external_force_count; /* that act in the next step; told by dyn_client_get_simulation only */
    const dyn_client_external_force *external_forces;
    size_t joint_count; /* order of these values; 0: the model's own */
    const char *const *joint_names;
    const char *computed_with;   /* the code of its steps: with equal texts, equal inputs give equal bits */
    const char *recording_error; /* why the last recording ended by itself; empty: it did not */
    uint64_t steps_done;         /* by dyn_client_step_simulation; 0 in other results */
    dyn_client_steps_end ended_by;
} dyn_client_simulation;

DYN_CLIENT_EXPORT void dyn_client_simulation_free(dyn_client_simulation *simulation);

/* Starts one. `token` receives what commands it. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_create_simulation(dyn_client *client,
                                                                 const dyn_client_simulation_options *options,
                                                                 double timeout, dyn_client_error *error,
                                                                 uint64_t *token, dyn_client_simulation **simulation);

/* Input of a simulation. Parts that are NULL stay as they are. */
typedef struct dyn_client_simulation_input {
    size_t nq, nv;
    const double *tau, *q, *v, *a;
    /* With one row each. They replace those that acted before, and act until replaced, held in their frames. */
    size_t external_force_count;
    const dyn_client_external_force *external_forces;
    bool clear_external_forces; /* those that acted before end, though there are no others */
} dyn_client_simulation_input;

/* Advances a simulation that does not run with the clock by at most `steps`. `input` (NULL: unchanged) holds from its
 * first step on. Steps that have begun and do not end before the deadline are no error: state->steps_done and
 * state->ended_by tell how many were done and why not more. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_step_simulation(dyn_client *client, const char *name, uint64_t token,
                                                               uint64_t steps, const dyn_client_simulation_input *input,
                                                               double timeout, dyn_client_error *error,
                                                               dyn_client_simulation **state);

/* Sets the input; `step` (may be NULL) receives the number of the first step that it drives. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_set_simulation_input(dyn_client *client, const char *name,
                                                                    uint64_t token,
                                                                    const dyn_client_simulation_input *input,
                                                                    double timeout, dyn_client_error *error,
                                                                    uint64_t *step);

/* The state and all else. With the token (0: without) it renews the lease. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_simulation(dyn_client *client, const char *name, uint64_t token,
                                                              double timeout, dyn_client_error *error,
                                                              dyn_client_simulation **simulation);

/* Another state; v NULL: at rest. nq and nv values. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_set_simulation_state(dyn_client *client, const char *name,
                                                                    uint64_t token, size_t nq, size_t nv,
                                                                    const double *q, const double *v, double timeout,
                                                                    dyn_client_error *error,
                                                                    dyn_client_simulation **state);

DYN_CLIENT_EXPORT dyn_client_status dyn_client_pause_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                double timeout, dyn_client_error *error,
                                                                dyn_client_simulation **state);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_resume_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 double timeout, dyn_client_error *error,
                                                                 dyn_client_simulation **state);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_reset_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                double timeout, dyn_client_error *error,
                                                                dyn_client_simulation **state);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_delete_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 double timeout, dyn_client_error *error);

/* Takes over one whose owner's lease has run out, or that was created by nobody; `lease` 0: as before. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_claim_simulation(dyn_client *client, const char *name, double lease,
                                                                double timeout, dyn_client_error *error,
                                                                uint64_t *token);

typedef struct dyn_client_simulation_list {
    size_t count;
    const dyn_client_simulation *simulations; /* in the order of their names */
} dyn_client_simulation_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_simulations(dyn_client *client, double timeout,
                                                                dyn_client_error *error,
                                                                dyn_client_simulation_list **list);
DYN_CLIENT_EXPORT void dyn_client_simulation_list_free(dyn_client_simulation_list *list);

/* Begins a recording in the daemon's state directory. DYN_CLIENT_RESOURCE_EXHAUSTED: there is no room for one. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_record_simulation(dyn_client *client, const char *name, uint64_t token,
                                                                 const char *recording, double timeout,
                                                                 dyn_client_error *error);

/* Ends the recording of a simulation. `entries` and `bytes` (may be NULL) receive the number of its states, inputs and
 * jumps, and the size of its file. DYN_CLIENT_FAILED_PRECONDITION: none is under way; DYN_CLIENT_RESOURCE_EXHAUSTED: it
 * has ended by itself, and the states until then can be replayed. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_stop_recording(dyn_client *client, const char *name, uint64_t token,
                                                              double timeout, dyn_client_error *error,
                                                              uint64_t *entries, uint64_t *bytes);

/* A recorded run, computed once more and compared bit for bit. */
typedef struct dyn_client_replay {
    const char *model, *digest; /* as recorded; the model need not be loaded */
    double step_length;
    uint64_t steps, equal_steps; /* recorded; came out the same */
    uint64_t first_difference;   /* step; 0: none */
    bool is_truncated;           /* the recording lacks its end */
    size_t count, nq, nv;        /* of the states asked for */
    const uint64_t *step;
    const double *q, *v, *tau; /* rows */
    size_t joint_count;        /* order of their columns; 0: the model's own */
    const char *const *joint_names;
    const char *recorded_with, *computed_with; /* where they differ, states differ by rounding; recorded_with is empty
                                                  where the recording does not say it */
} dyn_client_replay;

/* Part of many rows: number `first`, every stride'th after it, at most `count`. Zeros stand for the beginning, every
 * row, and all rows. */
typedef struct dyn_client_rows {
    uint64_t first, stride, count;
} dyn_client_rows;

/* Computes a recorded run once more. `states` chooses the states to return by their steps; NULL: none. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_replay_simulation(dyn_client *client, const char *recording,
                                                                 const dyn_client_rows *states, double timeout,
                                                                 dyn_client_error *error, dyn_client_replay **replay);
DYN_CLIENT_EXPORT void dyn_client_replay_free(dyn_client_replay *replay);

/* A recording in the daemon's state directory. */
typedef struct dyn_client_recording {
    const char *name;
    uint64_t bytes;
    int64_t stamp_ns; /* wall time at which it was written last, ns since 1970-01-01 UTC */
    bool is_under_way;
} dyn_client_recording;

typedef struct dyn_client_recording_list {
    size_t count;
    const dyn_client_recording *recordings; /* in the order of their names */
    uint64_t bytes;                         /* that they take of limits.recordings_bytes */
} dyn_client_recording_list;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_recordings(dyn_client *client, double timeout,
                                                               dyn_client_error *error,
                                                               dyn_client_recording_list **list);
DYN_CLIENT_EXPORT void dyn_client_recording_list_free(dyn_client_recording_list *list);

/* Deletes a recording that is not under way. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_delete_recording(dyn_client *client, const char *recording,
                                                                double timeout, dyn_client_error *error);

/* A part of a recording's file. */
typedef struct dyn_client_recording_part {
    const uint8_t *bytes;
    size_t count;
    uint64_t size; /* of the file */
    bool is_under_way;
} dyn_client_recording_part;

/* Reads at most `bytes` (0: as many as the daemon likes) from `offset` on; fewer come at the end of the file only. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_fetch_recording(dyn_client *client, const char *recording,
                                                               uint64_t offset, uint64_t bytes, double timeout,
                                                               dyn_client_error *error,
                                                               dyn_client_recording_part **part);
DYN_CLIENT_EXPORT void dyn_client_recording_part_free(dyn_client_recording_part *part);

/* Writes all simulations to the state directory, and reads them again, as the daemon does at its end and start. `count`
 * (may be NULL) receives their number. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_save_simulations(dyn_client *client, double timeout,
                                                                dyn_client_error *error, uint32_t *count);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_restore_simulations(dyn_client *client, double timeout,
                                                                   dyn_client_error *error, uint32_t *count);

/* ---- rollouts and trajectories ----------------------------------------------------------------------------------- */

/* How rows of an input stand for n samples and their steps. */
typedef enum dyn_client_layout {
    DYN_CLIENT_LAYOUT_EACH = 0,     /* n x steps rows, sample by sample */
    DYN_CLIENT_LAYOUT_SHARED = 1,   /* steps rows, for all samples alike */
    DYN_CLIENT_LAYOUT_CONSTANT = 2, /* n rows, in all steps alike */
} dyn_client_layout;

/* Called about ten times a second, by another thread, while a request is under way, with the part that is done, 0 to 1.
 * False: the request is cancelled, and ends with CANCELLED. */
typedef bool (*dyn_client_progress)(void *context, double fraction);

typedef struct dyn_client_rollout_request {
    const double *q, *v; /* n x nq, n x nv (NULL: at rest): where the samples start */
    const dyn_client_stepping *stepping;
    size_t steps;      /* at least 1 */
    size_t stride;     /* results at the steps 0, stride, 2 stride ...; default 1 */
    bool only_last;    /* results at the end alone; stride is 0 */
    const double *tau; /* rows of nv; NULL: zeros */
    dyn_client_layout tau_layout;
    bool is_linear;                /* tau goes in lines from row to row: one row more than steps */
    const double *q_r, *v_r, *a_r; /* what the controller follows */
    dyn_client_layout reference_layout;
    bool with_tau, with_energy; /* results beside q and v */
    bool is_accurate;           /* Runge-Kutta of order 8 with error control, without controller and forces on links */
    double relative, absolute;  /* its tolerances; default 1e-10 and 1e-12 */
    dyn_client_progress progress;
    void *context;
} dyn_client_rollout_request;

typedef enum dyn_client_sample_status {
    DYN_CLIENT_SAMPLE_UNSPECIFIED = 0,
    DYN_CLIENT_SAMPLE_RAN = 1,
    DYN_CLIENT_SAMPLE_NOT_FINITE = 2, /* the state became NaN or infinite; the one before is kept */
    DYN_CLIENT_SAMPLE_TOO_FAST = 3,   /* beyond the velocity bound; the state before is kept */
    DYN_CLIENT_SAMPLE_SINGULAR = 4,   /* no inertia resists the joint */
    DYN_CLIENT_SAMPLE_RESTS = 5,      /* of accurate motions: a joint came to rest at its limit */
    DYN_CLIENT_SAMPLE_TOO_LONG = 6,   /* of accurate motions: too many steps or stops */
} dyn_client_sample_status;

/* The status in words, "too fast"; never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_sample_status_name(dyn_client_sample_status status);

typedef struct dyn_client_outcome {
    dyn_client_sample_status status;
    const char *joint;   /* that made it stop; empty: none */
    uint64_t steps;      /* that it ran */
    uint64_t stops;      /* steps in which a joint ran into a rigid stop */
    double energy_drift; /* largest distance from the energy at the start, J; 0 without energies */
} dyn_client_outcome;

typedef struct dyn_client_rollout {
    size_t samples, rows;               /* of each sample */
    const double *time;                 /* rows, s */
    const double *q, *v, *tau;          /* n x rows x nq, nv, nv; what was not asked for is NULL */
    const double *kinetic, *potential;  /* n x rows, J */
    const dyn_client_outcome *outcomes; /* n; a sample that diverges does not end the others */
    const char *computed_with;          /* as of a simulation */
} dyn_client_rollout;

/* Takes query.samples states forward in time, all in one request. query.external_forces act
 * unchanged in all steps. Long ones need query.timeout. Errors as above, with fields
 * such as "rollout.tau[13]" and "rollout.stepping.restitution"; CANCELLED. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_rollout_run(dyn_client *client, const dyn_client_query *query,
                                                           const dyn_client_rollout_request *request,
                                                           dyn_client_error *error, dyn_client_rollout **rollout);
DYN_CLIENT_EXPORT void dyn_client_rollout_free(dyn_client_rollout *rollout);

/* Wrenches that an end-effector applies to its surroundings: F_tip of Modern Robotics. */
typedef struct dyn_client_tip {
    const char *link; /* link or frame */
    dyn_client_reference_frame frame;
    size_t rows;                  /* 1 (it holds for all rows), or as many as the trajectory has */
    const double *force, *torque; /* rows x 3, N and N m; NULL: zero */
} dyn_client_tip;

/* How velocities and accelerations are found from positions. */
typedef enum dyn_client_rates {
    DYN_CLIENT_RATES_GIVEN = 0,
    DYN_CLIENT_RATES_SPLINE = 1,         /* cubic, not-a-knot ends */
    DYN_CLIENT_RATES_SPLINE_AT_REST = 2, /* cubic, v = 0 at the ends */
    DYN_CLIENT_RATES_CENTRAL = 3,        /* central differences */
    DYN_CLIENT_RATES_FIVE_POINT = 4,
    DYN_CLIENT_RATES_QUINTIC_SPLINE = 5,         /* as the quintic through the nearest six rows at the ends */
    DYN_CLIENT_RATES_QUINTIC_SPLINE_AT_REST = 6, /* quintic, v = 0 and a = 0 at the ends */
} dyn_client_rates;

typedef enum dyn_client_limit_kind {
    DYN_CLIENT_LIMIT_UNSPECIFIED = 0,
    DYN_CLIENT_LIMIT_LOWER = 1,
    DYN_CLIENT_LIMIT_UPPER = 2,
    DYN_CLIENT_LIMIT_VELOCITY = 3,
    DYN_CLIENT_LIMIT_EFFORT = 4,
} dyn_client_limit_kind;

/* The kind in lower case, "velocity"; never NULL. Thread-safe. */
DYN_CLIENT_EXPORT const char *dyn_client_limit_kind_name(dyn_client_limit_kind kind);

/* A limit of the description that a trajectory breaks. */
typedef struct dyn_client_excess {
    const char *joint;
    dyn_client_limit_kind kind;
    double limit, value;                           /* as stated; furthest beyond it, with its sign */
    uint64_t worst_row, first_row, last_row, rows; /* rows: how many are beyond */
    double worst_time, first_time, last_time;      /* s; 0 where no times were given */
} dyn_client_excess;

typedef struct dyn_client_trajectory {
    size_t rows;
    const double *time, *q; /* of forward dynamics */
    const double *v;        /* of forward dynamics, and rates that were derived; else NULL */
    const double *a;        /* rates that were derived; else NULL */
    const double *tau;      /* of inverse dynamics */
    uint64_t diverged_row;  /* from which on the state before is kept; 0: it did not diverge */
    const char *diverged_joint;
    size_t excess_count;
    const dyn_client_excess *excesses;
} dyn_client_trajectory;

/* tau of each of query.samples rows of a motion (Modern Robotics, section 8.11). With rates other than GIVEN, v and a
 * are NULL and come from q and the times (query.samples of them); else time may be NULL. External forces
 * have query.samples rows or one. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_inverse_dynamics_trajectory(
    dyn_client *client, const dyn_client_query *query, const double *time, const double *q, const double *v,
    const double *a, dyn_client_rates rates, const dyn_client_tip *tip, dyn_client_error *error,
    dyn_client_trajectory **trajectory);

/* The motion from the state (q, v) on under `rows` rows of tau; query.samples is 1, and external
 * forces have `rows` rows or one. stepping->step_length is dt, its substeps
 * are intRes; NULL: explicit Euler with 0.001 s, as in the book without damping, friction, stops and effort limits. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_forward_dynamics_trajectory(
    dyn_client *client, const dyn_client_query *query, const double *q, const double *v, size_t rows, const double *tau,
    const dyn_client_tip *tip, const dyn_client_stepping *stepping, dyn_client_error *error,
    dyn_client_trajectory **trajectory);
DYN_CLIENT_EXPORT void dyn_client_trajectory_free(dyn_client_trajectory *trajectory);

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* A subscription to the topics of one simulation or stream, over a connection of its own. For one thread. */
typedef struct dyn_client_watch dyn_client_watch;

typedef enum dyn_client_update_kind {
    DYN_CLIENT_UPDATE_STATES,           /* of a simulation: count rows of step, time, q, v, tau */
    DYN_CLIENT_UPDATE_SIMULATION_EVENT, /* text, message, step, joint */
    DYN_CLIENT_UPDATE_TORQUES,          /* of a stream: count rows of step (the points' numbers), time, tau */
    DYN_CLIENT_UPDATE_STREAM_EVENT,     /* text, message, credit */
} dyn_client_update_kind;

/* One published message. Valid until the next one is requested. */
typedef struct dyn_client_update {
    dyn_client_update_kind kind;
    uint64_t sequence; /* of the message in its topic */
    uint64_t lost;     /* messages of the topic that did not come before it */
    int64_t stamp_ns;  /* wall time at which it was sent, ns since 1970-01-01 UTC */
    uint64_t instance; /* of the daemon: another one than before, and the daemon has started anew */
    size_t count, nq, nv;
    const uint64_t *step;
    const double *time, *q, *v, *tau;
    double lateness;                         /* s that the tick of the simulation began late */
    const char *text;                        /* of an event: "limit", "reset", "diverged", "lost", "credit" ... */
    const char *message;                     /* a sentence */
    const char *joint;                       /* empty: none */
    int64_t sent_stamp_ns, arrival_stamp_ns; /* of the chunk of a stream, as stamp_ns */
    uint64_t credit;                         /* highest number that the stream takes */
} dyn_client_update;

/* Subscribes; what is published from its return on comes. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_simulation(dyn_client *client, const char *name, double timeout,
                                                                dyn_client_error *error, dyn_client_watch **watch);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_stream(dyn_client *client, const char *name, double timeout,
                                                            dyn_client_error *error, dyn_client_watch **watch);

/* Waits for the next message, at most `timeout` seconds: TIMEOUT. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_watch_next(dyn_client_watch *watch, double timeout,
                                                          dyn_client_error *error, dyn_client_update *update);
DYN_CLIENT_EXPORT void dyn_client_watch_close(dyn_client_watch *watch);

/* ---- streams ----------------------------------------------------------------------------------------------------- */

typedef enum dyn_client_stream_kind {
    DYN_CLIENT_STREAM_UNSPECIFIED = 0,      /* refused */
    DYN_CLIENT_STREAM_FEEDFORWARD = 1,      /* points (t, q, v, a) come back as torques */
    DYN_CLIENT_STREAM_SIMULATION_INPUT = 2, /* points drive a simulation at their simulated time t */
    DYN_CLIENT_STREAM_RECORD = 3,           /* points are written to a file of the daemon */
} dyn_client_stream_kind;

/* Zero or NULL stands for the default everywhere but in `kind`. */
typedef struct dyn_client_stream_options {
    const char *name;
    dyn_client_stream_kind kind;
    const char *model; /* of feedforward and record */
    size_t joint_count;
    const char *const *joint_names;
    /* Of feedforward: gravity (NULL: the model's own), payloads, external forces of one row each, and precision. */
    const double *gravity;
    size_t payload_count;
    const dyn_client_payload *payloads;
    size_t external_force_count;
    const dyn_client_external_force *external_forces;
    dyn_client_precision precision;
    const char *simulation; /* of simulation input, with its token */
    uint64_t token;
    bool is_linear; /* straight lines between points; else each holds until the next */
    enum { DYN_CLIENT_EMPTY_HOLD, DYN_CLIENT_EMPTY_ZERO, DYN_CLIENT_EMPTY_PAUSE } empty; /* when points run out */
    bool uses_late; /* late points are used; else they are counted and left out */
    double late_after;
    uint64_t capacity;     /* points that it holds; default 10000 */
    double idle_time;      /* s without points after which it ends; default 60 */
    const char *recording; /* of record */
} dyn_client_stream_options;

/* An open stream, with a connection of its own that points are pushed over. For one thread. */
typedef struct dyn_client_stream dyn_client_stream;

DYN_CLIENT_EXPORT dyn_client_status dyn_client_open_stream(dyn_client *client, const dyn_client_stream_options *options,
                                                           double timeout, dyn_client_error *error,
                                                           dyn_client_stream **stream);

/* Opens a connection to push points over into a stream that somebody else opened and gave the `key` of. Its points are
 * numbered on from the last that came; one pusher at a time is to number them. A wrong key is not noticed here: the
 * points are left out by the daemon (stray_chunks of dyn_client_server_info). Errors: NOT_FOUND, UNREACHABLE. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_join_stream(dyn_client *client, const char *name, uint64_t key,
                                                           double timeout, dyn_client_error *error,
                                                           dyn_client_stream **stream);

/* Closes the connection; the stream goes on in the daemon. */
DYN_CLIENT_EXPORT void dyn_client_leave_stream(dyn_client_stream *stream);

DYN_CLIENT_EXPORT const char *dyn_client_stream_name(const dyn_client_stream *stream);

/* Returns the stream's key. A client with the key may push points and close the stream. */
DYN_CLIENT_EXPORT uint64_t dyn_client_stream_key(const dyn_client_stream *stream);

/* Pushes n points, which get the next numbers: t is n values, the others n rows or NULL. Waits while the daemon does
 * not read, at most `timeout` seconds: then nothing was sent (TIMEOUT). Nothing answers a point:
 * dyn_client_get_stream and dyn_client_watch_stream tell what became of it. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_push_points(dyn_client_stream *stream, size_t n, const double *t,
                                                           const double *q, const double *v, const double *a,
                                                           const double *tau, double timeout, dyn_client_error *error);

/* Sets the number of the next point. */
DYN_CLIENT_EXPORT void dyn_client_stream_seek(dyn_client_stream *stream, uint64_t point_number);

typedef struct dyn_client_stream_info {
    const char *name, *model, *simulation, *owner, *recording;
    const char *recording_error; /* why the recording ended by itself; empty: it did not */
    dyn_client_stream_kind kind;
    uint64_t accepted, lost, late, duplicates, reordered, refused, beyond_credit, chunks, consumed, empty;
    uint64_t last_point_number, credit, waiting;
    /* s from when the last point was due to when it came: positive, it was late; negative, it came ahead of its time.
     * And the greatest of all points. A point is due when t has passed since the first as on its own clock, or when
     * simulated time is t. */
    double lag, greatest_lag;
    double idle; /* s since the last chunk */
    uint32_t watchers;
    uint32_t nq, nv;    /* length of its rows */
    size_t joint_count; /* order of its values; 0: the model's own */
    const char *const *joint_names;
} dyn_client_stream_info;

typedef struct dyn_client_stream_list {
    size_t count;
    const dyn_client_stream_info *streams;
} dyn_client_stream_list;

/* Requests the counters of one stream: a list of one entry. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_stream(dyn_client *client, const char *name, double timeout,
                                                          dyn_client_error *error, dyn_client_stream_list **status);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_list_streams(dyn_client *client, double timeout, dyn_client_error *error,
                                                            dyn_client_stream_list **list);
DYN_CLIENT_EXPORT void dyn_client_stream_list_free(dyn_client_stream_list *list);

/* Torques of points number `first` and on that a feedforward stream still holds, at most `capacity` rows of nv. `step`
 * receives their numbers, `count` how many there are. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_get_stream_points(dyn_client *client, const char *name, uint64_t first,
                                                                 size_t capacity, size_t nv, double timeout,
                                                                 dyn_client_error *error, uint64_t *step, double *tau,
                                                                 size_t *count);

/* Ends the stream in the daemon and closes the connection. Waits before for the points that are under way: until they
 * have come, or none has for a second. With status NULL nothing is told. The stream is freed also after an error. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_close_stream(dyn_client *client, dyn_client_stream *stream,
                                                            double timeout, dyn_client_error *error,
                                                            dyn_client_stream_list **status);

/* ---- the protocol itself ------------------------------------------------------------------------------------------
 */

/* For programs that speak dynamics.v1 themselves: sends a serialized dynamics.v1.Request and returns the serialized
 * dynamics.v1.Reply, whatever its status. The request's id, client and timeout are set by the library. The reply is
 * freed with dyn_client_free. Errors: those of the carrier only (UNREACHABLE, TIMEOUT, BAD_REPLY, OUT_OF_MEMORY). */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_call(dyn_client *client, const void *request, size_t request_size,
                                                    double timeout, dyn_client_error *error, void **reply,
                                                    size_t *reply_size);
DYN_CLIENT_EXPORT void dyn_client_free(void *reply);

/* Status of a serialized dynamics.v1.Reply: OK, or the error that the daemon tells. BAD_REPLY: it cannot be read. */
DYN_CLIENT_EXPORT dyn_client_status dyn_client_reply_status(const void *reply, size_t reply_size,
                                                            dyn_client_error *error);

/* Numbers for one request (Request.client and Request.id), under which a CancelRequest of this client ends it while it
 * is under way; and dyn_client_call with these numbers. The client's number is a secret between it and the daemon: who
 * knows it can cancel the client's requests. */
DYN_CLIENT_EXPORT void dyn_client_draw_numbers(dyn_client *client, uint64_t *client_number, uint64_t *id);
DYN_CLIENT_EXPORT dyn_client_status dyn_client_call_numbered(dyn_client *client, uint64_t client_number, uint64_t id,
                                                             const void *request, size_t request_size, double timeout,
                                                             dyn_client_error *error, void **reply, size_t *reply_size);

#ifdef __cplusplus
}
#endif

#endif
