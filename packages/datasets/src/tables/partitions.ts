import { buildPartition6, directIndex4, type Partition4, type Partition6 } from '@sallyport/core'
import { createSegmentWriter, type Segments } from '../compile/segments.ts'
import type { Columns } from './format.ts'

/** The partitions of both families of one table, as views on its columns. */
export function partitionsOf(columns: Columns, table: 'networks' | 'countries'): { four: Partition4; six: Partition6 } {
  return {
    four: { starts: columns[`${table}4.starts`], direct: columns[`${table}4.direct`] },
    six: {
      high: columns[`${table}6.high`],
      low: columns[`${table}6.low`],
      direct: columns[`${table}6.direct`],
      split: columns[`${table}6.split`],
      cells: columns[`${table}6.cells`],
      pieces: columns[`${table}6.pieces`],
      fineHigh: columns[`${table}6.fineHigh`],
      fineLow: columns[`${table}6.fineLow`],
    },
  }
}

/** IPv4 segments as a partition and the value of each of its segments. */
export function partition4(segments: Segments): { partition: Partition4; values: Uint32Array } {
  const starts = Uint32Array.from({ length: segments.count }, (_, index) => segments.starts[index * 4 + 3] as number)
  return { partition: { starts, direct: directIndex4(starts) }, values: segments.values }
}

/** IPv6 segments as a partition and the value of each of its segments and pieces. */
export function partition6(segments: Segments): { partition: Partition6; values: Uint32Array } {
  const { partition, origin } = buildPartition6(segments.starts)
  return { partition, values: origin.map((index) => segments.values[index] as number) }
}

/** An IPv4 partition as segments again, with `valueAt` of each segment's number; equal neighbours become one. */
export function segmentsOf4({ starts }: Partition4, valueAt: (number: number) => number): Segments {
  const writer = createSegmentWriter(starts.length)
  for (let segment = 0; segment < starts.length; segment++) {
    writer.push(0, 0, 0, starts[segment] as number, valueAt(segment))
  }
  return writer.finish()
}

/** The like for IPv6, in address order: a cell is left out for its pieces. */
export function segmentsOf6(partition: Partition6, valueAt: (number: number) => number): Segments {
  const { high, low, cells, pieces, fineHigh, fineLow } = partition
  const writer = createSegmentWriter(high.length + fineHigh.length)
  let cell = 0
  for (let segment = 0; segment < high.length; segment++) {
    const a = high[segment] as number
    const b = low[segment] as number
    if (cells[cell] !== segment) {
      writer.push(a, b, 0, 0, valueAt(segment))
      continue
    }
    const end = pieces[cell + 1] as number
    for (let piece = pieces[cell] as number; piece < end; piece++) {
      writer.push(a, b, fineHigh[piece] as number, fineLow[piece] as number, valueAt(high.length + piece))
    }
    cell++
  }
  return writer.finish()
}
