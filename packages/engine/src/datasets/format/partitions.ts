import { buildPartition4, createPartition6Writer, type Partition4, type Partition6 } from '@sallyport/core'
import type { Segments } from '../ranges/segments.ts'

type Prefixed<Table extends string, Partition> = {
  readonly [Name in keyof Partition & string as `${Table}.${Name}`]: Partition[Name]
}

/** Returns the IPv4 partition of one table, as views of its columns. */
export function partitionOf4<Table extends string>(columns: Prefixed<Table, Partition4>, table: Table): Partition4 {
  return pickColumns(columns, table, ['lows', 'direct'])
}

/** Returns the IPv6 partition of one table, as views of its columns. */
export function partitionOf6<Table extends string>(columns: Prefixed<Table, Partition6>, table: Table): Partition6 {
  const names = ['uppers', 'groups', 'lowers', 'direct', 'split', 'cells', 'pieces', 'fineHigh', 'fineLow'] as const
  return pickColumns(columns, table, names)
}

/** Names the columns of a partition after a table. */
export function prefixed<Table extends string, Partition extends Partition4 | Partition6>(
  table: Table,
  partition: Partition,
): Prefixed<Table, Partition> {
  const rows = Object.entries(partition).map(([name, column]) => [`${table}.${name}`, column] as const)
  return Object.fromEntries(rows) as unknown as Prefixed<Table, Partition>
}

function pickColumns<Partition>(
  columns: object,
  table: string,
  names: readonly (keyof Partition & string)[],
): Partition {
  const all = columns as Readonly<Record<string, unknown>>
  return Object.fromEntries(names.map((name) => [name, all[`${table}.${name}`]])) as Partition
}

/** Builds a partition of IPv4 segments, with the value of each segment. */
export function partition4({ starts, values }: Segments): { partition: Partition4; values: Uint32Array } {
  return { partition: buildPartition4(starts), values }
}

/** Builds a partition of IPv6 segments, with the value of each segment and piece. */
export function partition6({ count, starts, values }: Segments): { partition: Partition6; values: Uint32Array } {
  const writer = createPartition6Writer(count)
  for (let segment = 0, at = 0; segment < count; segment++, at += 4) {
    writer.push(
      starts[at] as number,
      starts[at + 1] as number,
      starts[at + 2] as number,
      starts[at + 3] as number,
      values[segment] as number,
    )
  }
  return writer.finish()
}

/** Called for every segment in address order: the four words of its first address, and its number. */
export type SegmentVisitor = (a: number, b: number, c: number, d: number, number: number) => void

/** Calls `visit` for each segment of an IPv4 partition. */
export function visitSegments4({ lows, direct }: Partition4, visit: SegmentVisitor): void {
  for (let chunk = 0; chunk + 1 < direct.length; chunk++) {
    const end = direct[chunk + 1] as number
    for (let segment = direct[chunk] as number; segment < end; segment++) {
      visit(0, 0, 0, ((chunk << 14) | (lows[segment] as number)) >>> 0, segment)
    }
  }
}

/** Calls `visit` for each segment and piece of an IPv6 partition. The pieces of a cell replace it. */
export function visitSegments6(partition: Partition6, visit: SegmentVisitor): void {
  const { uppers, groups, lowers, cells, pieces, fineHigh, fineLow } = partition
  let cell = 0
  for (let group = 0; group < uppers.length; group++) {
    const a = uppers[group] as number
    const groupEnd = groups[group + 1] as number
    for (let segment = groups[group] as number; segment < groupEnd; segment++) {
      const b = lowers[segment] as number
      if (cells[cell] !== segment) {
        visit(a, b, 0, 0, segment)
        continue
      }
      const end = pieces[cell + 1] as number
      for (let piece = pieces[cell] as number; piece < end; piece++) {
        visit(a, b, fineHigh[piece] as number, fineLow[piece] as number, lowers.length + piece)
      }
      cell++
    }
  }
}
