# The bot alone; its model runs beside it (compose.yaml) or elsewhere. No secret goes in at build
# time: token and keys come with the environment when the container starts.
FROM python:3.13-slim AS packages
COPY requirements-runtime.lock /
RUN python -m venv /opt/venv \
    && /opt/venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        --require-hashes --requirement /requirements-runtime.lock

FROM python:3.13-slim
# `container` is how programs are told that localhost is not the machine around them.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    VERBATIM_HOME=/app/var \
    container=docker
WORKDIR /app
# By number, so that a cluster can see that it is not root. The volume takes over these rights.
RUN useradd --uid 10001 --no-create-home --home-dir /app --shell /usr/sbin/nologin verbatim \
    && install --directory --owner=verbatim --group=verbatim --mode=0700 var
COPY --from=packages /opt/venv /opt/venv
COPY LICENSE bot.py requirements-embedded.lock ./
COPY chat chat/
COPY cli cli/
COPY cogs cogs/
COPY data data/
COPY net net/
COPY prompt prompt/
COPY providers providers/
COPY tools tools/
USER 10001
VOLUME /app/var
STOPSIGNAL SIGTERM
# Fails when the bot hangs or has been without Discord for a minute, which a running process hides.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-m", "data.heartbeat", "/app/var"]
ENTRYPOINT ["python", "bot.py"]
