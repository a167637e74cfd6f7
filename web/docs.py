"""Swagger UI at `/docs`, from the files of the flask-swagger-ui distribution: nothing is fetched from elsewhere."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from flask import Flask, Response, send_from_directory

ASSETS = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Palimpsest: the verbs</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
"""
START = """window.ui = SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, displayRequestDuration: true, validatorUrl: null
})
"""


def register(app: Flask) -> None:
    """Adds the page and its files."""
    app.add_url_rule("/docs", "docs", lambda: _served(PAGE, "text/html"))
    app.add_url_rule("/docs/start.js", "docs_start", lambda: _served(START, "text/javascript"))
    app.add_url_rule(f"/docs/<any({', '.join(map(repr, ASSETS))}):name>", "docs_file", _file)


def _served(text: str, kind: str) -> Response:
    return Response(text, content_type=f"{kind}; charset=utf-8", headers={"Content-Security-Policy": CSP})


def _file(name: str) -> Response:
    return send_from_directory(Path(str(files("flask_swagger_ui"))) / "dist", name, max_age=3600)
