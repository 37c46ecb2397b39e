// Layers that remember a text in a state of fixed size. Rows of one sequence are computed strictly one after the other,
// so the bits of a row do not depend on how its text was cut into steps.
#pragma once
#include "hub_compute.h"

/// Where a sequence's state lies before a row, and after it; they may be the same. NULL before: all zeros.
typedef struct {
    const float *before;
    float *after;
} hub_state_row;

/// Most numbers that a convolution reads of a channel.
enum { HUB_MOST_TAPS = 8 };

/// A causal convolution of each channel, in place: x = Σ weights[tap] * (the input `taps - 1 - tap` positions before).
/// Its state is what came before, [taps - 1][channels], the oldest first.
typedef struct {
    const hub_state_row *rows; ///< rows of one sequence in the order of their positions
    size_t count;
    size_t state;              ///< floats from the start of a sequence's state to this layer's
    size_t channels, taps;
    const float *weights;      ///< [taps][channels]
    const float *bias;         ///< [channels], or NULL
    bool has_silu;             ///< SiLU of the sums
    float *x;                  ///< [count][channels]
} hub_convolution;
void hub_convolve(hub_team *team, const hub_convolution *convolution);

/// The gated delta rule (https://arxiv.org/abs/2412.06464). A head's state S is [key_size][value_size]. With queries and
/// keys of length 1, the former divided by √key_size, a row makes
/// S = e^g S; S = S + key ⊗ β (value - Sᵀ key); out = Sᵀ query
/// where g = rate * softplus(step + bias) and β = sigmoid(beta).
typedef struct {
    const hub_state_row *rows; ///< as above
    size_t count;
    size_t state;              ///< as above; the state is [value_heads][key_size][value_size]
    size_t key_heads, value_heads, key_size, value_size;
    bool is_tiled;             ///< value head h reads key head h % key_heads; otherwise neighbours read the same
    const float *x;            ///< [count]: queries and keys [key_heads][key_size], values [value_heads][value_size]
    const float *steps;        ///< [count][value_heads]
    const float *betas;        ///< [count][value_heads]
    const float *rates;        ///< [value_heads], negative
    const float *biases;       ///< [value_heads]
    float *out;                ///< [count][value_heads][value_size]
} hub_delta;
void hub_delta_rule(hub_team *team, const hub_delta *delta);

/// Mamba 2's selective state space (https://arxiv.org/abs/2405.21060). A head's state S is [state_size][head_size]; with
/// t = min(most_step, max(least_step, softplus(step + bias))) a row makes
/// S = e^(rate t) S + (t B) ⊗ x; out = Sᵀ C + skip x
typedef struct {
    const hub_state_row *rows; ///< as above
    size_t count;
    size_t state;              ///< as above; the state is [heads][state_size][head_size]
    size_t heads, groups, head_size, state_size;
    const float *x;            ///< [count]: x [heads][head_size], then B and C [groups][state_size]; neighbours share them
    const float *steps;        ///< [count][heads]
    const float *rates;        ///< [heads], negative
    const float *biases;       ///< [heads]
    const float *skips;        ///< [heads]
    float least_step, most_step;
    float *out;                ///< [count][heads][head_size]
} hub_space;
void hub_scan_space(hub_team *team, const hub_space *space);

/// Mamba's selective state space (https://arxiv.org/abs/2312.00752). A channel's state s has `state_size` numbers; with
/// t = softplus(step) a row makes
/// s[n] = e^(rate[n] t) s[n] + t B[n] x; out = Σ C[n] s[n] + skip x
typedef struct {
    const hub_state_row *rows; ///< as above
    size_t count;
    size_t state;              ///< as above; the state is [state_size][channels]
    size_t channels, state_size;
    const float *x;            ///< [count][channels]
    const float *steps;        ///< [count][channels]
    const float *writes;       ///< B: [count][state_size]
    const float *reads;        ///< C: [count][state_size]
    const float *rates;        ///< [state_size][channels], negative
    const float *skips;        ///< [channels]
    float *out;                ///< [count][channels]
} hub_selection;
void hub_select(hub_team *team, const hub_selection *selection);
