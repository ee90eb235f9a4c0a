import { useEffect, useRef, useState } from 'preact/hooks'
import { type Got, get, type StreamEvent } from '../api.ts'
import { askHere, linkTo, place } from '../route.ts'
import { capital, count, word } from '../words.ts'
import { listOptions } from './ask.tsx'
import { Plain } from './buttons.tsx'
import { Explanation } from './explanation.tsx'
import { FirstRequest } from './numbers.tsx'
import { Ago, Badge, Card, Empty } from './pieces.tsx'

type Brief = Got<'requests'>['requests'][number]
type Filter = Readonly<Record<string, string>>

const KEPT = 120
/** Pause after a refused stream, as of too many streams: the browser itself retries only where no answer came. */
const RETRY_MS = 2_000

const FILTERS = {
  outcome: ['allow', 'flag', 'redirect', 'challenge', 'offer', 'throttle', 'block', 'api', 'refused'],
  class: ['human', 'ai_agent', 'verified_crawler', 'impostor', 'unverified_bot'],
  network: ['residential_clean', 'mobile', 'hosting', 'datacenter', 'vpn', 'residential_proxy', 'tor', 'unknown'],
} as const

/** Shows requests as they end, and explains a clicked one; the link to the view holds the filter. */
export function Stream() {
  const filter = Object.fromEntries(place.value.query)
  const [isPaused, setPaused] = useState(false)
  const [chosen, setChosen] = useState<Brief | undefined>(undefined)
  const { rows, skipped, isConnected } = useStream(filter, isPaused)
  const set = (name: string, value: string): void => askHere({ ...filter, [name]: value })
  return (
    <Card
      title="Recent decisions"
      wide
      aside={
        <>
          {!isConnected && <span role="status">connecting… </span>}
          {skipped > 0 && <span>{count(skipped)} more hidden </span>}
          <Plain aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </Plain>
        </>
      }
    >
      <Filters filter={filter} set={set} />
      {rows.length === 0 ? (
        <Empty>
          There are no matching requests yet. Requests appear here when they end. <FirstRequest />
        </Empty>
      ) : (
        <ul class="stream">
          {rows.map((row) => (
            <Row key={row.id} row={row} onChoose={setChosen} />
          ))}
        </ul>
      )}
      {chosen && <Dialog id={chosen.id} onClose={() => setChosen(undefined)} />}
    </Card>
  )
}

function Filters({ filter, set }: { filter: Filter; set: (name: string, value: string) => void }) {
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {Object.entries(FILTERS).map(([name, values]) => (
        <label key={name}>
          {capital(name)}
          <select value={filter[name] ?? ''} onChange={({ currentTarget }) => set(name, currentTarget.value)}>
            <option value="">any</option>
            {listOptions(values.map((value) => [value, word(value)]))}
          </select>
        </label>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={filter['trial'] === '1'}
          onChange={({ currentTarget }) => set('trial', currentTarget.checked ? '1' : '')}
        />
        Dry run
      </label>
      <label>
        Text
        <input
          type="search"
          placeholder="path, address, rule…"
          value={filter['text'] ?? ''}
          onInput={({ currentTarget }) => set('text', currentTarget.value)}
        />
      </label>
    </form>
  )
}

function Row({ row, onChoose }: { row: Brief; onChoose: (row: Brief) => void }) {
  return (
    <li>
      <button type="button" class="row" onClick={() => onChoose(row)}>
        <span class="time">
          <Ago at={row.at} />
        </span>
        <Badge name={row.outcome} />
        <span class="what">
          <span class="code">
            {row.method} {row.path}
          </span>
          {row.trial && <Badge name={row.trial.action}>trial: {row.trial.rule}</Badge>}
          <small class="quiet">{row.userAgent}</small>
        </span>
        <span class="from">
          <span class="code">{row.client}</span>
          <small class="quiet">
            {[row.class && word(row.class), row.network && word(row.network), row.operator, row.country]
              .filter(Boolean)
              .join(' · ')}
          </small>
        </span>
      </button>
    </li>
  )
}

function Dialog({ id, onClose }: { id: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-label="Explanation" onClose={onClose}>
      <header class="bar">
        <h2>Explanation</h2>
        <a href={linkTo('request', { id })}>Link to it</a>
        <Plain onClick={() => dialog.current?.close()}>Close</Plain>
      </header>
      <Explanation id={id} />
    </dialog>
  )
}

/** Returns remembered rows first, then new ones. */
function useStream(filter: Filter, isPaused: boolean) {
  const [rows, setRows] = useState<readonly Brief[]>([])
  const [skipped, setSkipped] = useState(0)
  const [isConnected, setConnected] = useState(false)
  const [turn, setTurn] = useState(0)
  const query = new URLSearchParams(filter).toString()
  useEffect(() => setRows([]), [query])
  useEffect(() => {
    if (isPaused) return
    const ended = new AbortController()
    let later: ReturnType<typeof setTimeout> | undefined
    setSkipped(0)
    const source = new EventSource(`/console/api/stream?${query}`)
    source.addEventListener('open', () => setConnected(true))
    source.addEventListener('error', () => {
      setConnected(false)
      if (source.readyState === EventSource.CLOSED) later = setTimeout(() => setTurn((before) => before + 1), RETRY_MS)
    })
    source.addEventListener('requests', ({ data }: MessageEvent<string>) => {
      const { seen, shown }: StreamEvent = JSON.parse(data)
      setRows((before) => mergeRows(shown.toReversed(), before))
      setSkipped((before) => before + seen - shown.length)
    })
    get('requests', { ...filter, limit: String(KEPT) }, ended.signal).then(
      ({ requests }) => setRows((before) => mergeRows(before, requests)),
      () => {},
    )
    return () => {
      ended.abort()
      clearTimeout(later)
      source.close()
    }
  }, [query, isPaused, turn])
  return { rows, skipped, isConnected }
}

function mergeRows(newer: readonly Brief[], older: readonly Brief[]): readonly Brief[] {
  const known = new Set(newer.map(({ id }) => id))
  return [...newer, ...older.filter(({ id }) => !known.has(id))].slice(0, KEPT)
}
