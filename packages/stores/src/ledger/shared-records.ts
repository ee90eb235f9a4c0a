/*
 * Memory that two threads share: one writes the records of a transaction into it, the other writes them from there to the
 * file. It is divided into areas, each of which belongs to one transaction at a time.
 */

/** Areas: one transaction is made ready while another is written. */
export const TRANSACTIONS = 2

/** Records of a transaction at most, and memory for them. */
export const MOST_RECORDS = 512
const RECORD_BYTES = 1024 * 1024
export const SALT_BYTES = 32
const SALTS_BYTES = MOST_RECORDS * SALT_BYTES
const AREA_BYTES = SALTS_BYTES + RECORD_BYTES

/** As it is handed to the other thread. */
export interface SharedRecords {
  readonly memory: SharedArrayBuffer
  /** Of each area, how many transactions are done with it. */
  readonly done: Int32Array<SharedArrayBuffer>
}

/** The memory of one transaction. */
export interface Area {
  /** Of each record's subject. */
  readonly salts: readonly Uint8Array[]
  readonly records: Buffer
}

export function createSharedRecords(): SharedRecords {
  return {
    memory: new SharedArrayBuffer(TRANSACTIONS * AREA_BYTES),
    done: new Int32Array(new SharedArrayBuffer(TRANSACTIONS * Int32Array.BYTES_PER_ELEMENT)),
  }
}

export function areasOf({ memory }: Pick<SharedRecords, 'memory'>): readonly Area[] {
  return Array.from({ length: TRANSACTIONS }, (_, index) => {
    const start = index * AREA_BYTES
    return {
      salts: Array.from(
        { length: MOST_RECORDS },
        (_, record) => new Uint8Array(memory, start + record * SALT_BYTES, SALT_BYTES),
      ),
      records: Buffer.from(memory, start + SALTS_BYTES, RECORD_BYTES),
    }
  })
}
