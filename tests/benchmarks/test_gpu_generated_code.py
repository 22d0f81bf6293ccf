"""Reader of the compiler's generated code, by small modules written by hand; bytes and milliseconds by hand as well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from benchmarks import __main__ as benchmarks
from benchmarks.gpu import aot
from benchmarks.gpu.generated_code import Access, Card, Graph, Launch, Product, problems, read, seconds

TWICE = """
    acc = 0.0
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        tmp0 = tl.load(in_ptr0 + (r0_offset + 37056*x0), mask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        tmp2 = tl.load(in_ptr0 + (r0_offset + 37056*x0), mask)
        tl.store(out_ptr1 + (r0_offset + 37056*x0), tmp2 - tmp0, mask)
    tl.store(out_ptr0 + (x0), acc, xmask)
"""
SUM = """
    acc = 0.0
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        acc += tl.load(in_ptr0 + (r0_offset + 37056*x0), mask)
    tl.store(in_out_ptr0 + (x0), acc, xmask)
"""
ONCE = """
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0 % 512), xmask)
    tl.store(out_ptr0 + (x0), tmp0 + tmp1, xmask)
"""


def kernel(name, body, **signature):
    return (
        f"{name} = async_compile.triton('{name}', '''\n"
        f"@triton_heuristics.reduction(triton_meta={{'signature': {signature!r}, 'constants': {{}}}})\n"
        f"@triton.jit\ndef {name}({', '.join(signature)}):{body}''', device_str='cuda')\n"
    )


def module(kind, kernels, inputs, call):
    given = "\n".join(f"    {line}" for line in inputs)
    lines = "\n".join(f"            {line}" for line in call)
    return (
        f"# AOT ID: ['0_{kind}']\n{''.join(kernels)}\nclass Runner:\n    def call(self, args):\n"
        f"        with torch.cuda._DeviceGuard(0):\n{lines}\n        return ()\n\n"
        f"def get_args():\n{given}\n    return []\n"
    )


LOGITS = [
    "arg0_1 = rand_strided((64, 37056), (37056, 1), device='cuda:0', dtype=torch.bfloat16)",
    "arg1_1 = rand_strided((64, 1), (1, 1), device='cuda:0', dtype=torch.int64)",
]
BOTH = dict(in_ptr0="*bf16", in_ptr1="*i64", out_ptr0="*fp32", out_ptr1="*bf16", xnumel="i32", r0_numel="i32")
ALONE = dict(in_out_ptr0="*fp32", in_ptr0="*bf16", xnumel="i32", r0_numel="i32")
MADE = [
    "buf0 = empty_strided_cuda((64, ), (1, ), torch.float32)",
    "buf1 = empty_strided_cuda((64, 37056), (37056, 1), torch.bfloat16)",
    "triton_red_0.run(arg0_1, arg1_1, buf0, buf1, 64, 37056, stream=raw_stream0)",
]


def terms(kernels=(), call=()):
    return read(module("inference", [kernel("triton_red_0", TWICE, **BOTH), *kernels], LOGITS, [*MADE, *call]))


def norm(name, count):
    return [Launch(name, []) for _ in range(count)]


def forward(norms=5, relus=2):
    made = Graph("forward", products=[Product(64, 512, 2048, relu=True)] * relus)
    made.launches = norm("triton_per_fused_add_native_dropout_native_layer_norm_3", norms)
    return made


def backward(norms=5):
    return Graph(
        "backward", launches=norm("triton_per_fused_native_dropout_backward_native_layer_norm_backward_7", norms)
    )


def found(*graphs):
    return problems(graphs, 37_000, sub_layers=5, feed_forwards=2)


def test_a_loop_over_the_logits_is_a_read():
    graph = terms()
    assert graph.logits(37_000) == "arg0_1" and graph.reads("arg0_1") == 2
    columns = 64 * 37_056
    assert graph.bytes == 3 * 2 * columns + 64 * 8 + 64 * 4, "logits twice and their gradient, numbers and losses"
    assert found(forward(), backward(), graph) == []


def test_a_kernel_of_its_own_for_the_sum_is_a_third_read():
    graph = terms(
        [kernel("triton_red_1", SUM, **ALONE)],
        ["buf2 = buf0; del buf0  # reuse", "triton_red_1.run(buf2, arg0_1, 64, 37000, stream=raw_stream0)"],
    )
    assert found(forward(), backward(), graph) == [
        "the loss reads the logits 3 times, not twice",
        "lost fusion: the loss is 2 kernels, not one",
    ]


def test_one_gathered_logit_of_each_row_is_no_read():
    gathers = "    tmp9 = tl.load(in_ptr0 + (tmp1 + 37056*x0), xmask)\n"
    graph = read(module("inference", [kernel("triton_red_0", TWICE + gathers, **BOTH)], LOGITS, MADE))
    assert graph.reads("arg0_1") == 2
    assert graph.bytes == terms().bytes + 64 * 2, "64 elements of 2 bytes"


def test_float32_logits_are_found_and_a_float32_gradient_of_the_weights_is_none():
    graph = terms(call=["buf3 = empty_strided_cuda((64, 37056), (37056, 1), torch.float32)"])
    assert found(forward(), backward(), graph) == ["inference: a float32 buffer [N, V] of shape (64, 37056)"]
    graph = terms(call=["buf3 = empty_strided_cuda((37000, 512), (512, 1), torch.float32)"])
    assert found(forward(), backward(), graph) == []


def test_waiting_for_the_device_is_found_and_a_number_of_the_host_is_none():
    inputs = ["arg0_1 = rand_strided((), (), device='cpu', dtype=torch.float32)"]
    call = ["buf0 = empty_strided_cpu((), (), torch.float32)", "f(buf0.item(), arg0_1.item())"]
    assert read(module("forward", [], inputs, call)).host_reads == 0
    call = ["buf0 = empty_strided_cuda((), (), torch.float32)", "f(buf0.item())"]
    assert read(module("forward", [], inputs, call)).host_reads == 1


@pytest.mark.parametrize(
    ("graphs", "word"),
    [
        ((forward(norms=6), backward()), "forward, LayerNorm in 6 kernels"),
        ((forward(), backward(norms=4)), "backward, LayerNorm in 4 kernels"),
        ((forward(relus=1), backward()), "1 products with bias and ReLU"),
        ((forward(), forward(), backward()), "graph break"),
        ((forward(),), "graph break"),
    ],
)
def test_lost_fusions_and_graph_breaks_are_found(graphs, word):
    (problem,) = found(*graphs, terms())
    assert word in problem


def test_normalising_without_its_dropout_is_a_lost_fusion():
    made = forward(norms=4)
    made.launches += norm("triton_per_fused_native_layer_norm_9", 1)
    assert found(made, backward(), terms()) == [
        "lost fusion: forward, LayerNorm in 5 kernels, 4 with dropout, not 5",
    ]


def test_products_and_kernels_with_sizes_that_are_open():
    """Rows are a symbol, as in packed code; a slice of a larger buffer counts as its own shape."""
    pointers = dict(in_ptr0="*fp16", in_ptr1="*fp32", out_ptr0="*fp16", xnumel="i32")
    inputs = [
        "primals_1 = 100",
        "primals_2 = rand_strided((100, 512), (512, 1), device='cuda:0', dtype=torch.float16)",
        "primals_3 = rand_strided((512, ), (1, ), device='cuda:0', dtype=torch.float32)",
        "primals_4 = rand_strided((512, 2048), (2048, 1), device='cuda:0', dtype=torch.float16)",
    ]
    call = [
        "s0 = primals_1",
        "buf0 = empty_strided_cuda((s0, 512), (512, 1), torch.float16)",
        "numel = 512*s0",
        "triton_poi_0.run(primals_2, primals_3, buf0, numel, stream=raw_stream0)",
        "buf1 = torch.ops.aten._addmm_activation.default(primals_3, buf0, primals_4)",
        "assert_size_stride(buf1, (s0, 2048), (2048, 1), 'x')",
        "buf2 = empty_strided_cuda((512, 512), (512, 1), torch.float16)",
        "extern_kernels.mm(reinterpret_tensor(buf0, (512, s0), (1, 512), 0), buf0, out=buf2)",
        "extern_kernels.addmm(primals_3, buf1, reinterpret_tensor(primals_4, (2048, 512), (1, 2048), 0), out=buf0)",
        "buf3 = torch.ops.torch_attn._varlen_attn.default(buf0, buf0, buf0)",
    ]
    graph = read(module("forward", [kernel("triton_poi_0", ONCE, **pointers)], inputs, call))
    assert graph.products == [Product(100, 512, 2048, relu=True), Product(512, 100, 512), Product(100, 2048, 512)]
    assert graph.bytes == 2 * 100 * 512 * 2 + 512 * 4
    assert graph.attention == ["_varlen_attn"]


def test_milliseconds_by_data_sheet():
    """69 % of 1 PFLOP/s, of which K = 128 leaves half; 86 % of 1 TB/s; and 2.5 microseconds for anything."""
    card = Card("made up", (9, 0), 100, 1e15, 1e12)
    moving = Launch("k", [Access("b", (), 1, 0, 86 * 10**7)])
    assert seconds([moving], card) == pytest.approx(1e-3)
    product = Product(2**16, 128, 2**14, batch=4)
    flops = 2 * 4 * 2**16 * 128 * 2**14
    assert product.flops == flops
    assert seconds([product], Card("endless memory", (9, 0), 100, 1e15, 1e18)) == pytest.approx(flops / 0.345e15)
    assert seconds([Launch("k", [])] * 4, card) == pytest.approx(1e-5)
    assert seconds([moving, product, Launch("k", [])], card) > seconds([moving, product], card)


def test_the_command_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(SystemExit, match="not the CUDA build.*make gpu-aot"):
        benchmarks.main(["gpu-aot", "--targets", "90"])
    with pytest.raises(SystemExit):
        benchmarks.main(["gpu-aot", "--targets", "90,70"])
    assert "no target '70'" in capsys.readouterr().err


def test_a_target_that_fails_leaves_the_table_of_the_others():
    numbers = {"launches": 3, "products": 2, "with_relu": 1, "attention": 1, "kernel_bytes": 10**9, "flops": 10**12}
    graph = {**numbers, "product_bytes": 10**9, "reads_of_logits": 2}
    good = {"target": "90", "layout": "static, bf16", "kernels": 5, "configurations": 7, "refused": 0, "found": []}
    good |= {"forward": graph, "backward": graph, "inference": graph, "milliseconds": {"H200": 22.6}}
    lines = aot.table([good, {"target": "75", "found": ["not compiled: no"]}]).splitlines()
    assert lines[0] == "| | sm_90 |" and "| matrix products | 2, 2 |" in lines and "| H200 | 23 |" in lines
    assert lines[-1] == "sm_75: not compiled: no"


def test_the_tables_of_the_page_are_those_of_the_record():
    folder = Path(aot.__file__).resolve().parents[1]
    record = json.loads((folder / "recorded" / "gpu_aot.json").read_text("utf-8"))
    assert aot.table(record["targets"]) in (folder / "gpu.md").read_text("utf-8")
