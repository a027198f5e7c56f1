#!/bin/sh
# Writes a backup of Slowwave's database into a folder, while everything goes on: backup.sh FOLDER [KEEP]
#
# Whom to ask is said by Postgres' own variables (PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD or ~/.pgpass): the
# owner of the tables. What stands under its final name is whole and was read back; KEEP (14) of them are kept.
set -eu

folder=${1:?usage: backup.sh FOLDER [KEEP]}
keep=${2:-14}

umask 077
mkdir -p "$folder"
name=slowwave-$(date -u +%Y%m%dT%H%M%SZ).dump
draft=$folder/.$name.part
trap 'rm -f "$draft"' EXIT

# Both schemas that are ours (mem0's rows have one of their own). Who may do what is given anew by `slowwave admin roles apply`.
pg_dump --format=custom --schema='slowwave*' --no-owner --no-privileges --file="$draft"
pg_restore --list "$draft" >/dev/null
sync
mv "$draft" "$folder/$name"

# By name, which is by time; the newest ones stay.
find "$folder" -maxdepth 1 -name 'slowwave-*.dump' | sort -r | tail -n "+$((keep + 1))" | while read -r old; do
    rm -f "$old"
done
echo "$folder/$name"
