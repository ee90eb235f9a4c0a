/*
 * Memory that two threads share: one writes the records of a transaction into it, the other writes them from there to the
 * file. It is divided into areas, each of which belongs to one transaction at a time.
 */

/** Areas: one transaction is made ready while another is written. */
export const TRANSACTIONS = 2

/** Records of a transaction at most, and memory for them. */
export const MOST_RECORDS = 512
const AREA_BYTES = 1024 * 1024

/** As it is handed to the other thread. */
export interface SharedRecords {
  readonly memory: SharedArrayBuffer
  /** Of each area, how many transactions are done with it. */
  readonly done: Int32Array<SharedArrayBuffer>
}

export function createSharedRecords(): SharedRecords {
  return {
    memory: new SharedArrayBuffer(TRANSACTIONS * AREA_BYTES),
    done: new Int32Array(new SharedArrayBuffer(TRANSACTIONS * Int32Array.BYTES_PER_ELEMENT)),
  }
}

/** The memory of each transaction. */
export function areasOf({ memory }: Pick<SharedRecords, 'memory'>): readonly Buffer[] {
  return Array.from({ length: TRANSACTIONS }, (_, index) => Buffer.from(memory, index * AREA_BYTES, AREA_BYTES))
}
