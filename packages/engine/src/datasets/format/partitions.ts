import {
  type Address,
  buildPartition4,
  createPartition6Writer,
  findSegment4,
  findSegment6,
  type Partition4,
  type Partition6,
} from '@sallyport/core'
import type { ColumnType } from '../columns/column-view.ts'
import type { Segments } from '../ranges/segments.ts'

type Prefixed<Table extends string, Columns> = {
  readonly [Name in keyof Columns & string as `${Table}.${Name}`]: Columns[Name]
}

export const COLUMNS_4 = { lows: 'u16', direct: 'u32' } as const satisfies Record<keyof Partition4, ColumnType>

export const COLUMNS_6 = {
  uppers: 'u32',
  groups: 'u32',
  lowers: 'u32',
  direct: 'u32',
  split: 'u32',
  cells: 'u32',
  pieces: 'u32',
  fineHigh: 'u32',
  fineLow: 'u32',
} as const satisfies Record<keyof Partition6, ColumnType>

/** Has the partitions of both families, as views of columns. */
export interface Partitions {
  readonly 4: Partition4
  readonly 6: Partition6
}

/** Returns the partitions of two tables, one of each family. */
export function pickPartitions<Four extends string, Six extends string>(
  columns: Prefixed<Four, Partition4> & Prefixed<Six, Partition6>,
  four: Four,
  six: Six,
): Partitions {
  return { 4: pickColumns(columns, four, COLUMNS_4), 6: pickColumns(columns, six, COLUMNS_6) }
}

function pickColumns<Names extends object>(all: object, table: string, names: Names) {
  const columns = all as Readonly<Record<string, unknown>>
  const picked = Object.keys(names).map((name) => [name, columns[`${table}.${name}`]])
  return Object.fromEntries(picked)
}

/** Returns the number of the segment that holds an address. */
export function findSegment({ 4: four, 6: six }: Partitions, { family, a, b, c, d }: Address): number {
  return family === 4 ? findSegment4(four, d) : findSegment6(six, a, b, c, d)
}

export function prefixed<Table extends string, Columns extends object>(
  table: Table,
  columns: Columns,
): Prefixed<Table, Columns> {
  const rows = Object.entries(columns).map(([name, column]) => [`${table}.${name}`, column] as const)
  return Object.fromEntries(rows) as unknown as Prefixed<Table, Columns>
}

interface Partitioned<Partition> {
  readonly partition: Partition
  /** Has a value for each segment and piece. */
  readonly values: Uint32Array
}

/** Names the columns of a partition after a table, and the column of its values. */
export function valueColumns<Table extends string, Name extends string, Partition extends object>(
  table: Table,
  name: Name,
  { partition, values }: Partitioned<Partition>,
) {
  return {
    ...prefixed(table, partition),
    ...prefixed(table, { [name]: values } as Readonly<Record<Name, Uint32Array>>),
  }
}

export function partition4({ starts, values }: Segments): Partitioned<Partition4> {
  return { partition: buildPartition4(starts), values }
}

export function partition6({ count, starts, values }: Segments): Partitioned<Partition6> {
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

/** Called for every segment in address order: the four words of its first address, and its number or value. */
export type SegmentVisitor = (a: number, b: number, c: number, d: number, number: number) => void

/** Calls `visit` for each segment and piece of a family. */
export function visitSegments({ 4: four, 6: six }: Partitions, family: 4 | 6, visit: SegmentVisitor): void {
  if (family === 4) visitSegments4(four, visit)
  else visitSegments6(six, visit)
}

function visitSegments4({ lows, direct }: Partition4, visit: SegmentVisitor): void {
  for (let chunk = 0; chunk + 1 < direct.length; chunk++) {
    const end = direct[chunk + 1] as number
    for (let segment = direct[chunk] as number; segment < end; segment++) {
      visit(0, 0, 0, ((chunk << 14) | (lows[segment] as number)) >>> 0, segment)
    }
  }
}

/** The pieces of a cell replace it. */
function visitSegments6(partition: Partition6, visit: SegmentVisitor): void {
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
