"""The files around the library agree with one another."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import annotated
from annotated.cli import main
from annotated_book.pages import page_file
from tests.wheels_alone import run_the_blocks_of_the_readme

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = [file.relative_to(ROOT).as_posix() for file in sorted((ROOT / ".github" / "workflows").iterdir())]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))["project"]


def grader() -> dict[str, Any]:
    return tomllib.loads(read("grader/pyproject.toml"))["project"]


def book() -> dict[str, Any]:
    return tomllib.loads(read("book/pyproject.toml"))["project"]


def of_the_book() -> list[str]:
    """What the book's package needs besides what the library needs, which it names without versions."""
    return [requirement for requirement in book()["dependencies"] if ">=" in requirement]


def installed() -> list[str]:
    """All that `make install` asks for."""
    extras = project()["optional-dependencies"]
    return [
        *project()["dependencies"],
        *of_the_book(),
        *(r for e in ("book", "dev", "export", "moses") for r in extras[e]),
    ]


def tracked_text_files() -> list[Path]:
    """Files that git has or would take, without binary ones; in a copy without git, none."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: there is no list of files")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    return [file for file in files if file.is_file() and b"\0" not in file.read_bytes()[:8192]]


def test_environment_yml_repeats_pyproject() -> None:
    environment = yaml.safe_load(read("environment.yml"))
    python, pip, *conda = environment["dependencies"]
    wanted = project()["dependencies"] + of_the_book() + project()["optional-dependencies"]["book"]
    names_there = {"pytorch-cpu": "torch"}
    for theirs, ours in names_there.items():
        conda = [re.sub(rf"^{theirs}(?=[<>=]|$)", ours, item) for item in conda]
    assert [item.removesuffix(",<2.0a0") for item in conda] == wanted
    assert pip == "pip"  # for library, grader and book
    assert python == f"python={project()['requires-python'].removeprefix('>=')}"
    assert set(environment) == {"name", "channels", "dependencies"}


def test_one_version_everywhere() -> None:
    version = project()["version"]
    assert annotated.__version__ == version == grader()["version"] == book()["version"]
    for product in (grader(), book()):
        assert f"annotated-attention=={version}" in product["dependencies"], "they are released together"
    assert book()["optional-dependencies"]["grader"] == [f"annotated-grader=={version}"]
    assert yaml.safe_load(read("CITATION.cff"))["version"] == version
    latest = re.search(r"^## (\d+\.\d+\.\d+)( \(not yet released\))?$", read("CHANGELOG.md"), re.MULTILINE)
    assert latest and latest[1] == version
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        assert os.environ["GITHUB_REF_NAME"] == f"v{version}" and not latest[2], "a tag names what is released"


def test_the_graders_wheel_names_both_licences() -> None:
    """It carries the exercises, whose text is CC BY, beside the code."""
    assert project()["license"] == "MIT" and grader()["license"] == "MIT AND CC-BY-4.0"
    assert grader()["license-files"] == ["LICENSE", "LICENSE-TEXT"]
    assert [read(f"grader/{name}") == read(name) for name in grader()["license-files"]] == [True, True]
    assert "exercises/" in read("LICENSE-TEXT") and "exercises" in read("grader/setup.py")


def test_the_grader_needs_no_package_that_the_library_does_not_pin() -> None:
    assert names(grader()["dependencies"]) <= {"annotated-attention", *names(project()["dependencies"])}
    assert grader()["requires-python"] == project()["requires-python"]


def test_the_library_needs_nothing_to_draw_with_and_the_book_what_it_does() -> None:
    drawing = {"altair", "anywidget", "ipywidgets"}
    assert not drawing & names(project()["dependencies"])
    assert names(of_the_book()) == drawing
    rest = names(book()["dependencies"]) - drawing
    assert rest <= {"annotated-attention", *names(project()["dependencies"])}
    assert read("book/LICENSE") == read("LICENSE")


def names(requirements: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", re.split(r"[<>=!~\[; ]", r)[0]).lower() for r in requirements}


def test_constraints_pin_every_dependency_once() -> None:
    lines = [line for line in read("constraints.txt").splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.!]+", line) for line in lines), "exact pins only"
    extras = project()["optional-dependencies"]
    wanted = names(
        [
            *project()["dependencies"],
            *of_the_book(),
            *extras["book"],
            *extras["dev"],
            *extras["export"],
            *extras["moses"],
        ]
    )
    assert wanted <= names(lines)
    assert len(names(lines)) == len(lines)


def test_constraints_satisfy_the_ranges() -> None:
    requirements = pytest.importorskip("packaging.requirements")
    pins = dict(line.split("==") for line in read("constraints.txt").splitlines() if "==" in line)
    pinned = {next(iter(names([name]))): version for name, version in pins.items()}
    extras = project()["optional-dependencies"]
    for text in [
        *project()["dependencies"],
        *of_the_book(),
        *extras["book"],
        *extras["dev"],
        *extras["export"],
        *extras["moses"],
    ]:
        requirement = requirements.Requirement(text)
        version = pinned[next(iter(names([requirement.name])))]
        assert requirement.specifier.contains(version, prereleases=True), (text, version)


def test_every_dependency_is_explained() -> None:
    table = read("CONTRIBUTING.md")
    extras = project()["optional-dependencies"]
    for name in names([*project()["dependencies"], *of_the_book(), *(r for extra in extras.values() for r in extra)]):
        assert re.search(rf"^\|[^|]*`{re.escape(name)}`", table.lower(), re.MULTILINE), f"no line for {name}"


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):(?!=)", read("Makefile"), re.MULTILINE))


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md", ".ci/run", *WORKFLOWS])
def test_make_commands_that_are_named_exist(file: str) -> None:
    named = set(re.findall(r"(?:^|`|run: |^ +|^step .*)make ([a-z-]+)", read(file), re.MULTILINE))
    assert named, f"{file} names no make command"
    assert named <= targets()


def test_the_makefile_has_the_promised_targets() -> None:
    assert {"book", "test", "lint", "benchmark", "serve", "clean"} <= targets()


@pytest.mark.parametrize("wanted", [[], ["CHAPTER=attention/mask"]])
def test_a_chapter_that_is_not_there_is_answered_with_those_that_are(wanted: list[str]) -> None:
    done = subprocess.run(["make", "chapter", *wanted], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode and "make chapter CHAPTER=" in done.stdout
    assert "  attention/masks\n" in done.stdout and "  intro\n" in done.stdout
    assert ("There is no page attention/mask." in done.stdout) == bool(wanted)


def test_make_takes_an_environment_of_the_users_and_never_removes_it() -> None:
    command = ["make", "--dry-run", "VENV=/conda/envs/annotated", "book", "distclean"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "/conda/envs/annotated/bin/jupyter-book build" in plan
    assert not re.search(r"^rm .*conda", plan, re.MULTILINE)


def test_nothing_is_installed_by_a_name_that_is_not_ours() -> None:
    """Library and grader are on no index: whoever took a name there would run code where this is typed."""
    named = re.compile(r"pip install[^\n]*[ '\"]annotated-(?:attention|grader)\b")
    found = [file for file in tracked_text_files() if named.search(file.read_text(encoding="utf-8", errors="replace"))]
    assert found == []


@pytest.mark.parametrize("repository", ["", "someone/annotated"])
def test_the_wheels_description_leads_nowhere_that_is_not_there(repository: str) -> None:
    command = [sys.executable, "setup.py", "--quiet", "--long-description", "--url"]
    environment = os.environ | {"GITHUB_REPOSITORY": repository, "GITHUB_SHA": "abc"}
    described = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert described.startswith("# annotated") and "## Two commands" in described
    assert not re.search(r"!\[[^\]]*\]\((?!https:)", described)
    links = re.findall(r"\]\(([^)]*)\)", described)
    assert all(link.startswith(("https://", "#")) for link in links)
    ours = "https://github.com/someone/annotated/blob/abc/exercises/INSTRUCTOR.md"
    assert (ours in links) == bool(repository)


def test_links_from_the_readme_lead_to_files() -> None:
    for file in ("README.md", "CONTRIBUTING.md"):
        links = re.findall(r"\]\((?!https?://|#)([^)#]+)", read(file))
        missing = [link for link in links if not (ROOT / link).exists()]
        assert not missing, f"{file} links to {missing}"


def test_no_file_names_a_path_of_one_machine() -> None:
    here = str(ROOT)
    homes = re.compile(r"(?<![\w.$/:}-])/(?:root|work|home/\w+|Users/\w+)/\w")
    for file in tracked_text_files():
        text = file.read_text(encoding="utf-8", errors="replace")
        assert here not in text, f"{file.relative_to(ROOT)} names {here}"
        found = homes.search(text)
        assert not found, f"{file.relative_to(ROOT)} names {found and found[0]}"


def test_workflows_and_book_configuration_are_valid_yaml() -> None:
    for name in ["_config.yml", "_toc.yml", ".pre-commit-config.yaml", "CITATION.cff", *WORKFLOWS]:
        assert isinstance(yaml.safe_load(read(name)), dict), name


def test_what_workflows_run_is_run_here_too() -> None:
    """Each line is a step of `.ci/run`, or is made of such steps; what only GitHub can run is named."""
    steps = set(re.findall(r"^step \S+ make (\S+)", read(".ci/run"), re.MULTILINE)) | {"torchtext-test"}
    elsewhere = {
        "make nightly",  # takes hours
        "make release-check",  # CONTRIBUTING.md, "A release"
        'sudo ln -s "$(command -v google-chrome)" /usr/local/bin/chromium',
        "python -m pip install dist/*.whl", "python -P tests/wheels_alone.py",  # test_downloads.py: with its own
        ".ci/publish versions", ".ci/publish book", ".ci/publish notebooks",  # test_publishing.py
    }  # fmt: skip
    assert ".ci/sandbox" in read(".ci/run")
    for name in WORKFLOWS:
        for job in yaml.safe_load(read(name))["jobs"].values():
            if name.endswith("nightly.yml") and "windows-latest" in str(job):
                continue  # there is no make
            for line in filter(None, (step.get("run", "").strip() for step in job["steps"])):
                made = set(re.sub(r" TESTS=.*", "", line, flags=re.DOTALL).removeprefix("make ").split())
                assert line in elsewhere | {".ci/sandbox"} or line.startswith("make ") and made <= steps, (name, line)


def test_an_instructor_is_told_what_the_workflows_tell_apparmor() -> None:
    (profile,) = re.findall(r"<<'PROFILE'\n(.*?)PROFILE\n", read(".ci/sandbox"), re.DOTALL)
    assert profile in read("exercises/INSTRUCTOR.md")


def test_every_page_of_the_table_of_contents_exists() -> None:
    toc = yaml.safe_load(read("_toc.yml"))
    pages = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    missing = [page for page in pages if not page_file(page).is_file()]
    assert not missing


def test_the_tour_in_the_readme_runs() -> None:
    names = run_the_blocks_of_the_readme()
    assert names["logits"].shape == (1, 3, 37_000)
    assert isinstance(names["translator"]("The cat sleeps."), str)


def test_commands_in_the_readme_explain_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    commands = set(re.findall(r"^(?:.*\| |[^\n`]*`)?annotated ([a-z0-9]+)", read("README.md"), re.MULTILINE))
    assert {"data", "train", "evaluate", "translate"} <= commands
    for command in sorted(commands):
        assert main([command, "--help"]) == 0
        assert f"usage: annotated {command}" in capsys.readouterr().out


_IMPORT = re.compile(r"from (annotated(?:\.\w+)*) import (\([^)]*\)|[^\n;\"'`\\#]*)")


def missing_imports(text: str) -> list[str]:
    """Names that a text imports from the library, anywhere in it, and that are not there."""
    missing = []
    for module, names in _IMPORT.findall(text):
        for name in (part.strip().split(" as ")[0] for part in names.strip("()").replace("\n", " ").split(",")):
            if name.isidentifier() and not _exists(module, name):
                missing.append(f"{module}.{name}")
    return missing


def _exists(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name) or bool(importlib.util.find_spec(f"{module}.{name}"))
    except ModuleNotFoundError as error:
        return not str(error.name).startswith("annotated")  # an extra that is not installed here


def test_every_import_that_is_written_anywhere_works() -> None:
    """Also in strings: the README of a run tells its reader what to type."""
    assert missing_imports("x = \"python -c 'from annotated.training import stop; stop(1)'\"") == [
        "annotated.training.stop"
    ]
    assert missing_imports("from annotated.runs import (\n    stop,\n    train as learn,\n)") == []
    # These name what must not be there.
    skipped = {"CHANGELOG.md", "tests/test_house_rules.py", "tests/test_project.py"}
    wrong = {
        file.relative_to(ROOT).as_posix(): found
        for file in tracked_text_files()
        if file.relative_to(ROOT).as_posix() not in skipped
        and (found := missing_imports(file.read_text(encoding="utf-8")))
    }
    assert not wrong
