/** Lists the steps that make the tables of a ledger file, by version; a released step never changes. */
export const LEDGER_STEPS: readonly string[] = [
  `CREATE TABLE ledger (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     origin TEXT NOT NULL,
     next_id INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE log (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     size INTEGER NOT NULL,
     link TEXT NOT NULL,
     issued_at INTEGER NOT NULL,
     peaks BLOB NOT NULL,
     covered INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX log_uncovered ON log (id) WHERE size > covered;
   CREATE TABLE record (
     attestation_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     UNIQUE (log, seq)
   ) STRICT;
   CREATE TABLE node (
     log INTEGER NOT NULL,
     level INTEGER NOT NULL,
     place INTEGER NOT NULL,
     hash BLOB NOT NULL,
     PRIMARY KEY (log, level, place)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE subject (
     attestation_id INTEGER PRIMARY KEY,
     issued_at INTEGER NOT NULL,
     address TEXT NOT NULL,
     salt BLOB NOT NULL,
     context TEXT
   ) STRICT;
   CREATE TABLE checkpoint (
     log INTEGER NOT NULL,
     size INTEGER NOT NULL,
     note TEXT NOT NULL,
     PRIMARY KEY (log, size)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE document (
     sha256 TEXT PRIMARY KEY,
     text TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
]
