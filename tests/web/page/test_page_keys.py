"""The page where a key is needed: the login, the session, and how far a role goes."""

from __future__ import annotations

import re

import pytest
from conftest import Reader, words

from graph import keys
from web import sessions
from web.sessions import SESSION


def logged_in(reader: Reader, key: str) -> Reader:
    token = re.search(r'name="form_token" value="([0-9a-f]{64})"', reader.get("/login"))[1]
    answer = reader.send("/login", key=key, form_token=token)
    assert answer.status_code == 303, answer.text
    return reader


@pytest.mark.parametrize("path", ["/", "/remember", "/memories/x", "/traces", "/analytics", "/context"])
def test_without_a_key_every_page_leads_to_the_login(keyed, ns, path):
    reader, _ = keyed("read", ns)
    answer = reader.client.get(f"{path}?ns={ns}")
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/login")
    assert "API key" in words(reader.get("/login"))


def test_the_login_leads_where_one_wanted_to_go(keyed, ns):
    reader, key = keyed("read", ns)
    wanted = reader.client.get(f"/traces?ns={ns}").headers["Location"]
    page = reader.client.get(wanted).text
    fields = dict(re.findall(r'name="(form_token|onward)" value="([^"]*)"', page))
    assert fields["onward"] == f"/traces?ns={ns}"
    assert reader.send("/login", key=key, **fields).headers["Location"] == f"/traces?ns={ns}"
    fields["onward"] = "//evil.example"
    assert reader.send("/login", key=key, **fields).headers["Location"] == "/"


def test_a_wrong_key_is_refused_in_words(keyed, ns):
    reader, key = keyed("read", ns)
    token = re.search(r'name="form_token" value="([0-9a-f]{64})"', reader.get("/login"))[1]
    answer = reader.send("/login", key=key[:-2] + "__", form_token=token)
    assert answer.status_code == 401
    assert "the key is not known" in words(answer.text).lower()
    assert SESSION not in answer.headers.get("Set-Cookie", "")


def test_the_cookie_is_out_of_reach_and_does_not_hold_the_key(keyed, ns):
    reader, key = keyed("write", ns)
    token = re.search(r'name="form_token" value="([0-9a-f]{64})"', reader.get("/login"))[1]
    cookies = reader.send("/login", key=key, form_token=token).headers.getlist("Set-Cookie")
    cookie = next(cookie for cookie in cookies if cookie.startswith(SESSION))
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert key.split("_", 2)[2] not in cookie
    overtls = reader.send("/login", key=key, form_token=token, headers={"Origin": "https://localhost"})
    assert all("Secure" in cookie for cookie in overtls.headers.getlist("Set-Cookie"))


def test_a_session_opens_the_page_and_not_the_routes(keyed, ns):
    reader = logged_in(*keyed("write", ns))
    assert "Ask the memory" in words(reader.get("/"))
    answer = reader.client.post("/v1/memory/recall", json={"query": "x"}, headers={"X-Namespace": ns})
    assert answer.status_code == 401


def test_a_reader_sees_no_form_that_writes_and_can_send_none(keyed, ns, call):
    note = call.note("The lamp of the pier is green.")
    reader = logged_in(*keyed("read", ns))
    for page in (reader.get("/", q="lamp of the pier", min_score="yes"), reader.get(f"/memories/{note}")):
        assert "The lamp of the pier" in page
        assert 'action="/feedback"' not in page
        assert 'action="/supersede"' not in page
        assert "/remember" not in page
    assert 'method="post" action="/context"' not in reader.get("/context", task="the lamp")
    token = re.search(r'name="form_token" value="([0-9a-f]{64})"', reader.get("/"))[1]
    for path, form in (
        ("/remember", {"content": "Planted."}),
        ("/supersede", {"id": note, "content": "Planted."}),
        ("/feedback", {"target_id": note, "signal": "useful"}),
        ("/context", {"task": "Planted."}),
    ):
        answer = reader.send(path, form_token=token, **form)
        assert answer.status_code == 403, path
        assert "needs a key of the role write" in words(answer.text)
    assert len(call("kg.list", kind="memory")["results"]) == 1


def test_a_key_reaches_its_namespaces_and_offers_them(keyed, ns, call):
    call.note("Only in the first.")
    reader = logged_in(*keyed("write", ns, f"{ns}-b"))
    page = reader.client.get("/").text
    assert re.findall(r"<option(?: selected)?>(test-[^<]+)</option>", page) == [ns, f"{ns}-b"]
    assert f"<option selected>{ns}</option>" in page
    answer = reader.client.get("/?ns=somebody-else&q=x")
    assert answer.status_code == 403
    assert "does not reach the namespace" in words(answer.text)


def test_what_a_form_wrote_is_in_the_audit(keyed, ns, service, call):
    reader = logged_in(*keyed("write", ns))
    assert reader.send("/remember", content="Audited.").status_code == 303
    assert reader.send("/context", task="Say it").status_code == 200
    assert reader.send("/remember", content=" ").status_code == 422
    service.audit.flush()
    from graph.audit import newest

    done = [(row["verb"], row["status"]) for row in newest(service.store.within(ns), 10)]
    assert done.count(("memory.remember", 200)) == 1
    assert done.count(("memory.remember", 422)) == 1
    assert {("context.task_start", 200), ("context.task_complete", 200)} <= set(done)


def test_a_session_ends_with_its_key(keyed, ns, service):
    reader, key = keyed("read", ns)
    logged_in(reader, key)
    assert reader.client.get("/").status_code == 200
    keys.revoke(service.store, key.split("_")[1])
    assert reader.client.get("/").headers["Location"].startswith("/login")


def test_a_session_ends_with_time_and_with_the_logout(keyed, ns, monkeypatch):
    reader = logged_in(*keyed("read", ns))
    monkeypatch.setattr(sessions, "LASTS_S", -1)
    assert reader.client.get("/").headers["Location"].startswith("/login")
    monkeypatch.undo()
    assert reader.client.get("/").status_code == 200
    assert reader.send("/logout", form_token=re.search(r'form_token" value="(\w+)"', reader.get("/"))[1]).status_code == 303
    assert reader.client.get("/").status_code == 303


@pytest.mark.parametrize(
    "change", [lambda c: c[:-3] + "abc", lambda c: "000000000000" + c[12:], lambda c: "", lambda c: "é.b.c"]
)
def test_a_cookie_that_was_made_up_opens_nothing(keyed, ns, change):
    reader = logged_in(*keyed("admin", "*"))
    cookie = reader.client.get_cookie(SESSION).value
    reader.client.set_cookie(SESSION, change(cookie))
    assert reader.client.get("/").status_code == 303


def test_where_no_key_is_needed_there_is_no_login(reader):
    assert reader.client.get("/login").headers["Location"] == "/"
