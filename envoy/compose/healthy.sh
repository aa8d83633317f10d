#!/usr/bin/env bash
# healthy PORT PATH: does this container's own server answer 200? In plain bash, so that images need no client.
set -eu
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
read -r -t 2 status <&3
[[ $status == 'HTTP/1.1 200 '* ]]
