import { Shown, useLoad } from '../parts/load.tsx'
import { Ago, Badge, Card, Facts } from '../parts/pieces.tsx'
import { age, count } from '../words.ts'

const STATES = { ok: 'OK', warn: 'Warning', fail: 'Failed' } as const

/** Shows the service's dependencies, as `sallyport doctor` sees them. */
export function Health() {
  const loaded = useLoad('health', {}, 15_000)
  return (
    <Shown loaded={loaded}>
      {({ mode, processes, silent, since, load, lostLines, bans, findings, sources }) => {
        const old = sources.filter(({ stale }) => stale)
        const [stale, shipped] = [old.filter((source) => !source.shipped), old.filter((source) => source.shipped)]
        return (
          <div class="grid">
            <Card title="The service" wide>
              <Facts
                rows={[
                  ['Mode', <Badge key="mode" name={mode} />],
                  [
                    'Processes',
                    silent === 0
                      ? count(processes)
                      : `${processes} respond, ${silent} do not; their requests are missing`,
                  ],
                  ['Started', <Ago key="a" at={since} />],
                  [
                    'Sources in use',
                    `${count(sources.filter(({ state }) => state === 'loaded').length)} of ${sources.length}`,
                  ],
                  ['Stale sources', stale.map(({ id }) => id).join(', ') || 'none'],
                  ['Bundled data', shipped.map(({ id, ageSeconds = 0 }) => `${id}, ${age(ageSeconds)} old`).join('; ')],
                  ['Active bans', bans === null ? 'the store does not respond' : count(bans)],
                  ['Load rules', load ? 'on' : 'off'],
                  ['Lost log lines', count(lostLines)],
                ]}
              />
            </Card>
            <Card title="Checks" wide>
              <ul class="findings">
                {findings.map(({ check, state, found, advice }) => (
                  <li key={`${check} ${found}`}>
                    <Badge name={state}>{STATES[state]}</Badge>
                    <div>
                      <strong>{check}</strong> {found}
                      {advice !== undefined && <p class="quiet">{advice}</p>}
                    </div>
                  </li>
                ))}
              </ul>
            </Card>
          </div>
        )
      }}
    </Shown>
  )
}
