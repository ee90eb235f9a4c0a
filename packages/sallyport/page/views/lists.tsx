import { type Got, maySteer, post } from '../api.ts'
import { Ask } from '../parts/ask.tsx'
import { Plain } from '../parts/buttons.tsx'
import { Outcome, readForm, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Badge, Card, Noted, Table } from '../parts/pieces.tsx'
import { SourceState, SourceTrouble } from '../parts/source.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { age, clipped, count } from '../words.ts'

type List = Got<'lists'>[number]

/** Shows the lists that rules name, with their entries, and changes lists in files. */
export function Lists() {
  const { query } = place.value
  const [q, name] = [query.get('q') ?? '', query.get('name') ?? '']
  const loaded = useLoad('lists', { q }, 5_000)
  return (
    <>
      <Ask
        label="Address, AS number or text"
        name="q"
        value={q}
        button="Find"
        onAsk={(asked) => goTo('lists', { name, ...asked })}
      />
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
        [
          'List',
          ({ name, source }) => (
            <>
              <a href={linkTo('lists', { name, q })}>{name}</a>
              {source && <SourceTrouble source={source} />}
            </>
          ),
        ],
        ['From', ({ from, place: at }) => <Noted text={from} note={at} />],
        ['State', ({ source }) => (source ? <SourceState source={source} /> : <Badge name="absent" />)],
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

/** Shows one list: its entries, or those that contain the searched text, and changes to it. */
function One({ list: { name, fixed }, q }: { list: List; q: string }) {
  const loaded = useLoad(`lists/${encodeURIComponent(name)}`, { q })
  const [said, act] = useAction<string>()
  const change = async (what: 'add' | 'remove', entries = ''): Promise<boolean> => {
    const done = await act(
      post(`lists/${what}`, { name, entries }).then(({ changed }) => describeChange(what, changed)),
    )
    loaded.reload()
    return done !== undefined
  }
  const add = async (event: SubmitEvent): Promise<void> => {
    const form = event.currentTarget as HTMLFormElement
    if (await change('add', readForm(event)['entries'])) form.reset()
  }
  const mayChange = maySteer() && fixed === undefined
  return (
    <Card
      title={`List ${name}`}
      wide
      aside={fixed ? `It ${fixed}` : !mayChange && 'Changes need a steer or administrator token.'}
    >
      {mayChange && (
        <form onSubmit={(event) => void add(event)}>
          <label>
            New entries, one per line
            <textarea name="entries" rows={3} cols={44} required maxLength={30_000} spellcheck={false} />
          </label>
          <button type="submit">Add</button>
        </form>
      )}
      <Outcome of={said}>{(done) => <p>{done}</p>}</Outcome>
      <Shown loaded={loaded}>
        {({ entries, found, unread }) => (
          <>
            {unread.length > 0 && <p class="failure">These lines are not valid entries: {unread.join(', ')}</p>}
            <Table
              label="Entries"
              rows={entries}
              name={(entry) => entry}
              empty={q === '' ? 'The list is empty.' : 'No entry contains it.'}
              columns={[
                ['Entry', clipped, 'code'],
                mayChange && [
                  'Actions',
                  (entry) => (
                    <Plain onClick={() => void change('remove', entry)} aria-label={`Remove ${entry}`}>
                      Remove
                    </Plain>
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
        )}
      </Shown>
    </Card>
  )
}

function describeChange(what: 'add' | 'remove', changed: readonly string[]): string {
  if (changed.length === 0) return what === 'add' ? 'The list has all entries.' : 'No line has only this entry.'
  return `${what === 'add' ? 'Added' : 'Removed'} ${changed.join(', ')}. The change applies within a second.`
}
