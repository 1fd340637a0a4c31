/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that computes with DART. It builds a skeleton body by body. DART holds twists angular first; a free joint's
 * velocity is that of the body in its own axes. The peer has no potential energy, since DART's is that of the bodies'
 * origins instead of their centres of mass.
 */
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/WeldJoint.hpp>

#include "bodies.h"
#include "coordinates.h"
#include "peer.h"

namespace dynamics = dart::dynamics;

using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct peer {
    peer() = default;
    peer(const peer &) = delete;
    peer &operator=(const peer &) = delete;
    ~peer() {
        coordinates_free(&velocity);
    }

    const dyn_model *model = nullptr;
    dynamics::SkeletonPtr skeleton;
    std::vector<dynamics::BodyNode *> node; /* of our link, null where it was merged */
    std::vector<int> address;               /* of our joint in the skeleton's coordinates */
    bool has_welds = false;
    coordinates velocity{};
    Eigen::VectorXd q, x, zero;
};

namespace {

Eigen::Isometry3d to_isometry(const dyn_pose &pose) {
    Eigen::Isometry3d T = Eigen::Isometry3d::Identity();
    T.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(pose.rotation);
    T.translation() = Eigen::Map<const Eigen::Vector3d>(pose.position);
    return T;
}

dynamics::BodyNode::Properties to_properties(const char *name, const dyn_inertia &inertia) {
    const double *I = inertia.rotational;
    Eigen::Matrix3d moment;
    moment << I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5];
    dynamics::BodyNode::AspectProperties properties(name);
    properties.mInertia =
        dynamics::Inertia(inertia.mass, Eigen::Map<const Eigen::Vector3d>(inertia.center_of_mass), moment);
    return properties;
}

/* Adds a joint of DART's class with its child body. */
template <class Joint, class Properties>
dynamics::BodyNode *add(const dynamics::SkeletonPtr &skeleton, dynamics::BodyNode *parent, const body &b,
                        const dyn_model *model, Properties properties) {
    properties.mName = dyn_model_link(model, b.link)->name;
    properties.mT_ParentBodyToJoint = to_isometry(b.origin);
    return skeleton
        ->createJointAndBodyNodePair<Joint>(parent, properties, to_properties(properties.mName.c_str(), b.inertia))
        .second;
}

/* Adds a body and returns its node; null where DART has no such joint. */
dynamics::BodyNode *add_body(const dynamics::SkeletonPtr &skeleton, dynamics::BodyNode *parent, const body &b,
                             const dyn_model *model) {
    if (b.joint < 0) {
        return add<dynamics::WeldJoint>(skeleton, parent, b, model, dynamics::WeldJoint::Properties());
    }
    const dyn_joint *joint = dyn_model_joint(model, b.joint);
    Eigen::Vector3d axis = Eigen::Map<const Eigen::Vector3d>(joint->axis);
    dynamics::RevoluteJoint::Properties revolute;
    dynamics::PrismaticJoint::Properties prismatic;
    revolute.mAxis = prismatic.mAxis = axis;
    switch (joint->type) {
    case DYN_JOINT_TYPE_REVOLUTE:
    case DYN_JOINT_TYPE_CONTINUOUS:
        return add<dynamics::RevoluteJoint>(skeleton, parent, b, model, revolute);
    case DYN_JOINT_TYPE_PRISMATIC:
        return add<dynamics::PrismaticJoint>(skeleton, parent, b, model, prismatic);
    case DYN_JOINT_TYPE_FLOATING:
        return add<dynamics::FreeJoint>(skeleton, parent, b, model, dynamics::FreeJoint::Properties());
    default:
        return nullptr;
    }
}

/* Builds the skeleton. Returns false, with the reason, where DART lacks a joint's type. */
bool build(peer &p, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    std::vector<body> bodies(static_cast<size_t>(dyn_model_link_count(p.model)));
    std::vector<dynamics::BodyNode *> nodes;
    bodies.resize(static_cast<size_t>(bodies_list(p.model, merge_fixed, bodies.data())));
    p.node.resize(static_cast<size_t>(dyn_model_link_count(p.model)));
    for (const body &b : bodies) {
        dynamics::BodyNode *parent = b.parent < 0 ? nullptr : nodes[static_cast<size_t>(b.parent)];
        dynamics::BodyNode *node = add_body(p.skeleton, parent, b, p.model);
        if (!node || (b.joint >= 0 && dyn_model_joint(p.model, b.joint)->master >= 0)) {
            std::snprintf(reason, PEER_REASON_SIZE, "DART has no such joint as %s",
                          dyn_model_joint(p.model, b.joint)->name);
            return false;
        }
        p.has_welds = p.has_welds || b.joint < 0;
        nodes.push_back(node);
        p.node[static_cast<size_t>(b.link)] = node;
    }
    return true;
}

peer *create(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]) {
    auto p = std::make_unique<peer>();
    double g[3];
    p->model = model;
    p->skeleton = dynamics::Skeleton::create("robot");
    dyn_model_gravity(model, g);
    p->skeleton->setGravity(Eigen::Map<Eigen::Vector3d>(g));
    /* DART warns on standard error of bodies without mass, which represent frames here. */
    std::cerr.setstate(std::ios::failbit);
    bool built = build(*p, merge_fixed, reason);
    std::cerr.clear();
    if (!built) {
        return nullptr;
    }
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        auto *node = p->node[static_cast<size_t>(dyn_model_joint(model, j)->child_link)];
        p->address.push_back(static_cast<int>(node->getParentJoint()->getIndexInSkeleton(0)));
    }
    p->q = p->x = p->zero = Eigen::VectorXd::Zero(dyn_model_nv(model));
    base_convention convention = {};
    convention.angular_first = true;
    return coordinates_create(&p->velocity, model, convention, p->address.data()) ? p.release() : nullptr;
}

void destroy(peer *robot) {
    delete robot;
}

/* ---- conversion -------------------------------------------------------------------------------------------------- */

void set_configuration(peer *p, const double *q) {
    for (int j = 0; j < dyn_model_joint_count(p->model); j++) {
        const dyn_joint *joint = dyn_model_joint(p->model, j);
        const double *from = q + joint->q_index;
        int to = p->address[static_cast<size_t>(j)];
        if (joint->type == DYN_JOINT_TYPE_FLOATING) {
            Eigen::Isometry3d T = Eigen::Isometry3d::Identity();
            T.linear() = Eigen::Quaterniond(from[6], from[3], from[4], from[5]).toRotationMatrix();
            T.translation() = Eigen::Map<const Eigen::Vector3d>(from);
            p->q.segment<6>(to) = dynamics::FreeJoint::convertToPositions(T);
        } else {
            p->q[to] = *from;
        }
    }
    p->skeleton->setPositions(p->q);
}

const Eigen::VectorXd &store(peer *p, const double *x) {
    coordinates_to_peer(&p->velocity, x, p->x.data());
    return p->x;
}

void set_state(peer *p, const algorithm_input *in) {
    set_configuration(p, in->q);
    p->skeleton->setVelocities(store(p, in->v));
}

bool copy(peer *p, const Eigen::VectorXd &x, double *out) {
    if (out) {
        coordinates_from_peer(&p->velocity, x.data(), out);
    }
    return true;
}

bool copy_square(peer *p, const Eigen::MatrixXd &matrix, double *out) {
    if (out) {
        row_major rows = matrix;
        coordinates_square_from_peer(&p->velocity, rows.data(), out);
    }
    return true;
}

bool copy_rows(peer *p, const Eigen::Ref<const Eigen::MatrixXd> &matrix, double *out) {
    if (out) {
        row_major rows = matrix;
        coordinates_rows_from_peer(&p->velocity, rows.data(), static_cast<int>(rows.rows()), out);
    }
    return true;
}

bool copy_vectors(const Eigen::Vector3d &first, const Eigen::Vector3d &second, double *out) {
    if (out) {
        std::copy_n(first.data(), 3, out);
        std::copy_n(second.data(), 3, out + 3);
    }
    return true;
}

bool copy_number(double x, double *out) {
    if (out) {
        *out = x;
    }
    return true;
}

dynamics::BodyNode *node_of(const peer *p, const algorithm_input *in) {
    return p->node[static_cast<size_t>(in->frame)];
}

/* ---- dynamics ---------------------------------------------------------------------------------------------------- */

bool rnea(peer *p, const algorithm_input *in, double *tau) {
    set_state(p, in);
    p->skeleton->setAccelerations(store(p, in->a));
    p->skeleton->computeInverseDynamics();
    return copy(p, p->skeleton->getForces(), tau);
}

/* Computes the wrenches of the joints, which DART's inverse dynamics stores in the bodies. */
bool joint_wrenches(peer *p, const algorithm_input *in, double *out) {
    rnea(p, in, nullptr);
    for (int j = 0; out && j < dyn_model_joint_count(p->model); j++) {
        auto *node = p->node[static_cast<size_t>(dyn_model_joint(p->model, j)->child_link)];
        std::copy_n(node->getBodyForce().data(), 6, out + 6 * j);
    }
    return true;
}

bool bias(peer *p, const algorithm_input *in, double *h) {
    set_state(p, in);
    return copy(p, p->skeleton->getCoriolisAndGravityForces(), h);
}

bool coriolis_forces(peer *p, const algorithm_input *in, double *c) {
    set_state(p, in);
    return copy(p, p->skeleton->getCoriolisForces(), c);
}

bool gravity(peer *p, const algorithm_input *in, double *g) {
    set_configuration(p, in->q);
    return copy(p, p->skeleton->getGravityForces(), g);
}

bool crba(peer *p, const algorithm_input *in, double *M) {
    set_configuration(p, in->q);
    return copy_square(p, p->skeleton->getMassMatrix(), M);
}

/* Computes M^-1. Returns false where the robot has weld joints: with a weld joint between moving ones, DART's inverse
 * times its own mass matrix is not the identity. */
bool minverse(peer *p, const algorithm_input *in, double *inverse) {
    if (p->has_welds) {
        return false;
    }
    set_configuration(p, in->q);
    return copy_square(p, p->skeleton->getInvMassMatrix(), inverse);
}

bool aba(peer *p, const algorithm_input *in, double *a) {
    set_state(p, in);
    p->skeleton->setForces(store(p, in->tau));
    p->skeleton->computeForwardDynamics();
    return copy(p, p->skeleton->getAccelerations(), a);
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

bool kinetic_energy(peer *p, const algorithm_input *in, double *T) {
    set_state(p, in);
    return copy_number(p->skeleton->computeKineticEnergy(), T);
}

bool center_of_mass(peer *p, const algorithm_input *in, double *c) {
    set_configuration(p, in->q);
    Eigen::Vector3d found = p->skeleton->getCOM();
    if (c) {
        std::copy_n(found.data(), 3, c);
    }
    return true;
}

bool center_of_mass_motion(peer *p, const algorithm_input *in, double *out) {
    set_state(p, in);
    p->skeleton->setAccelerations(store(p, in->a));
    return copy_vectors(p->skeleton->getCOMLinearVelocity(), p->skeleton->getCOMLinearAcceleration(), out);
}

bool center_of_mass_jacobian(peer *p, const algorithm_input *in, double *J) {
    set_configuration(p, in->q);
    return copy_rows(p, p->skeleton->getCOMLinearJacobian(), J);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

bool pose(peer *p, const algorithm_input *in, double *out) {
    if (!node_of(p, in)) {
        return false;
    }
    set_configuration(p, in->q);
    const Eigen::Isometry3d &T = node_of(p, in)->getWorldTransform();
    for (int i = 0; out && i < 12; i++) {
        out[i] = i < 3 ? T.translation()[i] : T.linear()((i - 3) / 3, i % 3);
    }
    return true;
}

bool jacobian(peer *p, const algorithm_input *in, double *J) {
    if (!node_of(p, in)) {
        return false;
    }
    set_configuration(p, in->q);
    return copy_rows(p, p->skeleton->getWorldJacobian(node_of(p, in)), J);
}

bool jacobian_rate(peer *p, const algorithm_input *in, double *dJ) {
    if (!node_of(p, in)) {
        return false;
    }
    set_state(p, in);
    return copy_rows(p, p->skeleton->getJacobianClassicDeriv(node_of(p, in)), dJ);
}

bool twist(peer *p, const algorithm_input *in, double *V) {
    if (!node_of(p, in)) {
        return false;
    }
    set_state(p, in);
    return copy_vectors(node_of(p, in)->getAngularVelocity(), node_of(p, in)->getLinearVelocity(), V);
}

bool frame_acceleration(peer *p, const algorithm_input *in, double *A) {
    if (!node_of(p, in)) {
        return false;
    }
    set_state(p, in);
    p->skeleton->setAccelerations(store(p, in->a));
    return copy_vectors(node_of(p, in)->getAngularAcceleration(), node_of(p, in)->getLinearAcceleration(), A);
}

const peer_algorithm algorithms[] = {
    {ALGORITHM_RNEA, rnea},
    {ALGORITHM_BIAS, bias},
    {ALGORITHM_CORIOLIS_FORCES, coriolis_forces},
    {ALGORITHM_GRAVITY, gravity},
    {ALGORITHM_CRBA, crba},
    {ALGORITHM_MINVERSE, minverse},
    {ALGORITHM_ABA, aba},
    {ALGORITHM_KINETIC_ENERGY, kinetic_energy},
    {ALGORITHM_CENTER_OF_MASS, center_of_mass},
    {ALGORITHM_CENTER_OF_MASS_MOTION, center_of_mass_motion},
    {ALGORITHM_CENTER_OF_MASS_JACOBIAN, center_of_mass_jacobian},
    {ALGORITHM_POSE, pose},
    {ALGORITHM_JACOBIAN, jacobian},
    {ALGORITHM_JACOBIAN_RATE, jacobian_rate},
    {ALGORITHM_TWIST, twist},
    {ALGORITHM_FRAME_ACCELERATION, frame_acceleration},
    {ALGORITHM_JOINT_WRENCHES, joint_wrenches},
    {ALGORITHM_COUNT, nullptr},
};

} // namespace

extern "C" const peer_library dart_library = {"DART 6.12", "dart",  1e-9,    true,      true,
                                              create,      nullptr, destroy, algorithms};
