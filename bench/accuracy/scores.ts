import { counted, type Figure } from '../report/result.ts'

/** Compares the class that a label states with the class that a judge found. */
export interface Judged<Name extends string> {
  readonly label: Name
  readonly found: Name
}

/** Scores how well `found` names what has one of `names`, with all `names` taken as one class. */
export function computeScore<Name extends string>(judged: readonly Judged<Name>[], names: readonly Name[]) {
  const isIn = (name: Name) => names.includes(name)
  const labelled = judged.filter(({ label }) => isIn(label)).length
  const found = judged.filter((one) => isIn(one.found)).length
  const both = judged.filter((one) => isIn(one.label) && isIn(one.found)).length
  return { precision: both / found, recall: both / labelled, f1: (2 * both) / (found + labelled) }
}

/** Returns the share of things with such a label that were found to be one of `names`. */
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
  return labels.reduce((sum, label) => sum + computeScore(judged, [label]).f1, 0) / labels.length
}

/** Returns a counted share in per cent, which is the same in every run. A share of nothing is no figure. */
export function percent(name: string, what: string, share: number, rest: Partial<Figure> = {}): readonly Figure[] {
  if (Number.isNaN(share)) return []
  return [{ case: name, what, unit: '%', value: counted(share * 100), ...rest }]
}
