/* SPDX-License-Identifier: BSD-2-Clause */
#include "formula.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "escape.h"
#include "series.h"
#include "specialize.h"

/* Largest factor, as a share of the largest one of the same matrix or vector, that counts as rounding. */
static const double rounding = 1e-10;

/* Length after which a line is broken. */
static const size_t line_length = 100;

/* Limits of the functions that are expanded. */
static const size_limits small_function = {1u << 18, 1000};

/* Writer of the formulas of one model. */
class formula_writer {
  public:
    formula_writer(const dyn_model *m, notation l) : model(m), is_latex(l == notation::latex) {
        for (int i = 0; i < model->joint_count; i++) {
            is_flat = is_flat && dyn_joint_type_traits(model->joints[i].type)->is_flat;
        }
    }

    std::string write() {
        out.exceptions(std::ios::badbit);
        write_heading();
        out << (is_latex ? "\\begin{align*}\n" : "\n");
        write_output("M", algorithm::crba, model->gravity);
        static const double none[3] = {0, 0, 0};
        write_output("c", algorithm::bias, none);
        write_output("g", algorithm::gravity, model->gravity);
        out << (is_latex ? "\n\\end{align*}\n" : "\n");
        return out.str();
    }

  private:
    std::string rate() const {
        return is_latex && is_flat ? "\\dot{q}" : "v";
    }

    std::string subscript(const std::string &name, const std::string &number) const {
        return is_latex ? name + "_{" + number + "}" : name + number;
    }

    std::string subscript(const std::string &name, size_t i) const {
        return subscript(name, std::to_string(i + 1));
    }

    void write_heading() {
        const std::string begin = is_latex ? "% " : "";
        const double *g = model->gravity;
        out << begin << "Equation of motion of " << escaped(model->name)
            << ", written by dynamics-compile " DYNAMICS_VERSION ":\n"
            << begin << "tau = M(q) a + c(q, v) + g(q). Units are SI and radians. Gravity is " << g[0] << " " << g[1]
            << " " << g[2] << ".\n"
            << begin << "Terms below 1e-10 of the largest one of M, c or g are left out.\n";
        for (int i = 0; i < model->joint_count; i++) {
            const dyn_joint *joint = &model->joints[i];
            for (int k = 0; k < joint->nq && joint->master < 0; k++) {
                size_t number = (size_t)(joint->q_index + k);
                out << begin << subscript("q", number) << ", " << subscript(rate(), number) << ": "
                    << escaped(joint->name) << (joint->nq > 1 ? " [" + std::to_string(k) + "]" : "") << "\n";
            }
        }
    }

    void write_output(const char *name, algorithm a, const double gravity[3]) {
        dyn_model at_gravity = *model;
        std::copy(gravity, gravity + 3, at_gravity.gravity);
        compiled_function f = specialize(&at_gravity, a, 0, small_function);
        size_t nv = (size_t)model->nv;
        std::vector<series> sums = expand(f, f.outputs.front(), (size_t)model->nq, nv, MOST_FORMULA_TERMS);
        double largest = 0;
        for (const series &sum : sums) {
            for (const auto &term : sum) {
                largest = std::max(largest, std::fabs(term.second));
            }
        }
        for (size_t i = 0; i < sums.size(); i++) {
            bool is_matrix = a == algorithm::crba;
            if (is_matrix && i % nv < i / nv) {
                continue;
            }
            std::string number =
                is_matrix ? std::to_string(i / nv + 1) + std::to_string(i % nv + 1) : std::to_string(i + 1);
            write_entry(subscript(name, number), sums[i], rounding * largest);
        }
    }

    void write_entry(const std::string &name, const series &sum, double least) {
        out << (is_first ? "" : is_latex ? " \\\\\n" : "\n") << name << (is_latex ? " &= " : " = ");
        is_first = false;
        size_t length = 0;
        bool is_empty = true;
        for (const auto &term : sum) {
            if (std::fabs(term.second) <= least) {
                continue;
            }
            std::string text = written(term.first, std::fabs(term.second));
            const char *sign = term.second < 0 ? (is_empty ? "-" : " - ") : is_empty ? "" : " + ";
            if (length > line_length) {
                out << (is_latex ? " \\\\\n  &\\quad" : "\n     ");
                length = 0;
            }
            out << sign << text;
            length += text.size() + 3;
            is_empty = false;
        }
        out << (is_empty ? "0" : "");
    }

    /* Returns the factors of a term, between products. */
    std::string written(const series_term &term, double factor) const {
        std::vector<std::string> factors;
        char number[32];
        std::snprintf(number, sizeof number, "%.10g", factor);
        std::string angle = angle_of(term), text;
        if (!angle.empty()) {
            factors.push_back(std::string(is_latex ? "\\" : "") + (term.is_sine ? "sin(" : "cos(") + angle + ")");
        }
        for (size_t i = 0; i < term.powers.size(); i++) {
            bool is_q = i < (size_t)model->nq;
            if (term.powers[i] > 0) {
                std::string power = term.powers[i] > 1 ? "^" + std::to_string(term.powers[i]) : "";
                factors.push_back(subscript(is_q ? "q" : rate(), is_q ? i : i - (size_t)model->nq) + power);
            }
        }
        if (factors.empty() || std::string(number) != "1") {
            factors.insert(factors.begin(), latex_number(number));
        }
        for (const std::string &each : factors) {
            text += (text.empty() ? "" : is_latex ? " \\, " : "*") + each;
        }
        return text;
    }

    /* Returns a printed number with its exponent in the notation. */
    std::string latex_number(const std::string &number) const {
        size_t e = number.find('e');
        return !is_latex || e == std::string::npos
                   ? number
                   : number.substr(0, e) + " \\cdot 10^{" + std::to_string(std::stoi(number.substr(e + 1))) + "}";
    }

    /* Returns the sum of multiples of angles, or nothing where all multiples are zero. */
    std::string angle_of(const series_term &term) const {
        std::string text;
        for (size_t i = 0; i < term.turns.size(); i++) {
            double turn = term.turns[i];
            if (turn == 0) {
                continue;
            }
            char number[32];
            std::snprintf(number, sizeof number, "%.10g", std::fabs(turn));
            text += turn < 0 ? (text.empty() ? "-" : " - ") : text.empty() ? "" : " + ";
            text += std::fabs(turn) == 1 ? "" : latex_number(number) + (is_latex ? " \\, " : "*");
            text += subscript("q", i);
        }
        return text;
    }

    const dyn_model *model;
    bool is_latex, is_flat = true, is_first = true;
    std::ostringstream out;
};

std::string formulas(const dyn_model *model, notation language) {
    for (int i = 0; i < model->joint_count; i++) {
        const dyn_joint_traits *traits = dyn_joint_type_traits(model->joints[i].type);
        if (traits->quaternion >= 0) {
            throw std::runtime_error("joint " + escaped(model->joints[i].name) + ": it is " + traits->name +
                                     "; formulas exist for joints without quaternions");
        }
    }
    if (model->nv < 1 || model->nv > MOST_FORMULA_COORDINATES) {
        throw std::runtime_error("the robot has " + std::to_string(model->nv) +
                                 " coordinates; formulas exist for robots with 1 to " +
                                 std::to_string(MOST_FORMULA_COORDINATES));
    }
    return formula_writer(model, language).write();
}
