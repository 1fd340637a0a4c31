/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modes of a beam with what it carries. Each carried part moves as one body with the cross section of the beam at the
 * distance s from the start, where the axis of the beam has the point p. In a unit of a mode the section moves by
 * phi(s) and turns by theta(s) = phi'(s) (along x across), so that a point r of the part moves by
 *
 *     phi(s) + theta(s) x (r - p)  =  N (r; 1)          N = [theta~, phi(s) - theta x p]
 *
 * With the pseudo-inertia J of the part, the integral of (r; 1)(r; 1)' dm, its integrals are
 *
 *     integral of phi_f (r; 1)' dm = N_f J          integral of phi_f phi_g' dm = N_f J N_g'
 *
 * Source: the symbols are those of book_flexible.c. Meirovitch 1967, section 5.10, has the beam with a mass at its end.
 */
#include <math.h>
#include <string.h>

#include <dynamics/flexible_chain.h>

#include "../model/beam_shape.h"
#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/placement.h"
#include "../model/vector3.h"

enum { MOST_MODES = 2 * DYN_BEAM_MODES };

/* Beam with its load, and its modes that are being completed. */
typedef struct loaded_beam {
    const dyn_beam *beam;
    const dyn_beam_load *load;
    beam_axes axes;
    int count, total; /* modes in a plane, and in all planes */
    beam_shape shapes[DYN_BEAM_MODES];
    dyn_flexible_mode *modes;
    double *products;
} loaded_beam;

/* Motion of a cross section in each mode: N, 3 x 4. */
typedef struct beam_section {
    double N[MOST_MODES][12];
} beam_section;

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Computes the pose of link i in the frame of the link of the beam, which moves with it. */
static void pose_in_link(const loaded_beam *b, int i, dyn_pose *pose) {
    const dyn_pose *link = &b->load->model->links[b->load->link].pose;
    dyn_pose back;
    rotation_transpose(link->rotation, back.rotation);
    rotation_apply(back.rotation, link->position, back.position);
    for (int k = 0; k < 3; k++) {
        back.position[k] = -back.position[k];
    }
    pose_compose(&back, &b->load->model->links[i].pose, pose);
}

static int parent_of(const dyn_model *model, int i) {
    const dyn_builder *description = model->description;
    int joint = name_index_find(&description->joint_names, model->links[i].parent_joint);
    return name_index_find(&model->link_names, description->joints[joint].parent_link);
}

/* Returns the link that a fixed joint attaches to that of the beam and that is or carries link i; the link of the beam
 * for itself; -1 where the beam does not carry link i. */
static int branch_of(const loaded_beam *b, int i) {
    const dyn_model *model = b->load->model;
    int moving_joint = model->links[b->load->link].moving_joint, branch = b->load->link;
    if (model->links[i].moving_joint != moving_joint) {
        return -1;
    }
    while (i != b->load->link) {
        if (i == model->joints[moving_joint].child_link) {
            return -1;
        }
        branch = i;
        i = parent_of(model, i);
    }
    return branch;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* Computes the motion of the section next to a point of the link's frame. */
static void section_next_to(const loaded_beam *b, const double point[3], beam_section *section) {
    double from_start[3], p[3];
    for (int i = 0; i < 3; i++) {
        from_start[i] = point[i] - b->beam->start[i];
    }
    double s = fmin(fmax(vector3_dot(from_start, b->axes.along), 0), b->axes.length);
    for (int i = 0; i < 3; i++) {
        p[i] = b->beam->start[i] + s * b->axes.along[i];
    }
    for (int f = 0; f < b->total; f++) {
        const double *across = b->axes.across[f / b->count];
        double slope, phi = beam_shape_at(&b->shapes[f % b->count], s, &slope), theta[3], moved[3];
        vector3_cross(b->axes.along, across, theta);
        for (int i = 0; i < 3; i++) {
            theta[i] *= slope;
        }
        vector3_cross(theta, p, moved);
        const double N[12] = {0,         -theta[2], theta[1],  phi * across[0] - moved[0],
                              theta[2],  0,         -theta[0], phi * across[1] - moved[1],
                              -theta[1], theta[0],  0,         phi * across[2] - moved[2]};
        memcpy(section->N[f], N, sizeof N);
    }
}

/* Computes the motion of the section that carries a branch, next to its origin. */
static void section_of_branch(const loaded_beam *b, int branch, beam_section *section) {
    dyn_pose pose;
    pose_in_link(b, branch, &pose);
    section_next_to(b, pose.position, section);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* Adds the integrals of a body that moves with a section: of a link or a payload, whose frame is that of link i. */
static void add_part(const loaded_beam *b, const beam_section *section, const dyn_inertia *inertia, int i) {
    dyn_pose place;
    pose_in_link(b, i, &place);
    mass_properties part = link_mass_properties(inertia, &place);
    const double *I = part.inertia, *h = part.first_moment, half = (I[0] + I[3] + I[5]) / 2;
    const double J[16] = {half - I[0], -I[1], -I[2],       h[0], -I[1], half - I[3], -I[4], h[1],
                          -I[2],       -I[4], half - I[5], h[2], h[0],  h[1],        h[2],  part.mass};
    for (int f = 0; f < b->total; f++) {
        double NJ[12] = {0};
        for (int k = 0; k < 48; k++) {
            NJ[k / 4] += section->N[f][k / 16 * 4 + k % 4] * J[k % 4 * 4 + k / 4 % 4];
        }
        for (int k = 0; k < 12; k++) {
            double *to = k % 4 == 3 ? &b->modes[f].first_moment[k / 4] : &b->modes[f].moments[k / 4 * 3 + k % 4];
            *to += NJ[k];
        }
        for (int g = 0; g < b->total; g++) {
            double *product = b->products + 9 * (f * b->total + g);
            for (int k = 0; k < 36; k++) {
                product[k / 4] += NJ[k / 12 * 4 + k % 4] * section->N[g][k / 4 % 3 * 4 + k % 4];
            }
        }
    }
}

static bool is_replaced(const dyn_beam_load *load, int link) {
    for (size_t k = 0; k < load->payload_count; k++) {
        if (load->payloads[k].link == link && load->payloads[k].replaces) {
            return true;
        }
    }
    return false;
}

static void add_links(const loaded_beam *b) {
    const dyn_model *model = b->load->model;
    for (int i = 0; i < model->link_count; i++) {
        int branch = branch_of(b, i);
        if (branch >= 0 && branch != b->load->link && !is_replaced(b->load, i)) {
            beam_section section;
            section_of_branch(b, branch, &section);
            add_part(b, &section, &model->links[i].inertia, i);
        }
    }
}

static void add_payloads(const loaded_beam *b) {
    for (size_t k = 0; k < b->load->payload_count; k++) {
        const dyn_payload *payload = &b->load->payloads[k];
        int branch = branch_of(b, payload->link);
        beam_section section;
        if (branch < 0 || (branch == b->load->link && payload->replaces)) {
            continue;
        }
        if (branch == b->load->link) {
            section_next_to(b, payload->inertia.center_of_mass, &section);
        } else {
            section_of_branch(b, branch, &section);
        }
        add_part(b, &section, &payload->inertia, payload->link);
    }
}

/* Returns the joint that the body of the beam carries, or -1. */
static int next_joint(const loaded_beam *b) {
    const dyn_model *model = b->load->model;
    for (int j = 0; j < model->joint_count; j++) {
        int parent = model->joints[j].parent_link;
        if (parent >= 0 && model->links[parent].moving_joint == model->links[b->load->link].moving_joint) {
            return j;
        }
    }
    return -1;
}

/* Sets the displacement and the rotation of the next joint, if there is one. */
static void move_next_joint(const loaded_beam *b) {
    const dyn_model *model = b->load->model;
    int next = next_joint(b);
    if (next < 0) {
        return;
    }
    int parent = model->joints[next].parent_link, branch = branch_of(b, parent);
    beam_section section = {0};
    dyn_pose carrier, place;
    pose_in_link(b, parent, &carrier);
    pose_compose(&carrier, &model->joints[next].origin, &place);
    if (branch == b->load->link) {
        section_next_to(b, place.position, &section);
    } else if (branch >= 0) {
        section_of_branch(b, branch, &section);
    }
    for (int f = 0; f < b->total; f++) {
        const double *N = section.N[f], theta[3] = {N[9], N[2], N[4]};
        memcpy(b->modes[f].rotation, theta, sizeof theta);
        for (int i = 0; i < 3; i++) {
            b->modes[f].end[i] = vector3_dot(N + 4 * i, place.position) + N[4 * i + 3];
        }
    }
}

dyn_status dyn_beam_carry(const dyn_beam *beam, int count, const dyn_beam_load *load, dyn_flexible_mode *modes,
                          double *products, dyn_error *error) {
    loaded_beam b = {.beam = beam, .load = load, .count = count, .modes = modes, .products = products};
    if (load->link < 0 || load->link >= load->model->link_count || load->model->links[load->link].moving_joint < 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "load.link",
                             "no link that moves has the number %d; see dyn_model_find_frame", load->link);
    }
    b.total = beam->rigidity[1] > 0 ? 2 * count : count;
    beam_axes_between(beam->start, beam->end, &b.axes);
    beam_axes_bend(beam->direction, &b.axes);
    for (int f = 0; f < count; f++) {
        b.shapes[f] = beam_shape_of(f, b.axes.length);
    }
    add_links(&b);
    add_payloads(&b);
    move_next_joint(&b);
    return DYN_OK;
}
