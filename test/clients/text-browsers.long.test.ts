import { writeFileSync } from 'node:fs'
import t from 'tap'
import { digest, FILE, PACKED } from './origin.ts'
import { missing, type Ran, run } from './programs.ts'
import { NO_OPENSSL, openSite } from './site.ts'

/** A browser of the terminal: how it prints a page, and how it sends a form where it can without a person. */
interface TextBrowser {
  readonly command: string
  dump(url: string): readonly string[]
  post?:
    | ((url: string, form: string) => { readonly args: readonly string[]; readonly input?: string | undefined })
    | undefined
}

const BROWSERS: readonly TextBrowser[] = [
  {
    command: 'lynx',
    dump: (url) => ['-dump', '-nolist', '-display_charset=utf-8', url],
    post: (url, form) => ({ args: ['-dump', '-nolist', '-post_data', url], input: `${form}\n---\n` }),
  },
  {
    command: 'w3m',
    dump: (url) => ['-dump', '-O', 'UTF-8', url],
    post: (url) => ({
      args: ['-dump', '-post', 'form.txt', '-header', 'Content-Type: application/x-www-form-urlencoded', url],
    }),
  },
  { command: 'links2', dump: (url) => ['-dump', '-codepage', 'utf-8', url] },
  {
    command: 'elinks',
    dump: (url) => ['-dump', '1', '-no-references', '-no-numbering', '-dump-charset', 'utf-8', url],
  },
]

/** A page without its layout. */
const words = ({ out }: Ran): string => out.replace(/\s+/g, ' ').trim()

/** All of a page but its spaces, which lines are broken at, or anywhere. */
const letters = ({ out }: Ran): string => out.replace(/\s/g, '')

for (const { command, dump, post } of BROWSERS) {
  t.test(command, { skip: missing(command, '-version') || NO_OPENSSL }, async (t) => {
    const { home, url, since } = await openSite(t)
    const show = (path: string) => run(home, command, dump(url + path))

    t.match(words(await show('/page')), 'A page It says: grün, 日本. On')
    t.same(since(), ['GET /page human allow'])
    t.match(words(await show('/moved')), 'A page It says')
    t.same(since(), ['GET /moved human allow', 'GET /page human allow'])
    t.equal(digest(letters(await show('/packed'))), digest(PACKED.replace(/\s/g, '')), 'packed or not, it is whole')
    t.equal(digest(letters(await show('/file'))), digest(FILE))
    since()

    if (post !== undefined) {
      const form = 'word=gr%C3%BCn&size=2'
      writeFileSync(`${home}/form.txt`, form)
      const { args, input } = post(`${url}/form`, form)
      t.match(words(await run(home, command, args, input)), `POST application/x-www-form-urlencoded ${digest(form)}`)
      t.same(since(), ['POST /form human allow'])
    }

    const refused = words(await show('/blocked'))
    t.match(refused, /Access denied This site has refused the request\. If you think .* help@site\.example/)
    t.match(refused, /Reference:? ?[0-9a-f-]{36}/)
    t.same(since(), ['GET /blocked human block'])
  })
}
