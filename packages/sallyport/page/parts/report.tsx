import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Got, session } from '../api.ts'
import { linkTo } from '../route.ts'
import { clipped } from '../words.ts'
import { Course, nameUnit } from './course.tsx'
import { Shown, useLoad } from './load.tsx'
import { Card, type Column, Empty, Table } from './pieces.tsx'
import { REPORT_MS, REPORT_SPANS, type ReportSpan, SpanChoice } from './span.tsx'

/** A section comes with the rule of the console on its operator. */
export type Section =
  | NonNullable<Got<'crawlers/read'>['sections']>[number]
  | NonNullable<Got<'report'>['sections']>[number]

/** A report of a chosen span, section by section as `sallyport report` prints it. */
export function Report({
  path,
  actions,
}: {
  path: 'report' | 'crawlers/read'
  actions?: ((section: Section, reload: () => void) => ComponentChildren) | undefined
}) {
  const [span, setSpan] = useState<ReportSpan>('7d')
  const loaded = useLoad(path, { span }, REPORT_MS)
  return (
    <>
      <p class="printed">{`${session.value?.site ?? ''}, ${REPORT_SPANS[span]} until ${new Date().toUTCString()}`}</p>
      <SpanChoice spans={REPORT_SPANS} span={span} onSpan={setSpan} />
      <Shown loaded={loaded}>
        {(answer) => {
          const { sections } = answer
          return sections === null ? (
            <Empty>
              Nothing was counted yet: the first requests are here some seconds after they came, and in{' '}
              <a href={linkTo('live')}>Live</a> at once.
            </Empty>
          ) : (
            <div class="columns">
              {'course' in answer && (
                <Card title={`Requests ${nameUnit(answer.course)}, ${REPORT_SPANS[span]}`} wide>
                  <Course course={answer.course} />
                </Card>
              )}
              {sections.map((section) => (
                <SectionCard key={section.title} section={section} actions={actions?.(section, loaded.reload)} />
              ))}
            </div>
          )
        }}
      </Shown>
    </>
  )
}

function SectionCard({
  section: { title, sentences, table },
  actions,
}: {
  section: Section
  actions: ComponentChildren
}) {
  return (
    <Card title={title} wide={table === undefined || table.rows.length === 0 || table.head.length > 5} aside={actions}>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {table && table.rows.length > 0 && (
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
