import { counted, countryName, DAY_MS, labelEventReason } from '@sallyport/core'
import type { Impact, Period, RuleImpact, Share, TallyReport, Visitors } from '@sallyport/engine'
import { moment, number, percent, size, span, trend } from './figures.ts'
import type { Section, SectionTable } from './section.ts'

const MAX_ROWS = 12

const STATES: Readonly<Record<RuleImpact['state'], string>> = {
  enforced: 'enforced',
  monitor: 'monitor mode',
  trial: 'dry run',
}

/** Writes sections for all counts; the first answers the question before `enforce`: which visitors are affected? */
export function tallySections(report: TallyReport): readonly Section[] {
  const { byAction, byClass, byNetwork, byOperator, byPurpose, byPath, bySystem, byCountry, answers, rules } = report
  const countries = byCountry.map((one) => ({ ...one, name: countryName(one.name) ?? one.name }))
  const tables: readonly Section[] = [
    tableSection('Rules, and the visitors they affect', rulesTable(rules)),
    tableSection('Account events', {
      head: ['event', 'successes', 'failures', 'unknown users', 'challenged', 'refused', 'would be blocked'],
      rows: report.accounts.events.map(({ event, ...counts }) => [
        event.replace('_', ' '),
        ...[counts.successes, counts.failures, counts.unknownUsers, counts.challenged, counts.refused].map(number),
        number(counts.would),
      ]),
    }),
    tableSection('Reasons against account events', {
      head: ['reason', 'events'],
      rows: report.accounts.reasons
        .slice(0, MAX_ROWS)
        .map(({ name, requests }) => [labelEventReason(name), number(requests)]),
    }),
    tableSection('Challenges', {
      head: ['rule', 'level', 'challenged', 'solved', 'failed attempts', 'not shown'],
      rows: report.challenges.map(({ rule, level, asked, solved, failed, unshown }) => [
        rule === '' ? 'unknown' : rule,
        level,
        ...[asked, solved, failed, unshown].map(number),
      ]),
    }),
    sharesSection('Requests by action', 'action', byAction),
    tableSection('Requests by response', {
      head: ['answer', 'requests', 'share', 'from the gate'],
      rows: answers.map((one) => [answerText(one.name), number(one.requests), percent(one.share), number(one.ours)]),
    }),
    tableSection('Requests by client class', {
      head: ['class', 'requests', 'share', 'clients', 'bytes'],
      rows: byClass.map((one) => [...shareCells(one), number(one.people), size(one.bytes)]),
    }),
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

function tableSection(title: string, table: SectionTable): Section {
  return { title, sentences: [], table }
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

function rulesTable(rules: readonly RuleImpact[]): SectionTable {
  const shown = rules.slice(0, 2 * MAX_ROWS)
  return {
    head: ['rule', 'action', 'state', 'requests', 'clients', 'people', 'of people', 'uncertain'],
    rows: shown.map(({ rule, action, state, requests, people, real, share, unclear }) => [
      rule === '' ? 'none' : rule,
      action,
      STATES[state],
      number(requests),
      number(people),
      number(real),
      percent(share),
      number(unclear),
    ]),
  }
}

const NAMES: Readonly<Record<string, string>> = { unshown: 'challenge not shown' }

function sharesSection(title: string, name: string, shares: readonly Share[]): Section {
  const rows = shares.slice(0, MAX_ROWS).map((one) => [...shareCells(one), size(one.bytes)])
  return tableSection(title, { head: [name, 'requests', 'share', 'bytes'], rows })
}

function shareCells({ name, requests, share }: Share): readonly string[] {
  return [NAMES[name] ?? name, number(requests), percent(share)]
}

const ANSWERS: Readonly<Record<string, string>> = {
  challenge: 'challenged (403)',
  451: 'blocked for legal reasons (451)',
  '4xx': 'other 4xx',
  left: 'left before the response',
}

function answerText(name: string): string {
  return ANSWERS[name] ?? name
}

function changesSection({ changes }: TallyReport): Section {
  const each = ({ requests, visitors, hit, wouldHit, stopped }: Period) => [
    number(requests),
    percent(stopped),
    number(visitors),
    percent(hit),
    percent(wouldHit),
  ]
  return {
    title: 'Before and after each configuration change',
    sentences: ['A day before and a day after each change, up to the next change.'],
    table: {
      head: ['change', 'requests', 'stopped', 'people', 'affected', 'if enforced'],
      rows: changes.flatMap(({ at, changed, before, after }) => [
        [`before ${moment(at)}`, ...each(before)],
        [`after ${changed.join(', ')}`, ...each(after)],
      ]),
    },
  }
}
