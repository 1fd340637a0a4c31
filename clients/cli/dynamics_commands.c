/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands id, fd, gravity, bias and mass, which compute the terms of the equation of motion.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json_writer.h"
#include "page.h"
#include "result_tables.h"

/* Writes {"key": [..]} on one line. */
static void write_vector(const char *key, size_t count, const double *values) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, key);
    emit_doubles(&writer, count, values);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static void write_vector_headings(const char *key, const evaluation_context *context, csv_writer *to) {
    for (size_t i = 0; i < context->robot->nv; i++) {
        csv_text(to, "%s.%s", key, context->robot->v[i].name);
    }
}

static void vector_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = context->robot->nv;
    widths[1] = 0;
}

/* ---- inverse dynamics -------------------------------------------------------------------------------------------- */

static dyn_client_status compute_tau(const evaluation_context *context, const state_batch *batch,
                                     dyn_client_error *error, double *tau, double *residuals) {
    dyn_client_query query = context->query;
    dyn_client_motion_options motion;
    if (query.motion_options && query.motion_options->nearest) {
        motion = *query.motion_options;
        motion.residuals = residuals;
        query.motion_options = &motion;
    }
    return dyn_client_inverse_dynamics(context->client, &query, batch->values[STATE_Q], batch->values[STATE_V],
                                       batch->values[STATE_A], tau, error);
}

/* The residual of a motion is one of the results where the nearest motion is asked for. */
static void tau_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = context->robot->nv;
    widths[1] = context->query.motion_options && context->query.motion_options->nearest ? 1 : 0;
}

static size_t residual_count(const evaluation_context *context) {
    size_t widths[2];
    tau_widths(context, widths);
    return widths[1];
}

static void write_tau_headings(const evaluation_context *context, csv_writer *to) {
    write_vector_headings("tau", context, to);
    if (residual_count(context) > 0) {
        csv_text(to, "residual");
    }
}

static void write_tau(const evaluation_context *context, size_t index, const double *tau, const double *residual) {
    (void)index;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "tau");
    emit_doubles(&writer, context->robot->nv, tau);
    if (residual_count(context) > 0) {
        emit_key(&writer, "residual");
        emit_double(&writer, *residual);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_one_tau(const evaluation_context *context, const state_batch *batch, const double *tau,
                          const double *residual) {
    return print_joint_table(context, batch, "tau", STATE_TAU, tau) &&
           (residual_count(context) == 0 ||
            (fputc('\n', stdout) != EOF &&
             page_printf(2, "the constraints forbid the motion by %.3g rad/s^2 or m/s^2 at most", *residual)));
}

/* Prints the torques, gravity forces or bias forces of several states. All of them have the units of tau. */
static bool print_many_tau(const evaluation_context *context, const state_batch *batch, size_t number,
                           const double *tau, const double *unused) {
    (void)unused;
    return print_state_table(context, batch->count, number, STATE_TAU, tau);
}

exit_code run_inverse_dynamics(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation inverse_dynamics = {
        .title = "inverse dynamics",
        .has_input = {[STATE_Q] = true, [STATE_V] = true, [STATE_A] = true},
        .widths = tau_widths,
        .compute = compute_tau,
        .write_json = write_tau,
        .write_headings = write_tau_headings,
        .print_one = print_one_tau,
        .print_many = print_many_tau,
    };
    return run_evaluation(&inverse_dynamics, NULL, args, client);
}

/* ---- forward dynamics -------------------------------------------------------------------------------------------- */

/* Returns the number of rows of a constraint, as constraint.proto states it. */
static size_t row_count(const dyn_client_constraint *constraint) {
    static const size_t of_joints[] = {[DYN_CLIENT_JOINT_TYPE_FIXED] = 6,      [DYN_CLIENT_JOINT_TYPE_REVOLUTE] = 5,
                                       [DYN_CLIENT_JOINT_TYPE_CONTINUOUS] = 5, [DYN_CLIENT_JOINT_TYPE_PRISMATIC] = 5,
                                       [DYN_CLIENT_JOINT_TYPE_HELICAL] = 5,    [DYN_CLIENT_JOINT_TYPE_CYLINDRICAL] = 4,
                                       [DYN_CLIENT_JOINT_TYPE_UNIVERSAL] = 4,  [DYN_CLIENT_JOINT_TYPE_PLANAR] = 3,
                                       [DYN_CLIENT_JOINT_TYPE_SPHERICAL] = 3};
    bool is_known = (size_t)constraint->type < sizeof of_joints / sizeof *of_joints;
    return constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_ROLLING      ? 3
           : constraint->kind != DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT ? 1
           : is_known                                                  ? of_joints[constraint->type]
                                                                       : 0;
}

/* Returns the number of rows of the model's constraints and of those of the request. */
static size_t multiplier_count(const evaluation_context *context) {
    size_t count = context->robot->robot->model.constraint_rows;
    for (size_t i = 0; i < context->query.constraint_count; i++) {
        count += row_count(&context->query.constraints[i]);
    }
    return count;
}

enum { ROW_NAME_SIZE = 300 };

/* Writes the name of row k of a constraint of the request, as ConstraintRows spells it. */
static void write_row_name(const dyn_client_constraint *constraint, size_t k, char name[ROW_NAME_SIZE]) {
    if (row_count(constraint) == 1) {
        snprintf(name, ROW_NAME_SIZE, "%s", constraint->name);
    } else {
        snprintf(name, ROW_NAME_SIZE, "%s[%zu]", constraint->name, k);
    }
}

/* Numbers that follow the multipliers of a state. */
enum { CONSTRAINT_RANK, CONSTRAINT_RESIDUAL, CONSTRAINT_CONDITION, CONSTRAINT_NUMBERS };

static const char *const constraint_numbers[CONSTRAINT_NUMBERS] = {"rank", "residual", "condition"};

static void motion_widths(const evaluation_context *context, size_t widths[2]) {
    size_t rows = multiplier_count(context);
    widths[0] = context->robot->nv;
    widths[1] = rows > 0 ? rows + CONSTRAINT_NUMBERS : 0;
}

/* Name of the method that computed the last results. */
static const char *method_name(const evaluation_context *context) {
    const dyn_client_constraint_method *method = context->own;
    return dyn_client_constraint_method_name(*method);
}

/* Copies the multipliers of each state, and the numbers that follow them. They are NAN where another model of this name
 * was loaded meanwhile. */
static void copy_constraints(const dyn_client_constrained_motion *motion, size_t count, size_t rows, double *to) {
    for (size_t s = 0; s < count; s++, to += rows + CONSTRAINT_NUMBERS) {
        for (size_t i = 0; i < rows; i++) {
            to[i] = motion->rows == rows ? motion->multipliers[s * rows + i] : NAN;
        }
        to[rows + CONSTRAINT_RANK] = motion->rows == rows ? (double)motion->ranks[s] : NAN;
        to[rows + CONSTRAINT_RESIDUAL] = motion->rows == rows ? motion->residuals[s] : NAN;
        to[rows + CONSTRAINT_CONDITION] = motion->rows == rows ? motion->conditions[s] : NAN;
    }
}

static dyn_client_status compute_a(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                   double *a, double *multipliers) {
    double *const *values = batch->values;
    dyn_client_constrained_motion *motion;
    size_t rows = multiplier_count(context);
    if (rows == 0) {
        return dyn_client_forward_dynamics(context->client, &context->query, values[STATE_Q], values[STATE_V],
                                           values[STATE_TAU], a, error);
    }
    dyn_client_status status = dyn_client_constrained_forward_dynamics(
        context->client, &context->query, values[STATE_Q], values[STATE_V], values[STATE_TAU], NULL, &motion, error);
    if (status == DYN_CLIENT_OK) {
        memcpy(a, motion->a, batch->count * context->robot->nv * sizeof *a);
        copy_constraints(motion, batch->count, rows, multipliers);
        *(dyn_client_constraint_method *)context->own = motion->method;
        dyn_client_constrained_motion_free(motion);
    }
    return status;
}

static void write_a_headings(const evaluation_context *context, csv_writer *to) {
    const dyn_client_description *robot = context->robot->robot;
    write_vector_headings("a", context, to);
    for (size_t i = 0; i < robot->constraint_count; i++) {
        for (size_t k = 0; k < robot->constraints[i].row_count; k++) {
            csv_text(to, "multipliers.%s", robot->constraints[i].row_names[k]);
        }
    }
    for (size_t i = 0; i < context->query.constraint_count; i++) {
        for (size_t k = 0; k < row_count(&context->query.constraints[i]); k++) {
            char name[ROW_NAME_SIZE];
            write_row_name(&context->query.constraints[i], k, name);
            csv_text(to, "multipliers.%s", name);
        }
    }
    for (int i = 0; i < CONSTRAINT_NUMBERS && multiplier_count(context) > 0; i++) {
        csv_text(to, "constraints.%s", constraint_numbers[i]);
    }
}

static void write_a(const evaluation_context *context, size_t index, const double *a, const double *multipliers) {
    (void)index;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "a");
    emit_doubles(&writer, context->robot->nv, a);
    if (multiplier_count(context) > 0) {
        emit_key(&writer, "multipliers");
        emit_doubles(&writer, multiplier_count(context), multipliers);
        emit_key(&writer, "constraint_method");
        emit_string(&writer, method_name(context));
        for (int i = 0; i < CONSTRAINT_NUMBERS; i++) {
            emit_key(&writer, constraint_numbers[i]);
            emit_double(&writer, multipliers[multiplier_count(context) + (size_t)i]);
        }
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* Adds the rows of the constraints of the request, which follow `first` rows of the model. */
static void add_request_rows(const evaluation_context *context, size_t first, const double *multipliers, table *lines) {
    for (size_t i = 0; i < context->query.constraint_count; i++) {
        const dyn_client_constraint *from = &context->query.constraints[i];
        for (size_t k = 0; k < row_count(from); k++, first++) {
            char name[ROW_NAME_SIZE];
            write_row_name(from, k, name);
            table_add_cell(lines, "%s", name);
            table_add_cell(lines, "of the request");
            table_add_number(lines, multipliers[first]);
            table_add_cell(lines, "N or N m");
        }
    }
}

/* Prints the multiplier of each row of the constraints. */
static bool print_multipliers(const evaluation_context *context, const double *multipliers) {
    const dyn_client_description *robot = context->robot->robot;
    table *lines = table_create();
    table_add_column(lines, "constraint", TABLE_NAME);
    table_add_column(lines, "direction", TABLE_LEFT);
    table_add_column(lines, "multiplier", TABLE_RIGHT);
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t i = 0; i < robot->constraint_count; i++) {
        const dyn_client_constraint *from = &robot->constraints[i];
        for (size_t k = 0; k < from->row_count; k++) {
            table_add_cell(lines, "%s", from->row_names[k]);
            table_add_cell(lines, "%s", from->directions[k]);
            table_add_number(lines, multipliers[from->first_row + k]);
            table_add_cell(lines, "%s", from->multiplier_units[k]);
        }
    }
    add_request_rows(context, robot->model.constraint_rows, multipliers, lines);
    fputc('\n', stdout);
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints the method, and the numbers that follow the multipliers. */
static bool print_constraint_numbers(const evaluation_context *context, const double *numbers) {
    fputc('\n', stdout);
    return page_printf(2, "method: %s; rank %g of %zu rows; residual %.3g; condition %.3g", method_name(context),
                       numbers[CONSTRAINT_RANK], multiplier_count(context), numbers[CONSTRAINT_RESIDUAL],
                       numbers[CONSTRAINT_CONDITION]);
}

static bool print_one_a(const evaluation_context *context, const state_batch *batch, const double *a,
                        const double *multipliers) {
    return print_joint_table(context, batch, "a", STATE_A, a) &&
           (multiplier_count(context) == 0 ||
            (print_multipliers(context, multipliers) &&
             print_constraint_numbers(context, multipliers + multiplier_count(context))));
}

static bool print_many_a(const evaluation_context *context, const state_batch *batch, size_t number, const double *a,
                         const double *unused) {
    (void)unused;
    return print_state_table(context, batch->count, number, STATE_A, a);
}

exit_code run_forward_dynamics(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation forward_dynamics = {
        .title = "forward dynamics",
        .has_input = {[STATE_Q] = true, [STATE_V] = true, [STATE_TAU] = true},
        .widths = motion_widths,
        .compute = compute_a,
        .write_json = write_a,
        .write_headings = write_a_headings,
        .print_one = print_one_a,
        .print_many = print_many_a,
    };
    dyn_client_constraint_method method = DYN_CLIENT_CONSTRAINT_METHOD_AUTO;
    return run_evaluation(&forward_dynamics, &method, args, client);
}

/* ---- gravity ----------------------------------------------------------------------------------------------------- */

static dyn_client_status compute_g(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                   double *g, double *unused) {
    (void)unused;
    return dyn_client_gravity(context->client, &context->query, batch->values[STATE_Q], g, error);
}

static void write_g_headings(const evaluation_context *context, csv_writer *to) {
    write_vector_headings("g", context, to);
}

static void write_g(const evaluation_context *context, size_t index, const double *g, const double *unused) {
    (void)index, (void)unused;
    write_vector("g", context->robot->nv, g);
}

static bool print_one_g(const evaluation_context *context, const state_batch *batch, const double *g,
                        const double *unused) {
    (void)unused;
    return print_joint_table(context, batch, "g", STATE_TAU, g);
}

exit_code run_gravity(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation gravity = {
        .title = "gravity forces",
        .has_input = {[STATE_Q] = true},
        .widths = vector_widths,
        .compute = compute_g,
        .write_json = write_g,
        .write_headings = write_g_headings,
        .print_one = print_one_g,
        .print_many = print_many_tau,
    };
    return run_evaluation(&gravity, NULL, args, client);
}

/* ---- bias forces ------------------------------------------------------------------------------------------------- */

static dyn_client_status compute_h(const evaluation_context *context, const state_batch *batch, dyn_client_error *error,
                                   double *h, double *unused) {
    (void)unused;
    return dyn_client_bias_forces(context->client, &context->query, batch->values[STATE_Q], batch->values[STATE_V], h,
                                  error);
}

static void write_h_headings(const evaluation_context *context, csv_writer *to) {
    write_vector_headings("h", context, to);
}

static void write_h(const evaluation_context *context, size_t index, const double *h, const double *unused) {
    (void)index, (void)unused;
    write_vector("h", context->robot->nv, h);
}

static bool print_one_h(const evaluation_context *context, const state_batch *batch, const double *h,
                        const double *unused) {
    (void)unused;
    return print_joint_table(context, batch, "h", STATE_TAU, h);
}

exit_code run_bias_forces(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation bias_forces = {
        .title = "bias forces",
        .has_input = {[STATE_Q] = true, [STATE_V] = true},
        .widths = vector_widths,
        .compute = compute_h,
        .write_json = write_h,
        .write_headings = write_h_headings,
        .print_one = print_one_h,
        .print_many = print_many_tau,
    };
    return run_evaluation(&bias_forces, NULL, args, client);
}

/* ---- mass matrix ------------------------------------------------------------------------------------------------- */

static void matrix_widths(const evaluation_context *context, size_t widths[2]) {
    widths[0] = context->robot->nv * context->robot->nv;
    widths[1] = 0;
}

static dyn_client_status compute_mass(const evaluation_context *context, const state_batch *batch,
                                      dyn_client_error *error, double *mass, double *unused) {
    (void)unused;
    return dyn_client_mass_matrix(context->client, &context->query, batch->values[STATE_Q], mass, error);
}

static void write_mass_headings(const evaluation_context *context, csv_writer *to) {
    const layout *robot = context->robot;
    for (size_t i = 0; i < robot->nv; i++) {
        for (size_t k = 0; k < robot->nv; k++) {
            csv_text(to, "mass_matrix.%s.%s", robot->v[i].name, robot->v[k].name);
        }
    }
}

static void write_mass(const evaluation_context *context, size_t index, const double *mass, const double *unused) {
    (void)index, (void)unused;
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "mass_matrix");
    emit_matrix(&writer, context->robot->nv, context->robot->nv, mass);
    emit_end_object(&writer);
    emit_finish(&writer);
}

static bool print_one_mass(const evaluation_context *context, const state_batch *batch, const double *mass,
                           const double *unused) {
    (void)batch, (void)unused;
    print_title(context);
    if (!print_matrix(context->robot, context->robot->nv, NULL, mass)) {
        return false;
    }
    fputc('\n', stdout);
    return page_printf(0, "Units: kg m^2 between rotations, kg m between a rotation and a translation, kg.");
}

static bool print_many_mass(const evaluation_context *context, const state_batch *batch, size_t number,
                            const double *mass, const double *unused) {
    (void)unused;
    bool printed = true;
    if (number == 1) {
        print_title(context);
    }
    for (size_t i = 0; i < batch->count && printed; i++) {
        printf("state %zu\n", number + i);
        printed =
            print_matrix(context->robot, context->robot->nv, NULL, mass + i * context->robot->nv * context->robot->nv);
    }
    return printed;
}

exit_code run_mass_matrix(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    static const evaluation mass_matrix = {
        .title = "mass matrix",
        .has_input = {[STATE_Q] = true},
        .widths = matrix_widths,
        .compute = compute_mass,
        .write_json = write_mass,
        .write_headings = write_mass_headings,
        .print_one = print_one_mass,
        .print_many = print_many_mass,
    };
    return run_evaluation(&mass_matrix, NULL, args, client);
}
