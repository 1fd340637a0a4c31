/* SPDX-License-Identifier: BSD-2-Clause */
#include "series.h"

#include <cmath>
#include <numeric>
#include <stdexcept>

bool series_term::operator<(const series_term &other) const {
    unsigned degree = std::accumulate(powers.begin(), powers.end(), 0u);
    unsigned other_degree = std::accumulate(other.powers.begin(), other.powers.end(), 0u);
    if (degree != other_degree) {
        return degree < other_degree;
    }
    if (turns != other.turns) {
        return turns < other.turns;
    }
    return powers != other.powers ? powers > other.powers : is_sine < other.is_sine;
}

/* Expands the nodes of one graph. */
class expansion {
  public:
    expansion(const compiled_function &function, size_t q_count, size_t v_count, size_t most_terms)
        : f(function), nq(q_count), nv(v_count), most(most_terms), values(function.graph.size()) {
        std::vector<bool> live = live_nodes(f);
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            if (live[i]) {
                values[i] = expand_node(f.graph.node(i));
            }
        }
    }

    series at(expression x) const {
        return x.is_negative() ? scaled(values[x.node()], -1) : values[x.node()];
    }

  private:
    series_term one() const {
        return {std::vector<double>(nq), std::vector<unsigned>(nq + nv), false};
    }

    static series scaled(series x, double factor) {
        for (auto &term : x) {
            term.second *= factor;
        }
        return x;
    }

    /* Adds factor * term, after it has made the sign of the angle unique. */
    void add(series &sum, series_term term, double factor) const {
        size_t first = 0;
        while (first < nq && term.turns[first] == 0) {
            first++;
        }
        if (first == nq && term.is_sine) {
            return;
        }
        if (first < nq && term.turns[first] < 0) {
            for (double &turn : term.turns) {
                turn = 0 - turn;
            }
            factor = term.is_sine ? -factor : factor;
        }
        sum[term] += factor;
        if (sum.size() > most) {
            throw std::length_error("a formula of this robot has more than " + std::to_string(most) +
                                    " terms; formulas suit robots with few joints");
        }
    }

    /* Adds the product of two terms. With angles A and B:
     *     cos A cos B = (cos(A - B) + cos(A + B)) / 2      sin A sin B = (cos(A - B) - cos(A + B)) / 2
     *     sin A cos B = (sin(A - B) + sin(A + B)) / 2      cos A sin B = (sin(A + B) - sin(A - B)) / 2 */
    void add_product(series &sum, const series_term &a, const series_term &b, double factor) const {
        series_term plus = a, minus = a;
        for (size_t i = 0; i < nq; i++) {
            plus.turns[i] += b.turns[i];
            minus.turns[i] -= b.turns[i];
        }
        for (size_t i = 0; i < nq + nv; i++) {
            minus.powers[i] = plus.powers[i] += b.powers[i];
        }
        plus.is_sine = minus.is_sine = a.is_sine != b.is_sine;
        add(sum, plus, a.is_sine && b.is_sine ? -factor / 2 : factor / 2);
        add(sum, minus, b.is_sine && !a.is_sine ? -factor / 2 : factor / 2);
    }

    /* Returns the sine or cosine of a sum of multiples of coordinates and a constant. */
    series turned(const series &angle, bool is_sine) const {
        series_term term = one();
        double offset = 0;
        for (const auto &part : angle) {
            size_t i = 0;
            while (i < nq && part.first.powers[i] == 0) {
                i++;
            }
            if (i < nq) {
                term.turns[i] = part.second;
            } else {
                offset = part.second;
            }
        }
        series sum;
        series_term other = term;
        other.is_sine = !(term.is_sine = is_sine);
        add(sum, term, std::cos(offset));
        add(sum, other, is_sine ? std::sin(offset) : -std::sin(offset));
        return sum;
    }

    series product(const series &x, const series &y) const {
        series sum;
        for (const auto &a : x) {
            for (const auto &b : y) {
                add_product(sum, a.first, b.first, a.second * b.second);
            }
        }
        return sum;
    }

    series expand_node(const graph_node &n) const {
        series sum;
        series_term term = one();
        switch (n.kind) {
        case operation::constant:
            sum[term] = n.value;
            return sum;
        case operation::input:
            term.powers[n.b.bits + (n.a.bits == INPUT_Q ? 0 : nq)] = 1;
            sum[term] = 1;
            return sum;
        case operation::sine:
        case operation::cosine:
            return turned(at(n.a), n.kind == operation::sine);
        case operation::sum:
            sum = at(n.a);
            for (const auto &part : at(n.b)) {
                add(sum, part.first, part.second);
            }
            return sum;
        case operation::product:
            return product(at(n.a), at(n.b));
        case operation::quotient:
            break;
        }
        throw std::runtime_error("the equation of motion of this robot divides; formulas suit joints without "
                                 "quaternions");
    }

    const compiled_function &f;
    size_t nq, nv, most;
    std::vector<series> values;
};

std::vector<series> expand(const compiled_function &f, const output_array &output, size_t nq, size_t nv, size_t most) {
    expansion all(f, nq, nv, most);
    std::vector<series> sums;
    for (expression x : output.values) {
        sums.push_back(all.at(x));
    }
    return sums;
}
