/// Where files keep the matrices of a layer's experts.
///
/// `#` in a stem stands for the number of an expert: each has tensors of its own. Otherwise those of all experts are one
/// tensor, `[experts][outputs][inputs]`.
struct ExpertNames: Sendable, Hashable {
    /// The same as ``up`` where both are one tensor: of each expert first the gate, then the other.
    let gate: String
    let up: String
    let down: String
    /// What follows the stems.
    var ending = ".weight"
    var biasEnding = ".bias"
    /// Whether the outputs of a gate and those of the other matrix alternate in their one tensor.
    var alternates = false
    /// Whether inputs come before outputs.
    var isTransposed = false

    /// `mlp.experts.0.gate_proj.weight`, in nearly all files.
    static let each = ExpertNames(
        gate: "mlp.experts.#.gate_proj", up: "mlp.experts.#.up_proj", down: "mlp.experts.#.down_proj")
    /// As transformers keeps them since version 5.
    static let together = ExpertNames(
        gate: "mlp.experts.gate_up_proj", up: "mlp.experts.gate_up_proj", down: "mlp.experts.down_proj", ending: "")
    /// As MLX does.
    static func mlx(_ block: String = "mlp") -> ExpertNames {
        ExpertNames(
            gate: "\(block).switch_mlp.gate_proj", up: "\(block).switch_mlp.up_proj",
            down: "\(block).switch_mlp.down_proj")
    }
    /// Mixtral's first names.
    static let mixtral = ExpertNames(
        gate: "block_sparse_moe.experts.#.w1", up: "block_sparse_moe.experts.#.w3",
        down: "block_sparse_moe.experts.#.w2")
    static let gguf = ExpertNames(gate: "ffn_gate_exps", up: "ffn_up_exps", down: "ffn_down_exps")
    /// GGUF before March 2024.
    static let oldGGUF = ExpertNames(gate: "ffn_gate.#", up: "ffn_up.#", down: "ffn_down.#")

    /// Whether each expert has tensors of its own.
    var areSeparate: Bool { down.contains("#") }

    /// The roles that its tensors have.
    static let roles: Set<TensorRole> = [.expertGate, .expertUp, .expertDown]

    private func stem(_ role: TensorRole) -> String {
        switch role {
        case .expertGate: gate
        case .expertUp: up
        default: down
        }
    }

    /// What is stored in the same tensor, in this order.
    func members(_ role: TensorRole) -> [TensorRole] {
        gate == up && role != .expertDown ? [.expertGate, .expertUp] : [role]
    }

    /// The name of a tensor, after that of its layer.
    func name(_ role: TensorRole, _ expert: Int, isBias: Bool = false) -> String {
        stem(role).replacing("#", with: String(expert)) + (isBias ? biasEnding : ending)
    }

    /// Whether a file has tensors of these names.
    func isStored(_ stored: Set<String>) -> Bool {
        let mark = "." + name(.expertDown, 0)
        return stored.contains { $0.hasSuffix(mark) || $0.hasSuffix(mark + "_blocks") }
    }
}
