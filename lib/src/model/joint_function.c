/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of custom joints as pieces of polynomials.
 *
 * Natural cubic spline: the curvatures m_i at the knots satisfy, with m_0 = m_(n-1) = 0 and h_i = x_(i+1) - x_i,
 *     h_(i-1) m_(i-1) + 2 (h_(i-1) + h_i) m_i + h_i m_(i+1) = 6 (d_i - d_(i-1))      d_i = (y_(i+1) - y_i) / h_i
 *
 * Source: de Boor 1978, "A Practical Guide to Splines", chapters 1 and 4.
 */
#include "joint_function.h"

#include <math.h>
#include <string.h>

#include "error.h"

int function_piece_count(const dyn_joint_function *function) {
    return function->kind == DYN_FUNCTION_KIND_POLYNOMIAL ? 1 : function->count + 1;
}

/* Computes slopes and curvatures of the natural cubic spline at its knots. */
static void natural_spline(const dyn_joint_function *f, double *slopes, double *curvatures) {
    double diagonal[DYN_MAX_KNOTS], right[DYN_MAX_KNOTS];
    const double *x = f->knots, *y = f->values;
    int n = f->count;
    curvatures[0] = curvatures[n - 1] = 0;
    for (int i = 1; i < n - 1; i++) {
        double h = x[i] - x[i - 1], next = x[i + 1] - x[i];
        diagonal[i] = 2 * (h + next);
        right[i] = 6 * ((y[i + 1] - y[i]) / next - (y[i] - y[i - 1]) / h);
        if (i > 1) {
            double factor = h / diagonal[i - 1];
            diagonal[i] -= factor * h;
            right[i] -= factor * right[i - 1];
        }
    }
    for (int i = n - 2; i > 0; i--) {
        curvatures[i] = (right[i] - (x[i + 1] - x[i]) * curvatures[i + 1]) / diagonal[i];
    }
    for (int i = 0; i < n - 1; i++) {
        double h = x[i + 1] - x[i];
        slopes[i] = (y[i + 1] - y[i]) / h - h * (2 * curvatures[i] + curvatures[i + 1]) / 6;
    }
    double h = x[n - 1] - x[n - 2];
    slopes[n - 1] = (y[n - 1] - y[n - 2]) / h + h * curvatures[n - 2] / 6;
}

/* Computes the piece from knot i on that has value, slope and curvature there, and is of degree two. */
static function_piece piece_at_knot(const dyn_joint_function *f, int i, const double *slopes,
                                    const double *curvatures) {
    return (function_piece){
        .from = f->knots[i], .origin = f->knots[i], .terms = {f->values[i], slopes[i], curvatures[i] / 2}};
}

/* Adds the terms by which the piece from knot i on reaches value, slope and curvature of the next knot. */
static void reach_next_knot(const dyn_joint_function *f, int i, const double *slopes, const double *curvatures,
                            function_piece *piece) {
    double h = f->knots[i + 1] - f->knots[i], *t = piece->terms;
    double y = f->values[i + 1] - (t[0] + h * (t[1] + h * t[2]));
    double d = (slopes[i + 1] - (t[1] + 2 * h * t[2])) * h, c = (curvatures[i + 1] - 2 * t[2]) * h * h;
    t[3] = (10 * y - 4 * d + c / 2) / (h * h * h);
    t[4] = (-15 * y + 7 * d - c) / (h * h * h * h);
    t[5] = (6 * y - 3 * d + c / 2) / (h * h * h * h * h);
}

void function_pieces(const dyn_joint_function *f, function_piece *pieces) {
    double slopes[DYN_MAX_KNOTS], curvatures[DYN_MAX_KNOTS];
    bool is_cubic = f->kind == DYN_FUNCTION_KIND_CUBIC_SPLINE;
    int n = f->count;
    if (f->kind == DYN_FUNCTION_KIND_POLYNOMIAL) {
        pieces[0] = (function_piece){0};
        memcpy(pieces[0].terms, f->coefficients, (size_t)n * sizeof *f->coefficients);
        return;
    }
    if (is_cubic) {
        natural_spline(f, slopes, curvatures);
    } else {
        memcpy(slopes, f->slopes, (size_t)n * sizeof *slopes);
        memcpy(curvatures, f->curvatures, (size_t)n * sizeof *curvatures);
    }
    pieces[0] = piece_at_knot(f, 0, slopes, curvatures);
    for (int i = 0; i < n; i++) {
        pieces[i + 1] = piece_at_knot(f, i, slopes, curvatures);
        if (is_cubic && i < n - 1) {
            pieces[i + 1].terms[3] = (curvatures[i + 1] - curvatures[i]) / (6 * (f->knots[i + 1] - f->knots[i]));
        } else if (i < n - 1) {
            reach_next_knot(f, i, slopes, curvatures, &pieces[i + 1]);
        }
    }
}

void function_pieces_at(const function_piece *pieces, int count, double x, double derivatives[4]) {
    const function_piece *piece = pieces;
    for (int i = 1; i < count && x > pieces[i].from; i++) {
        piece = &pieces[i];
    }
    double u = x - piece->origin;
    memset(derivatives, 0, 4 * sizeof *derivatives);
    for (int k = DYN_MAX_FUNCTION_TERMS - 1; k >= 0; k--) {
        derivatives[3] = derivatives[3] * u + derivatives[2];
        derivatives[2] = derivatives[2] * u + derivatives[1];
        derivatives[1] = derivatives[1] * u + derivatives[0];
        derivatives[0] = derivatives[0] * u + piece->terms[k];
    }
    derivatives[2] *= 2;
    derivatives[3] *= 6;
}

bool function_is_constant(const dyn_joint_function *f) {
    const double *rest = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL ? f->coefficients : f->values;
    for (int i = 1; i < f->count; i++) {
        double step = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL ? rest[i] : rest[i] - rest[0];
        if (step != 0) {
            return false;
        }
    }
    for (int i = 0; i < f->count && f->kind == DYN_FUNCTION_KIND_QUINTIC_SPLINE; i++) {
        if (f->slopes[i] != 0 || f->curvatures[i] != 0) {
            return false;
        }
    }
    return true;
}

static dyn_status fail(dyn_error *error, const char *place, int i, double value) {
    return dyn_error_set(error, DYN_INVALID_ARGUMENT, "function", "%s[%d] is %g; state a finite number", place, i,
                         value);
}

static dyn_status check_numbers(const char *place, const double *x, int count, dyn_error *error) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return fail(error, place, i, x[i]);
        }
    }
    return DYN_OK;
}

static dyn_status check_spline(const dyn_joint_function *f, dyn_error *error) {
    const struct {
        const char *place;
        const double *x;
    } all[] = {{"knots", f->knots}, {"values", f->values}, {"slopes", f->slopes}, {"curvatures", f->curvatures}};
    int count = f->kind == DYN_FUNCTION_KIND_CUBIC_SPLINE ? 2 : 4;
    dyn_status status = DYN_OK;
    for (int k = 0; k < count && status == DYN_OK; k++) {
        status = check_numbers(all[k].place, all[k].x, f->count, error);
    }
    for (int i = 1; i < f->count && status == DYN_OK; i++) {
        if (!(f->knots[i] > f->knots[i - 1])) {
            status = dyn_error_set(error, DYN_INVALID_ARGUMENT, "function",
                                   "knots[%d] is %g and does not exceed the knot before, %g; state rising knots", i,
                                   f->knots[i], f->knots[i - 1]);
        }
    }
    return status;
}

dyn_status dyn_joint_function_check(const dyn_joint_function *f, dyn_error *error) {
    bool is_polynomial = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL;
    int least = is_polynomial ? 1 : 2, most = is_polynomial ? DYN_MAX_FUNCTION_TERMS : DYN_MAX_KNOTS;
    if (!is_polynomial && f->kind != DYN_FUNCTION_KIND_CUBIC_SPLINE && f->kind != DYN_FUNCTION_KIND_QUINTIC_SPLINE) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "function", "%d is no kind of function", (int)f->kind);
    }
    if (f->count < least || f->count > most) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "function", "the function has %d %s; state %d to %d",
                             f->count, is_polynomial ? "coefficients" : "knots", least, most);
    }
    dyn_status status =
        is_polynomial ? check_numbers("coefficients", f->coefficients, f->count, error) : check_spline(f, error);
    if (status != DYN_OK) {
        return status;
    }
    function_piece pieces[MAX_FUNCTION_PIECES];
    function_pieces(f, pieces);
    for (int i = 0; i < function_piece_count(f); i++) {
        for (int k = 0; k < DYN_MAX_FUNCTION_TERMS; k++) {
            if (!isfinite(pieces[i].terms[k])) {
                return dyn_error_set(error, DYN_INVALID_ARGUMENT, "function",
                                     "its derivatives overflow beside knots[%d]; state knots farther apart or smaller "
                                     "values",
                                     i > 0 ? i - 1 : 0);
            }
        }
    }
    return DYN_OK;
}

void dyn_joint_function_at(const dyn_joint_function *f, double x, double derivatives[4]) {
    function_piece pieces[MAX_FUNCTION_PIECES];
    function_pieces(f, pieces);
    function_pieces_at(pieces, function_piece_count(f), x, derivatives);
}
