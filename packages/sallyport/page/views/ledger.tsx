import { type Asked, Failure, type Got, get, session } from '../api.ts'
import { Field, listOptions } from '../parts/ask.tsx'
import { Plain } from '../parts/buttons.tsx'
import { Outcome, readForm, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Badge, Card, Empty, Facts, Table } from '../parts/pieces.tsx'
import { count, country, moment } from '../words.ts'

type Evidence = Got<'ledger/evidence'>

const DAY_MS = 86_400_000

/** Shows attestations with their chain, and the evidence to download. */
export function Ledger() {
  const loaded = useLoad('ledger')
  const [opened, act] = useAction<Evidence>()
  return (
    <>
      <div class="grid">
        <Shown loaded={loaded}>
          {(answer) => <Attested answer={answer} onOpen={(query) => void act(get('ledger/evidence', query))} />}
        </Shown>
        <Card title="Verify">
          <p>
            To verify evidence without this service, download it and the keys, and run{' '}
            <code>npx sallyport evidence verify evidence.json --keys keys.json</code>. An auditor must get the keys from
            another source than this page.
          </p>
        </Card>
      </div>
      <Outcome of={opened}>{(evidence) => <Chain evidence={evidence} />}</Outcome>
    </>
  )
}

function Attested({
  answer,
  onOpen,
}: {
  answer: Got<'ledger'>
  onOpen: (query: Asked<'GET', 'ledger/evidence'>) => void
}) {
  const { status, account, accounts } = answer
  const submit = (event: SubmitEvent): void => {
    const { id = '', days, account = '' } = readForm(event)
    const now = Date.now()
    const range = { from: new Date(now - Number(days) * DAY_MS).toISOString(), to: new Date(now).toISOString() }
    onOpen({ account, ...(id === '' ? range : { id }) })
  }
  return (
    <Card title="Attestations" aside={status && `${count(status.uncovered)} not yet covered by a checkpoint`}>
      {status === null ? (
        <Empty>
          There are no attestations since the start. Claims are attested inline, or with{' '}
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
              {listOptions((accounts ?? []).map(({ id, name }) => [id, name || id]))}
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
          <Field label="or one attestation, by ID" name="id" inputMode="numeric" pattern="[1-9][0-9]*" />
          <button type="submit">Open</button>
        </form>
      )}
    </Card>
  )
}

function Chain({ evidence }: { evidence: Evidence }) {
  const { records, log, checkpoint, statements } = evidence
  return (
    <div class="grid one">
      <Card title="Chained records" wide>
        <div class="actions">
          <Download name="evidence.json" load={async () => evidence}>
            Download evidence
          </Download>
          <Download name="keys.json" load={() => get('ledger/keys')}>
            Download keys
          </Download>
        </div>
        <Facts
          rows={[
            ['Log', <code key="log">{log}</code>],
            ['Checkpoint', checkpoint && <pre>{checkpoint}</pre>],
          ]}
        />
        <Records records={records} />
        <h3>What it proves</h3>
        <Sentences texts={statements.proves} />
        <h3>What it does not prove</h3>
        <Sentences texts={statements.does_not_prove} />
      </Card>
    </div>
  )
}

function Sentences({ texts }: { texts: readonly string[] }) {
  return (
    <ul>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

function Download({ name, load, children }: { name: string; load: () => Promise<object>; children: string }) {
  const [loaded, act] = useAction<object>()
  const save = async (): Promise<void> => {
    const body = await act(load())
    if (body === undefined) return
    const url = URL.createObjectURL(new Blob([JSON.stringify(body)], { type: 'application/json' }))
    Object.assign(document.createElement('a'), { href: url, download: name }).click()
    setTimeout(() => URL.revokeObjectURL(url), 1_000)
  }
  return <Plain onClick={() => void save()}>{loaded instanceof Failure ? loaded.message : children}</Plain>
}

function Records({ records }: Pick<Evidence, 'records'>) {
  const rows = records.map((record) => ({ ...record, payload: parsePayload(record.dsse.payload) }))
  return (
    <Table
      label="Records"
      rows={rows}
      name={(row) => String(row.attestation_id)}
      empty="There are no records."
      columns={[
        ['Attestation', (row) => row.attestation_id],
        ['At', ({ payload }) => moment(payload.issued_at)],
        ['Claim', ({ payload }) => payload.claim.jurisdiction],
        [
          'Found',
          ({ payload: { finding } }) => (
            <>
              <Badge name={finding.network_origin} /> {placeText(finding)}
            </>
          ),
        ],
        [
          'Decided',
          ({ payload: { policy } }) => (
            <>
              <Badge name={policy.action} /> <span class="quiet">{policy.reason}</span>
            </>
          ),
        ],
        ['Address', ({ disclosure }) => (disclosure.state === 'disclosed' ? disclosure.ip : 'erased')],
        ['Follows', ({ payload }) => `${payload.prev.slice(0, 12)}…`, 'code'],
      ]}
    />
  )
}

/** Holds the members of a record that the table shows. The verifier reads the record itself, and strictly. */
interface Payload {
  readonly issued_at: string
  readonly claim: { readonly jurisdiction: string }
  readonly finding: {
    readonly network_origin: string
    readonly country?: string | undefined
    readonly region?: string | undefined
  }
  readonly policy: { readonly action: string; readonly reason: string }
  readonly prev: string
}

/** Writes `United States, US-TX`, or `United States, region unknown`. */
function placeText({ country: code, region = '' }: Payload['finding']): string {
  const [found = ''] = region.split(',')
  return [code && country(code), found === 'unknown' ? 'region unknown' : found].filter(Boolean).join(', ')
}

function parsePayload(payload: string): Payload {
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes))
}
