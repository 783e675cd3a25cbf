# One image for every role. It runs without root, and writes only to /data and /tmp.
#   docker build -t parley-gateway:standard .                      the program, with `openai` and `documents`
#   docker build -t parley-gateway:models --target models .        the same, with recall models (ONNX)
#   docker build -t parley-gateway:voice --target voice .          the same, with voice messages on this machine
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /src
# Compiled here, because a container on a read-only root would compile at every start.
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1
COPY requirements/build.lock requirements/openai.lock requirements/
RUN pip install --require-hashes -r requirements/build.lock \
 && uv venv /venv \
 && uv pip install --python /venv/bin/python --require-hashes -r requirements/openai.lock
COPY pyproject.toml README.md LICENSE ./
COPY db db
COPY safety safety
COPY gateway gateway
COPY memory memory
COPY adapters adapters
COPY simulators simulators
COPY parley parley
COPY config/parley.example.yaml config/
COPY docs docs
# Built by the pinned hatchling, without a download of build tools.
RUN python -m hatchling build -t wheel -d /wheels \
 && uv pip install --python /venv/bin/python --no-deps --no-index /wheels/*.whl

FROM build AS build-models
COPY requirements/models.lock requirements/
RUN uv pip install --python /venv/bin/python --require-hashes -r requirements/models.lock

FROM build AS build-voice
COPY requirements/voice.lock requirements/
RUN uv pip install --python /venv/bin/python --require-hashes -r requirements/voice.lock

FROM python:${PYTHON}-slim AS base
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="parley" \
      org.opencontainers.image.description="One assistant on Discord, Slack, Telegram and WhatsApp, from one self-hosted program." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13-slim"
# git finds the commits that claims cite (grounding.repositories). The image of Python comes without
# compiled modules, and a read-only root would compile them at every start.
RUN python -m compileall -q "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
 && apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 parley \
 && useradd --system --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin parley \
 && install -d -o parley -g parley -m 0750 /data
# Both listeners are open inside the container; the local one then requires the token of the key
# folder, which the first start creates.
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PARLEY_CONFIG=/config/parley.yaml \
    PARLEY_SERVER__HOST=0.0.0.0 \
    PARLEY_SERVER__KEY_FOLDER=/data/keys \
    PARLEY_WEBHOOKS__HOST=0.0.0.0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080 8081
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD \
  ["python", "-c", "import http.client as h, sys; c = h.HTTPConnection('127.0.0.1', 8081, timeout=4); c.request('GET', '/healthz'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["parley"]
CMD ["run"]

FROM base AS models
COPY --from=build-models /venv /venv

FROM base AS voice
COPY --from=build-voice /venv /venv

FROM base AS standard
COPY --from=build /venv /venv
