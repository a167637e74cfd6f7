"""fetch: what a first start would download, beforehand."""

from __future__ import annotations

import click


@click.command()
@click.option("--neo4j", is_flag=True, help="Also the jars of the managed Neo4j; a service with NEO4J_URI needs none.")
def fetch(neo4j: bool) -> None:
    """Download the embedding model into PALIMPSEST_CACHE, and try it, so that a start needs no network."""
    from graph import artifacts, java
    from graph.settings import Settings
    from recall.embed import checked, embedder
    from recall.models import beside
    from web.signals import interruptible

    settings = Settings.from_environment()
    with interruptible(130):
        for model in (embedder(settings.embedder, settings), beside(settings)):
            if model is not None:
                checked(model, model.documents(["ready"]))
                click.echo(f"{model.name}: {model.dimensions} dimensions")
        if neo4j:
            click.echo(f"Neo4j: {len(artifacts.classpath(java.NEO4J, settings.cache))} jars")
