/// An import of a pickle, which unpickling could call.
package struct PickleImport: Sendable, Hashable, CustomStringConvertible {
    /// The known danger.
    package enum Danger: String, Sendable, Hashable, Comparable {
        /// Builds plain values or tensors.
        case harmless
        /// Not on any list.
        case unknown
        /// Runs programs or code, or accesses files or the network.
        case dangerous

        package static func < (left: Danger, right: Danger) -> Bool { left.order < right.order }
        private var order: Int { self == .harmless ? 0 : self == .unknown ? 1 : 2 }
    }

    package let module: String
    package let name: String

    package init(module: String, name: String) { (self.module, self.name) = (module, name) }

    /// `os.system`
    package var description: String { "\(module).\(name)" }

    /// A name computed while unpickling.
    static let computed = PickleImport(module: "builtins", name: "(a name that is computed)")

    package var danger: Danger {
        if Self.isHarmless(module, name) { return .harmless }
        if Self.dangerous.contains(description) || Self.reachesDanger(module, name) { return .dangerous }
        return .unknown
    }

    private static func isHarmless(_ module: String, _ name: String) -> Bool {
        if harmless["\(module).\(name)"] != nil { return true }
        // A dotted name can reach anything through its first part.
        guard ["torch", "torch.storage", "torch.cuda"].contains(module), !name.contains(".") else { return false }
        return name.hasSuffix("Storage") || torchTypes[name] != nil || ["Size", "device"].contains(name)
    }

    /// Whether a part of the path is a dangerous module: `torch.serialization` imports `os`, so its `os.system` is the
    /// real one.
    private static func reachesDanger(_ module: String, _ name: String) -> Bool {
        let modules = module.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let names = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if ["builtins", "__builtin__"].contains(modules[0]) || dangerousModules.contains(modules[0]) {
            return true
        }
        // Packages use common words for their own modules; in the name it is the real module.
        return modules.dropFirst().contains { dangerousModules.contains($0) && !commonWords.contains($0) }
            || names.contains { dangerousModules.contains($0) || $0 == "builtins" }
            || names.count > 1 && names.contains { $0.hasPrefix("__") }
    }

    /// Torch's element types with their safetensors names.
    static let torchTypes: [String: String] = [
        "float32": "F32", "float": "F32", "float64": "F64", "double": "F64", "float16": "F16", "half": "F16",
        "bfloat16": "BF16", "int64": "I64", "long": "I64", "int32": "I32", "int": "I32", "int16": "I16",
        "short": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "uint16": "U16", "uint32": "U32",
        "uint64": "U64", "complex64": "C64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
        "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
    ]

    /// The functions that build tensors and plain values.
    enum Builder { case tensor, typedTensor, parameter, wrapped, dictionary, other }

    static let harmless: [String: Builder] = [
        "torch._utils._rebuild_tensor": .tensor, "torch._utils._rebuild_tensor_v2": .tensor,
        "torch._utils._rebuild_tensor_v3": .typedTensor, "torch._utils._rebuild_parameter": .parameter,
        "torch._utils._rebuild_parameter_with_state": .parameter,
        "torch._tensor._rebuild_from_type_v2": .wrapped, "torch._utils._rebuild_qtensor": .tensor,
        "torch._utils._rebuild_meta_tensor_no_storage": .other, "torch.nn.parameter.Parameter": .parameter,
        "torch.Tensor": .other, "torch.serialization._get_layout": .other, "torch._C._nn": .other,
        "collections.OrderedDict": .dictionary, "collections.defaultdict": .dictionary,
        "collections.Counter": .dictionary, "builtins.dict": .dictionary, "__builtin__.dict": .dictionary,
        "builtins.set": .other, "__builtin__.set": .other, "builtins.frozenset": .other,
        "builtins.list": .other, "__builtin__.list": .other, "builtins.tuple": .other, "builtins.int": .other,
        "builtins.float": .other, "builtins.str": .other, "builtins.bool": .other, "builtins.bytes": .other,
        "builtins.bytearray": .other, "builtins.complex": .other, "builtins.slice": .other,
        "builtins.range": .other, "builtins.object": .other, "__builtin__.object": .other,
        "_codecs.encode": .other, "copyreg._reconstructor": .other, "copy_reg._reconstructor": .other,
        "argparse.Namespace": .other, "datetime.datetime": .other, "datetime.timedelta": .other,
        "decimal.Decimal": .other, "fractions.Fraction": .other, "pathlib.PosixPath": .other,
        "numpy.core.multiarray._reconstruct": .other, "numpy._core.multiarray._reconstruct": .other,
        "numpy.core.multiarray.scalar": .other, "numpy._core.multiarray.scalar": .other,
        "numpy.ndarray": .other, "numpy.dtype": .other,
    ]

    /// Modules that do not belong in a checkpoint.
    private static let dangerousModules: Set<String> = [
        "os", "posix", "nt", "ntpath", "posixpath", "subprocess", "sys", "socket", "ssl", "shutil", "runpy", "pty",
        "pdb", "bdb", "code", "codeop", "commands", "ctypes", "cffi", "importlib", "imp", "marshal",
        "multiprocessing",
        "asyncio", "webbrowser", "requests", "urllib", "urllib2", "urllib3", "http", "httplib", "ftplib", "smtplib",
        "telnetlib", "aiohttp", "httpx", "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "timeit",
        "trace", "cProfile", "profile", "signal", "tempfile", "glob", "pip", "setuptools", "distutils", "ensurepip",
        "venv", "pkgutil", "pydoc", "doctest", "unittest", "operator", "functools", "types", "inspect", "linecache",
        "threading", "_thread", "concurrent", "select", "selectors", "sqlite3", "platform", "getpass", "io", "_io",
        "fileinput", "zipimport", "zipfile", "tarfile", "gc", "builtin", "site", "atexit", "idlelib", "lib2to3",
        "xmlrpc", "logging", "antigravity", "nturl2path", "uuid", "readline", "mmap", "resource",
    ]
    /// Those that packages also use as names of their own modules.
    private static let commonWords: Set<String> = [
        "code", "types", "io", "trace", "profile", "inspect", "site", "platform", "resource", "signal", "operator",
        "logging", "select", "selectors", "glob", "http", "uuid", "gc", "commands", "requests", "functools",
    ]
    private static let dangerous: Set<String> = [
        "torch.load", "torch.save", "torch.hub.load", "torch.serialization.load", "torch.jit.load",
        "torch._dynamo.guards.GuardBuilder.get", "torch.utils._config_module.load_config", "torch.compile",
        "torch.utils.collect_env.run", "torch.utils.bottleneck.__main__.run_cprofile",
        "torch.distributed.elastic.rendezvous", "torch._inductor.codecache.compile_file",
        "numpy.load", "numpy.testing._private.utils.runstring", "numpy.f2py.crackfortran.getlincoef",
        "numpy.f2py.crackfortran._eval_length", "tensorflow.io.read_file", "keras.models.load_model",
        "transformers.AutoModel.from_pretrained", "pandas.read_pickle", "pandas.eval",
    ]
}
