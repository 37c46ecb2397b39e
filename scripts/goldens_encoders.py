#!/usr/bin/env python3
"""Makes small random encoders, and writes down what transformers says of them with each of their heads.

    venv/bin/python scripts/goldens_encoders.py [NAME]...

See scripts/goldens.py for the environment. Writes Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/encoder-NAME.json
for each line of ENCODERS, or for those named. One file of weights holds the model and all of its heads; the golden says
which class takes which, and which settings of config.json belong to it.

Each mechanism matters: `without` of an encoder names, by class, changes that must move that class's outputs by ten times
what a test tolerates. The golden says how far each moves them.
"""

import json
import re
import sys
import zlib
from dataclasses import dataclass, field

import safetensors.torch
import torch
import transformers

from goldens import FIXTURES, MICRO, REFERENCE, link, numbers, write

VOCABULARY = 320
LABELS = {"id2label": {"0": "cat", "1": "dog", "2": "owl"}, "label2id": {"cat": 0, "dog": 1, "owl": 2}}
HEADS = ["Model", "ForSequenceClassification", "ForTokenClassification", "ForMaskedLM"]
TASKS = {
    "Model": "feature-extraction", "ForSequenceClassification": "text-classification",
    "ForTokenClassification": "token-classification", "ForMaskedLM": "fill-mask", "ForPreTraining": "fill-mask",
}


# Changes for `without`: functions of a model in place; a dict replaces settings of config.json instead.

def zero(*parts, to=0.0, required=True):
    """Sets parameters whose names hold one of these parts."""
    def change(model):
        found = [value for name, value in model.named_parameters() if any(part in name for part in parts)]
        assert found or not required, parts
        for value in found:
            value.fill_(to)
    return change


def module(path, replacement):
    """Replaces a module by its path, in every layer where the path has a *."""
    def change(model):
        def place(target, steps):
            if steps[0] == "*":
                return [place(child, steps[1:]) for child in target]
            if len(steps) > 1:
                return place(getattr(target, steps[0]), steps[1:])
            assert hasattr(target, steps[0]), path
            setattr(target, steps[0], replacement)
        place(model, path.split("."))
    return change


def both(*changes):
    def change(model):
        for each in changes:
            each(model)
    return change


def halves_swapped(part):
    """Swaps the upper and the lower half of matrices."""
    def change(model):
        for name, value in model.named_parameters():
            if part in name:
                value.copy_(torch.cat(value.chunk(2)[::-1]))
    return change


def columns_zero(part, first, last):
    """Sets some columns of matrices."""
    def change(model):
        for name, value in model.named_parameters():
            if part in name:
                value[:, first:last] = 0
    return change


def rotary(model):
    return next(value for name, value in model.named_modules() if name.endswith("rotary_emb"))


def frequencies(base, pairs):
    return 1.0 / (base ** (torch.arange(0, 2 * pairs, 2).float() / (2 * pairs)))


def rope_base(base=None, **kinds):
    """Another base of the rotary embedding, or of kinds of layers."""
    def change(model):
        if base:
            rotary(model).inv_freq = frequencies(base, len(rotary(model).inv_freq))
        for kind, value in kinds.items():
            setattr(rotary(model), f"{kind}_inv_freq", frequencies(value, len(getattr(rotary(model), f"{kind}_inv_freq"))))
    return change


def fixed_scaling(base, factor):
    """The rope_scaling `ntk` of GTE's own code (https://huggingface.co/Alibaba-NLP/new-impl)."""
    def change(model):
        pairs = len(rotary(model).inv_freq)
        rotary(model).inv_freq = frequencies(base * factor, pairs) / factor ** (1 / pairs)
    return change


def causal(model):
    """No row sees those behind it."""
    forward = model.forward
    def masked(input_ids):
        count = input_ids.shape[1]
        mask = torch.full((count, count), float("-inf")).triu(1)[None, None]
        return forward(input_ids=input_ids, attention_mask=mask)
    model.forward = masked


def attribute(path, value):
    """Sets an attribute that is no module."""
    def change(model):
        *steps, last = path.split(".")
        for step in steps:
            model = getattr(model, step)
        assert hasattr(model, last), path
        setattr(model, last, value)
    return change


def factor(part, value):
    """Scales parameters whose names hold this part."""
    def change(model):
        for name, parameter in model.named_parameters():
            if part in name:
                parameter.mul_(value)
    return change


def heads_together(model):
    """Packed queries, keys and values as if each came for all heads."""
    for name, value in model.named_parameters():
        if "in_proj" in name:
            value.copy_(value.view(4, 3, -1, value.shape[-1]).transpose(0, 1).reshape(value.shape))


def pooler(model):
    """The first row goes to the labels as it is."""
    inner = getattr(model, model.base_model_prefix)
    inner.pooler.dense = inner.pooler.activation = Same()


class Same(torch.nn.Module):
    def forward(self, x, *_):
        return x


TANH_GELU = torch.nn.GELU(approximate="tanh")


ROBERTA = {
    "Model": {
        "positions": zero("position_embeddings"), "type": zero("token_type_embeddings"),
        "first position": lambda model: setattr(model.embeddings, "padding_idx", -1),
    },
    "ForSequenceClassification": {
        "dense": module("classifier.dense", Same()), "biases": zero("classifier.dense.bias"),
    },
    "ForMaskedLM": {
        "dense": module("lm_head.dense", Same()), "norm": module("lm_head.layer_norm", Same()),
        "bias": zero("lm_head.bias", "lm_head.decoder.bias"),
    },
}


@dataclass
class Published:
    """The same weights as repositories with code of their own have them: other names and other settings."""
    #: The names of the classes that it has, by their ends here.
    classes: dict
    #: The whole of config.json.
    config: dict
    #: From the names of transformers, by pattern; tensors side by side in `packs` become one.
    names: list
    packs: list = field(default_factory=list)
    #: What differs in its models, in place.
    change: object = lambda model: None
    #: Number and rank of additions for tasks that the matrices have, as torch.nn.utils.parametrize stores them.
    adapters: tuple = ()
    #: Before the names of the model without its heads.
    prefix: str = ""


@dataclass
class Encoder:
    """A line of the table."""
    #: The classes' names without their ends: `Bert`.
    stem: str
    #: config.json as published repositories spell it, on top of COMMON.
    config: dict
    #: By the end of a class, then by the mechanism's name.
    without: dict = field(default_factory=dict)
    classes: list = field(default_factory=lambda: HEADS)
    #: Factor of the noise of a weight, by a part of its name; otherwise 1.
    scales: dict = field(default_factory=dict)
    #: Longest text; its positions are all that the model has.
    longest: int = 40
    #: Whether a pair's second text has the type 1.
    hasTypes: bool = True
    #: Names of settings that config.json of published repositories does not have.
    drop: tuple = ()
    #: By the name of the golden.
    published: dict = field(default_factory=dict)

    def make(self, end, config):
        return getattr(transformers, self.stem + end)(config)


COMMON = dict(
    attention_probs_dropout_prob=0.0, hidden_act="gelu", hidden_dropout_prob=0.0, hidden_size=32, intermediate_size=64,
    max_position_embeddings=40, num_attention_heads=4, num_hidden_layers=2, pad_token_id=0, torch_dtype="bfloat16",
    vocab_size=VOCABULARY,
)
ABSOLUTE = dict(layer_norm_eps=0.01, position_embedding_type="absolute", type_vocab_size=2)

#: Outputs so small that the order of sums does not show in them.
GENTLE = {"embed": 0.25, "": 0.5}
ROTARY_ENCODER = {
    "Model": {
        "base": rope_base(10000.0), "types": zero("token_type_embeddings"), "epsilon": dict(layer_norm_eps=1e-12),
        "norm of the embedding": module("embeddings.LayerNorm", Same()),
        "norm after attention": module("layers.*.post_attention_layernorm", Same()),
        "norm after the feed-forward block": module("layers.*.post_mlp_layernorm", Same()),
        "activation": dict(hidden_act="relu"), "form of the activation": dict(hidden_act="gelu_new"),
    },
    "ForSequenceClassification": {"pooler": pooler, "bias": zero("classifier.bias")},
    "ForTokenClassification": {"bias": zero("classifier.bias")},
}
ROBERTA_WORDS = {"dense": module("lm_head.dense", Same()), "norm": module("lm_head.layer_norm", Same())}
ESM = {
    "Model": {
        "scale without masks": dict(token_dropout=False), "rows of masks": dict(mask_token_id=319),
        "norm before attention": module("encoder.layer.*.attention.LayerNorm", Same()),
        "norm before the feed-forward block": module("encoder.layer.*.LayerNorm", Same()),
        "final norm": module("encoder.emb_layer_norm_after", Same()), "epsilon": dict(layer_norm_eps=1e-12),
        "biases": zero("query.bias", "intermediate.dense.bias", "output.dense.bias"),
    },
    "ForSequenceClassification": {"dense": module("classifier.dense", Same()), "bias": zero("classifier.out_proj.bias")},
    "ForTokenClassification": {"bias": zero("classifier.bias")},
    "ForMaskedLM": ROBERTA_WORDS | {"bias": zero("lm_head.bias")},
}

#: What DeBERTa's heads have, by the path of the one for words.
def deberta_heads(words):
    return {
        "ForSequenceClassification": {
            "dense": module("pooler.dense", Same()), "activation": dict(pooler_hidden_act="relu"),
            "bias": zero("classifier.bias"),
        },
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "dense": module(words + ".dense", Same()), "activation": module(words + ".transform_act_fn", Same()),
            "norm": module(words + ".LayerNorm", Same()),
            "bias": zero("cls.predictions.bias", "cls.predictions.decoder.bias", "lm_head.bias"),
        },
    }


DEBERTA = dict(layer_norm_eps=0.01, pooler_dropout=0, pooler_hidden_size=32, relative_attention=True)

MOBILE = dict(
    embedding_size=16, hidden_act="relu", hidden_size=48, intermediate_size=40, intra_bottleneck_size=32,
    layer_norm_eps=0.01, model_type="mobilebert", normalization_type="no_norm", true_hidden_size=32, type_vocab_size=2,
    use_bottleneck=True,
)

ENCODERS = {
    "bert-heads": Encoder("Bert", dict(model_type="bert", **ABSOLUTE), classes=HEADS + ["ForPreTraining"], scales={"intermediate.dense": 2}, without={
        "Model": {
            "positions": zero("position_embeddings"), "types": zero("token_type_embeddings"),
            "epsilon": dict(layer_norm_eps=1e-12),
            "norm of the embedding": module("embeddings.LayerNorm", Same()),
            "norm after attention": module("encoder.layer.*.attention.output.LayerNorm", Same()),
            "norm after the feed-forward block": module("encoder.layer.*.output.LayerNorm", Same()),
            "biases": zero("query.bias", "intermediate.dense.bias"), "gelu": dict(hidden_act="relu"),
            "exact gelu": dict(hidden_act="gelu_new"),
        },
        "ForSequenceClassification": {
            "pooler": module("bert.pooler.dense", Same()), "tanh": module("bert.pooler.activation", Same()),
            "bias": zero("classifier.bias"),
        },
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "dense": module("cls.predictions.transform.dense", Same()),
            "activation": module("cls.predictions.transform.transform_act_fn", Same()),
            "norm": module("cls.predictions.transform.LayerNorm", Same()), "bias": zero("cls.predictions.bias"),
        },
    }),
    "roberta": Encoder("Roberta", dict(model_type="roberta", **ABSOLUTE | dict(type_vocab_size=1)), longest=39,
                       hasTypes=False, without=ROBERTA),
    "xlm-roberta": Encoder(
        "XLMRoberta", dict(model_type="xlm-roberta", **ABSOLUTE | dict(type_vocab_size=1), pad_token_id=1), longest=38,
        hasTypes=False, without=ROBERTA),
    "camembert": Encoder(
        "Camembert", dict(model_type="camembert", **ABSOLUTE | dict(type_vocab_size=1), tie_word_embeddings=False),
        longest=38, hasTypes=False, drop=("pad_token_id",), without=ROBERTA),
    "distilbert": Encoder("DistilBert", dict(
        model_type="distilbert", activation="relu", attention_dropout=0.0, dim=32, dropout=0.0, hidden_dim=64,
        initializer_range=0.02, n_heads=4, n_layers=2, qa_dropout=0.1, seq_classif_dropout=0.2,
        sinusoidal_pos_embds=False, tie_weights_=True,
    ), hasTypes=False, drop=(
        "attention_probs_dropout_prob", "hidden_act", "hidden_dropout_prob", "hidden_size", "intermediate_size",
        "num_attention_heads", "num_hidden_layers",
    ), without={
        "Model": {
            "positions": zero("position_embeddings"), "activation": dict(activation="gelu"),
            "norm after attention": module("transformer.layer.*.sa_layer_norm", Same()),
            "norm after the feed-forward block": module("transformer.layer.*.output_layer_norm", Same()),
        },
        "ForSequenceClassification": {"dense": module("pre_classifier", Same()), "bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "dense": module("vocab_transform", Same()), "activation": dict(activation="gelu"),
            "norm": module("vocab_layer_norm", Same()), "bias": zero("vocab_projector.bias"),
        },
    }),
    "electra": Encoder(
        "Electra", dict(
            model_type="electra", embedding_size=16, **ABSOLUTE, summary_activation="gelu",
            summary_last_dropout=0.1, summary_type="first", summary_use_proj=True,
        ), without={
            "Model": {
                "projection's bias": zero("embeddings_project.bias"), "types": zero("token_type_embeddings"),
                "norm of the embedding": module("embeddings.LayerNorm", Same()),
            },
            "ForSequenceClassification": {
                "dense": module("classifier.dense", Same()), "gelu": module("classifier.activation", torch.nn.Tanh()),
            },
            "ForMaskedLM": {
                "activation": module("generator_predictions.activation", Same()),
                "norm": module("generator_predictions.LayerNorm", Same()), "bias": zero("generator_lm_head.bias"),
            },
        }),
    # As wide as the model, as electra-base is.
    "electra-wide": Encoder(
        "Electra", dict(model_type="electra", embedding_size=32, **ABSOLUTE | dict(layer_norm_eps=1e-12)),
        classes=["Model", "ForMaskedLM"], without={"Model": {"types": zero("token_type_embeddings")}}),
    "albert": Encoder(
        "Albert", dict(
            model_type="albert", classifier_dropout_prob=0.1, down_scale_factor=1, embedding_size=16, gap_size=0,
            hidden_act="gelu_new", inner_group_num=1, net_structure_type=0, num_hidden_groups=2, num_hidden_layers=5,
            num_memory_blocks=0, **ABSOLUTE,
        ), classes=HEADS + ["ForPreTraining"], scales={"ffn": 2}, without={
            "Model": {
                "projection's bias": zero("embedding_hidden_mapping_in.bias"),
                "second group": zero("albert_layer_groups.1"),
                "gelu": dict(hidden_act="gelu"), "layers": dict(num_hidden_layers=4),
            },
            "ForSequenceClassification": {
                "pooler": module("albert.pooler", Same()), "tanh": module("albert.pooler_activation", Same()),
            },
            "ForMaskedLM": {
                "activation": module("predictions.activation", Same()), "norm": module("predictions.LayerNorm", Same()),
                "bias": zero("predictions.bias"),
            },
        }),
    "modernbert": Encoder("ModernBert", dict(
        model_type="modernbert", classifier_pooling="mean", global_attn_every_n_layers=3, global_rope_theta=160000.0,
        hidden_activation="gelu", local_attention=8, local_rope_theta=10000.0, norm_eps=0.01, num_hidden_layers=4,
    ), hasTypes=False, drop=("hidden_act",), scales=GENTLE, without={
        "Model": {
            "window": dict(local_attention=80), "half of the window": dict(local_attention=16),
            "kinds of layers": dict(layer_types=["sliding_attention", "full_attention"] * 2),
            "local base": rope_base(sliding_attention=160000.0), "global base": rope_base(full_attention=10000.0),
            "no norm before the first attention": module("layers.0.attn_norm", torch.nn.LayerNorm(32)),
            "norm before attention": module("layers.1.attn_norm", Same()),
            "norm before the feed-forward block": module("layers.0.mlp_norm", Same()),
            "norm of the embedding": module("embeddings.norm", Same()), "final norm": module("final_norm", Same()),
            "epsilon": dict(norm_eps=1e-5), "gelu": dict(hidden_activation="silu"),
            "exact gelu": dict(hidden_activation="gelu_new"), "order of the gate": halves_swapped("Wi"),
        },
        "ForSequenceClassification": {
            "pooling": dict(classifier_pooling="cls"), "dense": module("head.dense", Same()),
            "activation": module("head.act", Same()), "norm": module("head.norm", Same()), "bias": zero("classifier.bias"),
        },
        "ForTokenClassification": {"dense": module("head.dense", Same()), "bias": zero("classifier.bias")},
        "ForMaskedLM": {"dense": module("head.dense", Same()), "norm": module("head.norm", Same()), "bias": zero("decoder.bias")},
    }),
    # Every bias that config.json can ask for, and the other pooling.
    "modernbert-biased": Encoder("ModernBert", dict(
        model_type="modernbert", attention_bias=True, classifier_activation="silu", classifier_bias=True,
        classifier_pooling="cls", decoder_bias=False, hidden_activation="gelu", local_attention=8, mlp_bias=True, norm_bias=True,
    ), scales=GENTLE, hasTypes=False, drop=("hidden_act",), without={
        "Model": {"biases": zero("Wqkv.bias", "Wi.bias", "Wo.bias"), "norm biases": zero("norm.bias")},
        "ForSequenceClassification": {
            "pooling": dict(classifier_pooling="mean"), "activation": dict(classifier_activation="gelu"),
            "biases": zero("head.dense.bias", "head.norm.bias"),
        },
    }),
    "nomic-bert": Encoder("NomicBert", dict(
        model_type="nomic_bert", hidden_act="silu", layer_norm_eps=0.01, type_vocab_size=2,
    ), scales=GENTLE, without=ROTARY_ENCODER | {"ForMaskedLM": {
        "dense": module("cls.predictions.transform.dense", Same()),
        "activation": module("cls.predictions.transform.transform_act_fn", Same()),
        "norm": module("cls.predictions.transform.layer_norm", Same()), "bias": zero("cls.predictions.bias"),
    }}, published={"nomic-bert-published": Published(
        {
            "Model": "NomicBertModel", "ForSequenceClassification": "NomicBertForSequenceClassification",
            "ForTokenClassification": "NomicBertForTokenClassification", "ForMaskedLM": "NomicBertForPreTraining",
        },
        dict(
            activation_function="swiglu", architectures=["NomicBertModel"], causal=False, layer_norm_epsilon=0.01,
            max_trained_positions=2048, mlp_fc1_bias=False, mlp_fc2_bias=False, model_type="nomic_bert", n_embd=32, n_head=4,
            n_inner=64, n_layer=2, n_positions=40, pad_vocab_size_multiple=64, parallel_block=False, prenorm=False,
            qkv_proj_bias=False, rotary_emb_base=1000, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
            rotary_emb_scale_base=None, rotary_scaling_factor=None, torch_dtype="bfloat16", type_vocab_size=2,
            use_rms_norm=False, vocab_size=320,
        ),
        [
            ("^nomic_bert\\.", "bert."), ("^cls.predictions.(transform.dense.)?bias$", "-"), ("bert.layers", "bert.encoder.layers"),
            ("embeddings.LayerNorm", "emb_ln"), ("self_attn.o_proj", "attn.out_proj"), ("up_proj", "fc11"),
            ("gate_proj", "fc12"), ("down_proj", "fc2"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2"),
        ],
        [(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "attn.Wqkv")], prefix="bert.",
        change=zero("cls.predictions.bias", "cls.predictions.transform.dense.bias", required=False),
    )}),
    "gte": Encoder("Gte", dict(
        model_type="gte", layer_norm_eps=0.01, rope_parameters={"rope_type": "default", "rope_theta": 500.0}, type_vocab_size=2,
    ), scales={"gate_proj": 2, "down_proj": 2} | GENTLE, without=ROTARY_ENCODER | {
        "Model": ROTARY_ENCODER["Model"] | {"biases": zero("q_proj.bias", "v_proj.bias"), "down bias": zero("down_proj.bias")},
        "ForMaskedLM": ROBERTA_WORDS | {"bias": zero("decoder.bias")},
    }, published={"gte-new": Published(
        {
            "Model": "NewModel", "ForSequenceClassification": "NewForSequenceClassification",
            "ForTokenClassification": "NewForTokenClassification", "ForMaskedLM": "NewForMaskedLM",
        },
        COMMON | dict(
            architectures=["NewModel"], layer_norm_eps=0.01, layer_norm_type="layer_norm", logn_attention_clip1=False,
            logn_attention_scale=False, model_type="new", pack_qkv=True, position_embedding_type="rope", rope_theta=500.0,
            rope_scaling={"factor": 8.0, "type": "ntk"}, type_vocab_size=2, unpad_inputs=False,
        ),
        [
            ("^gte\\.", "new."), ("new.layers", "new.encoder.layer"), ("self_attn.o_proj", "attention.o_proj"),
            ("post_attention_layernorm", "attn_ln"), ("post_mlp_layernorm", "mlp_ln"), ("lm_head.layer_norm", "lm_head.norm"),
        ],
        [
            (["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "attention.qkv_proj"),
            (["mlp.up_proj", "mlp.gate_proj"], "mlp.up_gate_proj"),
        ], prefix="new.", change=fixed_scaling(base=500.0, factor=8.0),
    )}),
    "jina-v3": Encoder("JinaEmbeddingsV3", dict(
        model_type="jina_embeddings_v3", layer_norm_eps=0.01, type_vocab_size=1,
    ), hasTypes=False, scales={"fc1": 1, "fc2": 4} | GENTLE, without={
        "Model": ROTARY_ENCODER["Model"] | {"biases": zero("q_proj.bias", "v_proj.bias"), "fc biases": zero("fc1.bias", "fc2.bias")},
        "ForSequenceClassification": {
            "dense": module("classifier.dense", Same()), "bias": zero("classifier.out_proj.bias"),
        },
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": ROBERTA_WORDS | {"bias": zero("lm_head.bias")},
    }, published={"jina-v3-published": Published(
        {"Model": "XLMRobertaModel"},
        COMMON | dict(
            architectures=["XLMRobertaModel"], layer_norm_eps=0.01, load_trained_adapters=True, lora_adaptations=["query", "passage"],
            lora_alpha=1, lora_rank=2, model_type="xlm-roberta", pad_token_id=1, position_embedding_type="rotary",
            rotary_emb_base=20000.0, type_vocab_size=1, use_flash_attn=True,
        ),
        [
            ("^(classifier|lm_head)", "-"), ("^roberta.layers", "roberta.encoder.layers"), ("embeddings.LayerNorm", "emb_ln"),
            ("self_attn.o_proj", "mixer.out_proj"), ("post_attention_layernorm", "norm1"), ("post_mlp_layernorm", "norm2"),
        ],
        [(["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "mixer.Wqkv")], prefix="roberta.", adapters=(2, 2),
    )}),
    "eurobert": Encoder("EuroBert", dict(
        model_type="eurobert", classifier_pooling="late", hidden_act="silu", num_key_value_heads=2, rms_norm_eps=0.01,
        rope_theta=250000.0, tie_word_embeddings=False,
    ), scales=GENTLE, hasTypes=False, without={
        "Model": {
            "both sides": causal, "base": rope_base(10000.0), "epsilon": dict(rms_norm_eps=1e-6),
            "norm before attention": module("layers.*.input_layernorm", Same()), "final norm": module("norm", Same()),
        },
        "ForSequenceClassification": {
            "late pooling": dict(classifier_pooling="mean"), "dense": module("dense", Same()), "bias": zero("classifier.bias"),
        },
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": {"head": zero("lm_head")},
    }),
    "eurobert-mean": Encoder("EuroBert", dict(
        model_type="eurobert", classifier_pooling="mean", hidden_act="silu", num_key_value_heads=4, rms_norm_eps=1e-5,
        num_hidden_layers=1, rope_theta=250000.0, tie_word_embeddings=True,
    ), scales=GENTLE, hasTypes=False, without={"ForSequenceClassification": {"pooling": dict(classifier_pooling="bos")}}),
    "esm2": Encoder("Esm", dict(
        model_type="esm", emb_layer_norm_before=False, layer_norm_eps=0.01, mask_token_id=4, pad_token_id=1,
        position_embedding_type="rotary", token_dropout=True,
    ), hasTypes=False, scales={"intermediate.dense": 2} | GENTLE, without=ESM | {"Model": ESM["Model"] | {"rope": dict(rope_theta=100.0)}}),
    "esm1b": Encoder("Esm", dict(
        model_type="esm", emb_layer_norm_before=True, layer_norm_eps=0.01, mask_token_id=4, max_position_embeddings=42,
        pad_token_id=1, position_embedding_type="absolute", token_dropout=True,
    ), hasTypes=False, scales={"intermediate.dense": 2} | GENTLE, without=ESM | {"Model": ESM["Model"] | {
        "norm of the embedding": module("embeddings.layer_norm", Same()), "positions": zero("position_embeddings"),
    }}),
    # As published: queries and keys of narrow rows of their own, and no layer before the labels.
    "mobilebert": Encoder("MobileBert", MOBILE | dict(
        classifier_activation=False, key_query_shared_bottleneck=True, num_feedforward_networks=3, trigram_input=True,
        use_bottleneck_attention=False,
    ), scales={"": 0.2}, classes=HEADS + ["ForPreTraining"], without={
        "Model": {
            "next token": columns_zero("embedding_transformation.weight", 0, 16),
            "token before": columns_zero("embedding_transformation.weight", 32, 48),
            "positions": zero("position_embeddings"), "types": zero("token_type_embeddings"),
            "norm of the embedding": module("embeddings.LayerNorm", Same()),
            "narrow rows": module("encoder.layer.*.bottleneck.input.LayerNorm", Same()),
            "rows of queries": module("encoder.layer.*.bottleneck.attention.LayerNorm", Same()),
            "wide norm": module("encoder.layer.*.output.bottleneck.LayerNorm", Same()),
            "first feed-forward block": zero("ffn.0.output.dense"),
            "second feed-forward block": zero("ffn.1.output.dense"),
            "norm between blocks": module("encoder.layer.*.ffn.1.output.LayerNorm", Same()),
            "activation": dict(hidden_act="gelu"),
        },
        "ForSequenceClassification": {"bias": zero("classifier.bias")},
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": {
            "rest of the table": zero("cls.predictions.dense"), "bias": zero("cls.predictions.bias", "decoder.bias"),
            "dense": module("cls.predictions.transform.dense", Same()),
            "norm": module("cls.predictions.transform.LayerNorm", Same()),
        },
    }),
    "mobilebert-plain": Encoder("MobileBert", MOBILE | dict(
        classifier_activation=True, key_query_shared_bottleneck=False, num_feedforward_networks=1, trigram_input=False,
        use_bottleneck_attention=True,
    ), scales={"": 0.2}, without={
        "Model": {
            "bottleneck": zero("bottleneck.input.dense"), "embedding's matrix": zero("embedding_transformation.bias"),
        },
        "ForSequenceClassification": {"dense": module("mobilebert.pooler.dense", Same())},
        "ForMaskedLM": {"rest of the table": zero("cls.predictions.dense")},
    }),
    "mpnet": Encoder("MPNet", dict(
        model_type="mpnet", layer_norm_eps=0.01, max_position_embeddings=162, pad_token_id=0, relative_attention_num_buckets=32,
    ), longest=160, hasTypes=False, scales={"relative_attention_bias": 1} | GENTLE, without={
        "Model": {
            "distances": zero("relative_attention_bias"), "sides": halves_swapped("relative_attention_bias"),
            "furthest distance": lambda model: setattr(
                model.encoder, "relative_position_bucket",
                lambda distance, num_buckets, near=model.encoder.relative_position_bucket: near(distance, num_buckets, 256)),
            "positions": zero("position_embeddings"), "first position": attribute("embeddings.padding_idx", -1),
            "norm of the embedding": module("embeddings.LayerNorm", Same()),
            "norm after attention": module("encoder.layer.*.attention.LayerNorm", Same()),
            "epsilon": dict(layer_norm_eps=1e-12), "biases": zero("attn.q.bias", "attn.v.bias", "intermediate.dense.bias"),
        },
        "ForSequenceClassification": {"dense": module("classifier.dense", Same()), "bias": zero("classifier.out_proj.bias")},
        "ForTokenClassification": {"bias": zero("classifier.bias")},
        "ForMaskedLM": ROBERTA_WORDS | {"bias": zero("lm_head.bias", "lm_head.decoder.bias")},
    }),
    # As DeBERTa 3: distances share vectors by logarithm, layers share their matrices with them.
    "deberta-v2": Encoder("DebertaV2", DEBERTA | dict(
        model_type="deberta-v2", max_relative_positions=-1, norm_rel_ebd="layer_norm", pooler_hidden_act="gelu",
        pos_att_type="p2c|c2p", position_biased_input=False, position_buckets=8, share_att_key=True, type_vocab_size=0,
    ), hasTypes=False, scales=GENTLE, without={
        "Model": {
            "distances' keys": dict(pos_att_type="p2c"), "distances' queries": dict(pos_att_type="c2p"),
            "buckets": attribute("encoder.position_buckets", -1),
            "furthest distance": attribute("encoder.max_relative_positions", 80),
            "norm of the distances": module("encoder.LayerNorm", Same()), "scale": factor("query_proj", 3 ** 0.5),
            "biases": zero("query_proj.bias", "key_proj.bias"), "epsilon": dict(layer_norm_eps=1e-12),
        },
    } | deberta_heads("cls.predictions.transform")),
    # Every distance of up to 12 has its vector, and layers their own matrices for them.
    "deberta-v2-far": Encoder("DebertaV2", DEBERTA | dict(
        model_type="deberta-v2", legacy=False, max_relative_positions=12, pooler_hidden_act="tanh",
        pos_att_type=["p2c", "c2p"], position_biased_input=True, type_vocab_size=2,
    ), scales=GENTLE, without={
        "Model": {
            "distances' keys": zero("pos_key_proj"), "distances' queries": zero("pos_query_proj"),
            "biases": zero("pos_key_proj.bias", "pos_query_proj.bias"), "positions": zero("position_embeddings"),
            "types": zero("token_type_embeddings"), "far distances": zero("rel_embeddings"),
        },
    } | deberta_heads("lm_predictions.lm_head")),
    "deberta": Encoder("Deberta", DEBERTA | dict(
        model_type="deberta", max_relative_positions=24, pooler_hidden_act="gelu", pos_att_type="c2p|p2c",
        position_biased_input=False, type_vocab_size=0,
    ), hasTypes=False, scales=GENTLE, without={
        "Model": {
            "distances' keys": zero("pos_proj"), "distances' queries": zero("pos_q_proj"),
            "queries' biases": zero("q_bias"), "values' biases": zero("v_bias"), "packing by head": heads_together,
            "distances' biases": zero("pos_q_proj.bias"), "scale": factor("in_proj", 0.8),
        },
    } | deberta_heads("cls.predictions.transform")),
    "embeddinggemma": Encoder("Gemma3Text", dict(
        model_type="gemma3_text", attn_logit_softcapping=None, head_dim=8, hidden_activation="gelu_pytorch_tanh",
        layer_types=["sliding_attention", "full_attention"], num_key_value_heads=1, query_pre_attn_scalar=16, rms_norm_eps=1e-6,
        rope_local_base_freq=10000.0, rope_theta=1000000.0, sliding_window=8, use_bidirectional_attention=True,
    ), classes=["Model"], scales=GENTLE, hasTypes=False, drop=("hidden_act",), without={"Model": {
        "both sides": dict(use_bidirectional_attention=False), "window": dict(sliding_window=80),
        "half of the window": dict(sliding_window=16), "local base": rope_base(sliding_attention=1000000.0),
        "scale of the embedding": lambda model: setattr(model.embed_tokens, "embed_scale", torch.tensor(1.0)),
        "norm of queries": module("layers.*.self_attn.q_norm", Same()),
        "norm after attention": module("layers.*.post_attention_layernorm", Same()),
    }}),
}


# Weights

def random_weights(models, encoder):
    """One set of weights for all classes, by their names, rounded to bfloat16."""
    weights = {}
    for model in models:
        for name, parameter in model.named_parameters():
            generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
            noise = torch.randn(parameter.shape, generator=generator)
            scale = next((value for part, value in encoder.scales.items() if part in name), 1.0)
            if name.endswith("bias"):
                values = noise * 0.5
            elif "norm" in name.lower() and noise.dim() == 1:
                values = noise * 0.3 + 1.0
            else:
                values = noise * 2 * scale / (1 if "embeddings" in name else parameter.shape[-1] ** 0.5)
            values = values.bfloat16().contiguous()
            assert name not in weights or torch.equal(weights[name], values), name
            weights[name] = values
    return weights


def texts(encoder):
    """A text, a pair, and one that takes all positions: [CLS] ... [SEP], as ids and types."""
    generator = torch.Generator().manual_seed(5)
    out = []
    for lengths in [(7,), (6, 12), (encoder.longest - 2,)]:
        ids, types = [2], [0]
        for place, length in enumerate(lengths):
            ids += torch.randint(5, VOCABULARY, (length,), generator=generator).tolist() + [3]
            types += [place] * (length + 1)
        ids[3] = 4
        out.append({"ids": ids, "types": types if encoder.hasTypes else [0] * len(ids)})
    return out


# Answers

@torch.no_grad()
def answer(model, end, text):
    """What a class says of a text: its rows, or the outputs of its head; of masked words those of one mask."""
    inputs = {"input_ids": torch.tensor([text["ids"]])}
    if any(text["types"]):
        inputs["token_type_ids"] = torch.tensor([text["types"]])
    result = model(**inputs)
    if end == "Model":
        return result.last_hidden_state[0].double()
    if end == "ForMaskedLM":
        return result.logits[0, 3:4].double()
    if end == "ForPreTraining":
        return result.prediction_logits[0, 3:4].double()
    return result.logits[0].double()


def load(encoder, end, folder, **changes):
    config = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager", **changes)
    made = encoder.make(end, config)
    model, info = type(made).from_pretrained(
        folder, config=config, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    missing = [key for key in info["missing_keys"] if "pooler" not in key and "inv_freq" not in key]
    assert not missing and not info["mismatched_keys"], info
    return model.eval()


def said(end, values):
    """Numbers of an answer that a golden keeps: of rows the first, the last and their mean."""
    if end == "Model":
        return {"first": numbers(values[0]), "last": numbers(values[-1]), "mean": numbers(values.mean(0))}
    return {"outputs": numbers(values.flatten())}


def golden(name, encoder):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
        if name != "bert-heads":
            link(folder, file, f"../bert-heads/{file}")
    config = {"architectures": [encoder.stem + "Model"]} | COMMON | encoder.config | LABELS
    for key in encoder.drop:
        del config[key]
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    read = transformers.AutoConfig.from_pretrained(folder, attn_implementation="eager")
    made = [encoder.make(end, read) for end in encoder.classes if end != "Model" or encoder.classes == ["Model"]]
    safetensors.torch.save_file(
        random_weights(made, encoder), folder / "model.safetensors", metadata={"format": "pt"})

    classes, moves = {}, {}
    for end in encoder.classes:
        model = load(encoder, end, folder)
        answers = [answer(model, end, text) for text in texts(encoder)]
        classes[encoder.stem + end] = {"task": TASKS[end], "texts": [said(end, values) for values in answers]}
        moves[end] = {}
        for what, change in encoder.without.get(end, {}).items():
            other = load(encoder, end, folder, **change) if isinstance(change, dict) else load(encoder, end, folder)
            if callable(change):
                with torch.no_grad():
                    change(other)
            move = max(
                float((answer(other, end, text) - values).abs().max()) for text, values in zip(texts(encoder), answers))
            assert move > (0.0001 if end == "Model" else 0.001), f"{name}, {end}: without {what} the outputs move by {move} only"
            moves[end][what] = round(move, 4)
    for name_there, there in encoder.published.items():
        published(name_there, encoder, there, folder)
    saved = json.loads(read.to_json_string(use_diff=True)) | {"architectures": config["architectures"]}
    write(FIXTURES / f"goldens/encoder-{name}.json", {
        "name": name, "fixture": f"micro/{name}", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32", "without": moves,
        "saved": saved, "mask": 3, "texts": texts(encoder), "classes": classes,
    })
    print(f"{name}: " + ", ".join(f"{what} {move:.3f}" for each in moves.values() for what, move in each.items()))


def published(name, encoder, there, base):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"]:
        link(folder, file, f"../bert-heads/{file}")
    (folder / "config.json").write_text(json.dumps(there.config | LABELS, indent=2) + "\n")
    tensors = safetensors.torch.load_file(base / "model.safetensors")
    for parts, whole in there.packs:
        for first in [key for key in tensors if parts[0] in key]:
            pieces = [tensors.pop(first.replace(parts[0], part)) for part in parts]
            tensors[first.replace(parts[0], whole)] = torch.cat(pieces)
    for pattern, replacement in there.names:
        tensors = {re.sub(pattern, replacement, key): value for key, value in tensors.items()}
    tensors = {key: value for key, value in tensors.items() if not key.startswith("-")}
    stored = dict(tensors)
    for key in [key for key, value in tensors.items() if there.adapters and value.dim() > 1]:
        stem, (count, rank) = key.removesuffix(".weight"), there.adapters
        value = stored.pop(key)
        stored[f"{stem}.parametrizations.weight.original"] = value
        isTable = "embeddings" in key
        for end, length in (("A", value.shape[0 if isTable else 1]), ("B", value.shape[1 if isTable else 0])):
            shape = (rank, length) if (end == "A") != isTable else (length, rank)
            stored[f"{stem}.parametrizations.weight.0.lora_{end}"] = torch.ones(count, *shape, dtype=torch.bfloat16)
    safetensors.torch.save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    # transformers knows these names too: it must see the same model.
    config = transformers.AutoConfig.from_pretrained(base, attn_implementation="eager")
    bare = {re.sub(f"^{there.prefix}", "", key): value for key, value in tensors.items() if key.startswith(there.prefix)}
    classes = {}
    with torch.no_grad():
        read = type(encoder.make("Model", config)).from_pretrained(
            None, config=config, state_dict=bare, dtype=torch.float32, attn_implementation="eager").eval()
        for text in texts(encoder):
            assert torch.equal(answer(read, "Model", text), answer(load(encoder, "Model", base), "Model", text)), name
        for end, named in there.classes.items():
            model = load(encoder, end, base)
            there.change(model)
            answers = [said(end, answer(model, end, text)) for text in texts(encoder)]
            classes[named] = {"task": TASKS[end], "texts": answers}
    write(FIXTURES / f"goldens/encoder-{name}.json", {
        "name": name, "fixture": f"micro/{name}", "reference": REFERENCE,
        "weights": "bfloat16, random, computed in float32", "mask": 3, "texts": texts(encoder), "classes": classes,
    })
    print(f"{name}: as {base.name}")


def short_tokenizer():
    """The tokenizer of micro/bert with its first tokens."""
    folder = MICRO / "bert-heads"
    folder.mkdir(parents=True, exist_ok=True)
    value = json.loads((MICRO / "bert/tokenizer.json").read_text())
    vocabulary = value["model"]["vocab"]
    value["model"]["vocab"] = {token: number for token, number in vocabulary.items() if number < VOCABULARY}
    assert len(value["model"]["vocab"]) == VOCABULARY
    (folder / "tokenizer.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        link(folder, name, f"../bert/{name}")


if __name__ == "__main__":
    short_tokenizer()
    for name in sys.argv[1:] or ENCODERS:
        golden(name, ENCODERS[name])
