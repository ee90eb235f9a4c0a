import './style.css'
import { render } from 'preact'
import { signInByLink, takeLinkCode } from './api.ts'
import { App } from './app.tsx'
import { followTime } from './now.ts'
import { followPlace } from './route.ts'

const code = takeLinkCode()
followPlace()
followTime()
begin()
// A visitor may paste a link into a page that is already open.
addEventListener('hashchange', () => {
  const pasted = takeLinkCode()
  if (pasted !== undefined) void signInByLink(pasted).catch(() => {})
})
const root = document.getElementById('app')
if (root !== null) render(<App />, root)

/** Starts once the session is known: without it nothing can be shown. */
function begin(): void {
  signInByLink(code).catch(() => setTimeout(begin, 2_000))
}
