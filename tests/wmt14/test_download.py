"""Downloads: what comes is right or does not count, whatever servers, lines, disks and killed processes do."""

from __future__ import annotations

import hashlib
import http.server
import multiprocessing
import os
import random
import resource
import shutil
import signal
import ssl
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from annotated.storage import DiskFull
from annotated.wmt14 import download as downloader
from annotated.wmt14 import http_response
from annotated.wmt14.download import Downloaded, DownloadError, RemoteFile, download
from annotated.wmt14.mirror import Fault, Mirror, Request

pytestmark = pytest.mark.process

CHUNK = 1 << 14
NAME = "archive.tgz"
CONTENT = b"\x1f\x8b" + random.Random(7).randbytes(40 * CHUNK + 321)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = RemoteFile(NAME, size=len(CONTENT), sha256=SHA256)
FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def small_blocks_and_short_pauses(monkeypatch):
    monkeypatch.setattr(downloader, "BLOCK_BYTES", CHUNK)
    monkeypatch.setattr(http_response, "READ_BYTES", CHUNK // 4)
    monkeypatch.setattr(downloader, "PAUSES", (0.01, 0.01))


@pytest.fixture
def served(tmp_path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / NAME).write_bytes(CONTENT)
    return folder


@pytest.fixture
def inbox(tmp_path) -> Path:
    return tmp_path / "inbox"


def fetch(inbox: Path, *mirrors: str, file: RemoteFile = FILE, timeout: float = 60.0, **options) -> Downloaded:
    return download(file, inbox, mirrors=mirrors, timeout=timeout, **options)


@pytest.fixture
def received(monkeypatch) -> Callable[[], int]:
    """How many bytes of files have come since the last call."""
    count = FORK.Value("q", 0)  # forked processes add to it too
    read = http_response.HttpResponse.read

    def counted(self):
        block = read(self)
        with count.get_lock():
            count.value += len(block)
        return block

    def total() -> int:
        with count.get_lock():
            result, count.value = count.value, 0
        return result

    monkeypatch.setattr(http_response.HttpResponse, "read", counted)
    return total


def is_whole_and_alone(inbox: Path) -> bool:
    names = {path.name for path in inbox.iterdir()} - {".download.lock"}
    return names == {NAME} and (inbox / NAME).read_bytes() == CONTENT


def part_bytes(inbox: Path) -> int:
    """Bytes of the file that have come, while it is not whole."""
    parts = list(inbox.glob(f".{NAME}.*.part"))
    assert len(parts) <= 1
    return sum(part.stat().st_size for part in parts)


# -- the plain case --


def test_a_file_comes_whole_in_one_stream(served, inbox):
    seen = []
    with Mirror(served, {NAME: Fault("slow", rate=2e6)}) as mirror:
        got = fetch(inbox, mirror.url, progress=lambda done, size: seen.append((done, size)))
    assert got == Downloaded(inbox / NAME, SHA256, len(CONTENT), mirror_url(mirror, got), True)
    assert is_whole_and_alone(inbox)
    assert mirror.requests == [Request(NAME, 0, 200, len(CONTENT))]
    done = [count for count, _ in seen]
    assert done == sorted(done) and done[0] == 0 and done[-1] == len(CONTENT) and len(done) > 20
    assert {size for _, size in seen} == {len(CONTENT)}


def mirror_url(mirror: Mirror, got: Downloaded) -> str:
    """The address that a file of a mirror has; the mirror itself may be closed already."""
    assert got.url.startswith("http://127.0.0.1:") and got.url.endswith(f"/{NAME}")
    return got.url


def test_a_file_that_is_there_is_checked_and_not_fetched(served, inbox):
    fetch(inbox, str(served))
    with Mirror(served) as mirror:
        again = fetch(inbox, mirror.url)
    assert mirror.requests == [] and again.url == "" and again.sha256 == SHA256 and again.pinned


def test_a_wrong_file_that_is_there_is_replaced_but_only_by_the_right_one(served, inbox):
    inbox.mkdir()
    (inbox / NAME).write_bytes(b"something else")
    with pytest.raises(DownloadError, match="is there, but has 14 bytes where"):
        fetch(inbox)
    assert (inbox / NAME).read_bytes() == b"something else"
    fetch(inbox, str(served))
    assert is_whole_and_alone(inbox)


@pytest.mark.parametrize("form", ["folder", "folder/", "file:"])
def test_a_folder_is_a_mirror(served, inbox, form):
    mirror = {"folder": str(served), "folder/": f"{served}/", "file:": served.as_uri()}[form]
    assert fetch(inbox, mirror).url == (served / NAME).as_uri()
    assert is_whole_and_alone(inbox)


def test_an_md5_is_checked_where_that_is_all_there_is(served, inbox):
    file = RemoteFile(NAME, (str(served / NAME),), md5=hashlib.md5(CONTENT).hexdigest())
    assert download(file, inbox).pinned
    wrong = RemoteFile(NAME, (str(served / NAME),), md5="0" * 32)
    with pytest.raises(DownloadError, match=f"its MD5 is {file.md5}, not {'0' * 32}"):
        download(wrong, inbox / "2")


def test_a_file_without_a_known_hash_is_not_pinned_but_its_hash_is_told(served, inbox):
    with Mirror(served) as mirror:
        got = fetch(inbox, mirror.url, file=RemoteFile(NAME))
    assert not got.pinned and got.sha256 == SHA256 and got.size == len(CONTENT)
    assert is_whole_and_alone(inbox)


def test_an_empty_file_comes_too(served, inbox):
    (served / "empty.txt").write_bytes(b"")
    with Mirror(served) as mirror:
        assert fetch(inbox, mirror.url, file=RemoteFile("empty.txt")).size == 0


def test_with_nobody_to_ask_the_message_says_what_to_do(inbox):
    with pytest.raises(DownloadError, match="nobody is known to have this file; name a mirror, or put it into"):
        fetch(inbox)


def test_an_address_of_an_unknown_kind_is_refused(inbox):
    with pytest.raises(DownloadError, match="ftp://example.org/: ftp is not known here; give an http, https or file"):
        fetch(inbox, "ftp://example.org")


# -- mirrors in turn --


def test_mirrors_are_tried_in_turn_then_the_files_own_addresses(served, inbox, tmp_path):
    with Mirror(served, {NAME: "404"}) as bad, Mirror(served) as good:
        file = RemoteFile(NAME, (good.url + NAME,), len(CONTENT), SHA256)
        got = download(file, inbox, mirrors=[str(tmp_path / "nowhere"), bad.url])
        assert got.url == good.url + NAME
    assert [request.status for request in bad.requests] == [404]
    assert is_whole_and_alone(inbox)


def test_an_alternative_is_taken_when_the_archive_itself_is_not_to_be_had(served, inbox):
    packed = b"PK" + CONTENT
    (served / "archive.zip").write_bytes(packed)
    (served / NAME).unlink()
    zipped = RemoteFile("archive.zip", size=len(packed), sha256=hashlib.sha256(packed).hexdigest())
    file = RemoteFile(NAME, size=len(CONTENT), sha256=SHA256, alternatives=(zipped,))
    with Mirror(served) as mirror:
        got = fetch(inbox, mirror.url, file=file)
        assert got.path == inbox / NAME and got.url == f"{mirror.url}archive.zip" and got.sha256 == zipped.sha256
        assert fetch(inbox, file=file).sha256 == zipped.sha256  # and it counts as being there


def test_all_that_was_tried_is_in_the_message(served, inbox):
    (served / "short").mkdir()
    (served / "short" / NAME).write_bytes(CONTENT[:-1])
    with Mirror(served, {NAME: "404"}) as bad, pytest.raises(DownloadError) as error:
        fetch(inbox, url := bad.url, str(served / "short"))
    assert f"{url}{NAME}: answered 404" in str(error.value)
    assert f"{NAME}: has {len(CONTENT) - 1:,} bytes where {len(CONTENT):,} belong" in str(error.value)
    assert str(inbox) in str(error.value)


# -- servers that misbehave for a while --


@pytest.mark.parametrize("kind", ["503", "stall", "reset", "truncate"])
def test_what_breaks_off_is_taken_up_again_where_it_was(served, inbox, received, kind):
    fault = Fault(kind, times=2, after=CHUNK + 100)
    with Mirror(served, {NAME: fault}) as mirror:
        fetch(inbox, mirror.url, timeout=1.0 if kind == "stall" else 60.0)
    assert is_whole_and_alone(inbox)
    assert len(mirror.requests) == 3
    # Nothing that had come came again but the last byte of each time.
    assert len(CONTENT) <= received() <= len(CONTENT) + 2


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("404", "answered 404 Not Found"),
        ("503", "answered 503 Service Unavailable, 3 times in a row"),
        ("stall", "silent for 0.1 s, 3 times in a row"),
        ("reset", "(broke off|cannot be reached).*3 times in a row"),
        ("truncate", f"ended after 0 bytes instead of {len(CONTENT):,}, 3 times in a row"),
        ("wrong bytes", f"its SHA-256 is [0-9a-f]{{64}}, not {SHA256}"),
        ("html", "sent a web page instead of the gzip archive.*log in"),
    ],
)
def test_what_never_works_is_named_and_the_next_mirror_is_asked(served, inbox, kind, message):
    timeout = 0.1 if kind == "stall" else 60.0  # a busy machine answers late
    with Mirror(served, {NAME: Fault(kind, after=0)}) as bad:
        with pytest.raises(DownloadError, match=message):
            fetch(inbox, bad.url, timeout=timeout)
        assert not (inbox / NAME).exists()
        assert fetch(inbox, bad.url, str(served), timeout=timeout).path == inbox / NAME
    assert is_whole_and_alone(inbox)


def test_a_trickle_counts_as_silence(served, inbox, monkeypatch):
    (served / NAME).write_bytes(CONTENT[:2000])
    monkeypatch.setattr(http_response, "LEAST_RATE", 2000)
    with (
        Mirror(served, {NAME: Fault("slow", rate=500)}) as mirror,
        pytest.raises(DownloadError, match=r"only \d+ bytes in \d+ s"),
    ):
        fetch(inbox, mirror.url, file=RemoteFile(NAME), timeout=0.5)


def test_a_server_that_is_not_there_is_named(served, inbox):
    with Mirror(served) as gone:
        url = gone.url
    with pytest.raises(DownloadError, match=r"cannot be reached \(Connection refused\), 3 times in a row"):
        fetch(inbox, url)


def test_a_redirection_is_followed(served, inbox):
    with Mirror(served, {NAME: "redirect"}) as mirror:
        fetch(inbox, mirror.url)
    assert is_whole_and_alone(inbox)


# -- servers that lie about ranges --


@pytest.mark.parametrize("kind", ["no ranges", "wrong range", "lies about ranges"])
@pytest.mark.parametrize("file", [FILE, RemoteFile(NAME)], ids=["pinned", "unpinned"])
def test_a_server_that_lies_about_ranges_gives_the_whole_file_when_nothing_has_come(served, inbox, kind, file):
    with Mirror(served, {NAME: kind}) as mirror:
        fetch(inbox, mirror.url, file=file)
    assert is_whole_and_alone(inbox)
    assert mirror.requests == [Request(NAME, 0, 200, len(CONTENT))]


@pytest.mark.parametrize(("kind", "statuses"), [("no ranges", [200]), ("wrong range", [206, 200])])
def test_a_server_without_the_rest_gives_the_whole_file_and_what_has_come_is_passed_over(
    served, inbox, received, kind, statuses
):
    with Mirror(served, {NAME: kind}) as first, Mirror(served, {NAME: kind}) as second:
        interrupted(inbox, first.url, 20 * CHUNK)
        seen = []
        fetch(inbox, second.url, progress=lambda done, _: seen.append(done))
    assert is_whole_and_alone(inbox)
    assert [request.status for request in second.requests if request.sent or request.status == 200] == statuses
    assert seen[0] >= 20 * CHUNK and seen == sorted(seen)


def test_where_only_the_hash_shows_the_lie_the_whole_file_is_fetched_once_more(served, inbox):
    with Mirror(served, {NAME: "lies about ranges"}) as mirror:
        interrupted(inbox, str(served), 30 * CHUNK)
        fetch(inbox, mirror.url)
    assert is_whole_and_alone(inbox)
    assert [request.status for request in mirror.requests] == [206, 200]
    assert mirror.requests[-1] == Request(NAME, 0, 200, len(CONTENT))


def test_a_server_that_gives_ranges_piece_by_piece_is_asked_for_each(served, inbox):
    with Mirror(served) as mirror:
        begin = mirror._send

        def send(handler, path, start, stop, status, fault):
            return begin(handler, path, start, min(stop, start + 15 * CHUNK) if status == 206 else stop, status, fault)

        interrupted(inbox, mirror.url, 5 * CHUNK)
        mirror._send = send
        fetch(inbox, mirror.url)
    assert is_whole_and_alone(inbox)
    assert [request.status for request in mirror.requests].count(206) == 3


def test_the_second_try_is_the_last(served, inbox):
    (served / NAME).write_bytes(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))
    with Mirror(served) as mirror, pytest.raises(DownloadError, match="its SHA-256 is"):
        fetch(inbox, mirror.url)
    assert [request.status for request in mirror.requests] == [200, 200]
    assert not any(inbox.glob("*.tgz")) and part_bytes(inbox) == 0


# -- certificates --


def test_a_redirection_away_from_https_is_refused():
    handler = http_response._NeverToLess()
    request = http_response.urllib.request.Request("https://example.org/a")
    with pytest.raises(ssl.SSLCertVerificationError, match="redirected from https to http://example.org/a"):
        handler.redirect_request(request, None, 302, "Found", {}, "http://example.org/a")
    assert handler.redirect_request(request, None, 302, "Found", {}, "https://example.org/b") is not None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_a_certificate_that_nobody_vouches_for_is_refused_and_nothing_is_asked(served, inbox, tmp_path):
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        with pytest.raises(DownloadError, match="certificate is not to be trusted.*the check is never left out"):
            fetch(inbox, f"https://localhost:{server.server_address[1]}/")
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []


# -- disks --


def test_room_on_the_disk_is_looked_for_before_anything_is_asked(served, inbox, monkeypatch):
    usage = type("usage", (), {"free": len(CONTENT) - 1})
    monkeypatch.setattr(downloader.shutil, "disk_usage", lambda _: usage)
    with (
        Mirror(served) as mirror,
        pytest.raises(DiskFull, match=r"the disk is full.*\. 0\.0 MB of the file are there and stay\. Free 0\.7 MB"),
    ):
        fetch(inbox, mirror.url)
    assert mirror.requests == []


def run_forked(target, *arguments) -> str:
    """What a function of a process of its own returned or raised, as text."""
    ours, theirs = FORK.Pipe(duplex=False)

    def work() -> None:
        try:
            theirs.send(str(target(*arguments)))
        except BaseException as error:
            theirs.send(f"{type(error).__name__}: {error}")

    process = FORK.Process(target=work)
    process.start()
    text = ours.recv() if ours.poll(300) else "no answer"
    process.join()
    return text


def fetch_with_little_room(inbox: Path, url: str) -> Downloaded:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10 * CHUNK + 50, resource.RLIM_INFINITY))
    return fetch(inbox, url)


def test_a_disk_that_fills_up_costs_nothing_that_has_come(served, inbox):
    with Mirror(served) as mirror:
        said = run_forked(fetch_with_little_room, inbox, mirror.url)
        assert said.startswith("DiskFull") and "the disk is full" in said and "fetches only the rest" in said
        assert not (inbox / NAME).exists()
    assert mirror.sent(NAME) > 10 * CHUNK
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url)
    assert [request.start for request in mirror.requests] == [10 * CHUNK + 49]
    assert is_whole_and_alone(inbox)


# -- processes that die --


def fetch_until_killed(inbox: Path, url: str, where: str, count: int) -> None:
    """A download that ends as by a power switch, at the count-th time that it comes to a certain place."""
    owner, name = {
        "while it streams": (http_response.HttpResponse, "read"),
        "before the check": (downloader, "_checked"),
        "before the last rename": (downloader.os, "replace"),
    }.get(where, (downloader.storage, "fsync"))
    left, original = [count], getattr(owner, name)

    def deadly(*arguments):
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments)

    setattr(owner, name, deadly)
    fetch(inbox, url)


def killed(inbox: Path, url: str, where: str, count: int) -> bool:
    """Whether it came to that."""
    process = FORK.Process(target=fetch_until_killed, args=(inbox, url, where, count))
    process.start()
    process.join(300)
    return process.exitcode == -signal.SIGKILL


def test_a_process_killed_at_any_moment_loses_at_most_a_block(served, inbox, received):
    chance, kills = random.Random(1), 0
    with Mirror(served) as mirror:
        for _ in range(12):
            kills += killed(inbox, mirror.url, "while it streams", chance.randint(2, 16))
            assert not (inbox / NAME).exists()
        came, kept = received(), part_bytes(inbox)
        assert kills == 12 and 0 < kept <= came <= kept + kills * (CHUNK + 1)
        fetch(inbox, mirror.url)
        assert received() == len(CONTENT) - kept + 1
    assert is_whole_and_alone(inbox)


@pytest.mark.parametrize(
    ("where", "count"),
    [("before the check", 1), ("before the last sync", 1), ("before the last rename", 1), ("after the last rename", 2)],
)
def test_a_process_killed_at_the_very_end_loses_nothing(served, inbox, received, where, count):
    with Mirror(served) as mirror:
        assert killed(inbox, mirror.url, where, count)
        assert (inbox / NAME).exists() == (where == "after the last rename")
        received()
        fetch(inbox, mirror.url)
    assert received() == 0
    assert is_whole_and_alone(inbox)


def test_a_file_of_unknown_size_that_was_whole_already_costs_one_byte(served, inbox, received):
    file = RemoteFile(NAME, md5=hashlib.md5(CONTENT).hexdigest())
    with Mirror(served) as mirror:
        interrupted(inbox, mirror.url, len(CONTENT), file=file)
        received()
        fetch(inbox, mirror.url, file=file)
    assert received() == 1
    assert is_whole_and_alone(inbox)


def interrupted(inbox: Path, url: str, after: int, **options) -> None:
    """A download that the user ends once some chunks are there."""

    def stop(done: int, size: int | None) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(inbox, url, progress=stop, **options)


def test_an_interrupted_download_goes_on_at_another_mirror(served, inbox, received):
    with Mirror(served) as first, Mirror(served) as second:
        interrupted(inbox, first.url, 20 * CHUNK)
        come = part_bytes(inbox)
        assert received() >= come >= 20 * CHUNK
        fetch(inbox, second.url)
    assert received() == len(CONTENT) - come + 1
    assert is_whole_and_alone(inbox)


def test_a_web_page_or_a_server_without_ranges_does_not_undo_what_has_come(served, inbox, received):
    interrupted(inbox, str(served), 20 * CHUNK)
    with Mirror(served, {NAME: "html"}) as hotel, pytest.raises(DownloadError, match="sent a web page"):
        fetch(inbox, hotel.url)
    assert part_bytes(inbox) == 20 * CHUNK
    with Mirror(served, {NAME: "no ranges"}) as old:
        interrupted(inbox, old.url, 25 * CHUNK)
    received()
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url)
    assert received() <= len(CONTENT) - 25 * CHUNK + 1
    assert is_whole_and_alone(inbox)


@pytest.mark.parametrize("damage", ["flipped", "cut", "of another file", "no part file"])
def test_what_a_power_failure_spoilt_is_fetched_again(served, inbox, received, damage):
    interrupted(inbox, str(served), 20 * CHUNK)
    received()
    (part,) = inbox.glob(".*.part")
    if damage == "flipped":  # only the hash at the end shows it: the rest comes, then all of it
        with open(part, "r+b") as file:
            file.seek(5 * CHUNK + 7)
            file.write(bytes([CONTENT[5 * CHUNK + 7] ^ 1]))
        expected = len(CONTENT) - 20 * CHUNK + 1 + len(CONTENT)
    elif damage == "cut":
        os.truncate(part, 18 * CHUNK + 9)
        expected = len(CONTENT) - 18 * CHUNK - 9 + 1
    elif damage == "of another file":
        part.rename(inbox / f".{NAME}.0123abcd.part")
        expected = len(CONTENT)
    else:
        part.unlink()
        expected = len(CONTENT)
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url)
    assert received() == expected
    assert is_whole_and_alone(inbox)


def test_an_unpinned_file_is_not_put_together_from_two_states(served, inbox):
    file = RemoteFile(NAME)
    with Mirror(served) as mirror:
        interrupted(inbox, mirror.url, 20 * CHUNK, file=file)
        (served / NAME).write_bytes(CONTENT[:2] + CONTENT[:1:-1])
        got = fetch(inbox, mirror.url, file=file)
    assert got.path.read_bytes() == CONTENT[:2] + CONTENT[:1:-1]
    assert [request.status for request in mirror.requests] == [200, 206, 200]


def test_an_unpinned_file_of_the_same_state_goes_on_where_it_was(served, inbox, received):
    file = RemoteFile(NAME)
    with Mirror(served) as mirror:
        interrupted(inbox, mirror.url, 20 * CHUNK, file=file)
        received()
        come = part_bytes(inbox)
        fetch(inbox, mirror.url, file=file)
    assert come >= 20 * CHUNK and received() == len(CONTENT) - come + 1
    assert is_whole_and_alone(inbox)


def test_an_unpinned_file_of_another_host_begins_anew(served, inbox, received):
    file = RemoteFile(NAME)
    with Mirror(served) as first, Mirror(served) as second:
        interrupted(inbox, first.url, 20 * CHUNK, file=file)
        received()
        fetch(inbox, second.url, file=file)
    assert [request.status for request in second.requests] == [206, 200] and received() >= len(CONTENT)
    assert is_whole_and_alone(inbox)


def test_two_processes_fetch_a_file_once(served, inbox, received):
    with Mirror(served, {NAME: Fault("slow", rate=2e6)}) as mirror:
        threads = [threading.Thread(target=fetch, args=(inbox, mirror.url)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert received() == len(CONTENT)
    assert is_whole_and_alone(inbox)
