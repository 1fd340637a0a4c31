/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table of all options, their help, and readers of the values of some.
 */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "numbers.h"
#include "page.h"

/* Column at which the help texts of options begin. */
enum { HELP_COLUMN = 28 };

const option_text OPTION_TEXTS[OPTIONS] = {
    [OPTION_ENDPOINT] = {"endpoint", "URL",
                         "address: ipc:///PATH, tcp://HOST:PORT, nats://HOST:PORT, or a list with commas"},
    [OPTION_CONFIG] = {"config", "FILE", "configuration file of the daemon, for its address"},
    [OPTION_TOKEN_FILE] = {"token-file", "FILE",
                           "file with the caller's secret token in its first line (default $DYNAMICSD_TOKEN_FILE)"},
    [OPTION_TIMEOUT] = {"timeout", "S",
                        "longest wait for each reply, seconds (default 10, or the daemon's limit for a "
                        "request that may be long); connecting waits at most 2"},
    [OPTION_HELP] = {"help", NULL, "print this text"},
    [OPTION_VERSION] = {"version", NULL, "print the version of dynamicsctl"},
    [OPTION_WIDE] = {"wide", NULL, "do not fit tables to the terminal (or to COLUMNS columns, if that is set)"},
    [OPTION_JSON] = {"json", NULL, "write JSON, numbers with 17 significant digits"},
    [OPTION_NAME] = {"name", "NAME", "name of the new object (default: the daemon chooses one)"},
    [OPTION_BASE] = {"base", "fixed|floating", "base of the root link (default: as in the description)"},
    [OPTION_MIMIC] = {"mimic", "coupled|independent", "treatment of mimic joints (default: as in the description)"},
    [OPTION_STRICT] = {"strict", NULL, "refuse a model whose load report has a warning"},
    [OPTION_REPLACE] = {"replace", NULL, "replace a model of the same name"},
    [OPTION_EXPECTED_DIGEST] = {"expected-digest", "DIGEST", "with --replace: replace only a model with this digest"},
    [OPTION_KEEP] = {"keep", NULL, "load the model again when the daemon restarts, until it is unloaded"},
    [OPTION_STATES] = {"states", "FILE", "states to compute, - for standard input: JSON lines, or CSV with a header"},
    [OPTION_STATE] = {"state", "zero|home", "configuration if q is absent (default home)"},
    [OPTION_Q] = {"q", "X,X,..|JOINT=X,..", "joint positions, rad and m; by name: the others as --state says"},
    [OPTION_V] = {"v", "X,X,..|JOINT=X,..", "joint velocities (default 0)"},
    [OPTION_A] = {"a", "X,X,..|JOINT=X,..", "joint accelerations (default 0)"},
    [OPTION_TAU] = {"tau", "X,X,..|JOINT=X,..", "joint forces, N m and N (default 0)"},
    [OPTION_DQ] = {"dq", "X,X,..", "direction: increments of q along v's coordinates (default 0)"},
    [OPTION_DV] = {"dv", "X,X,..", "direction: increments of v (default 0)"},
    [OPTION_DA] = {"da", "X,X,..", "direction: increments of a (default 0)"},
    [OPTION_DTAU] = {"dtau", "X,X,..", "direction: increments of tau (default 0)"},
    [OPTION_HOLD] = {"hold", "JOINT,JOINT,..", "joints that stay where they are (default: none)"},
    [OPTION_JOINTS] = {"joints", "NAME,NAME,..", "order of all values: every moving joint once"},
    [OPTION_GRAVITY] = {"gravity", "X,Y,Z", "acceleration of gravity in the world, m/s^2 (default the model's)"},
    [OPTION_FORCE] = {"force", "LINK:FX,FY,FZ[,NX,NY,NZ]", "force (N) and torque (N m) applied to a link; repeatable"},
    [OPTION_FORCE_REFERENCE_FRAME] = {"force-reference-frame", "local|world|local_world_aligned",
                                      "frame of --force (default local)"},
    [OPTION_FRAME] = {"frame", "NAME,NAME,..",
                      "links, joints or \"world\", separated by commas (default: the last link)"},
    [OPTION_REFERENCE_FRAME] = {"reference-frame", "local|world|local_world_aligned",
                                "frame of Jacobians, twists and accelerations (default local_world_aligned)"},
    [OPTION_QUANTITY] = {"quantity", "NAME,NAME,..", "quantities to compute (required; --help lists them)"},
    [OPTION_SUBTREE] = {"subtree", "JOINT", "centre of mass beyond this joint only (default the whole robot)"},
    [OPTION_TASK_AXES] = {"task-axes", "AXIS,AXIS,..",
                          "axes of each frame that a task controls: linear, angular, linear_x, .. angular_z "
                          "(default all six)"},
    [OPTION_PAYLOAD] = {"payload", "LINK:MASS[,X,Y,Z[,XX,XY,XZ,YY,YZ,ZZ]]",
                        "body mounted on a link: kg, m in the link's frame, kg m^2 about its centre; repeatable"},
    [OPTION_WITHOUT_ROTORS] = {"without-rotors", NULL, "leave out the mass and the inertia of the model's rotors"},
    [OPTION_PRECISION] = {"precision", "double|single",
                          "precision of the computation: single is faster and has about seven digits (default "
                          "double)"},
    [OPTION_FORMULATION] = {"formulation", "NAME",
                            "compute by a formulation of the literature, as compare lists them (default the daemon's "
                            "own algorithm)"},
    [OPTION_CONSTRAINTS] = {"constraints", "FILE",
                            "constraints that hold during this request beside those of the model, as JSON: "
                            "{\"constraints\": [..]}, as in a description that export writes"},
    [OPTION_ROW] = {"row", "X,X,..[=C]",
                    "row of A in A a = C that holds at the states beside the constraints: a number for each joint, and "
                    "C (default 0); repeatable"},
    [OPTION_NEAREST] = {"nearest", NULL,
                        "with constraints: forces of the nearest motion that they allow, where they forbid that which "
                        "is stated"},
    [OPTION_FORCE_WEIGHTS] = {"force-weights", "X|X,X,..",
                              "with constraints that leave forces free: weight of the square of each joint's force "
                              "(default 1)"},
    [OPTION_MULTIPLIER_WEIGHTS] = {"multiplier-weights", "X|X,X,..",
                                   "likewise of each multiplier of the constraints (default 0)"},
    [OPTION_RESTITUTION] = {"restitution", "E", "of impacts: 0 closes the constraints (default), 1 keeps the energy"},
    [OPTION_CONTACT_LAW] = {"contact-law", "of_surfaces|rigid|soft",
                            "law of all contacts (default that which the surfaces state)"},
    [OPTION_CONTACT_STEP] = {"contact-step", "S", "of contacts: length of the step in which they act (default 0.001)"},
    [OPTION_TIME] = {"time", "S", "instant of prescribed motions in constraints (default 0)"},
    [OPTION_TIP] = {"tip", "FRAME:LX,LY,LZ[,AX,AY,AZ]=X",
                    "constraint of the last link, with --formulation vereshchagin: the acceleration of the frame along "
                    "L, and about A, is X, m/s^2 and rad/s^2; repeatable"},
    [OPTION_FLEXIBLE] =
        {"flexible", "LINK:X,Y,Z,X,Y,Z,M,DX,DY,DZ,EI[,EI2],N",
         "link that bends, with --formulation book_flexible: a beam from one point to another (m) with "
         "mass M (kg), rigidity EI (N m^2) in the direction D and EI2 normal to it, and N modes in each "
         "plane; repeatable"},
    [OPTION_MODE_Q] = {"mode-q", "X,X,..", "coordinates of the modes of all flexible links (default 0)"},
    [OPTION_MODE_V] = {"mode-v", "X,X,..", "their rates, 1/s (default 0)"},
    [OPTION_MODE_A] = {"mode-a", "X,X,..", "their accelerations, 1/s^2 (default 0)"},
    [OPTION_MODE_TAU] = {"mode-tau", "X,X,..",
                         "their forces, J, for the accelerations that these and --tau cause (default 0)"},
    [OPTION_TIP_REFERENCE_FRAME] = {"tip-reference-frame", "local|world|local_world_aligned",
                                    "frame of --tip (default local_world_aligned)"},
    [OPTION_PASSIVE] = {"passive", "PART,PART,..",
                        "forces that count beside tau: damping, friction, springs, gears (default none)"},
    [OPTION_BASE_VELOCITY] = {"base-velocity", "X,Y,Z[,AX,AY,AZ]",
                              "velocity of the robot's base in m/s, and angular velocity in rad/s, along its own axes "
                              "(default 0)"},
    [OPTION_BASE_ACCELERATION] = {"base-acceleration", "X,Y,Z[,AX,AY,AZ]",
                                  "acceleration of the base in m/s^2, and angular one in rad/s^2, likewise (default "
                                  "0)"},
    [OPTION_ON_ERROR] = {"on-error", "fail|mark",
                         "states that fail: fail refuses the first one, mark computes the others and writes nan or "
                         "null for it (default fail)"},
    [OPTION_DESCRIPTION] = {"description", "FILE", "the robot as JSON: a ModelDescription, as export writes it"},
    [OPTION_DH] = {"dh", "FILE", "the robot as JSON: Denavit-Hartenberg parameters, a DenavitHartenbergTable"},
    [OPTION_SCREWS] = {"screws", "FILE", "the robot as JSON: mlist, glist and slist of a ScrewChain"},
    [OPTION_LOOPS] = {"loops", "FILE", "closed loops of the robot: YAML with pairs of links, closed_loop and type"},
    [OPTION_CUT_LOOPS] = {"cut-loops", NULL, "close the loops of links with several parents by loop joints"},
    [OPTION_TRANSMISSIONS] = {"transmissions", NULL, "read transmissions of a URDF file: gears, rotors, shafts"},
    [OPTION_OPERATIONS] = {"operations", "FILE",
                           "operations as JSON, a list of ModelOperation; applied before the others"},
    [OPTION_FORMAT] = {"format", "description|urdf|screws|c|formulas|latex",
                       "output format (default description, which is JSON)"},
    [OPTION_MASS] = {"mass", "KG", "mass of the body"},
    [OPTION_DENSITY] = {"density", "KG/M^3", "density of the body, instead of its mass"},
    [OPTION_SCALE] = {"scale", "FACTOR", "metres per unit of the mesh: 0.001 for millimetres (default 1)"},
    [OPTION_ABOUT] = {"about", "X,Y,Z", "further point for the rotational inertia (default the origin)"},
    [OPTION_TO] = {"to", "X,X,..|JOINT=X,..", "the other configuration; by name: the others as at home"},
    [OPTION_S] = {"s", "FRACTION", "fraction of the way from q to the other configuration (default 0.5)"},
    [OPTION_SEED] = {"seed", "N", "seed of random numbers (default 0)"},
    [OPTION_DURATION] = {"duration", "S", "simulated seconds (default 1)"},
    [OPTION_STEP_LENGTH] = {"step-length", "S", "length of one step, seconds (default 0.001)"},
    [OPTION_RATE] = {"rate", "R", "follow the clock, R simulated seconds a second (default: unlimited)"},
    [OPTION_INTEGRATOR] = {"integrator", "semi_implicit_euler|explicit_euler|rk4",
                           "integrator of a step (default semi_implicit_euler)"},
    [OPTION_CONTROL] = {"control", "none|pd|pd_gravity|computed_torque",
                        "controller of the initial configuration (default none)"},
    [OPTION_KP] = {"kp", "X|X,X,..|JOINT=X,..",
                   "gain on positions: one for all joints, one for each, by name, or mixed: "
                   "100,elbow_joint=50 (default 0)"},
    [OPTION_KD] = {"kd", "X|X,X,..|JOINT=X,..", "gain on velocities, in the same form (default 0)"},
    [OPTION_DISTURBANCE] = {"disturbance", "X",
                            "standard deviation of a random force on every joint, N m or N (default 0)"},
    [OPTION_FREQUENCY] = {"frequency", "HZ", "rows a simulated second (default 100)"},
    [OPTION_RECORD] = {"record", "NAME", "record the run to a file in the daemon's state directory"},
    [OPTION_TOKEN] = {"token", "N|@FILE",
                      "token of a simulation, which CreateSimulation returns and simulate --rate prints; "
                      "other users can see N in the list of processes, but not in a file"},
    [OPTION_STRIDE] = {"stride", "N", "every N'th state only (default 1)"},
    [OPTION_CSV] = {"csv", NULL, "write CSV, numbers with 17 significant digits"},
    [OPTION_PLOT] = {"plot", "[q|v|tau|a]", "draw in the terminal: q, or tau where torques are computed"},
    [OPTION_SUBSTEPS] = {"substeps", "N", "integration steps in each step (default 1)"},
    [OPTION_SOLVE_JOINTS] = {"solve-joints", NULL,
                             "stops and dry friction of joints act in the solver of the contacts: joints stick"},
    [OPTION_IDEAL] = {"ideal", NULL, "ideal rigid bodies: no damping, friction, stops and effort limits"},
    [OPTION_ACCURATE] = {"accurate", NULL, "order 8 with error control instead of constant steps"},
    [OPTION_RATES] = {"rates", "given|spline|spline_at_rest|central|five_point|quintic|quintic_at_rest",
                      "source of v and a (default a cubic spline through q)"},
    [OPTION_COMPILED] = {"compiled", "where_ready|never|always",
                         "use of the code that the daemon compiled for the model (default where_ready)"},
    [OPTION_DELETE] = {"delete", "NAME", "delete this recording"},
    [OPTION_DESCRIBE] = {"describe", "NAME", "describe this recording: what it holds, and whether it is complete"},
    [OPTION_CUTOFF] = {"cutoff", "HZ", "cut-off frequency of the filter of q (default 0: not filtered)"},
    [OPTION_TORQUE_CUTOFF] = {"torque-cutoff", "HZ",
                              "cut-off frequency of the filter of tau (default 0: not filtered)"},
    [OPTION_ESTIMATOR] = {"estimator", "ordinary|weighted|huber|total",
                          "least squares: ordinary, weighted by joint, with less weight of outliers, or total (default "
                          "ordinary)"},
    [OPTION_DRIVES] =
        {"drives", "TERM,TERM,..|none",
         "terms of drives to estimate: viscous, coulomb, offset, inertia, stribeck, load (default the first "
         "three)"},
    [OPTION_DRIVES_ONLY] = {"drives-only", NULL,
                            "estimate terms of drives alone, such as friction; inertias are the model's own"},
    [OPTION_STRIBECK_VELOCITY] = {"stribeck-velocity", "V", "velocity of Stribeck friction (default 0.1)"},
    [OPTION_ESTIMATE_GAINS] = {"estimate-gains", NULL, "estimate the gains that are 0, or all without --gains"},
    [OPTION_GAINS] = {"gains", "X,X,..", "torque for each unit of tau, such as N m/A for motor currents (default 1)"},
    [OPTION_PRIOR] = {"prior", "WEIGHT", "weight of the model's own inertias (default 1)"},
    [OPTION_FOLDS] = {"folds", "COUNT", "parts of the record that are predicted from the others (default 5; 0: none)"},
    [OPTION_CRITERION] = {"criterion", "condition|determinant",
                          "least condition number, or greatest determinant of the normal equations (default "
                          "condition)"},
    [OPTION_HARMONICS] = {"harmonics", "COUNT", "harmonics of each joint's Fourier series (default 5)"},
    [OPTION_PERIOD] = {"period", "S", "period of the motion, seconds (default 10)"},
    [OPTION_MARGIN] = {"margin", "SHARE", "share of each limit that is left (default 0.1)"},
    [OPTION_TRIALS] = {"trials", "COUNT", "motions to try (default 1500)"},
    [OPTION_LINKS] = {"links", "LINK,LINK,..",
                      "estimate the inertias of these links alone; others are the model's own"},
    [OPTION_PAYLOAD_LINK] = {"payload-link", "LINK", "estimate the inertia of a payload on this link, and no other"},
    [OPTION_RATIOS] = {"ratios", "X,X,..", "other ratios of the gears to compare (default none)"},
    [OPTION_CHOOSE] = {"choose", "TABLE", "compare the motors and gears of this file, the best first"},
    [OPTION_BRAKES] = {"brakes", "NAME,NAME,..", "brakes that are engaged (default none)"},
    [OPTION_AMBIENT] = {"ambient", "CELSIUS", "temperature of the air and of the motors at the start (default 25)"},
    [OPTION_JOB] = {"job", NULL, "compute as a job, which may take longer than a request (limits.job_time of info)"},
    [OPTION_FETCH] = {"fetch", "NAME", "write the file of this recording, or its rows with --csv"},
    [OPTION_STABILIZATION] = {"stabilization", "K",
                              "gain at which closed loops of the model close, 1/s; 0 for none (default 20)"},
    [OPTION_NO_PROJECTION] = {"no-projection", NULL, "do not move closed loops onto closed positions after each step"},
    [OPTION_FAST] = {"fast", NULL, "call by memory that is shared with the daemon (needs ipc)"},
    [OPTION_COUNT] = {"count", "N", "number (default 1)"},
};

const option_set COMMON_OPTIONS = WITH(OPTION_ENDPOINT) | WITH(OPTION_CONFIG) | WITH(OPTION_TIMEOUT) |
                                  WITH(OPTION_TOKEN_FILE) | WITH(OPTION_HELP) | WITH(OPTION_VERSION) |
                                  WITH(OPTION_WIDE);

/* Returns the help text of an option: the command's own, or the general one. */
static const char *help_of(option i, const option_words *words) {
    for (; words && words->help; words++) {
        if (words->of == i) {
            return words->help;
        }
    }
    return OPTION_TEXTS[i].help;
}

void print_options(option_set options, const option_words *words) {
    for (int i = 0; i < OPTIONS; i++) {
        if ((options & WITH(i)) == 0) {
            continue;
        }
        const option_text *text = &OPTION_TEXTS[i];
        const char *help = help_of((option)i, words);
        int used = printf("  --%s%s%s", text->name, text->value ? " " : "", text->value ? text->value : "");
        if (used > HELP_COLUMN - 2) {
            used = printf("\n") - 1;
        }
        printf("%*s", HELP_COLUMN - used, "");
        page_print(help, HELP_COLUMN, HELP_COLUMN, HELP_COLUMNS);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

exit_code arguments_timeout(const arguments *parsed, double *timeout) {
    *timeout = 0;
    const char *text = parsed->value[OPTION_TIMEOUT];
    if (!text) {
        return EXIT_OK;
    }
    if (!parse_number(text, timeout) || *timeout <= 0 || *timeout > 1e6) {
        return complain(EXIT_USAGE, "--timeout %s: pass seconds, more than 0 and at most 1e6", text);
    }
    return EXIT_OK;
}

exit_code arguments_choice(const arguments *parsed, option wanted, size_t count, const char *const *names,
                           size_t standard, size_t *index) {
    *index = standard;
    const char *text = parsed->value[wanted];
    if (!text) {
        return EXIT_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE, "--%s %s: pass %s", OPTION_TEXTS[wanted].name, text, OPTION_TEXTS[wanted].value);
}
