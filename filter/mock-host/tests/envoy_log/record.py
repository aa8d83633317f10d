#!/usr/bin/env python3
"""Records what the probe module sees in a real Envoy: `record.py ENVOY PROBE_WASM`.

Writes main_thread.txt and worker.txt beside this file, which the mock host's test `envoy` compares itself
with. From the root of the repository:

    cd filter/mock-host/tests
    cargo run -p rudolph-mock-host --example assemble -- mock_host/preamble.wat envoy_log/probe.wat /tmp/probe.wasm
    envoy_log/record.py "$(command -v envoy)" /tmp/probe.wasm
"""

import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
TYPE = "type.googleapis.com/"
REQUEST = (
    b"GET / HTTP/1.1\r\nhost: x\r\nX-Key: one\r\nx-key: twotwo\r\nx-out: s\r\nx-out: t\r\n"
    b"connection: close\r\n\r\n"
)


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers the requests and the module's HTTP calls."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"body")

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def address(port):
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}


def text(value):
    return {"@type": TYPE + "google.protobuf.StringValue", "value": value}


def listener(port, module, plugin_configuration):
    vm = {
        "vm_id": "probe",
        "runtime": "envoy.wasm.runtime.v8",
        "configuration": text("vm"),
        "code": {"local": {"filename": str(module)}},
    }
    wasm = {
        "@type": TYPE + "envoy.extensions.filters.http.wasm.v3.Wasm",
        "config": {"name": "probe", "vm_config": vm, "configuration": text(plugin_configuration)},
    }
    router = {"@type": TYPE + "envoy.extensions.filters.http.router.v3.Router"}
    route = {"match": {"prefix": "/"}, "route": {"cluster": "admin"}}
    manager = {
        "@type": TYPE
        + "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "probe",
        "http_filters": [
            {"name": "wasm", "typed_config": wasm},
            {"name": "router", "typed_config": router},
        ],
        "route_config": {
            "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]
        },
    }
    return {
        "@type": TYPE + "envoy.config.listener.v3.Listener",
        "name": "probe",
        "address": address(port),
        "filter_chains": [{"filters": [{"name": "manager", "typed_config": manager}]}],
    }


def bootstrap(folder, upstream_port):
    endpoint = {"endpoint": {"address": address(upstream_port)}}
    cluster = {
        "name": "admin",
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": "admin", "endpoints": [{"lb_endpoints": [endpoint]}]},
    }
    source = {"path": f"{folder}/listeners.json", "watched_directory": {"path": str(folder)}}
    return {
        "node": {"id": "probe", "cluster": "probe"},
        "dynamic_resources": {"lds_config": {"path_config_source": source}},
        "static_resources": {"clusters": [cluster]},
    }


def publish(folder, resource, version):
    """Moves the file into place: Envoy watches the folder for that."""
    new = folder / "new.json"
    new.write_text(json.dumps({"version_info": version, "resources": [resource]}))
    os.rename(new, folder / "listeners.json")


def request(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(REQUEST)
        answer = b"".join(iter(lambda: client.recv(4096), b""))
    if not answer.startswith(b"HTTP/1.1 200"):
        sys.exit(f"the request failed: {answer[:100]!r}")


def run(envoy, module, folder):
    """Start, two ticks, a request, a new configuration, a request, shutdown: the log of all that."""
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    port = free_port()
    publish(folder, listener(port, module, "p1"), "1")
    (folder / "envoy.json").write_text(json.dumps(bootstrap(folder, upstream.server_address[1])))
    command = [envoy, "-c", f"{folder}/envoy.json", "--concurrency", "1", "--drain-time-s", "1"]
    command += ["--use-dynamic-base-id", "-l", "warning", "--log-format", "%t %v"]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            time.sleep(2.5)
            request(port)
            time.sleep(0.5)
            publish(folder, listener(port, module, "p2x"), "2")
            time.sleep(4)
            request(port)
            time.sleep(0.5)
        finally:
            process.terminate()
            process.wait(20)
    return (folder / "log").read_text()


def lines_by_thread(log):
    threads = {}
    for thread, line in re.findall(r"^(\d+) wasm log[^:]*: (.*)$", log, re.MULTILINE):
        threads.setdefault(thread, []).append(line)
    return list(threads.values())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    envoy, module = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        main_thread, worker = lines_by_thread(run(envoy, module, pathlib.Path(folder)))
    for name, lines in (("main_thread", main_thread), ("worker", worker)):
        (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
