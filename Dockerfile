# The service alone; Neo4j runs beside it (compose.yaml) or elsewhere (NEO4J_URI). The embedding model is in the image, so that a
# start asks no registry.
FROM python:3.12-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=/opt/palimpsest
RUN python -m venv "$VIRTUAL_ENV" && "$VIRTUAL_ENV/bin/pip" install --quiet uv==0.13.9
WORKDIR /src
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY cypher cypher
COPY graph graph
COPY recall recall
COPY web web
COPY seeds seeds
RUN "$VIRTUAL_ENV/bin/uv" pip install --no-cache --constraint requirements.lock '.[multilingual,otel]' \
  && PALIMPSEST_CACHE=/opt/palimpsest-cache "$VIRTUAL_ENV/bin/palimpsest" fetch

FROM python:3.12-slim
LABEL org.opencontainers.image.title="Palimpsest" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --create-home --uid 10001 palimpsest
COPY --from=build /opt/palimpsest /opt/palimpsest
COPY --from=build --chown=10001 /opt/palimpsest-cache /opt/palimpsest-cache
ENV PATH=/opt/palimpsest/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PALIMPSEST_CACHE=/opt/palimpsest-cache \
    PALIMPSEST_HOST=0.0.0.0 \
    PALIMPSEST_PORT=8765
USER 10001
WORKDIR /home/palimpsest
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/readyz', timeout=4)"]
ENTRYPOINT ["palimpsest"]
CMD ["serve"]
