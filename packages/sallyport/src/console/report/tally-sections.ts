import { counted, countryName, DAY_MS, labelEventReason } from '@sallyport/core'
import type { Impact, Period, RuleImpact, Share, TallyReport, Visitors } from '@sallyport/engine'
import { moment, number, percent, size, span, trend } from './figures.ts'
import { makeTable, type Section, tableSection } from './section.ts'

const MAX_ROWS = 12

const STATES: Readonly<Record<RuleImpact['state'], string>> = {
  enforced: 'enforced',
  monitor: 'monitor mode',
  trial: 'dry run',
}

/** Writes sections for all counts; the first answers the question before `enforce`: which visitors are affected? */
export function tallySections(report: TallyReport): readonly Section[] {
  const { byAction, byClass, byNetwork, byOperator, byPurpose, byPath, bySystem, byCountry, answers, accounts } = report
  const countries = byCountry.map((one) => ({ ...one, name: countryName(one.name) ?? one.name }))
  const tables: readonly Section[] = [
    rulesSection(report),
    tableSection('Account events', accounts.events, [
      ['event', ({ event }) => event.replace('_', ' ')],
      ['successes', (one) => number(one.successes)],
      ['failures', (one) => number(one.failures)],
      ['unknown users', (one) => number(one.unknownUsers)],
      ['challenged', (one) => number(one.challenged)],
      ['refused', (one) => number(one.refused)],
      ['would be blocked', (one) => number(one.would)],
    ]),
    tableSection('Reasons against account events', accounts.reasons.slice(0, MAX_ROWS), [
      ['reason', ({ name }) => labelEventReason(name)],
      ['events', ({ requests }) => number(requests)],
    ]),
    challengesSection(report),
    sharesSection('Requests by action', 'action', byAction),
    tableSection('Requests by response', answers, [
      ['answer', ({ name }) => ANSWERS[name] ?? name],
      ['requests', ({ requests }) => number(requests)],
      ['share', ({ share }) => percent(share)],
      ['from the gate', ({ ours }) => number(ours)],
    ]),
    tableSection('Requests by client class', byClass, [
      ['class', ({ name }) => name],
      ['requests', ({ requests }) => number(requests)],
      ['share', ({ share }) => percent(share)],
      ['clients', ({ people }) => number(people)],
      ['bytes', ({ bytes }) => size(bytes)],
    ]),
    sharesSection('Requests by network', 'network', byNetwork),
    sharesSection('Countries', 'country', countries),
    sharesSection('Autonomous systems', 'system', bySystem),
    sharesSection('Crawlers and agents by operator', 'operator', byOperator),
    sharesSection('Crawlers and agents by purpose', 'purpose', byPurpose),
    sharesSection('Paths', 'path', byPath),
    changesSection(report),
  ]
  return [headSection(report), ...tables.filter(({ table }) => table?.rows.length !== 0)]
}

export function challengesSection({ challenges }: Pick<TallyReport, 'challenges'>): Section {
  return tableSection('Challenges', challenges, [
    ['rule', ({ rule }) => rule || 'unknown'],
    ['level', ({ level }) => level],
    ['challenged', ({ asked }) => number(asked)],
    ['solved', ({ solved }) => number(solved)],
    ['failed attempts', ({ failed }) => number(failed)],
    ['not shown', ({ unshown }) => number(unshown)],
  ])
}

/** Puts the answer in its first lines. */
function headSection(report: TallyReport): Section {
  const { visitors, from, until, requests, bytes, before, now } = report
  const length = span(from, until)
  const { hit, wouldHit, unclear } = visitors
  const tells = unclear.requests === 0 ? [] : [unclearText(unclear)]
  if (visitors.people === 0) {
    const none = `There were no people in ${length}, and ${counted(requests, 'request')} in total.`
    return { title: 'Visitors affected', sentences: [none, ...tells] }
  }
  const isSame = wouldHit.requests === hit.requests
  return {
    title: `Visitors affected: ${percent(hit.share)}${isSame ? '' : `, and ${percent(wouldHit.share)} if all were enforced`}`,
    sentences: [
      isSame
        ? 'Enforcing monitor mode and dry runs would affect no more people.'
        : `If monitor mode and dry runs were enforced: ${impactText(wouldHit)}.`,
      `Affected now: ${impactText(hit)}.`,
      `About ${counted(visitors.people, 'person', 'people')} (each counted once a day) sent ${number(visitors.requests)} of ${counted(requests, 'request')} in ${length}, ${moment(from)} to ${moment(until)} UTC; ${size(bytes)} were sent.`,
      ...tells,
      ...(before === undefined ? [] : [beforeText(now, before)]),
    ],
  }
}

function impactText({ people, share, requests, asked }: Impact): string {
  if (requests === 0) return 'nobody'
  const refused = requests - asked
  const parts = [
    refused > 0 && `${counted(refused, 'request')} refused`,
    asked > 0 && `${counted(asked, 'request')} challenged, after which the visitor may go on`,
  ]
  return `about ${counted(people, 'person', 'people')} (${percent(share)}): ${parts.filter((part) => part !== false).join(', ')}`
}

/** Describes clients that look like browsers, and may be programs. */
function unclearText({ people, requests, hit, wouldHit }: Visitors): string {
  const would = wouldHit.requests === hit.requests ? '' : `, and ${number(wouldHit.people)} if all were enforced`
  return `Cannot tell: about ${counted(people, 'more client')} with ${counted(requests, 'request')} look like browsers and may be programs; ${number(hit.people)} of them are affected${would}.`
}

function beforeText(now: Period, before: Period): string {
  const weeks = Math.round((Date.parse(now.until) - Date.parse(before.until)) / WEEK_MS)
  const when = weeks === 1 ? 'a week before' : `${weeks} weeks before`
  return `Against the same time ${when}: ${[
    `people ${number(before.visitors)} (now ${trend(now.visitors, before.visitors)})`,
    `affected ${percent(before.hit)}`,
    `if all were enforced ${percent(before.wouldHit)}`,
    `requests ${number(before.requests)} (now ${trend(now.requests, before.requests)})`,
  ].join(', ')}.`
}

const WEEK_MS = 7 * DAY_MS

function rulesSection({ rules }: TallyReport): Section {
  return tableSection('Rules, and the visitors they affect', rules.slice(0, 2 * MAX_ROWS), [
    ['rule', ({ rule }) => rule || 'none'],
    ['action', ({ action }) => action],
    ['state', ({ state }) => STATES[state]],
    ['requests', ({ requests }) => number(requests)],
    ['clients', ({ people }) => number(people)],
    ['people', ({ real }) => number(real)],
    ['of people', ({ share }) => percent(share)],
    ['uncertain', ({ unclear }) => number(unclear)],
  ])
}

const NAMES: Readonly<Record<string, string>> = { unshown: 'challenge not shown' }

function sharesSection(title: string, head: string, shares: readonly Share[]): Section {
  return tableSection(title, shares.slice(0, MAX_ROWS), [
    [head, ({ name }) => NAMES[name] ?? name],
    ['requests', ({ requests }) => number(requests)],
    ['share', ({ share }) => percent(share)],
    ['bytes', ({ bytes }) => size(bytes)],
  ])
}

const ANSWERS: Readonly<Record<string, string>> = {
  challenge: 'challenged (403)',
  451: 'blocked for legal reasons (451)',
  '4xx': 'other 4xx',
  left: 'left before the response',
}

function changesSection({ changes }: TallyReport): Section {
  const rows = changes.flatMap(({ at, changed, before, after }) => [
    { ...before, name: `before ${moment(at)}` },
    { ...after, name: `after ${changed.join(', ')}` },
  ])
  return {
    title: 'Before and after each configuration change',
    sentences: ['A day before and a day after each change, up to the next change.'],
    table: makeTable(rows, [
      ['change', ({ name }) => name],
      ['requests', ({ requests }) => number(requests)],
      ['stopped', ({ stopped }) => percent(stopped)],
      ['people', ({ visitors }) => number(visitors)],
      ['affected', ({ hit }) => percent(hit)],
      ['if enforced', ({ wouldHit }) => percent(wouldHit)],
    ]),
  }
}
