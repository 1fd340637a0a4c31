/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that computes with Simbody. It builds a multibody system body by body. Each call realizes the state no further
 * than it needs. Simbody holds quaternions w first, and both parts of a free body's velocity in the axes of its parent,
 * the world.
 */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <Simbody.h>

#include <dynamics/constraint.h>
#include <dynamics/description.h>
#include <dynamics/inertia.h>

#include "bodies.h"
#include "coordinates.h"
#include "peer.h"

struct peer {
    peer() : matter(system), forces(system) {}
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
    ~peer() {
        coordinates_free(&velocity);
    }

    const dyn_model *model = nullptr;
    SimTK::MultibodySystem system;
    SimTK::SimbodyMatterSubsystem matter;
    SimTK::GeneralForceSubsystem forces;
    SimTK::Force::Gravity gravity;
    SimTK::Force::DiscreteForces applied;
    SimTK::State state;
    std::vector<SimTK::MobilizedBodyIndex> body_of; /* of our link; invalid where it was merged */
    std::vector<int> q_address;                     /* of our joint */
    coordinates velocity{};
    SimTK::Vector x, y;
    SimTK::Matrix matrix;
    SimTK::Vector_<SimTK::SpatialVec> spatial;
    std::vector<double> rows, zero;
};

namespace {

SimTK::Vec3 to_vector(const double *x) {
    return SimTK::Vec3(x[0], x[1], x[2]);
}

SimTK::Transform to_transform(const dyn_pose &pose) {
    const double *R = pose.rotation;
    SimTK::Mat33 rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
    return SimTK::Transform(SimTK::Rotation(rotation, true), to_vector(pose.position));
}

SimTK::Body::Rigid to_body(const dyn_inertia &inertia) {
    const double *I = inertia.rotational;
    SimTK::Vec3 c = to_vector(inertia.center_of_mass);
    SimTK::Inertia central(I[0], I[3], I[5], I[1], I[2], I[4]);
    return SimTK::Body::Rigid(SimTK::MassProperties(inertia.mass, c, central.shiftFromMassCenter(c, inertia.mass)));
}

/* Number of motions of a custom joint that Simbody has: three translations, then three rotations. */
enum { SPATIAL_MOTIONS = 6 };

/* Returns whether a custom joint has the motions of a mobilizer of Simbody, and no quintic spline. */
bool is_function_based(const dyn_joint *joint) {
    bool fits = joint->motion_count == SPATIAL_MOTIONS;
    for (int k = 0; fits && k < SPATIAL_MOTIONS; k++) {
        const dyn_joint_motion &m = joint->motions[k];
        fits = m.kind == (k < 3 ? DYN_JOINT_MOTION_KIND_TRANSLATION : DYN_JOINT_MOTION_KIND_ROTATION) &&
               m.function.kind != DYN_FUNCTION_KIND_QUINTIC_SPLINE;
    }
    return fits;
}

/* Returns a function of Simbody: its polynomial, whose first coefficient is that of the highest power, or the natural
 * spline that its fitter computes without smoothing. */
const SimTK::Function *to_function(const dyn_joint_function &f) {
    if (f.kind == DYN_FUNCTION_KIND_POLYNOMIAL) {
        SimTK::Vector coefficients(f.count);
        for (int i = 0; i < f.count; i++) {
            coefficients[i] = f.coefficients[f.count - 1 - i];
        }
        return new SimTK::Function::Polynomial(coefficients);
    }
    SimTK::Vector knots(f.count), values(f.count);
    for (int i = 0; i < f.count; i++) {
        knots[i] = f.knots[i];
        values[i] = f.values[i];
    }
    return SimTK::SplineFitter<SimTK::Real>::fitForSmoothingParameter(3, knots, values, 0).getSpline().clone();
}

/* Adds the mobilizer of a custom joint. Simbody lists the rotations first. */
SimTK::MobilizedBodyIndex add_custom(SimTK::MobilizedBody &parent, const SimTK::Transform &origin,
                                     const SimTK::Body::Rigid &rigid, const dyn_joint *joint) {
    SimTK::Array_<const SimTK::Function *> functions;
    SimTK::Array_<SimTK::Array_<int>> coordinates(SPATIAL_MOTIONS, SimTK::Array_<int>(1, 0));
    SimTK::Array_<SimTK::Vec3> axes;
    if (!is_function_based(joint)) {
        return SimTK::MobilizedBodyIndex();
    }
    for (int k = 0; k < SPATIAL_MOTIONS; k++) {
        const dyn_joint_motion &m = joint->motions[(k + 3) % SPATIAL_MOTIONS];
        functions.push_back(to_function(m.function));
        axes.push_back(to_vector(m.axis));
    }
    return SimTK::MobilizedBody::FunctionBased(parent, origin, rigid, SimTK::Transform(), 1, functions, coordinates,
                                               axes);
}

/* Adds the mobilizer of a body and returns its index, which is invalid where Simbody has no such joint. Pin joints of
 * Simbody rotate about z and sliders move along x, so both frames of the mobilizer are rotated to the joint's axis. */
SimTK::MobilizedBodyIndex add_body(SimTK::MobilizedBody &parent, const body &b, const dyn_model *model) {
    SimTK::Body::Rigid rigid = to_body(b.inertia);
    SimTK::Transform origin = to_transform(b.origin);
    if (b.joint < 0) {
        return SimTK::MobilizedBody::Weld(parent, origin, rigid, SimTK::Transform());
    }
    const dyn_joint *joint = dyn_model_joint(model, b.joint);
    bool slides = joint->type == DYN_JOINT_TYPE_PRISMATIC;
    if (joint->type == DYN_JOINT_TYPE_FLOATING) {
        return SimTK::MobilizedBody::Free(parent, origin, rigid, SimTK::Transform());
    }
    if (joint->type == DYN_JOINT_TYPE_CUSTOM) {
        return add_custom(parent, origin, rigid, joint);
    }
    SimTK::CoordinateAxis own = slides ? SimTK::CoordinateAxis(SimTK::XAxis) : SimTK::CoordinateAxis(SimTK::ZAxis);
    SimTK::Transform turned(SimTK::Rotation(SimTK::UnitVec3(to_vector(joint->axis)), own));
    if (slides) {
        return SimTK::MobilizedBody::Slider(parent, origin * turned, rigid, turned);
    }
    bool turns = joint->type == DYN_JOINT_TYPE_REVOLUTE || joint->type == DYN_JOINT_TYPE_CONTINUOUS;
    return turns ? SimTK::MobilizedBody::Pin(parent, origin * turned, rigid, turned) : SimTK::MobilizedBodyIndex();
}

bool build(peer &p, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    std::vector<body> bodies(static_cast<size_t>(dyn_model_link_count(p.model)));
    std::vector<SimTK::MobilizedBodyIndex> built;
    bodies.resize(static_cast<size_t>(bodies_list(p.model, merge_fixed, bodies.data())));
    p.body_of.resize(static_cast<size_t>(dyn_model_link_count(p.model)));
    for (const body &b : bodies) {
        dyn_error error;
        /* Simbody ends the program on a body with an invalid inertia. */
        if (b.inertia.mass > 0 && dyn_inertia_check(&b.inertia, &error) != DYN_OK) {
            std::snprintf(reason, PEER_REASON_SIZE, "Simbody has no such link as %s: %.150s",
                          dyn_model_link(p.model, b.link)->name, error.message);
            return false;
        }
        SimTK::MobilizedBody &parent =
            b.parent < 0 ? p.matter.updGround() : p.matter.updMobilizedBody(built[static_cast<size_t>(b.parent)]);
        SimTK::MobilizedBodyIndex index = add_body(parent, b, p.model);
        if (!index.isValid() || (b.joint >= 0 && dyn_model_joint(p.model, b.joint)->master >= 0)) {
            std::snprintf(reason, PEER_REASON_SIZE, "Simbody has no such joint as %s",
                          dyn_model_joint(p.model, b.joint)->name);
            return false;
        }
        built.push_back(index);
        p.body_of[static_cast<size_t>(b.link)] = index;
    }
    return true;
}

/* ---- constraints ------------------------------------------------------------------------------------------------- */

/* Returns the body of one side of a constraint. */
SimTK::MobilizedBody &side(peer &p, const dyn_constraint_frame &frame) {
    int link = -1;
    dyn_error error;
    if (!frame.link || dyn_model_find_frame(p.model, frame.link, &link, &error) != DYN_OK) {
        return p.matter.updGround();
    }
    return p.matter.updMobilizedBody(p.body_of[static_cast<size_t>(link)]);
}

/* Adds a linear equation between coordinates, sum of coefficient q - offset = 0. */
void couple(peer &p, const dyn_constraint_description &c) {
    SimTK::Array_<SimTK::MobilizedBodyIndex> bodies;
    SimTK::Array_<SimTK::MobilizerQIndex> coordinates;
    SimTK::Vector coefficients(DYN_MAX_COUPLED_COORDINATES + 1, 0.0);
    for (const dyn_coupled_coordinate &each : c.coupled) {
        if (each.joint) {
            const dyn_joint *joint = dyn_model_joint(p.model, dyn_model_find_joint(p.model, each.joint));
            coefficients[static_cast<int>(bodies.size())] = each.coefficient;
            bodies.push_back(p.body_of[static_cast<size_t>(joint->child_link)]);
            coordinates.push_back(SimTK::MobilizerQIndex(0));
        }
    }
    coefficients[static_cast<int>(bodies.size())] = -c.offset;
    SimTK::Vector used = coefficients(0, static_cast<int>(bodies.size()) + 1);
    SimTK::Constraint::CoordinateCoupler(p.matter, new SimTK::Function::Linear(used), bodies, coordinates);
}

/* Adds a constraint. Returns false where Simbody has none of this kind. */
bool constrain(peer &p, const dyn_constraint_description &c) {
    if (c.kind == DYN_CONSTRAINT_KIND_COUPLING) {
        couple(p, c);
        return true;
    }
    SimTK::MobilizedBody &P = side(p, c.predecessor), &S = side(p, c.successor);
    SimTK::Transform in_P = to_transform(c.predecessor.pose), in_S = to_transform(c.successor.pose);
    if (c.kind == DYN_CONSTRAINT_KIND_DISTANCE) {
        SimTK::Constraint::Rod(P, in_P.p(), S, in_S.p(), c.distance);
    } else if (c.kind == DYN_CONSTRAINT_KIND_POINT_ON_PLANE) {
        SimTK::UnitVec3 normal(in_P.R() * to_vector(c.axis));
        SimTK::Constraint::PointInPlane(P, normal, SimTK::dot(normal, in_P.p()), S, in_S.p());
    } else if (c.kind == DYN_CONSTRAINT_KIND_LOOP_JOINT && c.type == DYN_JOINT_TYPE_SPHERICAL) {
        SimTK::Constraint::Ball(P, in_P.p(), S, in_S.p());
    } else if (c.kind == DYN_CONSTRAINT_KIND_LOOP_JOINT && c.type == DYN_JOINT_TYPE_FIXED) {
        SimTK::Constraint::Weld(P, in_P, S, in_S);
    } else {
        return false;
    }
    return true;
}

bool constrain_all(peer &p, char reason[PEER_REASON_SIZE]) {
    dyn_builder *description;
    dyn_error error;
    if (dyn_model_describe(p.model, &description, &error) != DYN_OK) {
        std::snprintf(reason, PEER_REASON_SIZE, "%.200s", error.message);
        return false;
    }
    bool has_all = true;
    for (int i = 0; i < dyn_builder_constraint_count(description) && has_all; i++) {
        has_all = constrain(p, *dyn_builder_constraint(description, i));
        if (!has_all) {
            std::snprintf(reason, PEER_REASON_SIZE, "Simbody has no such constraint as %.150s",
                          dyn_builder_constraint(description, i)->name);
        }
    }
    dyn_builder_free(description);
    return has_all;
}

peer *create(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    auto p = std::make_unique<peer>();
    double g[3];
    p->model = model;
    dyn_model_gravity(model, g);
    p->gravity = SimTK::Force::Gravity(p->forces, p->matter, to_vector(g));
    p->applied = SimTK::Force::DiscreteForces(p->forces, p->matter);
    if (!build(*p, merge_fixed, reason) || !constrain_all(*p, reason)) {
        return nullptr;
    }
    p->state = p->system.realizeTopology();
    p->system.realizeModel(p->state);
    std::vector<int> address;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const SimTK::MobilizedBody &mobilized =
            p->matter.getMobilizedBody(p->body_of[static_cast<size_t>(dyn_model_joint(model, j)->child_link)]);
        p->q_address.push_back(mobilized.getFirstQIndex(p->state));
        address.push_back(mobilized.getFirstUIndex(p->state));
    }
    p->x.resize(dyn_model_nv(model));
    p->zero.resize(static_cast<size_t>(dyn_model_nv(model)));
    p->rows.resize(static_cast<size_t>(dyn_model_nv(model) * std::max(6, dyn_model_nv(model))));
    base_convention convention = {};
    convention.angular_first = convention.linear_in_world = convention.angular_in_world = true;
    return coordinates_create(&p->velocity, model, convention, address.data()) ? p.release() : nullptr;
}

void destroy(peer *robot) {
    delete robot;
}

/* ---- conversion -------------------------------------------------------------------------------------------------- */

void set_configuration(peer *p, const double *q) {
    coordinates_turn(&p->velocity, q);
    SimTK::Vector &to = p->state.updQ();
    for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
        const dyn_joint *joint = dyn_model_joint(p->model, j);
        const double *from = q + joint->q_index;
        int at = p->q_address[static_cast<size_t>(j)];
        if (joint->type == DYN_JOINT_TYPE_FLOATING) {
            const double moved[7] = {from[6], from[3], from[4], from[5], from[0], from[1], from[2]};
            for (int i = 0; i < 7; i++) {
                to[at + i] = moved[i];
            }
        } else {
            to[at] = *from;
        }
    }
}

void realize_position(peer *p, const algorithm_input *in) {
    set_configuration(p, in->q);
    p->system.realize(p->state, SimTK::Stage::Position);
}

void realize_velocity(peer *p, const algorithm_input *in) {
    set_configuration(p, in->q);
    coordinates_to_peer(&p->velocity, in->v, p->state.updU().updContiguousScalarData());
    p->system.realize(p->state, SimTK::Stage::Velocity);
}

void set_acceleration(peer *p, const algorithm_input *in) {
    coordinates_acceleration_to_peer(&p->velocity, in->v, in->a, p->x.updContiguousScalarData());
}

bool copy(peer *p, const SimTK::Vector &x, double *out) {
    if (out) {
        coordinates_from_peer(&p->velocity, x.getContiguousScalarData(), out);
    }
    return true;
}

/* Copies rows of p->matrix, from row `first` on, to p->rows, and returns them. */
const double *row_major(peer *p, int first, int count) {
    int columns = p->matrix.ncol();
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < columns; j++) {
            p->rows[static_cast<size_t>(i * columns + j)] = p->matrix(first + i, j);
        }
    }
    return p->rows.data();
}

bool copy_square(peer *p, double *out) {
    if (out) {
        coordinates_square_from_peer(&p->velocity, row_major(p, 0, p->matrix.nrow()), out);
    }
    return true;
}

/* Stores the angular, then the linear part, unless `out` is NULL. Returns true. */
bool copy_spatial(const SimTK::SpatialVec &x, double *out) {
    for (int i = 0; out && i < 6; i++) {
        out[i] = x[i / 3][i % 3];
    }
    return true;
}

bool copy_number(double x, double *out) {
    if (out) {
        *out = x;
    }
    return true;
}

SimTK::MobilizedBodyIndex index_of(const peer *p, const algorithm_input *in) {
    return p->body_of[static_cast<size_t>(in->frame)];
}

/* ---- dynamics ---------------------------------------------------------------------------------------------------- */

/* Computes tau for the accelerations p->x, in Simbody's coordinates, at the state's velocity. */
bool residual_force(peer *p, double *tau) {
    p->matter.calcResidualForceIgnoringConstraints(p->state, SimTK::Vector(), p->gravity.getBodyForces(p->state), p->x,
                                                   p->y);
    return copy(p, p->y, tau);
}

bool rnea(peer *p, const algorithm_input *in, double *tau) {
    realize_velocity(p, in);
    set_acceleration(p, in);
    return residual_force(p, tau);
}

bool bias(peer *p, const algorithm_input *in, double *h) {
    algorithm_input still = *in;
    still.a = p->zero.data();
    return rnea(p, &still, h);
}

/* Computes the forces for no acceleration and no body forces, gravity included. */
bool coriolis_forces(peer *p, const algorithm_input *in, double *c) {
    algorithm_input still = *in;
    still.a = p->zero.data();
    realize_velocity(p, in);
    set_acceleration(p, &still);
    p->matter.calcResidualForceIgnoringConstraints(p->state, SimTK::Vector(), SimTK::Vector_<SimTK::SpatialVec>(), p->x,
                                                   p->y);
    return copy(p, p->y, c);
}

bool gravity(peer *p, const algorithm_input *in, double *g) {
    realize_position(p, in);
    p->matter.multiplyBySystemJacobianTranspose(p->state, p->gravity.getBodyForces(p->state), p->y);
    p->y *= -1;
    return copy(p, p->y, g);
}

bool crba(peer *p, const algorithm_input *in, double *M) {
    realize_position(p, in);
    p->matter.calcM(p->state, p->matrix);
    return copy_square(p, M);
}

bool minverse(peer *p, const algorithm_input *in, double *inverse) {
    realize_position(p, in);
    p->matter.calcMInv(p->state, p->matrix);
    return copy_square(p, inverse);
}

/* Computes accelerations with constraints. */
bool constrained_dynamics(peer *p, const algorithm_input *in, double *a) {
    realize_velocity(p, in);
    coordinates_to_peer(&p->velocity, in->tau, p->x.updContiguousScalarData());
    p->applied.setAllMobilityForces(p->state, p->x);
    p->system.realize(p->state, SimTK::Stage::Acceleration);
    p->y = p->state.getUDot();
    if (a) {
        coordinates_acceleration_from_peer(&p->velocity, in->v, p->y.getContiguousScalarData(), a);
    }
    return true;
}

bool forward_dynamics(peer *p, const algorithm_input *in, double *a) {
    if (p->matter.getNumConstraints() > 0) {
        return constrained_dynamics(p, in, a);
    }
    realize_velocity(p, in);
    p->system.realize(p->state, SimTK::Stage::Dynamics);
    coordinates_to_peer(&p->velocity, in->tau, p->x.updContiguousScalarData());
    p->matter.calcAccelerationIgnoringConstraints(p->state, p->x, p->gravity.getBodyForces(p->state), p->y, p->spatial);
    if (a) {
        coordinates_acceleration_from_peer(&p->velocity, in->v, p->y.getContiguousScalarData(), a);
    }
    return true;
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

bool kinetic_energy(peer *p, const algorithm_input *in, double *T) {
    realize_velocity(p, in);
    return copy_number(p->matter.calcKineticEnergy(p->state), T);
}

bool potential_energy(peer *p, const algorithm_input *in, double *V) {
    realize_position(p, in);
    return copy_number(p->gravity.getPotentialEnergy(p->state), V);
}

bool center_of_mass(peer *p, const algorithm_input *in, double *c) {
    realize_position(p, in);
    SimTK::Vec3 found = p->matter.calcSystemMassCenterLocationInGround(p->state);
    if (c) {
        std::copy_n(&found[0], 3, c);
    }
    return true;
}

bool centroidal_momentum(peer *p, const algorithm_input *in, double *h) {
    realize_velocity(p, in);
    return copy_spatial(p->matter.calcSystemCentralMomentum(p->state), h);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

bool pose(peer *p, const algorithm_input *in, double *out) {
    if (!index_of(p, in).isValid()) {
        return false;
    }
    realize_position(p, in);
    const SimTK::Transform &X = p->matter.getMobilizedBody(index_of(p, in)).getBodyTransform(p->state);
    for (int i = 0; out && i < 12; i++) {
        out[i] = i < 3 ? X.p()[i] : X.R().asMat33()((i - 3) / 3, i % 3);
    }
    return true;
}

bool jacobian(peer *p, const algorithm_input *in, double *J) {
    if (!index_of(p, in).isValid()) {
        return false;
    }
    realize_position(p, in);
    p->matter.calcFrameJacobian(p->state, index_of(p, in), SimTK::Vec3(0), p->matrix);
    if (J) {
        coordinates_rows_from_peer(&p->velocity, row_major(p, 0, 6), 6, J);
    }
    return true;
}

bool twist(peer *p, const algorithm_input *in, double *V) {
    if (!index_of(p, in).isValid()) {
        return false;
    }
    realize_velocity(p, in);
    return copy_spatial(p->matter.getMobilizedBody(index_of(p, in)).getBodyVelocity(p->state), V);
}

bool frame_acceleration(peer *p, const algorithm_input *in, double *A) {
    if (!index_of(p, in).isValid()) {
        return false;
    }
    realize_velocity(p, in);
    set_acceleration(p, in);
    p->matter.calcBodyAccelerationFromUDot(p->state, p->x, p->spatial);
    return copy_spatial(p->spatial[index_of(p, in)], A);
}

/* Computes the joint forces of the wrench in->wrench about the body's origin, in the world's axes. Returns false where
 * the link was merged. */
bool frame_force(peer *p, const algorithm_input *in, double *tau) {
    if (!index_of(p, in).isValid()) {
        return false;
    }
    realize_position(p, in);
    SimTK::SpatialVec F(to_vector(in->wrench), to_vector(in->wrench + 3));
    p->matter.multiplyByFrameJacobianTranspose(p->state, index_of(p, in), SimTK::Vec3(0), F, p->y);
    return copy(p, p->y, tau);
}

const peer_algorithm algorithms[] = {
    {ALGORITHM_RNEA, rnea},
    {ALGORITHM_BIAS, bias},
    {ALGORITHM_CORIOLIS_FORCES, coriolis_forces},
    {ALGORITHM_GRAVITY, gravity},
    {ALGORITHM_CRBA, crba},
    {ALGORITHM_MINVERSE, minverse},
    {ALGORITHM_ABA, forward_dynamics},
    {ALGORITHM_KINETIC_ENERGY, kinetic_energy},
    {ALGORITHM_POTENTIAL_ENERGY, potential_energy},
    {ALGORITHM_CENTER_OF_MASS, center_of_mass},
    {ALGORITHM_CENTROIDAL_MOMENTUM, centroidal_momentum},
    {ALGORITHM_POSE, pose},
    {ALGORITHM_JACOBIAN, jacobian},
    {ALGORITHM_TWIST, twist},
    {ALGORITHM_FRAME_ACCELERATION, frame_acceleration},
    {ALGORITHM_FRAME_FORCE, frame_force},
    {ALGORITHM_COUNT, nullptr},
};

} // namespace

extern "C" const peer_library simbody_library = {"Simbody 3.7", "simbody", 1e-9,    true,      true,
                                                 create,        nullptr,   destroy, algorithms};
