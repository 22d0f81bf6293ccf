"""Archives of WMT14 at their hosts: addresses, sizes and hashes, and which public record each of these rests on.

Sizes and hashes of the publishers' archives are those of TensorFlow Datasets (`url_checksums/wmt13_translate.txt` and
`wmt14_translate.txt`), those of the zip files Hugging Face's (`datasets/wmt14/dataset_infos.json`, library 2.x).
The copies on Hugging Face's hub were named by that library's loading script (`wmt_utils.py`, `resolve/main`, from
February 2021 on). Since then the hub's `wmt14` and `wmt19` have become other data sets, and the archives lie in
`wmt14-data` and `wmt19-data`. Everything is compared with its hash, so an address that is wrong costs one request.
"""

from __future__ import annotations

from annotated.wmt14.download import RemoteFile

_STATMT = "http://www.statmt.org"
_HUB = "https://huggingface.co/datasets/wmt"


def _copied(url: str, size: int, sha256: str, copies: tuple[str, str], zip_size: int, zip_sha256: str) -> RemoteFile:
    """An archive of the publishers, its copy on the Hugging Face hub, and the hub's zip file of the same content.

    Parameters
    ----------
    copies
        Paths on the hub: of the copy, which is the publishers' archive byte for byte, and of the zip file.
    """
    copy, zipped = (f"{_HUB}/{path}" for path in copies)
    other = RemoteFile(zipped.rpartition("/")[2], (zipped,), zip_size, zip_sha256)
    return RemoteFile(url.rpartition("/")[2], (url, copy), size, sha256, alternatives=(other,))


# The copy: the hub's commit 8e5ec41 of `wmt/wmt13` shows this size and this hash.
EUROPARL = _copied(
    f"{_STATMT}/wmt13/training-parallel-europarl-v7.tgz",
    657_632_379,
    "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7",
    (
        "wmt13/resolve/main/training-parallel-europarl-v7.tgz",
        "wmt13/resolve/main-zip/training-parallel-europarl-v7.zip",
    ),
    658_092_427,
    "5b2d8b32c2396da739b4e731871c597fcc6e75729becd74619d0712eecf7770e",
)
# The copy: the same commit, size and hash.
COMMON_CRAWL = _copied(
    f"{_STATMT}/wmt13/training-parallel-commoncrawl.tgz",
    918_311_367,
    "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5",
    (
        "wmt13/resolve/main/training-parallel-commoncrawl.tgz",
        "wmt13/resolve/main-zip/training-parallel-commoncrawl.zip",
    ),
    918_734_483,
    "5ffe980072ea29adfd84568d099bea366d9f72772b988e670794ae851b4e5627",
)
# The copy: its page on the hub shows this hash. The zip file: where it should be after the renaming; not seen there.
NEWS_COMMENTARY = _copied(
    f"{_STATMT}/wmt14/training-parallel-nc-v9.tgz",
    80_418_416,
    "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485",
    (
        "wmt14-data/resolve/main/training-parallel-nc-v9.tgz",
        "wmt14-data/resolve/main-zip/training-parallel-nc-v9.zip",
    ),
    80_462_375,
    "ce199f93ec56ff480137ba29f0819f9a22e70d88be6d7458f112303d67d623d5",
)
# The copy: its page on the hub (commit 8e5ec41) shows this hash.
UNITED_NATIONS = _copied(
    f"{_STATMT}/wmt13/training-parallel-un.tgz",
    2_365_634_246,
    "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47",
    ("wmt13/resolve/main/training-parallel-un.tgz", "wmt13/resolve/main-zip/training-parallel-un.zip"),
    2_366_237_633,
    "74f07002e053c81bc7f73b4fdab58e7987e831338748f264cbda82a8b062d2e2",
)
# The copy: the hub lists it with 2.6 GB; its hash was not seen.
GIGA = _copied(
    f"{_STATMT}/wmt10/training-giga-fren.tar",
    2_595_102_720,
    "3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a",
    ("wmt10/resolve/main/training-giga-fren.tar", "wmt10/resolve/main-zip/training-giga-fren.zip"),
    2_595_877_717,
    "9439f86523e5dff3f923526dbf6c6929da1786c18dbf64436d2b7564b83aaba3",
)
# The copy and the zip file: `wmt19/resolve/...` in the loading script; `wmt19-data` is concluded from `wmt14-data` and
# `wmt18-data`, which were seen.
DEVELOPMENT = _copied(
    "http://data.statmt.org/wmt19/translation-task/dev.tgz",
    38_654_961,
    "7a7deccf82ebb05ba508dba5eb21356492224e8f630ec4f992132b029b4b25e7",
    (
        "wmt19-data/resolve/main/translation-task/dev.tgz",
        "wmt19-data/resolve/main-zip/translation-task/dev.zip",
    ),
    38_714_274,
    "d796e363740fdc4261aa6f5a3d2f8223e3adaee7d737b7724863325b8956dfd1",
)
# The test sets: sacreBLEU, `dataset/__init__.py`. Nobody is known to have copies of these two archives.
TEST_FULL = RemoteFile(
    "test-full.tgz", ("https://statmt.org/wmt14/test-full.tgz",), md5="a8cd784e006feb32ac6f3d9ec7eb389a"
)
TEST_FILTERED = RemoteFile(
    "test-filtered.tgz", ("https://statmt.org/wmt14/test-filtered.tgz",), md5="84c597844c1542e29c2aff23aaee4310"
)
