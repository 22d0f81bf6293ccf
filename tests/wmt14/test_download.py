"""Downloads: what comes is right or does not count, whatever servers, lines, disks and killed processes do."""

from __future__ import annotations

import hashlib
import http.server
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from annotated.wmt14.download._part import PartFile

from annotated.chapters.full_run.mirror import Fault, Mirror, Request
from annotated.wmt14.download import Downloaded, DownloadError, RemoteFile, _part, _sources, _transfer, download

CHUNK = 1 << 14
NAME = "archive.tgz"
CONTENT = b"\x1f\x8b" + random.Random(7).randbytes(40 * CHUNK + 321)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = RemoteFile(NAME, size=len(CONTENT), sha256=SHA256)
FORK = multiprocessing.get_context("fork")


@pytest.fixture(autouse=True)
def small_chunks_and_short_pauses(monkeypatch):
    monkeypatch.setattr(_part, "CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(_transfer, "CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(_sources, "BLOCK_BYTES", CHUNK // 4)
    monkeypatch.setattr(_transfer, "PAUSES", (0.01, 0.01))


@pytest.fixture
def served(tmp_path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / NAME).write_bytes(CONTENT)
    return folder


@pytest.fixture
def inbox(tmp_path) -> Path:
    return tmp_path / "inbox"


def fetch(inbox: Path, *mirrors: str, file: RemoteFile = FILE, timeout: float = 5.0, **options) -> Downloaded:
    return download(file, inbox, mirrors=mirrors, timeout=timeout, **options)


@pytest.fixture
def received(monkeypatch) -> Callable[[], int]:
    """How many bytes of files have come since the last call."""
    count = FORK.Value("q", 0)  # forked processes add to it too
    read = _sources.Answer.read

    def counted(self, most=_sources.BLOCK_BYTES):
        block = read(self, most)
        with count.get_lock():
            count.value += len(block)
        return block

    def total() -> int:
        with count.get_lock():
            result, count.value = count.value, 0
        return result

    monkeypatch.setattr(_sources.Answer, "read", counted)
    return total


def is_whole_and_alone(inbox: Path) -> bool:
    return [path.name for path in inbox.iterdir()] == [NAME] and (inbox / NAME).read_bytes() == CONTENT


# -- the plain case --


@pytest.mark.parametrize("connections", [1, 4])
def test_a_file_comes_whole_over_any_number_of_connections(served, inbox, connections):
    seen = []
    with Mirror(served, {NAME: Fault("slow", rate=2e6)}) as mirror:
        most_at_once = count_at_once(mirror)
        got = fetch(inbox, mirror.url, connections=connections, progress=lambda done, size: seen.append((done, size)))
    assert got == Downloaded(inbox / NAME, SHA256, len(CONTENT), mirror_url(mirror, got), True)
    assert is_whole_and_alone(inbox)
    assert mirror.sent(NAME) >= len(CONTENT)
    assert most_at_once[0] >= 3 if connections == 4 else most_at_once[0] <= 2  # one may not have noticed its end yet
    starts = {request.start for request in mirror.requests}
    assert len(starts) > connections if connections > 1 else starts == {0, CHUNK}  # the first chunk is the probe
    done = [count for count, _ in seen]
    assert (
        done == sorted(done)
        and done[0] == 0
        and done[-1] == len(CONTENT)
        and {size for _, size in seen} == {len(CONTENT)}
    )


def count_at_once(mirror: Mirror) -> list[int]:
    """How many answers a mirror was giving at the same time, at most; counted from now on."""
    active, most, lock, send = [0], [0], threading.Lock(), mirror._send

    def counted(*arguments):
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        try:
            return send(*arguments)
        finally:
            with lock:
                active[0] -= 1

    mirror._send = counted
    return most


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
        assert [request.status for request in bad.requests] == [404] and got.url == good.url + NAME
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
        fetch(inbox, mirror.url, timeout=0.2, connections=2)
    assert is_whole_and_alone(inbox)
    # Nothing that had come came again, but for what a connection that is reset takes along.
    assert len(CONTENT) <= received() <= len(CONTENT) + (2 * CHUNK if kind == "reset" else 0)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("404", "answered 404 Not Found"),
        ("503", "answered 503 Service Unavailable, 3 times in a row"),
        ("stall", "silent for 0.1 s, 3 times in a row"),
        ("reset", "(broke off|cannot be reached).*3 times in a row"),
        ("truncate", "ended after 0 bytes instead of 16,384, 3 times in a row"),
        ("wrong bytes", f"its SHA-256 is [0-9a-f]{{64}}, not {SHA256}"),
        ("html", "sent a web page instead of the gzip archive.*log in"),
    ],
)
def test_what_never_works_is_named_and_the_next_mirror_is_asked(served, inbox, kind, message):
    with Mirror(served, {NAME: Fault(kind, after=0)}) as bad:
        with pytest.raises(DownloadError, match=message):
            fetch(inbox, bad.url, timeout=0.1)
        assert not (inbox / NAME).exists()
        assert fetch(inbox, bad.url, str(served), timeout=0.1).path == inbox / NAME
    assert is_whole_and_alone(inbox)


def test_a_trickle_counts_as_silence(served, inbox, monkeypatch):
    (served / NAME).write_bytes(CONTENT[:2000])
    monkeypatch.setattr(_sources, "LEAST_RATE", 2000)
    with (
        Mirror(served, {NAME: Fault("slow", rate=500)}) as mirror,
        pytest.raises(DownloadError, match=r"only \d+ bytes in 0 s"),
    ):
        fetch(inbox, mirror.url, file=RemoteFile(NAME), timeout=0.15, connections=1)


def test_a_server_that_is_not_there_is_named(served, inbox):
    with Mirror(served) as gone:
        url = gone.url
    with pytest.raises(DownloadError, match=r"cannot be reached \(Connection refused\), 3 times in a row"):
        fetch(inbox, url)


def test_a_redirection_is_followed(served, inbox):
    with Mirror(served, {NAME: "redirect"}) as mirror:
        fetch(inbox, mirror.url)
    assert is_whole_and_alone(inbox)


def test_one_connection_that_the_server_refuses_leaves_its_share_to_the_others(served, inbox):
    with Mirror(served, {NAME: "slow"}) as mirror:
        one_at_a_time = threading.Lock()
        answer = mirror._send

        def send(handler, *arguments):
            if not one_at_a_time.acquire(blocking=False):
                handler.refuse(503, {})
                return 0
            try:
                return answer(handler, *arguments)
            finally:
                one_at_a_time.release()

        mirror._send = send
        fetch(inbox, mirror.url, connections=3)
    assert is_whole_and_alone(inbox)


# -- servers that lie about ranges --


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("no ranges", FILE),
        ("no ranges", RemoteFile(NAME)),
        ("wrong range", FILE),
        ("wrong range", RemoteFile(NAME)),
        ("lies about ranges", FILE),
    ],
    ids=lambda value: value if isinstance(value, str) else "pinned" if value.is_pinned else "unpinned",
)
def test_a_server_that_lies_about_ranges_gives_the_whole_file_at_the_second_try(served, inbox, kind, file):
    with Mirror(served, {NAME: kind}) as mirror:
        fetch(inbox, mirror.url, connections=3, file=file)
    assert is_whole_and_alone(inbox)
    assert len(mirror.requests) == 2  # the first answer gave it away; how much of it was sent by then depends
    assert Request(NAME, 0, 200, len(CONTENT)) in mirror.requests


def test_where_only_the_hash_shows_the_lie_the_whole_file_is_fetched_once_more(served, inbox):
    (served / "plain.txt").write_bytes(CONTENT)
    with Mirror(served, {"plain.txt": "lies about ranges"}) as mirror:
        got = fetch(inbox, mirror.url, connections=3, file=RemoteFile("plain.txt", size=len(CONTENT), sha256=SHA256))
    assert got.path.read_bytes() == CONTENT
    *parts, last = sorted(mirror.requests, key=lambda request: request.status, reverse=True)
    assert (last.start, last.status, last.sent) == (0, 200, len(CONTENT))
    assert len(parts) >= 4 and {request.status for request in parts} == {206}


def test_the_second_try_is_the_last(served, inbox):
    (served / NAME).write_bytes(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))
    with Mirror(served) as mirror, pytest.raises(DownloadError, match="its SHA-256 is"):
        fetch(inbox, mirror.url, connections=2)
    assert sum(request.status == 200 for request in mirror.requests) == 1
    assert not any(inbox.glob("*.tgz"))


# -- certificates --


def test_a_redirection_away_from_https_is_refused():
    handler = _sources._NeverToLess()
    request = _sources.urllib.request.Request("https://example.org/a")
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
    monkeypatch.setattr(_transfer.shutil, "disk_usage", lambda _: usage)
    with (
        Mirror(served) as mirror,
        pytest.raises(DownloadError, match=r"the disk is full \(0.7 MB more are needed.*Free 0.7 MB"),
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
    text = ours.recv() if ours.poll(20) else "no answer"
    process.join()
    return text


def fetch_with_little_room(inbox: Path, url: str) -> Downloaded:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10 * CHUNK + 50, resource.RLIM_INFINITY))
    return fetch(inbox, url, connections=1)


def test_a_disk_that_fills_up_costs_nothing_that_has_come(served, inbox):
    with Mirror(served) as mirror:
        said = run_forked(fetch_with_little_room, inbox, mirror.url)
        assert said.startswith("DownloadError") and "the disk is full" in said and "fetches only the rest" in said
        assert not (inbox / NAME).exists()
    assert mirror.sent(NAME) > 10 * CHUNK
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url)
    assert min(request.start for request in mirror.requests if request.sent) >= 10 * CHUNK
    assert is_whole_and_alone(inbox)


# -- processes that die --


def journal_bytes(inbox: Path) -> int:
    """Bytes of all chunks that the journal names."""
    lines = (inbox / f".{NAME}.journal").read_text().split("\n")[1:-1]
    last = len(CONTENT) // CHUNK
    return sum(len(CONTENT) % CHUNK if int(line.split()[0]) == last else CHUNK for line in set(lines))


def fetch_until_killed(inbox: Path, url: str, connections: int, where: str, count: int) -> None:
    """A download that ends as by a power switch, at the count-th time that it comes to a certain place."""
    owner, name = {
        "before a chunk is written": (_part.zlib, "crc32"),
        "after a chunk is entered": (PartFile, "_report"),
        "before the last rename": (_part.os, "fsync"),
        "after the last rename": (_part, "_fsync_folder"),
    }[where]
    left, original = [count], getattr(owner, name)

    def deadly(*arguments):
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments)

    setattr(owner, name, deadly)
    fetch(inbox, url, connections=connections)


def killed(inbox: Path, url: str, connections: int, where: str, count: int) -> bool:
    """Whether it came to that."""
    process = FORK.Process(target=fetch_until_killed, args=(inbox, url, connections, where, count))
    process.start()
    process.join(20)
    return process.exitcode == -signal.SIGKILL


def test_a_process_killed_at_any_moment_loses_at_most_a_chunk_a_connection(served, inbox, received):
    connections, chance, kills = 3, random.Random(1), 0
    with Mirror(served) as mirror:
        for _ in range(12):
            where = chance.choice(["before a chunk is written", "after a chunk is entered"])
            kills += killed(inbox, mirror.url, connections, where, chance.randint(1, 6))
            assert not (inbox / NAME).exists()
        came, kept = received(), journal_bytes(inbox)
        assert kills == 12 and 0 < kept <= came <= kept + kills * connections * CHUNK
        fetch(inbox, mirror.url, connections=connections)
        assert received() == len(CONTENT) - kept
    assert is_whole_and_alone(inbox)


@pytest.mark.parametrize(("where", "count"), [("before the last rename", 2), ("after the last rename", 1)])
def test_a_process_killed_at_the_very_end_loses_nothing(served, inbox, received, where, count):
    with Mirror(served) as mirror:
        assert killed(inbox, mirror.url, 2, where, count)
        assert (inbox / NAME).exists() == (where == "after the last rename")
        received()
        fetch(inbox, mirror.url)
    assert received() == 0
    assert is_whole_and_alone(inbox)


def interrupted(inbox: Path, url: str, after: int, **options) -> None:
    """A download that the user ends once some chunks are there."""

    def stop(done: int, size: int | None) -> None:
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(inbox, url, progress=stop, connections=1, **options)


def test_an_interrupted_download_goes_on_at_another_mirror(served, inbox, received):
    with Mirror(served) as first, Mirror(served) as second:
        interrupted(inbox, first.url, 20 * CHUNK)
        assert received() >= 20 * CHUNK
        fetch(inbox, second.url)
        assert received() == len(CONTENT) - 20 * CHUNK
    assert is_whole_and_alone(inbox)


def test_a_web_page_or_a_server_without_ranges_does_not_undo_what_has_come(served, inbox, received):
    interrupted(inbox, str(served), 20 * CHUNK)
    with Mirror(served, {NAME: "html"}) as hotel, pytest.raises(DownloadError, match="sent a web page"):
        fetch(inbox, hotel.url)
    with Mirror(served, {NAME: Fault("no ranges", after=0)}) as old:
        interrupted(inbox, old.url, 25 * CHUNK)  # it has to begin again, and writes over what is there
    received()
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url)
    assert received() <= len(CONTENT) - 20 * CHUNK
    assert is_whole_and_alone(inbox)


@pytest.mark.parametrize("damage", ["flipped", "cut", "torn journal", "other journal", "no part file"])
def test_what_a_power_failure_spoilt_is_fetched_again_and_no_more(served, inbox, received, damage):
    interrupted(inbox, str(served), 20 * CHUNK)
    received()
    part, journal = inbox / f".{NAME}.part", inbox / f".{NAME}.journal"
    lost = {"flipped": 1, "cut": 2, "torn journal": 1, "other journal": 20, "no part file": 20}[damage]
    if damage == "flipped":
        with open(part, "r+b") as file:
            file.seek(5 * CHUNK + 7)
            file.write(bytes([CONTENT[5 * CHUNK + 7] ^ 1]))
    elif damage == "cut":
        os.truncate(part, 18 * CHUNK + 9)
    elif damage == "torn journal":
        os.truncate(journal, journal.stat().st_size - 3)
    elif damage == "other journal":
        lines = journal.read_text().split("\n")
        lines[0] = json.dumps(json.loads(lines[0]) | {"identity": "another file"})
        journal.write_text("\n".join(lines))
    else:
        part.unlink()
    with Mirror(served) as mirror:
        fetch(inbox, mirror.url, connections=1)
    assert received() == len(CONTENT) - (20 - lost) * CHUNK
    assert is_whole_and_alone(inbox)


def test_an_unpinned_file_is_not_put_together_from_two_states(served, inbox):
    file = RemoteFile(NAME)
    with Mirror(served) as mirror:
        interrupted(inbox, mirror.url, 20 * CHUNK, file=file)
        (served / NAME).write_bytes(CONTENT[:2] + CONTENT[:1:-1])
        got = fetch(inbox, mirror.url, file=file)
    assert got.path.read_bytes() == CONTENT[:2] + CONTENT[:1:-1]


def test_two_processes_fetch_a_file_once(served, inbox, received):
    with Mirror(served, {NAME: Fault("slow", rate=2e6)}) as mirror:
        threads = [threading.Thread(target=fetch, args=(inbox, mirror.url)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert received() == len(CONTENT)
    assert is_whole_and_alone(inbox)


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 2
    while any(thread.name.startswith("download-") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "a connection goes on after its download has ended"
        time.sleep(0.02)
