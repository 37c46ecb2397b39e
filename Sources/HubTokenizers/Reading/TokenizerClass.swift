/// A tokenizer class of transformers that reads a vocabulary without a tokenizer.json
/// (https://github.com/huggingface/transformers/tree/main/src/transformers/models).
enum TokenizerClass: Sendable {
    case bert, distilBert, mpnet, esm
    case roberta, deberta, gpt2
    case xlmRoberta, camembert, albert, debertaV2
    case marian, m2m100, mBart, mBart50
    case kimi
    case siglip

    /// By the class name without its suffixes.
    init?(name: String) {
        guard let found = Self.names[name] else { return nil }
        self = found
    }

    /// The class of a model without tokenizer_config.json, by `model_type`.
    init?(modelType: String) {
        guard let found = Self.modelTypes[modelType] else { return nil }
        self = found
    }

    private static let names: [String: TokenizerClass] = [
        "Bert": .bert, "ConvBert": .bert, "Electra": .bert, "MobileBert": .bert, "SqueezeBert": .bert,
        "DistilBert": .distilBert, "MPNet": .mpnet, "Esm": .esm, "Roberta": .roberta, "Bart": .roberta,
        "Longformer": .roberta, "Deberta": .deberta, "GPT2": .gpt2, "XLMRoberta": .xlmRoberta,
        "Camembert": .camembert, "Albert": .albert, "DebertaV2": .debertaV2, "Marian": .marian,
        "M2M100": .m2m100, "MBart": .mBart, "MBart50": .mBart50,
        "TikToken": .kimi, "Siglip": .siglip,
    ]

    private static let modelTypes: [String: TokenizerClass] = [
        "bert": .bert, "convbert": .bert, "distilbert": .bert, "electra": .bert, "megatron-bert": .bert,
        "mobilebert": .bert, "nomic_bert": .bert, "squeezebert": .bert, "mpnet": .mpnet, "esm": .esm,
        "roberta": .roberta, "bart": .roberta, "longformer": .roberta, "deberta": .deberta, "gpt2": .gpt2,
        "opt": .gpt2, "xlm-roberta": .xlmRoberta, "gte": .xlmRoberta, "jina_embeddings_v3": .xlmRoberta,
        "camembert": .camembert, "albert": .albert, "deberta-v2": .debertaV2, "marian": .marian,
        "m2m_100": .m2m100, "mbart": .mBart, "kimi_k2": .kimi, "siglip": .siglip,
    ]

    /// Whether its models take types that tell the texts of a pair apart.
    var givesTypes: Bool {
        switch self {
        case .bert, .deberta, .debertaV2: true
        default: false
        }
    }

    /// Whether it cuts texts as BERT does.
    var isWordPiece: Bool { [.bert, .distilBert, .mpnet].contains(self) }

    /// The special tokens that the class has if the files name no others, by role.
    var defaultTokens: [String: String] {
        switch self {
        case .bert, .distilBert:
            [
                "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]",
                "mask_token": "[MASK]",
            ]
        case .mpnet:
            Self.angled.merging(["unk_token": "[UNK]"]) { $1 }
        case .esm:
            [
                "unk_token": "<unk>", "cls_token": "<cls>", "pad_token": "<pad>", "mask_token": "<mask>",
                "eos_token": "<eos>",
            ]
        case .roberta, .xlmRoberta, .camembert, .mBart, .mBart50: Self.angled
        case .gpt2:
            ["unk_token": "<|endoftext|>", "bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"]
        case .kimi: [:]
        case .siglip: ["eos_token": "</s>", "unk_token": "<unk>", "pad_token": "</s>"]
        case .marian: ["eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"]
        case .m2m100:
            [
                "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "sep_token": "</s>",
                "pad_token": "<pad>",
            ]
        case .deberta, .debertaV2: Self.bracketed
        case .albert: Self.bracketed.merging(["unk_token": "<unk>", "pad_token": "<pad>"]) { $1 }
        }
    }

    private static let angled = [
        "bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "cls_token": "<s>", "unk_token": "<unk>",
        "pad_token": "<pad>", "mask_token": "<mask>",
    ]
    private static let bracketed = [
        "bos_token": "[CLS]", "eos_token": "[SEP]", "sep_token": "[SEP]", "cls_token": "[CLS]",
        "unk_token": "[UNK]", "pad_token": "[PAD]", "mask_token": "[MASK]",
    ]

    /// Whether white space before the mask belongs to it.
    var stripsBeforeMask: Bool { [.mpnet, .camembert, .mBart, .mBart50].contains(self) }

    /// The tokens of languages that it appends to its vocabulary, in this order.
    var languages: [String] {
        switch self {
        case .mBart: Self.first
        case .mBart50: Self.first + Self.further
        default: []
        }
    }

    /// https://github.com/facebookresearch/fairseq/tree/main/examples/mbart
    private static let first = [
        "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT", "ja_XX",
        "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN",
        "zh_CN",
    ]
    /// https://github.com/facebookresearch/fairseq/tree/main/examples/multilingual
    private static let further = [
        "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN", "mn_MN",
        "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK",
        "xh_ZA", "gl_ES", "sl_SI",
    ]
}
