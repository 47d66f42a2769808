#!/bin/sh
# Creates or upgrades Temporal's tables. SQL_HOST, SQL_USER, SQL_PASSWORD, … are read by the tool itself.
set -eu
for database in temporal temporal_visibility; do
  case "$database" in
    temporal) schema=temporal ;;
    *) schema=visibility ;;
  esac
  # Both are safe to repeat: an existing schema is kept, and upgraded by the second.
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-name "postgresql/v12/$schema"
done
