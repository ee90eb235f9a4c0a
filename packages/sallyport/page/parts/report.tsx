import { useState } from 'preact/hooks'
import type { Got } from '../api.ts'
import { linkTo } from '../route.ts'
import { clipped } from '../words.ts'
import { Shown, useLoad } from './load.tsx'
import { Card, type Column, Empty, Table } from './pieces.tsx'
import { REPORT_MS, REPORT_SPANS, type ReportSpan, SpanChoice } from './span.tsx'

type Section = NonNullable<Got<'report'>['sections']>[number]

/** A report of a chosen span, section by section as `sallyport report` prints it. */
export function Report({ path }: { path: 'report' | 'crawlers/read' }) {
  const [span, setSpan] = useState<ReportSpan>('7d')
  const loaded = useLoad(path, { span }, REPORT_MS)
  return (
    <>
      <SpanChoice spans={REPORT_SPANS} span={span} onSpan={setSpan} />
      <Shown loaded={loaded}>
        {({ sections }) =>
          sections === null ? (
            <Empty>
              Nothing was counted yet: the first requests are here some seconds after they came, and in{' '}
              <a href={linkTo('live')}>Live</a> at once.
            </Empty>
          ) : (
            <div class="grid tables">
              {sections.map((section) => (
                <SectionCard key={section.title} section={section} />
              ))}
            </div>
          )
        }
      </Shown>
    </>
  )
}

function SectionCard({ section: { title, sentences, table } }: { section: Section }) {
  return (
    <Card title={title} wide={table === undefined || table.head.length > 5}>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {table && (
        <Table
          label={`${title}: table`}
          rows={table.rows}
          name={(cells) => cells.join()}
          columns={table.head.map((head, at): Column<readonly string[]> => [head, (cells) => clipped(cells[at])])}
        />
      )}
    </Card>
  )
}
