"""Forms that another site makes somebody send do nothing; headers; files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from conftest import Reader, words

import web.page

ROOT = Path(web.page.__file__).parents[2]
FORMS = ("/remember", "/supersede", "/feedback", "/context", "/login", "/logout")


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({}, "0" * 64),
        ({}, "é"),
        ({"Sec-Fetch-Site": "cross-site"}, None),
        ({"Sec-Fetch-Site": "same-site"}, None),
        ({"Sec-Fetch-Site": "", "Origin": "https://evil.example"}, None),
        ({"Sec-Fetch-Site": "", "Origin": "null"}, None),
        ({"Sec-Fetch-Site": "", "Origin": "http://localhost:81"}, None),
    ],
)
def test_a_form_of_another_site_does_nothing(reader, call, path, headers, token):
    answer = reader.send(path, headers=headers, content="Planted.", form_token=token)
    assert answer.status_code == 403
    assert "did not come from this page" in words(answer.text)
    assert call("kg.list")["results"] == []


def test_a_token_is_of_one_visitor_alone(reader, service, ns):
    from graph.settings import Settings
    from web.app import create_app

    other = Reader(create_app(service, Settings()).test_client(), ns)
    assert other.send("/remember", content="Planted.", form_token=reader.token()).status_code == 403
    assert other.send("/remember", content="Mine.").status_code == 303


def test_a_form_from_our_own_origin_is_taken_where_the_browser_says_no_more(reader):
    headers = {"Sec-Fetch-Site": "", "Origin": "http://localhost"}
    assert reader.send("/remember", headers=headers, content="Mine.").status_code == 303


def test_a_form_past_the_limit_is_refused_in_words(reader):
    answer = reader.send("/remember", content="x" * (5 << 20))
    assert answer.status_code == 413
    assert "too large" in words(answer.text)
    assert reader.send("/remember", content="ä" * 400_000).status_code == 303


def test_what_a_page_may_do_is_said_in_its_head(reader):
    answer = reader.client.get("/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Referrer-Policy"] == "same-origin", "without a referrer the Origin of a form is null"
    cookie = reader.client.get("/remember").headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


def test_no_template_brings_a_script_or_a_style_of_its_own():
    for path in (ROOT / "web/page/templates").rglob("*.html"):
        text = path.read_text("utf-8")
        assert "style=" not in text, path
        assert "<style" not in text, path
        assert " on" not in "".join(part for part in text.split("<") if part.startswith(("script", "img"))), path
        assert "|safe" not in text.replace(" ", ""), path
        assert "://" not in text.replace("http://www.w3.org", ""), path


@pytest.mark.parametrize("name", [*web.page.FILES, "style.grass"])
def test_its_files_are_in_the_package(reader, name):
    with reader.client.get(f"/page/{name}") as answer:
        assert answer.status_code == 200
        assert len(answer.data) > 100


def test_nothing_else_is_served_as_a_file(reader):
    for name in ("PROVENANCE.md", "../__init__.py", "..%2f__init__.py", "cytoscape.LICENSE"):
        assert reader.client.get(f"/page/{name}").status_code == 404


def test_the_wheel_takes_the_page_with_it():
    """The build takes whole packages, but for what git ignores; so nothing of the page may be ignored."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert {"web", "cypher", "seeds"} <= set(build["targets"]["wheel"]["packages"])
    assert "exclude" not in build
    ignored = {line.strip("/*") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()}
    files = [path for path in (ROOT / "web/page").rglob("*") if "__pycache__" not in path.parts]
    assert not ignored & {part for path in files for part in path.relative_to(ROOT).parts}
    assert {"cytoscape.min.js", "cytoscape.LICENSE", "PROVENANCE.md", "base.html"} <= {path.name for path in files}


def test_the_library_is_the_one_that_is_written_down():
    import hashlib

    static = ROOT / "web/page/static"
    assert hashlib.sha256((static / "cytoscape.min.js").read_bytes()).hexdigest() in (static / "PROVENANCE.md").read_text()


def test_a_fault_of_our_own_is_told_without_its_words(reader, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("bolt://10.1.2.3:7687")

    monkeypatch.setattr("web.page.analytics.listed", broken)
    page = reader.get("/analytics", 500)
    assert "A fault of our own" in words(page)
    assert "10.1.2.3" not in page
    assert re.search(r"Request [0-9a-f-]{36}", words(page))


def test_a_database_that_is_away_is_told_in_words(reader, service, monkeypatch):
    from graph.errors import StoreUnavailable

    def away(*_, **__):
        raise StoreUnavailable("bolt://10.1.2.3:7687")

    monkeypatch.setattr("web.page.analytics.listed", away)
    monkeypatch.setattr(service.store, "rows", away)
    page = reader.get("/analytics", 503)
    assert "The database is away" in words(page)
    assert "10.1.2.3" not in page
