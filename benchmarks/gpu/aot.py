"""Step of `wmt14-base` compiled for GPUs that are not there: `make gpu-aot`.

PyTorch's CUDA build generates the kernels of the project's own step (`annotated.speed.steps.FastStep`) and translates
them to machine code, for each target in a process of its own. No GPU is needed and nothing is started: tensors have no
data, and stand-ins take the place of the driver and of a GPU's properties. So nothing is tuned, recorded or timed.

It prints what the generated code starts, moves and asks of a library, and milliseconds computed from that for named
cards. It fails on a graph break, a wait for the device, a float32 buffer [N, V], logits that are not read twice, or a
fusion that was lost.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily

from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer
from annotated.recipes import recipe
from annotated.speed.kernels.fused import load_varlen_kernel
from annotated.speed.layouts.auto import resolve_layout
from annotated.speed.layouts.prefetch import prepare_packed
from annotated.speed.layouts.static_batch import LaidOutBatch
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps import FastStep
from annotated.speed.steps import step as step_module
from annotated.speed.steps.precision import resolve_precision
from annotated.storage import atomic_write
from benchmarks.gpu.generated_code import CARDS, Access, Graph, Launch, Product, problems, read, seconds
from benchmarks.gpu.pairs import LONGEST

TARGETS = ("75", "80", "89", "90", "100")
"""Compute capabilities, of a T4, A100, RTX 4090, H100 and B200."""
OUT = Path("build/benchmarks/gpu_aot.json")
VOCABULARY, SENTENCES, LENGTH = 37_000, 860, 28
"""WMT14's, and a batch of about 25,000 tokens a side."""
ADAM_BYTES = 36
"""For each weight, all float32: four tensors read and three written; its gradient zeroed, and read for the norm."""
DEVICE_SLOTS = 16
"""At least as many as PyTorch counts where a driver is missing; its backward pass asks each whether it is in use."""
_THREADS = {"75": 1024, "89": 1536}

STUB = """
static signed char devices;
static int properties[1024];  /* cudaDeviceProp, of which attention reads major and minor: at bytes 360 and 364 */
void pretend(int count, int major, int minor) { devices = count; properties[90] = major; properties[91] = minor; }
signed char _ZN3c104cuda12device_countEv(void) { return devices; }
void *_ZN2at4cuda26getCurrentDevicePropertiesEv(void) { return properties; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0; *active = 0; return 0; }
"""
"""Two functions of PyTorch, and what stands in for NVIDIA's driver; all other functions of that fail."""


def build_stub(folder: Path) -> Path:
    """Compile the stand-in for `libcuda.so.1`, to be loaded before PyTorch.

    Raises
    ------
    ValueError
        If this is not the CUDA build of PyTorch, or there is no C compiler.
    """
    library, compiler = Path(torch.__file__).parent / "lib" / "libcaffe2_nvrtc.so", shutil.which("cc")
    if torch.version.cuda is None or not library.exists():
        raise ValueError(f"torch {torch.__version__} is not the CUDA build for Linux: `make gpu-aot` installs one")
    if compiler is None:
        raise ValueError("no C compiler `cc`: install gcc")
    asked = {name.decode() for name in re.findall(rb"\0(cu[A-Z]\w+)(?=\0)", library.read_bytes())}
    failing = [f"int {name}(void) {{ return 100; }}" for name in sorted(asked - {"cuDevicePrimaryCtxGetState"})]
    source, stub = folder / "stub.c", folder / "libcuda.so.1"
    source.write_text("\n".join([STUB, *failing]), encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", stub, source], check=True)
    return stub


def _put(owner: object, **answers: Any) -> None:
    """Replace functions of PyTorch in this process, for good."""
    for name, answer in answers.items():
        setattr(owner, name, answer)


def pretend_device(target: str) -> tuple[int, int]:
    """Let PyTorch, its compiler and Triton see the GPU that is compiled for, as far as compiling asks."""
    import torch.cuda.amp.common
    import triton
    from torch._dynamo.device_interface import CudaInterface
    from torch._inductor.runtime import triton_helpers
    from triton.backends.compiler import GPUTarget

    capability = int(target[:-1]), int(target[-1])
    card = next(card for card in CARDS if card.capability == capability)
    properties = types.SimpleNamespace(
        name=card.name, major=capability[0], minor=capability[1], multi_processor_count=card.processors,
        total_memory=2**34, regs_per_multiprocessor=2**16, max_threads_per_block=1024, warp_size=32,
        max_threads_per_multi_processor=_THREADS.get(target, 2048),
    )  # fmt: skip
    answers: dict[str, Callable[..., Any]] = {
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: capability,
        "is_bf16_supported": lambda *_, **__: capability >= (8, 0),
        "current_device": lambda: 0,
        "device_count": lambda: 1,
    }
    static = {name: staticmethod(answer) for name, answer in answers.items()}
    _put(CudaInterface, **static, is_available=staticmethod(lambda: True))
    _put(CudaInterface.Worker, get_device_properties=static["get_device_properties"])
    _put(torch.cuda, **answers, is_available=lambda: False)  # so tensors without data do without a driver
    _put(torch.cuda.amp.common, amp_definitely_not_available=lambda: False)
    _put(torch.Tensor, pin_memory=lambda self, *_: self)
    triton_target = GPUTarget("cuda", int(target), 32)
    triton.runtime.driver.set_active(
        types.SimpleNamespace(get_current_target=lambda: triton_target, get_current_device=lambda: 0)
    )
    _put(triton_helpers, set_driver_to_gpu=lambda: None)
    with FakeTensorMode():  # it puts its stand-in for the driver into place now, while there are no devices
        pass
    ctypes.CDLL(os.environ["LD_PRELOAD"]).pretend(DEVICE_SLOTS, *capability)
    return capability


class Watched:
    """What the compiler makes, kept; and the compiler kept from starting it.

    Parameters
    ----------
    mode
        In which tensors have no data; a graph "runs" in it.
    """

    def __init__(self, mode: FakeTensorMode) -> None:
        self.mode, self.codes = mode, list[str]()
        self.kernels = self.configurations = self.refused = 0

    def install(self) -> None:
        """Change the compiler of this process, for good."""
        import torch._functorch.config
        from torch._inductor import compile_fx, config
        from torch._inductor.fx_passes import fuse_attention
        from torch._inductor.graph import GraphLowering
        from torch._inductor.runtime import triton_heuristics

        torch._functorch.config.enable_autograd_cache = False
        config.fx_graph_cache = False
        config.shape_padding = config.joint_graph_constant_folding = False  # these run kernels
        config.compile_threads = 1
        _put(fuse_attention, _sfdp_init=lambda *_, **__: None)
        _put(GraphLowering, save_output_code=staticmethod(self.codes.append))
        original, compile_graph = compile_fx.compile_fx, compile_fx.compile_fx_inner

        def inner(module: Any, inputs: Any, **options: Any) -> Callable[[list[Any]], Any]:
            plain = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
            compile_graph(module, inputs, **options)

            def instead(arguments: list[Any]) -> Any:
                given = list(arguments)
                arguments.clear()
                with self.mode:
                    return plain(*given)

            instead._boxed_call = True  # type: ignore[attr-defined]
            return instead

        def compile_all(*arguments: Any, **options: Any) -> Any:
            return original(*arguments, **{"inner_compile": inner, **options})

        def translate(kernel: Any, *_: Any, **__: Any) -> None:
            tried = len(kernel.configs)
            kernel._precompile_worker()
            self.kernels, self.configurations = self.kernels + 1, self.configurations + len(kernel.compile_results)
            self.refused += tried - len(kernel.compile_results)

        _put(compile_fx, compile_fx=compile_all)
        _put(triton_heuristics.CachingAutotuner, precompile=translate)


def _outside(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler looks away while tensors without data are the rule; these it takes as any others."""

    def call(*arguments: Any, **named: Any) -> Any:
        with unset_fake_temporarily():
            return compiled(*arguments, **named)

    return call


def run_step(training: TrainingConfig, model_config: ModelConfig, mode: FakeTensorMode) -> tuple[str, int]:
    """One micro-step of the project, on tensors without data: all that it compiles is compiled.

    Returns
    -------
    layout, weights
        'packed' or 'static', with the precision; and how many weights the model has.
    """
    device = torch.device("cuda", 0)
    load_varlen_kernel()
    with mock.patch.object(torch.cuda, "is_available", lambda: True):
        training = resolve_precision(training, device)
        training, _ = resolve_layout(training, model_config, device)
    torch.backends.cuda.enable_cudnn_sdp(False)  # as a training: annotated.speed.kernels.cudnn
    with mode, device:
        model = Transformer(model_config).train()
        step = FastStep(model, training, Processes(device=device))
    ids = torch.full((SENTENCES, LENGTH), 7)
    lengths = [LENGTH] * SENTENCES
    batch = Batch(ids, ids.clone(), ids.clone(), lengths, lengths, list(range(SENTENCES)))
    with mock.patch.object(step_module, "CudaGraphs", lambda: None), step.compiled(LONGEST):
        if step.static is not None:
            part: Any = step.static
            shape = part.shape
            batch = LaidOutBatch(**vars(batch), shape=shape, flat=shape.lay_out(batch))
        else:
            part, batch = step, prepare_packed(batch, uniform=True)
        part.forward, part.terms = _outside(part.forward), _outside(part.terms)
        with mode:
            step.micro_step(batch, float(batch.target_tokens))
    return f"{training.layout}, {training.precision}", sum(p.numel() for p in model.parameters())


def compile_for(target: str) -> dict[str, Any]:
    """What the compiler makes of the step for one target, in a process whose PyTorch was loaded behind the stub."""
    pretend_device(target)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    watched = Watched(mode)
    watched.install()
    chosen = recipe("wmt14-base")
    config = chosen.model.replace(vocab_size=VOCABULARY)
    layout, weights = run_step(chosen.training, config, mode)
    graphs = [read(code) for code in watched.codes]
    encoder, decoder = config.num_encoder_layers, config.num_decoder_layers
    found = problems(graphs, VOCABULARY, 2 * encoder + 3 * decoder, encoder + decoder)
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    made = {"kernels": watched.kernels, "configurations": watched.configurations, "refused": watched.refused}
    result = {"target": target, "layout": layout, "torch": torch.__version__, **made}
    result["found"] = [*([f"{breaks} graph breaks"] if breaks else []), *found]
    for graph in graphs:
        result[graph.kind] = _summary(graph)
    if not result["found"]:
        result["milliseconds"] = _roofline(graphs, weights, config.d_model, target)
    return result


def _summary(graph: Graph) -> dict[str, Any]:
    logits = graph.logits(VOCABULARY) if graph.kind == "inference" else None
    return {
        "launches": len(graph.launches),
        "products": len(graph.products),
        "with_relu": sum(product.relu for product in graph.products),
        "attention": len(graph.attention),
        "kernel_bytes": graph.bytes,
        "product_bytes": sum(product.bytes for product in graph.products),
        "flops": sum(product.flops for product in graph.products),
        "reads_of_logits": graph.reads(logits) if logits else 0,
    }


def _roofline(graphs: Sequence[Graph], weights: int, d_model: int, target: str) -> dict[str, float]:
    """Milliseconds of a step without attention, for each card of the target."""
    work: list[Launch | Product] = [
        Launch("Adam", [Access("weights", (weights,), reads=5, writes=4, bytes=ADAM_BYTES * weights)])
    ]
    for graph in graphs:
        if graph.kind != "inference":
            work += [*graph.launches, *graph.products]
            continue
        chunk, columns = graph.inputs[graph.logits(VOCABULARY) or ""]
        sizes = (chunk, d_model, columns), (chunk, columns, d_model), (columns, chunk, d_model)
        part: list[Launch | Product] = [*graph.launches, *(Product(*three) for three in sizes)]
        work += part * -(-SENTENCES * LENGTH // chunk)
    cards = [card for card in CARDS if card.capability == (int(target[:-1]), int(target[-1]))]
    return {card.name: 1000 * seconds(work, card) for card in cards}


def table(results: Sequence[dict[str, Any]]) -> str:
    """The results as Markdown."""
    kinds = {"forward", "backward", "inference"}
    good = [result for result in results if kinds <= set(result)]
    failed = [f"sm_{result['target']}: {'; '.join(result['found'])}" for result in results if result not in good]
    lines = ["| | " + " | ".join(f"sm_{result['target']}" for result in good) + " |"]
    lines.append("|---" + "|--:" * len(good) + "|")

    def row(name: str, cell: Callable[[dict[str, Any]], str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cell(result) for result in good) + " |")

    def both(key: str) -> Callable[[dict[str, Any]], str]:
        return lambda result: f"{result['forward'][key]}, {result['backward'][key]}"

    def total(key: str, unit: float) -> Callable[[dict[str, Any]], str]:
        return lambda result: f"{(result['forward'][key] + result['backward'][key]) / unit:.1f}"

    row("layout, precision", lambda result: result["layout"])
    row("kernels to start, forward and backward", both("launches"))
    row("matrix products", both("products"))
    row("of these with bias and ReLU joined", both("with_relu"))
    row("attention kernels of the library", both("attention"))
    row("TFLOP of the products", total("flops", 1e12))
    row("GB that the products read and write", total("product_bytes", 1e9))
    row("GB that the kernels read and write", total("kernel_bytes", 1e9))
    row("kernels of the loss, for each part of the rows", lambda result: str(result["inference"]["launches"]))
    row("reads of the logits", lambda result: str(result["inference"]["reads_of_logits"]))
    row("sources, configurations translated", lambda result: f"{result['kernels']}, {result['configurations']}")
    row("configurations refused: too much shared memory", lambda result: str(result["refused"]))
    row("found", lambda result: "; ".join(result["found"]) or "nothing")
    cards = [(name, ms) for result in good for name, ms in result.get("milliseconds", {}).items()]
    lines += ["", "| card | ms of a step without attention, computed |", "|---|--:|"]
    lines += [f"| {name} | {ms:.0f} |" for name, ms in cards]
    return "\n".join([*(lines if good else []), *failed])


def _in_a_process(target: str, stub: Path, folder: Path) -> dict[str, Any]:
    out = folder / f"{target}.json"
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton")}
    environment = {**os.environ, **caches, "LD_PRELOAD": str(stub)}
    command = [sys.executable, "-m", "benchmarks", "gpu-aot", "--one", target, "--out", str(out)]
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return json.loads(out.read_text(encoding="utf-8"))
    print(done.stderr, file=sys.stderr)
    last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return {"target": target, "found": [f"not compiled: {last}"]}


def main(arguments: Sequence[str]) -> None:
    """Compile for each target, print, and fail if something was found."""
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks gpu-aot", description=__doc__, formatter_class=how)
    parser.add_argument("--targets", default=",".join(TARGETS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="results (default: %(default)s)")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # a process of one target
    options = parser.parse_args(arguments)
    asked = options.targets.split(",")
    if unknown := [target for target in asked if target not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    if options.one:
        _write(options.out, compile_for(options.one))
        return
    with tempfile.TemporaryDirectory() as name:
        stub = build_stub(Path(name))
        results = [_in_a_process(target, stub, Path(name)) for target in asked]
    command = shlex.join(["python", "-m", "benchmarks", "gpu-aot", *arguments])
    _write(options.out, {"command": command, "targets": results})
    print(f"{command}: compiled, and never started\n\n{table(results)}")
    if found := [f"sm_{result['target']}: {problem}" for result in results for problem in result["found"]]:
        raise SystemExit("benchmarks: the compiled step is not what it should be:\n" + "\n".join(found))


def _write(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(json.dumps(result, indent=1) + "\n")
