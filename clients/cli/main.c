/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program dynamicsctl: the command line of dynamicsd.
 */
#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "completion.h"
#include "endpoint.h"
#include "help.h"
#include "page.h"
#include "terminal.h"

/* Timeout of a job without --timeout, s. The daemon's limit for jobs ends the job earlier. */
static const double JOB_TIMEOUT = 1e6;

/* Options of commands that compute on a moving base. */
#define BASE_MOTION_OPTIONS (WITH(OPTION_BASE_VELOCITY) | WITH(OPTION_BASE_ACCELERATION))
#define STATE_OPTIONS                                                                                                  \
    (WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_STATES) | WITH(OPTION_STATE) | WITH(OPTION_Q) |                \
     WITH(OPTION_JOINTS))

static const command COMMANDS[] = {
    {.name = "ping",
     .group = GROUP_DAEMON,
     .operands = "",
     .summary = "check that the daemon answers and is healthy",
     .details = "",
     .example = "dynamicsctl ping",
     .options = WITH(OPTION_JSON),
     .run = run_ping},
    {.name = "info",
     .group = GROUP_DAEMON,
     .operands = "",
     .summary = "version, limits, endpoints and counters of the daemon",
     .details = "",
     .example = "dynamicsctl info --json",
     .options = WITH(OPTION_JSON),
     .run = run_info},
    {.name = "stat",
     .group = GROUP_DAEMON,
     .operands = "",
     .summary = "requests by method since the start of the daemon: counts, times, states and bytes",
     .details =
         "Times are from the arrival of a request to its reply. Percentiles come from ranges of the time (1, 2, 5,\n"
         "10 us ... 10 s) and are linear within a range. With --json and --csv times are in seconds.\n",
     .example = "dynamicsctl stat --json",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_stat},
    {.name = "top",
     .group = GROUP_DAEMON,
     .operands = "",
     .summary = "the requests of each last second by method, as a live screen",
     .details = "Shows the columns of stat, divided by the time, until Ctrl-C.\n",
     .example = "dynamicsctl top --count 10",
     .options = WITH(OPTION_COUNT),
     .words = (const option_words[]){{OPTION_COUNT, "number of screens (default: no end)"}, {0}},
     .run = run_top},
    {.name = "log-level",
     .group = GROUP_DAEMON,
     .operands = "[error|warning|info|debug]",
     .summary = "show the level of the daemon's log, or set it until the next start or reload",
     .details = "",
     .example = "dynamicsctl log-level debug",
     .max_operands = 1,
     .options = WITH(OPTION_JSON),
     .run = run_log_level},
    {.name = "config",
     .group = GROUP_DAEMON,
     .operands = "[SECTION|SECTION.KEY]",
     .summary = "keys of the daemon's configuration, with their values in effect and the origins of these",
     .details = "An origin is a line of the configuration file, the daemon's command line, the default, derived (from\n"
                "the machine or from other keys), or a request. Needs the role administrator.\n",
     .example = "dynamicsctl config\n  dynamicsctl config limits\n  dynamicsctl config limits.samples --json",
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_config},
    {.name = "clients",
     .group = GROUP_DAEMON,
     .operands = "",
     .summary = "connections of the daemon's clients",
     .details = "Needs the role administrator. Clients over NATS have no connection to the daemon.\n",
     .example = "dynamicsctl clients",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_clients},
    {.name = "slowlog",
     .group = GROUP_DAEMON,
     .operands = "[COUNT]",
     .summary = "the last requests that took long",
     .details =
         "A request is in the list if it took at least observe.slow_time of the configuration, 0.1 s by default,\n"
         "from its arrival to its reply. The daemon holds the last 128. Waiting is the part of the time until a\n"
         "worker began. The number of the request is that of the log. Needs the role administrator.\n",
     .example = "dynamicsctl slowlog 10",
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_slowlog},
    {.name = "disconnect",
     .group = GROUP_DAEMON,
     .operands = "NUMBER",
     .summary = "close a connection, by its number in the list of clients",
     .details = "Its requests under way remain unanswered. Most clients connect again. Needs the role administrator.\n",
     .example = "dynamicsctl disconnect 1183",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON),
     .run = run_disconnect},
    {.name = "load",
     .group = GROUP_MODELS,
     .operands = "[FILE]",
     .summary = "load a robot description into the daemon",
     .details = "Prints the warnings of the load report and the number of its notes (describe shows them).\n"
                "- stands for standard input. FILE is URDF, or JSON in the form of a message of the protocol\n"
                "(dynamics/v1/description.proto), where enums may have their short names. The content decides, or an\n"
                "option:\n"
                "  --description  {\"name\": NAME, \"links\": [{\"name\": NAME, \"inertia\": {\"mass\": 1, ..}}, ..], "
                "\"joints\": [{\"name\": NAME, \"type\": \"revolute\", \"parent_link\": NAME, \"child_link\": NAME, "
                "\"axis\": {\"z\": 1}, ..}, ..]}\n"
                "  --dh           {\"name\": NAME, \"convention\": \"modified\", \"rows\": [{\"type\": \"revolute\", "
                "\"theta\": 0, \"d\": 0, \"a\": 1, \"alpha\": 0, \"inertia\": {..}}, ..]}\n"
                "  --screws       {\"name\": NAME, \"mlist\": [..], \"glist\": [..], \"slist\": [..]}\n",
     .example = "dynamicsctl load ur5.urdf --name ur5 --keep\n  dynamicsctl load anymal.urdf --base floating\n"
                "  dynamicsctl load --dh scara.json",
     .max_operands = 1,
     .options = WITH(OPTION_DESCRIPTION) | WITH(OPTION_DH) | WITH(OPTION_SCREWS) | WITH(OPTION_JSON) |
                WITH(OPTION_NAME) | WITH(OPTION_BASE) | WITH(OPTION_MIMIC) | WITH(OPTION_GRAVITY) |
                WITH(OPTION_STRICT) | WITH(OPTION_REPLACE) | WITH(OPTION_EXPECTED_DIGEST) | WITH(OPTION_KEEP) |
                WITH(OPTION_LOOPS) | WITH(OPTION_CUT_LOOPS) | WITH(OPTION_TRANSMISSIONS),
     .words = (const option_words[]){{OPTION_NAME, "name of the model, without \".\" (default: the robot's own)"}, {0}},
     .run = run_load},
    {.name = "models",
     .group = GROUP_MODELS,
     .operands = "",
     .summary = "list the models",
     .details = "",
     .example = "dynamicsctl models",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_models},
    {.name = "describe",
     .group = GROUP_MODELS,
     .operands = "NAME [JOINT|LINK|FRAME]",
     .summary = "joints, limits, links, frames and load report of a model, or one of them",
     .details = "",
     .example = "dynamicsctl describe ur5\n  dynamicsctl describe ur5 elbow_joint\n  dynamicsctl describe ur5 --json | "
                "jq '.joints[].name'",
     .min_operands = 1,
     .max_operands = 2,
     .options = WITH(OPTION_JSON),
     .run = run_describe},
    {.name = "unload",
     .group = GROUP_MODELS,
     .operands = "NAME",
     .summary = "remove a model from the daemon",
     .details = "",
     .example = "dynamicsctl unload ur5",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON),
     .run = run_unload},
    {.name = "derive",
     .group = GROUP_MODELS,
     .operands = "NAME OPERATION..",
     .summary = "make a new model from another: lock, cut, rebase, merge, attach, detach",
     .details =
         "Operations are applied in their order. The original model does not change.\n"
         "  lock:JOINT[,JOINT..]          fix joints at their positions in --q (default zero)\n"
         "  subtree:LINK[,BASE]           only this link and the links beyond it\n"
         "  chain:FIRST,LAST[,BASE]       only the chain of joints between two links\n"
         "  base:LINK[,BASE]              the same robot with another base link\n"
         "  merge:MODEL,LINK[,PREFIX]     mount another model of the daemon on a link\n"
         "  attach:LINK,NAME,MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]   add a link: kg, centre of mass, inertia about it\n"
         "  inertia:LINK,MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]       replace the inertia of a link\n"
         "  detach:LINK                   remove this link and the links beyond it\n"
         "BASE is fixed or floating (default: as in the original model).\n"
         "--operations takes JSON, which also allows placements (dynamics/v1/derive.proto). For a payload of a\n"
         "single request see --payload of id.\n",
     .example = "dynamicsctl derive ur5 attach:tool0,gripper,1.2,0,0,0.06 --name ur5_gripper\n"
                "  dynamicsctl derive ur5 lock:wrist_1_joint,wrist_2_joint --q wrist_1_joint=1.57 --name ur5_short",
     .min_operands = 1,
     .max_operands = MAX_POSITIONALS,
     .options = WITH(OPTION_JSON) | WITH(OPTION_NAME) | WITH(OPTION_Q) | WITH(OPTION_OPERATIONS) | WITH(OPTION_STRICT) |
                WITH(OPTION_REPLACE) | WITH(OPTION_EXPECTED_DIGEST) | WITH(OPTION_KEEP),
     .words = (const option_words[]){{OPTION_NAME, "name of the new model (required)"},
                                     {OPTION_Q, "positions of locked joints, rad and m; by name: the others 0"},
                                     {0}},
     .run = run_derive},
    {.name = "export",
     .group = GROUP_MODELS,
     .operands = "NAME",
     .summary = "write a model as JSON, URDF, screws, C or formulas",
     .details = "The JSON of --format description loads as an identical model. URDF has no gravity and no floating\n"
                "base. Screws (Mlist, Glist, Slist of Modern Robotics) end at --frame. C is the source of rnea, crba\n"
                "and aba, and with --frame of pose and Jacobian. Formulas and LaTeX state M, c and g of a robot with\n"
                "at most four coordinates. The daemon runs dynamics-compile for the last three.\n",
     .example = "dynamicsctl export ur5 --format urdf >ur5.urdf\n  dynamicsctl export ur5 | jq '.joints[].name'",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_FORMAT) | WITH(OPTION_FRAME),
     .run = run_export},
    {.name = "inertia",
     .group = GROUP_MODELS,
     .operands = "SHAPE VALUES",
     .summary = "compute and check the mass, centre and inertia of a body",
     .details = "  box X,Y,Z\n"
                "  cylinder RADIUS,LENGTH\n"
                "  sphere RADIUS\n"
                "  ellipsoid A,B,C\n"
                "  capsule RADIUS,LENGTH\n"
                "  mesh FILE.stl\n"
                "  parts FILE.json, a list of parts with placements (dynamics/v1/inertia.proto)\n"
                "Shapes are homogeneous, centred in their frame, with a round shape's axis along z. Lengths are in\n"
                "metres; rows are xx xy xz yy yz zz. --csv has a line for each number. --json adds the parameters of "
                "the regressor, the pseudo-inertia and its\n"
                "log-Cholesky coordinates.\n",
     .example = "dynamicsctl inertia box 0.1,0.2,0.3 --mass 2\n"
                "  dynamicsctl inertia mesh link.stl --scale 0.001 --density 2700",
     .min_operands = 2,
     .max_operands = 2,
     .options = WITH(OPTION_JSON) | WITH(OPTION_MASS) | WITH(OPTION_DENSITY) | WITH(OPTION_SCALE) | WITH(OPTION_ABOUT) |
                WITH(OPTION_CSV),
     .run = run_inertia},
    {.name = "configuration",
     .group = GROUP_MODELS,
     .operands = "NAME OPERATION",
     .summary = "integrate, difference, interpolate, distance, normalize, neutral, random",
     .details = "{\"q\": [..]}, {\"v\": [..]} or {\"distance\": ..}. Operations:\n"
                "  integrate     q moved for --step-length seconds at constant --v\n"
                "  difference    the velocity that moves q to --to in one second\n"
                "  interpolate   between q and --to, at --s\n"
                "  distance      the norm of the difference, which mixes radians and metres\n"
                "  normalize     scale quaternions to norm one, with w not negative\n"
                "  neutral       zero; quaternions are the identity\n"
                "  random        --count configurations, uniform within the limits, from --seed\n",
     .example = "dynamicsctl configuration ur5 interpolate --q 0,0,0,0,0,0 --to 1,-1,1,0,0,0 --s 0.25\n"
                "  dynamicsctl configuration quadruped random --count 100 --seed 7 --json",
     .min_operands = 2,
     .max_operands = 2,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_TO) | WITH(OPTION_STEP_LENGTH) | WITH(OPTION_S) |
                WITH(OPTION_SEED) | WITH(OPTION_COUNT) | WITH(OPTION_JOB),
     .words = (const option_words[]){{OPTION_STEP_LENGTH, "time to integrate over, seconds (default 1)"},
                                     {OPTION_SEED, "seed of random (default 0)"},
                                     {OPTION_COUNT, "number of random configurations (default 1)"},
                                     {0}},
     .run = run_configuration},
    {.name = "base-parameters",
     .group = GROUP_MODELS,
     .operands = "NAME",
     .summary = "inertial parameters that motion and torques determine",
     .details =
         "Each row is a base parameter: its column of the torque regressor, the inertial parameter that leads it,\n"
         "its value, and the parameters regrouped to it. Parameters are m, first moments mx my mz and I about\n"
         "the origin of the link's frame. tau = Y p = Y_b b for every motion, with Y_b the listed columns of Y\n"
         "(evaluate --quantity torque_regressor). --csv has a line for each term of a base parameter: factor times\n"
         "parameter, in SI units. --json adds the model's parameters p.\n",
     .example = "dynamicsctl base-parameters ur5\n  dynamicsctl base-parameters ur5 --gravity 0,0,0",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_GRAVITY),
     .run = run_base_parameters},
    {.name = "identify",
     .group = GROUP_MODELS,
     .operands = "NAME FILE",
     .summary = "inertial parameters and friction from a recorded motion",
     .details =
         "FILE is CSV with the columns time, q.JOINT and tau.JOINT for each joint. With columns v.JOINT and a.JOINT,\n"
         "rates are those; otherwise they are derived from q, and v.JOINT alone is not read. Torques may be motor\n"
         "currents with --gains. Filters have no delay: --cutoff should be above the frequencies of the motion.\n"
         "The first table shows how well each joint's torque is explained, also of parts of the record that did not\n"
         "take part (--folds). The second one has the base parameters and terms of drives with their standard\n"
         "deviations; the model's own value is beside them. With --name, a model with possible bodies that explain\n"
         "the motion is loaded: export writes it as URDF.\n"
         "Known loads are --payload and --force; a column load has the share of the payloads that each row carries.\n"
         "With --estimate-gains the gains are sought too; such a load, or --gains of some joints, fixes the scale.\n",
     .example = "dynamicsctl identify panda motion.csv --cutoff 3 --estimator weighted --name my_panda\n"
                "  dynamicsctl export my_panda --format urdf > my_panda.urdf\n"
                "  dynamicsctl identify my_panda loaded.csv --cutoff 3 --payload-link panda_hand",
     .min_operands = 2,
     .max_operands = 2,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_JOINTS) | WITH(OPTION_GRAVITY) |
                WITH(OPTION_CUTOFF) | WITH(OPTION_TORQUE_CUTOFF) | WITH(OPTION_ESTIMATOR) | WITH(OPTION_DRIVES) |
                WITH(OPTION_GAINS) | WITH(OPTION_PRIOR) | WITH(OPTION_FOLDS) | WITH(OPTION_NAME) |
                WITH(OPTION_REPLACE) | WITH(OPTION_JOB) | WITH(OPTION_LINKS) | WITH(OPTION_PAYLOAD_LINK) |
                INERTIA_OPTIONS | WITH(OPTION_FORCE) | WITH(OPTION_FORCE_REFERENCE_FRAME) |
                WITH(OPTION_STRIBECK_VELOCITY) | WITH(OPTION_ESTIMATE_GAINS) | WITH(OPTION_DRIVES_ONLY),
     .words = (const option_words[]){{OPTION_NAME, "load the identified model under this name (default: do not)"}, {0}},
     .run = run_identify},
    {.name = "excite",
     .group = GROUP_MODELS,
     .operands = "NAME",
     .summary = "motion from which identify finds the parameters well",
     .details =
         "Each joint moves as a Fourier series that begins and ends at rest. The search keeps the position, velocity\n"
         "and effort limits of the model; it does not know of obstacles and of collisions between links. The same\n"
         "options yield the same motion. Shows the condition number and the use of the limits; --csv writes one\n"
         "period with time, q, v, a and the model's tau, which trajectory and identify read.\n",
     .example = "dynamicsctl excite ur5 --period 20 --csv > exciting.csv\n"
                "  dynamicsctl trajectory ur5 inverse --states exciting.csv \\\n"
                "      --step-length 0.01 --csv",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_JOINTS) | WITH(OPTION_GRAVITY) |
                WITH(OPTION_CRITERION) | WITH(OPTION_HARMONICS) | WITH(OPTION_PERIOD) | WITH(OPTION_RATE) |
                WITH(OPTION_MARGIN) | WITH(OPTION_TRIALS) | WITH(OPTION_SEED) | WITH(OPTION_DRIVES) |
                WITH(OPTION_LINKS) | WITH(OPTION_PAYLOAD_LINK) | WITH(OPTION_JOB) | WITH(OPTION_STRIBECK_VELOCITY) |
                WITH(OPTION_DRIVES_ONLY),
     .words = (const option_words[]){{OPTION_RATE, "rows a second of the motion (default 100)"}, {0}},
     .run = run_excite},
    {.name = "id",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "inverse dynamics: joint forces tau of a motion q, v, a",
     .details = "{\"tau\": [..]}, and with --nearest \"residual\"\n",
     .example = "dynamicsctl id ur5 --q 0,-1.57,1.57,0,0,0\n  dynamicsctl id ur5 --states motion.jsonl --json\n"
                "  dynamicsctl id ur5 --base-velocity 1,0,0,0,0,0.5 --base-acceleration 0.2,0,0",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) | WITH(OPTION_PASSIVE) |
                WITH(OPTION_FORMULATION) | WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB) | WITH(OPTION_CONSTRAINTS) |
                WITH(OPTION_ROW) | WITH(OPTION_TIME) | MOTION_OPTIONS | BASE_MOTION_OPTIONS,
     .run = run_inverse_dynamics},
    {.name = "fd",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "forward dynamics: accelerations a from q, v, tau",
     .details = "{\"a\": [..]}\n",
     .example = "dynamicsctl fd ur5 --q 0,-1.57,1.57,0,0,0 --tau 0,-50,0,0,0,0\n"
                "  dynamicsctl fd ur5 --row 1,1,0,0,0,0 --row 0,0,1,0,0,0=0.5\n"
                "  dynamicsctl fd ur5 --formulation vereshchagin --tip tool0:0,0,1=0 --tip tool0:0,0,0,0,0,1=0",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_TAU) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) | WITH(OPTION_PASSIVE) |
                WITH(OPTION_FORMULATION) | WITH(OPTION_TIP) | WITH(OPTION_TIP_REFERENCE_FRAME) | WITH(OPTION_ON_ERROR) |
                WITH(OPTION_JOB) | WITH(OPTION_CONSTRAINTS) | WITH(OPTION_ROW) | WITH(OPTION_TIME) |
                BASE_MOTION_OPTIONS,
     .run = run_forward_dynamics},
    {.name = "mass",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "mass matrix M(q)",
     .details = "{\"mass_matrix\": [[..], ..]}\n",
     .example = "dynamicsctl mass ur5 --state zero",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | INERTIA_OPTIONS | WITH(OPTION_PRECISION) | WITH(OPTION_FORMULATION) |
                WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB),
     .run = run_mass_matrix},
    {.name = "gravity",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "gravity forces g(q), which hold the robot at rest",
     .details = "{\"g\": [..]}\n",
     .example = "dynamicsctl gravity ur5\n  dynamicsctl gravity ur5 --gravity 0,0,-1.62",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_GRAVITY) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) |
                WITH(OPTION_FORMULATION) | WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB),
     .run = run_gravity},
    {.name = "bias",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "bias forces h(q, v): Coriolis, centrifugal and gravity forces",
     .details = "{\"h\": [..]}\n",
     .example = "dynamicsctl bias ur5 --v 1,0,0,0,0,0",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_GRAVITY) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) |
                WITH(OPTION_FORMULATION) | WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB) | BASE_MOTION_OPTIONS,
     .run = run_bias_forces},
    {.name = "fk",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "forward kinematics: pose of a frame in the world",
     .details = "{\"position\": [..], \"quaternion\": [x, y, z, w]}, by name where --frame has several\n",
     .example = "dynamicsctl fk ur5 --frame tool0\n  dynamicsctl fk ur5 --frame forearm_link,tool0 --csv",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_FRAME) | WITH(OPTION_PRECISION) | WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB),
     .run = run_forward_kinematics},
    {.name = "jacobian",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "Jacobian of a frame",
     .details = "{\"linear\": [[..] x 3], \"angular\": [[..] x 3]}, by name where --frame has several\n"
                "--reference-frame is the frame of both blocks: local (axes and origin of the frame), world, or\n"
                "local_world_aligned (axes of the world, origin of the frame; default).\n",
     .example = "dynamicsctl jacobian ur5 --frame tool0 --reference-frame local",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_FRAME) | WITH(OPTION_REFERENCE_FRAME) | WITH(OPTION_PRECISION) |
                WITH(OPTION_ON_ERROR) | WITH(OPTION_JOB),
     .run = run_jacobian},
    {.name = "evaluate",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "any set of quantities for the same states",
     .details = "{NAME: value, ..}, blocks by name where a quantity has several, frame quantities by frame.\n"
                "Quantities of operational space belong to the task that all frames and --task-axes form.\n"
                "Quantities that end in _along are changes along the direction --dq, --dv, and --da or --dtau.\n"
                "Tables state frames and units.\n",
     .example =
         "dynamicsctl evaluate ur5 --quantity mass_matrix,coriolis_matrix --v 1,0,0,0,0,0\n"
         "  dynamicsctl evaluate ur5 --quantity frame_twist,frame_jacobian_rate --frame tool0 --states motion.jsonl "
         "--json",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_TAU) | WITH(OPTION_DQ) | WITH(OPTION_DV) |
                WITH(OPTION_DA) | WITH(OPTION_DTAU) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | WITH(OPTION_QUANTITY) | WITH(OPTION_FRAME) |
                WITH(OPTION_REFERENCE_FRAME) | WITH(OPTION_SUBTREE) | WITH(OPTION_TASK_AXES) | INERTIA_OPTIONS |
                WITH(OPTION_PASSIVE) | WITH(OPTION_PRECISION) | WITH(OPTION_FORMULATION) | WITH(OPTION_ON_ERROR) |
                WITH(OPTION_JOB) | WITH(OPTION_CONSTRAINTS) | WITH(OPTION_ROW) | WITH(OPTION_TIME) |
                WITH(OPTION_RESTITUTION) | WITH(OPTION_CONTACT_STEP) | MOTION_OPTIONS | BASE_MOTION_OPTIONS,
     .run = run_evaluate},
    {.name = "assemble",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "configurations near given ones that close the loops",
     .details = "{\"q\": [..]}, which --states reads. Where a loop does not close, the exit code is 1, and the\n"
                "message names the constraint and its error.\n",
     .example = "dynamicsctl assemble four_bar --q motor=1 --hold motor",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_HOLD) | WITH(OPTION_JOB) | WITH(OPTION_CONSTRAINTS) | WITH(OPTION_TIME),
     .run = run_assemble},
    {.name = "explain",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "contributions to each torque: tau by term and by link",
     .details = "{\"joints\": [..], \"units\": [..], \"tau\": [..], \"terms\": {\"inertial\": [..], ..}, "
                "\"links\": [{\"link\": NAME, \"inertial\": [..], ..}, ..], \"residual\": ..}\n"
                "The terms are those of tau = M a + C v + g - sum J' f_ext: inertial, coriolis (with the centrifugal "
                "forces),\n"
                "gravity, external; and those of payloads, rotors and the passive forces of --passive. Tables show the "
                "links that contribute most to each joint's tau, JSON all links, and CSV\n"
                "the terms.\n",
     .example = "dynamicsctl explain ur5 --q 0,-1.57,1.57,0,0,0 --v 1,1,0,0,0,0 --a 0,5,0,0,0,0",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PASSIVE) | WITH(OPTION_JOB) |
                MOTION_OPTIONS,
     .run = run_explain},
    {.name = "compare",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "one state by every formulation of the literature",
     .details =
         "{\"formulations\": [{\"name\": NAME, \"tau\": [..], \"a\": [..], \"M\": [[..], ..], \"inverse_dynamics\":\n"
         "{\"difference\": .., \"time\": .., \"multiplications\": .., ..}, ..}, ..]}\n"
         "Differences are those from the daemon's own algorithms (kernels), times those of this run. Formulations\n"
         "that do not apply to the robot say why, and so do results that cannot be computed, such as forward\n"
         "dynamics where M is singular. For a model with constraints the accelerations are those with them, and\n"
         "inverse dynamics and the mass matrix those of the tree.\n",
     .example = "dynamicsctl compare ur5 --q 0,-1.57,1.57,0,0,0 --v 1,1,0,0,0,0",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PASSIVE) | BASE_MOTION_OPTIONS,
     .run = run_compare},
    {.name = "motor",
     .group = GROUP_MOTIONS,
     .operands = "NAME FILE",
     .summary = "current, voltage, heat and limits of the motors in a motion",
     .details =
         "FILE is CSV with the columns time and q.JOINT for each joint. Rates are those of the columns v.JOINT and\n"
         "a.JOINT, or else derived from q; forces are those of the columns tau.JOINT, or else inverse dynamics.\n"
         "The tables show what the motion takes from each motor of the model, and the lines below them the limits\n"
         "that it exceeds. The matched ratio has the greatest acceleration for a given torque. A dash stands for a\n"
         "number that the model does not determine. --csv and --json have all samples.\n"
         "With --choose the motors and gears of a table take their place, and the tables show those that can do the\n"
         "motion, with the least losses first, and then those that cannot. TABLE is CSV, or a JSON array of objects,\n"
         "with a name, perhaps a joint, and numbers of motor.proto and actuation.proto: resistance, torque_constant,\n"
         "maximum_voltage, .., ratio, efficiency, gear_torque, .., rotor_inertia. Margins are parts of the limits\n"
         "that the motion leaves: of peak torque, of speed, of voltage, and of heat. Rotor / load compares inertias,\n"
         "which are equal at the matched ratio.\n",
     .example = "dynamicsctl motor geared_arm motion.csv --passive damping,friction --ratios 30,50,100",
     .min_operands = 2,
     .max_operands = 2,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_JOINTS) | WITH(OPTION_GRAVITY) | INERTIA_OPTIONS |
                WITH(OPTION_PASSIVE) | WITH(OPTION_AMBIENT) | WITH(OPTION_RATIOS) | WITH(OPTION_BRAKES) |
                WITH(OPTION_CHOOSE),
     .run = run_motor},
    {.name = "formulate",
     .group = GROUP_DYNAMICS,
     .operands = "NAME",
     .summary = "inner quantities of a formulation for one state",
     .details = "{\"formulation\": NAME, \"source\": .., \"tau\": [..],\n"
                "\"blocks\": [{\"name\": .., \"meaning\": .., \"extents\": [..], \"values\": [..]}, ..]}\n"
                "Blocks have the names of the literature, such as the h_ikm of lagrange_euler. compare lists the\n"
                "formulations. Tables show blocks of at most 12 columns and 100 rows, CSV and JSON all. With links\n"
                "that bend and --tau or --mode-tau, the block a has the accelerations that these forces cause.\n",
     .example = "dynamicsctl formulate ur5 --formulation lagrange_euler --q 0,-1,1,0,0,0\n"
                "  dynamicsctl formulate two_link --formulation book_flexible --flexible "
                "link1:0,0,0,1,0,0,1,0,0,1,50,2\n"
                "  dynamicsctl formulate two_link --formulation book_flexible --flexible "
                "link1:0,0,0,1,0,0,1,0,0,1,50,2 --tau 30,10",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_FORMULATION) | WITH(OPTION_TIP) |
                WITH(OPTION_TIP_REFERENCE_FRAME) | WITH(OPTION_FLEXIBLE) | WITH(OPTION_MODE_Q) | WITH(OPTION_MODE_V) |
                WITH(OPTION_MODE_A) | WITH(OPTION_MODE_TAU) | WITH(OPTION_TAU) | BASE_MOTION_OPTIONS |
                WITH(OPTION_PASSIVE),
     .run = run_formulate},
    {.name = "rollout",
     .group = GROUP_MOTIONS,
     .operands = "NAME",
     .summary = "integrate many states forward in time in one request",
     .details =
         "Starts at the states of --states (q, v, and a constant tau), or at --q and --v. Prints the end state and\n"
         "the outcome of each state. With --csv, --json or --plot writes every --stride'th step, one state after the\n"
         "other. A controller tracks the start, or --to. A terminal shows the progress of a long rollout. Ctrl-C,\n"
         "--timeout and the daemon's limit (see info) cancel it.\n",
     .example = "dynamicsctl rollout ur5 --state zero --duration 3 --integrator rk4 --ideal\n"
                "  dynamicsctl rollout ur5 --states starts.csv --duration 2 --stride 10 --csv > ends.csv\n"
                "  dynamicsctl rollout ur5 --control computed_torque --kp 100 --kd 20 --duration 2 --to 0,-1,1,0,0,0\n"
                "  dynamicsctl rollout ur5 --duration 1 --base-velocity 0,0,0,0,0,2",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_TAU) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_DURATION) |
                WITH(OPTION_STEP_LENGTH) | WITH(OPTION_SUBSTEPS) | WITH(OPTION_INTEGRATOR) |
                WITH(OPTION_STABILIZATION) | WITH(OPTION_NO_PROJECTION) | WITH(OPTION_IDEAL) | WITH(OPTION_ACCURATE) |
                WITH(OPTION_CONTROL) | WITH(OPTION_KP) | WITH(OPTION_KD) | WITH(OPTION_TO) | WITH(OPTION_COMPILED) |
                BASE_MOTION_OPTIONS | WITH(OPTION_STRIDE) | WITH(OPTION_CSV) | WITH(OPTION_PLOT) | WITH(OPTION_JOB) |
                WITH(OPTION_CONSTRAINTS) | WITH(OPTION_SOLVE_JOINTS) | WITH(OPTION_CONTACT_LAW) | WITH(OPTION_BRAKES),
     .words =
         (const option_words[]){
             {OPTION_TO, "reference of the controller (default: the start, also of joints without a name)"},
             {OPTION_CONTROL, "controller that tracks the start, or --to (default none)"},
             {0}},
     .run = run_rollout},
    {.name = "trajectory",
     .group = GROUP_MOTIONS,
     .operands = "NAME inverse|forward",
     .summary = "forces of a motion, or motion from forces; reports exceeded limits",
     .details =
         "The rows of --states are --step-length apart. inverse reads q and determines v and a by --rates. forward\n"
         "reads q and v of the first row and tau of all rows, and moves ideal rigid bodies as Modern Robotics does\n"
         "(explicit Euler; --substeps is its intRes). Both report by how much limits are exceeded, and when.\n",
     .example = "dynamicsctl trajectory ur5 inverse --states motion.csv --step-length 0.01 --csv > torques.csv\n"
                "  dynamicsctl trajectory ur5 forward --states torques.csv --step-length 0.01 --substeps 10 --csv",
     .min_operands = 2,
     .max_operands = 2,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_TAU) | WITH(OPTION_GRAVITY) |
                WITH(OPTION_FORCE) | WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) |
                WITH(OPTION_STEP_LENGTH) | WITH(OPTION_SUBSTEPS) | WITH(OPTION_INTEGRATOR) |
                WITH(OPTION_STABILIZATION) | WITH(OPTION_NO_PROJECTION) | WITH(OPTION_RATES) | WITH(OPTION_CSV) |
                WITH(OPTION_PLOT) | WITH(OPTION_JOB) | WITH(OPTION_CONSTRAINTS) | MOTION_OPTIONS | BASE_MOTION_OPTIONS,
     .words = (const option_words[]){{OPTION_INTEGRATOR, "integrator of forward (default explicit_euler)"},
                                     {OPTION_PRECISION, "precision of inverse (default double)"},
                                     {0}},
     .run = run_trajectory},
    {.name = "simulate",
     .group = GROUP_SIMULATIONS,
     .operands = "NAME",
     .summary = "run a simulation of a robot in the daemon",
     .details =
         "Starts at --q and --v, or in the home configuration at rest. With --rate the simulation follows the\n"
         "clock, and other clients may watch it; otherwise it runs as fast as it can. Prints the last state, or\n"
         "all states with --csv, --json (one object a line) or --plot, in the columns that --states reads. --force\n"
         "is applied to a link by the environment from the first step on.\n",
     .example =
         "dynamicsctl simulate ur5 --duration 3 --csv > fall.csv\n"
         "  dynamicsctl simulate ur5 --duration 3 --force tool0:0,0,-20 --force-reference-frame local_world_aligned\n"
         "  dynamicsctl simulate ur5 --rate 1 --duration 10 --control computed_torque --kp 100 --kd 20 --plot",
     .min_operands = 1,
     .max_operands = 1,
     .options = (STATE_OPTIONS & ~WITH(OPTION_STATES)) | WITH(OPTION_V) | WITH(OPTION_NAME) | WITH(OPTION_DURATION) |
                WITH(OPTION_STEP_LENGTH) | WITH(OPTION_RATE) | WITH(OPTION_INTEGRATOR) | WITH(OPTION_STABILIZATION) |
                WITH(OPTION_NO_PROJECTION) | WITH(OPTION_CONTROL) | WITH(OPTION_KP) | WITH(OPTION_KD) |
                WITH(OPTION_DISTURBANCE) | WITH(OPTION_SEED) | WITH(OPTION_FORCE) | WITH(OPTION_FORCE_REFERENCE_FRAME) |
                WITH(OPTION_GRAVITY) | WITH(OPTION_IDEAL) | INERTIA_OPTIONS | WITH(OPTION_FREQUENCY) |
                WITH(OPTION_RECORD) | WITH(OPTION_REPLACE) | WITH(OPTION_CSV) | WITH(OPTION_PLOT) |
                WITH(OPTION_COMPILED) | WITH(OPTION_CONSTRAINTS) | WITH(OPTION_SOLVE_JOINTS) |
                WITH(OPTION_CONTACT_LAW) | WITH(OPTION_BRAKES) | BASE_MOTION_OPTIONS,
     .words = (const option_words[]){{OPTION_NAME, "name of the simulation (default: one that the daemon chooses)"},
                                     {OPTION_REPLACE, "with --record: replace a recording of the same name"},
                                     {OPTION_SEED, "seed of the disturbance (default 0)"},
                                     {0}},
     .run = run_simulate},
    {.name = "simulations",
     .group = GROUP_SIMULATIONS,
     .operands = "",
     .summary = "list the simulations of the daemon",
     .details = "",
     .example = "dynamicsctl simulations",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_simulations},
    {.name = "watch",
     .group = GROUP_SIMULATIONS,
     .operands = "NAME",
     .summary = "watch a simulation or a stream: frequency, age and loss of messages",
     .details =
         "Writes a line each second to standard error, and events when they occur. With --csv or --json also writes\n"
         "the states or torques. --plot draws them instead of the line each second. A NAME that ends with a star\n"
         "stands for all simulations whose names begin so; their states come in one message a tick, and --json has\n"
         "the name of the simulation in each row.\n",
     .example = "dynamicsctl watch arm\n  dynamicsctl watch arm --csv > motion.csv\n  dynamicsctl watch arm --plot\n"
                "  dynamicsctl watch 'arm-*' --json",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_PLOT) | WITH(OPTION_COUNT) | WITH(OPTION_DURATION),
     .words = (const option_words[]){{OPTION_DURATION, "stop after so many seconds (default: at Ctrl-C)"},
                                     {OPTION_COUNT, "stop after so many rows (default: at Ctrl-C)"},
                                     {0}},
     .run = run_watch},
    {.name = "stream",
     .group = GROUP_SIMULATIONS,
     .operands = "NAME",
     .summary = "push a motion to the daemon and receive its torques",
     .details =
         "Pushes the points of --states, --frequency of them a second, without waiting for replies. Prints counts of\n"
         "accepted and lost points, or the torques with --csv, --json or --plot. With --record the daemon writes\n"
         "the points to a file. With --token NAME is a simulation, and the points become its input: tau, or the\n"
         "reference of its controller.\n",
     .example = "dynamicsctl stream ur5 --states motion.csv --frequency 1000 --csv > torques.csv\n"
                "  dynamicsctl stream ur5 --states motion.csv --record motion\n"
                "  dynamicsctl stream arm --token @arm.token --states motion.csv --frequency 1000",
     .min_operands = 1,
     .max_operands = 1,
     .options = STATE_OPTIONS | WITH(OPTION_V) | WITH(OPTION_A) | WITH(OPTION_TAU) | WITH(OPTION_NAME) |
                WITH(OPTION_FREQUENCY) | WITH(OPTION_RECORD) | WITH(OPTION_REPLACE) | WITH(OPTION_TOKEN) |
                WITH(OPTION_CSV) | WITH(OPTION_PLOT) | WITH(OPTION_GRAVITY) | WITH(OPTION_FORCE) |
                WITH(OPTION_FORCE_REFERENCE_FRAME) | INERTIA_OPTIONS | WITH(OPTION_PRECISION) |
                WITH(OPTION_CONSTRAINTS) | MOTION_OPTIONS,
     .words = (const option_words[]){{OPTION_NAME, "name of the stream (default: one that the daemon chooses)"},
                                     {OPTION_FREQUENCY, "points a second (default: without pause)"},
                                     {OPTION_RECORD, "record the points to a file in the daemon's state directory"},
                                     {OPTION_REPLACE, "with --record: replace a recording of the same name"},
                                     {0}},
     .run = run_stream},
    {.name = "streams",
     .group = GROUP_SIMULATIONS,
     .operands = "",
     .summary = "list the streams: accepted, lost, late and refused points",
     .details = "",
     .example = "dynamicsctl streams",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV),
     .run = run_streams},
    {.name = "record",
     .group = GROUP_SIMULATIONS,
     .operands = "SIMULATION RECORDING",
     .summary = "record a simulation to a file of the daemon",
     .details = "Records for --duration, or until Ctrl-C. simulate --rate prints the token of its simulation.\n",
     .example = "dynamicsctl record arm run1 --token @arm.token --duration 10",
     .min_operands = 2,
     .max_operands = 2,
     .options = WITH(OPTION_TOKEN) | WITH(OPTION_DURATION) | WITH(OPTION_REPLACE),
     .words = (const option_words[]){{OPTION_DURATION, "stop after so many seconds (default: at Ctrl-C)"},
                                     {OPTION_REPLACE, "replace a recording of the same name"},
                                     {0}},
     .run = run_record},
    {.name = "recordings",
     .group = GROUP_SIMULATIONS,
     .operands = "",
     .summary = "list the recordings of the daemon; describe, fetch, export or delete one",
     .details = "The daemon limits the disk space of all recordings (limits.recordings_bytes, see info). At the limit\n"
                "recording stops until recordings are deleted. A file is a sequence of messages, each preceded by its\n"
                "length (dynamics/v1/recording.proto).\n",
     .example = "dynamicsctl recordings\n  dynamicsctl recordings --describe run1\n"
                "  dynamicsctl recordings --fetch run1 --csv > run1.csv\n"
                "  dynamicsctl recordings --fetch run1 > run1.recording\n"
                "  dynamicsctl recordings --delete run1",
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_DELETE) | WITH(OPTION_DESCRIBE) | WITH(OPTION_FETCH),
     .run = run_recordings},
    {.name = "replay",
     .group = GROUP_SIMULATIONS,
     .operands = "RECORDING",
     .summary = "compute a recorded run again and compare it bit by bit",
     .details =
         "With --csv, --json or --plot writes every --stride'th state. This needs the model loaded, which has the\n"
         "names of the columns. A comparison needs only the recording, which contains its model.\n",
     .example = "dynamicsctl replay run1\n  dynamicsctl replay run1 --stride 10 --csv > run1.csv",
     .min_operands = 1,
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_PLOT) | WITH(OPTION_STRIDE) | WITH(OPTION_JOB),
     .run = run_replay},
    {.name = "jobs",
     .group = GROUP_DAEMON,
     .operands = "[list|show NAME|cancel NAME|result NAME]",
     .summary = "list jobs, show or cancel one, or write its result as JSON",
     .details =
         "A job computes a request for longer than the daemon's limit for requests, without a waiting client.\n"
         "Commands with --job start one, wait for it, and remove it. call start_job '{\"rollout\": {..}}' starts\n"
         "one that stays: it returns the name of the job and the token that cancel and result need for jobs\n"
         "of other users. A command that is killed leaves its job, until it is cancelled or done. The daemon\n"
         "removes a finished job after a time (limits.job_result_time, see info).\n",
     .example = "dynamicsctl jobs\n  dynamicsctl jobs cancel job-7",
     .max_operands = 2,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_TOKEN),
     .words =
         (const option_words[]){
             {OPTION_TOKEN, "token of the job, which start_job returned (not needed for your own jobs over ipc)"}, {0}},
     .run = run_jobs},
    {.name = "latency",
     .group = GROUP_DAEMON,
     .operands = "[NAME]",
     .summary = "percentiles of the round trip of id on a model's zero state, or of ping",
     .details =
         "With --json and --csv: min, p50, p90, p99, p99.9 and max in seconds. With --fast the calls of a model use a\n"
         "fast channel, as a controller on the daemon's machine would.\n",
     .example = "dynamicsctl latency ur5 --count 10000\n  dynamicsctl latency ur5 --fast",
     .max_operands = 1,
     .options = WITH(OPTION_JSON) | WITH(OPTION_CSV) | WITH(OPTION_COUNT) | WITH(OPTION_FAST),
     .words = (const option_words[]){{OPTION_COUNT, "round trips (default 1000, at most 1000000)"}, {0}},
     .run = run_latency},
    {.name = "help",
     .group = GROUP_DAEMON,
     .operands = "[COMMAND]",
     .summary = "print this text, or the options and an example of a command",
     .details = "",
     .example = "dynamicsctl help rollout",
     .max_operands = 1},
    {.name = "call",
     .group = GROUP_DAEMON,
     .operands = "METHOD [JSON|-]",
     .summary = "call any method of the protocol dynamics.v1, with JSON",
     .details =
         "METHOD is InverseDynamics or inverse_dynamics; the members of JSON are the fields of the method's request\n"
         "in the .proto files, enums by name. - stands for standard input.\n",
     .example = "dynamicsctl call Gravity '{\"query\": {\"model\": \"ur5\"}, \"q\": [0, 0, 0, 0, 0, 0]}'",
     .min_operands = 1,
     .max_operands = 2,
     .options = WITH(OPTION_JSON),
     .run = run_call},
};

enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static const command *find(const char *name, suggestion *meant) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i].name, name) == 0) {
            return &COMMANDS[i];
        }
        suggestion_consider(meant, COMMANDS[i].name);
    }
    return NULL;
}

/* Connects to the daemon and runs the command. */
static exit_code run(const command *known, const arguments *args) {
    char endpoint[ENDPOINT_SIZE], token[TOKEN_SIZE];
    dyn_client_options options = DYN_CLIENT_OPTIONS_INIT(.token = token);
    exit_code code = find_endpoint(args, endpoint);
    if (code == EXIT_OK) {
        code = find_token(args, token);
    }
    if (code == EXIT_OK) {
        code = arguments_timeout(args, &options.timeout);
    }
    if (code != EXIT_OK) {
        return code;
    }
    options.use_jobs = args->value[OPTION_JOB] != NULL;
    if (options.use_jobs && options.timeout == 0) {
        options.timeout = JOB_TIMEOUT;
    }
    /* The daemon limits the length of replies. */
    options.max_reply_bytes = (size_t)1 << 31;
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(endpoint, &options, &client, &error) != DYN_CLIENT_OK) {
        return error.status == DYN_CLIENT_INVALID_ARGUMENT ? complain(EXIT_USAGE, "%s", error.message)
                                                           : complain_call(&error, NULL);
    }
    code = known->run(known, args, client);
    dyn_client_close(client);
    return code;
}

/* Prints the help of the named command, or of the program if `name` is NULL. */
static exit_code help(const char *name) {
    if (!name) {
        print_program_help(COMMAND_COUNT, COMMANDS);
        return EXIT_OK;
    }
    suggestion meant = {.wanted = name, .length = strlen(name)};
    const command *known = find(name, &meant);
    if (!known) {
        return complain(EXIT_USAGE, "unknown command \"%s\"%s%s%s (see dynamicsctl help)", name,
                        meant.closest ? ": did you mean " : "", meant.closest ? meant.closest : "",
                        meant.closest ? "?" : "");
    }
    print_command_help(known);
    return EXIT_OK;
}

int main(int argc, char **argv) {
    /* Shells call this command, which the help does not list. */
    if (argc > 1 && strcmp(argv[1], "complete") == 0) {
        return (int)complete_line((size_t)argc - 2, argv + 2, COMMAND_COUNT, COMMANDS);
    }
    terminal_open();
    arguments args;
    exit_code code = arguments_parse(argc, argv, find, &args);
    if (args.value[OPTION_WIDE]) {
        page_set_wide();
    }
    const command *known = args.command ? find(args.command, &(suggestion){0}) : NULL;
    if (code == EXIT_OK && args.value[OPTION_VERSION]) {
        printf("dynamicsctl %s\n", dyn_client_version());
    } else if (code == EXIT_OK && args.value[OPTION_HELP]) {
        code = help(args.command);
    } else if (code == EXIT_OK && !known) {
        code = complain(EXIT_USAGE, "name a command (see dynamicsctl --help)");
    } else if (code == EXIT_OK && !known->run) {
        code = help(args.positional_count > 0 ? args.positional[0] : NULL);
    } else if (code == EXIT_OK) {
        code = run(known, &args);
    }
    arguments_free(&args);
    return (int)(code == EXIT_OK ? check_output() : code);
}
