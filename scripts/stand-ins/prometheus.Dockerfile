FROM debian:bookworm-slim
COPY prometheus promtool /bin/
RUN install -d -o nobody -g nogroup /prometheus /etc/prometheus
USER nobody
VOLUME /prometheus
ENTRYPOINT ["/bin/prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
