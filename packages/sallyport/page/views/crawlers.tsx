import { useState } from 'preact/hooks'
import { type Answer, type Got, isAdmin, post, session } from '../api.ts'
import { Field, listOptions } from '../parts/ask.tsx'
import { Confirm } from '../parts/buttons.tsx'
import { Outcome, readForm, Shown, useAction, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Facts, Noted, Table } from '../parts/pieces.tsx'
import { Report, type Section } from '../parts/report.tsx'
import { linkTo } from '../route.ts'
import { clipped, country, word } from '../words.ts'

type Crawler = Got<'crawlers'>['crawlers'][number]
type Verification = Answer<'POST', 'crawlers/verify'>

/** Shows the pages that crawlers read, by operator; then the check of a crawler, the crawlers that came, and the catalogue. */
export function Crawlers() {
  return (
    <>
      <Report path="crawlers/read" actions={(section, reload) => <Ruling section={section} onDone={reload} />} />
      <Known />
    </>
  )
}

/** Allows or blocks the operator of a section, by the first rule of the policy. */
function Ruling({ section, onDone }: { section: Section; onDone: () => void }) {
  const [ruled, act] = useAction<unknown>()
  const { operator } = section
  if (operator === undefined) return null
  const ruling = 'ruling' in section ? section.ruling : undefined
  const rule = async (action: string): Promise<void> => {
    if (await act(post('crawlers/rule', { operator, action }))) onDone()
  }
  const mayRule = isAdmin() && session.value?.maySave
  return (
    <div class="actions">
      {ruling && <Badge name={ruling}>{ruling === 'allow' ? 'allowed by a rule' : 'blocked by a rule'}</Badge>}
      {mayRule && ruling !== 'allow' && (
        <Confirm question={`Allow verified requests of ${operator}?`} onYes={() => rule('allow')}>
          Allow
        </Confirm>
      )}
      {mayRule && ruling !== 'block' && (
        <Confirm question={`Block every request that claims to be from ${operator}?`} onYes={() => rule('block')}>
          Block
        </Confirm>
      )}
      {mayRule && ruling && (
        <Confirm question="Remove the rule?" onYes={() => rule('none')}>
          Remove the rule
        </Confirm>
      )}
      <Outcome of={ruled} />
    </div>
  )
}

function Known() {
  const loaded = useLoad('crawlers', {}, 10_000)
  return (
    <Shown loaded={loaded}>
      {({ crawlers, recent }) => (
        <div class="grid">
          <Verify crawlers={crawlers} />
          <Card title="Recent claims" wide>
            <Table
              label="Recent crawlers"
              rows={recent}
              name={({ id }) => id}
              empty="No request has claimed to be a crawler since the service started."
              columns={[
                ['When', ({ id, at }) => <a href={linkTo('request', { id })}>{<Ago at={at} />}</a>],
                ['Claims to be', ({ crawler }) => crawler.name],
                [
                  'Outcome',
                  ({ crawler: { outcome, pending } }) => (
                    <>
                      <Badge name={outcome}>{outcome}</Badge> {pending && 'being verified'}
                    </>
                  ),
                ],
                ['By', ({ crawler }) => crawler.method],
                ['From', ({ client, operator }) => <Noted text={client} note={operator} />],
                ['Path', ({ path }) => clipped(path), 'code'],
              ]}
            />
          </Card>
          <Catalogue crawlers={crawlers} />
        </div>
      )}
    </Shown>
  )
}

function Verify({ crawlers }: { crawlers: readonly Crawler[] }) {
  const [answer, act] = useAction<Verification>()
  return (
    <Card title="Verify a crawler" wide>
      <form onSubmit={(event) => void act(post('crawlers/verify', readForm(event)))}>
        <Field label="Address" name="ip" required spellcheck={false} />
        <label>
          Claims to be
          <select name="bot">
            <option value="">the crawler in its user agent</option>
            {listOptions(crawlers.map(({ slug, name }) => [slug, name]))}
          </select>
        </label>
        <Field label="User agent" name="userAgent" maxLength={1_000} />
        <button type="submit">Verify</button>
      </form>
      <Outcome of={answer}>{(verified) => <Verified {...verified} />}</Outcome>
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
    <Card title={`Catalogue: ${crawlers.length} crawlers`} wide>
      <label>
        Find <input type="search" value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
      </label>
      <Table
        label="Catalogue"
        rows={shown}
        name={({ slug }) => slug}
        empty="No crawler matches this name, operator or purpose."
        columns={[
          ['Crawler', ({ name }) => name],
          ['Operator', ({ operator }) => operator],
          ['Purpose', ({ purpose }) => purpose],
          ['Verified by', listWays],
        ]}
      />
    </Card>
  )
}

/** Lists the ways to check a claim, and whether each is possible here now. */
function listWays({ silent, hasRanges, lists, names, systems, agent }: Crawler): string {
  if (silent !== undefined) return silent === 'retired' ? 'none (retired)' : 'none (sends no requests)'
  const loaded = lists.find(({ state }) => state !== 'missing')
  const ways = [
    hasRanges &&
      `published ranges (${loaded === undefined ? 'not loaded' : `${loaded.state}${loaded.date ? `, ${loaded.date}` : ''}`})`,
    names > 0 && 'reverse names',
    systems.length > 0 && `AS numbers (${systems.map((asn) => `AS${asn}`).join(', ')})`,
    agent !== undefined && 'signatures (Web Bot Auth)',
  ].filter((way) => way !== false)
  return ways.length === 0 ? 'none (its operator publishes nothing)' : ways.join(', ')
}
