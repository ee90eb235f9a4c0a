import { Ask } from '../parts/ask.tsx'
import { Shown, useLoad } from '../parts/load.tsx'
import { Card, Table } from '../parts/pieces.tsx'
import { SystemFacts } from '../parts/system.tsx'
import { goTo, linkTo, place } from '../route.ts'
import { clipped, count, country, word } from '../words.ts'

/** Shows the autonomous systems of the world: searches and sorts them, and shows one. */
export function Directory() {
  const { query } = place.value
  const [q, by, asn] = [query.get('q') ?? '', query.get('by') ?? 'addresses', query.get('asn')]
  const loaded = useLoad('directory', { q, by })
  return (
    <>
      <Ask label="Name or number" name="q" value={q} button="Search" onAsk={(asked) => goTo('directory', asked)}>
        <label>
          Largest by
          <select name="by" defaultValue={by}>
            <option value="addresses">addresses</option>
            <option value="prefixes">prefixes</option>
          </select>
        </label>
      </Ask>
      {asn !== null && <One asn={asn} />}
      <Shown loaded={loaded}>
        {({ total, results }) => (
          <Card title={q === '' ? `Largest of ${count(total)} autonomous systems` : `Results for “${q}”`} wide>
            <Table
              label="Autonomous systems"
              rows={results}
              name={({ asn }) => String(asn)}
              empty="No autonomous system has this name or number."
              columns={[
                ['System', (row) => <a href={linkTo('directory', { q, by, asn: String(row.asn) })}>{row.label}</a>],
                ['Organisation', ({ org }) => clipped(org)],
                ['Type', ({ networkType }) => word(networkType)],
                ['Prefixes', ({ prefixes }) => count(prefixes)],
                ['IPv4 addresses', ({ addresses }) => count(addresses)],
              ]}
            />
          </Card>
        )}
      </Shown>
    </>
  )
}

function One({ asn }: { asn: string }) {
  const loaded = useLoad(`directory/${encodeURIComponent(asn)}`)
  return (
    <div class="grid one">
      <Card title={`AS${asn}`} wide>
        <Shown loaded={loaded}>
          {({ entry, system }) => (
            <>
              <SystemFacts entry={entry} />
              {system && (
                <p class="quiet">
                  Default class of its addresses: {word(system.networkClass)}, from {system.basis}
                  {system.list && ` ${system.list}`}
                  {system.brand && `, sold as ${system.brand}`}
                  {system.country && `, registered in ${country(system.country)}`}.
                </p>
              )}
            </>
          )}
        </Shown>
      </Card>
    </div>
  )
}
