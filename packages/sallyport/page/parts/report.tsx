import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Got, session } from '../api.ts'
import { linkTo } from '../route.ts'
import { capital, clipped, word } from '../words.ts'
import { Course, nameUnit } from './course.tsx'
import { Shown, useLoad } from './load.tsx'
import { Card, type Column, Empty, Table } from './pieces.tsx'
import { REPORT_MS, REPORT_SPANS, type ReportSpan, SpanChoice } from './span.tsx'

/** A section with the console's rule on its operator. */
export type Section =
  | NonNullable<Got<'crawlers/read'>['sections']>[number]
  | NonNullable<Got<'report'>['sections']>[number]

/** Shows a report of a chosen span, section by section as `sallyport report` prints it. */
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
          if (sections === null)
            return (
              <Empty>
                There are no counts yet. Requests appear here after a few seconds, and in{' '}
                <a href={linkTo('live')}>Live</a> immediately.
              </Empty>
            )
          const show = (section: Section) => (
            <SectionCard key={section.title} section={section} actions={actions?.(section, loaded.reload)} />
          )
          return (
            <div class="grid report">
              {'course' in answer && (
                <Card title={`Requests ${nameUnit(answer.course)}, ${REPORT_SPANS[span]}`} wide>
                  <Course course={answer.course} />
                </Card>
              )}
              {sections.filter(isWide).map(show)}
              <div class="wide columns">{sections.filter((section) => !isWide(section)).map(show)}</div>
            </div>
          )
        }}
      </Shown>
    </>
  )
}

function isWide({ table }: Section): boolean {
  return table === undefined || table.rows.length === 0 || table.head.length > 5
}

/** Lists columns of names that `word` translates. The action of a rule on trial is hypothetical, so it stays as it is. */
const NAMED: readonly string[] = ['action', 'class', 'network']

function isNamed(head: string, { head: heads }: NonNullable<Section['table']>): boolean {
  return NAMED.includes(head) && !(head === 'action' && heads.includes('rule'))
}

export function SectionCard({ section, actions }: { section: Section; actions?: ComponentChildren }) {
  const { title, sentences, table } = section
  return (
    <Card title={capital(title)} wide={isWide(section)} aside={actions}>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {table && table.rows.length > 0 && (
        <Table
          label={`${title}: table`}
          rows={table.rows}
          name={(cells) => cells.join()}
          columns={table.head.map(
            (head, at): Column<readonly string[]> => [
              capital(head),
              (cells) => clipped(isNamed(head, table) ? word(cells[at] ?? '') : cells[at]),
            ],
          )}
        />
      )}
    </Card>
  )
}
