/* SPDX-License-Identifier: BSD-2-Clause */
/* Constraints: converts those of a ModelDescription to a builder and back, and describes their rows in a model. */
#include "methods/constraints.h"

#include <stdio.h>
#include <string.h>

#include "methods/bounds.h"
#include "methods/description_parts.h"
#include "methods/geometry.h"

#define KIND(name) DYNAMICS__V1__CONSTRAINT__KIND_##name

/* ---- fields ------------------------------------------------------------------------------------------------------ */

/* Returns the protocol's name of the constraint's kind, or NULL where it has none. */
static const char *kind_name(const Dynamics__V1__Constraint *from) {
    const ProtobufCFieldDescriptor *member =
        protobuf_c_message_descriptor_get_field(&dynamics__v1__constraint__descriptor, (unsigned)from->kind_case);
    return member ? member->name : NULL;
}

/* List of constraints in a request. */
typedef struct wire_list {
    const char *path;
    size_t count;
    Dynamics__V1__Constraint *const *constraints;
} wire_list;

static const char of_description[] = "description.constraints", of_query[] = "query.constraints";

/* Writes the path of constraint i and its kind, such as "description.constraints[2].loop_joint". */
static void write_path(char path[PATH_SIZE], const wire_list *list, size_t i) {
    const char *kind = kind_name(list->constraints[i]);
    snprintf(path, PATH_SIZE, "%s[%zu]%s%s", list->path, i, kind ? "." : "", kind ? kind : "");
}

static const char of_coupling[] = "coupled";

/* Returns the member of the protocol for a part of a constraint's description in the library. */
static const char *member_of(const Dynamics__V1__Constraint *constraint, const char *part) {
    static const struct {
        Dynamics__V1__Constraint__KindCase kind;
        const char *part, *member;
    } renamed[] = {{KIND(POINT_ON_PLANE), "axis", "normal"},         {KIND(ROLLING), "axis", "normal"},
                   {KIND(ROLLING), "second_axis", "wheel_axis"},     {KIND(PRESCRIBED), "coupled[0].joint", "joint"},
                   {KIND(PRESCRIBED), "polynomial", "coefficients"}, {KIND(PRESCRIBED), "law", "amplitude"},
                   {KIND(POLYNOMIAL), "coupled[0].joint", "joint"},  {KIND(POLYNOMIAL), "coupled[1].joint", "of"},
                   {KIND(POLYNOMIAL), "polynomial", "coefficients"}};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        if (renamed[i].kind == constraint->kind_case && strcmp(renamed[i].part, part) == 0) {
            return renamed[i].member;
        }
    }
    return part;
}

/* Sets the field of an error about constraint i of a list to the member that the site of the library's error names. */
static void blame_member(call *c, const wire_list *list, size_t i, const dyn_error_site *site) {
    const Dynamics__V1__Constraint *constraint = list->constraints[i];
    char path[PATH_SIZE];
    const char *part = site->part ? site->part : "";
    if (part[0] == '\0') {
        call_blame(c, "%s[%zu]", list->path, i);
        return;
    }
    write_path(path, list, i);
    call_blame(c, "%s.%s", path, member_of(constraint, part));
    if (strncmp(part, of_coupling, strlen(of_coupling)) == 0 && constraint->kind_case == KIND(COUPLING)) {
        call_blame(c, "%s.coordinates%s", path, part + strlen(of_coupling));
    }
}

void constraints_blame(call *c, const Dynamics__V1__ModelDescription *from, size_t i, const dyn_error_site *site) {
    const wire_list list = {of_description, from->n_constraints, from->constraints};
    blame_member(c, &list, i, site);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool read_frame(call *c, const char *path, const char *side, const Dynamics__V1__ConstraintFrame *from,
                       dyn_constraint_frame *to) {
    char frame[PATH_SIZE], member[PATH_SIZE];
    path_join(frame, path, side);
    to->link = from && from->link[0] ? from->link : NULL;
    return geometry_read_placement(c, path_join(member, frame, "pose"), from ? from->pose : NULL, &to->pose);
}

static bool read_sides(call *c, const char *path, const Dynamics__V1__ConstraintFrame *predecessor,
                       const Dynamics__V1__ConstraintFrame *successor, dyn_constraint_description *to) {
    return read_frame(c, path, "predecessor", predecessor, &to->predecessor) &&
           read_frame(c, path, "successor", successor, &to->successor);
}

static bool read_axis(call *c, const char *path, const char *member, bool is_needed, const Dynamics__V1__Vector3 *from,
                      double axis[3]) {
    char field[PATH_SIZE];
    path_join(field, path, member);
    if (from || !is_needed) {
        return geometry_read_vector(c, field, from, axis);
    }
    call_blame(c, "%s", field);
    call_fail(c, REASON_MISSING_VALUE, "the constraint needs it; pass a vector, such as 0 0 1");
    return false;
}

static bool read_loop_joint(call *c, const char *path, const Dynamics__V1__LoopJoint *from,
                            dyn_constraint_description *to) {
    to->kind = DYN_CONSTRAINT_KIND_LOOP_JOINT;
    to->type = description_joint_type(from->type);
    to->pitch = from->pitch;
    to->damping = from->damping;
    to->friction = from->friction;
    to->effort = from->effort;
    const dyn_joint_traits *traits = dyn_joint_type_traits(to->type);
    if (!traits) {
        call_blame(c, "%s.type", path);
        call_fail(c, REASON_UNKNOWN_VALUE, "the type is %d; pass one from FIXED (1) to SPHERICAL (9)", (int)from->type);
        return false;
    }
    return read_sides(c, path, from->predecessor, from->successor, to) &&
           read_axis(c, path, "axis", traits->axes > 0, from->axis, to->axis) &&
           read_axis(c, path, "second_axis", traits->axes == 2, from->second_axis, to->second_axis);
}

static bool read_coupling(call *c, const char *path, const Dynamics__V1__CouplingConstraint *from,
                          dyn_constraint_description *to) {
    to->kind = DYN_CONSTRAINT_KIND_COUPLING;
    to->offset = from->offset;
    if (from->n_coordinates == 0 || from->n_coordinates > DYN_MAX_COUPLED_COORDINATES) {
        call_blame(c, "%s.coordinates", path);
        call_fail(c, from->n_coordinates ? REASON_WRONG_COUNT : REASON_MISSING_VALUE,
                  "there are %zu coordinates; pass 1 to %d", from->n_coordinates, DYN_MAX_COUPLED_COORDINATES);
        return false;
    }
    for (size_t k = 0; k < from->n_coordinates; k++) {
        to->coupled[k] = (dyn_coupled_coordinate){from->coordinates[k]->joint, from->coordinates[k]->coefficient};
    }
    return true;
}

/* Reads the coefficients of a polynomial. Returns false, and the call has ended, where there are too many. */
static bool read_coefficients(call *c, const char *path, size_t count, const double *from,
                              dyn_constraint_description *to) {
    if (count > DYN_MAX_POLYNOMIAL_TERMS) {
        call_blame(c, "%s.coefficients", path);
        call_fail(c, REASON_WRONG_COUNT, "there are %zu coefficients; pass up to %d", count, DYN_MAX_POLYNOMIAL_TERMS);
        return false;
    }
    to->term_count = (int)count;
    for (size_t k = 0; k < count; k++) {
        to->polynomial[k] = from[k];
    }
    return true;
}

static bool read_polynomial(call *c, const char *path, const Dynamics__V1__PolynomialCoupling *from,
                            dyn_constraint_description *to) {
    to->kind = DYN_CONSTRAINT_KIND_POLYNOMIAL;
    to->coupled[0].joint = from->joint;
    to->coupled[1].joint = from->of;
    return read_coefficients(c, path, from->n_coefficients, from->coefficients, to);
}

static bool read_prescribed(call *c, const char *path, const Dynamics__V1__PrescribedMotion *from,
                            dyn_constraint_description *to) {
    to->kind = DYN_CONSTRAINT_KIND_PRESCRIBED;
    to->coupled[0].joint = from->joint;
    to->law = (dyn_motion_law){from->amplitude, from->frequency, from->phase};
    return read_coefficients(c, path, from->n_coefficients, from->coefficients, to);
}

static bool read_rolling(call *c, const char *path, const Dynamics__V1__RollingConstraint *from,
                         dyn_constraint_description *to) {
    to->kind = DYN_CONSTRAINT_KIND_ROLLING;
    to->distance = from->radius;
    return read_sides(c, path, from->predecessor, from->successor, to) &&
           read_axis(c, path, "normal", true, from->normal, to->axis) &&
           read_axis(c, path, "wheel_axis", false, from->wheel_axis, to->second_axis);
}

/* Reads the members that the constraint's kind has. Returns false, and the call has ended, on an error. */
static bool read_kind(call *c, const char *path, const Dynamics__V1__Constraint *from, dyn_constraint_description *to) {
    switch (from->kind_case) {
    case KIND(LOOP_JOINT):
        return read_loop_joint(c, path, from->loop_joint, to);
    case KIND(DISTANCE):
        to->kind = DYN_CONSTRAINT_KIND_DISTANCE;
        to->distance = from->distance->distance;
        return read_sides(c, path, from->distance->predecessor, from->distance->successor, to);
    case KIND(POINT_ON_PLANE):
        to->kind = DYN_CONSTRAINT_KIND_POINT_ON_PLANE;
        return read_sides(c, path, from->point_on_plane->predecessor, from->point_on_plane->successor, to) &&
               read_axis(c, path, "normal", true, from->point_on_plane->normal, to->axis);
    case KIND(COUPLING):
        return read_coupling(c, path, from->coupling, to);
    case KIND(ROLLING):
        return read_rolling(c, path, from->rolling, to);
    case KIND(PRESCRIBED):
        return read_prescribed(c, path, from->prescribed, to);
    case KIND(POLYNOMIAL):
        return read_polynomial(c, path, from->polynomial, to);
    default:
        call_blame(c, "%s", path);
        call_fail(c, REASON_MISSING_VALUE,
                  "the constraint has no kind; pass one of loop_joint, distance, point_on_plane, coupling, rolling, "
                  "prescribed and polynomial");
        return false;
    }
}

static bool read_constraint(call *c, const wire_list *list, size_t i, dyn_builder *builder) {
    const Dynamics__V1__Constraint *from = list->constraints[i];
    char path[PATH_SIZE], element[PATH_SIZE];
    dyn_error error;
    dyn_constraint_description to = {.name = from->name};
    write_path(path, list, i);
    snprintf(element, sizeof element, "%s[%zu]", list->path, i);
    if (!description_refuse_derived(c, element, "rows", from->rows) || !read_kind(c, path, from, &to)) {
        return false;
    }
    if (dyn_builder_add_constraint(builder, &to, &error) == DYN_OK) {
        return true;
    }
    blame_member(c, list, i, &error.site);
    return description_fail_element(c, &error);
}

bool constraints_check_count(call *c, const char *field, size_t count) {
    const part_limit limit = {"constraints", "limits.constraints", BOUND_CONSTRAINTS,
                              atomic_load(&c->service->limits->constraints)};
    return description_check_count(c, field, count, &limit);
}

static bool read_list(call *c, const wire_list *list, dyn_builder *builder) {
    for (size_t i = 0; i < list->count; i++) {
        if (!read_constraint(c, list, i, builder)) {
            return false;
        }
    }
    return true;
}

bool constraints_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    const wire_list list = {of_description, from->n_constraints, from->constraints};
    return constraints_check_count(c, of_description, list.count) && read_list(c, &list, builder);
}

/* ---- constraints of a request ------------------------------------------------------------------------------------ */

/* Ends the call with an error of the builder about a model with the constraints of a list, which follow `own` ones. */
static void fail_build(call *c, const wire_list *list, size_t own, const dyn_error *error) {
    const dyn_element *at = &error->site.element;
    size_t i = (size_t)at->index - own;
    call_blame(c, "%s", list->path);
    if (at->kind == DYN_ELEMENT_KIND_CONSTRAINT && at->index >= 0 && i < list->count) {
        blame_member(c, list, i, &error->site);
    }
    description_fail_element(c, error);
}

/* Builds the model of an entry with the constraints of a list. Returns NULL when the call has ended. */
static model_entry *build_with(call *c, const model_entry *entry, const wire_list *list, dyn_builder *builder) {
    dyn_build_options built = DYN_BUILD_OPTIONS_INIT();
    dyn_error error;
    model_entry *closed = NULL;
    size_t own = (size_t)dyn_model_constraint_count(entry->model);
    if (!constraints_check_count(c, list->path, own + list->count) || !read_list(c, list, builder)) {
        return NULL;
    }
    dyn_status status = dyn_model_build_options(entry->model, &built, &error);
    const model_options options = {.base = built.base, .mimic = built.mimic};
    if (status == DYN_OK) {
        status = model_entry_build(builder, NULL, entry->name, "", &options, SIZE_MAX, &error, &closed);
    }
    if (status != DYN_OK) {
        fail_build(c, list, own, &error);
    }
    return closed;
}

model_entry *constraints_add(call *c, model_entry *entry, size_t count, Dynamics__V1__Constraint *const *from) {
    const wire_list list = {of_query, count, from};
    dyn_builder *builder = NULL;
    dyn_error error;
    model_entry *closed = NULL;
    if (dyn_model_describe(entry->model, &builder, &error) == DYN_OK) {
        closed = build_with(c, entry, &list, builder);
    } else {
        call_fail_memory(c);
    }
    dyn_builder_free(builder);
    model_entry_release(entry);
    return closed;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static Dynamics__V1__ConstraintFrame *write_frame(call *c, const dyn_constraint_frame *from) {
    Dynamics__V1__ConstraintFrame *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__constraint_frame__init(to);
        to->link = call_string(c, from->link ? from->link : "");
        to->pose = geometry_write_placement(c, &from->pose);
    }
    return to;
}

static Dynamics__V1__LoopJoint *write_loop_joint(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__LoopJoint *to = call_allocate(c, 1, sizeof *to);
    int axes = dyn_joint_type_traits(from->type)->axes;
    if (to) {
        dynamics__v1__loop_joint__init(to);
        to->predecessor = write_frame(c, &from->predecessor);
        to->successor = write_frame(c, &from->successor);
        to->type = description_write_joint_type(from->type);
        to->axis = axes > 0 ? geometry_write_vector(c, from->axis) : NULL;
        to->second_axis = axes == 2 ? geometry_write_vector(c, from->second_axis) : NULL;
        to->pitch = from->pitch;
        to->damping = from->damping;
        to->friction = from->friction;
        to->effort = from->effort;
    }
    return to;
}

static Dynamics__V1__DistanceConstraint *write_distance(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__DistanceConstraint *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__distance_constraint__init(to);
        to->predecessor = write_frame(c, &from->predecessor);
        to->successor = write_frame(c, &from->successor);
        to->distance = from->distance;
    }
    return to;
}

static Dynamics__V1__PointOnPlaneConstraint *write_plane(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__PointOnPlaneConstraint *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__point_on_plane_constraint__init(to);
        to->predecessor = write_frame(c, &from->predecessor);
        to->successor = write_frame(c, &from->successor);
        to->normal = geometry_write_vector(c, from->axis);
    }
    return to;
}

static Dynamics__V1__CouplingConstraint *write_coupling(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__CouplingConstraint *to = call_allocate(c, 1, sizeof *to);
    Dynamics__V1__CoupledCoordinate *coordinates = call_allocate(c, DYN_MAX_COUPLED_COORDINATES, sizeof *coordinates);
    Dynamics__V1__CoupledCoordinate **list = call_allocate(c, DYN_MAX_COUPLED_COORDINATES, sizeof *list);
    if (call_has_ended(c)) {
        return NULL;
    }
    dynamics__v1__coupling_constraint__init(to);
    to->offset = from->offset;
    to->coordinates = list;
    for (size_t k = 0; k < DYN_MAX_COUPLED_COORDINATES && from->coupled[k].joint; k++) {
        dynamics__v1__coupled_coordinate__init(&coordinates[k]);
        coordinates[k].joint = call_string(c, from->coupled[k].joint);
        coordinates[k].coefficient = from->coupled[k].coefficient;
        list[to->n_coordinates++] = &coordinates[k];
    }
    return to;
}

/* Copies the coefficients of a polynomial. */
static double *write_coefficients(call *c, const dyn_constraint_description *from) {
    double *to = call_allocate(c, (size_t)from->term_count, sizeof *to);
    if (to) {
        memcpy(to, from->polynomial, (size_t)from->term_count * sizeof *to);
    }
    return to;
}

static Dynamics__V1__PolynomialCoupling *write_polynomial(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__PolynomialCoupling *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__polynomial_coupling__init(to);
        to->joint = call_string(c, from->coupled[0].joint);
        to->of = call_string(c, from->coupled[1].joint);
        to->coefficients = write_coefficients(c, from);
        to->n_coefficients = to->coefficients ? (size_t)from->term_count : 0;
    }
    return to;
}

static Dynamics__V1__PrescribedMotion *write_prescribed(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__PrescribedMotion *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__prescribed_motion__init(to);
        to->joint = call_string(c, from->coupled[0].joint);
        to->coefficients = write_coefficients(c, from);
        to->n_coefficients = to->coefficients ? (size_t)from->term_count : 0;
        to->amplitude = from->law.amplitude;
        to->frequency = from->law.frequency;
        to->phase = from->law.phase;
    }
    return to;
}

static Dynamics__V1__RollingConstraint *write_rolling(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__RollingConstraint *to = call_allocate(c, 1, sizeof *to);
    const double *axis = from->second_axis;
    bool is_wheel = axis[0] != 0 || axis[1] != 0 || axis[2] != 0;
    if (to) {
        dynamics__v1__rolling_constraint__init(to);
        to->predecessor = write_frame(c, &from->predecessor);
        to->successor = write_frame(c, &from->successor);
        to->normal = geometry_write_vector(c, from->axis);
        to->radius = from->distance;
        to->wheel_axis = is_wheel ? geometry_write_vector(c, axis) : NULL;
    }
    return to;
}

static Dynamics__V1__Constraint *write_constraint(call *c, const dyn_constraint_description *from) {
    Dynamics__V1__Constraint *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dynamics__v1__constraint__init(to);
    to->name = call_string(c, from->name);
    switch (from->kind) {
    case DYN_CONSTRAINT_KIND_LOOP_JOINT:
        to->kind_case = KIND(LOOP_JOINT);
        to->loop_joint = write_loop_joint(c, from);
        break;
    case DYN_CONSTRAINT_KIND_DISTANCE:
        to->kind_case = KIND(DISTANCE);
        to->distance = write_distance(c, from);
        break;
    case DYN_CONSTRAINT_KIND_POINT_ON_PLANE:
        to->kind_case = KIND(POINT_ON_PLANE);
        to->point_on_plane = write_plane(c, from);
        break;
    case DYN_CONSTRAINT_KIND_COUPLING:
        to->kind_case = KIND(COUPLING);
        to->coupling = write_coupling(c, from);
        break;
    case DYN_CONSTRAINT_KIND_POLYNOMIAL:
        to->kind_case = KIND(POLYNOMIAL);
        to->polynomial = write_polynomial(c, from);
        break;
    case DYN_CONSTRAINT_KIND_PRESCRIBED:
        to->kind_case = KIND(PRESCRIBED);
        to->prescribed = write_prescribed(c, from);
        break;
    case DYN_CONSTRAINT_KIND_ROLLING:
        to->kind_case = KIND(ROLLING);
        to->rolling = write_rolling(c, from);
        break;
    }
    return to;
}

Dynamics__V1__Constraint **constraints_write(call *c, const dyn_builder *from, size_t *count) {
    size_t total = (size_t)dyn_builder_constraint_count(from);
    Dynamics__V1__Constraint **to = total ? call_allocate(c, total, sizeof(Dynamics__V1__Constraint *)) : NULL;
    *count = 0;
    for (size_t i = 0; to && i < total && !call_has_ended(c); i++) {
        to[i] = write_constraint(c, dyn_builder_constraint(from, (int)i));
        *count = i + 1;
    }
    return call_has_ended(c) ? NULL : to;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Returns the name of row k of a constraint: the name of the constraint, with "[k]" if it has several rows. Returns
 * NULL, and the call has ended, when out of memory. */
static char *row_name(call *c, const dyn_constraint *of, int k) {
    char name[DYN_MAX_NAME + 16];
    if (of->row_count == 1) {
        return call_string(c, of->name);
    }
    snprintf(name, sizeof name, "%s[%d]", of->name, k);
    return call_string(c, name);
}

char **constraints_row_names(call *c, const dyn_model *model) {
    char **names = call_allocate(c, (size_t)dyn_model_constraint_rows(model), sizeof *names);
    for (int i = 0; names && i < dyn_model_constraint_count(model); i++) {
        const dyn_constraint *of = dyn_model_constraint(model, i);
        for (int k = 0; k < of->row_count; k++) {
            names[of->first_row + k] = row_name(c, of, k);
        }
    }
    return names;
}

static Dynamics__V1__ConstraintRows *describe_rows(call *c, const dyn_model *model, int constraint) {
    const dyn_constraint *of = dyn_model_constraint(model, constraint);
    size_t count = (size_t)of->row_count;
    Dynamics__V1__ConstraintRows *to = call_allocate(c, 1, sizeof *to);
    char **texts = call_allocate(c, 4 * count, sizeof *texts);
    if (call_has_ended(c)) {
        return NULL;
    }
    dynamics__v1__constraint_rows__init(to);
    to->first = (uint32_t)of->first_row;
    to->n_names = to->n_directions = to->n_error_units = to->n_multiplier_units = count;
    to->names = texts;
    to->directions = texts + count;
    to->error_units = texts + 2 * count;
    to->multiplier_units = texts + 3 * count;
    for (size_t k = 0; k < count; k++) {
        dyn_constraint_row row = dyn_model_constraint_row(model, constraint, (int)k);
        to->names[k] = row_name(c, of, (int)k);
        to->directions[k] = call_string(c, row.direction);
        to->error_units[k] = call_string(c, row.is_angular ? "rad" : "m");
        to->multiplier_units[k] = call_string(c, row.is_angular ? "N m" : "N");
    }
    return to;
}

Dynamics__V1__Constraint **constraints_describe(call *c, const dyn_model *model, size_t *count) {
    dyn_builder *builder;
    dyn_error error;
    *count = 0;
    if (dyn_model_constraint_count(model) == 0) {
        return NULL;
    }
    if (dyn_model_describe(model, &builder, &error) != DYN_OK) {
        call_fail_memory(c);
        return NULL;
    }
    Dynamics__V1__Constraint **to = constraints_write(c, builder, count);
    for (size_t i = 0; to && i < *count; i++) {
        to[i]->rows = describe_rows(c, model, (int)i);
    }
    dyn_builder_free(builder);
    return to;
}

/* ---- methods of the tree alone ----------------------------------------------------------------------------------- */

bool constraints_are_absent(const model_entry *entry, const char *what, refusal *why) {
    if (dyn_model_constraint_count(entry->model) == 0) {
        return true;
    }
    return refuse(why, REASON_MODEL_UNSUITABLE, "query.model",
                  "model \"%s\" has the constraint \"%.128s\", which %s does not consider yet; ask for a model without "
                  "constraints",
                  entry->name, dyn_model_constraint(entry->model, 0)->name, what);
}

bool constraints_are_present(const model_entry *entry, const char *what, refusal *why) {
    return dyn_model_constraint_count(entry->model) > 0 ||
           refuse(why, REASON_MODEL_UNSUITABLE, "query.model",
                  "model \"%s\" has no constraints, which %s is of; ask for a model with constraints", entry->name,
                  what);
}
