# One image for every role. Runs as nobody in particular, writes only to /data and /tmp.
FROM python:3.13-slim AS build
WORKDIR /src
RUN pip install --no-cache-dir "uv>=0.9"
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN uv venv /venv && uv pip install --python /venv/bin/python --no-cache --require-hashes -r requirements.lock
COPY db db
COPY gateway gateway
COPY adapters adapters
COPY memory memory
COPY safety safety
COPY parley parley
COPY simulators simulators
RUN uv pip install --python /venv/bin/python --no-cache --no-deps .

FROM python:3.13-slim
# git looks up the commits that claims cite (grounding.repositories).
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home /data parley && install -d -o parley -g parley /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD \
  ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8081/healthz', timeout=4)"]
ENTRYPOINT ["parley"]
CMD ["run", "--config", "/config/parley.yaml"]
