/** Lists the steps that make the tables of the ledger, by version; a released step never changes. */
export const POSTGRES_LEDGER_STEPS: readonly string[] = [
  `CREATE TABLE ledger (
     id int PRIMARY KEY CHECK (id = 1),
     origin text NOT NULL,
     next_id bigint NOT NULL
   );
   CREATE TABLE ledger_log (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name text NOT NULL UNIQUE,
     size bigint NOT NULL,
     link text NOT NULL,
     issued_at bigint NOT NULL,
     peaks bytea NOT NULL,
     covered bigint NOT NULL
   );
   CREATE INDEX ledger_log_uncovered ON ledger_log (id) WHERE size > covered;
   CREATE TABLE ledger_record (
     attestation_id bigint PRIMARY KEY,
     log bigint NOT NULL,
     seq bigint NOT NULL,
     bytes bytea NOT NULL,
     UNIQUE (log, seq)
   );
   CREATE TABLE ledger_node (
     log bigint NOT NULL,
     level int NOT NULL,
     place bigint NOT NULL,
     hash bytea NOT NULL,
     PRIMARY KEY (log, level, place)
   );
   CREATE TABLE ledger_subject (
     attestation_id bigint PRIMARY KEY,
     issued_at bigint NOT NULL,
     address text NOT NULL,
     salt bytea NOT NULL,
     context text
   );
   CREATE TABLE ledger_checkpoint (
     log bigint NOT NULL,
     size bigint NOT NULL,
     note text NOT NULL,
     PRIMARY KEY (log, size)
   );
   CREATE TABLE ledger_document (
     sha256 text PRIMARY KEY,
     text text NOT NULL
   )`,
]
