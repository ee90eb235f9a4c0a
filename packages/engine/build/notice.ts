import type { SourceRow } from '@sallyport/data/sources'

/** A source that is passed on, with the day it was made and the texts that came with it. */
export interface PassedOn {
  readonly row: SourceRow
  readonly date: string
  readonly texts?: readonly string[] | undefined
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

/** Each source with its day, place, licence, credit and copyright line, the texts that came with it, and that of MIT. */
export function writeNotice(sources: readonly PassedOn[]): string {
  const lines = sources.map(({ row: { id, title, url, licence, credit, copyright }, date }) =>
    [`${id}: ${title}, ${date}`, url, `https://spdx.org/licenses/${licence}`, credit, copyright]
      .filter(Boolean)
      .join('\n  '),
  )
  const texts = new Set(sources.flatMap(({ texts = [] }) => texts.map((text) => text.trim())))
  return [
    "The sources in this folder are their publishers', unchanged but for packing, under these licences; tables are compiled of them.",
    lines.join('\n'),
    ...texts,
    ...(sources.some(({ row }) => row.licence === 'MIT') ? [`MIT:\n\n${MIT}`] : []),
  ].join('\n\n')
}
