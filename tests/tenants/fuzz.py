"""Two tenants call every verb at random, with ids, keys and names of each other; nobody may ever be shown another's row.

    python -m tests.tenants.fuzz [--calls 20000] [--seed 7]

A third tenant stores what the others do, and never calls: afterwards it must be as it was.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph.settings import Settings
from tests.tenants.bodies import Bodies
from tests.tenants.tenant import Tenant


@dataclass
class Outcome:
    """What came of it. calls: of a verb and a status.  took_s: of a verb.  leaks, failures: texts, with the request."""

    calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    took_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    leaks: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        verbs = sorted({verb for verb, _ in self.calls})
        lines = [f"{sum(self.calls.values())} calls, {len(self.leaks)} leaks, {len(self.failures)} failures"]
        for verb in verbs:
            of = sorted((status, n) for (name, status), n in self.calls.items() if name == verb)
            ms = self.took_s[verb] * 1000 / sum(n for _, n in of)
            lines.append(f"  {verb:24}{ms:6.0f} ms  " + "  ".join(f"{status}: {n}" for status, n in of))
        return "\n".join([*lines, *self.leaks[:10], *self.failures[:10]])


def fuzz(tenants: list[Tenant], silent: Tenant, verbs: Mapping[str, Mapping[str, Any]], calls: int, seed: int) -> Outcome:
    """verbs: request schemas by name. Every tenant must have settled."""
    chance, outcome = random.Random(seed), Outcome()
    bodies = {
        tenant.ns: Bodies(chance, tenant, [other for other in [*tenants, silent] if other is not tenant])
        for tenant in tenants
    }
    for _ in range(calls):
        started = time.perf_counter()
        tenant = chance.choice(tenants)
        verb = chance.choice(list(verbs))
        body = bodies[tenant.ns].body(verb, verbs[verb])
        asked = json.dumps(body)
        status, text, answer = tenant.send(verb, body)
        outcome.calls[verb, status] += 1
        outcome.took_s[verb] += time.perf_counter() - started
        if status >= 500:
            outcome.failures.append(f"{status} {verb} {asked}: {text[:400]}")
        for other in (*tenants, silent):
            if other is not tenant:
                shown = other.shown_in(text, asked)
                outcome.leaks += [f"{tenant.ns} was shown {secret} of {other.ns}: {verb} {asked}" for secret in shown]
        if status < 300:
            tenant.learn(text, asked)
            tenant.answered(verb, answer)
        for kept in (tenant.ids, tenant.serves, *tenant.apart.values()):
            del kept[:-400]
    return outcome


def main() -> None:
    from recall.service import open_service
    from tests.tenants import over_http, over_mcp

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--calls", type=int, default=20_000, help="a tenth of them by MCP")
    options.add_argument("--seed", type=int, default=7)
    args = options.parse_args()
    home = Path(tempfile.mkdtemp(prefix="palimpsest-tenants-"))
    service = open_service(Settings.from_environment({}, home=home, embedder="hashing"))
    try:
        print("MCP", over_mcp.among(service, args.calls // 10, args.seed), flush=True)
        print("HTTP", over_http.among(service, args.calls - args.calls // 10, args.seed))
    finally:
        service.close()


if __name__ == "__main__":
    main()
