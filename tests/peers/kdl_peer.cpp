/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer that computes with Orocos KDL. It builds a tree from the model's description as kdl_parser builds one from a
 * file. A serial chain uses KDL's chain solvers, which are faster and more complete than those for trees.
 */
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainfksolvervel_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacdotsolver.hpp>
#include <kdl/chainjnttojacsolver.hpp>
#include <kdl/tree.hpp>
#include <kdl/treefksolverpos_recursive.hpp>
#include <kdl/treeidsolver_recursive_newton_euler.hpp>
#include <kdl/treejnttojacsolver.hpp>

#include "peer.h"

namespace {

/* Solvers of a serial chain. */
struct chain_solvers {
    chain_solvers(const KDL::Tree &tree, const std::string &root, const std::string &tip, const KDL::Vector &gravity)
        : chain(find_chain(tree, root, tip)), wrenches(chain.getNrOfSegments()), inverse(chain, gravity),
          parameters(chain, gravity), forward(chain, gravity), pose(chain), velocity(chain), jacobian(chain),
          rate(chain) {}

    static KDL::Chain find_chain(const KDL::Tree &tree, const std::string &root, const std::string &tip) {
        KDL::Chain chain;
        tree.getChain(root, tip, chain);
        return chain;
    }

    KDL::Chain chain;
    KDL::Wrenches wrenches;
    KDL::ChainIdSolver_RNE inverse;
    KDL::ChainDynParam parameters;
    KDL::ChainFdSolver_RNE forward;
    KDL::ChainFkSolverPos_recursive pose;
    KDL::ChainFkSolverVel_recursive velocity;
    KDL::ChainJntToJacSolver jacobian;
    KDL::ChainJntToJacDotSolver rate;
};

/* Solvers of a tree. */
struct tree_solvers {
    tree_solvers(const KDL::Tree &tree, const KDL::Vector &gravity)
        : inverse(tree, gravity), pose(tree), jacobian(tree) {}

    KDL::WrenchMap wrenches;
    KDL::TreeIdSolver_RNE inverse;
    KDL::TreeFkSolverPos_recursive pose;
    KDL::TreeJntToJacSolver jacobian;
};

KDL::Frame to_frame(const dyn_pose &pose) {
    const double *R = pose.rotation, *p = pose.position;
    return KDL::Frame(KDL::Rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]),
                      KDL::Vector(p[0], p[1], p[2]));
}

KDL::RigidBodyInertia to_inertia(const dyn_inertia &body) {
    const double *c = body.center_of_mass, *I = body.rotational;
    return KDL::RigidBodyInertia(body.mass, KDL::Vector(c[0], c[1], c[2]),
                                 KDL::RotationalInertia(I[0], I[3], I[5], I[1], I[2], I[4]));
}

KDL::Joint to_joint(const dyn_joint &joint) {
    KDL::Frame origin = to_frame(joint.origin);
    KDL::Vector axis = origin.M * KDL::Vector(joint.axis[0], joint.axis[1], joint.axis[2]);
    bool turns = joint.type != DYN_JOINT_TYPE_PRISMATIC;
    return KDL::Joint(joint.name, origin.p, axis, turns ? KDL::Joint::RotAxis : KDL::Joint::TransAxis);
}

bool is_supported(const dyn_joint &joint) {
    bool simple = joint.type == DYN_JOINT_TYPE_REVOLUTE || joint.type == DYN_JOINT_TYPE_CONTINUOUS ||
                  joint.type == DYN_JOINT_TYPE_PRISMATIC;
    return simple && joint.master < 0;
}

/* Returns the joint whose child link is `link`, or NULL. */
const dyn_joint *joint_of(const dyn_model *model, int link) {
    int moving = dyn_model_link(model, link)->moving_joint;
    const dyn_joint *joint = moving < 0 ? nullptr : dyn_model_joint(model, moving);
    return joint && joint->child_link == link ? joint : nullptr;
}

/* Adds a link and the joint that carries it. Links come depth-first, so that KDL numbers the joints in our order. */
void add_segment(KDL::Tree &tree, const dyn_model *model, int i) {
    const dyn_link *link = dyn_model_link(model, i);
    const dyn_joint *joint = joint_of(model, i);
    if (joint) {
        const char *parent = dyn_model_link(model, joint->parent_link)->name;
        tree.addSegment(KDL::Segment(link->name, to_joint(*joint), to_frame(joint->origin), to_inertia(link->inertia)),
                        parent);
        return;
    }
    int carrier = link->moving_joint < 0 ? 0 : dyn_model_joint(model, link->moving_joint)->child_link;
    KDL::Segment fixed(link->name, KDL::Joint(KDL::Joint::Fixed), to_frame(link->pose), to_inertia(link->inertia));
    tree.addSegment(fixed, dyn_model_link(model, carrier)->name);
}

} // namespace

struct peer {
    explicit peer(const dyn_model *described)
        : model(described), nv(static_cast<unsigned>(dyn_model_nv(described))),
          tree(dyn_model_link(described, 0)->name), q(nv), v(nv), x(nv), result(nv), zero(nv), motion(nv), jacobian(nv),
          mass(nv) {
        double g[3];
        dyn_model_gravity(model, g);
        KDL::Vector gravity(g[0], g[1], g[2]);
        int links = dyn_model_link_count(model);
        for (int i = 1; i < links; i++) {
            add_segment(tree, model, i);
        }
        const char *root = dyn_model_link(model, 0)->name, *tip = dyn_model_link(model, links - 1)->name;
        KDL::Chain chain = chain_solvers::find_chain(tree, root, tip);
        if (chain.getNrOfSegments() == tree.getNrOfSegments()) {
            as_chain = std::make_unique<chain_solvers>(tree, root, tip, gravity);
        } else {
            as_tree = std::make_unique<tree_solvers>(tree, gravity);
        }
    }

    int inverse(const KDL::JntArray &speed, const KDL::JntArray &acceleration) {
        return as_chain ? as_chain->inverse.CartToJnt(q, speed, acceleration, as_chain->wrenches, result)
                        : as_tree->inverse.CartToJnt(q, speed, acceleration, as_tree->wrenches, result);
    }

    const dyn_model *model;
    unsigned nv;
    KDL::Tree tree;
    KDL::JntArray q, v, x, result, zero;
    KDL::JntArrayVel motion;
    KDL::Jacobian jacobian;
    KDL::JntSpaceInertiaMatrix mass;
    std::unique_ptr<chain_solvers> as_chain;
    std::unique_ptr<tree_solvers> as_tree;
};

namespace {

void load(KDL::JntArray &to, const double *from) {
    std::copy_n(from, to.rows(), to.data.data());
}

peer *create(const dyn_model *model, bool, char reason[PEER_REASON_SIZE]) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (!is_supported(*joint)) {
            std::snprintf(reason, PEER_REASON_SIZE, "KDL has no such joint as %s", joint->name);
            return nullptr;
        }
    }
    return new peer(model);
}

void destroy(peer *robot) {
    delete robot;
}

/* Stores a result in `to`, unless that is NULL. Returns whether KDL's code reports success. */
bool store(int code, const KDL::JntArray &from, double *to) {
    if (to) {
        std::copy_n(from.data.data(), from.rows(), to);
    }
    return code >= 0;
}

bool rnea(peer *robot, const algorithm_input *in, double *tau) {
    load(robot->q, in->q);
    load(robot->v, in->v);
    load(robot->x, in->a);
    return store(robot->inverse(robot->v, robot->x), robot->result, tau);
}

bool bias(peer *robot, const algorithm_input *in, double *h) {
    load(robot->q, in->q);
    load(robot->v, in->v);
    return store(robot->inverse(robot->v, robot->zero), robot->result, h);
}

bool gravity(peer *robot, const algorithm_input *in, double *g) {
    load(robot->q, in->q);
    if (robot->as_chain) {
        return store(robot->as_chain->parameters.JntToGravity(robot->q, robot->result), robot->result, g);
    }
    return store(robot->inverse(robot->zero, robot->zero), robot->result, g);
}

bool coriolis_forces(peer *robot, const algorithm_input *in, double *c) {
    if (!robot->as_chain) {
        return false;
    }
    load(robot->q, in->q);
    load(robot->v, in->v);
    return store(robot->as_chain->parameters.JntToCoriolis(robot->q, robot->v, robot->result), robot->result, c);
}

bool crba(peer *robot, const algorithm_input *in, double *M) {
    if (!robot->as_chain) {
        return false;
    }
    load(robot->q, in->q);
    int code = robot->as_chain->parameters.JntToMass(robot->q, robot->mass);
    if (M) {
        std::copy_n(robot->mass.data.data(), robot->mass.data.size(), M);
    }
    return code >= 0;
}

/* Computes forward dynamics by the mass matrix and its factors. Returns false where the robot is no serial chain. */
bool forward_dynamics(peer *robot, const algorithm_input *in, double *a) {
    if (!robot->as_chain) {
        return false;
    }
    load(robot->q, in->q);
    load(robot->v, in->v);
    load(robot->x, in->tau);
    int code =
        robot->as_chain->forward.CartToJnt(robot->q, robot->v, robot->x, robot->as_chain->wrenches, robot->result);
    return store(code, robot->result, a);
}

bool pose(peer *robot, const algorithm_input *in, double *out) {
    load(robot->q, in->q);
    KDL::Frame frame;
    /* In a chain, i segments precede link i. */
    int code = robot->as_chain
                   ? robot->as_chain->pose.JntToCart(robot->q, frame, in->frame)
                   : robot->as_tree->pose.JntToCart(robot->q, frame, dyn_model_link(robot->model, in->frame)->name);
    if (out) {
        std::copy_n(frame.p.data, 3, out);
        std::copy_n(frame.M.data, 9, out + 3);
    }
    return code >= 0;
}

/* Stores the Jacobian with the angular rows first, unless `to` is NULL; KDL has the linear rows first. Returns whether
 * KDL's code reports success. */
bool store_rows(int code, const peer *robot, double *to) {
    for (unsigned row = 0; to && row < 6; row++) {
        for (unsigned column = 0; column < robot->nv; column++) {
            to[row * robot->nv + column] = robot->jacobian((row + 3) % 6, column);
        }
    }
    return code >= 0;
}

bool jacobian(peer *robot, const algorithm_input *in, double *J) {
    load(robot->q, in->q);
    int code = robot->as_chain ? robot->as_chain->jacobian.JntToJac(robot->q, robot->jacobian, in->frame)
                               : robot->as_tree->jacobian.JntToJac(robot->q, robot->jacobian,
                                                                   dyn_model_link(robot->model, in->frame)->name);
    return store_rows(code, robot, J);
}

bool jacobian_rate(peer *robot, const algorithm_input *in, double *dJ) {
    if (!robot->as_chain) {
        return false;
    }
    load(robot->motion.q, in->q);
    load(robot->motion.qdot, in->v);
    return store_rows(robot->as_chain->rate.JntToJacDot(robot->motion, robot->jacobian, in->frame), robot, dJ);
}

bool twist(peer *robot, const algorithm_input *in, double *V) {
    if (!robot->as_chain) {
        return false;
    }
    load(robot->motion.q, in->q);
    load(robot->motion.qdot, in->v);
    KDL::FrameVel frame;
    int code = robot->as_chain->velocity.JntToCart(robot->motion, frame, in->frame);
    if (V) {
        std::copy_n(frame.M.w.data, 3, V);
        std::copy_n(frame.p.v.data, 3, V + 3);
    }
    return code >= 0;
}

const peer_algorithm algorithms[] = {
    {ALGORITHM_RNEA, rnea},       {ALGORITHM_BIAS, bias},         {ALGORITHM_CORIOLIS_FORCES, coriolis_forces},
    {ALGORITHM_GRAVITY, gravity}, {ALGORITHM_CRBA, crba},         {ALGORITHM_ABA, forward_dynamics},
    {ALGORITHM_POSE, pose},       {ALGORITHM_JACOBIAN, jacobian}, {ALGORITHM_JACOBIAN_RATE, jacobian_rate},
    {ALGORITHM_TWIST, twist},     {ALGORITHM_COUNT, nullptr},
};

} // namespace

extern "C" const peer_library kdl_library = {"Orocos KDL 1.5", "kdl",   1e-10,   false,     true,
                                             create,           nullptr, destroy, algorithms};
