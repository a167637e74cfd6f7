"""Whatever the OpenAPI document allows, and what it does not: no 5xx, no answer that the document doesn't know.

`schemathesis run http://127.0.0.1:8765/openapi.json --max-examples 100` looks longer, into all phases. The one check that is
left out wants every body that its schema allows to be done; rules over several fields (a time to come, weights that are not
all 0) are not in a schema.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,negative_data_rejection,unsupported_method,missing_required_header"
)


def test_nothing_that_is_sent_breaks_the_service_or_its_document(url, ns, tmp_path):
    command = [Path(sys.executable).parent / "schemathesis", "run", f"{url}/openapi.json", "--no-color", "--seed", "7"]
    options = ["--checks", CHECKS, "--phases", "fuzzing", "--max-examples", "8", "--header", f"X-Namespace: {ns}"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=tmp_path, timeout=240)
    assert done.returncode == 0, done.stdout[-6000:]
    made, passed = re.findall(r"(\d+) generated, (\d+) passed", done.stdout)[0]
    assert int(made) == int(passed) > 150, done.stdout[-2000:]
