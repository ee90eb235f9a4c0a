import { useState } from 'preact/hooks'
import { Failure, type Got, post, session } from '../api.ts'
import { Empty, Failed, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Badge, Card, Table } from '../parts/pieces.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { age, clipped, count } from '../words.ts'

type List = Got<'lists'>[number]

/** The lists that rules name: what they hold, and changes of those in files. */
export function Lists() {
  const { query } = place.value
  const [q, name] = [query.get('q') ?? '', query.get('name') ?? '']
  const loaded = useLoad('lists', { q }, 5_000)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const wanted = String(new FormData(event.currentTarget as HTMLFormElement).get('q') ?? '').trim()
    goTo('lists', makeQuery(name, wanted))
  }
  return (
    <>
      <form class="ask" onSubmit={submit} key={q}>
        <label>
          Address, system or text
          <input name="q" type="search" defaultValue={q} maxLength={2_048} spellcheck={false} autocomplete="off" />
        </label>
        <button type="submit">Find</button>
      </form>
      <Shown loaded={loaded}>
        {(lists) => {
          const chosen = lists.find((list) => list.name === name)
          return (
            <div class="grid">
              <Card title="Lists of the configuration" wide aside="rules call them list:NAME">
                {lists.length === 0 ? (
                  <Empty>
                    The configuration names no lists. Name one under <code>lists</code>, for example{' '}
                    <code>{'lists: { partners: { file: partners.txt } }'}</code>.
                  </Empty>
                ) : (
                  <All lists={lists} q={q} />
                )}
              </Card>
              {chosen && <One key={name} list={chosen} q={q} />}
            </div>
          )
        }}
      </Shown>
    </>
  )
}

function makeQuery(name: string, q: string): Readonly<Record<string, string>> {
  return { ...(name !== '' && { name }), ...(q !== '' && { q }) }
}

function All({ lists, q }: { lists: readonly List[]; q: string }) {
  const head = ['List', 'From', 'State', 'Entries', 'Age', ...(q === '' ? [] : ['Holds it'])]
  return (
    <Table label="Lists" head={head}>
      {lists.map(({ name, from, place: at, source, holds }) => (
        <tr key={name}>
          <td>
            <a href={linkTo('lists', makeQuery(name, q))}>{name}</a>
            {source?.error !== undefined && <div class="failure">{source.error}</div>}
            {source?.reason !== undefined && (
              <div class={source.state === 'refused' ? 'failure' : 'quiet'}>{source.reason}</div>
            )}
          </td>
          <td>
            {from} {at && <div class="code quiet">{clipped(at)}</div>}
          </td>
          <td>
            <Badge name={source?.stale ? 'stale' : (source?.state ?? 'absent')}>
              {source?.stale ? 'past its age' : (source?.state ?? 'absent')}
            </Badge>
          </td>
          <td>
            {source?.entries !== undefined && count(source.entries)}
            {source?.left !== undefined && <div class="failure">{count(source.left)} lines are left out</div>}
          </td>
          <td>{source?.ageSeconds !== undefined && age(source.ageSeconds)}</td>
          {q !== '' && <td>{holds === null ? 'not known' : holds ? <Badge name="ok">yes</Badge> : 'no'}</td>}
        </tr>
      ))}
    </Table>
  )
}

/** One list: its entries, or those that hold what is asked for, and the changes of it. */
function One({ list: { name, fixed }, q }: { list: List; q: string }) {
  const loaded = useLoad(`lists/${encodeURIComponent(name)}`, { q })
  const [said, setSaid] = useState<Failure | string | undefined>(undefined)
  const maySteer = session.value?.role === 'steer' || session.value?.role === 'admin'
  const change = async (what: 'add' | 'remove', entries: string): Promise<boolean> => {
    const done = await post(`lists/${what}`, { name, entries }).catch(toFailure)
    setSaid(done instanceof Failure ? done : describeChange(what, done.changed))
    loaded.reload()
    return !(done instanceof Failure)
  }
  const whyNot = fixed === undefined ? !maySteer && 'Sign in with the right to steer to change it.' : `It is ${fixed}`
  return (
    <Card title={`List ${name}`} wide aside={whyNot}>
      {maySteer && fixed === undefined && <Add onAdd={(entries) => change('add', entries)} />}
      <div aria-live="polite">
        {said instanceof Failure && <Failed failure={said} />}
        {typeof said === 'string' && <p>{said}</p>}
      </div>
      <Shown loaded={loaded}>
        {(shown) => (
          <Entries
            {...shown}
            q={q}
            onRemove={maySteer && fixed === undefined ? (entry) => void change('remove', entry) : undefined}
          />
        )}
      </Shown>
    </Card>
  )
}

function describeChange(what: 'add' | 'remove', changed: readonly string[]): string {
  if (changed.length === 0) return what === 'add' ? 'All were there already.' : 'No line of the file has it alone.'
  return `${what === 'add' ? 'Added' : 'Removed'}, and in force within a second: ${changed.join(', ')}.`
}

function Add({ onAdd }: { onAdd: (entries: string) => Promise<boolean> }) {
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    if (await onAdd(String(new FormData(form).get('entries') ?? ''))) form.reset()
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label>
        New entries, one a line
        <textarea name="entries" rows={3} cols={44} required maxLength={30_000} spellcheck={false} autocomplete="off" />
      </label>
      <button type="submit">Add</button>
    </form>
  )
}

interface EntriesProps extends Readonly<Got<'lists/x'>> {
  readonly q: string
  /** Absent: nobody may. */
  readonly onRemove: ((entry: string) => void) | undefined
}

function Entries({ entries, found, unread, q, onRemove }: EntriesProps) {
  return (
    <>
      {unread.length > 0 && <p class="failure">These lines are not entries: {unread.join(', ')}</p>}
      {found === 0 ? (
        <Empty>{q === '' ? 'It holds nothing.' : 'No entry holds it.'}</Empty>
      ) : (
        <Table label="Entries" head={['Entry', ...(onRemove ? ['Actions'] : [])]}>
          {entries.map((entry) => (
            <tr key={entry}>
              <td class="code">{clipped(entry)}</td>
              {onRemove && (
                <td>
                  <button type="button" class="plain" onClick={() => onRemove(entry)} aria-label={`Remove ${entry}`}>
                    Remove
                  </button>
                </td>
              )}
            </tr>
          ))}
        </Table>
      )}
      {found > entries.length && (
        <p class="quiet">
          The first {count(entries.length)} of {count(found)}; find one by what it holds.
        </p>
      )}
    </>
  )
}
