import type { Axis, EvidenceReport } from '@sallyport/ledger/verify'
import { useRef, useState } from 'preact/hooks'
import { type Asked, type Got, get, session } from '../api.ts'
import { Empty, Failed, failureOf, Shown, useLoad } from '../parts/load.tsx'
import { Badge, Card, Facts, Table } from '../parts/pieces.tsx'
import { verifyHere } from '../verify/run.ts'
import { count, country, moment } from '../words.ts'

/** Evidence as the service hands it out, as far as it is shown before it is verified. */
interface Evidence {
  readonly log?: string | undefined
  readonly origin?: string | undefined
  readonly checkpoint?: string | undefined
  readonly records?:
    | readonly {
        readonly attestation_id?: number | undefined
        readonly seq?: number | undefined
        readonly dsse?: { readonly payload?: string | undefined } | undefined
        readonly disclosure?: { readonly state?: string | undefined; readonly ip?: string | undefined } | undefined
      }[]
    | undefined
  readonly statements?:
    | { readonly proves?: readonly string[] | undefined; readonly does_not_prove?: readonly string[] | undefined }
    | undefined
}

interface Opened {
  readonly name: string
  readonly evidence: Evidence
  readonly text: string
  readonly report?: EvidenceReport | undefined
  readonly failure?: string | undefined
}

const DAY_MS = 86_400_000

/** Attestations with their chain, and evidence that is verified in the browser. */
export function Ledger() {
  const loaded = useLoad('ledger')
  const [opened, setOpened] = useState<Opened | undefined>(undefined)
  const [failure, setFailure] = useState<Error | undefined>(undefined)
  const [keys, setKeys] = useState<{ readonly name: string; readonly jwks: unknown } | undefined>(undefined)

  /** The file opened last: a longer verification of what was opened before it ends unseen. */
  const newest = useRef<object | undefined>(undefined)

  const show = async (name: string, text: string, trusted: unknown): Promise<void> => {
    const opening = {}
    newest.current = opening
    const setNewest = (opened: Opened): void => {
      if (newest.current === opening) setOpened(opened)
    }
    setFailure(undefined)
    let evidence: Evidence
    try {
      evidence = JSON.parse(text)
    } catch {
      setOpened(undefined)
      setFailure(new Error(`${name} is not JSON.`))
      return
    }
    try {
      setNewest({ name, text, evidence, report: await verifyHere(text, trusted) })
    } catch (error) {
      setNewest({ name, text, evidence, failure: error instanceof Error ? error.message : String(error) })
    }
  }

  const openFile = async (files: FileList | null | undefined): Promise<void> => {
    const [file] = files ?? []
    if (file !== undefined) await show(file.name, await file.text(), keys?.jwks)
  }

  const openRange = async (query: Asked<'GET', 'ledger/evidence'>): Promise<void> => {
    try {
      const [evidence, own] = await Promise.all([get('ledger/evidence', query), get('ledger/keys')])
      setKeys({ name: 'the keys of this service', jwks: own })
      await show('evidence of this service', JSON.stringify(evidence), own)
    } catch (error) {
      setOpened(undefined)
      setFailure(failureOf(error))
    }
  }

  return (
    <>
      <div class="grid">
        <Shown loaded={loaded}>{(answer) => <Attested answer={answer} onOpen={openRange} />}</Shown>
        <Card title="Open evidence">
          <Drop onFiles={openFile} />
          <KeyFile keys={keys} onKeys={setKeys} />
          {failure && <Failed failure={failureOf(failure)} />}
        </Card>
      </div>
      <div aria-live="polite">{opened && <Verified opened={opened} keysFrom={keys?.name} />}</div>
    </>
  )
}

function Attested({
  answer,
  onOpen,
}: {
  answer: Got<'ledger'>
  onOpen: (query: Asked<'GET', 'ledger/evidence'>) => Promise<void>
}) {
  const { status, account, accounts } = answer
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const [id, days] = [String(form.get('id') ?? '').trim(), Number(form.get('days') ?? 1)]
    const now = Date.now()
    const range = { from: new Date(now - days * DAY_MS).toISOString(), to: new Date(now).toISOString() }
    void onOpen({ account: String(form.get('account') ?? ''), ...(id === '' ? range : { id }) })
  }
  return (
    <Card title="Attestations" aside={status && `${count(status.uncovered)} not yet under a checkpoint`}>
      {status === null ? (
        <Empty>
          Nothing was attested since the start. Claims are attested inline, or by{' '}
          {session.value?.url === undefined ? (
            'POST /v1/provenance/check'
          ) : (
            <a href={`${session.value.url}/v1/docs`}>POST /v1/provenance/check</a>
          )}
          .
        </Empty>
      ) : (
        <form onSubmit={submit}>
          <label>
            Log
            <select name="account" defaultValue={account}>
              <option value={account}>{account} (inline)</option>
              {(accounts ?? []).map(({ id, name }) => (
                <option key={id} value={id}>
                  {name || id}
                </option>
              ))}
            </select>
          </label>
          <label>
            Last
            <select name="days">
              <option value="1">day</option>
              <option value="7">week</option>
              <option value="31">month</option>
              <option value="366">year</option>
            </select>
          </label>
          <label>
            or one, by its id
            <input name="id" inputMode="numeric" pattern="[1-9][0-9]*" autocomplete="off" />
          </label>
          <button type="submit">Open and verify</button>
        </form>
      )}
    </Card>
  )
}

function Drop({ onFiles }: { onFiles: (files: FileList | null | undefined) => Promise<void> }) {
  const [isOver, setOver] = useState(false)
  return (
    <label
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void onFiles(event.dataTransfer?.files)
      }}
    >
      Drop a file of evidence here, or choose one. It does not leave the browser.
      <input
        type="file"
        name="evidence"
        accept=".json,application/json"
        onChange={({ currentTarget }) => void onFiles(currentTarget.files)}
      />
    </label>
  )
}

function KeyFile({
  keys,
  onKeys,
}: {
  keys: { readonly name: string } | undefined
  onKeys: (keys: { readonly name: string; readonly jwks: unknown } | undefined) => void
}) {
  const [failure, setFailure] = useState('')
  const open = async (files: FileList | null): Promise<void> => {
    const [file] = files ?? []
    if (file === undefined) return
    try {
      const jwks = await file.text()
      JSON.parse(jwks)
      onKeys({ name: file.name, jwks })
      setFailure('')
    } catch {
      setFailure(`${file.name} is not JSON.`)
    }
  }
  return (
    <>
      <label class="keys">
        Keys that you trust (JWKS), chosen before the evidence
        <input
          type="file"
          name="keys"
          accept=".json,application/json"
          onChange={({ currentTarget }) => void open(currentTarget.files)}
        />
      </label>
      <p class="quiet">{keys === undefined ? 'None: authenticity is then not provided.' : `Trusted: ${keys.name}.`}</p>
      {failure !== '' && <p class="failure">{failure}</p>}
    </>
  )
}

const AXES: Readonly<Record<Axis, string>> = {
  format: 'Form',
  authenticity: 'Who signed',
  integrity: 'Belongs together',
  inclusion: 'Under the checkpoint',
  consistency: 'Continues what was',
  completeness: 'Nothing left out',
  disclosure: 'The address is the recorded one',
  policy_replay: 'The policy decides so',
}

const OUTCOMES = { pass: 'pass', fail: 'fail', not_provided: 'not provided' } as const

function Verified({ opened, keysFrom }: { opened: Opened; keysFrom: string | undefined }) {
  const { report, failure, evidence, name, text } = opened
  return (
    <div class="grid one">
      <Card title={`Verified in this browser: ${name}`} wide aside={keysFrom && `by ${keysFrom}`}>
        {failure !== undefined && (
          <p class="failure" role="alert">
            It could not be verified here: {failure}
          </p>
        )}
        {report && (
          <>
            <p class="verdict">
              <Badge name={report.ok ? 'pass' : 'fail'}>{report.ok ? 'nothing failed' : 'it does not hold'}</Badge>
            </p>
            <ul class="findings axes">
              {Object.entries(report.axes).map(([axis, { outcome, detail }]) => (
                <li key={axis}>
                  <Badge name={outcome}>{OUTCOMES[outcome]}</Badge>
                  <div>
                    <strong>{AXES[axis as Axis]}</strong> {detail}
                  </div>
                </li>
              ))}
            </ul>
          </>
        )}
        <div class="actions">
          <Download name="evidence.json" text={text}>
            Download the evidence
          </Download>
          <span class="quiet">
            For an auditor: this file, the keys from another way, and <code>sallyport evidence verify</code>.
          </span>
        </div>
      </Card>
      {/* A file of another form is no evidence, and nothing of it can be shown as such. */}
      {report?.axes.format.outcome === 'pass' && <Chain evidence={evidence} />}
    </div>
  )
}

function Download({ name, text, children }: { name: string; text: string; children: string }) {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
    Object.assign(document.createElement('a'), { href: url, download: name }).click()
    setTimeout(() => URL.revokeObjectURL(url), 1_000)
  }
  return (
    <button type="button" class="plain" onClick={save}>
      {children}
    </button>
  )
}

function Chain({ evidence }: { evidence: Evidence }) {
  const { records, log, checkpoint, statements } = evidence
  const rows = Array.isArray(records) ? records : []
  return (
    <Card title="Records as they are chained" wide>
      <Facts
        rows={[
          ['Log', typeof log === 'string' && <code>{log}</code>],
          ['Checkpoint', typeof checkpoint === 'string' && <pre>{checkpoint}</pre>],
        ]}
      />
      {rows.length === 0 ? (
        <Empty>There are no records in it.</Empty>
      ) : (
        <Table label="Records" head={['Attestation', 'At', 'Claim', 'Found', 'Decided', 'Address', 'Follows']}>
          {rows.map((row, index) => (
            <RecordRow key={`${index} ${row.attestation_id}`} row={row} />
          ))}
        </Table>
      )}
      {statements && (
        <>
          <h3>What it proves</h3>
          <ul>
            {(statements.proves ?? []).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <h3>What it does not prove</h3>
          <ul>
            {(statements.does_not_prove ?? []).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}

function RecordRow({ row }: { row: NonNullable<Evidence['records']>[number] }) {
  const payload = payloadOf(row.dsse?.payload)
  const text = (...path: readonly string[]): string => String(path.reduce<unknown>(memberOf, payload) ?? '')
  const found = text('finding', 'country')
  return (
    <tr>
      <td>{row.attestation_id}</td>
      <td>{text('issued_at') === '' ? '' : moment(text('issued_at'))}</td>
      <td>{text('claim', 'jurisdiction')}</td>
      <td>
        <Badge name={text('finding', 'network_origin')} /> {found !== '' && country(found)}
      </td>
      <td>
        <Badge name={text('policy', 'action')} /> <span class="quiet">{text('policy', 'reason')}</span>
      </td>
      <td>{row.disclosure?.state === 'disclosed' ? row.disclosure.ip : 'erased'}</td>
      <td class="code">{text('prev').slice(0, 12)}…</td>
    </tr>
  )
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** Members of a record for people; the verifier reads it for itself, and strictly. */
function payloadOf(payload: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const bytes = Uint8Array.from(atob(payload ?? ''), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return {}
  }
}
