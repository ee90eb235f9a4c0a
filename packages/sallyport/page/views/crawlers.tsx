import { useState } from 'preact/hooks'
import { type Answer, type Asked, Failure, type Got, post } from '../api.ts'
import { Empty, Failed, Shown, toFailure, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Facts, Table } from '../parts/pieces.tsx'
import { linkTo, place } from '../route.ts'
import { clipped, country, word } from '../words.ts'
import { Readings } from './crawler-readings.tsx'

type Crawler = Got<'crawlers'>['crawlers'][number]
type Verification = Answer<'POST', 'crawlers/verify'>

/** Pages that crawlers read, all of them or those of one operator; the catalogue, the check of one, and those that came. */
export function Crawlers() {
  const { query } = place.value
  const operator = query.get('operator')
  return (
    <>
      <Readings operator={operator} claim={query.get('claim')} />
      {operator === null && <Known />}
    </>
  )
}

function Known() {
  const loaded = useLoad('crawlers', {}, 10_000)
  return (
    <Shown loaded={loaded}>
      {({ crawlers, recent }) => (
        <div class="grid">
          <Verify crawlers={crawlers} />
          <Card title="Recent" wide>
            {recent.length === 0 ? (
              <Empty>No request has claimed to be a crawler since the start.</Empty>
            ) : (
              <Table label="Recent crawlers" head={['When', 'Claims to be', 'Outcome', 'By', 'From', 'Path']}>
                {recent.map((row) => (
                  <tr key={row.id}>
                    <td>
                      <a href={linkTo('request', { id: row.id })}>
                        <Ago at={row.at} />
                      </a>
                    </td>
                    <td>{row.crawler.name}</td>
                    <td>
                      <Badge name={row.crawler.outcome}>{row.crawler.outcome}</Badge>
                      {row.crawler.pending && ' being asked'}
                    </td>
                    <td>{row.crawler.method}</td>
                    <td>
                      {row.client} <small class="quiet">{clipped(row.operator)}</small>
                    </td>
                    <td class="code">{clipped(row.path)}</td>
                  </tr>
                ))}
              </Table>
            )}
          </Card>
          <Catalogue crawlers={crawlers} />
        </div>
      )}
    </Shown>
  )
}

function Verify({ crawlers }: { crawlers: readonly Crawler[] }) {
  const [answer, setAnswer] = useState<Verification | Failure | undefined>(undefined)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement))
    setAnswer(await post('crawlers/verify', form as Asked<'POST', 'crawlers/verify'>).catch(toFailure))
  }
  return (
    <Card title="Verify one" wide>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Address
          <input name="ip" required spellcheck={false} autocomplete="off" />
        </label>
        <label>
          Claims to be
          <select name="bot">
            <option value="">the name in its user agent</option>
            {crawlers.map(({ slug, name }) => (
              <option key={slug} value={slug}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          User agent
          <input name="userAgent" maxLength={1_000} autocomplete="off" />
        </label>
        <button type="submit">Verify</button>
      </form>
      <div aria-live="polite">
        {answer instanceof Failure && <Failed failure={answer} />}
        {answer !== undefined && !(answer instanceof Failure) && <Verified {...answer} />}
      </div>
    </Card>
  )
}

function Verified({ outcome, summary, checks, networkOrigin, asn, asnName, country: code, hostname }: Verification) {
  return (
    <>
      <p class="verdict">
        <Badge name={outcome}>{outcome}</Badge> <span>{summary}</span>
      </p>
      <Facts
        rows={[
          ['Network', word(networkOrigin)],
          ['Operator', [asn, asnName].filter(Boolean).join(' ')],
          ['Country', code && country(code)],
          ['Reverse name', hostname],
        ]}
      />
      <ul class="plain-list">
        {checks.map(({ name, status, detail }) => (
          <li key={name}>
            <strong>{name}</strong>{' '}
            <Badge name={status === 'passed' ? 'ok' : status === 'refuted' ? 'fail' : ''}>{status}</Badge>{' '}
            <span class="quiet">{detail}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function Catalogue({ crawlers }: { crawlers: readonly Crawler[] }) {
  const [wanted, setWanted] = useState('')
  const text = wanted.toLowerCase()
  const shown = crawlers.filter(({ name, operator, purpose, slug }) =>
    [name, operator, purpose, slug].some((part) => part.toLowerCase().includes(text)),
  )
  return (
    <Card title={`Catalogue of ${crawlers.length}`} wide>
      <label>
        Find <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
      </label>
      {shown.length === 0 ? (
        <Empty>No crawler of this name, operator or purpose.</Empty>
      ) : (
        <Table label="Catalogue" head={['Crawler', 'Operator', 'Purpose', 'Verified by']}>
          {shown.map((crawler) => (
            <tr key={crawler.slug}>
              <td>{crawler.name}</td>
              <td>{crawler.operator}</td>
              <td>{crawler.purpose}</td>
              <td>{listWays(crawler)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

/** How a claim can be checked, and whether that is possible here now. */
function listWays({ silent, hasRanges, lists, names, systems, agent }: Crawler): string {
  if (silent !== undefined) return silent === 'retired' ? 'nothing: it is retired' : 'nothing: it sends no requests'
  const loaded = lists.find(({ state }) => state !== 'missing')
  const ways = [
    hasRanges &&
      `published ranges (${loaded === undefined ? 'not loaded' : `${loaded.state}${loaded.date ? `, ${loaded.date}` : ''}`})`,
    names > 0 && 'reverse names',
    systems.length > 0 && `its systems (${systems.map((asn) => `AS${asn}`).join(', ')})`,
    agent !== undefined && 'signatures (Web Bot Auth)',
  ].filter((way) => way !== false)
  return ways.length === 0 ? 'nothing that its operator publishes' : ways.join(', ')
}
