import { counted, type Figure } from '../report/result.ts'

/** A judgement of one thing, and the truth. */
export interface Judged<Name extends string> {
  readonly label: Name
  readonly found: Name
}

export interface Score {
  readonly precision: number
  readonly recall: number
  readonly f1: number
  readonly labelled: number
}

/** How well `found` names what is one of `names`, all of them taken as one. */
export function scoreOf<Name extends string>(judged: readonly Judged<Name>[], names: readonly Name[]): Score {
  const isIn = (name: Name) => names.includes(name)
  const labelled = judged.filter(({ label }) => isIn(label)).length
  const found = judged.filter((one) => isIn(one.found)).length
  const both = judged.filter((one) => isIn(one.label) && isIn(one.found)).length
  return { precision: both / found, recall: both / labelled, f1: (2 * both) / (found + labelled), labelled }
}

/** The share of what is labelled so that was found to be one of `names`. */
export function shareFound<Name extends string>(
  judged: readonly Judged<Name>[],
  label: Name,
  names: readonly Name[],
): number {
  const labelled = judged.filter((one) => one.label === label)
  return labelled.filter(({ found }) => names.includes(found)).length / labelled.length
}

/** The mean F1 of the classes that occur among the labels. */
export function macroF1<Name extends string>(judged: readonly Judged<Name>[]): number {
  const labels = [...new Set(judged.map(({ label }) => label))]
  return labels.reduce((sum, label) => sum + scoreOf(judged, [label]).f1, 0) / labels.length
}

/** A share in per cent, counted: it is the same in every run. What was never asked is no figure. */
export function percent(name: string, what: string, share: number, rest: Partial<Figure> = {}): readonly Figure[] {
  if (Number.isNaN(share)) return []
  return [{ case: name, what, unit: '%', value: counted(share * 100), ...rest }]
}
