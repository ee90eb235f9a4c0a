/** Every version of the tables; a step that has been released is never changed, a new one is added. */
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
  // Records in blocks, from the last of which the next id is known; a mark for what no checkpoint covers.
  `CREATE TABLE block (
     first_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     lengths TEXT NOT NULL,
     bytes BLOB NOT NULL,
     UNIQUE (log, first_seq)
   ) STRICT;
   INSERT INTO block SELECT attestation_id, log, seq, length(bytes), bytes FROM record ORDER BY attestation_id;
   DROP TABLE record;
   ALTER TABLE ledger DROP COLUMN next_id;
   DROP INDEX log_uncovered;
   ALTER TABLE log ADD COLUMN uncovered INTEGER NOT NULL DEFAULT 0;
   UPDATE log SET uncovered = size > covered;
   CREATE INDEX log_uncovered ON log (id) WHERE uncovered;`,
  // Subjects in blocks too, beside those of their records, of which there were 16 at most; heads and places follow behind.
  `CREATE TABLE block_subjects (
     first_id INTEGER PRIMARY KEY,
     oldest INTEGER NOT NULL,
     lines TEXT NOT NULL
   ) STRICT;
   WITH RECURSIVE place (at) AS (VALUES (0) UNION ALL SELECT at + 1 FROM place WHERE at < 15)
   INSERT INTO block_subjects SELECT first_id, min(issued_at), group_concat(
       concat_ws(' ', issued_at, lower(hex(salt)), address, context) || char(10), '' ORDER BY at)
     FROM block CROSS JOIN place ON at <= length(lengths) - length(replace(lengths, ',', ''))
     LEFT JOIN subject ON attestation_id = first_id + at
     GROUP BY first_id HAVING count(issued_at) > 0;
   DROP TABLE subject;
   CREATE TABLE bare_block (
     first_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     lengths TEXT NOT NULL,
     link TEXT NOT NULL,
     bytes BLOB NOT NULL
   ) STRICT;
   INSERT INTO bare_block SELECT first_id, log, first_seq, lengths, '', bytes FROM block ORDER BY first_id;
   DROP TABLE block;
   ALTER TABLE bare_block RENAME TO block;
   CREATE TABLE block_place (
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     first_id INTEGER NOT NULL,
     PRIMARY KEY (log, first_seq)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO block_place SELECT log, first_seq, first_id FROM block ORDER BY log, first_seq;
   CREATE VIEW placed_block AS
     SELECT p.log, p.first_seq, p.first_id, lengths, bytes FROM block_place p CROSS JOIN block b
     ON b.first_id = p.first_id AND b.log = p.log AND b.first_seq = p.first_seq;
   ALTER TABLE ledger ADD COLUMN caught_up INTEGER NOT NULL DEFAULT 1;
   UPDATE ledger SET caught_up = first_id + length(lengths) - length(replace(lengths, ',', '')) + 1
     FROM (SELECT first_id, lengths FROM block ORDER BY first_id DESC LIMIT 1);`,
]
