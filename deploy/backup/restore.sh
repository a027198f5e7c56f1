#!/bin/sh
# Brings a backup into an empty database: restore.sh FILE
#
# Whom to ask is said by Postgres' own variables, as in backup.sh: who shall own the tables. Stop workers and beat
# before, and empty the broker after; producers may go on, they keep on their disks what they can't write.
set -eu

file=${1:?usage: restore.sh FILE}

psql() { command psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 "$@"; }

if [ "$(psql --command="SELECT to_regnamespace('slowwave') IS NULL")" != t ]; then
    echo "restore.sh: this database has a schema slowwave already: restore into an empty one" >&2
    exit 1
fi

# Indexes of vectors need it. Where a superuser has to make it and did not, pg_restore says what misses it.
if ! psql --command='SET client_min_messages = warning' --command='CREATE EXTENSION IF NOT EXISTS vector'; then
    echo "restore.sh: going on without the extension vector" >&2
fi
# All of it or nothing: until it is done producers find no tables, and wait.
pg_restore --single-transaction --exit-on-error --no-owner --no-privileges --dbname="${PGDATABASE:?}" "$file"
# Transactions are numbered anew in this server: changes get numbers of it, and readers of changes begin anew.
psql --single-transaction \
    --command='UPDATE slowwave.memory_changes SET xid = DEFAULT' \
    --command='UPDATE slowwave.memory_tombstones SET xid = DEFAULT' \
    --command="UPDATE slowwave.webhook_endpoints SET cursor = pg_current_xact_id()::text || '-9223372036854775807'"
psql --command=ANALYZE
