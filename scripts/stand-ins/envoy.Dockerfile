FROM debian:bookworm-slim
RUN groupadd --gid 101 envoy && useradd --uid 101 --gid 101 --no-create-home --shell /usr/sbin/nologin envoy
COPY envoy /usr/local/bin/envoy
ENTRYPOINT ["envoy"]
