#!/usr/bin/env bash
# What docker-compose.yml needs of the official image's entry point: make the database once, then serve it.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Over TCP only with the password; from inside the container as one likes.
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") \
    --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=trust
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait --options="-c listen_addresses=''" start
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata="$PGDATA" --wait --mode=fast stop
fi
exec "$@" -c listen_addresses='*'
