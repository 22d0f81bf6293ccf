"""Code that PyTorch's compiler generates for a GPU, read as text: what it starts, what that moves, and what went wrong.

Everything here follows from the text of a generated module: its buffers with their shapes, the kernels that it starts,
the products that it asks a library for. Milliseconds are computed from these and from data sheets; nothing is measured.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SIXTEEN_BITS = 2
"""Bytes of a product's elements: products are in bf16 or fp16."""
_AOT_ID = re.compile(r"^# AOT ID: \['\d+_(\w+)'\]", re.MULTILINE)


@dataclass(frozen=True)
class Card:
    """A GPU by its data sheet."""

    name: str
    capability: tuple[int, int]
    processors: int
    """Streaming multiprocessors, which the compiler asks for."""
    product_peak: float
    """FLOP/s of dense products in 16 bits with float32 sums."""
    bandwidth: float
    """Bytes a second of its memory."""


CARDS = (
    Card("T4", (7, 5), 40, 65e12, 0.32e12),
    Card("A100 80 GB", (8, 0), 108, 312e12, 2.04e12),
    Card("RTX 4090", (8, 9), 128, 165e12, 1.01e12),
    Card("L4", (8, 9), 58, 121e12, 0.30e12),
    Card("H100 SXM", (9, 0), 132, 989e12, 3.35e12),
    Card("H200", (9, 0), 132, 989e12, 4.8e12),
    Card("B200", (10, 0), 148, 2250e12, 8.0e12),
)
PRODUCT_SHARE, BANDWIDTH_SHARE = 0.69, 0.86
"""Of the data sheet's numbers what large products and kernels reach: 680 TFLOP/s and 4.1 TB/s of an H200."""
FILLING = 128
"""A product with K terms to each sum reaches K / (K + 128) of the rate."""
LEAST_SECONDS = 2.5e-6
"""Of a kernel in a recorded graph, however small."""


@dataclass(frozen=True)
class Access:
    """A buffer that a kernel reads or writes."""

    buffer: str
    shape: tuple[int, ...]
    reads: int
    """How often the kernel goes over it."""
    writes: int
    bytes: int
    """All of these together."""


@dataclass(frozen=True)
class Launch:
    """One start of a generated kernel."""

    kernel: str
    accesses: list[Access]

    @property
    def bytes(self) -> int:
        """Read and written."""
        return sum(access.bytes for access in self.accesses)


@dataclass(frozen=True)
class Product:
    """A matrix product that a library computes, [M, K] by [K, N]; `batch` of them."""

    m: int
    k: int
    n: int
    batch: int = 1
    relu: bool = False
    """Bias and ReLU are added by the same kernel."""

    @property
    def flops(self) -> float:
        """A multiply-add counted as 2."""
        return 2.0 * self.batch * self.m * self.k * self.n

    @property
    def bytes(self) -> int:
        """Read and written, in 16 bits."""
        return SIXTEEN_BITS * self.batch * (self.m * self.k + self.k * self.n + self.m * self.n)


@dataclass
class Graph:
    """What one generated module does."""

    kind: str
    """'forward', 'backward', or 'inference' for what has no gradient, as the terms of the loss."""
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    attention: list[str] = field(default_factory=list)
    """Attention kernels of a library, by name."""
    float32: list[tuple[int, ...]] = field(default_factory=list)
    """Shapes of the float32 buffers that it makes on the device."""
    host_reads: int = 0
    """Numbers of the device that the processor waits for."""

    @property
    def bytes(self) -> int:
        """Of all generated kernels."""
        return sum(launch.bytes for launch in self.launches)

    def reads(self, buffer: str) -> int:
        """How often the generated kernels go over a buffer."""
        return sum(a.reads for launch in self.launches for a in launch.accesses if a.buffer == buffer)

    def logits(self, vocab_size: int) -> str | None:
        """The input of the terms of the loss that holds the logits, [N, V] or more columns."""
        wide = [name for name, shape in self.inputs.items() if len(shape) == 2 and shape[1] >= vocab_size]
        return wide[0] if wide else None


@dataclass(frozen=True)
class Kernel:
    """The source of a generated kernel: which of its arguments are pointers, and how often it goes over each."""

    signature: dict[str, str]
    """Name to type, such as `*bf16`, in the order of a call's arguments."""
    reads: dict[str, int]
    writes: dict[str, int]
    beside: dict[str, int]
    """Loads and stores beside the loops of a kernel that has some: one element for each row, such as a gathered one."""

    @classmethod
    def of(cls, source: str) -> Kernel:
        """Read a source in Triton's language. Each loop in which a pointer is loaded goes over it once more."""
        tree = ast.parse(source)
        function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
        signature: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found = [v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "signature"]
                signature = ast.literal_eval(found[0]) if found else signature
        loops: list[ast.stmt] = [node for node in function.body if isinstance(node, ast.For)]
        straight = [node for node in function.body if not isinstance(node, ast.For)]
        reads, writes, beside = (dict.fromkeys(signature, 0) for _ in range(3))
        for part in [straight, *[[loop] for loop in loops]]:
            for counts, operation in ((reads, "load"), (writes, "store")):
                added = {*_pointers(part, operation, signature), *_pointers(part, "atomic_add", signature)}
                for pointer in added:
                    (beside if loops and part is straight else counts)[pointer] += 1
        return cls(signature, reads, writes, beside)


def _pointers(nodes: Sequence[ast.AST], operation: str, known: dict[str, str]) -> Iterator[str]:
    """The arguments of a kernel that are loaded from, or stored to: `tl.load(in_ptr0 + ...)`."""
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"tl.{operation}":
            names = [inner.id for inner in ast.walk(node.args[0]) if isinstance(inner, ast.Name)]
            yield from [name for name in names if known.get(name, "").startswith("*")][:1]


def read(code: str) -> Graph:
    """What a generated module does, by its text."""
    kind = _AOT_ID.search(code)
    graph = Graph(kind[1] if kind else "unknown")
    tree = ast.parse(code)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    reader = _Reader(graph)
    for node in tree.body:
        reader.kernel(node)
    for node in _statements(functions["get_args"].body) if "get_args" in functions else ():
        reader.statement(node)
    graph.inputs = dict(reader.shapes)
    for node in _statements(functions["call"].body):
        reader.statement(node)
    return graph


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.With):
            yield from _statements(node.body)
        else:
            yield node


class _Reader:
    """Goes through the statements of a generated module, and keeps the shapes of its buffers."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.numbers: dict[str, object] = {}
        self.kernels: dict[str, Kernel] = {}
        self.on_host: set[str] = set()

    def kernel(self, node: ast.stmt) -> None:
        """`name = async_compile.triton('name', '''source''', ...)`."""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value
            if ast.unparse(call.func) == "async_compile.triton" and isinstance(source := call.args[1], ast.Constant):
                self.kernels[ast.unparse(node.targets[0])] = Kernel.of(str(source.value))

    def statement(self, node: ast.stmt) -> None:
        """An assignment or a call."""
        if isinstance(node, ast.Assign):
            name = ast.unparse(node.targets[0])
            shape = self._shape(node.value)
            if re.match(r"empty_strided_cpu\(|.*device='cpu'", ast.unparse(node.value)):
                self.on_host.add(name)
            if isinstance(node.value, ast.Call):
                self._call(node.value)
            if shape is not None:
                self.shapes[name] = shape
            elif (number := self._number(node.value)) is not None:
                self.numbers[name] = number
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node.value)

    def _call(self, call: ast.Call) -> None:
        function = ast.unparse(call.func)
        last = function.removesuffix(".default").rsplit(".", 1)[-1]
        if function.endswith(".run") and function[: -len(".run")] in self.kernels:
            self._launch(function[: -len(".run")], call.args)
        elif last in ("mm", "addmm", "bmm", "baddbmm", "_addmm_activation"):
            factors = call.args[:3][-2:] if "addmm" in last or last == "baddbmm" else call.args[:2]
            self._product([self._shape(factor) for factor in factors], "activation" in last)
        elif last.endswith(("_attn", "_attention", "_attn_backward", "_attention_backward")):
            self.graph.attention.append(last)
        elif function == "assert_size_stride" and isinstance(call.args[0], ast.Name):
            self.shapes.setdefault(call.args[0].id, self._sizes(call.args[1]))
        elif function == "empty_strided_cuda" and ast.unparse(call.args[2]) == "torch.float32":
            self.graph.float32.append(self._sizes(call.args[0]))
        for part in ast.walk(call):
            if isinstance(part, ast.Attribute) and part.attr == "item" and ast.unparse(part.value) not in self.on_host:
                self.graph.host_reads += 1

    def _launch(self, name: str, arguments: Sequence[ast.expr]) -> None:
        kernel, accesses, elements, rows = self.kernels[name], [], 1, 1
        given = dict(zip(kernel.signature, arguments, strict=False))
        for key in given:
            if key.endswith("numel") and isinstance(number := self._number(given[key]), int):
                elements *= number
                rows *= 1 if key.startswith("r") else number
        for pointer, kind in kernel.signature.items():
            if kind.startswith("*") and pointer in given and (shape := self._shape(given[pointer])) is not None:
                reads, writes = kernel.reads[pointer], kernel.writes[pointer]
                size = max(int(re.sub(r"\D", "", kind)) // 8, 1)
                moved = (reads + writes) * min(math.prod(shape), elements)
                moved += kernel.beside[pointer] * min(math.prod(shape), rows)
                buffer = given[pointer]
                buffer = buffer.args[0] if isinstance(buffer, ast.Call) else buffer
                accesses.append(Access(ast.unparse(buffer), shape, reads, writes, size * moved))
        self.graph.launches.append(Launch(name, accesses))

    def _product(self, factors: Sequence[tuple[int, ...] | None], relu: bool) -> None:
        a, b = factors
        if a is None or b is None or len(a) < 2:
            raise ValueError("a product of buffers whose shapes the generated code does not show")
        self.graph.products.append(Product(a[-2], a[-1], b[-1], math.prod(a[:-2]), relu))

    def _shape(self, node: ast.expr) -> tuple[int, ...] | None:
        """The shape of a tensor that an expression stands for, if it is one and known."""
        if isinstance(node, ast.Name):
            return self.shapes.get(node.id)
        if not isinstance(node, ast.Call):
            return None
        function = ast.unparse(node.func)
        if function in ("empty_strided_cuda", "empty_strided_cpu", "rand_strided"):
            return self._sizes(node.args[0])
        if function in ("reinterpret_tensor", "torch.as_strided"):
            return self._sizes(node.args[1])
        return self._shape(node.args[0]) if function == "copy_if_misaligned" else None

    def _sizes(self, node: ast.expr) -> tuple[int, ...]:
        sizes = self._number(node)
        return sizes if isinstance(sizes, tuple) else ()

    def _number(self, node: ast.expr) -> object:
        """The value of an expression of sizes; None if it is none."""
        text = ast.unparse(node)
        if text.endswith(".size()"):
            return self.shapes.get(text.removesuffix(".size()"))
        try:
            return eval(text, {"__builtins__": {}, "max": max, "min": min}, self.numbers)  # what our compiler wrote
        except (NameError, TypeError, AttributeError, KeyError, SyntaxError):
            return None


def seconds(work: Sequence[Launch | Product], card: Card) -> float:
    """Time of kernels and products one after the other: each limited by memory, by arithmetic, or by its start."""
    total = 0.0
    for part in work:
        moving = part.bytes / (BANDWIDTH_SHARE * card.bandwidth)
        computing = 0.0
        if isinstance(part, Product):
            rate = PRODUCT_SHARE * card.product_peak * part.k / (part.k + FILLING)
            computing = part.flops / rate
        total += max(moving, computing, LEAST_SECONDS)
    return total


def problems(graphs: Sequence[Graph], vocab_size: int, sub_layers: int, feed_forwards: int) -> list[str]:
    """What a step must not have: graph breaks, waits, large float32 buffers, a third read of the logits, lost fusions.

    Parameters
    ----------
    graphs
        Of one step.
    sub_layers
        Dropout, sum with the residual and LayerNorm behind each of these are to be one kernel.
    feed_forwards
        The first product of each is to add bias and ReLU itself.
    """
    found = []
    kinds = sorted(graph.kind for graph in graphs)
    if kinds != ["backward", "forward", "inference"]:
        return [f"graph break: {', '.join(kinds)} in the place of one graph of each kind"]
    by_kind = {graph.kind: graph for graph in graphs}
    for graph in graphs:
        if graph.host_reads:
            found.append(f"{graph.kind}: the processor waits for {graph.host_reads} numbers of the device")
        wide = [shape for shape in graph.float32 if math.prod(shape[:-1]) > 1 and shape[-1] >= vocab_size]
        found += [f"{graph.kind}: a float32 buffer [N, V] of shape {shape}" for shape in wide]
    terms = by_kind["inference"]
    logits = terms.logits(vocab_size)
    if logits is None:
        found.append("no logits among the inputs of the loss")
    elif (reads := terms.reads(logits)) != 2:
        found.append(f"the loss reads the logits {reads} times, not twice")
    if len(terms.launches) != 1:
        found.append(f"lost fusion: the loss is {len(terms.launches)} kernels, not one")
    for kind, dropout in (("forward", "native_dropout"), ("backward", "native_dropout_backward")):
        norms = [launch.kernel for launch in by_kind[kind].launches if "native_layer_norm" in launch.kernel]
        fused = sum(dropout in kernel for kernel in norms)
        if not len(norms) == fused == sub_layers:
            found.append(
                f"lost fusion: {kind}, LayerNorm in {len(norms)} kernels, {fused} with dropout, not {sub_layers}"
            )
    relus = sum(product.relu for product in by_kind["forward"].products)
    if relus != feed_forwards:
        found.append(f"lost fusion: {relus} products with bias and ReLU, not {feed_forwards}")
    return found
