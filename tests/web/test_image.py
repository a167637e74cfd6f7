"""Dockerfile and compose.yaml: by their linters, and by running what they run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


@pytest.mark.skipif(not shutil.which("hadolint", path=BIN), reason="hadolint has no binary for this machine")
def test_the_dockerfile_has_no_fault_for_its_linter():
    done = subprocess.run([BIN / "hadolint", ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_compose_file_is_one():
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_image_is_given_every_folder_that_the_wheel_is_made_of():
    packages = re.search(r"packages = \[(.*)\]", (ROOT / "pyproject.toml").read_text("utf-8"))
    named = re.findall(r'"(\w+)"', packages.group(1))
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert named
    for folder in named:
        assert f"COPY {folder} {folder}" in DOCKERFILE
        assert f"!{folder}" in ignored


def test_the_command_that_fills_the_image_leaves_a_model_that_works():
    done = subprocess.run([BIN / "palimpsest", "fetch"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "e5-small-v2: 384 dimensions" in done.stdout
