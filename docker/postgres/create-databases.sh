#!/bin/bash
# Runs once, on an empty data folder: one role for Temporal, one for Assay, each owning its own databases.
set -eu
# The variables reach psql as variables, quoted by it: no password is part of a command line.
psql --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\getenv temporal_password TEMPORAL_DB_PASSWORD
\getenv assay_password ASSAY_DB_PASSWORD
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
CREATE ROLE assay LOGIN PASSWORD :'assay_password';
CREATE DATABASE assay OWNER assay;
SQL
