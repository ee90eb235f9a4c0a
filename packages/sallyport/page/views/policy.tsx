import { useEffect, useState } from 'preact/hooks'
import { type Answer, type Got, isAdmin, post, session } from '../api.ts'
import { Confirm, CopyButton, Plain } from '../parts/buttons.tsx'
import { Editor } from '../parts/editor.tsx'
import { Outcome, Shown, toFailure, useAction, useLoad } from '../parts/load.tsx'
import { Badge, Card, type Column, Empty, Noted, Table } from '../parts/pieces.tsx'
import type { SchemaNode } from '../parts/schema.ts'
import { REPORT_MS } from '../parts/span.tsx'
import { linkTo, place } from '../route.ts'
import { withRule } from '../rule-text.ts'
import { clipped, count, word } from '../words.ts'

type Checked = Answer<'POST', 'policy/check'>
type WhatIf = Answer<'POST', 'policy/what-if'>

/** Shows the rules in force, and a draft of other rules. */
export function Policy() {
  const loaded = useLoad('policy')
  const schema = useLoad('policy/schema')
  return (
    <Shown loaded={loaded}>
      {(answer) => (
        <div class="grid">
          <Rules answer={answer} />
          <Shown loaded={schema}>
            {(node) => <Draft inForce={answer.text} etag={answer.etag} schema={node} onSaved={loaded.reload} />}
          </Shown>
        </div>
      )}
    </Shown>
  )
}

function Rules({ answer: { rules, mode } }: { answer: Got<'policy'> }) {
  const counted = useLoad('report', { span: '24h' }, REPORT_MS).value?.rules ?? []
  return (
    <Card title="Active rules, in order" wide aside={<Badge name={mode} />}>
      <Table
        label="Rules"
        rows={rules}
        name={({ id }) => id}
        columns={[
          [
            'Rule',
            ({ id, onTrial, note }) => (
              <>
                <strong>{id}</strong> {onTrial && <Badge name="monitor">dry run</Badge>}
                {note && <div class="code quiet">{clipped(note)}</div>}
              </>
            ),
          ],
          ['Action', ({ action }) => <Badge name={action} />],
          ['From', ({ own, id }) => (own ? 'this policy' : id === 'default' ? 'the default' : 'a preset or limits')],
          [
            'Last 24 hours',
            ({ id }) => listDone(counted.filter(({ rule, state }) => rule === id && state !== 'trial')),
          ],
          ['Dry run', ({ id }) => listDone(counted.filter(({ rule, state }) => rule === id && state === 'trial'))],
        ]}
      />
    </Card>
  )
}

/** Links to the requests on which a rule did something else than allow, or would have. */
function listDone(rows: Got<'report'>['rules']) {
  return rows.map(({ rule, action, state, requests }) => (
    <a
      key={`${action} ${state}`}
      href={linkTo('live', { text: rule, ...(state === 'trial' ? { trial: '1' } : { outcome: action }) })}
    >
      {count(requests)} {word(action)}{' '}
    </a>
  ))
}

const checkText = (text: string): Promise<Checked> =>
  post('policy/check', { text }).catch((error) => ({
    faults: [{ line: 1, key: undefined, rule: undefined, message: toFailure(error).message }],
    warnings: [],
  }))

interface DraftProps {
  inForce: string
  etag: string
  schema: SchemaNode
  onSaved: () => void
}

function Draft({ inForce, etag, schema, onSaved }: DraftProps) {
  const added = place.value.query.get('add')
  const initial = added === null ? inForce : withRule(inForce, added)
  const [text, setText] = useState(initial)
  const [checked, setChecked] = useState<Checked>({ faults: [], warnings: [] })
  const [compared, compare] = useAction<WhatIf>()
  const [saved, save] = useAction<unknown>()
  // Each round has its own editor, which keeps its own text.
  const [round, setRound] = useState(0)
  const begin = (): void => {
    setText(initial)
    setRound((before) => before + 1)
  }
  useEffect(begin, [initial])
  const check = async (written: string): Promise<Checked> => {
    const found = await checkText(written)
    setChecked(found)
    return found
  }
  const { faults } = checked
  return (
    <>
      <Card title="Draft" wide aside="Ctrl+Space completes">
        <Editor key={round} label="Policy draft" initial={initial} schema={schema} onText={setText} check={check} />
        <Found {...checked} />
        <div class="actions">
          <button
            type="button"
            disabled={faults.length > 0}
            onClick={() => void compare(post('policy/what-if', { text }))}
          >
            What if
          </button>
          <CopyButton text={text}>Copy</CopyButton>
          <Plain disabled={text === initial} onClick={begin}>
            Revert
          </Plain>
          {isAdmin() && session.value?.maySave && (
            <Confirm
              question="Save the draft to the configuration file and apply it now?"
              disabled={faults.length > 0 || text === inForce}
              onYes={async () => {
                if (await save(post('policy/save', { text, etag }))) onSaved()
              }}
            >
              Save
            </Confirm>
          )}
        </div>
        <Outcome of={saved}>{() => <p>The policy is saved and in force.</p>}</Outcome>
      </Card>
      <div class="wide">
        <Outcome of={compared}>{(difference) => <Difference {...difference} />}</Outcome>
      </div>
    </>
  )
}

/** Shows the faults and warnings of a draft, or that there are none. */
function Found({ faults, warnings }: Checked) {
  return (
    <p aria-live="polite" class={faults.length > 0 ? 'failure' : 'quiet'}>
      {faults.length > 0
        ? `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}. Line ${faults[0]?.line}: ${faults[0]?.message}`
        : warnings.length > 0
          ? `Valid; line ${warnings[0]?.line}: ${warnings[0]?.message}`
          : 'Valid.'}
    </p>
  )
}

const ACTIONS = ['allow', 'flag', 'redirect', 'challenge', 'offer', 'throttle', 'block'] as const

function Difference({ requests, classes, examples, notes }: WhatIf) {
  const changed = classes.reduce((sum, row) => sum + row.changed, 0)
  return (
    <Card
      title="What if"
      wide
      aside={`${count(changed)} of ${count(requests)} recent requests would be decided differently`}
    >
      {notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
      {requests === 0 ? (
        <Empty>There are no recent decisions yet.</Empty>
      ) : (
        <Table
          label="By class"
          rows={classes}
          name={({ name }) => name}
          columns={[
            ['Class', ({ name }) => word(name)],
            ['Requests', (row) => count(row.requests)],
            ...ACTIONS.map(
              (action): Column<WhatIf['classes'][number]> => [
                word(action),
                ({ before, after }) => formatStep(before[action] ?? 0, after[action] ?? 0),
              ],
            ),
            ['Changed', (row) => count(row.changed)],
          ]}
        />
      )}
      {examples.length > 0 && <h3>Examples</h3>}
      {examples.length > 0 && (
        <Table
          label="Examples"
          rows={examples}
          name={({ id }) => id}
          columns={[
            [
              'Request',
              ({ id, method, path, userAgent }) => (
                <>
                  <a class="code" href={linkTo('request', { id })}>
                    {method} {clipped(path)}
                  </a>
                  <div class="quiet">{clipped(userAgent)}</div>
                </>
              ),
            ],
            ['From', ({ client, operator }) => <Noted text={client} note={operator} />],
            ['Now', ({ before }) => <Badge name={before} />],
            ['Draft', ({ after }) => <Badge name={after} />],
            ['Because', ({ because }) => clipped(because)],
          ]}
        />
      )}
    </Card>
  )
}

function formatStep(before: number, after: number): string {
  return before === after ? count(before) : `${count(before)} → ${count(after)}`
}
