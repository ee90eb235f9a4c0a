import { useState } from 'preact/hooks'
import { Failure, type Got, maySteer, post } from '../api.ts'
import { Outcome, readForm, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Badge, Card, Table } from '../parts/pieces.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { age, clipped, count } from '../words.ts'

type List = Got<'lists'>[number]

/** Shows the lists that rules name, with their entries, and changes lists in files. */
export function Lists() {
  const { query } = place.value
  const [q, name] = [query.get('q') ?? '', query.get('name') ?? '']
  const loaded = useLoad('lists', { q }, 5_000)
  const submit = (event: SubmitEvent): void => goTo('lists', makeQuery(name, readForm(event)['q'] ?? ''))
  return (
    <>
      <form class="ask" onSubmit={submit} key={q}>
        <label>
          Address, AS number or text
          <input name="q" type="search" defaultValue={q} maxLength={2_048} spellcheck={false} autocomplete="off" />
        </label>
        <button type="submit">Find</button>
      </form>
      <Shown loaded={loaded}>
        {(lists) => {
          const chosen = lists.find((list) => list.name === name)
          return (
            <div class="grid">
              <Card title="Configured lists" wide aside="used in rules as list:NAME">
                <All lists={lists} q={q} />
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
  return (
    <Table
      label="Lists"
      rows={lists}
      name={({ name }) => name}
      empty={
        <>
          There are no lists. Add one to <code>lists</code>, for example{' '}
          <code>{'lists: { partners: { file: partners.txt } }'}</code>.
        </>
      }
      columns={[
        ['List', (list) => <Named list={list} q={q} />],
        [
          'From',
          ({ from, place: at }) => (
            <>
              {from} {at && <div class="code quiet">{clipped(at)}</div>}
            </>
          ),
        ],
        ['State', ({ source }) => <State source={source} />],
        [
          'Entries',
          ({ source }) => (
            <>
              {source?.entries !== undefined && count(source.entries)}
              {source?.left !== undefined && <div class="failure">{count(source.left)} invalid lines skipped</div>}
            </>
          ),
        ],
        ['Age', ({ source }) => source?.ageSeconds !== undefined && age(source.ageSeconds)],
        q !== '' && [
          'Contains it',
          ({ holds }) => (holds === null ? 'unknown' : holds ? <Badge name="ok">yes</Badge> : 'no'),
        ],
      ]}
    />
  )
}

function Named({ list: { name, source }, q }: { list: List; q: string }) {
  return (
    <>
      <a href={linkTo('lists', makeQuery(name, q))}>{name}</a>
      {source?.error !== undefined && <div class="failure">{source.error}</div>}
      {source?.reason !== undefined && (
        <div class={source.state === 'refused' ? 'failure' : 'quiet'}>{source.reason}</div>
      )}
    </>
  )
}

function State({ source }: Pick<List, 'source'>) {
  if (source?.stale) return <Badge name="stale">stale</Badge>
  const state = source?.state ?? 'absent'
  return <Badge name={state}>{state}</Badge>
}

/** Shows one list: its entries, or those that contain the searched text, and changes to it. */
function One({ list: { name, fixed }, q }: { list: List; q: string }) {
  const loaded = useLoad(`lists/${encodeURIComponent(name)}`, { q })
  const [said, setSaid] = useState<Failure | string | undefined>(undefined)
  const change = async (what: 'add' | 'remove', entries: string): Promise<boolean> => {
    const done = await post(`lists/${what}`, { name, entries }).catch(toFailure)
    setSaid(done instanceof Failure ? done : describeChange(what, done.changed))
    loaded.reload()
    return !(done instanceof Failure)
  }
  const mayChange = maySteer()
  const whyNot = fixed === undefined ? !mayChange && 'Changes need a steer or administrator token.' : `It ${fixed}`
  return (
    <Card title={`List ${name}`} wide aside={whyNot}>
      {mayChange && fixed === undefined && <Add onAdd={(entries) => change('add', entries)} />}
      <Outcome of={said}>{(done) => <p>{done}</p>}</Outcome>
      <Shown loaded={loaded}>
        {(shown) => (
          <Entries
            {...shown}
            q={q}
            onRemove={mayChange && fixed === undefined ? (entry) => void change('remove', entry) : undefined}
          />
        )}
      </Shown>
    </Card>
  )
}

function describeChange(what: 'add' | 'remove', changed: readonly string[]): string {
  if (changed.length === 0) return what === 'add' ? 'The list has all entries.' : 'No line has only this entry.'
  return `${what === 'add' ? 'Added' : 'Removed'} ${changed.join(', ')}. The change applies within a second.`
}

function Add({ onAdd }: { onAdd: (entries: string) => Promise<boolean> }) {
  const submit = async (event: SubmitEvent): Promise<void> => {
    const form = event.currentTarget as HTMLFormElement
    if (await onAdd(readForm(event)['entries'] ?? '')) form.reset()
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label>
        New entries, one per line
        <textarea name="entries" rows={3} cols={44} required maxLength={30_000} spellcheck={false} autocomplete="off" />
      </label>
      <button type="submit">Add</button>
    </form>
  )
}

interface EntriesProps extends Readonly<Got<'lists/x'>> {
  readonly q: string
  /** Absent: the visitor may not remove entries. */
  readonly onRemove: ((entry: string) => void) | undefined
}

function Entries({ entries, found, unread, q, onRemove }: EntriesProps) {
  return (
    <>
      {unread.length > 0 && <p class="failure">These lines are not valid entries: {unread.join(', ')}</p>}
      <Table
        label="Entries"
        rows={entries}
        name={(entry) => entry}
        empty={q === '' ? 'The list is empty.' : 'No entry contains it.'}
        columns={[
          ['Entry', clipped, 'code'],
          onRemove !== undefined && [
            'Actions',
            (entry) => (
              <button type="button" class="plain" onClick={() => onRemove(entry)} aria-label={`Remove ${entry}`}>
                Remove
              </button>
            ),
          ],
        ]}
      />
      {found > entries.length && (
        <p class="quiet">
          The first {count(entries.length)} of {count(found)}. Search to find others.
        </p>
      )}
    </>
  )
}
