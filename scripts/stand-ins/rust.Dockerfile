FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates rustc-web cargo-web rust-web-src lld \
 && rm -rf /var/lib/apt/lists/*
# Whom this machine trusts.
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
