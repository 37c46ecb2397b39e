#!/usr/bin/env python3
"""Makes small random models of texts and pictures, and writes down what transformers says of both with them.

    venv/bin/pip install sentencepiece==0.2.3 protobuf pillow
    venv/bin/python scripts/goldens_contrastive.py [NAME]...

See scripts/goldens.py for the environment. Writes Tests/Fixtures/micro/NAME and Tests/Fixtures/goldens/contrastive-NAME.json
for each line of MODELS, or for those named. The second picture is the first with its columns reversed; vectors have length
one. `ids` is what goes into the model: cut to the positions, and for SigLIP filled up with the end token.

config.json is written as published repositories have it, the weights as transformers saves them.

Each mechanism matters: `without` names changes that must move the outputs by ten times what a test tolerates. The golden
says how far each moves them.
"""

import io
import json
import re
import string
import sys
from dataclasses import dataclass, field

import safetensors.torch
import sentencepiece
import tokenizers
import torch

if not torch.cuda.is_available():
    # torchvision's C library may want CUDA; none of it is needed, but it registers operators that then are missing.
    operators = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        try:
            operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        except RuntimeError:
            pass
import transformers
from tokenizers import decoders, normalizers, pre_tokenizers, processors
from transformers.activations import QuickGELUActivation

from goldens import FIXTURES, MICRO, REFERENCE, link, numbers, write
from goldens_encoders import LABELS, Same, attribute, halves_swapped, module, zero
from goldens_towers import pixels

START, END, TOY = "<|startoftext|>", "<|endoftext|>", "<cat-toy>"
TEXTS = [
    "a photo of a cat", "The King's DOG,   it is #1!", "an owl<|endoftext|> of the night",
    "the king and the queen of all the land where no owl is ever seen by night or by day",
]
# Some that end before the positions do.
SIGLIP_TEXTS = [TEXTS[1], "an owl", "a cat\tin the  night </s>", TEXTS[3]]
VOCABULARY, GEMMA_VOCABULARY = 320, 600


# Tokenizers

def clip_tokenizer(name, added=()):
    """Of CLIP's kind: bytes and bytes at a word's end, what merges make of them, two tokens with the highest ids."""
    cut = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    split = [
        pre_tokenizers.Split(tokenizers.Regex(rf"<\|startoftext\|>|<\|endoftext\|>|{cut}"), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ]
    normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(tokenizers.Regex(r"\s+"), " "), normalizers.Lowercase()])
    learner = tokenizers.Tokenizer(tokenizers.models.BPE(continuing_subword_prefix="", end_of_word_suffix="</w>"))
    learner.normalizer, learner.pre_tokenizer = normalizer, pre_tokenizers.Sequence(split)
    letters = [letter for letter in map(chr, range(33, 127)) if not letter.isupper()]
    learner.train(
        [str(FIXTURES / "heldout.txt")], tokenizers.trainers.BpeTrainer(
            vocab_size=1000, initial_alphabet=letters, end_of_word_suffix="</w>", show_progress=False))
    tokens = letters + [letter + "</w>" for letter in letters]
    merges = []
    for pair in json.loads(learner.to_str())["model"]["merges"]:
        if len(tokens) < VOCABULARY - 2 and set(pair) <= set(tokens):
            merges.append(tuple(pair))
            tokens.append("".join(pair))
    value = tokenizers.Tokenizer(tokenizers.models.BPE(
        {token: number for number, token in enumerate(tokens + [START, END])}, merges, unk_token=END,
        continuing_subword_prefix="", end_of_word_suffix="</w>"))
    value.normalizer, value.pre_tokenizer = normalizer, learner.pre_tokenizer
    value.decoder = decoders.ByteLevel()
    value.post_processor = processors.RobertaProcessing(
        (END, VOCABULARY - 1), (START, VOCABULARY - 2), trim_offsets=False, add_prefix_space=False)
    value.add_special_tokens([tokenizers.AddedToken(token, normalized=True, special=True) for token in (START, END)])
    value.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in added])
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(value.to_str(), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "add_prefix_space": False, "bos_token": START, "do_lower_case": True, "eos_token": END, "errors": "replace",
        "model_max_length": 16, "pad_token": END, "tokenizer_class": "CLIPTokenizer", "unk_token": END,
    }, indent=1) + "\n")


def siglip_tokenizer(name):
    """A SentencePiece model, which is what transformers reads, and the same as tokenizer.json, which cleans texts itself."""
    marks = f"[{re.escape(string.punctuation)}]"
    lines = [re.sub(marks, "", line.lower()).strip() for line in (FIXTURES / "heldout.txt").read_text().splitlines()]
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in lines if line]), model_writer=out, minloglevel=2, vocab_size=VOCABULARY,
        normalization_rule_name="identity", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, num_threads=1)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    value = tokenizers.Tokenizer(tokenizers.models.Unigram(
        [(pieces.id_to_piece(number), pieces.get_score(number)) for number in range(VOCABULARY)], 2, False))
    value.normalizer = normalizers.Sequence([
        normalizers.Lowercase(), normalizers.Replace(tokenizers.Regex(marks), ""),
        normalizers.Replace(tokenizers.Regex(r"\s+"), " "), normalizers.Strip(),
    ])
    value.pre_tokenizer, value.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    value.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    value.add_special_tokens([tokenizers.AddedToken(
        token, lstrip=True, rstrip=True, normalized=False, special=True) for token in ("</s>", "<unk>")])
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spiece.model").write_bytes(out.getvalue())
    (folder / "tokenizer.json").write_text(value.to_str(), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "additional_special_tokens": [], "clean_up_tokenization_spaces": True, "do_lower_case": True, "eos_token": "</s>",
        "model_input_names": ["input_ids"], "model_max_length": 12, "pad_token": "</s>", "sp_model_kwargs": {},
        "tokenizer_class": "SiglipTokenizer", "unk_token": "<unk>",
    }, indent=1) + "\n")


def gemma_tokenizer(name):
    """Of Gemma's kind, as SigLIP 2 has it: the file does not say that texts become lower case, which the class does."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"] + [f"<0x{number:02X}>" for number in range(256)]
    value = tokenizers.Tokenizer(tokenizers.models.BPE(fuse_unk=True, unk_token="<unk>", byte_fallback=True))
    spaces = normalizers.Replace(" ", "\u2581")
    value.normalizer = normalizers.Sequence([normalizers.Lowercase(), spaces])
    value.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    value.train([str(FIXTURES / "heldout.txt")], tokenizers.trainers.BpeTrainer(
        vocab_size=GEMMA_VOCABULARY, special_tokens=special, show_progress=False, max_token_length=8))
    value.normalizer = spaces
    value.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    value.post_processor = processors.TemplateProcessing("$A <eos>", "$A <eos> $B <eos>", [("<eos>", 1)])
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(value.to_str(), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "add_bos_token": False, "add_eos_token": True, "bos_token": "<bos>", "clean_up_tokenization_spaces": False,
        "do_lower_case": True, "eos_token": "<eos>", "model_input_names": ["input_ids"], "model_max_length": 12,
        "pad_token": "<pad>", "padding_side": "right", "tokenizer_class": "GemmaTokenizer", "unk_token": "<unk>",
    }, indent=1) + "\n")


TOKENIZERS = {
    "clip": clip_tokenizer, "clip-text": lambda name: clip_tokenizer(name, added=[TOY]), "siglip": siglip_tokenizer,
    "siglip2": gemma_tokenizer,
}
FILES = ["tokenizer.json", "tokenizer_config.json", "spiece.model"]


# Changes for `without`

def at(side, change):
    """A change of one side, which may be the whole model."""
    return lambda model: change(getattr(model, side, model))


def text(change):
    return at("text_model", change)


def vision(change):
    return at("vision_model", change)


def epsilon(value):
    def change(model):
        for part in model.modules():
            if isinstance(part, torch.nn.LayerNorm):
                part.eps = value
    return change


def activated(activation):
    def change(model):
        for part in model.modules():
            if hasattr(part, "activation_fn"):
                part.activation_fn = activation
    return change


def mask(make):
    """Another mask of attention among the rows of a text; none if `make` gives none."""
    def change(model):
        forward = model.encoder.forward
        model.encoder.forward = lambda inputs_embeds, attention_mask=None, **_: forward(
            inputs_embeds, attention_mask=make(inputs_embeds.shape[1]))
    return change


def without_pads(model):
    """What is behind a text's end token is not seen."""
    forward = model.forward
    def other(input_ids, **rest):
        ends = (input_ids == 1).long()
        return forward(input_ids=input_ids, **rest | {"attention_mask": (ends.cumsum(-1) - ends == 0).long()})
    model.forward = other


def pooled(pick):
    """Another row of a text for its vector."""
    def change(model):
        forward = model.forward
        def other(*arguments, **named):
            out = forward(*arguments, **named)
            out.pooler_output = pick(model, out.last_hidden_state)
            return out
        model.forward = other
    return change


def rows(pick):
    """Other rows of a picture for its mean."""
    def change(model):
        model = model.vision_model
        forward = model.forward
        def other(*arguments, **named):
            out = forward(*arguments, **named)
            out.last_hidden_state = pick(model, out.last_hidden_state)
            return out
        model.forward = other
    return change


def swapped_positions(model):
    """Places of squares down and across exchanged."""
    value = model.embeddings.position_embedding.weight
    grid = value[-16:].reshape(4, 4, -1)
    value[-16:] = grid.transpose(0, 1).reshape(16, -1)


def layers(path, replacement):
    return module(f"encoder.layers.*.{path}", replacement)


QUICK, GELU = QuickGELUActivation(), torch.nn.GELU()


def clip_text(activation, eps):
    return {
        "activation of texts": text(activated(activation)),
        "epsilon of texts": text(epsilon(eps)), "positions of texts": text(zero("position_embedding")),
        "causal mask": text(mask(lambda count: None)), "final norm": text(module("final_layer_norm", Same())),
        "first norm of texts": text(layers("layer_norm1", Same())),
        "biases of texts": text(zero("q_proj.bias", "v_proj.bias", "fc1.bias")),
        "end token: last row": text(pooled(lambda side, states: states[:, -1])),
        "end token: first row": text(attribute("eos_token_id", -1)),
        "projection of texts": halves_swapped("text_projection"),
    }


def clip_vision(activation, eps):
    return {
        "activation of pictures": vision(activated(activation)),
        "epsilon of pictures": vision(epsilon(eps)), "positions of pictures": vision(zero("position_embedding")),
        "order of positions": vision(swapped_positions), "class embedding": vision(zero("class_embedding")),
        "norm before the layers": vision(module("pre_layrnorm", Same())),
        "second norm of pictures": vision(layers("layer_norm2", Same())),
    }


CLIP_POOLED = {
    "norm after the layers": vision(module("post_layernorm", Same())),
    "projection of pictures": halves_swapped("visual_projection"),
}
LOGITS = {"scale of the logits": zero("logit_scale")}


def clip(activation=GELU, eps=1e-5):
    return clip_text(activation, eps) | clip_vision(activation, eps) | CLIP_POOLED | LOGITS


SIGLIP_TEXT = {
    "form of the activation of texts": text(activated(GELU)),
    "epsilon of texts": text(epsilon(1e-6)), "positions of texts": text(zero("position_embedding")),
    "no causal mask": text(mask(lambda count: torch.full((count, count), float("-inf")).triu(1)[None, None])),
    "pads are seen": text(without_pads), "last row": text(pooled(lambda side, states: side.head(states[:, 0]))),
    "final norm": text(module("final_layer_norm", Same())), "head of texts": halves_swapped("text_model.head.weight"),
    "bias of the head of texts": zero("text_model.head.bias"),
}
SIGLIP_VISION = {
    "form of the activation of pictures": vision(activated(GELU)),
    "epsilon of pictures": vision(epsilon(1e-6)), "positions of pictures": vision(zero("position_embedding")),
    "order of positions": vision(swapped_positions), "bias of patches": vision(zero("patch_embedding.bias")),
    "norm after the layers": vision(module("post_layernorm", Same())),
}
def squares_by_colour(model):
    """A square's numbers by colours, as in a convolution's kernel."""
    forward = model.embeddings.patch_embedding.forward
    model.embeddings.patch_embedding.forward = lambda values: forward(
        values.unflatten(-1, (64, 3)).transpose(-1, -2).flatten(-2))


def resized_positions(**how):
    """Positions interpolated in another way."""
    def change(model):
        def resized(positions, shapes, max_length):
            out = []
            for height, width in shapes.tolist():
                grid = torch.nn.functional.interpolate(
                    positions.permute(2, 0, 1)[None], size=(height, width), align_corners=False, **how)
                grid = grid[0].flatten(1).T
                out.append(torch.cat([grid, grid[:1].expand(max_length - len(grid), -1)]))
            return torch.stack(out)
        model.embeddings.resize_positional_embeddings = resized
    return change


def seen_padding(model):
    """Squares that fill a picture up count too."""
    forward = model.forward
    model.forward = lambda pixel_values, pixel_attention_mask, spatial_shapes, **rest: forward(
        pixel_values, torch.ones_like(pixel_attention_mask), spatial_shapes, **rest)


# Texts go through the layers of SigLIP, which has the rest.
SIGLIP2_TEXT = {key: value for key, value in SIGLIP_TEXT.items() if "activation" not in key}
SIGLIP2_VISION = SIGLIP_VISION | {
    "order of a square's numbers": vision(squares_by_colour), "mask of padding": vision(seen_padding),
    "linear positions": vision(resized_positions(mode="bicubic", antialias=True)),
}
# Only a smaller grid is averaged.
SIGLIP2_SMALLER = {"averaged positions": vision(resized_positions(mode="bilinear"))}
SIGLIP_POOLED = {
    "probe": vision(zero("head.probe")), "pooling's matrix": vision(zero("head.attention.in_proj_weight")),
    "pooling's biases": vision(zero("head.attention.in_proj_bias")),
    "pooling's block": vision(zero("head.mlp.fc2")), "pooling's norm": vision(module("head.layernorm", Same())),
}


# Models

@dataclass
class Model:
    #: The class's name.
    kind: str
    #: config.json.
    config: dict
    without: dict
    #: The model whose tokenizer it has.
    tokenizer: str = None
    texts: list = field(default_factory=lambda: TEXTS)
    #: Of the pictures: height and width.
    size: tuple = (32, 32)
    processor: dict = field(default_factory=dict)
    #: Factors of weights whose names hold a part.
    scales: dict = field(default_factory=dict)
    #: As torch.save writes them, with numbers of positions.
    isPickled: bool = False

    @property
    def readsTexts(self):
        return self.tokenizer is not None

    @property
    def seesPictures(self):
        return "Text" not in self.kind

    @property
    def isSiglip(self):
        return self.kind.startswith("Siglip")

    @property
    def isNative(self):
        """Whether pictures are of any size."""
        return self.kind.startswith("Siglip2")


TEXT = dict(
    hidden_size=16, intermediate_size=40, num_attention_heads=4, num_hidden_layers=2, max_position_embeddings=16,
    vocab_size=VOCABULARY,
)
VISION = dict(
    hidden_size=32, intermediate_size=64, num_attention_heads=4, num_hidden_layers=2, image_size=32, patch_size=8,
)
NORM = dict(layer_norm_eps=0.01)
TOKENS = dict(bos_token_id=VOCABULARY - 2, eos_token_id=VOCABULARY - 1, pad_token_id=VOCABULARY - 1)
CLIP_TEXT = dict(model_type="clip_text_model", hidden_act="quick_gelu", projection_dim=24, **TEXT, **NORM, **TOKENS)
CLIP_VISION = dict(model_type="clip_vision_model", hidden_act="quick_gelu", projection_dim=24, **VISION, **NORM)
CLIP_PROCESSOR = {
    "crop_size": {"height": 32, "width": 32}, "do_center_crop": True, "do_convert_rgb": True,
    "image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 32},
}
SIGLIP_PROCESSOR = {"image_processor_type": "SiglipImageProcessor", "size": {"height": 32, "width": 32}}
SIGLIP_WORDS = dict(
    TEXT, **NORM, model_type="siglip_text_model", max_position_embeddings=12, hidden_act="gelu_pytorch_tanh",
    projection_size=32)
SIGLIP_SIGHT = dict(VISION, **NORM, model_type="siglip_vision_model", hidden_act="gelu_pytorch_tanh")
SIGLIP2_PROCESSOR = {"image_processor_type": "Siglip2ImageProcessor", "max_num_patches": 30, "patch_size": 8, "resample": 2}
SIGLIP2_WORDS = SIGLIP_WORDS | dict(model_type="siglip2_text_model", vocab_size=GEMMA_VOCABULARY)
SIGLIP2_SIGHT = SIGLIP_SIGHT | dict(model_type="siglip2_vision_model", num_patches=16)
del SIGLIP2_SIGHT["image_size"]

#: With biases that lie where the two forms of gelu differ most, so that these differ in the outputs.
SCALES = {"fc1.weight": 0.1, "fc2.weight": 8, "patch_embedding": 0.1, "out_proj": 0.3}

# As OpenAI's large model: what has two settings is as `_dict` says, and what `_dict` leaves out as if nothing said it.
OLD_TEXT = dict(
    CLIP_TEXT, hidden_act="gelu", num_attention_heads=2, layer_norm_eps=0.1, bos_token_id=0, eos_token_id=2, pad_token_id=1)
OLD_TEXT_DICT = dict(TEXT, eos_token_id=2, projection_dim=24)
OLD_VISION = dict(CLIP_VISION, hidden_act="gelu", num_attention_heads=8, layer_norm_eps=0.1)
OLD_VISION_DICT = dict(VISION, projection_dim=24)
OLD = {
    "dict of texts": dict(text_config_dict=None), "dict of pictures": dict(vision_config_dict=None),
    "what the dict of texts leaves out": dict(text_config=OLD_TEXT | OLD_TEXT_DICT, text_config_dict=None),
    "what the dict of pictures leaves out": dict(vision_config=OLD_VISION | OLD_VISION_DICT, vision_config_dict=None),
}

LABELLED = {"bias of the head": zero("classifier.bias")}

MODELS = {
    "clip": Model(
        "CLIPModel", dict(
            model_type="clip", initializer_factor=1.0, logit_scale_init_value=2.6592, projection_dim=24,
            text_config=CLIP_TEXT, vision_config=CLIP_VISION),
        clip(), tokenizer="clip", processor=CLIP_PROCESSOR),
    "clip-old": Model(
        "CLIPModel", dict(
            model_type="clip", initializer_factor=1.0, logit_scale_init_value=2.6592, projection_dim=24,
            text_config=OLD_TEXT, text_config_dict=OLD_TEXT_DICT, vision_config=OLD_VISION, vision_config_dict=OLD_VISION_DICT,
            torch_dtype="float32"),
        clip(eps=0.1) | OLD, tokenizer="clip", isPickled=True, processor={
            "crop_size": 32, "do_center_crop": True, "do_rescale": None, "feature_extractor_type": "CLIPFeatureExtractor",
            "rescale_factor": None, "size": 32,
        }),
    # As laion's: few settings. Its pictures are of another size than the model's, which interpolates positions.
    "clip-gelu": Model(
        "CLIPModel", dict(
            model_type="clip", projection_dim=24, text_config=dict(TEXT, hidden_act="gelu", eos_token_id=2),
            vision_config=dict(VISION, hidden_act="gelu")),
        clip(QUICK, eps=0.01), tokenizer="clip", size=(32, 48),
        processor=CLIP_PROCESSOR | {"do_center_crop": False, "size": {"height": 32, "width": 48}}),
    # With a token behind the end token's, as those that learn a thing's name have it.
    "clip-text": Model(
        "CLIPTextModelWithProjection", dict(CLIP_TEXT, vocab_size=VOCABULARY + 1),
        clip_text(GELU, 1e-5) | {"end token: highest": text(attribute("eos_token_id", 2))},
        tokenizer="clip-text", texts=[f"a photo of a {TOY} in the night", *TEXTS[1:]]),
    "clip-vision": Model(
        "CLIPVisionModelWithProjection", CLIP_VISION, clip_vision(GELU, 1e-5) | CLIP_POOLED, processor=CLIP_PROCESSOR),
    "clip-labels": Model(
        "CLIPForImageClassification", dict(
            LABELS, model_type="clip", projection_dim=24, text_config=dict(model_type="clip_text_model"),
            vision_config=CLIP_VISION),
        clip_vision(GELU, 1e-5) | LABELLED | {
            "no norm after the layers": rows(lambda side, states: side.post_layernorm(states)),
            "mean without the class": rows(lambda side, states: torch.cat([states[:, :1], states], dim=1)),
            "mean": rows(lambda side, states: states[:, [0, 0]]),
        }, processor=CLIP_PROCESSOR),
    "siglip": Model(
        "SiglipModel", dict(
            model_type="siglip", initializer_factor=1.0, text_config=SIGLIP_WORDS, vision_config=SIGLIP_SIGHT),
        SIGLIP_TEXT | SIGLIP_VISION | SIGLIP_POOLED | LOGITS | {"bias of the logits": zero("logit_bias")},
        tokenizer="siglip", texts=SIGLIP_TEXTS, processor=SIGLIP_PROCESSOR, scales=SCALES),
    "siglip-labels": Model(
        "SiglipForImageClassification", dict(
            LABELS, model_type="siglip", text_config=dict(model_type="siglip_text_model"), vision_config=SIGLIP_SIGHT),
        SIGLIP_VISION | LABELLED | {"mean": rows(lambda side, states: states[:, :1])},
        processor=SIGLIP_PROCESSOR, scales=SCALES),
    "siglip-vision": Model(
        "SiglipVisionModel", SIGLIP_SIGHT, SIGLIP_VISION | SIGLIP_POOLED, processor=SIGLIP_PROCESSOR, scales=SCALES),
    # Of no size of their own: 24 squares of 30, more than there are positions.
    "siglip2": Model(
        "Siglip2Model", dict(
            model_type="siglip2", initializer_factor=1.0, text_config=SIGLIP2_WORDS, vision_config=SIGLIP2_SIGHT),
        SIGLIP2_TEXT | SIGLIP2_VISION | SIGLIP_POOLED | LOGITS | {"bias of the logits": zero("logit_bias")},
        tokenizer="siglip2", texts=SIGLIP_TEXTS, size=(32, 48), processor=SIGLIP2_PROCESSOR, scales=SCALES),
    "siglip2-labels": Model(
        "Siglip2ForImageClassification", dict(
            LABELS, model_type="siglip2", text_config=dict(model_type="siglip2_text_model"), vision_config=SIGLIP2_SIGHT),
        SIGLIP2_VISION | SIGLIP2_SMALLER | LABELLED | {"mean": rows(lambda side, states: states[:, :1])},
        size=(72, 16), processor=SIGLIP2_PROCESSOR | {"max_num_patches": 20}, scales=SCALES),
    "siglip2-vision": Model(
        "Siglip2VisionModel", SIGLIP2_SIGHT, {
            key: value for key, value in (SIGLIP2_VISION | SIGLIP2_SMALLER | SIGLIP_POOLED).items() if "activation" not in key
        }, size=(8, 40),
        processor=SIGLIP2_PROCESSOR | {"max_num_patches": 7}, scales=SCALES),
}


# Answers

def unit(rows):
    return rows / rows.norm(dim=-1, keepdim=True)


def ids_of(folder, model):
    """As the class of transformers makes them, which SigLIP's does not do by tokenizer.json; that says the same, but that
    SigLIP 2's texts become lower case."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    named = dict(padding="max_length") if model.isSiglip else {}
    ids = [tokenizer(text, truncation=True, **named)["input_ids"] for text in model.texts]
    plain = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    plain.enable_truncation(tokenizer.model_max_length)
    if model.isSiglip:
        pad, token = (0, "<pad>") if model.isNative else (1, "</s>")
        plain.enable_padding(length=tokenizer.model_max_length, pad_id=pad, pad_token=token)
    texts = [text.lower() for text in model.texts] if model.isNative else model.texts
    assert ids == [plain.encode(text).ids for text in texts], folder
    return ids


@torch.no_grad()
def outputs(made, model, ids):
    out = {}
    if model.readsTexts:
        each = [torch.tensor([row]) for row in ids]
        if hasattr(made, "get_text_features"):
            out["text_vectors"] = unit(torch.cat([made.get_text_features(row).pooler_output for row in each]))
        else:
            out["text_vectors"] = unit(torch.cat([made(row).text_embeds for row in each]))
    if model.seesPictures:
        levels = pixels(*model.size).double()
        values = ((torch.stack([levels, levels.flip(1)]) / 255 - 0.5) / 0.5).float().permute(0, 3, 1, 2)
        named = {"interpolate_pos_encoding": True} if model.size != (32, 32) and not model.isNative else {}
        named |= patched(values, model.processor) if model.isNative else {"pixel_values": values}
        if hasattr(made, "get_image_features"):
            vectors = made.get_image_features(**named).pooler_output
        else:
            said = made(**named)
            out |= {"labels_logits": said.logits} if "logits" in said else {}
            vectors = said.image_embeds if "image_embeds" in said else getattr(made, "vision_model", made)(
                **named).pooler_output
        out["picture_vectors"] = unit(vectors)
    if hasattr(made, "logit_scale"):
        columns = [made(input_ids=row, **named) for row in each]
        out["logits"] = torch.cat([column.logits_per_image for column in columns], dim=1)
        logits = out["logits"]
        out["probabilities"] = logits.sigmoid() if model.isSiglip else logits.softmax(dim=1)
    return out


def patched(values, processor):
    """Squares of pictures of one size, filled up, which of them are the picture's, and how many there are down and across."""
    side, most = processor["patch_size"], processor["max_num_patches"]
    height, width = values.shape[2] // side, values.shape[3] // side
    count = height * width
    target = transformers.models.siglip2.image_processing_pil_siglip2.get_image_size_for_max_num_patches(
        *values.shape[2:], side, most)
    assert target == tuple(values.shape[2:]) and count < most, target
    squares = values.reshape(len(values), 3, height, side, width, side).permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)
    squares = torch.nn.functional.pad(squares, (0, 0, 0, most - count))
    mask = (torch.arange(most) < count).int().expand(len(values), -1)
    return dict(
        pixel_values=squares, pixel_attention_mask=mask, spatial_shapes=torch.tensor([[height, width]] * len(values)))


def distance(model, one, other):
    """How far two answers are from each other; of a model with labels, how far those are."""
    keys = ["labels_logits"] if "labels_logits" in one else [key for key in one if key != "probabilities"]
    return max((one[key] - other[key]).abs().max().item() for key in keys)


def weights(made, name, scales):
    torch.manual_seed(sum(map(ord, name)))
    with torch.no_grad():
        for part, value in made.named_parameters():
            norm = "norm" in part and part.endswith("weight")
            scale = next((factor for key, factor in scales.items() if key in part), 1)
            value.copy_(torch.randn_like(value) * (0.3 if value.dim() > 1 else 0.2) * scale + (1 if norm else 0))
            if "fc1.weight" in scales and part.endswith("fc1.bias"):
                value[::2] -= 2.3
            if part.startswith("logit"):
                value.fill_(2.25 if part == "logit_scale" else -1.5)
            # As the file has it.
            value.copy_(value.bfloat16().float())


def make(name, model):
    folder = MICRO / name
    folder.mkdir(parents=True, exist_ok=True)
    kind = getattr(transformers, model.kind)
    settings = {"architectures": [model.kind]} | model.config
    made = kind(kind.config_class(**json.loads(json.dumps(settings)))).eval().float()
    weights(made, name, model.scales)
    made.save_pretrained(folder)
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    stored = {key: value.bfloat16() for key, value in stored.items()}
    if model.isPickled:
        (folder / "model.safetensors").unlink()
        for side, count in (("text", 16), ("vision", 17)):
            stored[f"{side}_model.embeddings.position_ids"] = torch.arange(count)[None]
        torch.save(stored, folder / "pytorch_model.bin")
    else:
        safetensors.torch.save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n")
    if model.processor:
        processor = {
            "do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
            "resample": 3, "rescale_factor": 1 / 255,
        } | model.processor
        processor = {key: value for key, value in processor.items() if value is not None}
        (folder / "preprocessor_config.json").write_text(json.dumps(processor, indent=1, sort_keys=True) + "\n")
    if model.tokenizer == name:
        TOKENIZERS[name](name)
    elif model.tokenizer:
        for file in FILES:
            if (MICRO / model.tokenizer / file).exists():
                link(folder, file, f"../{model.tokenizer}/{file}")
    ids = ids_of(folder, model) if model.readsTexts else None

    def load(**changes):
        config = kind.config_class(**json.loads(json.dumps(settings | changes)))
        read, info = kind.from_pretrained(
            folder, config=config, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
        assert not info["missing_keys"] and not info["mismatched_keys"], info
        return read.eval()

    said = outputs(load(), model, ids)
    moves = {}
    for what, change in model.without.items():
        if isinstance(change, dict):
            other = load(**change)
        else:
            other = load()
            with torch.no_grad():
                change(other)
        move = distance(model, said, outputs(other, model, ids))
        assert move > 0.001, f"{name}: without {what} the outputs move by {move} only"
        moves[what] = round(move, 4)
    golden = {"model": f"micro/{name}", "reference": REFERENCE}
    golden |= {"texts": model.texts, "ids": ids} if model.readsTexts else {}
    golden |= {"size": list(model.size)} if model.seesPictures else {}
    write(FIXTURES / "goldens" / f"contrastive-{name}.json", golden | {
        key: [numbers(row) for row in value] for key, value in said.items()} | {"without": moves})


if __name__ == "__main__":
    for name, model in MODELS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            make(name, model)
            print(name)
