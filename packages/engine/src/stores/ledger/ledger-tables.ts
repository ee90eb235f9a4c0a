/** SQLite writes the tables of a ledger in these words. */
const SQLITE = {
  /** Begins the names of the tables, except the one named `ledger`. */
  prefix: '',
  integer: 'INTEGER',
  /** The integer has 32 bits. */
  small: 'INTEGER',
  bytes: 'BLOB',
  /** The integer is assigned by the database. */
  assigned: 'INTEGER',
  end: ' STRICT',
  /** Ends a table that is stored by its primary key. */
  keyedEnd: ' STRICT, WITHOUT ROWID',
}

const POSTGRES: typeof SQLITE = {
  prefix: 'ledger_',
  integer: 'bigint',
  small: 'int',
  bytes: 'bytea',
  assigned: 'bigint GENERATED ALWAYS AS IDENTITY',
  end: '',
  keyedEnd: '',
}

/** Lists the steps that make the tables of a ledger, by version; a released step never changes. */
function listSteps({ prefix, integer, small, bytes, assigned, end, keyedEnd }: typeof SQLITE): readonly string[] {
  return [
    `CREATE TABLE ledger (
       id ${small} PRIMARY KEY CHECK (id = 1),
       origin text NOT NULL,
       next_id ${integer} NOT NULL
     )${end};
     CREATE TABLE ${prefix}log (
       id ${assigned} PRIMARY KEY,
       name text NOT NULL UNIQUE,
       size ${integer} NOT NULL,
       link text NOT NULL,
       issued_at ${integer} NOT NULL,
       peaks ${bytes} NOT NULL,
       covered ${integer} NOT NULL
     )${end};
     CREATE INDEX ${prefix}log_uncovered ON ${prefix}log (id) WHERE size > covered;
     CREATE TABLE ${prefix}record (
       attestation_id ${integer} PRIMARY KEY,
       log ${integer} NOT NULL,
       seq ${integer} NOT NULL,
       bytes ${bytes} NOT NULL,
       UNIQUE (log, seq)
     )${end};
     CREATE TABLE ${prefix}node (
       log ${integer} NOT NULL,
       level ${small} NOT NULL,
       place ${integer} NOT NULL,
       hash ${bytes} NOT NULL,
       PRIMARY KEY (log, level, place)
     )${keyedEnd};
     CREATE TABLE ${prefix}subject (
       attestation_id ${integer} PRIMARY KEY,
       issued_at ${integer} NOT NULL,
       address text NOT NULL,
       salt ${bytes} NOT NULL,
       context text
     )${end};
     CREATE TABLE ${prefix}checkpoint (
       log ${integer} NOT NULL,
       size ${integer} NOT NULL,
       note text NOT NULL,
       PRIMARY KEY (log, size)
     )${keyedEnd};
     CREATE TABLE ${prefix}document (
       sha256 text PRIMARY KEY,
       text text NOT NULL
     )${keyedEnd};`,
  ]
}

export const SQLITE_STEPS = listSteps(SQLITE)
export const POSTGRES_STEPS = listSteps(POSTGRES)
